"""Decode EEG across people with Riemannian networks.

* :class:`DaspClassifier`, :class:`SPDNetClassifier`, :class:`PooledClassifier`, :class:`TangentSpaceLR`, :class:`DomainWhitening`:
  scikit-learn estimators.
* :class:`Experts`, :class:`Losses`, :class:`Training`, :class:`Whitening`: groups of their parameters.
* :mod:`stiefel.spd`: functions on stacks of SPD matrices, pyRiemann's names.
* :mod:`stiefel.manifold`: functions on stacks of points of the Stiefel manifold.
* :func:`read_raw`, :func:`load_dataset`, :func:`load_synthetic`, :func:`from_epochs`, :func:`to_epochs`: recordings and trials.
* :func:`make_pipeline`, :func:`make_scorer`: scikit-learn's, with the domains and target trials handed on.
* :func:`study`: the paper's tables, on this machine or on a Dask cluster.
* :func:`routing_report`: does routing help, and is it routing that helps?
"""

from . import manifold, spd
from ._classifiers import DaspClassifier, SPDNetClassifier
from ._core import __version__, get_num_threads, set_num_threads
from ._options import Experts, Losses, Training, Whitening
from ._pooled import PooledClassifier
from ._readers import Recording, Trials, from_epochs, load_dataset, load_synthetic, read_raw, to_epochs
from ._report import RoutingReport, routing_report
from ._routing import make_pipeline, make_scorer
from ._scaling import Scaling, recommend
from ._study import study
from ._tangent_lr import TangentSpaceLR
from ._whitening import DomainWhitening

__all__ = [
    "DaspClassifier",
    "DomainWhitening",
    "Experts",
    "Losses",
    "PooledClassifier",
    "Recording",
    "RoutingReport",
    "SPDNetClassifier",
    "Scaling",
    "TangentSpaceLR",
    "Training",
    "Trials",
    "Whitening",
    "__version__",
    "from_epochs",
    "get_num_threads",
    "load_dataset",
    "load_synthetic",
    "make_pipeline",
    "make_scorer",
    "manifold",
    "read_raw",
    "recommend",
    "routing_report",
    "set_num_threads",
    "spd",
    "study",
    "to_epochs",
]
