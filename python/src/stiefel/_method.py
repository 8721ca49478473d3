"""The methods of studies as estimators: one method, one name, and the same decisions everywhere."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from . import _core, _domains
from ._base import check_given, seen_by
from ._judge import warn_of_seen
from ._split import validation_trials
from ._study import numbered, plain
from ._trials import Trials, in_order, told
from ._validation import check_labels, check_views, n_threads

if TYPE_CHECKING:
    from typing_extensions import Self

#: The share of every (domain, class) cell that validates, where nobody says which trials do.
SHARE = 0.15


class MethodClassifier(ClassifierMixin, BaseEstimator):
    """A method of studies; made by :func:`method`.

    Parameters
    ----------
    name : str
        Its name in the tables of studies.
    settings : None | dict, default=None
        Settings of :func:`study` that change it.
    seed : int, default=0
        The seed of a network, and of the validation part if none is given.
    n_jobs : None | int, default=None
        Threads; the result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray
        The classes, sorted, in the order of the probabilities.
    domains_ : ndarray of str
        The training domains.
    """

    __metadata_request__fit = {"subjects": True, "validation": True}
    __metadata_request__predict = {"subjects": True}
    __metadata_request__predict_proba = {"subjects": True}
    __metadata_request__score = {"subjects": True}

    def __init__(self, name: str, settings: dict[str, Any] | None = None, seed: int = 0, n_jobs: int | None = None) -> None:
        self.name, self.settings, self.seed, self.n_jobs = name, settings, seed, n_jobs

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted")

    def _data(self, X, y, subjects, whole=None):
        """Trials as the core takes them; ``whole`` are names of classes and domains, which come first."""
        own = told(X)
        x = check_views(X)
        labels = check_labels(check_given(self, own.y if y is None else y), len(x))
        whose = own.domains if subjects is None else subjects
        names = [_domains.ONLY] * len(x) if whose is None else _domains.names_of(whose, len(x), "subjects", complete=True)
        kept = X.names if isinstance(X, Trials) and y is None and subjects is None else None
        return numbered(Trials(x, labels, np.array(names), None, own.channels, None, None, getattr(X, "preparation", None), whole or kept))

    def fit(
        self, X: ArrayLike | Trials, y: ArrayLike | None = None, subjects: ArrayLike | None = None, validation: ArrayLike | None = None
    ) -> Self:
        """Fit on some of the trials, and choose the epoch or the penalty on the others.

        Parameters
        ----------
        X : ndarray, shape (trials, n, n) | Trials
            Covariances.
        y : None | ndarray, shape (trials,), default=None
            Classes; None takes those of ``Trials``.
        subjects : None | ndarray, shape (trials,), default=None
            Domains; None takes those of ``Trials``. Without ``Trials``, all trials belong to one domain.
        validation : None | ndarray, default=None
            The trials that choose, as a mask or by their places; None takes 15 % of each class of each domain.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        data = self._data(X, y, subjects)
        labels = np.asarray(told(X).y if y is None else y).ravel()
        if validation is None:
            cells = np.array(data["classes"]), np.array(data["domains"])
            held = validation_trials(*cells, SHARE, np.random.RandomState(self.seed))
        else:
            held = np.arange(len(labels))[np.asarray(validation)].tolist()
        settings = json.dumps(plain(self.settings or {}))
        arguments = (self.name, settings, data, held, int(self.seed), n_threads(self.n_jobs))
        fitted = _core.fit_method(*arguments)
        self._fitted = fitted
        # A peer is fitted again where it is unpickled: quick, and the same to the bit.
        self._arguments = arguments if fitted.model() is None else None
        self._names = (data["class_names"], data["domain_names"])
        self.classes_ = np.unique(labels)
        self._columns = [data["class_names"].index(_domains.name_of(c)) for c in self.classes_.tolist()]
        self.domains_ = np.array(data["domain_names"])
        self.n_features_in_ = data["x"].shape[1]
        return self

    def predict_proba(self, X: ArrayLike | Trials, subjects: ArrayLike | None = None) -> NDArray[np.float64]:
        """Probabilities of the classes, in the order of ``classes_``.

        Parameters
        ----------
        X : ndarray, shape (trials, n, n) | Trials
            Covariances.
        subjects : None | ndarray, shape (trials,), default=None
            Domains; None takes those of ``Trials``. Without ``Trials``, all trials belong to the one training domain.

        Returns
        -------
        p : ndarray, shape (trials, classes)
            The probabilities.
        """
        check_is_fitted(self)
        count = len(X if isinstance(X, Trials) else np.asarray(X))
        whose = told(X).domains if subjects is None else subjects
        if whose is None:
            if len(self.domains_) > 1:
                raise ValueError(f"the method was fitted on {len(self.domains_)} domains: say whose trials these are, with subjects.")
            whose = [self.domains_[0]] * count
        classes, domains = self._names
        names = _domains.names_of(whose, count, "subjects", complete=True)
        data = self._data(X, [classes[0]] * count, names, (classes, in_order([*domains, *names])))
        return self._fitted.probabilities(data)[0][:, self._columns]

    def predict(self, X: ArrayLike | Trials, subjects: ArrayLike | None = None) -> NDArray[Any]:
        """The most probable class of every trial.

        Parameters
        ----------
        X : ndarray, shape (trials, n, n) | Trials
            Covariances.
        subjects : None | ndarray, shape (trials,), default=None
            Domains; see :meth:`predict_proba`.

        Returns
        -------
        y : ndarray, shape (trials,)
            The classes.
        """
        return self.classes_[self.predict_proba(X, subjects).argmax(axis=1)]

    def score(
        self, X: ArrayLike | Trials, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None, subjects: ArrayLike | None = None
    ) -> float:
        """Accuracy. Networks and the preset are scored on trials that are new to them; a :class:`SeenTrialsWarning` tells if others are among them.

        Parameters
        ----------
        X : ndarray, shape (trials, n, n) | Trials
            Covariances.
        y : None | ndarray, shape (trials,), default=None
            Classes; None takes those of ``Trials``.
        sample_weight : None | ndarray, shape (trials,), default=None
            Weights of the trials.
        subjects : None | ndarray, shape (trials,), default=None
            Domains; see :meth:`predict_proba`.

        Returns
        -------
        accuracy : float
            The share of right decisions.
        """
        labels, decided = np.asarray(check_given(self, told(X).y if y is None else y)), self.predict(X, subjects)
        model, new = self._fitted.model(), slice(None)
        if model is not None:
            new = warn_of_seen(self.name, seen_by(model[0], check_views(X), told(X)))
        weight = None if sample_weight is None else np.asarray(sample_weight)[new]
        return accuracy_score(labels[new], decided[new], sample_weight=weight)

    def __getstate__(self):
        state = super().__getstate__()
        if "_fitted" in state:
            model = state["_fitted"].model()
            state = {**state, "_fitted": None if model is None else (model[0].to_bytes(), model[1])}
        return state

    def __setstate__(self, state):
        if "_fitted" in state:
            kept = state["_fitted"]
            again = _core.fit_method(*state["_arguments"]) if kept is None else _core.method_of(_core.model_from_bytes(kept[0]), kept[1])
            state = {**state, "_fitted": again}
        super().__setstate__(state)


def method(name: str, *, seed: int = 0, n_jobs: int | None = None, **settings: object) -> MethodClassifier:
    """A method of studies as an estimator, by the name it has in their tables.

    It is fitted by the code that fits it in a study: on the trials of a fold of :func:`folds`, its probabilities are those of the study's
    record to the bit.

    Parameters
    ----------
    name : str
        "recommended", "dasp", "naive", "baseline", "ts+lr", "mdm", "recentred-ts+lr", …: an unknown name is an error that lists them all.
    seed : int, default=0
        The seed of a network, and of the validation part if none is given.
    n_jobs : None | int, default=None
        Threads; the result does not depend on it.
    **settings : object
        Those of :func:`study`: ``epochs``, ``patience``, ``batch``, ``learning_rate``, ``precision``, ``orthogonality``, ``whitening``,
        ``scaling``, ``preset``.

    Returns
    -------
    estimator : MethodClassifier
        The estimator, not yet fitted.

    Examples
    --------
    >>> import stiefel
    >>> data = stiefel.load_synthetic("BNCI2015001", subjects=2, trials_per_class=20)
    >>> fold = stiefel.folds(data)[0]
    >>> clf = stiefel.method("recentred-ts+lr")
    >>> used = sorted([*fold.train, *fold.validation])
    >>> clf = clf.fit(data[used], validation=[i in fold.validation for i in used])
    >>> clf.predict_proba(data[fold.test]).shape == (len(fold.test), 2)
    True
    """
    return MethodClassifier(name, plain(settings) or None, int(seed), n_jobs)
