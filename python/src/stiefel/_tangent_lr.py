"""The peer everybody compares with: tangent space and logistic regression."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from . import _domains, spd
from ._validation import check_classes, check_labels, check_spd, check_trials
from ._whitening import DomainWhitening


class TangentSpaceLR(ClassifierMixin, BaseEstimator):
    """Tangent vectors at a mean, then logistic regression; optionally after whitening per domain.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the L2 penalty.
    metric : {"riemann", "logeuclid", "euclid"}, default="riemann"
        The mean whose tangent space is used.
    whiten_domains : bool, default=False
        Whiten every domain first (:class:`DomainWhitening`), so that people become comparable.
    unseen_whitening : {"pooled", "own-mean", "causal"}, default="pooled"
        What then whitens a domain without training trials.
    class_weight : None | dict | "balanced", default=None
        Weights of the classes.
    covariance : None | {"scm", "lwf", "oas", "sch"}, default=None
        None takes covariances; a name takes epochs and estimates them.
    max_iter : int, default=1000
        Iterations of the solver at most.
    warm_start : bool, default=False
        Start the solver from the last solution.
    random_state : None | int | RandomState, default=None
        Passed to the solver.

    Examples
    --------
    >>> from stiefel import TangentSpaceLR, load_synthetic
    >>> data = load_synthetic("BNCI2015001", subjects=2, trials_per_class=20, random_state=0)
    >>> clf = TangentSpaceLR(whiten_domains=True).fit(data.X, data.y, subjects=data.domains)
    >>> bool(clf.score(data.X, data.y, subjects=data.domains) > 0.7)
    True
    """

    __metadata_request__fit = {"sample_domain": True, "subjects": True}
    __metadata_request__predict = {"sample_domain": True, "subjects": True}
    __metadata_request__predict_proba = {"sample_domain": True, "subjects": True}
    __metadata_request__decision_function = {"sample_domain": True, "subjects": True}
    __metadata_request__score = {"sample_domain": True, "subjects": True}

    def __init__(
        self,
        C=1.0,
        metric="riemann",
        whiten_domains=False,
        unseen_whitening="pooled",
        class_weight=None,
        covariance=None,
        max_iter=1000,
        warm_start=False,
        random_state=None,
    ):
        self.C = C
        self.metric = metric
        self.whiten_domains = whiten_domains
        self.unseen_whitening = unseen_whitening
        self.class_weight = class_weight
        self.covariance = covariance
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags

    def _trials(self, X, name="X"):
        return check_spd(check_trials(X, self.covariance, name), name)

    def fit(self, X, y, sample_weight=None, sample_domain=None, subjects=None):
        """Fit mean and regression.

        Parameters
        ----------
        X : ndarray, shape (trials, n, n)
            Covariances.
        y : ndarray, shape (trials,)
            Classes; or pyRiemann's "domain/class".
        sample_weight : None | ndarray, shape (trials,), default=None
            Weights of the trials, in the mean and in the regression.
        sample_domain, subjects : None | ndarray, shape (trials,), default=None
            Domains; used where ``whiten_domains``.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        x = self._trials(X)
        labels = check_labels(y, len(x))
        domains = _domains.given(len(x), sample_domain, subjects)
        if domains is None and _domains.is_encoded(labels):
            domains, labels = _domains.decode(labels)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, x[:, 0], ensure_non_negative=True)
        if domains is not None:
            keep = np.array([not _domains.is_target(d) for d in domains])
            x, labels = x[keep], labels[keep]
            sample_weight = None if sample_weight is None else sample_weight[keep]
            domains = [d for d, k in zip(domains, keep) if k]
        check_classification_targets(labels)
        self.classes_, classes = np.unique(labels, return_inverse=True)
        check_classes(self.classes_, classes)
        self.n_features_in_ = self._channels = x.shape[1]
        if self.whiten_domains:
            self.whitening_ = DomainWhitening(unseen_whitening=self.unseen_whitening)
            x = self.whitening_.fit_transform(x, sample_domain=domains)
        self.reference_ = spd.gmean(x, metric=self.metric, sample_weight=sample_weight)
        solver = LogisticRegression(
            C=self.C, class_weight=self.class_weight, max_iter=self.max_iter, random_state=self.random_state,
            warm_start=self.warm_start,
        )  # fmt: skip
        if self.warm_start and hasattr(self, "regression_"):
            solver = self.regression_.set_params(**solver.get_params())
        self.regression_ = solver.fit(spd.tangent_space(x, self.reference_), labels, sample_weight=sample_weight)
        self.n_iter_ = int(self.regression_.n_iter_.max())
        return self

    def _vectors(self, X, sample_domain, subjects):
        check_is_fitted(self)
        x = self._trials(X)
        if x.shape[1] != self._channels:
            raise ValueError(
                f"X has {x.shape[1]} features, but {type(self).__name__} is expecting {self._channels} features as input."
            )
        if self.whiten_domains:
            x = self.whitening_.transform(x, sample_domain=sample_domain, subjects=subjects)
        return spd.tangent_space(x, self.reference_)

    def predict(self, X, sample_domain=None, subjects=None):
        """The class of every trial."""
        vectors = self._vectors(X, sample_domain, subjects)
        return self.regression_.predict(vectors)

    def predict_proba(self, X, sample_domain=None, subjects=None):
        """Probabilities of the classes."""
        vectors = self._vectors(X, sample_domain, subjects)
        return self.regression_.predict_proba(vectors)

    def decision_function(self, X, sample_domain=None, subjects=None):
        """Scores of the classes."""
        vectors = self._vectors(X, sample_domain, subjects)
        return self.regression_.decision_function(vectors)

    def score(self, X, y, sample_weight=None, sample_domain=None, subjects=None):
        """Accuracy."""
        from sklearn.metrics import accuracy_score

        return accuracy_score(y, self.predict(X, sample_domain, subjects), sample_weight=sample_weight)
