"""Whitening per domain, on its own."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from . import _core, _domains
from ._base import labelled, target_trials, trained_like
from ._options import Method, Reference, Scale, UnseenWhitening
from ._parameters import Covariance, HandleUnknown, LabelFormat, NotNegative, check, store
from ._preconditioning import preconditioning, seen, unseen_whitening
from ._trials import Trials, told
from ._validation import check_channels, check_labels, check_trials


class DomainWhitening(TransformerMixin, BaseEstimator):
    """Whiten covariances per domain by the mean of its training trials: loading, whitening, scale.

    ``transform`` whitens trials of a training domain by that domain's mean, and trials of a new
    domain under the policy ``adapt``.

    Parameters
    ----------
    adapt, kappa, tikhonov, reference, method, scaling
        See :class:`Whitening`.
    handle_unknown : {"error", "new"}, default="error"
        What happens at transform with a name that no training domain had: an error, or a new
        domain, as when each subject is left out in turn.
    label_format : {"class", "domain/class"}, default="class"
        What the labels are: classes, or pyRiemann's "domain/class", where the class stands after
        the last slash.
    covariance : None | {"sample", "ledoit-wolf", "oas", "schaefer-strimmer"}, default=None
        None takes covariances; a name takes epochs (trials, channels, samples) and estimates them.
        The sample covariance is divided by the number of samples minus one.

    Attributes
    ----------
    domains_ : ndarray of str
        The training domains.
    n_features_in_ : int
        Channels.
    channels_ : list of str | None
        Their names, if known.

    Notes
    -----
    ``fit_transform`` is for training data only: it whitens every trial by a mean it is part of.
    Test trials would shape their own whitening, without a warning.

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

    __metadata_request__fit = {"sample_domain": True, "subjects": True, "X_target_unlabeled": True}
    __metadata_request__transform = {"sample_domain": True, "subjects": True}

    def __init__(
        self,
        adapt: UnseenWhitening = "pooled",
        kappa: NotNegative = 10.0,
        tikhonov: NotNegative | None = 1e-8,
        reference: Reference = "euclidean",
        method: Method = "symmetric",
        scaling: Scale = "per-trial",
        handle_unknown: HandleUnknown = "error",
        label_format: LabelFormat = "class",
        covariance: Covariance | None = None,
    ) -> None:
        store(self, locals())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_whitener")

    def _trials(self, X, name="X"):
        return check_trials(X, self.covariance, name)

    def fit(
        self,
        X: ArrayLike | Trials,
        y: ArrayLike | None = None,
        sample_domain: ArrayLike | None = None,
        subjects: ArrayLike | None = None,
        X_target_unlabeled: ArrayLike | Trials | dict[Any, ArrayLike] | None = None,
    ) -> DomainWhitening:
        """Fit the mean of every domain.

        Parameters
        ----------
        X : ndarray, shape (trials, n, n) | Trials
            Training covariances; ``Trials`` bring their domains.
        y : None | ndarray, shape (trials,), default=None
            Read only with ``label_format="domain/class"``.
        sample_domain, subjects : None | ndarray, shape (trials,), default=None
            Domains, skada's or MOABB's way; a negative ``sample_domain`` marks a trial of a new
            domain, each number one domain.
        X_target_unlabeled : None | ndarray | Trials | dict of ndarray, default=None
            Trials of a domain that will be whitened later, for the policies that look at its
            trials; by name, if there are several domains.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        self._fit(X, y, sample_domain, subjects, X_target_unlabeled)
        return self

    def _fit(self, X, y, sample_domain, subjects, X_target_unlabeled):
        """Fits, and gives checked trials and the domain of each."""
        check(self)
        x, own = self._trials(X), told(X, self.covariance)
        if self.label_format == "class":
            sample_domain, subjects = own.whose(sample_domain, subjects)
        labels = check_labels(y, len(x)) if self.label_format == "domain/class" else x[:, 0, 0]
        domains, _ = _domains.of_fit(labels, sample_domain, subjects, self.label_format)
        domains = [_domains.ONLY] * len(x) if domains is None else domains
        targets = _domains.Targets().take(
            X_target_unlabeled, partial(target_trials, self, x.shape[1], own)
        )
        keep = ~targets.mark(x, domains)
        if not keep.any():
            raise ValueError(
                "Every trial is marked as a trial of a new domain; nothing is left to fit on."
            )
        names, numbers = _domains.factor([name for name, kept in zip(domains, keep) if kept])
        targets.check(names)
        trials = labelled(x[keep], [0] * len(numbers), ["-"], numbers, names)
        self._whitener = _core.fit_whitener(trials, json.dumps(preconditioning(self)))
        self._targets, self._labelled, self._warned = targets, False, False
        self.domains_ = np.array(names)
        self.n_features_in_ = self._channels = x.shape[1]
        self.channels_, self._preparation = own.channels, own.preparation
        return x, domains

    def transform(
        self,
        X: ArrayLike | Trials,
        sample_domain: ArrayLike | None = None,
        subjects: ArrayLike | None = None,
    ) -> NDArray[np.float64]:
        """Whiten trials.

        Parameters
        ----------
        X : ndarray, shape (trials, n, n) | Trials
            Covariances.
        sample_domain, subjects : None | ndarray, shape (trials,), default=None
            Domains. None takes those of ``Trials``. Without ``Trials``, all trials belong to one
            new domain (or to the training domain, if there was only one and no trials of another
            were given at fit). None or a negative number among them marks trials of a new domain.

        Returns
        -------
        X_new : ndarray, shape (trials, n, n)
            Whitened covariances.
        """
        check_is_fitted(self)
        check(self)
        x, own = self._trials(X), told(X, self.covariance)
        x = trained_like(x, own, self.channels_, self._preparation)
        check_channels(self, x)
        return self._whiten(x, *own.whose(sample_domain, subjects))

    def _whiten(self, x, sample_domain, subjects=None):
        out = np.empty_like(x)
        for index, name, trials in _domains.groups(self, len(x), sample_domain, subjects):
            part = x[trials]
            if index >= 0:
                out[trials] = self._whitener.transform_known(part, index)
            else:
                known = seen(self, self._targets.of(name), part)
                out[trials] = self._whitener.transform_new(part, known, unseen_whitening(self))
        return out

    def fit_transform(
        self,
        X: ArrayLike | Trials,
        y: ArrayLike | None = None,
        sample_domain: ArrayLike | None = None,
        subjects: ArrayLike | None = None,
        X_target_unlabeled: ArrayLike | Trials | dict[Any, ArrayLike] | None = None,
    ) -> NDArray[np.float64]:
        """Fit on training trials and whiten the same trials; for training data only, see the notes
        of the class.

        Parameters
        ----------
        X, y, sample_domain, subjects, X_target_unlabeled
            See :meth:`fit`.

        Returns
        -------
        X_new : ndarray, shape (trials, n, n)
            Whitened covariances.
        """
        return self._whiten(*self._fit(X, y, sample_domain, subjects, X_target_unlabeled))

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        if "_whitener" in state:
            state = {**state, "_whitener": state["_whitener"].state()}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if isinstance(state.get("_whitener"), str):
            state = {**state, "_whitener": _core.whitener_from_state(state["_whitener"])}
        super().__setstate__(state)
