"""Whose trial it is, in the three conventions of the field.

==================  =====================================================================================================
``sample_domain=``  skada: one number per trial; a negative one marks a trial of the target, unlabelled at fit
``subjects=``       MOABB: one name or number per trial
encoded labels      pyRiemann: the label is ``"domain/class"``
==================  =====================================================================================================

At predict, a trial of a domain without training trials is marked by ``None`` or by a negative number; every such mark is one new
domain. Any other name must be that of a training domain.
"""

from __future__ import annotations

import numpy as np

#: The one domain of data that has none.
ONLY = "all"


def is_target(value):
    """Whether a domain is marked as new: None, NaN, pandas' NA or a negative number."""
    if value is None or type(value).__name__ == "NAType":
        return True
    try:
        return bool(value < 0 or value != value)
    except TypeError:
        return False


def are_targets(values):
    """The same of every trial, as an array."""
    return np.array([is_target(v) for v in values], dtype=bool)


def column(values, count, name):
    """One value per trial, as a list of Python objects."""
    array = np.asarray(values, dtype=object).ravel() if not hasattr(values, "to_numpy") else values.to_numpy()
    if len(array) != count:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {count} trials, {len(array)} {name}.")
    return [v.item() if isinstance(v, np.generic) else v for v in array]


def given(count, sample_domain, subjects):
    """The domains of one of the two keywords, or None."""
    if sample_domain is not None and subjects is not None:
        raise ValueError("Pass either sample_domain or subjects, not both: each says whose trial it is.")
    if sample_domain is not None:
        return column(sample_domain, count, "sample_domain")
    if subjects is not None:
        return column(subjects, count, "subjects")
    return None


def of_fit(labels, sample_domain, subjects):
    """Domains and classes of training trials: those of a keyword, else those in the labels, else None."""
    domains = given(len(labels), sample_domain, subjects)
    return decode(labels) if domains is None and is_encoded(labels) else (domains, labels)


def is_encoded(y):
    """Whether labels are pyRiemann's "domain/class": text with a slash in every one."""
    return y.dtype.kind in "UO" and len(y) > 0 and all(isinstance(v, str) and "/" in v for v in y)


def decode(y):
    """Domains and classes of encoded labels; the class begins behind the last slash."""
    parts = [v.rsplit("/", 1) for v in y]
    return [p[0] for p in parts], np.array([p[1] for p in parts])


def key(value):
    """A domain as its name in the model file."""
    return str(value)


def known_index(values, names):
    """The number of each trial's training domain, −1 for marked ones.

    Raises
    ------
    ValueError
        Where a domain is neither marked as new nor a training domain, with the trial.
    """
    at = {name: i for i, name in enumerate(names)}
    out = np.empty(len(values), dtype=np.intp)
    for trial, value in enumerate(values):
        if is_target(value):
            out[trial] = -1
        elif key(value) in at:
            out[trial] = at[key(value)]
        else:
            raise ValueError(
                f"trial {trial} is of domain {value!r}, which had no training trials (known: {', '.join(names)}). Mark trials of a "
                "new domain with None or a negative number, or pass no domains: the policy `unseen` then decodes them."
            )
    return out


def groups(values, names):
    """Training domain (−1 for a new one) and trials of each domain there is; every mark is one new domain."""
    known = known_index(values, names)
    found = [(int(d), np.flatnonzero(known == d)) for d in np.unique(known[known >= 0])]
    marks = {}
    for trial in np.flatnonzero(known < 0):
        # NaN equals nothing, not even itself; pandas writes it for None.
        mark = values[trial] if isinstance(values[trial], (int, float)) and values[trial] == values[trial] else None
        marks.setdefault(mark, []).append(trial)
    return found + [(-1, np.array(trials)) for trials in marks.values()]
