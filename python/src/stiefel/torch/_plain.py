"""The same functions in PyTorch alone, for tensors that are not in the memory of the CPU.

Functions of eigenvalues have the derivative ``U (L ∘ (Uᵀ sym(G) U)) Uᵀ``. ``L`` are divided
differences in forms that do not cancel, one for every pair of
eigenvalues: repeated ones are nothing special. Leading dimensions are any, and broadcast in pairs.
Everything else is composed of them.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


def symmetrise(x):
    return 0.5 * (x + x.mT)


def _log_difference(a, b):
    t = (a - b) / b
    safe = torch.where(t == 0, torch.ones_like(t), t)
    return torch.where(t == 0, 1 / b, torch.log1p(safe) / safe / b)


def _exp_difference(a, b):
    d = a - b
    safe = torch.where(d == 0, torch.ones_like(d), d)
    return a.exp() * torch.where(d == 0, torch.ones_like(d), -torch.expm1(-safe) / safe)


def _power_difference(p, a, b):
    gap = torch.where(a == b, torch.ones_like(a), a - b)
    u = torch.log1p(torch.where(a == b, torch.zeros_like(a), a - b) / b)
    if p >= 0:
        apart = -torch.expm1(-p * u) / (gap / a) * a ** (p - 1)
    else:
        apart = torch.expm1(p * u) / gap * b**p
    return torch.where(a == b, p * a ** (p - 1), apart)


def _clamp_difference(epsilon, a, b):
    gap = torch.where(a == b, torch.ones_like(a), a - b)
    one_above = torch.where(a > epsilon, (a - epsilon) / gap, torch.zeros_like(a))
    return torch.where(b > epsilon, torch.ones_like(a), one_above)


def _relog_difference(epsilon, a, b):
    low = b.clamp(min=epsilon)
    return _clamp_difference(epsilon, a, b) * _log_difference(torch.maximum(a, low), low)


#: A function of eigenvalues, and its divided difference for ``a ≥ b``.
FUNCTIONS = {
    "logm": (lambda s, p: s.log(), lambda a, b, p: _log_difference(a, b)),
    "expm": (lambda s, p: s.exp(), lambda a, b, p: _exp_difference(a, b)),
    "sqrtm": (lambda s, p: s.sqrt(), lambda a, b, p: 1 / (a.sqrt() + b.sqrt())),
    "invsqrtm": (
        lambda s, p: s.rsqrt(),
        lambda a, b, p: -1 / ((a * b).sqrt() * (a.sqrt() + b.sqrt())),
    ),
    "powm": (lambda s, p: s**p, lambda a, b, p: _power_difference(p, a, b)),
    "reeig": (lambda s, p: s.clamp(min=p), lambda a, b, p: _clamp_difference(p, a, b)),
    "reeig_log": (lambda s, p: s.clamp(min=p).log(), lambda a, b, p: _relog_difference(p, a, b)),
}


class _Spectral(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, name, parameter):
        s, u = torch.linalg.eigh(x)
        ctx.save_for_backward(s, u)
        ctx.name, ctx.parameter = name, parameter
        return symmetrise((u * FUNCTIONS[name][0](s, parameter).unsqueeze(-2)) @ u.mT)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        s, u = ctx.saved_tensors
        rows, cols = s.unsqueeze(-1), s.unsqueeze(-2)
        loewner = FUNCTIONS[ctx.name][1](
            torch.maximum(rows, cols), torch.minimum(rows, cols), ctx.parameter
        )
        return symmetrise(u @ (loewner * (u.mT @ symmetrise(g) @ u)) @ u.mT), None, None


def spectral(name: str, x: Tensor, parameter: float = 0.0) -> Tensor:
    return _Spectral.apply(x, name, parameter)


def _weights(n, x):
    rows, cols = torch.triu_indices(n, n, device=x.device)
    # Filled in the precision of the tensor: a plain number would be rounded to single precision on
    # its way.
    scale = x.new_full(rows.shape, math.sqrt(2.0)).masked_fill(rows == cols, 1.0)
    return rows, cols, scale


def upper(x: Tensor) -> Tensor:
    rows, cols, scale = _weights(x.shape[-1], x)
    return symmetrise(x)[..., rows, cols] * scale


def from_upper(v: Tensor, n: int) -> Tensor:
    rows, cols, scale = _weights(n, v)
    half = v.new_zeros((*v.shape[:-1], n, n))
    half[..., rows, cols] = v / scale.masked_fill(rows == cols, 2.0)
    return half + half.mT


def bimap(x: Tensor, w: Tensor) -> Tensor:
    return w.mT @ x @ w


def project_tangent(w: Tensor, z: Tensor) -> Tensor:
    return z - w @ symmetrise(w.mT @ z)


def orthonormal(a: Tensor) -> Tensor:
    """The orthonormal factor with a positive diagonal of R."""
    q, r = torch.linalg.qr(a)
    return q * torch.diagonal(r, dim1=-2, dim2=-1).sign().unsqueeze(-2)


def retract_qr(w: Tensor, delta: Tensor) -> Tensor:
    return orthonormal(w + delta)


def retract_polar(w: Tensor, delta: Tensor) -> Tensor:
    a = w + delta
    return a @ spectral("invsqrtm", symmetrise(a.mT @ a))


def squared_distance(a: Tensor, b: Tensor) -> Tensor:
    root = spectral("invsqrtm", symmetrise(a))
    return spectral("logm", symmetrise(root @ symmetrise(b) @ root)).square().sum((-2, -1))


def filtered_log(x: Tensor, w: Tensor, epsilon: float, retract: bool) -> Tensor:
    return upper(
        spectral(
            "reeig_log", symmetrise(bimap(symmetrise(x), orthonormal(w) if retract else w)), epsilon
        )
    )
