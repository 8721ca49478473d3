"""Layers with the names and shapes of spd_learn, the heads of the networks, and several views side
by side."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrizations

from .. import _core
from . import _plain, functional
from ._inputs import THRESHOLD, threshold_of
from .optim import StiefelParameter, check_on_manifold


class BiMap(nn.Module):
    r"""Bilinear map of SPD matrices, ``Y = Wᵀ X W``. Name, shapes and arguments are those of
    spd_learn.

    Parameters
    ----------
    in_features, out_features : int
        n and k. If k is above n, the matrix is first padded by an identity.
    depthwise : int, default=1
        How many filters there are; filter i sees the matrices ``X[..., i, :, :]``. With one filter,
        any leading dimensions are allowed.
    parametrized : bool | "riemannian", default=True
        How filters stay orthonormal. True: by a parametrisation of PyTorch, with any optimiser.
        False: not at all. "riemannian": as a :class:`StiefelParameter`, which
        :class:`RiemannianAdam` moves.
    orthogonal_map : None | {"cayley", "matrix_exp", "householder"}, default=None
        PyTorch's parametrisation; None is "cayley".
    init_method : {"kaiming_uniform", "orthogonal", "stiefel"}, default="kaiming_uniform"
        Where the filters start; "stiefel" starts at the random points of the core for ``seed``.
    seed : None | int, default=None
        Seed for ``init_method="stiefel"``; None is 0.
    device, dtype : object
        Device and precision of the parameters.

    Examples
    --------
    >>> import torch
    >>> from stiefel.torch import BiMap
    >>> BiMap(4, 2)(torch.eye(4).expand(5, 4, 4)).shape
    torch.Size([5, 2, 2])
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        depthwise: int = 1,
        parametrized: Any = True,
        orthogonal_map: str | None = None,
        init_method: str = "kaiming_uniform",
        seed: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if init_method not in ("kaiming_uniform", "orthogonal", "stiefel"):
            raise ValueError(
                f"Unknown init_method: '{init_method}'. Choose from 'kaiming_uniform', "
                "'orthogonal', 'stiefel'."
            )
        if parametrized not in (True, False, "riemannian"):
            raise ValueError(
                f"parametrized must be True, False or 'riemannian', got {parametrized!r}."
            )
        if parametrized is not True and orthogonal_map is not None:
            raise ValueError("orthogonal_map is only used when parametrized is True")
        if seed is not None and init_method != "stiefel":
            raise ValueError(
                "seed is only used with init_method='stiefel'; torch.manual_seed is for the others."
            )
        self.in_features, self.out_features, self.depthwise = in_features, out_features, depthwise
        self.parametrized, self.init_method, self.seed = parametrized, init_method, seed
        rows = max(in_features, out_features)
        # Code written for spd_learn reads the size of the filter under these names.
        self._in_features, self._out_features = rows, out_features
        weight = torch.empty(depthwise, rows, out_features, device=device, dtype=dtype)
        riemannian = parametrized == "riemannian"
        self.weight: Any = StiefelParameter(weight) if riemannian else nn.Parameter(weight)
        self.reset_parameters()
        if parametrized is True:
            parametrizations.orthogonal(
                self,
                "weight",
                orthogonal_map="cayley" if orthogonal_map is None else orthogonal_map,
            )

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Start again, as ``init_method`` says."""
        if self.init_method == "kaiming_uniform":
            nn.init.kaiming_uniform_(self.weight, a=0.01)
        elif self.init_method == "orthogonal":
            nn.init.orthogonal_(self.weight)
        else:
            self.weight.copy_(points(self.weight.shape, 0 if self.seed is None else self.seed))
        if self.parametrized == "riemannian":
            self.weight.copy_(_plain.orthonormal(self.weight.double()))

    def forward(self, X: Tensor) -> Tensor:
        """``Wᵀ X W`` of ``(..., n, n)``: ``(..., k, k)``."""
        padding = self.out_features - self.in_features
        if padding > 0:
            X = nn.functional.pad(X, (0, padding, 0, padding))
            ones = torch.arange(self.out_features, device=X.device) >= self.in_features
            X = X + torch.diag(ones.to(X.dtype))
        weight = self.weight
        check_on_manifold(weight)
        # One filter belongs to every matrix, whatever its leading dimensions are.
        return functional.bimap(X, weight[0] if self.depthwise == 1 and X.dim() < 3 else weight)

    def extra_repr(self) -> str:
        """What its text says."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"depthwise={self.depthwise}, parametrized={self.parametrized!r}"
        )


class ReEig(nn.Module):
    """Eigenvalues raised to a threshold. Name, shapes and arguments are those of spd_learn.

    Parameters
    ----------
    threshold : None | float, default=None
        ε; None is 1e4 times the rounding of the tensor's precision, as in spd_learn.
    autograd : bool, default=False
        An argument of spd_learn, which has two ways to differentiate. Here there is one way, which
        is exact: True is refused.
    device, dtype : object
        Not used: the layer has no parameters.

    Examples
    --------
    >>> import torch
    >>> from stiefel.torch import ReEig
    >>> ReEig(0.5)(torch.zeros(1, 2, 2)).tolist()
    [[[0.5, 0.0], [0.0, 0.5]]]
    """

    def __init__(
        self,
        threshold: float | None = None,
        autograd: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        refuse_autograd(autograd)
        self.threshold = None if threshold is None else threshold_of(threshold)

    def forward(self, X: Tensor) -> Tensor:
        """``U max(λ, ε) Uᵀ`` of ``(..., n, n)``."""
        threshold = self.threshold
        if threshold is None:
            threshold = (
                1e4
                * torch.finfo(
                    X.dtype if X.dtype in (torch.float32, torch.float64) else torch.float32
                ).eps
            )
        return functional.reeig(X, threshold)

    def extra_repr(self) -> str:
        """What its text says."""
        return f"threshold={self.threshold}"


class LogEig(nn.Module):
    """Logarithm of SPD matrices, as vectors. Name, shapes and arguments are those of spd_learn.

    Parameters
    ----------
    upper : bool, default=True
        Whether to give the upper triangle, off-diagonal entries times √2.
    flatten : bool, default=True
        Without ``upper``: whether to give vectors of n² values instead of matrices.
    autograd : bool, default=False
        An argument of spd_learn; see :class:`ReEig`.
    device, dtype : object
        Not used: the layer has no parameters.

    Examples
    --------
    >>> import torch
    >>> from stiefel.torch import LogEig
    >>> LogEig()(torch.eye(4).expand(2, 4, 4)).shape
    torch.Size([2, 10])
    """

    def __init__(
        self,
        upper: bool = True,
        flatten: bool = True,
        autograd: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        refuse_autograd(autograd)
        self.upper, self.flatten = upper, flatten

    def forward(self, X: Tensor) -> Tensor:
        """``log X`` of ``(..., n, n)``: vectors or matrices."""
        if self.upper:
            return functional.log_upper(X)
        y = functional.logm(X)
        return y.flatten(start_dim=-2) if self.flatten else y

    def extra_repr(self) -> str:
        """What its text says."""
        return f"upper={self.upper}, flatten={self.flatten}"


def refuse_autograd(autograd: bool) -> None:
    """There is one way to differentiate."""
    if autograd:
        raise ValueError(
            "autograd=True has no meaning here: derivatives are exact for repeated eigenvalues; "
            "leave it out."
        )


class Head(nn.Module):
    """``w·z + b``: a linear layer under the names of the model file."""

    def __init__(
        self, in_features: int, n_classes: int, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        bound = 1 / math.sqrt(in_features)
        self.w = nn.Parameter(
            torch.empty(n_classes, in_features, device=device, dtype=dtype).uniform_(-bound, bound)
        )
        self.b = nn.Parameter(
            torch.empty(n_classes, device=device, dtype=dtype).uniform_(-bound, bound)
        )

    def forward(self, z: Tensor, routing: Tensor | None = None) -> Tensor:
        """Scores ``(B, C)`` of vectors ``(B, p)``."""
        return nn.functional.linear(z, self.w, self.b)


class RoutedHead(Head):
    """A linear classifier in which each expert has weights of its own, ``(w + Σ_j α_ij δ_j)·z_i +
    b``; the δ start at zero.

    Parameters
    ----------
    in_features : int
        Values of a vector.
    n_classes : int
        Classes.
    n_experts : int
        Experts.
    ridge : float, default=1e-3
        Weight of ``Σ_j ‖δ_j‖²`` in :meth:`auxiliary_loss`.
    device, dtype : object
        Device and precision of the parameters.

    Examples
    --------
    >>> import torch
    >>> from stiefel.torch import RoutedHead
    >>> head = RoutedHead(3, n_classes=2, n_experts=4)
    >>> head(torch.ones(5, 3), torch.full((5, 4), 0.25)).shape
    torch.Size([5, 2])
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        n_experts: int,
        ridge: float = 1e-3,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(in_features, n_classes, device, dtype)
        if not (math.isfinite(ridge) and ridge >= 0):
            raise ValueError(f"ridge must be a finite number, zero or above, got {ridge!r}.")
        self.ridge = ridge
        self.own = nn.Parameter(
            torch.zeros(n_experts, n_classes, in_features, device=device, dtype=dtype)
        )

    def forward(self, z: Tensor, routing: Tensor | None = None) -> Tensor:
        """Scores ``(B, C)`` of vectors ``(B, p)`` with the weights of the experts, ``(B, K)``:
        ``last_routing`` of the layer."""
        if routing is None:
            raise ValueError("a routed head needs the weights of the experts: head(z, routing).")
        own = (routing @ self.own.flatten(1)).unflatten(1, self.own.shape[1:])
        return super().forward(z) + torch.einsum("icp,ip->ic", own, z)

    def auxiliary_loss(self) -> Tensor:
        """``ridge · Σ_j ‖δ_j‖²``."""
        return self.ridge * self.own.square().sum()


class MultiView(nn.Module):
    """Several covariances per trial, each through its own layer; the vectors are joined one after
    the other.

    Parameters
    ----------
    layers : iterable of Module
        One per view. Each takes matrices and gives vectors. A layer with ``features``, such as
        :class:`DaspBiMap`, is also given the domain, and its features are taken. Any other module
        takes matrices alone, such as a sequence of :class:`BiMap`, :class:`ReEig` and
        :class:`LogEig`.

    Examples
    --------
    >>> import torch
    >>> from stiefel.torch import BiMap, DaspBiMap, LogEig, MultiView
    >>> plain = torch.nn.Sequential(BiMap(4, 2), LogEig())
    >>> views = MultiView([DaspBiMap(4, 2, n_experts=2, n_domains=3), plain])
    >>> views(torch.eye(4).expand(5, 2, 4, 4), torch.tensor([0, 1, 2, 0, 1])).shape
    torch.Size([5, 6])
    """

    def __init__(self, layers: Iterable[nn.Module]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        if not len(self.layers):
            raise ValueError("MultiView needs at least one layer.")

    def forward(self, X: Tensor | Sequence[Tensor], domain: Tensor | None = None) -> Tensor:
        """Vectors of trials ``(B, V, n, n)``, or of a list of V tensors whose sizes may differ."""
        views = list(X.unbind(1)) if isinstance(X, Tensor) else list(X)
        if len(views) != len(self.layers):
            raise ValueError(
                f"trials of {len(views)} view(s), and there are {len(self.layers)} layers."
            )
        found = []
        for layer, x in zip(self.layers, views):
            found.append(layer.features(x, domain) if hasattr(layer, "features") else layer(x))
        return torch.cat(found, dim=-1)

    def auxiliary_loss(self) -> Tensor | float:
        """The sum over the layers that have one."""
        return sum(
            layer.auxiliary_loss() for layer in self.layers if hasattr(layer, "auxiliary_loss")
        )


def points(shape: Sequence[int], seed: int) -> Tensor:
    """Random points of the core, as the experts of a routed network start."""
    count, n, k = shape
    architecture = {"network": "dasp", **dasp_defaults(), "filters": k, "experts": count}
    sizes = {"channels": n, "classes": 2, "domains": 1, "encoded": 1}
    return initial(architecture, sizes, seed)["experts"][0]


def dasp_defaults() -> dict[str, Any]:
    """The options of the core's routed network as it starts from the scaling rule, those that must
    be given alone."""
    return {
        "filters": 1,
        "experts": 1,
        "embedding": 1,
        "anchor": "dedicated",
        "retraction": "qr",
        "domain_embedding": True,
        "decoupled_keys": True,
        "losses": {"alignment": 0.0, "balance": 0.0, "entropy": 0.0},
        "epsilon": THRESHOLD,
        "orthogonality": "riemannian",
    }


def initial(
    architecture: dict[str, Any], sizes: dict[str, int], seed: int
) -> dict[str, tuple[Tensor, str]]:
    """First value, in double precision and ``count × rows × cols``, and manifold of every parameter
    of a network of the core, by name."""
    found = _core.torch_initial(json.dumps(architecture), json.dumps(sizes), seed)
    return {name: (torch.from_numpy(value), manifold) for name, value, manifold in found}


def parametrise(module: nn.Module, names: Iterable[str], how: str) -> None:
    """Keeps matrices orthonormal by a parametrisation of PyTorch's; nothing where an optimiser is
    to do it."""
    if how == "riemannian":
        return
    if how not in ("cayley", "matrix_exp", "householder"):
        raise ValueError(
            "orthogonality must be 'riemannian', 'cayley', 'matrix_exp' or 'householder', got "
            f"{how!r}."
        )
    for name in names:
        parametrizations.orthogonal(module, name, orthogonal_map=how)
