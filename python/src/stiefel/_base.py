"""What all classifiers of covariances share: trials with classes, weights and domains, and a
score."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import _check_sample_weight

from . import _core, _domains
from ._parameters import Grouped, check
from ._trials import Trials, told
from ._validation import check_labels, check_trials


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
        X: ArrayLike | Trials,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        sample_domain: ArrayLike | None = None,
        subjects: ArrayLike | None = None,
    ) -> float:
        """Accuracy on trials that are new to the model.

        Networks and CHOIR know the trials they were made with, also after they were saved and
        loaded. If some of these are among the trials to score, a :class:`SeenTrialsWarning` says
        how many, and only the others are scored. If there are no others, all are scored.

        Parameters
        ----------
        X : ndarray, shape (trials, n, n) | Trials
            Covariances, or epochs with the option ``covariance``.
        y : None | ndarray, shape (trials,), default=None
            Classes; or "domain/class", as ``label_format`` says. None takes those of ``Trials``.
        sample_weight : None | ndarray, shape (trials,), default=None
            Weights of the trials.
        sample_domain, subjects : None | ndarray, shape (trials,), default=None
            Domains; see :meth:`predict_proba`.

        Returns
        -------
        accuracy : float
            The share of right decisions.
        """
        labels, decided = self._answers(X, y, sample_domain, subjects)
        new = self._new(X)
        weight = None if sample_weight is None else np.asarray(sample_weight)[new]
        return accuracy_score(labels[new], decided[new], sample_weight=weight)

    def _answers(self, X, y, sample_domain, subjects):
        """True and decided classes of trials."""
        labels = np.asarray(check_given(self, told(X).y if y is None else y))
        if self.label_format == "domain/class":
            sample_domain, labels = _domains.of_fit(
                labels, sample_domain, subjects, self.label_format
            )
            subjects = None
        return labels, self.predict(X, sample_domain, subjects)

    def _new(self, X):
        """Which trials to score; all of them, unless the model remembers those it was made with."""
        return slice(None)

    def _check_parameters(self):
        """An error that names a parameter that cannot be what it is."""
        check(self)

    def _trials(self, X, name="X"):
        return check_trials(X, self.covariance, name)

    def _as_before(self, x, own):
        """Trials that a warm start goes on with: the channels of the last fit, in its order."""
        if not getattr(self, "warm_start", False) or not hasattr(self, "classes_"):
            return x, own
        x = trained_like(x, own, self.channels_, self._made())
        channels = own.channels if self.channels_ is None else self.channels_
        return x, own if own.channels is None else own._replace(channels=channels)

    def _made(self):
        """How the training trials were made, as the core reads it."""
        return getattr(getattr(self, "preparation_", None), "text", None)

    def _prepare(self, X, y, sample_weight, sample_domain, subjects, X_target_unlabeled):
        """Labelled trials of positive weight (covariances, labels, domains or None, weights or
        None), the unlabelled ones of new domains, what the trials know of themselves, and which of
        them are labelled and of positive weight."""
        y = check_given(self, told(X).y if y is None else y)
        self._check_parameters()
        x, own = self._as_before(self._trials(X), told(X, self.covariance))
        if self.label_format == "class":
            sample_domain, subjects = own.whose(sample_domain, subjects)
        domains, labels = _domains.of_fit(
            check_labels(y, len(x)), sample_domain, subjects, self.label_format
        )
        targets = _domains.Targets().take(
            X_target_unlabeled, partial(target_trials, self, x.shape[-1], own)
        )
        weight = (
            None
            if sample_weight is None
            else _check_sample_weight(
                sample_weight, x.reshape(len(x), -1), ensure_non_negative=True
            )
        )
        keep = np.ones(len(x), dtype=bool) if weight is None else weight > 0
        if domains is not None:
            keep &= ~targets.mark(x, domains)
            domains = [name for name, kept in zip(domains, keep) if kept]
            targets.check(domains)
        if not keep.any():
            raise ValueError("No labelled trial of positive weight is left to train on.")
        return (
            x[keep],
            labels[keep],
            domains,
            None if weight is None else weight[keep],
            targets,
            own,
            keep,
        )


def check_given(estimator, y):
    """Classes, which an estimator must be given."""
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None"
        )
    return y


def target_trials(estimator, count, like, X, name):
    """Covariances of target trials, with the channels of those of training in their order."""
    x = estimator._trials(X, name)
    x = trained_like(x, told(X, estimator.covariance), like.channels, like.preparation, name)
    if x.shape[-1] != count:
        raise ValueError(f"{name} has {x.shape[-1]} features, but X has {count}.")
    return x


def trained_like(x, own, channels, preparation=None, name="X"):
    """Covariances with the channels of training in their order, where both have names.

    Raises
    ------
    ValueError
        If a channel is missing, or the matrices were made another way than ``preparation`` says.
    """
    if own.channels is None and own.preparation is None:
        return x
    try:
        found = _core.trained_like(unlabelled(x, own), channels, preparation)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    say_left_out(own.channels, channels, name)
    return found.reshape((*x.shape[:-2], *found.shape[1:]))


def say_left_out(found, wanted, name="X"):
    """A warning where trials have more channels than are taken."""
    if found is None or wanted is None or len(found) <= len(wanted):
        return
    taken = {channel.lower() for channel in wanted}
    left = [channel for channel in found if channel.lower() not in taken]
    warnings.warn(
        f"{name} has {len(left)} channels that were not there at training and are left out: "
        f"{', '.join(left)}.",
        UserWarning,
        stacklevel=4,
    )


def labelled(
    x, classes, class_names, domains, domain_names, weights=None, channels=None, preparation=None
):
    """Trials as the core takes them."""
    return {
        "x": flat(np.ascontiguousarray(x, dtype=np.float64)),
        "views": x.shape[1] if x.ndim == 4 else 1,
        "classes": [int(c) for c in classes],
        "class_names": [str(c) for c in np.asarray(class_names).tolist()],
        "domains": [int(d) for d in domains],
        "domain_names": list(domain_names),
        "channels": channels,
        "weights": None if weights is None else [float(w) for w in weights],
        "preparation": preparation,
    }


def flat(x):
    """Trials of several views as the core takes them: one matrix after the other, view by view
    within each trial."""
    return x if x is None or x.ndim == 3 else x.reshape((-1, *x.shape[2:]))


def unlabelled(x, own):
    """Trials whose classes and domains do not matter, as the core takes them."""
    nobody = [0] * len(x)
    return labelled(
        x, nobody, ["-"], nobody, ["-"], channels=own.channels, preparation=own.preparation
    )


def seen_by(model, x, own):
    """What a model of the core knows of each trial: a place in ``_judge.SEEN``."""
    return np.frombuffer(bytes(model.seen(unlabelled(x, own))), dtype=np.uint8)
