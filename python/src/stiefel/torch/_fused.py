"""The routed layer in one operation of PyTorch: query, weights, mixture, filter, ReEig, LogEig and
the losses beside the task's.

A router is many small steps, and each would cost PyTorch more than its arithmetic. The core records
them all; PyTorch sees one function with one
backward. :class:`stiefel.torch.DaspBiMap` takes this way on the CPU, and one through PyTorch's own
functions elsewhere and under ``torch.compile``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ._operators import arrays, kept_of, no_second, token_of


def _forward(core, domains, routing, x, rows, parameters, wanted):
    covariances = None if x is None else arrays(x)[0]
    return core.forward(
        arrays(*parameters),
        arrays(rows)[0],
        covariances,
        domains,
        routing,
        wanted,
        torch.get_num_threads(),
    )


def _tensors(found, x):
    value, weights, loss, recorded = found
    value = value if x is None else value[:, 0]
    loss = torch.from_numpy(np.asarray(loss, dtype=value.dtype))
    return torch.from_numpy(value), torch.from_numpy(weights[0]), loss, recorded


class _Routed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, core, domains, routing, x, rows, *parameters):
        needs = ctx.needs_input_grad
        ctx.call, ctx.wanted = (core, domains, routing), [*needs[5:], needs[4], needs[3]]
        value, weights, loss, recorded = _tensors(
            _forward(*ctx.call, x, rows, parameters, ctx.wanted), x
        )
        ctx.save_for_backward(x, rows, *parameters, token_of(recorded))
        ctx.set_materialize_grads(False)
        return value, weights, loss

    @staticmethod
    def backward(ctx, g_value, g_weights, g_loss):
        x, rows, *parameters, token = ctx.saved_tensors
        recorded = kept_of(token)
        if recorded is None:
            recorded = _forward(*ctx.call, x, rows, parameters, ctx.wanted)[3]
        given = [None if g is None else arrays(g)[0] for g in (g_value, g_weights)]
        found = recorded.pull_back(
            *given, None if g_loss is None else float(g_loss), torch.get_num_threads()
        )
        found = [None if g is None else torch.from_numpy(g) for g in found]
        if torch.is_grad_enabled():  # a graph of the gradients is asked for
            found = no_second(found, [g_value, g_weights, g_loss, x, rows, *parameters])
        in_x = found.pop() if ctx.needs_input_grad[3] else None
        in_rows = found.pop()
        return None, None, None, in_x, in_rows, *found


def routed(
    core: Any,
    domains: Any,
    routing: Any,
    x: Tensor | None,
    rows: Tensor,
    parameters: Sequence[Tensor],
) -> tuple[Tensor, Tensor, Tensor]:
    """Features of matrices ``x``, or filters where there are none; the weights of the experts; and
    the losses of the layer.

    ``core`` is a ``RoutedLayer``, ``domains`` an array of its numbers, negative for somebody new,
    ``routing`` None, weights, "uniform" or "top-1".
    """
    if isinstance(routing, Tensor):
        routing = arrays(routing.to(rows))[0]
    inputs = (rows, *parameters) if x is None else (x, rows, *parameters)
    if torch.is_grad_enabled() and any(t.requires_grad for t in inputs):
        return _Routed.apply(core, domains, routing, x, rows, *parameters)  # type: ignore[no-any-return]
    return _tensors(_forward(core, domains, routing, x, rows, parameters, []), x)[:3]
