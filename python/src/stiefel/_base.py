"""What the classifiers of the core share: preparing trials, fitting, deciding."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from . import _domains
from ._persistence import FileModel
from ._preconditioning import seen
from ._split import validation_trials
from ._validation import check_channels, check_classes, check_labels, check_spd, check_trials, one_of


def store(estimator, values):
    """Keeps the arguments of a constructor, ``locals()`` of it, as attributes of their names: all a constructor may do."""
    for name, value in values.items():
        if name not in ("self", "__class__"):
            setattr(estimator, name, value)


class ByDomain(ClassifierMixin, BaseEstimator):
    """A classifier of covariances ``(trials, n, n)`` that may be told whose trials they are."""

    __metadata_request__fit = {"sample_domain": True, "subjects": True, "X_target_unlabeled": True}
    __metadata_request__predict = {"sample_domain": True, "subjects": True}
    __metadata_request__predict_proba = {"sample_domain": True, "subjects": True}
    __metadata_request__decision_function = {"sample_domain": True, "subjects": True}
    __metadata_request__score = {"sample_domain": True, "subjects": True}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.non_deterministic = False
        return tags

    def _get_metadata_request(self):
        """Target trials reach the last step of a pipeline as they are: whoever takes covariances does not ask for epochs."""
        request = super()._get_metadata_request()
        if self.covariance is None and not hasattr(self, "_metadata_request"):
            for name in [name for name in request.fit.requests if "target" in name]:
                request.fit.add_request(param=name, alias=None)
        return request

    def score(self, X, y, sample_weight=None, sample_domain=None, subjects=None):
        """Accuracy.

        Parameters
        ----------
        X : ndarray, shape (trials, n, n)
            Covariances, or epochs with the option ``covariance``.
        y : ndarray, shape (trials,)
            Classes; or pyRiemann's "domain/class".
        sample_weight : None | ndarray, shape (trials,), default=None
            Weights of the trials.
        sample_domain, subjects : None | ndarray, shape (trials,), default=None
            Domains; see :meth:`predict_proba`.

        Returns
        -------
        accuracy : float
            The share of right decisions.
        """
        from sklearn.metrics import accuracy_score

        labels = np.asarray(y)
        if sample_domain is None and subjects is None and hasattr(self, "classes_") and _domains.is_encoded(labels):
            encoded = set(labels.tolist()) - set(self.classes_.tolist())
            if encoded:
                sample_domain, labels = _domains.decode(labels)
        return accuracy_score(labels, self.predict(X, sample_domain, subjects), sample_weight=sample_weight)


class DomainClassifier(FileModel, ByDomain):
    """A model of the core behind scikit-learn's interface: trials have classes and domains."""

    __metadata_request__fit = {"X_target_labeled": True, "y_target_labeled": True}

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_model")

    def _trials(self, X, name="X"):
        return check_trials(X, self.covariance, name)

    def _target_trials(self, X, name, channels):
        x = check_spd(self._trials(X, name), name)
        if x.shape[1] != channels:
            raise ValueError(f"{name} has {x.shape[1]} features, but X has {channels}.")
        return x

    def fit(
        self,
        X,
        y,
        sample_weight=None,
        sample_domain=None,
        subjects=None,
        X_target_unlabeled=None,
        X_target_labeled=None,
        y_target_labeled=None,
    ):
        """Fit whitening, encoder and network.

        Parameters
        ----------
        X : ndarray, shape (trials, n, n)
            Covariances; or epochs (trials, channels, samples) with the option ``covariance``.
        y : ndarray, shape (trials,)
            Classes; or pyRiemann's "domain/class".
        sample_weight : None | ndarray, shape (trials,), default=None
            Weights in the loss; a trial of weight zero is left out.
        sample_domain, subjects : None | ndarray, shape (trials,), default=None
            Domains, skada's or MOABB's way. A negative ``sample_domain`` marks an unlabelled trial of the target.
        X_target_unlabeled : None | ndarray, default=None
            Trials of the domain that will be decoded, without labels: what its policies need at predict.
        X_target_labeled, y_target_labeled : None | ndarray, default=None
            Labelled trials of the domain that will be decoded; it becomes one more training domain, which trials without a
            domain are taken to be of at predict.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._check_parameters()
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        x = check_spd(self._trials(X))
        labels = check_labels(y, len(x))
        domains, labels = _domains.of_fit(labels, sample_domain, subjects)
        unlabelled = None
        if X_target_unlabeled is not None:
            unlabelled = self._target_trials(X_target_unlabeled, "X_target_unlabeled", x.shape[1])
        weight = None if sample_weight is None else _check_sample_weight(sample_weight, x[:, 0], ensure_non_negative=True)
        keep = np.ones(len(x), dtype=bool) if weight is None else weight > 0
        if domains is not None:
            target = _domains.are_targets(domains)
            if target.any():
                own = x[target]
                unlabelled = own if unlabelled is None else np.concatenate([own, unlabelled])
            keep &= ~target
        if not keep.any():
            raise ValueError("No labelled trial of positive weight is left to train on.")
        x, labels = x[keep], labels[keep]
        weight = None if weight is None else weight[keep]
        domains = [_domains.ONLY] * len(x) if domains is None else [d for d, k in zip(domains, keep) if k]
        if X_target_labeled is not None:
            own = self._target_trials(X_target_labeled, "X_target_labeled", x.shape[1])
            x = np.concatenate([x, own])
            labels = np.concatenate([labels, check_labels(y_target_labeled, len(own), "y_target_labeled")])
            weight = None if weight is None else np.concatenate([weight, np.ones(len(own))])
            domains += ["target"] * len(own)
        self._fit(x, labels, domains, weight)
        self._target = unlabelled
        self._labelled_target = X_target_labeled is not None
        return self

    def _fit(self, x, labels, domains, weight):
        check_classification_targets(labels)
        names, classes = np.unique(labels, return_inverse=True)
        check_classes(names, classes)
        own, numbers = _domains.factor(domains)
        indices = np.array(numbers, dtype=np.intp)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        validation = validation_trials(classes, indices, self.validation_fraction, np.random.RandomState(seed))
        if self.class_weight is not None:
            balance = compute_sample_weight(self.class_weight, labels)
            weight = balance if weight is None else weight * balance
        # Nothing is replaced before the core has succeeded: an error or Ctrl-C leaves the estimator as it was.
        self._model = self._train(labelled(x, classes, names, indices, own, weight), validation, seed)
        self.classes_ = names
        self.n_features_in_ = self._channels = x.shape[1]
        self._describe()

    def _check_parameters(self):
        """An error for options that the core would not see, or would not name."""
        one_of("handle_unknown", self.handle_unknown, _domains.UNKNOWN)
        for name, value in self.get_params(deep=False).items():
            if isinstance(value, (float, np.floating)) and not np.isfinite(value):
                raise ValueError(f"{name} must be a finite number, got {value}.")

    def _train(self, data, validation, seed):
        """The core's model of labelled trials."""
        raise NotImplementedError

    def _describe(self):
        """The fitted attributes that the core knows."""
        self.domains_ = np.array(self._model.domains)

    def _decide_known(self, x, domain):
        """Probabilities and, where there is routing, weights of the experts for trials of a training domain."""
        raise NotImplementedError

    def _decide_new(self, x):
        """The same for trials of one new domain."""
        raise NotImplementedError

    def _decide(self, X, sample_domain=None, subjects=None):
        """Probabilities and, where there is routing, weights of the experts."""
        check_is_fitted(self)
        x = self._trials(X)
        check_channels(self, x)
        check_spd(x)
        domains = _domains.given(len(x), sample_domain, subjects)
        groups = self._groups(x, domains)
        probabilities = np.empty((len(x), len(self.classes_)))
        routing = None
        for index, trials in groups:
            part = x if len(trials) == len(x) else x[trials]
            probabilities[trials], alpha = self._decide_known(part, index) if index >= 0 else self._decide_new(part)
            if alpha is not None:
                routing = np.empty((len(x), alpha.shape[-1])) if routing is None else routing
                routing[trials] = alpha
        return probabilities, routing

    def _groups(self, x, domains):
        """Number of the training domain (−1 for a new one) and the trials of each group."""
        names = list(self.domains_)
        everything = np.arange(len(x))
        if domains is None:
            if self._labelled_target:
                return [(names.index("target"), everything)]
            return [(0 if len(names) == 1 and self._target is None else -1, everything)]
        return _domains.groups(domains, names, self.handle_unknown)

    def _seen(self, x):
        return seen(self, self._target, x)

    def predict_proba(self, X, sample_domain=None, subjects=None):
        """Probabilities of the classes, in the order of ``classes_``.

        Parameters
        ----------
        X : ndarray, shape (trials, n, n)
            Covariances, or epochs with the option ``covariance``.
        sample_domain, subjects : None | ndarray, shape (trials,), default=None
            Domains. None: all trials are of one new domain (of the training domain, where there was one). None or a negative
            number among them marks trials of a new domain.

        Returns
        -------
        p : ndarray, shape (trials, classes)
            The probabilities.
        """
        return self._decide(X, sample_domain, subjects)[0]

    def predict(self, X, sample_domain=None, subjects=None):
        """The most probable class of every trial.

        Parameters
        ----------
        X : ndarray, shape (trials, n, n)
            Covariances, or epochs with the option ``covariance``.
        sample_domain, subjects : None | ndarray, shape (trials,), default=None
            Domains; see :meth:`predict_proba`.

        Returns
        -------
        y : ndarray, shape (trials,)
            The classes.
        """
        best = self.predict_proba(X, sample_domain, subjects).argmax(axis=1)
        return self.classes_[best]

    def decision_function(self, X, sample_domain=None, subjects=None):
        """Scores of the classes.

        Parameters
        ----------
        X : ndarray, shape (trials, n, n)
            Covariances, or epochs with the option ``covariance``.
        sample_domain, subjects : None | ndarray, shape (trials,), default=None
            Domains; see :meth:`predict_proba`.

        Returns
        -------
        scores : ndarray, shape (trials,) or (trials, classes)
            Log-odds of the second class, or log-probabilities of several.
        """
        p = self.predict_proba(X, sample_domain, subjects)
        scores = np.log(np.maximum(p, np.finfo(float).tiny))
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def routing_weights(self, X, sample_domain=None, subjects=None):
        """Weights of the experts.

        Parameters
        ----------
        X : ndarray, shape (trials, n, n)
            Covariances, or epochs with the option ``covariance``.
        sample_domain, subjects : None | ndarray, shape (trials,), default=None
            Domains; see :meth:`predict_proba`.

        Returns
        -------
        alpha : ndarray, shape (trials, K) | None
            The weights; None where nothing is routed.
        """
        return self._decide(X, sample_domain, subjects)[1]


def labelled(x, classes, class_names, domains, domain_names, weights=None, channels=None):
    """Trials as the core takes them."""
    return {
        "x": np.ascontiguousarray(x, dtype=np.float64),
        "classes": [int(c) for c in classes],
        "class_names": [str(c) for c in class_names],
        "domains": [int(d) for d in domains],
        "domain_names": list(domain_names),
        "channels": channels,
        "weights": None if weights is None else [float(w) for w in weights],
    }
