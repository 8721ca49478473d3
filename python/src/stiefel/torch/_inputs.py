"""What the functions take: real tensors of one device, in a precision that they have, as stacks for
the kernels."""

from __future__ import annotations

import math
from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor

from ._operators import call

#: SPDNet's threshold of the eigenvalues.
THRESHOLD = 1e-4


def real(x: Any, name: str, dimensions: int = 2) -> Tensor:
    """The tensor in a precision that the functions have."""
    if not isinstance(x, Tensor):
        raise TypeError(
            f"{name} must be a tensor, got {type(x).__name__}; torch.as_tensor makes one of an "
            "array."
        )
    refuse_transforms(x)
    if not x.dtype.is_floating_point:
        raise TypeError(
            f"{name} is of dtype {x.dtype}; pass real numbers, such as {name}.double()."
        )
    if x.dim() < dimensions:
        raise ValueError(f"{name} has {x.dim()} dimension(s), at least {dimensions} are needed.")
    return x if x.dtype in (torch.float32, torch.float64) else x.float()


def refuse_transforms(x: Tensor) -> None:
    """An error for tensors inside a transformation of ``torch.func``, for which there are no rules.

    Raises
    ------
    NotImplementedError
        With what works in its place.
    """
    if not torch.compiler.is_compiling() and torch._C._functorch.is_functorch_wrapped_tensor(x):
        raise NotImplementedError(
            "stiefel.torch has no rules for the transformations of torch.func (grad, vmap, jvp, "
            "jacrev, hessian). For first derivatives use loss.backward() or torch.autograd.grad; "
            "in the place of vmap, give all matrices at once: leading dimensions are batched. "
            "There are no second derivatives and no forward mode."
        )


def square(x: Any, name: str) -> Tensor:
    """The same of square matrices."""
    x = real(x, name)
    if x.shape[-1] != x.shape[-2]:
        raise ValueError(f"{name} must hold square matrices, found {x.shape[-2]} × {x.shape[-1]}.")
    return x


def kernels(*tensors: Tensor) -> bool:
    """Whether the kernels compute; an error where the tensors are in different places."""
    first = tensors[0].device
    for x in tensors[1:]:
        if x.device != first:
            raise ValueError(f"tensors of one device are needed, found {first} and {x.device}.")
    return first.type == "cpu" and all(x.numel() > 0 for x in tensors)


def exact(x: Tensor) -> Any:
    """No lower precision inside."""
    kind = x.device.type
    # Entering and leaving costs as much as a small operation, and mostly there is nothing to switch
    # off.
    return (
        torch.autocast(device_type=kind, enabled=False)
        if torch.is_autocast_enabled(kind)
        else nullcontext()
    )


def stack(x: Tensor) -> Tensor:
    """``(..., r, c)`` as ``(count, r, c)``."""
    return x if x.dim() == 3 else x.reshape(-1, *x.shape[-2:])


def pair(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Any]:
    """Two stacks of one precision, a single matrix staying single, and the leading shape of the
    result."""
    if a.dtype != b.dtype:
        dtype = torch.promote_types(a.dtype, b.dtype)
        a, b = a.to(dtype), b.to(dtype)
    lead_a, lead_b = a.shape[:-2], b.shape[:-2]
    if lead_a == lead_b or not lead_b:
        return stack(a), stack(b), lead_a
    if not lead_a:
        return stack(a), stack(b), lead_b
    lead = torch.broadcast_shapes(lead_a, lead_b)
    full = [x if math.prod(x.shape[:-2]) == 1 else x.expand(*lead, *x.shape[-2:]) for x in (a, b)]
    return (
        stack(full[0].reshape(-1, *a.shape[-2:])),
        stack(full[1].reshape(-1, *b.shape[-2:])),
        lead,
    )


def of_pair(name: str, a: Tensor, b: Tensor, parameter: float = 0.0) -> Tensor:
    """A kernel on two tensors, leading dimensions broadcast."""
    first, second, lead = pair(a, b)
    value = call(name, parameter, first, second)
    return value if len(lead) == 1 else value.reshape(*lead, *value.shape[1:])


def threshold_of(value: float) -> float:
    """A threshold of eigenvalues."""
    # Comparisons that torch.compile can follow.
    if not 0 < value < math.inf:
        raise ValueError(
            f"the threshold of the eigenvalues must be a finite number above 0, got {value!r}."
        )
    return value
