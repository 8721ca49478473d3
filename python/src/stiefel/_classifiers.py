"""The networks as scikit-learn classifiers."""

from __future__ import annotations

import json
from typing import Any, Literal

import numpy as np

from . import _core
from ._base import store
from ._network import POLICIES, NetworkClassifier
from ._validation import to_json

_AUTO = "auto"

#: Options of every network that have a few values.
_CHOICES = {
    "batch_norm": (None, "after", "before"),
    "initial_anchor": ("random", "discriminative"),
    "orthogonality": ("riemannian", "cayley"),
    "precision": ("f32", "f64"),
}


def tail(options: NetworkClassifier) -> dict[str, Any]:
    """What the networks with one filter and with many have in common, as the core reads it."""
    norm = options.batch_norm
    return {
        "orthogonality": options.orthogonality,
        "initial_anchor": options.initial_anchor,
        "batch_norm": None if norm is None else {"position": norm},
    }


class DaspClassifier(NetworkClassifier):
    """Domain-Adaptive Stiefel Pool: for every trial a spatial filter routed from a pool of experts.

    Covariances are whitened per domain on the training part, projected by a filter mixed from K experts on the Stiefel manifold
    according to a query of the trial and its domain, and classified from the logarithm of what the filter keeps. Everything ``"auto"``
    is decided by the scaling rule from channels and training domains; ``scaling_`` explains it. With one training domain there is
    nothing to route between, and one filter is trained.

    Parameters
    ----------
    n_filters : int | "auto", default="auto"
        Directions k a filter keeps.
    n_experts : int | "auto", default="auto"
        Experts K.
    embedding_dim : int | "auto", default="auto"
        Width m of queries, keys and domain embeddings.
    dsp_rank : int | None | "auto", default="auto"
        Columns of the domain-separating encoder; None gives the query the whole tangent vector.
    lambda_align : float | "auto", default="auto"
        Weight of the alignment loss.
    decouple_keys : bool | "auto", default="auto"
        Whether keys learn from the alignment loss alone.
    lambda_balance, lambda_entropy : float, default=0.0
        Weights of the load-balancing and the entropy loss.
    anchor : {"dedicated", "first", "barycenter", "routed-barycenter"}, default="dedicated"
        The point whose tangent space the experts are mixed in.
    retraction : {"qr", "polar"}, default="qr"
        How the mixture becomes a filter.
    top_p : None | int, default=None
        How many experts filter a trial: its best ones, the others have a weight of exactly zero; None mixes all.
    expert_kind : {"stiefel", "polar", "barrier"}, default="stiefel"
        What an expert is: orthonormal columns; orthonormal columns and an SPD scale, for data that keep their amplitudes; or any matrix, of
        full rank by a barrier in the loss.
    barrier : {"bounded", "paper"}, default="bounded"
        Which barrier; the paper's falls without bound as an expert grows.
    lambda_barrier : float, default=1e-3
        Weight of the barrier, where experts need one.
    lambda_csp : float, default=0.0
        Weight of the loss that draws filters to the common spatial patterns of their domain.
    csp_filters : int, default=4
        How many patterns of a domain count there, at most k.
    lambda_shrink : float, default=0.0
        Weight of the loss that draws experts to the anchor.
    head : {"shared", "routed"}, default="shared"
        Whether every expert has weights of its own behind those that all share.
    head_ridge : float, default=1e-3
        Weight of the squares of the experts' own weights, for a routed head.
    initial_anchor : {"random", "discriminative"}, default="random"
        Where the anchor starts: anywhere, or at the directions in which the classes of the training trials differ.
    expert_noise : None | float, default=None
        None starts experts anywhere; a number starts them that far from the anchor.
    batch_norm : None | "after" | "before", default=None
        Riemannian batch normalisation per domain behind the filter, or in front of it in the place of whitening
        (``precondition=False``; better in f64).
    orthogonality : {"riemannian", "cayley"}, default="riemannian"
        How filters stay orthonormal while they are learnt.
    preset : None | {"Weibo2014", "BNCI2015001", "BNCI2014001"}, default=None
        The paper's setting for one of its datasets in place of the scaling rule.
    unseen : {"zero", "input-only", "nearest", "riemannian-nearest", "transductive"}, default="zero"
        What stands in for the embedding of a domain without training trials. "input-only" trains without embedding. The last three look at
        unlabelled trials of the new domain, those given at fit or else those at hand: "nearest" borrows the embedding of the nearest training
        domain, "transductive" adapts one until the trials are routed sharply.
    precondition : bool, default=True
        Whether trials are whitened per domain, on the training part. False takes them as they are, whitened by the caller
        (:class:`DomainWhitening`); the options of whitening are then not read.
    unseen_whitening : {"pooled", "own-mean", "causal"}, default="pooled"
        What whitens a domain without training trials; the last two look at its unlabelled trials.
    kappa : float, default=10.0
        How many trials the pooled mean counts for in the last two.
    handle_unknown : {"error", "new"}, default="error"
        What a domain at predict is whose name no training domain had: an error, or a new domain, as when each subject is left out in turn.
    label_format : {"class", "domain/class"}, default="class"
        What the labels are: classes, or pyRiemann's "domain/class", of which the class begins behind the last slash.
    tikhonov : float | None, default=1e-8
        Diagonal loading relative to the mean variance.
    reference : {"euclidean", "riemannian", "log-euclidean"}, default="euclidean"
        The mean a domain is whitened by.
    whitening : {"symmetric", "pca"}, default="symmetric"
        Which square root whitens.
    scaling : {"per-trial", "per-domain", "none"}, default="per-trial"
        Scale of whitened matrices.
    covariance : None | {"scm", "lwf", "oas", "sch"}, default=None
        None takes covariances; a name takes epochs (trials, channels, samples) and estimates them.
    validation_fraction : float, default=0.15
        Share of every (domain, class) cell that decides when to stop; 0 watches the training trials.
    learning_rate : float, default=0.01
        Step of Riemannian Adam.
    batch_size : int, default=32
        Trials per step.
    max_epochs : int, default=40
        Epochs at most.
    patience : int, default=10
        Epochs without a better validation score before stopping; the best epoch is kept.
    warm_start : bool, default=False
        Whether the next ``fit`` goes on from the network and the encoder of the last one, with a fresh optimiser and whitening fitted anew;
        channels, classes, domains and the options of the network must be the same.
    class_weight : None | dict | "balanced", default=None
        Weights of the classes in the loss.
    precision : {"f32", "f64"}, default="f32"
        Precision of the network; whitening is always in double.
    random_state : None | int | RandomState, default=None
        Seed of initial values, order of trials and validation part.
    n_jobs : None | int, default=None
        Threads; the result does not depend on it.
    verbose : int, default=0
        Print a line per epoch.

    Attributes
    ----------
    classes_ : ndarray
        The classes, in the order of the probabilities.
    domains_ : ndarray of str
        The training domains.
    scaling_ : Scaling
        What was chosen, and why; print it.
    history_ : list of dict
        Every epoch in numbers.
    n_iter_, best_epoch_ : int
        Epochs done, and the one whose parameters are kept.
    n_features_in_ : int
        Channels.

    Examples
    --------
    >>> from stiefel import DaspClassifier, load_synthetic
    >>> data = load_synthetic("BNCI2015001", subjects=3, trials_per_class=20, random_state=0)
    >>> clf = DaspClassifier(max_epochs=3, random_state=0)
    >>> clf = clf.fit(data.X, data.y, subjects=data.domains)
    >>> clf.predict_proba(data.X[:2], subjects=data.domains[:2]).shape
    (2, 2)
    >>> clf.scaling_["experts"]["value"]
    2
    """

    _networks = ("dasp", "spdnet")
    _choices = {
        "anchor": ("dedicated", "first", "barycenter", "routed-barycenter"),
        "retraction": ("qr", "polar"),
        "expert_kind": ("stiefel", "polar", "barrier"),
        "barrier": ("bounded", "paper"),
        "head": ("shared", "routed"),
        "unseen": POLICIES,
        **_CHOICES,
    }

    def __init__(
        self,
        n_filters: int | Literal["auto"] = "auto",
        n_experts: int | Literal["auto"] = "auto",
        embedding_dim: int | Literal["auto"] = "auto",
        dsp_rank: int | None | Literal["auto"] = "auto",
        lambda_align: float | Literal["auto"] = "auto",
        decouple_keys: bool | Literal["auto"] = "auto",
        lambda_balance: float = 0.0,
        lambda_entropy: float = 0.0,
        anchor: Literal["dedicated", "first", "barycenter", "routed-barycenter"] = "dedicated",
        retraction: Literal["qr", "polar"] = "qr",
        top_p: int | None = None,
        expert_kind: Literal["stiefel", "polar", "barrier"] = "stiefel",
        barrier: Literal["bounded", "paper"] = "bounded",
        lambda_barrier: float = 1e-3,
        lambda_csp: float = 0.0,
        csp_filters: int = 4,
        lambda_shrink: float = 0.0,
        head: Literal["shared", "routed"] = "shared",
        head_ridge: float = 1e-3,
        initial_anchor: Literal["random", "discriminative"] = "random",
        expert_noise: float | None = None,
        batch_norm: Literal["after", "before"] | None = None,
        orthogonality: Literal["riemannian", "cayley"] = "riemannian",
        preset: str | None = None,
        unseen: Literal["zero", "input-only", "nearest", "riemannian-nearest", "transductive"] = "zero",
        precondition: bool = True,
        unseen_whitening: Literal["pooled", "own-mean", "causal"] = "pooled",
        kappa: float = 10.0,
        handle_unknown: Literal["error", "new"] = "error",
        label_format: Literal["class", "domain/class"] = "class",
        tikhonov: float | None = 1e-8,
        reference: Literal["euclidean", "riemannian", "log-euclidean"] = "euclidean",
        whitening: Literal["symmetric", "pca"] = "symmetric",
        scaling: Literal["per-trial", "per-domain", "none"] = "per-trial",
        covariance: Literal["scm", "lwf", "oas", "sch"] | None = None,
        validation_fraction: float = 0.15,
        learning_rate: float = 0.01,
        batch_size: int = 32,
        max_epochs: int = 40,
        patience: int = 10,
        warm_start: bool = False,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        precision: Literal["f32", "f64"] = "f32",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        store(self, locals())

    def _configuration(self, scaling):
        own = {
            "filters": self.n_filters,
            "experts": self.n_experts,
            "embedding": self.embedding_dim,
            "dsp_rank": self.dsp_rank,
            "lambda_align": self.lambda_align,
            "decouple_keys": self.decouple_keys,
        }
        own = {name: value for name, value in own.items() if not (isinstance(value, str) and value == _AUTO)}
        if "experts" in own:
            own["routing"] = True
        scaling.given(**own)
        config = json.loads(_core.configuration(to_json(scaling)))
        network = config["architecture"]
        network.update(tail(self))
        # With one domain there is one filter, and nothing to route.
        if network["network"] == "dasp":
            network.update(self._routing())
            network["losses"].update(
                balance=self.lambda_balance,
                entropy=self.lambda_entropy,
                barrier=self.lambda_barrier,
                csp=self.lambda_csp,
                shrink=self.lambda_shrink,
            )
            network["csp"]["filters"] = self.csp_filters
        return config

    def _routing(self):
        """Everything about experts and how they are mixed."""
        kind, head = self.expert_kind, self.head
        return {
            "anchor": self.anchor,
            "retraction": self.retraction,
            "domain_embedding": self.unseen != "input-only",
            "routing": "soft" if self.top_p is None else {"top-p": {"p": self.top_p}},
            "experts_kind": {"barrier": {"kind": self.barrier}} if kind == "barrier" else kind,
            "head": {"kind": head, "ridge": self.head_ridge} if head == "routed" else {"kind": head},
            "initial_experts": {"kind": "random"}
            if self.expert_noise is None
            else {"kind": "near-anchor", "noise": self.expert_noise},
        }


class SPDNetClassifier(NetworkClassifier):
    """SPDNet with one BiMap: one filter for everybody, the baseline of :class:`DaspClassifier` with the same tail and training.

    Parameters
    ----------
    n_filters : int | "auto", default="auto"
        Directions k the filter keeps.
    initial_anchor : {"random", "discriminative"}, default="random"
        Where the filter starts: anywhere, or at the directions in which the classes of the training trials differ.
    batch_norm, orthogonality
        See :class:`DaspClassifier`.
    precondition : bool, default=True
        Whether trials are whitened per domain, on the training part. False takes them as they are, whitened by the caller
        (:class:`DomainWhitening`); the options of whitening are then not read.
    unseen_whitening : {"pooled", "own-mean", "causal"}, default="pooled"
        What whitens a domain without training trials; the last two look at its unlabelled trials.
    kappa : float, default=10.0
        How many trials the pooled mean counts for in the last two.
    handle_unknown : {"error", "new"}, default="error"
        What a domain at predict is whose name no training domain had: an error, or a new domain, as when each subject is left out in turn.
    label_format : {"class", "domain/class"}, default="class"
        What the labels are: classes, or pyRiemann's "domain/class", of which the class begins behind the last slash.
    tikhonov, reference, whitening, scaling, covariance
        See :class:`DaspClassifier`.
    validation_fraction, learning_rate, batch_size, max_epochs, patience, warm_start
        See :class:`DaspClassifier`.
    class_weight, precision, random_state, n_jobs, verbose
        See :class:`DaspClassifier`.

    Examples
    --------
    >>> from stiefel import SPDNetClassifier, load_synthetic
    >>> data = load_synthetic("BNCI2015001", subjects=2, trials_per_class=10, random_state=0)
    >>> clf = SPDNetClassifier(max_epochs=2, random_state=0).fit(data.X, data.y, subjects=data.domains)
    >>> clf.predict(data.X[:3], subjects=data.domains[:3]).shape
    (3,)
    """

    _networks = ("spdnet",)
    _choices = _CHOICES
    #: Nothing is routed, so nothing has to stand in for an embedding.
    unseen = "input-only"

    def __init__(
        self,
        n_filters: int | Literal["auto"] = "auto",
        initial_anchor: Literal["random", "discriminative"] = "random",
        batch_norm: Literal["after", "before"] | None = None,
        orthogonality: Literal["riemannian", "cayley"] = "riemannian",
        precondition: bool = True,
        unseen_whitening: Literal["pooled", "own-mean", "causal"] = "pooled",
        kappa: float = 10.0,
        handle_unknown: Literal["error", "new"] = "error",
        label_format: Literal["class", "domain/class"] = "class",
        tikhonov: float | None = 1e-8,
        reference: Literal["euclidean", "riemannian", "log-euclidean"] = "euclidean",
        whitening: Literal["symmetric", "pca"] = "symmetric",
        scaling: Literal["per-trial", "per-domain", "none"] = "per-trial",
        covariance: Literal["scm", "lwf", "oas", "sch"] | None = None,
        validation_fraction: float = 0.15,
        learning_rate: float = 0.01,
        batch_size: int = 32,
        max_epochs: int = 40,
        patience: int = 10,
        warm_start: bool = False,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        precision: Literal["f32", "f64"] = "f32",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        store(self, locals())

    def _configuration(self, scaling):
        own = {} if isinstance(self.n_filters, str) and self.n_filters == _AUTO else {"filters": self.n_filters}
        scaling.given(routing=False, dsp_rank=None, **own)
        config = json.loads(_core.configuration(to_json(scaling)))
        config["architecture"].update(tail(self))
        return config
