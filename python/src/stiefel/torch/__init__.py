"""Layers, functions and an optimiser for PyTorch, over the kernels of stiefel.

* :mod:`stiefel.torch.functional`: functions on SPD matrices and on the Stiefel manifold, with exact
  derivatives.
* :class:`DaspBiMap`, :class:`BiMap`, :class:`ReEig`, :class:`LogEig`, :class:`SPDBatchNorm`,
  :class:`RoutedHead`, :class:`MultiView`: layers.
* :class:`DaspNet`, :class:`SPDNet`: the networks of the model file; :func:`load` makes them from a
  file, and ``to_stiefel`` writes a file.
* :mod:`stiefel.torch.optim`: Adam for parameters on the Stiefel manifold.
* :func:`routing_report`: does routing help, and is it routing that helps?

PyTorch is not installed with stiefel: ``pip install torch`` first.
"""

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError(
        "stiefel.torch needs PyTorch, which is not installed: pip install torch. Everything else of stiefel works without it.",
        name="torch",
    ) from error

from . import functional, optim
from ._dasp import DaspBiMap
from ._file import load
from ._layers import BiMap, LogEig, MultiView, ReEig, RoutedHead
from ._networks import DaspNet, SPDNet
from ._norm import SPDBatchNorm
from ._report import routing_report
from .optim import RiemannianAdam, StiefelParameter

__all__ = [
    "BiMap",
    "DaspBiMap",
    "DaspNet",
    "LogEig",
    "MultiView",
    "ReEig",
    "RiemannianAdam",
    "RoutedHead",
    "SPDBatchNorm",
    "SPDNet",
    "StiefelParameter",
    "functional",
    "load",
    "optim",
    "routing_report",
]
