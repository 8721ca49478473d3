"""Whitening per domain, on its own."""

from __future__ import annotations

import json

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from . import _core, _domains
from ._base import labelled, store
from ._preconditioning import preconditioning, seen, unseen_whitening
from ._validation import check_channels, check_spd, check_trials, one_of


class DomainWhitening(TransformerMixin, BaseEstimator):
    """Whiten covariances per domain by the mean of its training trials: loading, whitening, scale.

    ``transform`` whitens trials of a training domain by that domain's mean, and trials of a new domain under the policy ``unseen_whitening``.

    Parameters
    ----------
    unseen_whitening : {"pooled", "own-mean", "causal"}, default="pooled"
        What whitens a domain without training trials: the mean of the training domains; or that of its unlabelled trials, all of
        them or those up to each one, shrunk to the pooled mean.
    kappa : float, default=10.0
        How many trials the pooled mean counts for in the last two.
    handle_unknown : {"error", "new"}, default="error"
        What a domain at transform is whose name no training domain had: an error, or a new domain, as when each subject is left out in turn.
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

    __metadata_request__fit = {"sample_domain": True, "subjects": True, "X_target_unlabeled": None}
    __metadata_request__transform = {"sample_domain": True, "subjects": True}

    def __init__(
        self,
        unseen_whitening="pooled",
        kappa=10.0,
        handle_unknown="error",
        tikhonov=1e-8,
        reference="euclidean",
        whitening="symmetric",
        scaling="per-trial",
        covariance=None,
    ):
        store(self, locals())

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_whitener")

    def _trials(self, X, name="X"):
        return check_spd(check_trials(X, self.covariance, name), name)

    def fit(self, X, y=None, sample_domain=None, subjects=None, X_target_unlabeled=None):
        """Fit the mean of every domain.

        Parameters
        ----------
        X : ndarray, shape (trials, n, n)
            Training covariances.
        y : None | ndarray, shape (trials,), default=None
            Read only where it holds pyRiemann's "domain/class" and no other domains are given.
        sample_domain, subjects : None | ndarray, shape (trials,), default=None
            Domains, skada's or MOABB's way; trials marked as target are taken for unlabelled ones of the new domain.
        X_target_unlabeled : None | ndarray, default=None
            Trials of a domain that will be whitened later: what the policies that look at its trials then look at.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        self._fit(self._trials(X), y, sample_domain, subjects, X_target_unlabeled)
        return self

    def _fit(self, x, y, sample_domain, subjects, X_target_unlabeled):
        """Fits on checked trials, and gives the domain of each."""
        one_of("handle_unknown", self.handle_unknown, _domains.UNKNOWN)
        domains = self._domains_of(x, y, sample_domain, subjects)
        target = _domains.are_targets(domains)
        if target.all():
            raise ValueError("Every trial is marked as a trial of the target; nothing is left to fit on.")
        unlabelled = [x[target]] if target.any() else []
        if X_target_unlabeled is not None:
            unlabelled.append(self._trials(X_target_unlabeled, "X_target_unlabeled"))
            if unlabelled[-1].shape[1] != x.shape[1]:
                raise ValueError(f"X_target_unlabeled has {unlabelled[-1].shape[1]} features, but X has {x.shape[1]}.")
        keep = ~target
        names, numbers = _domains.factor([d for d, k in zip(domains, keep) if k])
        trials = labelled(x[keep], [0] * len(numbers), ["-"], numbers, names)
        self._whitener = _core.fit_whitener(trials, json.dumps(preconditioning(self)))
        self._target = np.concatenate(unlabelled) if unlabelled else None
        self.domains_ = np.array(names)
        self.n_features_in_ = self._channels = x.shape[1]
        return domains

    def _domains_of(self, x, y, sample_domain, subjects):
        """The domain of every training trial."""
        domains = _domains.given(len(x), sample_domain, subjects)
        if domains is None:
            labels = np.asarray([] if y is None else y)
            domains = _domains.decode(labels)[0] if _domains.is_encoded(labels) else [_domains.ONLY] * len(x)
            if len(domains) != len(x):
                raise ValueError(f"Found input variables with inconsistent numbers of samples: [{len(x)}, {len(domains)}]")
        return domains

    def transform(self, X, sample_domain=None, subjects=None):
        """Whiten trials.

        Parameters
        ----------
        X : ndarray, shape (trials, n, n)
            Covariances.
        sample_domain, subjects : None | ndarray, shape (trials,), default=None
            Domains. None: all trials are of one new domain (of the training domain, where there was one and no trials of another were
            given at fit). None or a negative number among them marks trials of a new domain.

        Returns
        -------
        X_new : ndarray, shape (trials, n, n)
            Whitened covariances.
        """
        check_is_fitted(self)
        x = self._trials(X)
        check_channels(self, x)
        domains = _domains.given(len(x), sample_domain, subjects)
        return self._whiten(x, [self._silent] * len(x) if domains is None else domains)

    @property
    def _silent(self):
        """The domain of trials that come without one."""
        return self.domains_[0] if len(self.domains_) == 1 and self._target is None else None

    def _whiten(self, x, domains):
        out = np.empty_like(x)
        for index, trials in _domains.groups(domains, list(self.domains_), self.handle_unknown):
            part = x[trials]
            if index >= 0:
                out[trials] = self._whitener.transform_known(part, index)
            else:
                known = seen(self, self._target, part)
                out[trials] = self._whitener.transform_unseen(part, known, unseen_whitening(self))
        return out

    def fit_transform(self, X, y=None, sample_domain=None, subjects=None, X_target_unlabeled=None):
        """Fit on training trials and whiten the same trials; for training data only, see the notes of the class.

        Parameters
        ----------
        X, y, sample_domain, subjects, X_target_unlabeled
            See :meth:`fit`.

        Returns
        -------
        X_new : ndarray, shape (trials, n, n)
            Whitened covariances.
        """
        x = self._trials(X)
        return self._whiten(x, self._fit(x, y, sample_domain, subjects, X_target_unlabeled))

    def __getstate__(self):
        state = super().__getstate__()
        if "_whitener" in state:
            state = {**state, "_whitener": state["_whitener"].state()}
        return state

    def __setstate__(self, state):
        if isinstance(state.get("_whitener"), str):
            state = {**state, "_whitener": _core.whitener_from_state(state["_whitener"])}
        super().__setstate__(state)
