"""Scores that say what they are scores of: trials that a model has seen tell nothing of how well it
decides new ones."""

from __future__ import annotations

import warnings

import numpy as np

#: What a model knows of a trial, as the core numbers it.
SEEN = ("training", "stopping", "new")


class SeenTrialsWarning(UserWarning):
    """Trials to score are among those that the model was made with.

    Examples
    --------
    >>> import warnings
    >>> import stiefel
    >>> data = stiefel.load_synthetic("BNCI2015001", subjects=2, trials_per_class=10)
    >>> clf = stiefel.ChoirClassifier(random_state=0).fit(data)
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     accuracy = clf.score(data)
    >>> told[0].category.__name__
    'SeenTrialsWarning'
    """


def sentence(seen):
    """How many trials a model has seen; None where it has seen none."""
    trained, stopped, new = (int((seen == i).sum()) for i in range(3))
    if trained + stopped == 0:
        return None
    parts = [f"{trained} were trained on"] * (trained > 0) + [
        f"{stopped} chose its epoch or penalty"
    ] * (stopped > 0)
    return f"of {len(seen)} trials, {' and '.join(parts)}; {new or 'none'} of them {'is' if new < 2 else 'are'} new to the model"


def warn_of_seen(who, seen):
    """Which trials to score: the new ones, all where none is new; a warning where some are not."""
    told = sentence(seen)
    if told is None:
        return slice(None)
    new = seen == SEEN.index("new")
    rest = (
        "only the new ones are scored"
        if new.any()
        else "this does not say how well new ones are decided"
    )
    warnings.warn(f"{who}.score: {told}: {rest}.", SeenTrialsWarning, stacklevel=4)
    return new if new.any() else slice(None)


def judged(labels, decided, unfamiliar):
    """Scores of one part of the trials, or None where it has none."""
    if len(labels) == 0:
        return None
    right = labels == decided
    recalls = [right[labels == name].mean() for name in np.unique(labels)]
    return {
        "trials": len(labels),
        "accuracy": float(right.mean()),
        "balanced_accuracy": float(np.mean(recalls)),
        "unfamiliar": int(unfamiliar.sum()),
    }
