"""The Domain-Adaptive Stiefel Pool as a layer."""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from .. import _core
from . import functional
from ._fused import routed
from ._inputs import THRESHOLD, exact, kernels, refuse_transforms, square
from ._layers import dasp_defaults, initial, parametrise
from ._norm import check_domain
from ._router import Encoder, Query, Routed, auxiliary, mix
from .optim import StiefelParameter, check_on_manifold


class DaspBiMap(nn.Module):
    r"""BiMap with a routed filter: each trial has its own filter, mixed from a pool of experts on
    the Stiefel manifold.

    It takes the place of :class:`BiMap`. With the tangent vector x̃ of a trial and the number d of
    its domain::

        q = MLP([x̃; Emb(d)]),  α = softmax(q Eᵀ/√m),  Δ_j = W_j − W_base sym(W_baseᵀ W_j)
        W = qf(W_base + Σ_j α_j Δ_j),  Y = Wᵀ X W

    Parameters
    ----------
    in_features, out_features : int
        n and k.
    n_experts : int
        K.
    n_domains : int
        Domains in training.
    embedding : int, default=20
        m, the width of queries, keys and embeddings.
    dsp_rank : None | int, default=None
        Columns of the domain-separating encoder, which :meth:`fit_encoder` fits; None gives the
        query the whole tangent vector.
    domain_embedding : bool, default=True
        Whether the query is told the domain.
    kind : {"stiefel", "polar", "barrier"}, default="stiefel"
        What an expert is: orthonormal columns; orthonormal columns and an SPD scale; or any matrix,
        which a loss keeps at full rank.
    top_p : None | int, default=None
        How many experts filter a trial; None mixes all.
    anchor : {"dedicated", "first", "barycenter", "routed-barycenter"}, default="dedicated"
        The point whose tangent space the experts are mixed in.
    retraction : {"qr", "polar"}, default="qr"
        How the mixture becomes a filter.
    barrier : {"bounded", "paper"}, default="bounded"
        Which barrier, for experts of the kind "barrier".
    decoupled_keys : bool, default=True
        Whether keys learn from the alignment loss alone.
    orthogonality : {"riemannian", "cayley", "matrix_exp", "householder"}, default="riemannian"
        How experts and anchor stay orthonormal. With "riemannian" they are points that
        :class:`RiemannianAdam` moves. The others are parametrisations of PyTorch, for any
        optimiser; the state dictionary then has PyTorch's names for the coordinates.
    align, balance, entropy, shrink : float
        Weights in :meth:`auxiliary_loss`. The default is 0.05 for the alignment loss, and 0 for the
        load-balancing, entropy and shrinkage losses.
    barrier_weight : float, default=1e-3
        Weight of the barrier in :meth:`auxiliary_loss`.
    threshold : float, default=1e-4
        Threshold of ReEig in :meth:`features`.
    seed : int, default=0
        Seed of the first values, which are those of the core with this seed.
    device, dtype : object
        Device and precision of the parameters.

    Attributes
    ----------
    last_routing : Tensor, shape (B, K) | None
        Weights of the experts in the last forward pass, without their graph.

    Examples
    --------
    >>> import torch
    >>> from stiefel.torch import DaspBiMap
    >>> layer = DaspBiMap(6, 3, n_experts=4, n_domains=2)
    >>> y = layer(torch.eye(6).expand(5, 6, 6), torch.tensor([0, 0, 1, 1, 0]))
    >>> y.shape, layer.last_routing.shape
    (torch.Size([5, 3, 3]), torch.Size([5, 4]))
    >>> bool(layer.auxiliary_loss() > 0)
    True
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        n_experts: int,
        n_domains: int,
        *,
        embedding: int = 20,
        dsp_rank: int | None = None,
        domain_embedding: bool = True,
        kind: str = "stiefel",
        top_p: int | None = None,
        anchor: str = "dedicated",
        retraction: str = "qr",
        barrier: str = "bounded",
        decoupled_keys: bool = True,
        orthogonality: str = "riemannian",
        align: float = 0.05,
        balance: float = 0.0,
        entropy: float = 0.0,
        shrink: float = 0.0,
        barrier_weight: float = 1e-3,
        threshold: float = THRESHOLD,
        seed: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        options = {
            name: value
            for name, value in locals().items()
            if name not in ("self", "device", "dtype", "__class__")
        }
        if kind != "barrier" and (barrier != "bounded" or barrier_weight != 1e-3):
            raise ValueError(
                "barrier and barrier_weight have no effect without kind='barrier': leave them out, "
                "or set that too."
            )
        if dsp_rank is not None and not 1 <= dsp_rank <= in_features * (in_features + 1) // 2:
            raise ValueError(
                f"dsp_rank must be from 1 to {in_features * (in_features + 1) // 2}, got "
                f"{dsp_rank!r}."
            )
        self.options: dict[str, Any] = options
        self.last_routing: Tensor | None = None
        self._alpha: Tensor | None = None
        self._loss: Callable[[], Tensor] | None = None
        self._given: Any = None
        self._core: Any = None
        self._build({"device": device, "dtype": dtype})
        self._start()
        if kind != "barrier":
            parametrise(
                self,
                [name for name in ("experts", "anchor") if getattr(self, name) is not None],
                orthogonality,
            )
        elif orthogonality != "riemannian":
            raise ValueError(
                "orthogonality has no effect with kind='barrier', whose experts are any matrices: "
                "leave it out."
            )

    def _build(self, place: dict[str, Any]) -> None:
        """Parameters, without values."""
        o = self.options
        n, k, m, tangent = (
            o["in_features"],
            o["out_features"],
            o["embedding"],
            o["in_features"] * (o["in_features"] + 1) // 2,
        )
        encoded = tangent if o["dsp_rank"] is None else o["dsp_rank"]
        self.encoder = None if o["dsp_rank"] is None else Encoder(tangent, encoded, **place)
        self.embedding: Any = (
            nn.Parameter(torch.empty(o["n_domains"], m, **place)) if o["domain_embedding"] else None
        )
        self.query = Query(encoded + (m if o["domain_embedding"] else 0), m, **place)
        self.keys = nn.Parameter(torch.empty(o["n_experts"], m, **place))
        free = o["kind"] == "barrier"
        point = StiefelParameter if o["orthogonality"] == "riemannian" else nn.Parameter
        pool = torch.empty(o["n_experts"], n, k, **place)
        self.experts: Any = nn.Parameter(pool) if free else point(pool)
        self.scales: Any = (
            nn.Parameter(torch.empty(o["n_experts"], k, k, **place))
            if o["kind"] == "polar"
            else None
        )
        own = o["anchor"] == "dedicated" and not free
        self.anchor: Any = point(torch.empty(n, k, **place)) if own else None

    def architecture(self) -> dict[str, Any]:
        """The options as the core has them."""
        o = self.options
        return {
            "network": "dasp",
            **dasp_defaults(),
            "filters": o["out_features"],
            "experts": o["n_experts"],
            "embedding": o["embedding"],
            "anchor": o["anchor"],
            "retraction": o["retraction"],
            "domain_embedding": o["domain_embedding"],
            "decoupled_keys": o["decoupled_keys"],
            "epsilon": o["threshold"],
            "losses": {
                "alignment": o["align"],
                "balance": o["balance"],
                "entropy": o["entropy"],
                "shrink": o["shrink"],
                "barrier": o["barrier_weight"],
            },
            "routing": "soft" if o["top_p"] is None else {"top-p": {"p": o["top_p"]}},
            "experts_kind": {"barrier": {"kind": o["barrier"]}}
            if o["kind"] == "barrier"
            else o["kind"],
        }

    def _sizes(self) -> dict[str, int]:
        return {
            "channels": self.options["in_features"],
            "classes": 2,
            "domains": self.options["n_domains"],
            "encoded": self._width,
        }

    @property
    def _width(self) -> int:
        """How many numbers of a trial the query sees."""
        width: int = self.query.w1.shape[1] - (
            self.options["embedding"] if self.options["domain_embedding"] else 0
        )
        return width

    @torch.no_grad()
    def _start(self) -> None:
        """The first values of the core."""
        # What a layer without a head does not have is left out.
        own = dict(self.named_parameters())
        for name, (value, _) in initial(
            self.architecture(), self._sizes(), self.options["seed"]
        ).items():
            if name in own:
                own[name].copy_(value.reshape(own[name].shape))

    def _encode(self, x: Tensor) -> Tensor:
        """The rows the query sees, in the precision of the trials."""
        rows = functional.log_upper(x)
        if self.encoder is None:
            return rows
        if not torch.compiler.is_compiling() and int(self.encoder.between) < 0:
            raise RuntimeError(
                "the encoder is not fitted: call fit_encoder(X, domain) on the training trials, or "
                "make the layer with dsp_rank=None."
            )
        return rows @ self.encoder.projection.to(rows.dtype)

    def _rows(self, x: Tensor, domain: Tensor | None, encoded: Tensor | None) -> Tensor:
        rows = (self._encode(x) if encoded is None else encoded).to(self.keys.dtype)
        if self.embedding is None:
            return rows
        if domain is None:
            return torch.cat([rows, rows.new_zeros(rows.shape[0], self.embedding.shape[1])], 1)
        all_known = check_domain(domain, rows.shape[0], self.options["n_domains"], new=True)
        if all_known:
            return torch.cat([rows, nn.functional.embedding(domain, self.embedding)], 1)
        known = (domain >= 0).unsqueeze(1)
        found = nn.functional.embedding(domain.clamp(min=0), self.embedding)
        return torch.cat([rows, torch.where(known, found, torch.zeros_like(found))], 1)

    def _weights(self, scores: Tensor, soft: Tensor) -> Tensor:
        """The weights of the rule: all experts, or the best ones with the gradient of all."""
        p = self.options["top_p"]
        if p is None or p >= soft.shape[1]:
            return soft
        # Equal scores keep the first of them.
        best = torch.argsort(scores, dim=1, descending=True, stable=True)[:, :p]
        kept = torch.zeros_like(soft, dtype=torch.bool).scatter_(1, best, True)
        masked = scores.masked_fill(~kept, -math.inf).softmax(1)
        return soft + (masked - soft).detach()

    def _rerouted(self, alpha: Tensor) -> Tensor:
        if self._given is None:
            return alpha
        if isinstance(self._given, Tensor):
            return self._given.to(alpha)
        if self._given == "uniform":
            return torch.full_like(alpha, 1 / alpha.shape[1])
        return nn.functional.one_hot(alpha.argmax(1), alpha.shape[1]).to(alpha)

    def _route(
        self, x: Tensor, domain: Tensor | None, encoded: Tensor | None
    ) -> tuple[Tensor, bool]:
        """The filters of a batch, and whether they are yet to be made orthonormal, step by step."""
        query = self.query(self._rows(x, domain, encoded))
        keys = self.keys.detach() if self.options["decoupled_keys"] else self.keys
        scores = query @ keys.T / math.sqrt(keys.shape[1])
        soft = scores.softmax(1)
        alpha = self._rerouted(self._weights(scores, soft))
        filters, retract, tangents = self._filters(alpha)
        routed = Routed(query, scores, soft, alpha, tangents)
        self._passed(alpha, lambda: auxiliary(routed, self.keys, self.experts, self.options))
        return filters, retract

    def _passed(self, alpha: Tensor, loss: Callable[[], Tensor]) -> None:
        # Not by way of Module, which asks of every value whether it is a parameter.
        self.__dict__.update(_alpha=alpha, _loss=loss, last_routing=alpha.detach())

    def _fused(
        self, full: Tensor, x: Tensor, domain: Tensor | None, encoded: Tensor | None, features: bool
    ) -> Tensor:
        """Features or filters by one operation of the core."""
        rows = (self._encode(full) if encoded is None else encoded).to(self.keys.dtype)
        if rows.shape != (x.shape[0], self._width):
            raise ValueError(
                f"encoded must be ({x.shape[0]}, {self._width}), one row per trial, found "
                f"{tuple(rows.shape)}."
            )
        if domain is None:
            numbers = np.full(x.shape[0], -1)
        else:
            check_domain(domain, x.shape[0], self.options["n_domains"], new=True)
            numbers = domain.numpy().astype(np.int64, copy=False)
        if self._core is None:
            core = _core.RoutedLayer(
                json.dumps(DaspBiMap.architecture(self)), json.dumps(self._sizes())
            )
            self._core = core, operator.attrgetter(*core.names)
        core, parameters_of = self._core
        value, alpha, loss = routed(
            core, numbers, self._given, x if features else None, rows, parameters_of(self)
        )
        self._passed(alpha, lambda: loss)
        return value

    def _filtered(
        self, full: Tensor, x: Tensor, domain: Tensor | None, encoded: Tensor | None
    ) -> tuple[Tensor, bool]:
        """The filters of a batch, and whether they are yet to be made orthonormal."""
        if self._at_once(x):
            return self._fused(full, x, domain, encoded, False), False
        return self._route(full, domain, encoded)

    def _at_once(self, x: Tensor) -> bool:
        return not torch.compiler.is_compiling() and kernels(x, self.keys)

    def _retract(self, w: Tensor, step: Tensor) -> Tensor:
        return (
            functional.retract_qr
            if self.options["retraction"] == "qr"
            else functional.retract_polar
        )(w, step)

    def _filters(self, alpha: Tensor) -> tuple[Tensor, bool, Tensor]:
        """Filters of routing weights, whether they are yet to be made orthonormal, and what was
        mixed."""
        experts, kind = self.experts, self.options["kind"]
        if kind == "barrier":
            return mix(alpha, experts), False, experts
        base, step, tangents = self._mixture(alpha)
        if kind == "polar":
            low = self.scales.tril(-1) + torch.diag_embed(
                self.scales.diagonal(dim1=1, dim2=2).exp()
            )
            product = low @ low.mT
            root = functional.expm(mix(alpha, functional.logm(0.5 * (product + product.mT))) / 2)
            return self._retract(base, step) @ root, False, tangents
        if self.options["retraction"] == "qr":
            return base + step, True, tangents
        return functional.retract_polar(base, step), False, tangents

    def _mixture(self, alpha: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Anchor, mixed tangent vectors of every trial, and the tangent vectors."""
        experts, anchor = self.experts, self.options["anchor"]
        base = experts[0] if self.anchor is None else self.anchor
        tangents = functional.project_tangent(base, experts)
        if anchor == "barycenter":
            base = self._retract(base, tangents.mean(0))
            tangents = functional.project_tangent(base, experts)
        elif anchor == "routed-barycenter":
            base = self._retract(base, mix(alpha, tangents))
            # The projection is linear: mixing first gives the same.
            step = functional.project_tangent(base, mix(alpha, experts))
            return base, step, functional.project_tangent(base[0].detach(), experts.detach())
        return base, mix(alpha, tangents), tangents

    def _checked(self, X: Tensor) -> tuple[Tensor, Tensor]:
        """The matrices in their own precision, which the query takes, and in that of the
        parameters."""
        x = square(X, "X")
        n = self.options["in_features"]
        if x.dim() != 3 or x.shape[1] != n:
            raise ValueError(f"X must be a batch (B, {n}, {n}), found {tuple(x.shape)}.")
        refuse_transforms(self.keys)
        check_on_manifold(self.experts, self.anchor)
        return x, x.to(self.keys.dtype)

    def forward(
        self, X: Tensor, domain: Tensor | None = None, encoded: Tensor | None = None
    ) -> Tensor:
        """``W_iᵀ X_i W_i`` with the filter of every trial.

        Parameters
        ----------
        X : Tensor, shape (B, n, n)
            SPD matrices. If they are in double precision, the query sees them as exactly as the
            core does, whatever the precision of the parameters is.
        domain : None | Tensor, shape (B,), default=None
            Whose trials they are: numbers from 0. None or a negative number means somebody new,
            whose embedding is zero.
        encoded : None | Tensor, shape (B, r), default=None
            The rows that the query sees, from :meth:`encode`, if they were computed before.

        Returns
        -------
        Y : Tensor, shape (B, k, k)
            SPD matrices, in the wider precision of matrices and parameters, as of :class:`BiMap`.
        """
        with exact(X):
            full, x = self._checked(X)
            filters = self._points(*self._filtered(full, x, domain, encoded))
            return functional.bimap(full, filters)

    @staticmethod
    def _points(filters: Tensor, retract: bool) -> Tensor:
        return functional.retract_qr(filters, torch.zeros_like(filters[:1])) if retract else filters

    def features(
        self, X: Tensor, domain: Tensor | None = None, encoded: Tensor | None = None
    ) -> Tensor:
        """``upper(log max(W_iᵀ X_i W_i, ε))``: the layer, ReEig and LogEig in one operation, which
        is much faster than three.

        Parameters
        ----------
        X, domain, encoded : Tensor
            See :meth:`forward`.

        Returns
        -------
        z : Tensor, shape (B, k(k+1)/2)
            Vectors, in the wider precision of matrices and parameters.
        """
        with exact(X):
            full, x = self._checked(X)
            if torch.promote_types(full.dtype, x.dtype) == x.dtype:
                return self._features(full, x, domain, encoded)
            filters, retract = self._filtered(full, x, domain, encoded)
            return functional.filtered_log(full, filters, self.options["threshold"], retract)

    def _features(
        self, full: Tensor, x: Tensor, domain: Tensor | None, encoded: Tensor | None
    ) -> Tensor:
        """Features in the precision of the parameters."""
        if self._at_once(x):
            return self._fused(full, x, domain, encoded, True)
        filters, retract = self._route(full, domain, encoded)
        return functional.filtered_log(x, filters, self.options["threshold"], retract)

    @torch.no_grad()
    def encode(self, X: Tensor) -> Tensor:
        """The rows that the query sees: the tangent vectors ``upper(log X)``, through the encoder
        if there is one.

        Parameters
        ----------
        X : Tensor, shape (N, n, n)
            SPD matrices.

        Returns
        -------
        rows : Tensor, shape (N, r)
            The rows, for ``encoded`` of :meth:`forward`. Trials that do not change need them once,
            not in every step.
        """
        return self._encode(self._checked(X)[0]).to(self.keys.dtype)

    @torch.no_grad()
    def fit_encoder(self, X: Tensor, domain: Tensor, fill: str = "within") -> DaspBiMap:
        """Fit the domain-separating encoder on training trials, and freeze it. The core fits it, in
        the memory of the CPU.

        Parameters
        ----------
        X : Tensor, shape (N, n, n)
            Training matrices as they enter the layer.
        domain : Tensor, shape (N,)
            Whose they are.
        fill : {"within", "between-only"}, default="within"
            What follows the directions between domains, if more columns are asked for.

        Returns
        -------
        self : DaspBiMap
            The layer.
        """
        if self.encoder is None:
            raise RuntimeError("the layer has no encoder: make it with dsp_rank.")
        x = self._checked(X)[0].double()
        check_domain(domain, x.shape[0], self.options["n_domains"])
        tangent = np.ascontiguousarray(functional.log_upper(x).cpu().numpy()[:, np.newaxis])
        config = json.dumps({"rank": self.options["dsp_rank"], "fill": fill})
        columns, between = _core.torch_fit_encoder(tangent, domain.tolist(), config)
        if columns.shape[2] != self.options["dsp_rank"]:
            raise ValueError(
                f"the training trials span {columns.shape[2]} directions, and dsp_rank is "
                f"{self.options['dsp_rank']}: make the layer with "
                f"dsp_rank={columns.shape[2]}."
            )
        self.encoder.projection.copy_(torch.from_numpy(columns[0]))
        self.encoder.between.fill_(between)
        self.encoder.fill = fill
        return self

    def auxiliary_loss(self) -> Tensor:
        """The weighted losses of the last forward pass, without the loss of the task: alignment,
        balance, entropy, shrinkage, barrier.

        Returns
        -------
        loss : Tensor
            One number.
        """
        if self._loss is None:
            raise RuntimeError("there was no forward pass yet.")
        return self._loss()

    @contextmanager
    def rerouted(self, routing: Tensor | str | None) -> Iterator[None]:
        """Use other weights of the experts within a ``with`` statement, for controls.

        Parameters
        ----------
        routing : None | Tensor, shape (B, K) | {"uniform", "top-1"}
            The weights. "uniform" gives all experts the same weight, and "top-1" takes the winner
            alone. None takes the learnt weights.

        Returns
        -------
        None
            Nothing.
        """
        if not (routing is None or isinstance(routing, Tensor) or routing in ("uniform", "top-1")):
            raise ValueError(
                f"routing must be None, weights, 'uniform' or 'top-1', got {routing!r}."
            )
        before, self._given = self._given, routing
        try:
            yield
        finally:
            self._given = before

    def __getstate__(self) -> dict[str, Any]:
        # A graph can be neither copied nor written.
        return {**self.__dict__, "_alpha": None, "_loss": None, "_given": None, "_core": None}

    def extra_repr(self) -> str:
        """What its text says."""
        return ", ".join(f"{name}={value!r}" for name, value in self.options.items())
