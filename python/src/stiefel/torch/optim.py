"""Parameters on the Stiefel manifold, and Adam for them.

With the gradient ``g`` projected to the tangent space at ``W``, ``P_W(Z) = Z − W sym(WᵀZ)``:

    m ← β₁m + (1 − β₁)g,   v ← β₂v + (1 − β₂)g²,   s = m̂/(√v̂ + ε)
    W ← qf(W − η P_W(s)),   m ← P_W(m)

(Kingma & Ba 2015; Bécigneul & Ganea 2019 for the Riemannian form.) Everything else moves as
:class:`torch.optim.Adam` moves it.
"""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch import Tensor

from .. import _core
from . import functional

__all__ = ["RiemannianAdam", "StiefelParameter"]


class StiefelParameter(torch.nn.Parameter):
    """A parameter with orthonormal columns, ``(..., n, k)``.

    :class:`RiemannianAdam` moves it along the manifold; other optimisers do not know that it has to
    stay there. To train with another optimiser, use a parametrisation of PyTorch instead:
    ``torch.nn.utils.parametrizations.orthogonal(module, "experts")``.

    Parameters
    ----------
    data : Tensor, shape (..., n, k)
        Points: orthonormal columns. None makes an empty parameter, as PyTorch's does.
    requires_grad : bool, default=True
        Whether it is learnt.

    Examples
    --------
    >>> import torch
    >>> from stiefel.torch import StiefelParameter
    >>> StiefelParameter(torch.eye(4, 2)).manifold
    'stiefel'
    """

    #: Where it lives.
    manifold = "stiefel"
    #: The version that is known to be a point, and whether it was said that it left.
    _checked: int
    _left: bool

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> StiefelParameter:
        data = torch.empty(0) if data is None else data
        return torch.Tensor._make_subclass(cls, data, requires_grad)  # type: ignore[no-any-return]

    # PyTorch's own makes a plain Parameter of what it reads back.
    def __reduce_ex__(self, protocol: Any) -> Any:
        return StiefelParameter, (self.data, self.requires_grad)


def _curved(parameter: Tensor) -> bool:
    return getattr(parameter, "manifold", None) == "stiefel"


def _off_manifold(w: Tensor, dtype: torch.dtype) -> str | None:
    """How far a parameter that has to be a point is from being one, in words; None if it is one to
    the rounding of a precision."""
    x = w.detach().double()
    identity = torch.eye(x.shape[-1], dtype=x.dtype, device=x.device)
    defect = float((x.mT @ x - identity).abs().max())
    if defect <= 1e3 * torch.finfo(dtype).eps * x.shape[-2] ** 0.5:
        return None
    return (
        f"a parameter of shape {tuple(w.shape)} on the Stiefel manifold has no orthonormal "
        "columns: "
        f"WᵀW differs from the identity by {defect:.1e}."
    )


def _check_point(w: Tensor) -> None:
    """An error where a parameter that has to be a point is none: steps along the manifold would
    lead anywhere."""
    if (text := _off_manifold(w, w.dtype)) is not None:
        raise ValueError(
            f"{text} Start at a point (torch.linalg.qr). If a parametrisation of PyTorch keeps it "
            "orthonormal, use torch.optim.Adam."
        )


def check_on_manifold(*points: Any) -> None:
    """A warning where something has moved a point off the manifold, such as an optimiser that does
    not know it. A point is looked at only after it was changed by another than the optimiser
    here."""
    if torch.compiler.is_compiling():
        return
    for w in points:
        if not isinstance(w, StiefelParameter) or w.__dict__.get("_checked") == w._version:
            continue
        w._checked = w._version
        # A point of single precision is one, whatever it was converted to.
        text = None if w.__dict__.get("_left") else _off_manifold(w, torch.float32)
        if text is not None:
            w._left = True
            warnings.warn(
                f"{text} Its optimiser does not keep it on the manifold: use "
                "stiefel.torch.RiemannianAdam, or a layer with orthogonality='cayley'.",
                UserWarning,
                stacklevel=3,
            )


class RiemannianAdam(torch.optim.Adam):
    """Adam that moves a :class:`StiefelParameter` along the manifold, and everything else as
    :class:`torch.optim.Adam` does.

    Parameters
    ----------
    params : iterable
        Parameters, or groups of them.
    lr : float, default=0.01
        Step η.
    betas : tuple of float, default=(0.9, 0.999)
        β₁ and β₂.
    eps : float, default=1e-8
        ε.
    weight_decay : float, default=0.0
        Weight decay of the parameters that are not on the manifold. Points on the manifold all have
        the same length: there is nothing to decay.
    **options : object
        Further options of :class:`torch.optim.Adam`; ``amsgrad``, ``capturable`` and
        ``differentiable`` are not for points of the manifold.

    Examples
    --------
    >>> import torch
    >>> from stiefel.torch import RiemannianAdam, StiefelParameter
    >>> w = StiefelParameter(torch.eye(4, 2, dtype=torch.float64))
    >>> optimiser = RiemannianAdam([w])
    >>> target = torch.eye(4, dtype=torch.float64)[:, 2:]
    >>> for _ in range(5):
    ...     optimiser.zero_grad()
    ...     (w - target).square().sum().backward()
    ...     optimiser.step()
    >>> torch.allclose(w.T @ w, torch.eye(2, dtype=torch.float64))
    True
    """

    def __init__(
        self,
        params: Any,
        lr: float = 0.01,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        **options: Any,
    ) -> None:
        super().__init__(params, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, **options)
        # Gradients have their true scale when a point moves: torch's GradScaler divides them before
        # the step, as for optimisers that are not fused.
        self._step_supports_amp_scaling = False

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group of parameters.

        Parameters
        ----------
        param_group : dict
            A group, as for :class:`torch.optim.Optimizer`.

        Returns
        -------
        None
            Nothing.
        """
        super().add_param_group(param_group)
        group = self.param_groups[-1]
        refused = [name for name in ("amsgrad", "capturable", "differentiable") if group.get(name)]
        if refused and any(map(_curved, group["params"])):
            raise ValueError(
                f"{', '.join(refused)} cannot be used with points of the Stiefel manifold; give "
                "these a group of their own."
            )

    def _init_group(self, group: dict[str, Any], *lists: Any) -> Any:
        whole = _core_moves(group)
        left = {**group, "params": [p for p in group["params"] if _way(p, whole) == "torch"]}
        return super()._init_group(left, *lists)

    def step(self, closure: Any = None) -> Any:
        """Move every parameter that has a gradient.

        Parameters
        ----------
        closure : None | callable, default=None
            Computes the loss and its gradients again.

        Returns
        -------
        loss : object
            What the closure gave.
        """
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        left = False
        with torch.no_grad():
            for group in self.param_groups:
                # What the core moves, of one precision at once; points first, because a gradient
                # that is not finite stops the step there.
                core: dict[torch.dtype, tuple[list[Any], list[Any]]] = {}
                whole = _core_moves(group)
                for w in group["params"]:
                    g = w.grad
                    if g is None:
                        continue
                    way = _way(w, whole)
                    if way == "core":
                        core.setdefault(w.dtype, ([], []))[not _curved(w)].append(
                            (w, g, self._state_of(w))
                        )
                    elif way == "plain":
                        _plain_step([(w, g, self._state_of(w))], group)
                    else:
                        left = True
                for points, flat in core.values():
                    _core_step(points + flat, group)
        if left:
            super().step()
        return loss

    def _state_of(self, w: Tensor) -> dict[str, Any]:
        state: dict[str, Any] = self.state[w]
        if not state:
            if _curved(w):
                _check_point(w)
            state["step"] = torch.zeros(
                (), dtype=torch.float64 if _curved(w) else torch.get_default_dtype()
            )
            state["exp_avg"], state["exp_avg_sq"] = (
                torch.zeros_like(w.data, memory_format=torch.contiguous_format) for _ in range(2)
            )
        return state


def _core_moves(group: dict[str, Any]) -> tuple[bool, bool]:
    """Whether the options of a group let the core move its points, and its other parameters."""
    rate = group["lr"]
    others = (
        group["weight_decay"] or group["amsgrad"] or group["capturable"] or group["differentiable"]
    )
    numbers = isinstance(rate, float) and isinstance(group["betas"][0], float)
    return bool(rate > 0), bool(rate > 0 and numbers and not others)


def _way(w: Tensor, core_moves: tuple[bool, bool]) -> str:
    """Who moves a parameter: the core, PyTorch's functions one by one ("plain"), or PyTorch's own
    Adam, with whatever options it has."""
    points, flat = core_moves
    here = w.is_cpu and w.dtype in _PRECISIONS and w.is_contiguous()
    if _curved(w):
        return "core" if here and points else "plain"
    return "core" if here and flat and not (w.grad is not None and w.grad.is_sparse) else "torch"


_PRECISIONS = (torch.float32, torch.float64)


def _core_step(points: list[tuple[Tensor, Any, dict[str, Any]]], group: dict[str, Any]) -> None:
    """The step of the core's optimiser: the same numbers as in its training. Parameters and moments
    move where they lie."""
    moving, counts = [], []
    for w, g, state in points:
        g = (-g if group["maximize"] else g).detach()
        gradient = (g if g.is_contiguous() else g.contiguous()).numpy()
        # Counted as an array: an addition of PyTorch takes longer than the step of a small
        # parameter.
        count = state["step"].numpy()
        moving.append(
            (
                w.detach().numpy(),
                gradient,
                state["exp_avg"].numpy(),
                state["exp_avg_sq"].numpy(),
                int(count),
                _curved(w),
            )
        )
        counts.append(count)
    _core.torch_adam_step(
        moving, (float(group["lr"]), *group["betas"], group["eps"]), torch.get_num_threads()
    )
    for (w, _, _), count in zip(points, counts):
        count += 1
        # What a graph saved of the parameter is no longer there.
        torch.autograd.graph.increment_version(w)
        if _curved(w):
            w._checked = w._version  # type: ignore[attr-defined]


def _plain_step(points: list[tuple[Tensor, Any, dict[str, Any]]], group: dict[str, Any]) -> None:
    """The same for points that are not in the memory of the CPU, or do not move."""
    for w, g, state in points:
        state["step"] += 1
        _plain_move(w, -g if group["maximize"] else g, state, group)


def _plain_move(w: Tensor, g: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
    t, (beta1, beta2), rate = int(state["step"]), group["betas"], float(group["lr"])
    first, second, point = state["exp_avg"], state["exp_avg_sq"], w.data
    g = functional.project_tangent(point, g)
    first.lerp_(g, 1 - beta1)
    second.mul_(beta2).addcmul_(g, g, value=1 - beta2)
    scale = second.sqrt().mul_(1 / (1 - beta2**t) ** 0.5).add_(group["eps"])
    step = functional.project_tangent(point, first / scale)
    point.copy_(functional.retract_qr(point, step.mul_(-rate / (1 - beta1**t))))
    first.copy_(functional.project_tangent(point, first))
    w._checked = w._version  # type: ignore[attr-defined]
