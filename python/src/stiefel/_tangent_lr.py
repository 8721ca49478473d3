"""The peer everybody compares with: tangent space and logistic regression."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from . import spd
from ._base import ByDomain, trained_like
from ._options import Whitening
from ._parameters import (
    ClassWeight,
    Count,
    Covariance,
    HandleUnknown,
    LabelFormat,
    Positive,
    Seed,
    store,
)
from ._trials import Trials, told
from ._validation import check_channels, check_classes
from ._whitening import DomainWhitening


class TangentSpaceLR(ByDomain):
    """Tangent vectors at a mean, then logistic regression; optionally after whitening per domain.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the L2 penalty.
    metric : {"riemann", "logeuclid", "euclid"}, default="riemann"
        The mean whose tangent space is used.
    whiten_domains : bool, default=False
        Whiten every domain first (:class:`DomainWhitening`), so that people become comparable.
    whitening : None | Whitening, default=None
        How domains are whitened, if ``whiten_domains`` is True; None for the defaults of
        :class:`Whitening`.
    handle_unknown : {"error", "new"}, default="error"
        What happens at predict with a name that no training domain had: an error, or a new domain,
        as when each subject is left out in turn.
    label_format : {"class", "domain/class"}, default="class"
        What the labels are: classes, or pyRiemann's "domain/class", where the class stands after
        the last slash.
    class_weight : None | dict | "balanced", default=None
        Weights of the classes.
    covariance : None | {"sample", "ledoit-wolf", "oas", "schaefer-strimmer"}, default=None
        None takes covariances; a name takes epochs (trials, channels, samples) and estimates them.
        The sample covariance is divided by the number of samples minus one.
    max_iter : int, default=1000
        Maximum number of iterations of the solver.
    warm_start : bool, default=False
        Start the solver from the last solution.
    random_state : None | int | RandomState, default=None
        Passed to the solver.

    Attributes
    ----------
    classes_ : ndarray
        The classes, in the order of the probabilities.
    reference_ : ndarray, shape (n, n)
        The mean whose tangent space is used.
    whitening_ : DomainWhitening | None
        What whitens, if ``whiten_domains`` is True; else None.
    regression_ : LogisticRegression
        The regression.
    n_iter_ : int
        Iterations it took.
    n_features_in_ : int
        Channels.
    channels_ : list of str | None
        Their names, if known.

    Examples
    --------
    >>> from stiefel import TangentSpaceLR, load_synthetic
    >>> data = load_synthetic("BNCI2015001", subjects=2, trials_per_class=20, random_state=0)
    >>> clf = TangentSpaceLR(whiten_domains=True).fit(data.X, data.y, subjects=data.domains)
    >>> bool(clf.score(data.X, data.y, subjects=data.domains) > 0.7)
    True
    """

    def __init__(
        self,
        C: Positive = 1.0,
        metric: Literal["riemann", "logeuclid", "euclid"] = "riemann",
        whiten_domains: bool = False,
        whitening: Whitening | None = None,
        handle_unknown: HandleUnknown = "error",
        label_format: LabelFormat = "class",
        class_weight: ClassWeight = None,
        covariance: Covariance | None = None,
        max_iter: Count = 1000,
        warm_start: bool = False,
        random_state: Seed = None,
    ) -> None:
        store(self, locals())

    def _check_parameters(self):
        super()._check_parameters()
        if self.whitening is not None and not self.whiten_domains:
            raise ValueError(
                "whitening was given, but whiten_domains=False whitens nothing: leave one of them "
                "out."
            )

    def _made(self):
        return self._preparation

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "regression_")

    def fit(
        self,
        X: ArrayLike | Trials,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        sample_domain: ArrayLike | None = None,
        subjects: ArrayLike | None = None,
        X_target_unlabeled: ArrayLike | Trials | dict[Any, ArrayLike] | None = None,
    ) -> TangentSpaceLR:
        """Fit mean and regression.

        Parameters
        ----------
        X : ndarray, shape (trials, n, n) | Trials
            Covariances; ``Trials`` bring classes and domains.
        y : None | ndarray, shape (trials,), default=None
            Classes; or "domain/class", as ``label_format`` says. None takes those of ``Trials``.
        sample_weight : None | ndarray, shape (trials,), default=None
            Weights of the trials, in the mean and in the regression; a trial of weight zero is left
            out.
        sample_domain, subjects : None | ndarray, shape (trials,), default=None
            Domains; used if ``whiten_domains`` is True. A negative ``sample_domain`` marks an
            unlabelled trial of a new domain.
        X_target_unlabeled : None | ndarray | Trials | dict of ndarray, default=None
            Unlabelled trials of the domain that will be decoded, which its whitening looks at; by
            name, if there are several domains.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        prepared = self._prepare(X, y, sample_weight, sample_domain, subjects, X_target_unlabeled)
        x, labels, domains, sample_weight, targets, own, _ = prepared
        whitening = None
        if self.whiten_domains:
            whitening = DomainWhitening(
                handle_unknown=self.handle_unknown, **self._group("whitening").get_params()
            )
            x = whitening.fit_transform(x, sample_domain=domains, X_target_unlabeled=dict(targets))
        check_classification_targets(labels)
        names, classes = np.unique(labels, return_inverse=True)
        check_classes(names, classes, sample_weight)
        reference = spd.gmean(x, metric=self.metric, sample_weight=sample_weight)
        solver = LogisticRegression(
            C=self.C,
            class_weight=self.class_weight,
            max_iter=self.max_iter,
            random_state=self.random_state,
            warm_start=self.warm_start,
        )
        if self.warm_start and hasattr(self, "regression_"):
            solver = self.regression_.set_params(**solver.get_params())
        self.regression_: Any = solver.fit(
            spd.tangent_space(x, reference), labels, sample_weight=sample_weight
        )
        self.n_iter_ = int(self.regression_.n_iter_.max())
        self.classes_, self.reference_, self.whitening_ = names, reference, whitening
        self.n_features_in_ = self._channels = x.shape[1]
        self.channels_, self._preparation = own.channels, own.preparation
        return self

    def _vectors(self, X, sample_domain, subjects):
        check_is_fitted(self)
        self._check_parameters()
        x, own = self._trials(X), told(X, self.covariance)
        x = trained_like(x, own, self.channels_, self._made())
        check_channels(self, x)
        if self.whitening_ is not None:
            sample_domain, subjects = own.whose(sample_domain, subjects)
            x = self.whitening_.transform(x, sample_domain=sample_domain, subjects=subjects)
        return spd.tangent_space(x, self.reference_)

    def predict(
        self,
        X: ArrayLike | Trials,
        sample_domain: ArrayLike | None = None,
        subjects: ArrayLike | None = None,
    ) -> NDArray[Any]:
        """The most probable class of every trial.

        Parameters
        ----------
        X : ndarray, shape (trials, n, n) | Trials
            Covariances, or epochs with the option ``covariance``.
        sample_domain, subjects : None | ndarray, shape (trials,), default=None
            Domains, if they are whitened; see :meth:`DomainWhitening.transform`.

        Returns
        -------
        y : ndarray, shape (trials,)
            The classes.
        """
        vectors = self._vectors(X, sample_domain, subjects)
        return self.regression_.predict(vectors)

    def predict_proba(
        self,
        X: ArrayLike | Trials,
        sample_domain: ArrayLike | None = None,
        subjects: ArrayLike | None = None,
    ) -> NDArray[np.float64]:
        """Probabilities of the classes, in the order of ``classes_``.

        Parameters
        ----------
        X : ndarray, shape (trials, n, n) | Trials
            Covariances, or epochs with the option ``covariance``.
        sample_domain, subjects : None | ndarray, shape (trials,), default=None
            Domains, if they are whitened; see :meth:`DomainWhitening.transform`.

        Returns
        -------
        p : ndarray, shape (trials, classes)
            The probabilities.
        """
        vectors = self._vectors(X, sample_domain, subjects)
        return self.regression_.predict_proba(vectors)

    def decision_function(
        self,
        X: ArrayLike | Trials,
        sample_domain: ArrayLike | None = None,
        subjects: ArrayLike | None = None,
    ) -> NDArray[np.float64]:
        """Scores of the classes.

        Parameters
        ----------
        X : ndarray, shape (trials, n, n) | Trials
            Covariances, or epochs with the option ``covariance``.
        sample_domain, subjects : None | ndarray, shape (trials,), default=None
            Domains, if they are whitened; see :meth:`DomainWhitening.transform`.

        Returns
        -------
        scores : ndarray, shape (trials,) or (trials, classes)
            Log-odds of the second class, or scores of several.
        """
        vectors = self._vectors(X, sample_domain, subjects)
        return self.regression_.decision_function(vectors)
