"""Whose trial it is, in the three conventions of the field.

==================  =====================================================================================================
``sample_domain=``  skada: one number per trial; a negative one marks a trial of the target, unlabelled at fit
``subjects=``       MOABB: one name or number per trial
encoded labels      pyRiemann: the label is ``"domain/class"``
==================  =====================================================================================================

At predict, a trial of a domain without training trials is marked by ``None`` or by a negative number; every such mark is one new
domain. Any other name must be that of a training domain, unless the user says that names which are not are new domains.
"""

from __future__ import annotations

import numpy as np

#: What a domain can be that is neither marked as new nor known.
UNKNOWN = ("error", "new")
#: The one domain of data that has none.
ONLY = "all"


def is_missing(value):
    """Whether there is no name: None, or what pandas writes for it."""
    return value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and value != value)


def is_target(value):
    """Whether a domain is marked as new: no name, or a negative number."""
    if is_missing(value):
        return True
    try:
        return bool(value < 0)
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


def factor(values):
    """Names in the order in which they appear, and the number of each value's."""
    keys = [key(v) for v in values]
    names = list(dict.fromkeys(keys))
    at = {name: i for i, name in enumerate(names)}
    return names, [at[k] for k in keys]


def known_index(values, names, unknown="error"):
    """The number of each trial's training domain, −1 for marked ones.

    Parameters
    ----------
    values : list
        The domain of each trial.
    names : list of str
        The training domains.
    unknown : {"error", "new"}, default="error"
        What a domain is that is neither marked as new nor a training domain: an error that names the trial, or a new domain.
    """
    at = {name: i for i, name in enumerate(names)}
    out = np.empty(len(values), dtype=np.intp)
    for trial, value in enumerate(values):
        out[trial] = -1 if is_target(value) else at.get(key(value), -1)
        if out[trial] < 0 and unknown == "error" and not is_target(value):
            raise ValueError(
                f"trial {trial} is of domain {value!r}, which had no training trials (known: {', '.join(names)}). Mark trials of a "
                "new domain with None or a negative number, pass no domains, or set handle_unknown='new': the policies for new domains then "
                "decide."
            )
    return out


def groups(values, names, unknown="error"):
    """Training domain (−1 for a new one) and trials of each domain there is; every mark, and every name taken for new, is one domain."""
    known = known_index(values, names, unknown)
    found = [(int(d), np.flatnonzero(known == d)) for d in np.unique(known[known >= 0])]
    new = {}
    for trial in np.flatnonzero(known < 0):
        mark = None if is_missing(values[trial]) else key(values[trial])
        new.setdefault(mark, []).append(trial)
    return found + [(-1, np.array(trials)) for trials in new.values()]
