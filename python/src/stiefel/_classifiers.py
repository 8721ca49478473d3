"""The networks as scikit-learn classifiers."""

from __future__ import annotations

import json
from typing import Literal

from . import _core
from ._network import NetworkClassifier
from ._options import Experts, Losses, Training, Whitening
from ._parameters import (
    Auto,
    ClassWeight,
    Count,
    Covariance,
    HandleUnknown,
    LabelFormat,
    Seed,
    Share,
    store,
)
from ._validation import to_json

Policy = Literal["zero", "input-only", "nearest", "riemannian-nearest", "transductive"]


def given(**values):
    """The values that are not left to the scaling rule."""
    return {
        name: value
        for name, value in values.items()
        if not (isinstance(value, str) and value == "auto")
    }


class DaspClassifier(NetworkClassifier):
    """Domain-Adaptive Stiefel Pool: each trial has its own spatial filter, routed from a pool of
    experts.

    Covariances are whitened per domain on the training part, and projected by a filter. A query of
    the trial and its domain mixes the filter from K experts on the Stiefel manifold. The trial is
    classified from the logarithm of what the filter keeps. The scaling rule decides everything that
    is ``"auto"`` from channels and training domains; ``scaling_`` explains it. With one training
    domain there is nothing to route between, and one filter is trained. Trials of several views,
    ``(trials, views, n, n)``, have a pool for each view and one classifier over all of them.

    Parameters
    ----------
    filters : int | "auto", default="auto"
        Directions k that a filter keeps.
    n_experts : int | "auto", default="auto"
        Experts K.
    embedding : int | "auto", default="auto"
        Width m of queries, keys and domain embeddings.
    dsp_rank : int | None | "auto", default="auto"
        Columns of the domain-separating encoder; None gives the query the whole tangent vector.
    experts : None | Experts, default=None
        What experts are and how they are mixed; None for the defaults of :class:`Experts`.
    losses : None | Losses, default=None
        Weights of the losses besides the cross-entropy; None for the defaults of :class:`Losses`.
    initial_anchor : {"random", "discriminative"}, default="random"
        Where the anchor starts: anywhere, or at the directions in which the classes of the training
        trials differ.
    batch_norm : None | "after" | "before", default=None
        Riemannian batch normalisation per domain after the filter, or before it in the place of
        whitening (``precondition=False``; better in f64).
    preset : None | {"Weibo2014", "BNCI2015001", "BNCI2014001"}, default=None
        The paper's setting for one of its datasets in place of the scaling rule.
    unseen : {"zero", "input-only", "nearest", "riemannian-nearest", "transductive"}, default="zero"
        What stands in for the embedding of a domain without training trials. "input-only" trains
        without embedding. The last three look at unlabelled trials of the new domain: those given
        at fit, or else those at hand. "nearest" takes the embedding of the nearest training domain,
        and "transductive" adapts an embedding until the trials are routed sharply.
    precondition : bool, default=True
        Whether trials are whitened per domain, on the training part. False takes them as they are,
        whitened by the caller (:class:`DomainWhitening`).
    whitening : None | Whitening, default=None
        How domains with and without training trials are whitened; None for the defaults of
        :class:`Whitening`.
    handle_unknown : {"error", "new"}, default="error"
        What happens at predict with a name that no training domain had: an error, or a new domain,
        as when each subject is left out in turn.
    label_format : {"class", "domain/class"}, default="class"
        What the labels are: classes, or pyRiemann's "domain/class", where the class stands after
        the last slash.
    covariance : None | {"sample", "ledoit-wolf", "oas", "schaefer-strimmer"}, default=None
        None takes covariances; a name takes epochs (trials, channels, samples) and estimates them.
        The sample covariance is divided by the number of samples minus one.
    validation_fraction : float, default=0.15
        Share of every (domain, class) cell that decides when to stop; 0 watches the training
        trials.
    epochs : int, default=40
        Maximum number of epochs.
    training : None | Training, default=None
        Steps, batches, patience and precision; None for the defaults of :class:`Training`.
    warm_start : bool, default=False
        Whether the next ``fit`` goes on from the network and the encoder of the last one, with a
        new optimiser and new whitening. Channels, classes, domains and the options of the network
        must then be the same.
    class_weight : None | dict | "balanced", default=None
        Weights of the classes in the loss.
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
    n_views_ : int
        Views of a trial.
    channels_ : list of str | None
        Their names, if known.
    preparation_ : Preparation
        How the training trials were made, if known; print it.

    Examples
    --------
    >>> from stiefel import DaspClassifier, load_synthetic
    >>> data = load_synthetic("BNCI2015001", subjects=3, trials_per_class=20, random_state=0)
    >>> clf = DaspClassifier(epochs=3, random_state=0)
    >>> clf = clf.fit(data.X, data.y, subjects=data.domains)
    >>> clf.predict_proba(data.X[:2], subjects=data.domains[:2]).shape
    (2, 2)
    >>> clf.scaling_["experts"]["value"]
    2
    """

    _kinds = ("dasp", "spdnet")

    def __init__(
        self,
        filters: Auto | Count = "auto",
        n_experts: Auto | Count = "auto",
        embedding: Auto | Count = "auto",
        dsp_rank: Auto | Count | None = "auto",
        experts: Experts | None = None,
        losses: Losses | None = None,
        initial_anchor: Literal["random", "discriminative"] = "random",
        batch_norm: Literal["after", "before"] | None = None,
        preset: str | None = None,
        unseen: Policy = "zero",
        precondition: bool = True,
        whitening: Whitening | None = None,
        handle_unknown: HandleUnknown = "error",
        label_format: LabelFormat = "class",
        covariance: Covariance | None = None,
        validation_fraction: Share = 0.15,
        epochs: Count = 40,
        training: Training | None = None,
        warm_start: bool = False,
        class_weight: ClassWeight = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: bool | int = 0,
    ) -> None:
        store(self, locals())

    def _check_parameters(self):
        super()._check_parameters()
        experts, losses = self._group("experts"), self._group("losses")
        for given, name, reads, default, condition in [
            (
                experts,
                "experts.barrier",
                experts.kind == "barrier",
                "bounded",
                "experts.kind='barrier'",
            ),
            (losses, "losses.barrier", experts.kind == "barrier", 1e-3, "experts.kind='barrier'"),
            (
                experts,
                "experts.head_ridge",
                experts.head == "routed",
                1e-3,
                "experts.head='routed'",
            ),
            (losses, "losses.csp_filters", losses.csp > 0, 4, "losses.csp above 0"),
        ]:
            value = getattr(given, name.partition(".")[2])
            if not reads and value != default:
                raise ValueError(
                    f"{name}={value!r} has no effect without {condition}: leave it out, or set "
                    "that too."
                )

    def _configuration(self, scaling):
        experts, losses = self._group("experts"), self._group("losses")
        own = given(
            filters=self.filters,
            experts=self.n_experts,
            embedding=self.embedding,
            dsp_rank=self.dsp_rank,
            lambda_align=losses.align,
            decouple_keys=losses.decouple_keys,
        )
        if "experts" in own:
            own["routing"] = True
        scaling.given(**own)
        config = json.loads(_core.configuration(to_json(scaling)))
        network = config["architecture"]
        network.update(self._tail())
        config["frechet_means"] = self.unseen == "riemannian-nearest"
        # With one domain there is one filter, and nothing to route.
        if network["network"] == "dasp":
            network.update(self._routing(experts))
            # The others are weights, under the names that the core gives them.
            apart = ("align", "decouple_keys", "csp_filters")
            network["losses"].update(
                {name: w for name, w in losses.get_params().items() if name not in apart}
            )
            network["csp"]["filters"] = losses.csp_filters
        return config

    def _routing(self, experts):
        """Everything about experts and how they are mixed."""
        kind, head, noise = experts.kind, experts.head, experts.noise
        return {
            "anchor": experts.anchor,
            "retraction": experts.retraction,
            "domain_embedding": self.unseen != "input-only",
            "routing": "soft" if experts.top_p is None else {"top-p": {"p": experts.top_p}},
            "experts_kind": {"barrier": {"kind": experts.barrier}} if kind == "barrier" else kind,
            "head": {"kind": head, "ridge": experts.head_ridge}
            if head == "routed"
            else {"kind": head},
            "view_routing": experts.view_routing,
            "initial_experts": {"kind": "random"}
            if noise is None
            else {"kind": "near-anchor", "noise": noise},
        }


class SPDNetClassifier(NetworkClassifier):
    """SPDNet with one BiMap: one filter for everybody.

    It is the baseline of :class:`DaspClassifier`, with the same layers after the filter and the
    same training. Trials of several views, ``(trials, views, n, n)``, have a filter for each view
    and one classifier over all of them.

    Parameters
    ----------
    filters : int | "auto", default="auto"
        Directions k that the filter keeps.
    initial_anchor : {"random", "discriminative"}, default="random"
        Where the filter starts: anywhere, or at the directions in which the classes of the training
        trials differ.
    batch_norm
        See :class:`DaspClassifier`.
    precondition : bool, default=True
        Whether trials are whitened per domain, on the training part. False takes them as they are,
        whitened by the caller (:class:`DomainWhitening`).
    whitening : None | Whitening, default=None
        How domains with and without training trials are whitened; None for the defaults of
        :class:`Whitening`.
    handle_unknown : {"error", "new"}, default="error"
        What happens at predict with a name that no training domain had: an error, or a new domain,
        as when each subject is left out in turn.
    label_format : {"class", "domain/class"}, default="class"
        What the labels are: classes, or pyRiemann's "domain/class", where the class stands after
        the last slash.
    covariance, validation_fraction, epochs, training, warm_start, class_weight
        See :class:`DaspClassifier`.
    random_state, n_jobs, verbose
        See :class:`DaspClassifier`.

    Examples
    --------
    >>> from stiefel import SPDNetClassifier, load_synthetic
    >>> data = load_synthetic("BNCI2015001", subjects=2, trials_per_class=10, random_state=0)
    >>> clf = SPDNetClassifier(epochs=2, random_state=0).fit(data.X, data.y, subjects=data.domains)
    >>> clf.predict(data.X[:3], subjects=data.domains[:3]).shape
    (3,)
    """

    _kinds = ("spdnet",)

    def __init__(
        self,
        filters: Auto | Count = "auto",
        initial_anchor: Literal["random", "discriminative"] = "random",
        batch_norm: Literal["after", "before"] | None = None,
        precondition: bool = True,
        whitening: Whitening | None = None,
        handle_unknown: HandleUnknown = "error",
        label_format: LabelFormat = "class",
        covariance: Covariance | None = None,
        validation_fraction: Share = 0.15,
        epochs: Count = 40,
        training: Training | None = None,
        warm_start: bool = False,
        class_weight: ClassWeight = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: bool | int = 0,
    ) -> None:
        store(self, locals())

    def _configuration(self, scaling):
        scaling.given(routing=False, dsp_rank=None, **given(filters=self.filters))
        config = json.loads(_core.configuration(to_json(scaling)))
        config["architecture"].update(self._tail())
        return config
