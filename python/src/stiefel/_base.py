"""What the classifiers of the core share: preparing trials, fitting, deciding."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from . import _domains
from ._parameters import Grouped, check
from ._persistence import FileModel
from ._split import validation_trials
from ._validation import check_channels, check_classes, check_labels, check_trials

if TYPE_CHECKING:
    from typing_extensions import Self


class ByDomain(ClassifierMixin, Grouped):
    """A classifier of covariances ``(trials, n, n)`` that may be told whose trials they are."""

    __metadata_request__fit = {"sample_domain": True, "subjects": True, "X_target_unlabeled": True}
    __metadata_request__predict = {"sample_domain": True, "subjects": True}
    __metadata_request__predict_proba = {"sample_domain": True, "subjects": True}
    __metadata_request__decision_function = {"sample_domain": True, "subjects": True}
    __metadata_request__score = {"sample_domain": True, "subjects": True}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.non_deterministic = False
        return tags

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        sample_domain: ArrayLike | None = None,
        subjects: ArrayLike | None = None,
    ) -> float:
        """Accuracy.

        Parameters
        ----------
        X : ndarray, shape (trials, n, n)
            Covariances, or epochs with the option ``covariance``.
        y : ndarray, shape (trials,)
            Classes; or "domain/class", as ``label_format`` says.
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
        if self.label_format == "domain/class":
            sample_domain, labels = _domains.of_fit(labels, sample_domain, subjects, self.label_format)
            subjects = None
        return accuracy_score(labels, self.predict(X, sample_domain, subjects), sample_weight=sample_weight)

    def _check_parameters(self):
        """An error that names a parameter that cannot be what it is."""
        check(self)

    def _trials(self, X, name="X"):
        return check_trials(X, self.covariance, name)

    def _prepare(self, X, y, sample_weight, sample_domain, subjects, X_target_unlabeled):
        """Labelled trials of positive weight (covariances, labels, domains or None, weights or None), and the unlabelled ones of new domains."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        self._check_parameters()
        x = self._trials(X)
        domains, labels = _domains.of_fit(check_labels(y, len(x)), sample_domain, subjects, self.label_format)
        targets = _domains.Targets().take(X_target_unlabeled, partial(target_trials, self, x.shape[1]))
        weight = None if sample_weight is None else _check_sample_weight(sample_weight, x[:, 0], ensure_non_negative=True)
        keep = np.ones(len(x), dtype=bool) if weight is None else weight > 0
        if domains is not None:
            keep &= ~targets.mark(x, domains)
            domains = [name for name, kept in zip(domains, keep) if kept]
            targets.check(domains)
        if not keep.any():
            raise ValueError("No labelled trial of positive weight is left to train on.")
        return x[keep], labels[keep], domains, None if weight is None else weight[keep], targets


def target_trials(estimator, channels, X, name):
    """Covariances of target trials, with as many channels as those of training."""
    x = estimator._trials(X, name)
    if x.shape[1] != channels:
        raise ValueError(f"{name} has {x.shape[1]} features, but X has {channels}.")
    return x


class DomainClassifier(FileModel, ByDomain):
    """A model of the core behind scikit-learn's interface: trials have classes and domains."""

    __metadata_request__fit = {"X_target_labeled": True, "y_target_labeled": True}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        sample_domain: ArrayLike | None = None,
        subjects: ArrayLike | None = None,
        X_target_unlabeled: ArrayLike | dict[Any, ArrayLike] | None = None,
        X_target_labeled: ArrayLike | None = None,
        y_target_labeled: ArrayLike | None = None,
    ) -> Self:
        """Fit whitening, encoder and network.

        Parameters
        ----------
        X : ndarray, shape (trials, n, n)
            Covariances; or epochs (trials, channels, samples) with the option ``covariance``.
        y : ndarray, shape (trials,)
            Classes; or "domain/class", as ``label_format`` says.
        sample_weight : None | ndarray, shape (trials,), default=None
            Weights in the loss; a trial of weight zero is left out.
        sample_domain, subjects : None | ndarray, shape (trials,), default=None
            Domains, skada's or MOABB's way; numbers and text name the same domain. A negative ``sample_domain`` marks an unlabelled trial of
            a new domain, each number one domain.
        X_target_unlabeled : None | ndarray | dict of ndarray, default=None
            Trials of the domain that will be decoded, without labels: what its policies need at predict. Of several domains, a dictionary
            of trials by the name of the domain.
        X_target_labeled, y_target_labeled : None | ndarray, default=None
            Labelled trials of the domain that will be decoded; it becomes one more training domain, called "target", which trials
            without a domain are taken to be of at predict.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        x, labels, domains, weight, targets = self._prepare(X, y, sample_weight, sample_domain, subjects, X_target_unlabeled)
        domains = [_domains.ONLY] * len(x) if domains is None else domains
        if X_target_labeled is not None:
            if _domains.TARGET in domains:
                raise ValueError(
                    f"a training domain is called {_domains.TARGET!r}, which is the name that the trials of X_target_labeled get: call it "
                    "something else."
                )
            own = target_trials(self, x.shape[1], X_target_labeled, "X_target_labeled")
            x = np.concatenate([x, own])
            labels = np.concatenate([labels, check_labels(y_target_labeled, len(own), "y_target_labeled")])
            weight = None if weight is None else np.concatenate([weight, np.ones(len(own))])
            domains += [_domains.TARGET] * len(own)
        elif y_target_labeled is not None:
            raise ValueError("y_target_labeled was given without X_target_labeled.")
        self._fit(x, labels, domains, weight)
        self._targets, self._labelled, self._warned = targets, X_target_labeled is not None, False
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

    def _train(self, data, validation, seed):
        """The core's model of labelled trials."""
        raise NotImplementedError

    def _describe(self):
        """The fitted attributes that the core knows."""
        self.domains_ = np.array(self._model.domains)

    def _decide_known(self, x, domain):
        """Probabilities and, where there is routing, weights of the experts for trials of a training domain."""
        raise NotImplementedError

    def _decide_new(self, x, given):
        """The same for trials of one new domain, of which unlabelled trials were given at fit, or None."""
        raise NotImplementedError

    def _decide(self, X, sample_domain=None, subjects=None):
        """Probabilities and, where there is routing, weights of the experts."""
        check_is_fitted(self)
        self._check_parameters()
        x = self._trials(X)
        check_channels(self, x)
        probabilities = np.empty((len(x), len(self.classes_)))
        routing = None
        for index, name, trials in _domains.groups(self, len(x), sample_domain, subjects):
            part = x if len(trials) == len(x) else x[trials]
            probabilities[trials], alpha = self._decide_known(part, index) if index >= 0 else self._decide_new(part, self._targets.of(name))
            if alpha is not None:
                routing = np.empty((len(x), alpha.shape[-1])) if routing is None else routing
                routing[trials] = alpha
        return probabilities, routing

    def predict_proba(self, X: ArrayLike, sample_domain: ArrayLike | None = None, subjects: ArrayLike | None = None) -> NDArray[np.float64]:
        """Probabilities of the classes, in the order of ``classes_``.

        Parameters
        ----------
        X : ndarray, shape (trials, n, n)
            Covariances, or epochs with the option ``covariance``.
        sample_domain, subjects : None | ndarray, shape (trials,), default=None
            Domains. None: all trials are of one new domain (of the training domain, where there was one), and a model of several domains
            warns once. None or a negative number among them marks trials of a new domain.

        Returns
        -------
        p : ndarray, shape (trials, classes)
            The probabilities.
        """
        return self._decide(X, sample_domain, subjects)[0]

    def predict(self, X: ArrayLike, sample_domain: ArrayLike | None = None, subjects: ArrayLike | None = None) -> NDArray[Any]:
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

    def decision_function(
        self,
        X: ArrayLike,
        sample_domain: ArrayLike | None = None,
        subjects: ArrayLike | None = None,
    ) -> NDArray[np.float64]:
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

    def routing_weights(
        self,
        X: ArrayLike,
        sample_domain: ArrayLike | None = None,
        subjects: ArrayLike | None = None,
    ) -> NDArray[np.float64] | None:
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
