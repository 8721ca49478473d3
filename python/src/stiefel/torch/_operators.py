"""The operations of the core as operators of PyTorch, which ``torch.compile`` sees as they are.

``stiefel::apply`` gives the value and a token. The token is a tensor of one number that stands for
what the pull-back needs: it keeps it alive as long as
the graph keeps the token. Where somebody kept a copy of the token only (hooks that pack saved
tensors do), the forward pass is computed again.

Outside ``torch.compile`` the same functions are called without the operators around them.

Tensors are ``(count, rows, cols)``; in pairs either may have a count of one.
"""

from __future__ import annotations

import itertools
import secrets
import weakref
from typing import Optional

import numpy as np
import torch
from torch import Tensor

from .. import _core

#: Numbers of tokens; where they begin is drawn, so that a token of another process stands for
#: nothing here.
_NUMBERS = itertools.count(secrets.randbits(62))


class _Kept:
    """What a pull-back needs, with the memory of its token: the tensor that is made of it keeps it
    alive."""

    __slots__ = ("__weakref__", "applied", "number")

    def __init__(self, applied, number):
        self.applied, self.number = applied, np.array([number], dtype=np.int64)

    @property
    def __array_interface__(self):
        return self.number.__array_interface__


_KEPT: weakref.WeakValueDictionary[int, _Kept] = weakref.WeakValueDictionary()


def token_of(applied):
    """A token that stands for what a pull-back needs."""
    number = next(_NUMBERS)
    kept = _Kept(applied, number)
    _KEPT[number] = kept
    return torch.from_numpy(np.asarray(kept))


def kept_of(token):
    """What a token stands for, or None."""
    kept = _KEPT.get(int(token))
    return None if kept is None else kept.applied


def arrays(*tensors):
    """Tensors as arrays of the same memory, where they are contiguous."""
    return [x.detach().contiguous().numpy() for x in tensors if x is not None]


def _applied(name, parameter, a, b, keep):
    value, applied = _core.torch_apply(name, parameter, arrays(a, b), keep, torch.get_num_threads())
    token = torch.zeros(1, dtype=torch.int64) if applied is None else token_of(applied)
    return torch.from_numpy(value), token


def _pulled(name, parameter, a, b, value, token, g, in_a, in_b):
    inputs, threads = arrays(a, b), torch.get_num_threads()
    applied = kept_of(token)
    if applied is None:
        applied = _core.torch_apply(name, parameter, inputs, True, threads)[1]
    found = applied.pull_back(inputs, *arrays(value, g), [in_a, in_b][: len(inputs)], threads)
    return [None if x is None else torch.from_numpy(x) for x in found] + [None] * (2 - len(found))


@torch.library.custom_op("stiefel::apply", mutates_args=(), device_types="cpu")
def apply(
    name: str, parameter: float, a: Tensor, b: Optional[Tensor], keep: bool
) -> tuple[Tensor, Tensor]:
    return _applied(name, parameter, a, b, keep)


def _shape(name, parameter, a, b):
    """The shape of the value, from those of the inputs."""
    count, rows, cols = a.shape
    if b is not None and count == 1:
        count = b.shape[0]
    if name in ("upper", "log_upper"):
        return count, 1, rows * (rows + 1) // 2
    if name == "from_upper":
        return count, int(parameter), int(parameter)
    if name == "bimap":
        return count, cols, cols
    if name == "squared_distance":
        return count, 1, 1
    if name.startswith("filtered_log"):
        return count, 1, cols * (cols + 1) // 2
    return count, rows, cols


@apply.register_fake
def _(name, parameter, a, b, keep):
    return a.new_empty(_shape(name, parameter, a, b)), a.new_empty(1, dtype=torch.int64)


@torch.library.custom_op("stiefel::pull_back", mutates_args=(), device_types="cpu")
def pull_back(
    name: str,
    parameter: float,
    a: Tensor,
    b: Optional[Tensor],
    value: Tensor,
    token: Tensor,
    g: Tensor,
    in_a: bool,
    in_b: bool,
) -> tuple[Tensor, Tensor]:
    d_a, d_b = _pulled(name, parameter, a, b, value, token, g, in_a, in_b)
    return a.new_empty(0) if d_a is None else d_a, a.new_empty(0) if d_b is None else d_b


@pull_back.register_fake
def _(name, parameter, a, b, value, token, g, in_a, in_b):
    none = a.new_empty(0)
    return torch.empty_like(a) if in_a else none, torch.empty_like(b) if in_b else a.new_empty(0)


def _keep_for_backward(ctx, inputs, output):
    ctx.name, ctx.parameter, a, b, _ = inputs
    ctx.save_for_backward(a, b, *output)


def _backward(ctx, g, _):
    a, b, value, token = ctx.saved_tensors
    in_a, in_b = ctx.needs_input_grad[2], b is not None and ctx.needs_input_grad[3]
    d_a, d_b = pull_back(ctx.name, ctx.parameter, a, b, value, token, g, in_a, in_b)
    return None, None, d_a if in_a else None, d_b if in_b else None, None


torch.library.register_autograd("stiefel::apply", _backward, setup_context=_keep_for_backward)


def _no_second(ctx, *gradients):
    raise NotImplementedError(
        "stiefel has first derivatives only: a gradient of a gradient was asked for. Leave create_graph=True out, or detach the first gradient."
    )


torch.library.register_autograd(
    "stiefel::pull_back", _no_second, setup_context=lambda ctx, inputs, output: None
)


class _Final(torch.autograd.Function):
    """Gradients that are used no further: the same tensors, with a backward that says so."""

    @staticmethod
    def forward(ctx, count, *tensors):
        return tuple(x.view_as(x) for x in tensors[:count])

    backward = staticmethod(_no_second)


def no_second(gradients, sources):
    """Gradients as parts of the graph of what they were computed from; to go through them again is
    an error."""
    found = [g for g in gradients if g is not None]
    marked = iter(
        _Final.apply(len(found), *found, *(x for x in sources if x is not None)) if found else ()
    )
    return [None if g is None else next(marked) for g in gradients]


class _Eager(torch.autograd.Function):
    """The same without the ways of a registered operator, which take longer than a small operation
    itself; for everything but ``torch.compile``."""

    @staticmethod
    def forward(ctx, name, parameter, a, b):
        output = _applied(name, parameter, a, b, True)
        _keep_for_backward(ctx, (name, parameter, a, b, True), output)
        ctx.mark_non_differentiable(output[1])
        return output

    @staticmethod
    def backward(ctx, g, _):
        if (
            torch.is_grad_enabled()
        ):  # a graph of the gradients is asked for: the operator knows what to say if it is used
            return _backward(ctx, g, _)[:4]
        a, b, value, token = ctx.saved_tensors
        in_a, in_b = ctx.needs_input_grad[2], b is not None and ctx.needs_input_grad[3]
        d_a, d_b = _pulled(ctx.name, ctx.parameter, a, b, value, token, g, in_a, in_b)
        return None, None, d_a, d_b


def call(name: str, parameter: float, a: Tensor, b: Optional[Tensor] = None) -> Tensor:
    """The value of an operation on tensors ``(count, rows, cols)``; what the pull-back needs is
    kept where a gradient is wanted."""
    keep = torch.is_grad_enabled() and (a.requires_grad or (b is not None and b.requires_grad))
    if torch.compiler.is_compiling():
        return apply(name, parameter, a, b, keep)[0]
    if not keep:
        return _applied(name, parameter, a, b, False)[0]
    return _Eager.apply(name, parameter, a, b)[0]
