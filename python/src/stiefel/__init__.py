"""Decode EEG across people with Riemannian networks.

* :class:`ViewsClassifier`, :class:`DaspClassifier`, :class:`SPDNetClassifier`, :class:`PooledClassifier`, :class:`TangentSpaceLR`, :class:`DomainWhitening`:
  scikit-learn estimators.
* :class:`Experts`, :class:`Losses`, :class:`Training`, :class:`Whitening`: groups of their parameters.
* :mod:`stiefel.spd`: functions on stacks of SPD matrices, with pyRiemann's names.
* :mod:`stiefel.manifold`: functions on stacks of points of the Stiefel manifold.
* :mod:`stiefel.live`: a model at work on a running signal.
* :func:`read_raw`, :func:`load_dataset`, :func:`load_synthetic`, :func:`from_epochs`, :func:`to_epochs`: recordings and trials.
* :func:`views`: covariances of epochs in several bands and windows.
* :func:`make_pipeline`, :func:`make_scorer`: those of scikit-learn, which here also hand on domains and target trials.
* :func:`load`: any model file.
* :func:`study`: the paper's tables, on this machine or on a Dask cluster; :func:`method`, :func:`folds`: one method, one fold of it.
* :mod:`stiefel.plot`: the figures of a study's report, with matplotlib.
* :func:`routing_report`: does routing help, and is it routing that helps?
"""

from . import live, manifold, plot, spd
from ._classifiers import DaspClassifier, SPDNetClassifier
from ._core import __version__, get_num_threads, set_num_threads
from ._judge import SeenTrialsWarning
from ._load import load
from ._method import method
from ._options import Experts, Losses, Training, Whitening
from ._pooled import PooledClassifier
from ._readers import Recording, from_epochs, load_dataset, load_synthetic, read_raw, to_epochs
from ._report import RoutingReport, routing_report
from ._routing import make_pipeline, make_scorer
from ._scaling import Scaling, recommend
from ._session import Session
from ._study import folds, study
from ._tangent_lr import TangentSpaceLR
from ._trials import Preparation, Trials
from ._views import ViewsClassifier, views
from ._whitening import DomainWhitening

__all__ = [
    "DaspClassifier",
    "DomainWhitening",
    "Experts",
    "Losses",
    "PooledClassifier",
    "Preparation",
    "Recording",
    "RoutingReport",
    "SPDNetClassifier",
    "Scaling",
    "SeenTrialsWarning",
    "Session",
    "TangentSpaceLR",
    "Training",
    "Trials",
    "ViewsClassifier",
    "Whitening",
    "__version__",
    "folds",
    "from_epochs",
    "get_num_threads",
    "live",
    "load",
    "load_dataset",
    "load_synthetic",
    "make_pipeline",
    "make_scorer",
    "manifold",
    "method",
    "plot",
    "read_raw",
    "recommend",
    "routing_report",
    "set_num_threads",
    "spd",
    "study",
    "to_epochs",
    "views",
]
