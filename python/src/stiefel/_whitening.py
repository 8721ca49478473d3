"""Whitening per domain, on its own."""

from __future__ import annotations

import json

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from . import _core, _domains
from ._base import labelled
from ._preconditioning import preconditioning, unseen_whitening
from ._validation import check_spd, check_trials


class DomainWhitening(TransformerMixin, BaseEstimator):
    """Whiten covariances per domain by the mean of its training trials: loading, whitening, scale.

    ``transform`` whitens trials of a training domain by that domain's mean, and trials of a new domain under the policy ``unseen``.

    Parameters
    ----------
    unseen_whitening : {"pooled", "own-mean", "causal"}, default="pooled"
        What whitens a domain without training trials: the mean of the training domains; or that of its unlabelled trials, all of
        them or those up to each one, shrunk to the pooled mean.
    kappa : float, default=10.0
        How many trials the pooled mean counts for in the last two.
    tikhonov : float | None, default=1e-8
        Diagonal loading relative to the mean variance.
    reference : {"euclidean", "riemannian", "log-euclidean"}, default="euclidean"
        The mean.
    whitening : {"symmetric", "pca"}, default="symmetric"
        Which square root whitens.
    scaling : {"per-trial", "per-domain", "none"}, default="per-trial"
        Scale of whitened matrices.
    covariance : None | {"scm", "lwf", "oas", "sch"}, default=None
        None takes covariances; a name takes epochs and estimates them.

    Attributes
    ----------
    domains_ : ndarray of str
        The training domains.
    n_features_in_ : int
        Channels.

    Notes
    -----
    ``fit_transform`` is for training data only: it whitens every trial by a mean it is part of. Transforming test trials with it would
    let them shape their own whitening unannounced.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel import DomainWhitening, load_synthetic, spd
    >>> data = load_synthetic("BNCI2015001", subjects=2, trials_per_class=10, random_state=0)
    >>> whitening = DomainWhitening(scaling="none").fit(data.X, subjects=data.domains)
    >>> first = data.domains == data.domains[0]
    >>> mean = spd.mean_euclid(whitening.transform(data.X[first], subjects=data.domains[first]))
    >>> bool(np.allclose(mean, np.eye(13)))
    True
    """

    __metadata_request__fit = {"sample_domain": True, "subjects": True}
    __metadata_request__transform = {"sample_domain": True, "subjects": True}

    def __init__(
        self,
        unseen_whitening="pooled",
        kappa=10.0,
        tikhonov=1e-8,
        reference="euclidean",
        whitening="symmetric",
        scaling="per-trial",
        covariance=None,
    ):
        self.unseen_whitening = unseen_whitening
        self.kappa = kappa
        self.tikhonov = tikhonov
        self.reference = reference
        self.whitening = whitening
        self.scaling = scaling
        self.covariance = covariance

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_whitener")

    def _trials(self, X, name="X"):
        return check_spd(check_trials(X, self.covariance, name), name)

    def fit(self, X, y=None, sample_domain=None, subjects=None):
        """Fit the mean of every domain.

        Parameters
        ----------
        X : ndarray, shape (trials, n, n)
            Training covariances.
        y : None | ndarray, shape (trials,), default=None
            Read only where it holds pyRiemann's "domain/class" and no other domains are given.
        sample_domain, subjects : None | ndarray, shape (trials,), default=None
            Domains, skada's or MOABB's way; trials marked as target are left out.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        x = self._trials(X)
        domains = _domains.given(len(x), sample_domain, subjects)
        if domains is None:
            labels = np.asarray([] if y is None else y)
            domains = _domains.decode(labels)[0] if _domains.is_encoded(labels) else [_domains.ONLY] * len(x)
            if len(domains) != len(x):
                raise ValueError(f"Found input variables with inconsistent numbers of samples: [{len(x)}, {len(domains)}]")
        keep = np.array([not _domains.is_target(d) for d in domains])
        if not keep.any():
            raise ValueError("Every trial is marked as a trial of the target; nothing is left to fit on.")
        domains = [_domains.key(d) for d, k in zip(domains, keep) if k]
        names = list(dict.fromkeys(domains))
        at = {name: i for i, name in enumerate(names)}
        trials = labelled(x[keep], [0] * len(domains), ["-"], [at[d] for d in domains], names)
        self._whitener = _core.fit_whitener(trials, json.dumps(preconditioning(self)))
        self.domains_ = np.array(names)
        self.n_features_in_ = self._channels = x.shape[1]
        return self

    def transform(self, X, sample_domain=None, subjects=None):
        """Whiten trials.

        Parameters
        ----------
        X : ndarray, shape (trials, n, n)
            Covariances.
        sample_domain, subjects : None | ndarray, shape (trials,), default=None
            Domains. None: all trials are of one new domain (of the training domain, where there was one). None or a negative
            number among them marks trials of a new domain.

        Returns
        -------
        X_new : ndarray, shape (trials, n, n)
            Whitened covariances.
        """
        check_is_fitted(self)
        x = self._trials(X)
        if x.shape[1] != self._channels:
            raise ValueError(
                f"X has {x.shape[1]} features, but {type(self).__name__} is expecting {self._channels} features as input."
            )
        names = list(self.domains_)
        domains = _domains.given(len(x), sample_domain, subjects)
        if domains is None:
            domains = [names[0] if len(names) == 1 else None] * len(x)
        known = _domains.known_index(domains, names)
        out = np.empty_like(x)
        for d in np.unique(known[known >= 0]):
            out[known == d] = self._whitener.transform_known(np.ascontiguousarray(x[known == d]), int(d))
        marks = {}
        for trial in np.flatnonzero(known < 0):
            marks.setdefault(domains[trial], []).append(trial)
        for trials in marks.values():
            out[trials] = self._whitener.transform_unseen(np.ascontiguousarray(x[trials]), unseen_whitening(self))
        return out

    def fit_transform(self, X, y=None, sample_domain=None, subjects=None):
        """Fit on training trials and whiten the same trials; for training data only, see the notes of the class."""
        self.fit(X, y, sample_domain, subjects)
        domains = _domains.given(len(X), sample_domain, subjects)
        if domains is None and len(self.domains_) > 1:
            domains = _domains.decode(np.asarray(y))[0]
        return self.transform(X, sample_domain=domains)

    def __getstate__(self):
        state = super().__getstate__()
        if "_whitener" in state:
            state = {**state, "_whitener": state["_whitener"].state()}
        return state

    def __setstate__(self, state):
        if isinstance(state.get("_whitener"), str):
            state = {**state, "_whitener": _core.whitener_from_state(state["_whitener"])}
        super().__setstate__(state)
