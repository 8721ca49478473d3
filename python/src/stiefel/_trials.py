"""Covariances with what is known of each trial: what readers give, and what estimators take in the
place of an array."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._info import elsewhere, event_names, good_eeg, is_epochs


class Preparation(dict):
    """How covariances were made of a signal: the recipe and what the recordings were like, a
    dictionary that is empty if this is not known. It prints as words.

    Examples
    --------
    >>> import stiefel
    >>> data = stiefel.load_synthetic("BNCI2015001", subjects=2, trials_per_class=5)
    >>> print(data.preparation)  # doctest: +ELLIPSIS
    512 Hz, 8–32 Hz (zero-phase Butterworth, order 4), ...
    >>> data.preparation["recipe"]["views"], data.preparation["unit"]
    (['8-32@0.5-5'], 'µV')
    """

    def __init__(self, text: str, words: str) -> None:
        found = json.loads(text)
        super().__init__(next(iter(found.values())) if isinstance(found, dict) else {})
        self.text, self.words = text, words

    def __str__(self):
        return self.words

    __repr__ = __str__

    def __reduce__(self):
        return (Preparation, (self.text, self.words))


@dataclass
class Trials:
    """Covariances with what is known of each trial. Estimators take them in the place of ``X``, and
    then need neither classes nor domains.

    ``trials[some]`` selects trials by a mask, places or a slice; ``str(trials)`` says in a few
    words what they are.

    Attributes
    ----------
    X : ndarray, shape (trials, n, n) or (trials, views, n, n)
        Covariances.
    y : ndarray of str, shape (trials,) | None
        Classes, if known.
    domains : ndarray of str, shape (trials,) | None
        Subjects, or subject-sessions, if known.
    runs : ndarray of str, shape (trials,) | None
        Runs, if known.
    channels : list of str | None
        Names of the rows.
    subjects, sessions : ndarray of str, shape (trials,) | None
        Subject and session of each trial, if known.
    preparation : Preparation | None
        How the covariances were made, if known; print it.
    names : tuple of list | None
        The classes and the domains of the set that the trials were selected from, in its order.
    """

    X: np.ndarray
    y: np.ndarray | None = None
    domains: np.ndarray | None = None
    runs: np.ndarray | None = None
    channels: list | None = None
    subjects: np.ndarray | None = None
    sessions: np.ndarray | None = None
    preparation: Preparation | None = None
    names: tuple[list, list] | None = field(default=None, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.X)

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        return np.array(self.X, dtype=dtype) if copy else np.asarray(self.X, dtype=dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the covariances."""
        return self.X.shape

    def __getitem__(self, key: Any) -> Trials:
        # scikit-learn selects rows of anything that has a shape by [places, ...].
        key = key[0] if isinstance(key, tuple) and key[1:] == (Ellipsis,) else key
        at = np.atleast_1d(np.arange(len(self))[key])
        whole = {name: getattr(self, name) for name in ("channels", "preparation")}
        parts = {
            f.name: getattr(self, f.name) for f in fields(self) if f.name not in (*whole, "names")
        }
        chosen: dict[str, Any] = {
            name: None if part is None else np.asarray(part)[at] for name, part in parts.items()
        }
        names = self.names
        if names is None and self.y is not None and self.domains is not None:
            names = in_order(self.y), in_order(self.domains)
        return Trials(**whole, **chosen, names=names)

    def __str__(self):
        views = self.X.shape[1] if np.ndim(self.X) == 4 else 1
        parts = [f"{len(self)} trials of {_count(np.shape(self.X)[-1], 'channel')}"]
        parts += [_count(views, "view")] * (views > 1)
        for values, one, several in [
            (self.y, "class", "classes"),
            (self.domains, "domain", "domains"),
        ]:
            if values is not None:
                parts.append(_count(len(set(np.asarray(values).tolist())), one, several))
        made = "" if self.preparation is None else f"; {self.preparation}"
        return ", ".join(parts) + made


def _count(number, one, several=None):
    return f"{number} {one if number == 1 else several or one + 's'}"


def in_order(values):
    """Different values in the order in which they appear."""
    return list(dict.fromkeys(np.asarray(values).tolist()))


def of_core(found):
    """Trials as the core gives them."""

    def column(name):
        return None if found[name] is None else np.array(found[name])

    return Trials(
        X=found["x"],
        channels=found["channels"],
        preparation=Preparation(*found["preparation"]),
        **{name: column(name) for name in ("y", "domains", "runs", "subjects", "sessions")},
    )


class Told(NamedTuple):
    """What trials know of themselves: None where they are an array."""

    y: Any = None
    domains: Any = None
    channels: list | None = None
    preparation: str | None = None
    #: The classes and the domains of the whole set, in its order.
    names: tuple[list, list] | None = None

    def whose(self, sample_domain, subjects):
        """The two keywords; without either, the domains that the trials know."""
        return (
            sample_domain,
            self.domains if sample_domain is None and subjects is None else subjects,
        )


def told(X, covariance=None):
    """What trials, or epochs of MNE, know of themselves; ``covariance`` is the estimator of what is
    made of epochs."""
    if isinstance(X, Trials):
        channels = None if X.channels is None else [str(c) for c in X.channels]
        return Told(X.y, X.domains, channels, getattr(X.preparation, "text", None), X.names)
    if is_epochs(X):
        made = elsewhere(X, covariance)
        return Told(event_names(X), None, good_eeg(X), None if made is None else made[0])
    return Told()
