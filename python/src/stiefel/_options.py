"""Groups of parameters of the classifiers."""

from __future__ import annotations

from typing import Literal

from ._parameters import Auto, Count, Group, NotNegative, Positive, store

Anchor = Literal["dedicated", "first", "barycenter", "routed-barycenter"]
UnseenWhitening = Literal["pooled", "own-mean", "causal"]
Reference = Literal["euclidean", "riemannian", "log-euclidean"]
Method = Literal["symmetric", "pca"]
Scale = Literal["per-trial", "per-domain", "none"]


class Whitening(Group):
    """How the trials of a domain are whitened: by a mean of its training trials.

    Parameters
    ----------
    adapt : {"pooled", "own-mean", "causal"}, default="pooled"
        The mean that whitens a domain without training trials. "pooled": that of the training
        domains. "own-mean": that of all its unlabelled trials. "causal": that of its trials up to
        each one. The last two are shrunk to the pooled mean.
    kappa : float, default=10.0
        How many trials the pooled mean counts for in "own-mean" and "causal".
    tikhonov : None | float, default=1e-8
        Diagonal loading relative to the mean variance.
    reference : {"euclidean", "riemannian", "log-euclidean"}, default="euclidean"
        Which mean.
    method : {"symmetric", "pca"}, default="symmetric"
        Which square root whitens.
    scaling : {"per-trial", "per-domain", "none"}, default="per-trial"
        Scale of whitened matrices.

    Examples
    --------
    >>> from stiefel import SPDNetClassifier, Whitening
    >>> SPDNetClassifier(whitening=Whitening(adapt="own-mean"))
    SPDNetClassifier(whitening=Whitening(adapt='own-mean'))
    >>> SPDNetClassifier().set_params(whitening__adapt="causal", whitening__kappa=5)
    SPDNetClassifier(whitening=Whitening(adapt='causal', kappa=5))
    """

    def __init__(
        self,
        adapt: UnseenWhitening = "pooled",
        kappa: NotNegative = 10.0,
        tikhonov: NotNegative | None = 1e-8,
        reference: Reference = "euclidean",
        method: Method = "symmetric",
        scaling: Scale = "per-trial",
    ) -> None:
        store(self, locals())


class Experts(Group):
    """What the experts of a :class:`DaspClassifier` are and how they are mixed.

    Parameters
    ----------
    kind : {"stiefel", "polar", "barrier"}, default="stiefel"
        What an expert is: orthonormal columns; orthonormal columns and an SPD scale, for data that
        keep their amplitudes; or any matrix, which a barrier in the loss keeps at full rank.
    top_p : None | int, default=None
        How many experts filter a trial: its best ones. The others have a weight of exactly zero.
        None mixes all.
    anchor : {"dedicated", "first", "barycenter", "routed-barycenter"}, default="dedicated"
        The point whose tangent space the experts are mixed in.
    retraction : {"qr", "polar"}, default="qr"
        How the mixture becomes a filter.
    noise : None | float, default=None
        None starts experts anywhere; a number starts them that far from the anchor.
    barrier : {"bounded", "paper"}, default="bounded"
        Which barrier, for experts of the kind "barrier"; that of the paper falls without bound as
        an expert grows.
    head : {"shared", "routed"}, default="shared"
        Whether each expert has weights of its own besides those that all share.
    head_ridge : float, default=1e-3
        Weight of the squares of the experts' own weights, for a routed head.
    view_routing : {"trial", "view"}, default="trial"
        If a trial has several views: whether all views share the weights of their experts, or each
        view has its own.

    Examples
    --------
    >>> from stiefel import DaspClassifier, Experts
    >>> DaspClassifier(n_experts=8, experts=Experts(top_p=2))
    DaspClassifier(experts=Experts(top_p=2), n_experts=8)
    """

    def __init__(
        self,
        kind: Literal["stiefel", "polar", "barrier"] = "stiefel",
        top_p: Count | None = None,
        anchor: Anchor = "dedicated",
        retraction: Literal["qr", "polar"] = "qr",
        noise: NotNegative | None = None,
        barrier: Literal["bounded", "paper"] = "bounded",
        head: Literal["shared", "routed"] = "shared",
        head_ridge: NotNegative = 1e-3,
        view_routing: Literal["trial", "view"] = "trial",
    ) -> None:
        store(self, locals())


class Losses(Group):
    """What a :class:`DaspClassifier` minimises besides the cross-entropy: the weights of the other
    losses.

    Parameters
    ----------
    align : float | "auto", default="auto"
        Weight of the alignment loss.
    decouple_keys : bool | "auto", default="auto"
        Whether keys learn from the alignment loss alone.
    balance, entropy : float, default=0.0
        Weights of the load-balancing and of the entropy loss.
    barrier : float, default=1e-3
        Weight of the barrier, if experts need one.
    csp : float, default=0.0
        Weight of the loss that draws filters to the common spatial patterns of their domain.
    csp_filters : int, default=4
        How many patterns of a domain that loss takes, at most k.
    shrink : float, default=0.0
        Weight of the loss that draws experts to the anchor.

    Examples
    --------
    >>> from stiefel import DaspClassifier, Losses
    >>> DaspClassifier(losses=Losses(align=0.1)).set_params(losses__shrink=0.5)
    DaspClassifier(losses=Losses(align=0.1, shrink=0.5))
    """

    def __init__(
        self,
        align: Auto | NotNegative = "auto",
        decouple_keys: Auto | bool = "auto",
        balance: NotNegative = 0.0,
        entropy: NotNegative = 0.0,
        barrier: NotNegative = 1e-3,
        csp: NotNegative = 0.0,
        csp_filters: Count = 4,
        shrink: NotNegative = 0.0,
    ) -> None:
        store(self, locals())


class Training(Group):
    """How a network is trained.

    Parameters
    ----------
    learning_rate : float, default=0.01
        Step of Riemannian Adam.
    batch : int, default=32
        Trials per step.
    patience : int, default=10
        Epochs without a better validation score before stopping; the best epoch is kept.
    orthogonality : {"riemannian", "cayley"}, default="riemannian"
        How filters stay orthonormal while they are learnt.
    precision : {"f32", "f64"}, default="f32"
        Precision of the network; whitening is always in double.

    Examples
    --------
    >>> from stiefel import SPDNetClassifier, Training
    >>> SPDNetClassifier(training=Training(learning_rate=0.02, precision="f64"))
    SPDNetClassifier(training=Training(learning_rate=0.02, precision='f64'))
    """

    def __init__(
        self,
        learning_rate: Positive = 0.01,
        batch: Count = 32,
        patience: Count = 10,
        orthogonality: Literal["riemannian", "cayley"] = "riemannian",
        precision: Literal["f32", "f64"] = "f32",
    ) -> None:
        store(self, locals())
