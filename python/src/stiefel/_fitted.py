"""The base of the classifiers of the core: a model that is fitted, decides, judges, and is at work
in a session."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_class_weight, compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from . import _core, _domains
from ._base import ByDomain, flat, labelled, say_left_out, seen_by, target_trials, unlabelled
from ._judge import SEEN, judged, warn_of_seen
from ._persistence import FileModel
from ._preconditioning import unseen_whitening, whitening_of
from ._session import Session
from ._split import validation_trials
from ._trials import Preparation, Trials, told
from ._validation import check_channels, check_classes, check_labels

if TYPE_CHECKING:
    from typing_extensions import Self


class DomainClassifier(FileModel, ByDomain):
    """A model of the core behind scikit-learn's interface: trials have classes and domains."""

    __metadata_request__fit = {
        "X_target_labeled": True,
        "y_target_labeled": True,
        "validation": True,
    }

    #: Whether weights of classes are weights in the loss; if not, probabilities are multiplied by
    #: them.
    _weighs_loss: bool = True
    #: Whether the fit weighs all classes alike, whatever their numbers of trials.
    _counts_alike: bool = False
    #: What stands in for the embedding of a new domain, where the model has one.
    unseen: str = "input-only"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def fit(
        self,
        X: ArrayLike | Trials,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        sample_domain: ArrayLike | None = None,
        subjects: ArrayLike | None = None,
        X_target_unlabeled: ArrayLike | Trials | dict[Any, ArrayLike] | None = None,
        X_target_labeled: ArrayLike | Trials | None = None,
        y_target_labeled: ArrayLike | None = None,
        validation: ArrayLike | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : ndarray, shape (trials, n, n) | Trials
            Covariances; or epochs (trials, channels, samples), also MNE's, with the option
            ``covariance``. ``Trials`` bring classes, domains, names of the channels and how they
            were made; classes and domains that are given besides replace theirs. The model keeps
            the names and how the trials were made. At predict, channels in another order are put in
            order; other channels, and matrices made in another way, are refused.
        y : None | ndarray, shape (trials,), default=None
            Classes; or "domain/class", as ``label_format`` says. None takes those of ``Trials``, or
            the names of MNE's events.
        sample_weight : None | ndarray, shape (trials,), default=None
            Weights in the loss; a trial of weight zero is left out.
        sample_domain, subjects : None | ndarray, shape (trials,), default=None
            Domains, skada's or MOABB's way; numbers and text name the same domain. A negative
            ``sample_domain`` marks an unlabelled trial of a new domain, each number one domain.
        X_target_unlabeled : None | ndarray | Trials | dict of ndarray, default=None
            Unlabelled trials of the domain that will be decoded, which its policies need at
            predict. For several domains, give a dictionary of trials by the name of the domain, or
            ``Trials``.
        X_target_labeled, y_target_labeled : None | ndarray, default=None
            Labelled trials of the domain that will be decoded. It becomes one more training domain,
            called "target". At predict, trials without a domain belong to it. A model that can be
            calibrated is fitted without these trials, and then calibrated with them.
        validation : None | ndarray, default=None
            The trials that choose the epoch or the penalty, as a mask or by their places in ``X``.
            None draws the share ``validation_fraction`` of each class of each domain.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        prepared = self._prepare(X, y, sample_weight, sample_domain, subjects, X_target_unlabeled)
        x, labels, domains, weight, targets, own, kept = prepared
        validates = None if validation is None else mask_of(validation, len(kept))[kept]
        domains = [_domains.ONLY] * len(x) if domains is None else domains
        if X_target_labeled is not None:
            if _domains.TARGET in domains:
                raise ValueError(
                    f"a training domain is called {_domains.TARGET!r}, which is the name that the "
                    "trials of X_target_labeled get: call it "
                    "something else."
                )
            target = target_trials(self, x.shape[-1], own, X_target_labeled, "X_target_labeled")
            y_target_labeled = (
                told(X_target_labeled).y if y_target_labeled is None else y_target_labeled
            )
            y_target = check_labels(y_target_labeled, len(target), "y_target_labeled")
            calibrates = self._can_calibrate(len(np.unique(labels)))
            if not calibrates:
                x = np.concatenate([x, target])
                labels = np.concatenate([labels, y_target])
                weight = None if weight is None else np.concatenate([weight, np.ones(len(target))])
                domains += [_domains.TARGET] * len(target)
        elif y_target_labeled is not None:
            raise ValueError("y_target_labeled was given without X_target_labeled.")
        self._fit(x, labels, domains, weight, own, validates)
        if X_target_labeled is not None and calibrates:
            like = told(X_target_labeled, self.covariance)._replace(channels=own.channels)
            self._calibrate(target, y_target, [_domains.TARGET] * len(target), like)
        self._targets, self._labelled, self._warned = targets, X_target_labeled is not None, False
        return self

    def _fit(self, x, labels, domains, weight, own, validates=None):
        check_classification_targets(labels)
        check_classes(*np.unique(labels, return_inverse=True))
        names, different = self._orders(labels, domains, own)
        classes = np.array(_domains.places(labels.tolist(), names), dtype=np.intp)
        indices = np.array(_domains.places(domains, different), dtype=np.intp)
        seed = self._seed()
        if validates is None:
            random = np.random.RandomState(seed)
            validation = validation_trials(classes, indices, self.validation_fraction, random)
        else:
            validation = np.flatnonzero(validates).tolist()
            if len(validation) == len(x):
                raise ValueError("validation names all labelled trials: none is left to train on.")
        if self.class_weight is not None and self._weighs_loss:
            balance = compute_sample_weight(self.class_weight, labels)
            weight = balance if weight is None else weight * balance
        trials = labelled(
            x, classes, names, indices, different, weight, own.channels, own.preparation
        )
        # Nothing is replaced before the core has succeeded: an error or Ctrl-C leaves the estimator
        # as it was.
        model = self._train(trials, validation, seed)
        preferred = None if self._weighs_loss else self._preferred(names, labels)
        self._model = model if preferred is None else model.weighed(preferred)
        self.classes_ = np.unique(labels)
        self._describe()

    def _preferred(self, names, labels):
        """The weight of each class by which its probability is multiplied, or None."""
        if self.class_weight is None or (self.class_weight == "balanced" and self._counts_alike):
            return None
        given = self.class_weight
        if isinstance(given, dict):
            given = {name: weight for name, weight in given.items() if name in set(names.tolist())}
        weights = compute_class_weight(given, classes=np.sort(names), y=labels)
        at = {name: float(w) for name, w in zip(np.sort(names).tolist(), weights)}
        wrong = {name: w for name, w in at.items() if not (np.isfinite(w) and w > 0)}
        if wrong:
            raise ValueError(f"class_weight must be numbers above 0, got {wrong}.")
        return [at[name] for name in names.tolist()]

    def _seed(self):
        """The seed of the core and of the validation part."""
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _orders(self, labels, domains, own):
        """Classes and domains in the order in which the core numbers them."""
        return np.unique(labels), list(dict.fromkeys(domains))

    def _can_calibrate(self, class_count):
        """Whether labelled trials of the target calibrate the model that the others were fitted
        to."""
        return hasattr(self, "calibrate")

    def _train(self, data, validation, seed):
        """The core's model of labelled trials."""
        raise NotImplementedError

    def _calibrate(self, x, labels, domains, own):
        """The core's model after a few labelled trials more."""
        raise NotImplementedError

    @property
    def _columns(self):
        """The places of ``classes_`` among the classes of the core."""
        return _domains.places(map(str, self.classes_.tolist()), self._model.classes)

    def _describe(self):
        """The fitted attributes that the core knows."""
        self.n_features_in_ = self._channels = self._model.n_channels
        self.n_views_ = self._model.views
        self.domains_ = np.array(self._model.domains)
        self.channels_ = self._model.channels
        self.preparation_ = Preparation(*self._model.preparation)
        if self._model.record is not None:
            record = json.loads(self._model.record)
            self.history_ = record["history"]
            self.n_iter_ = len(self.history_)
            self.best_epoch_ = record["best_epoch"]

    def _accept(self, X, name="X"):
        """Covariances with the channels of the model in its order, and what the trials know of
        themselves."""
        check_is_fitted(self)
        self._check_parameters()
        x, own = self._trials(X, name), told(X, self.covariance)
        if own.channels is None and own.preparation is None:
            check_channels(self, x)
            return x, own
        accepted = self._model.accept(unlabelled(x, own))
        if own.channels is not None and self.channels_ is not None:
            say_left_out(own.channels, self.channels_, name)
            # From here on they are the model's channels, in its order.
            own = own._replace(channels=self.channels_)
        shape = (len(x), *(() if x.ndim == 3 else (-1,)), *accepted.shape[1:])
        return accepted.reshape(shape), own

    def _unseen(self):
        """What is done for a domain without training trials, as the core reads it."""
        embedding = self.unseen if self._model.has_embedding else "input-only"
        return _core.unseen(unseen_whitening(whitening_of(self)), embedding)

    def _beforehand(self, known, name):
        """The unlabelled trials that were given at fit of a domain whose mean is not settled, or
        None."""
        if known and name != _domains.TARGET:
            # Trials that were given without a name are of somebody else.
            return self._targets.get(name)
        return self._targets.of(name)

    def _decide(self, X, sample_domain=None, subjects=None):
        """Probabilities and, where there is routing, weights of the experts."""
        x, own = self._accept(X)
        probabilities = np.empty((len(x), len(self.classes_)))
        routing, policy, columns = None, self._unseen(), self._columns
        for index, name, trials in _domains.groups(
            self, len(x), *own.whose(sample_domain, subjects)
        ):
            part = x if len(trials) == len(x) else x[trials]
            unsettled = index < 0 or name in self._model.calibrated
            new = (policy, flat(self._beforehand(index >= 0, name))) if unsettled else (None, None)
            p, alpha = self._model.decide(flat(part), _domains.called(name, self.domains_), *new)
            probabilities[trials] = p[0][:, columns]
            if alpha is not None:
                routing = np.empty((len(x), alpha.shape[-1])) if routing is None else routing
                routing[trials] = alpha[0]
        return probabilities, routing

    def _unfamiliar(self, X, sample_domain=None, subjects=None):
        """Which trials lie far from those of training."""
        x, own = self._accept(X)
        strange = np.zeros(len(x), dtype=bool)
        for _, name, trials in _domains.groups(self, len(x), *own.whose(sample_domain, subjects)):
            called = _domains.called(name, self.domains_)
            strange[trials] = self._model.unfamiliar(flat(x[trials]), called)
        return strange

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
            Domains. None takes those of ``Trials``. Without ``Trials``, all trials belong to one
            new domain (or to the training domain, if there was only one), and a model of several
            domains warns once. None or a negative number among them marks trials of a new domain.

        Returns
        -------
        p : ndarray, shape (trials, classes)
            The probabilities.
        """
        return self._decide(X, sample_domain, subjects)[0]

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
        X: ArrayLike | Trials,
        sample_domain: ArrayLike | None = None,
        subjects: ArrayLike | None = None,
    ) -> NDArray[np.float64] | None:
        """Weights of the experts.

        Parameters
        ----------
        X : ndarray, shape (trials, n, n) | Trials
            Covariances, or epochs with the option ``covariance``.
        sample_domain, subjects : None | ndarray, shape (trials,), default=None
            Domains; see :meth:`predict_proba`.

        Returns
        -------
        alpha : ndarray, shape (trials, K) | None
            The weights; None if nothing is routed.
        """
        return self._decide(X, sample_domain, subjects)[1]

    def session(self, domain: Any = None, X_unlabeled: ArrayLike | Trials | None = None) -> Session:
        """Decide the trials of one domain one after the other; what they change is kept from call
        to call.

        Parameters
        ----------
        domain : None | str | int, default=None
            Whose trials will come. None means a new domain (or the training domain, if there was
            only one).
        X_unlabeled : None | ndarray, shape (trials, n, n) | Trials, default=None
            Trials of a new or calibrated domain that are known beforehand. None takes those given
            for it at fit, if any. A training domain needs none.

        Returns
        -------
        session : Session
            It has ``predict_proba`` and ``predict``, for one trial or several. The policies are
            those that the estimator has now.
        """
        check_is_fitted(self)
        self._check_parameters()
        name = _domains.default(self) if domain is None else _domains.name_of(domain)
        known = (
            _domains.known_index([name], list(self.domains_), self._targets, self.handle_unknown)[0]
            >= 0
        )
        settled = known and name not in self._model.calibrated
        seen = None
        if X_unlabeled is not None:
            if settled:
                raise ValueError(
                    f"domain {name!r} has training trials: it needs no unlabelled ones; leave "
                    "X_unlabeled out."
                )
            seen = self._accept(X_unlabeled, "X_unlabeled")[0]
        elif not settled:
            seen = self._beforehand(known, name)
        seen = np.empty((0, self._channels, self._channels)) if seen is None else seen
        called = _domains.called(name, self.domains_)
        return Session(
            self,
            called,
            self._model.session(called, None if settled else self._unseen(), flat(seen)),
        )

    def _seen(self, X):
        """What the model knows of each trial: a place in ``SEEN``."""
        check_is_fitted(self)
        return seen_by(self._model, self._trials(X), told(X, self.covariance))

    def _new(self, X):
        return warn_of_seen(type(self).__name__, self._seen(X))

    def judge(
        self,
        X: ArrayLike | Trials,
        y: ArrayLike | None = None,
        sample_domain: ArrayLike | None = None,
        subjects: ArrayLike | None = None,
    ) -> dict[str, dict[str, float] | None]:
        """Separate scores of trials that are new to the model, that chose its epoch or penalty, and
        that it was trained on.

        Only the scores of new trials are a test: the model does not decide trials of other people
        or of another day as well as those it has seen.

        Parameters
        ----------
        X : ndarray, shape (trials, n, n) | Trials
            Covariances, or epochs with the option ``covariance``.
        y : None | ndarray, shape (trials,), default=None
            Classes; None takes those of ``Trials``.
        sample_domain, subjects : None | ndarray, shape (trials,), default=None
            Domains; see :meth:`predict_proba`.

        Returns
        -------
        parts : dict
            For each of "new", "stopping" and "training" a dictionary with ``trials``, ``accuracy``,
            ``balanced_accuracy`` and ``unfamiliar``, the number of trials that lie far from those
            of
            training, as a live session tells it; None if there is no such trial.
        """
        labels, decided = self._answers(X, y, sample_domain, subjects)
        seen, strange = self._seen(X), self._unfamiliar(X, sample_domain, subjects)
        return {
            name: judged(labels[seen == i], decided[seen == i], strange[seen == i])
            for i, name in reversed(list(enumerate(SEEN)))
        }


def mask_of(places, count):
    """Trials by a mask, or by their places, as a mask.

    Raises
    ------
    ValueError
        If the mask is of other trials, or a place is not that of a trial.
    """
    given = np.asarray(places)
    if given.dtype == bool and given.shape == (count,):
        return given
    mask = np.zeros(count, dtype=bool)
    try:
        if given.dtype == bool:
            raise IndexError
        mask[given.astype(np.intp)] = True
    except IndexError:
        raise ValueError(
            f"validation must be a mask of {count} trials, or places of some of them."
        ) from None
    return mask


def progress(name, epochs):
    """Prints a line per epoch; plain lines work in a terminal, a log and a notebook."""

    def tell(record):
        epoch = json.loads(record)
        loss = sum(value for _, value in epoch["losses"])
        print(
            f"[{name}] epoch {epoch['epoch'] + 1:>3}/{epochs}  loss {loss:.4f}  "
            f"validation accuracy {epoch['validation_accuracy']:.3f}",
            flush=True,
        )

    return tell
