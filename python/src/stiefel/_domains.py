"""Whose trial it is, in the three conventions of the field.

==================
=====================================================================================================
``sample_domain=``  skada: one number or name per trial; a negative number marks a trial of a new
domain, unlabelled at fit
``subjects=``       MOABB: one name or number per trial
encoded labels      pyRiemann: the label is ``"domain/class"``; only with ``label_format="domain/class"``
==================
=====================================================================================================

A domain has one name, a text: ``1``, ``1.0``, ``np.int64(1)`` and ``"1"`` are ``"1"``; ``"01"`` is
another domain. At predict, ``None`` or a
negative number marks a trial of a domain without training trials; every such mark is one new
domain. Any other name must be that of a
training domain or of unlabelled trials given at fit, unless the user says that unknown names are
new domains.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np

from ._trials import Trials, in_order

#: The one domain of data that has none.
ONLY = "all"
#: The domain of ``X_target_labeled``.
TARGET = "target"


def name_of(value):
    """The one name of a domain, or None where there is none: None, NaN, what pandas writes for
    them."""
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or type(value).__name__ == "NAType" or value != value:
        return None
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def is_mark(name):
    """Whether a domain is marked as new: no name, or a negative number."""
    try:
        return name is None or float(name) < 0
    except ValueError:
        return False


def names_of(values, count, keyword, complete=False):
    """The name of each trial's domain; ``complete`` refuses trials without one."""
    array = (
        values.to_numpy()
        if hasattr(values, "to_numpy")
        else np.asarray(values, dtype=object).ravel()
    )
    if len(array) != count:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {count} trials, {len(array)} {keyword}."
        )
    names = [name_of(v) for v in array]
    if complete and None in names:
        trial = names.index(None)
        raise ValueError(
            f"{keyword}[{trial}] is missing: it is not known whose trial {trial} is. Name its domain, leave the trial out, or mark it as an "
            "unlabelled trial of a new domain with a negative number in sample_domain."
        )
    return names


def given(count, sample_domain, subjects, complete=False):
    """The domains of one of the two keywords, or None."""
    if sample_domain is not None and subjects is not None:
        raise ValueError(
            "Pass either sample_domain or subjects, not both: each says whose trial it is."
        )
    if sample_domain is not None:
        return names_of(sample_domain, count, "sample_domain", complete)
    return None if subjects is None else names_of(subjects, count, "subjects", complete)


def of_fit(labels, sample_domain, subjects, label_format="class"):
    """Domains, or None, and classes of training trials."""
    if label_format == "domain/class":
        if sample_domain is not None or subjects is not None:
            raise ValueError(
                "label_format='domain/class' takes the domains from the labels; pass neither sample_domain nor subjects, or set "
                "label_format='class'."
            )
        names, labels = decode(labels)
    else:
        names = given(len(labels), sample_domain, subjects, complete=True)
    if sample_domain is None:
        for trial, name in enumerate(names or ()):
            if is_mark(name):
                raise ValueError(
                    f"trial {trial} has the domain {name}, a negative number, which is not a name. Unlabelled trials of a new domain are marked "
                    "in sample_domain."
                )
    return names, labels


def decode(labels):
    """Domains and classes of labels "domain/class"; the class begins behind the last slash."""
    for trial, label in enumerate(labels.tolist()):
        if not isinstance(label, str) or "/" not in label:
            raise ValueError(
                f"label_format is 'domain/class', but y[{trial}] is {label!r}, which has no slash."
            )
    parts = [label.rsplit("/", 1) for label in labels]
    return [p[0] for p in parts], np.array([p[1] for p in parts])


def factor(names):
    """Different names in the order in which they appear, and the number of each."""
    different = list(dict.fromkeys(names))
    at = {name: i for i, name in enumerate(different)}
    return different, [at[name] for name in names]


def places(values, names):
    """The place of each value among names."""
    at = {
        name: i for i, name in enumerate(names.tolist() if isinstance(names, np.ndarray) else names)
    }
    return [at[value] for value in values]


class Targets(dict):
    """Unlabelled trials of new domains that were given at fit, by the name of the domain; None is
    the name of those given without one."""

    def add(self, name, x):
        """More trials of a domain."""
        self[name] = np.concatenate([self[name], x]) if name in self else x

    def take(self, X_target_unlabeled, check):
        """Takes an array, a dictionary of arrays by name, or ``Trials``; ``check`` makes
        covariances of an array and its name."""
        if isinstance(X_target_unlabeled, Trials):
            given, whose = X_target_unlabeled, np.asarray(X_target_unlabeled.domains)
            X_target_unlabeled = {name: given[whose == name] for name in in_order(whose)}
        if isinstance(X_target_unlabeled, Mapping):
            for name, trials in X_target_unlabeled.items():
                self.add(name_of(name), check(trials, f"X_target_unlabeled[{name!r}]"))
        elif X_target_unlabeled is not None:
            self.add(None, check(X_target_unlabeled, "X_target_unlabeled"))
        return self

    def mark(self, x, names):
        """Takes the trials that are marked as new; gives which ones these are."""
        marked = np.array([is_mark(name) for name in names], dtype=bool)
        for name in dict.fromkeys(name for name in names if is_mark(name)):
            self.add(name, x[[own == name for own in names]])
        return marked

    def check(self, training):
        """An error where a new domain has the name of a training domain."""
        for name in self:
            if name in training:
                raise ValueError(
                    f"X_target_unlabeled[{name!r}] belongs to a domain that has training trials: it needs no unlabelled ones. Give it another name."
                )

    def of(self, name):
        """The trials of a new domain, or None where none were given."""
        if name in self:
            return self[name]
        if name is None and len(self) > 1:
            raise ValueError(
                f"unlabelled trials of {len(self)} new domains were given at fit ({', '.join(self)}): say which of them these trials belong to, "
                "with sample_domain or subjects."
            )
        return next(iter(self.values())) if name is None and self else self.get(None)


def default(estimator):
    """The domain of trials that come without one, None for a new one."""
    if estimator._labelled:
        return TARGET
    return (
        str(estimator.domains_[0])
        if len(estimator.domains_) == 1 and not estimator._targets
        else None
    )


def called(name, training):
    """The name of a domain for the core; one without a name gets one that no training domain
    has."""
    if name is not None:
        return str(name)
    name = "new"
    while name in training:
        name += "'"
    return name


def silent(estimator):
    """The same with a warning, once, where a new domain is probably not meant."""
    if default(estimator) is None and not estimator._targets and not estimator._warned:
        estimator._warned = True
        warnings.warn(
            f"{type(estimator).__name__} was trained on {len(estimator.domains_)} domains and was not told whose trials these are: they are "
            "decoded as trials of one new domain. Pass subjects or sample_domain; inside scikit-learn, use stiefel.make_scorer and metadata "
            "routing. If they belong to a new domain, say so with sample_domain=[-1, ...].",
            UserWarning,
            stacklevel=2,
        )
    return default(estimator)


def known_index(names, training, targets=(), unknown="error"):
    """The number of each trial's training domain, −1 for a new one; ``unknown`` says whether a name
    may be new without a mark."""
    at = {name: i for i, name in enumerate(training)}
    for trial, name in enumerate(names):
        if unknown == "error" and not (name in at or name in targets or is_mark(name)):
            raise ValueError(
                f"trial {trial} belongs to domain {name!r}, which had no training trials (known: {', '.join(training)}). Mark trials of a new "
                "domain with None or a negative number, or set handle_unknown='new': the policies for new domains then decide."
            )
    return np.array([at.get(name, -1) for name in names], dtype=np.intp)


def groups(estimator, count, sample_domain=None, subjects=None):
    """Number of the training domain (−1 for a new one), name and trials of each domain that a
    fitted estimator is asked about."""
    names = given(count, sample_domain, subjects)
    names = [silent(estimator)] * count if names is None else names
    training, targets = list(estimator.domains_), estimator._targets
    known = known_index(names, training, targets, estimator.handle_unknown)
    different, numbers = factor(names)
    new = [name for name in different if name not in training and name not in targets]
    if None in targets and len(new) > 1:
        raise ValueError(
            f"X_target_unlabeled was one array, for one new domain, but these trials belong to {len(new)} ({', '.join(map(str, new))}): "
            "give a dictionary of arrays by domain at fit."
        )
    parts = [np.flatnonzero(np.equal(numbers, i)) for i in range(len(different))]
    return [(int(known[trials[0]]), name, trials) for name, trials in zip(different, parts)]
