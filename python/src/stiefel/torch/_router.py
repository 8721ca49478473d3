"""The parts of the router: query, encoder, mixtures, losses."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn


class Routed(NamedTuple):
    """What the losses need of a forward pass that PyTorch recorded step by step."""

    query: Tensor
    scores: Tensor
    soft: Tensor
    alpha: Tensor
    tangents: Tensor


class Query(nn.Module):
    """``w2 gelu(w1 x + b1) + b2``."""

    def __init__(self, width, m, device, dtype):
        super().__init__()
        for name, shape in (
            ("w1", (2 * m, width)),
            ("b1", (2 * m,)),
            ("w2", (m, 2 * m)),
            ("b2", (m,)),
        ):
            self.register_parameter(
                name, nn.Parameter(torch.empty(shape, device=device, dtype=dtype))
            )

    def forward(self, rows):
        hidden = nn.functional.gelu(nn.functional.linear(rows, self.w1, self.b1))
        return nn.functional.linear(hidden, self.w2, self.b2)


class Encoder(nn.Module):
    """The columns that tangent vectors are projected on; how many of them lie between domains is -1
    before they are fitted."""

    def __init__(self, inputs, rank, device, dtype):
        super().__init__()
        self.register_buffer("projection", torch.zeros(inputs, rank, device=device, dtype=dtype))
        self.register_buffer("between", torch.tensor(-1))
        self.fill = "within"


def mix(alpha: Tensor, matrices: Tensor) -> Tensor:
    """``Σ_j α_ij M_j``."""
    return (alpha @ matrices.flatten(1)).view(-1, *matrices.shape[1:])


def auxiliary(r: Routed, keys: Tensor, experts: Tensor, o: dict[str, Any]) -> Tensor:
    """The weighted losses of a forward pass beside the one of the task.

    ::

        align    mean_i[1 − cos(sg(q_i), E_j*)]       j* the winner; only its key moves
        balance  K Σ_j f_j p_j                        f_j share of the trials won by j, without a gradient; p_j mean weight
        entropy  mean_i H(α_i)/log K                  of the softmax itself, also where routing is sparse
        shrink   mean_j ‖Δ_j‖²
        barrier  −Σ_j log det(W_jᵀW_j)                bounded: + Σ_j [tr(W_jᵀW_j) − k]
    """
    loss = r.alpha.new_zeros(())
    if o["align"]:
        winners = keys[r.alpha.argmax(1)]
        loss = (
            loss
            + o["align"] * (1 - nn.functional.cosine_similarity(r.query.detach(), winners)).mean()
        )
    if o["balance"]:
        count = r.alpha.shape[1]
        shares = nn.functional.one_hot(r.alpha.argmax(1), count).to(r.alpha).mean(0)
        loss = loss + o["balance"] * count * (shares * r.alpha.mean(0)).sum()
    if o["entropy"] and r.soft.shape[1] > 1:
        loss = (
            loss
            - o["entropy"]
            / math.log(r.soft.shape[1])
            * (r.soft * r.scores.log_softmax(1)).sum(1).mean()
        )
    if o["shrink"]:
        loss = loss + o["shrink"] * r.tangents.square().sum((1, 2)).mean()
    if o["kind"] == "barrier" and o["barrier_weight"]:
        rank = -torch.linalg.slogdet(experts.mT @ experts)[1].sum()
        if o["barrier"] == "bounded":
            rank = rank + experts.square().sum() - experts.shape[0] * experts.shape[2]
        loss = loss + o["barrier_weight"] * rank
    return loss
