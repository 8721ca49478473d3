"""The networks of the model file: the routed one and its baseline, with head and batch
normalisation."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from . import functional
from ._dasp import DaspBiMap
from ._file import FileNetwork
from ._inputs import THRESHOLD, exact, square
from ._layers import Head, RoutedHead, initial, parametrise
from ._norm import SPDBatchNorm
from .optim import StiefelParameter, check_on_manifold


def _norm(
    position: str | None,
    channels: int,
    filters: int,
    domains: int,
    options: dict[str, Any],
    place: dict[str, Any],
) -> SPDBatchNorm | None:
    if position not in (None, "before", "after"):
        raise ValueError(f"batch_norm must be None, 'before' or 'after', got {position!r}.")
    if position is None:
        if options:
            raise ValueError(
                "norm has no effect without batch_norm: leave it out, or set that too."
            )
        return None
    return SPDBatchNorm(channels if position == "before" else filters, domains, **options, **place)


def _norm_config(position: str | None, norm: SPDBatchNorm | None) -> dict[str, Any] | None:
    if norm is None:
        return None
    return {
        "position": position,
        "momentum": norm.momentum,
        "epsilon": norm.eps,
        "bias": norm.bias is not None,
    }


class DaspNet(FileNetwork, DaspBiMap):
    """The routed network with its classifier: what the core trains as ``dasp``, with the same first
    values, losses and file.

    Parameters
    ----------
    in_features, out_features : int
        n and k.
    n_experts, n_domains, n_classes : int
        K, D and C.
    head : {"shared", "routed"}, default="shared"
        Whether each expert has weights of its own besides those that all share; see
        :class:`RoutedHead`.
    head_ridge : float, default=1e-3
        Weight of the squares of the experts' own weights.
    batch_norm : None | {"before", "after"}, default=None
        Whether trials are normalised per domain, before or after the filter; see
        :class:`SPDBatchNorm`.
    norm : None | dict, default=None
        Options of the normalisation: ``momentum``, ``eps`` and ``bias``.
    seed : int, default=0
        Seed of the first values.
    device, dtype : object
        Device and precision of the parameters.
    **options : object
        Options of :class:`DaspBiMap`.

    Examples
    --------
    >>> import torch
    >>> from stiefel.torch import DaspNet, RiemannianAdam
    >>> net = DaspNet(4, 2, n_experts=2, n_domains=2, n_classes=2)
    >>> optimiser = RiemannianAdam(net.parameters())
    >>> x, domain = torch.eye(4).expand(6, 4, 4), torch.tensor([0, 1] * 3)
    >>> y = torch.tensor([0, 0, 1, 1, 0, 1])
    >>> loss = torch.nn.functional.cross_entropy(net(x, domain), y) + net.auxiliary_loss()
    >>> loss.backward()
    >>> optimiser.step()
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        n_experts: int,
        n_domains: int,
        n_classes: int,
        *,
        head: str = "shared",
        head_ridge: float = 1e-3,
        batch_norm: str | None = None,
        norm: dict[str, Any] | None = None,
        seed: int = 0,
        device: Any = None,
        dtype: Any = None,
        **options: Any,
    ) -> None:
        if head not in ("shared", "routed"):
            raise ValueError(f"head must be 'shared' or 'routed', got {head!r}.")
        if head != "routed" and head_ridge != 1e-3:
            raise ValueError(
                "head_ridge has no effect without head='routed': leave it out, or set that too."
            )
        # Needed while the layer below builds.
        self._tail: dict[str, Any] = {
            "n_classes": n_classes,
            "head": head,
            "head_ridge": head_ridge,
            "batch_norm": batch_norm,
            "norm": norm or {},
        }
        super().__init__(
            in_features,
            out_features,
            n_experts,
            n_domains,
            seed=seed,
            device=device,
            dtype=dtype,
            **options,
        )
        self.options = {**self.options, **self._tail}

    def _build(self, place: dict[str, Any]) -> None:
        super()._build(place)
        o, tail = self.options, self._tail
        k = o["out_features"]
        width, classes = k * (k + 1) // 2, tail["n_classes"]
        routed = tail["head"] == "routed"
        self.head: Any = (
            RoutedHead(width, classes, o["n_experts"], tail["head_ridge"], **place)
            if routed
            else Head(width, classes, **place)
        )
        self.norm = _norm(
            tail["batch_norm"], o["in_features"], k, o["n_domains"], tail["norm"], place
        )

    def architecture(self) -> dict[str, Any]:
        """The options as the core has them."""
        tail = self._tail
        head = (
            {"kind": "routed", "ridge": tail["head_ridge"]}
            if tail["head"] == "routed"
            else {"kind": "shared"}
        )
        return {
            **super().architecture(),
            "head": head,
            "batch_norm": _norm_config(tail["batch_norm"], self.norm),
        }

    def _sizes(self) -> dict[str, int]:
        return {**super()._sizes(), "classes": self._tail["n_classes"]}

    def features(
        self, X: Tensor, domain: Tensor | None = None, encoded: Tensor | None = None
    ) -> Tensor:
        """The vectors that the head sees.

        Parameters
        ----------
        X, domain, encoded : Tensor
            See :meth:`forward`.

        Returns
        -------
        z : Tensor, shape (B, k(k+1)/2)
            Vectors, in the precision of the parameters.
        """
        with exact(X):
            full, x = self._checked(X)
            if self.norm is None:
                return self._features(full, x, domain, encoded)
            filters, retract = self._filtered(full, x, domain, encoded)
            threshold = self.options["threshold"]
            if self._tail["batch_norm"] == "before":
                return functional.filtered_log(self.norm(x, domain), filters, threshold, retract)
            y = self.norm(functional.bimap(x, self._points(filters, retract)), domain)
            return functional.upper(functional.reeig_log(y, threshold))

    def forward(
        self, X: Tensor, domain: Tensor | None = None, encoded: Tensor | None = None
    ) -> Tensor:
        """Scores of the classes.

        Parameters
        ----------
        X : Tensor, shape (B, n, n)
            Whitened covariances.
        domain : None | Tensor, shape (B,), default=None
            Whose trials they are: numbers from 0. None or a negative number means somebody new.
        encoded : None | Tensor, shape (B, r), default=None
            The rows that the query sees, from :meth:`encode`.

        Returns
        -------
        logits : Tensor, shape (B, C)
            Scores, in the precision of the parameters.
        """
        z = self.features(X, domain, encoded)
        with exact(X):
            return self.head(z, self._alpha)

    def auxiliary_loss(self) -> Tensor:
        """The weighted losses of the last forward pass beside the cross-entropy.

        Returns
        -------
        loss : Tensor
            One number.
        """
        loss = super().auxiliary_loss()
        return loss + self.head.auxiliary_loss() if isinstance(self.head, RoutedHead) else loss

    @torch.no_grad()
    def fit_statistics(self, X: Tensor, domain: Tensor) -> DaspNet:
        """Set the statistics of batch normalisation to the exact values of these trials, with the
        filters as they are; see :class:`SPDBatchNorm`.

        Parameters
        ----------
        X : Tensor, shape (N, n, n)
            Whitened covariances.
        domain : Tensor, shape (N,)
            Whose trials they are.

        Returns
        -------
        self : DaspNet
            The network.
        """
        if self.norm is None:
            raise RuntimeError("the network has no batch normalisation: make it with batch_norm.")
        after = self._tail["batch_norm"] == "after"
        self.norm.fit_statistics(DaspBiMap.forward(self, X, domain) if after else X, domain)
        return self


class SPDNet(FileNetwork, nn.Module):
    """One filter for everybody: the baseline of :class:`DaspNet`, with the same layers after the
    filter. The core trains it as ``spdnet``.

    Parameters
    ----------
    in_features, out_features : int
        n and k.
    n_classes : int
        C.
    n_domains : int, default=1
        Domains; batch normalisation has statistics of each.
    batch_norm : None | {"before", "after"}, default=None
        Whether trials are normalised per domain, before or after the filter.
    norm : None | dict, default=None
        Options of :class:`SPDBatchNorm`: ``momentum``, ``eps`` and ``bias``.
    threshold : float, default=1e-4
        Threshold of ReEig.
    orthogonality : {"riemannian", "cayley", "matrix_exp", "householder"}, default="riemannian"
        How the filter stays orthonormal; see :class:`DaspBiMap`.
    seed : int, default=0
        Seed of the first values.
    device, dtype : object
        Device and precision of the parameters.

    Examples
    --------
    >>> import torch
    >>> from stiefel.torch import SPDNet
    >>> SPDNet(4, 2, n_classes=3)(torch.eye(4).expand(5, 4, 4)).shape
    torch.Size([5, 3])
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        n_classes: int,
        n_domains: int = 1,
        *,
        batch_norm: str | None = None,
        norm: dict[str, Any] | None = None,
        threshold: float = THRESHOLD,
        orthogonality: str = "riemannian",
        seed: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.options = {
            name: value
            for name, value in locals().items()
            if name not in ("self", "device", "dtype", "__class__")
        }
        place, k = {"device": device, "dtype": dtype}, out_features
        point = StiefelParameter if orthogonality == "riemannian" else nn.Parameter
        self.filter: Any = point(torch.empty(in_features, k, **place))
        self.head = Head(k * (k + 1) // 2, n_classes, **place)
        self.norm = _norm(batch_norm, in_features, k, n_domains, norm or {}, place)
        self.encoder = None
        with torch.no_grad():
            own = dict(self.named_parameters())
            for name, (value, _) in initial(self.architecture(), self._sizes(), seed).items():
                if name in own:
                    own[name].copy_(value.reshape(own[name].shape))
        parametrise(self, ["filter"], orthogonality)

    def architecture(self) -> dict[str, Any]:
        """The options as the core has them."""
        o = self.options
        return {
            "network": "spdnet",
            "filters": o["out_features"],
            "epsilon": o["threshold"],
            "orthogonality": "riemannian",
            "batch_norm": _norm_config(o["batch_norm"], self.norm),
        }

    def _sizes(self) -> dict[str, int]:
        o = self.options
        n = o["in_features"]
        return {
            "channels": n,
            "classes": o["n_classes"],
            "domains": o["n_domains"],
            "encoded": n * (n + 1) // 2,
        }

    def forward(self, X: Tensor, domain: Tensor | None = None) -> Tensor:
        """Scores of the classes.

        Parameters
        ----------
        X : Tensor, shape (B, n, n)
            Whitened covariances.
        domain : None | Tensor, shape (B,), default=None
            Whose trials they are, for batch normalisation.

        Returns
        -------
        logits : Tensor, shape (B, C)
            Scores, in the precision of the parameters.
        """
        with exact(X):
            w, threshold = self.filter, self.options["threshold"]
            check_on_manifold(w)
            x = square(X, "X").to(w.dtype)
            if self.norm is None:
                z = functional.filtered_log(x, w, threshold, retract=False)
            elif self.options["batch_norm"] == "before":
                z = functional.filtered_log(self.norm(x, domain), w, threshold, retract=False)
            else:
                y = self.norm(functional.bimap(x, w), domain)
                z = functional.upper(functional.reeig_log(y, threshold))
            return self.head(z)

    @torch.no_grad()
    def fit_statistics(self, X: Tensor, domain: Tensor) -> SPDNet:
        """Set the statistics of batch normalisation to the exact values of these trials, with the
        filter as it is; see :class:`SPDBatchNorm`.

        Parameters
        ----------
        X : Tensor, shape (N, n, n)
            Whitened covariances.
        domain : Tensor, shape (N,)
            Whose trials they are.

        Returns
        -------
        self : SPDNet
            The network.
        """
        if self.norm is None:
            raise RuntimeError("the network has no batch normalisation: make it with batch_norm.")
        x = X.to(self.filter.dtype)
        self.norm.fit_statistics(
            functional.bimap(x, self.filter) if self.options["batch_norm"] == "after" else x, domain
        )
        return self
