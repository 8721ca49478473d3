"""Decode EEG across people with Riemannian networks.

* :class:`ChoirClassifier`: CHOIR (Common Head, Own Increments, Riemannian), for people known, new
  and just met.
* :class:`DaspClassifier`, :class:`SPDNetClassifier`, :class:`TangentSpaceLR`,
  :class:`DomainWhitening`: networks, a baseline and whitening, as scikit-learn estimators.
* :class:`Experts`, :class:`Losses`, :class:`Training`, :class:`Whitening`: groups of their
  parameters.
* :mod:`stiefel.spd`: functions on stacks of SPD matrices, with pyRiemann's names.
* :mod:`stiefel.manifold`: functions on stacks of points of the Stiefel manifold.
* :mod:`stiefel.live`: a model at work on a running signal.
* :func:`read_raw`, :func:`load_dataset`, :func:`load_synthetic`: recordings and trials.
* :class:`Views`, :func:`from_raw`, :func:`from_epochs`, :func:`to_epochs`: from signals and MNE's
  objects to covariances of several bands and windows, and back.
* :func:`make_pipeline`, :func:`make_scorer`: those of scikit-learn, which here also hand on domains
  and target trials.
* :func:`load`: any model file.
* :func:`model`: an estimator of any kind of model, by the name it has in studies.
* :func:`study`, :func:`folds`: the paper's tables, on this machine or on a Dask cluster; the folds
  of a study.
* :mod:`stiefel.plot`: the figures of a study's report, with matplotlib.
* :func:`routing_report`: does routing help, and is it routing that helps?
"""

from . import live, manifold, plot, spd
from ._choir import ChoirClassifier
from ._classifiers import DaspClassifier, SPDNetClassifier
from ._core import __version__, get_num_threads, set_num_threads
from ._judge import SeenTrialsWarning
from ._load import load
from ._mne import from_epochs, from_raw, to_epochs
from ._model import model
from ._options import Experts, Losses, Training, Whitening
from ._readers import Recording, load_dataset, load_synthetic, read_raw
from ._report import RoutingReport, routing_report
from ._routing import make_pipeline, make_scorer
from ._scaling import Scaling, recommend
from ._session import Session
from ._study import folds, study
from ._tangent_lr import TangentSpaceLR
from ._trials import Preparation, Trials
from ._views import Views
from ._whitening import DomainWhitening

__all__ = [
    "ChoirClassifier",
    "DaspClassifier",
    "DomainWhitening",
    "Experts",
    "Losses",
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
    "Views",
    "Whitening",
    "__version__",
    "folds",
    "from_epochs",
    "from_raw",
    "get_num_threads",
    "live",
    "load",
    "load_dataset",
    "load_synthetic",
    "make_pipeline",
    "make_scorer",
    "manifold",
    "model",
    "plot",
    "read_raw",
    "recommend",
    "routing_report",
    "set_num_threads",
    "spd",
    "study",
    "to_epochs",
]
