"""The Fréchet mean of SPD matrices and its derivative.

Seen from the mean, with ``Y_i = M^{-1/2} X_i M^{-1/2} = U_i diag(λ_i) U_iᵀ``, the mean is where
``Σ_i w_i log Y_i = 0``. If the mean moves by ``S`` (at the
identity) while ``Y_i`` move by ``dY_i``, this stays zero:

    H S = Σ_i w_i D log(Y_i)[dY_i],    H S = Σ_i w_i D log(Y_i)[(S Y_i + Y_i S)/2]

In the basis ``U_i`` the i-th term of ``H`` multiplies entry ab by ``(x/2) coth(x/2) ≥ 1``,
``x = log λ_a − log λ_b``: ``H`` is symmetric and at least the
identity, and a few steps of conjugate gradients solve it.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from .. import _core
from ._plain import _log_difference, spectral, symmetrise

#: Steps of the mean, and of the conjugate gradients.
STEPS = 100


def _found(x: Tensor, weights: Tensor) -> Tensor:
    """The mean: of the core on the CPU, else by steps of Karcher's in PyTorch."""
    if x.device.type == "cpu":
        array, share = np.ascontiguousarray(x.detach().numpy()), weights.double().tolist()
        found, _, residual, converged = _core.iterated_mean(
            array, "riemann", 0.0, share, 1e-13 if x.dtype == torch.float64 else 1e-6, STEPS, None
        )
        if not converged:
            raise ValueError(
                f"the mean did not converge in {STEPS} steps: its residual is {residual:.1e}."
            )
        return torch.from_numpy(found)[0]
    m = symmetrise(torch.einsum("i,iab->ab", weights, x))
    floor = 100 * torch.finfo(x.dtype).eps * x.shape[-1]
    for _ in range(STEPS):
        root, inverse = spectral("sqrtm", m), spectral("invsqrtm", m)
        step = torch.einsum(
            "i,iab->ab", weights, spectral("logm", symmetrise(inverse @ x @ inverse))
        )
        m = symmetrise(root @ spectral("expm", symmetrise(step)) @ root)
        if float(step.norm()) <= floor:
            return m
    raise ValueError(
        f"the mean did not converge in {STEPS} steps: its residual is {float(step.norm()):.1e}."
    )


class FrechetMean(torch.autograd.Function):
    """The mean of ``(N, n, n)`` under weights that sum to one."""

    @staticmethod
    def forward(ctx, x, weights):
        mean = _found(x, weights)
        ctx.save_for_backward(x, weights, mean)
        return mean

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, weights, mean = ctx.saved_tensors
        root, inverse = spectral("sqrtm", mean), spectral("invsqrtm", mean)
        s, u = torch.linalg.eigh(symmetrise(inverse @ x @ inverse))
        rows, cols = s.unsqueeze(-1), s.unsqueeze(-2)
        loewner = _log_difference(torch.maximum(rows, cols), torch.minimum(rows, cols))
        curvature = loewner * (rows + cols) / 2 * weights[:, None, None]

        def apply(v):
            return symmetrise((u @ (curvature * (u.mT @ v @ u)) @ u.mT).sum(0))

        v = _solved(apply, root @ symmetrise(g) @ root)
        in_y = u @ (loewner * (u.mT @ v @ u)) @ u.mT * weights[:, None, None]
        return symmetrise(inverse @ in_y @ inverse), None


def _solved(apply, b: Tensor) -> Tensor:
    """Conjugate gradients for ``H v = b``."""
    v, r = torch.zeros_like(b), b.clone()
    p, old = r.clone(), float((r * r).sum())
    enough = old * torch.finfo(b.dtype).eps ** 2
    for _ in range(STEPS):
        if old <= enough:
            break
        q = apply(p)
        step = old / float((p * q).sum())
        v, r = v + step * p, r - step * q
        new = float((r * r).sum())
        p, old = r + (new / old) * p, new
    return v
