"""Scores of the methods: by person, by fold, by class."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._axes import axes_of, image_of
from ._study import Study, comparison, row_of, summary_of

#: Up to so many people have a row with their name, as in the report.
NAMED_DIFFERENCES = 16
#: Up to so many people have a line of their own.
NAMED_SUBJECTS = 12


def differences(
    study: Study, method: str | None = None, against: str | None = None, ax: Any = None
) -> Any:
    """The difference between two methods, person by person, largest first, with intervals.

    Parameters
    ----------
    study : DataFrame | path-like | dict
        A study: its scores, its folder, or the contents of its ``summary.json``.
    method, against : None | str, default=None
        Two methods that the study compared, in any order; None takes those of the report's first
        sentence.
    ax : None | matplotlib Axes, default=None
        Where to draw.

    Returns
    -------
    ax : matplotlib Axes
        The drawing: a row per person if there are few people, a column if there are many. Thin
        lines are 95 % intervals of the person's own
        test trials; the band is the interval of the mean over people.

    Examples
    --------
    >>> import tempfile
    >>> import stiefel
    >>> results = stiefel.study(
    ...     "main", "synthetic:bnci2015001,subjects=3,trials=10", methods=["choir", "mdm", "ts+lr"],
    ...     folder=tempfile.mkdtemp(), progress=False,
    ... )
    >>> ax = stiefel.plot.differences(results)
    >>> len(ax.collections[0].get_offsets())  # a dot for each person
    3
    """
    summary = summary_of(study)
    found, sign = comparison(summary, method, against)
    people = sorted(
        (
            (sign * p["difference"], _turned(p["interval"], sign), p["subject"])
            for p in found["people"]
        ),
        key=lambda p: -p[0],
    )
    if not people:
        raise ValueError(f"no person has scores of both {found['method']} and {found['against']}.")
    ax = axes_of(ax)
    values = np.array([p[0] for p in people])
    at = np.arange(len(people))
    colours = ["C0" if value >= 0 else "C1" for value in values]
    rows = len(people) <= NAMED_DIFFERENCES
    ax.scatter(*((values, at) if rows else (at, values)), c=colours, s=18 if rows else 10, zorder=3)
    lines = ax.hlines if rows else ax.vlines
    with_interval = [i for i, p in enumerate(people) if p[1] is not None]
    lines(
        with_interval, [people[i][1][0] for i in with_interval], [people[i][1][1] for i in with_interval],
        colors=[colours[i] for i in with_interval], alpha=0.45, linewidth=1.2,
    )  # fmt: skip
    mean, interval = sign * found["difference"], _turned(found.get("interval"), sign)
    line, span = (ax.axvline, ax.axvspan) if rows else (ax.axhline, ax.axhspan)
    line(0.0, color="0.5", linewidth=0.8)
    line(mean, color="k", linewidth=1.6)
    if interval is not None:
        span(*interval, color="k", alpha=0.1, linewidth=0)
    one, other = (
        (found["method"], found["against"]) if sign > 0 else (found["against"], found["method"])
    )
    told = f"balanced accuracy: {one} minus {other}"
    if rows:
        ax.set_yticks(at, [p[2] for p in people])
        ax.invert_yaxis()
        ax.set(xlabel=told)
    else:
        ax.set(ylabel=told, xlabel=f"{len(people)} people, largest difference first", xticks=[])
    return ax


def folds(study: Study, ax: Any = None) -> Any:
    """Balanced accuracy of every method on every fold and seed; a line joins the scores of the same
    fold.

    Parameters
    ----------
    study : DataFrame | path-like | dict
        A study: its scores, its folder, or the contents of its ``summary.json``.
    ax : None | matplotlib Axes, default=None
        Where to draw.

    Returns
    -------
    ax : matplotlib Axes
        The drawing; mean and standard deviation are black. Folds and seeds share trials: they are
        described, not tested.

    Examples
    --------
    >>> import tempfile
    >>> import stiefel
    >>> results = stiefel.study(
    ...     "main", "synthetic:bnci2015001,subjects=2,trials=10", methods=["mdm", "ts+lr"], folder=tempfile.mkdtemp(), progress=False,
    ... )
    >>> [label.get_text() for label in stiefel.plot.folds(results).get_yticklabels()]
    ['mdm', 'ts+lr']
    """
    summary = summary_of(study)
    rows = summary["rows"]
    units = list(dict.fromkeys((u["fold"], u["seed"]) for row in rows for u in row["units"]))
    series = {
        f"fold {f}, seed {s}": [
            _one(u["accuracy"] for u in row["units"] if (u["fold"], u["seed"]) == (f, s))
            for row in rows
        ]
        for f, s in units
    }
    means = [(row["accuracy"]["mean"], row["accuracy"]["std"]) for row in rows]
    return _joined(axes_of(ax), summary, series, means)


def subjects(study: Study, ax: Any = None) -> Any:
    """Balanced accuracy of every method on every subject, averaged over folds and seeds.

    Parameters
    ----------
    study : DataFrame | path-like | dict
        A study: its scores, its folder, or the contents of its ``summary.json``.
    ax : None | matplotlib Axes, default=None
        Where to draw.

    Returns
    -------
    ax : matplotlib Axes
        The drawing: up to twelve subjects have a line each; more subjects are dots with their
        quartiles.

    Examples
    --------
    >>> import tempfile
    >>> import stiefel
    >>> results = stiefel.study(
    ...     "main", "synthetic:bnci2015001,subjects=2,trials=10", methods=["mdm", "ts+lr"], folder=tempfile.mkdtemp(), progress=False,
    ... )
    >>> ax = stiefel.plot.subjects(results)
    >>> sorted(line.get_label() for line in ax.get_lines())[:2]
    ['S01', 'S02']
    """
    summary = summary_of(study)
    rows = summary["rows"]
    scores = [dict(map(tuple, row["per_subject"])) for row in rows]
    names = list(dict.fromkeys(name for of in scores for name in of))
    ax = axes_of(ax)
    if len(names) <= NAMED_SUBJECTS:
        means = [
            (np.mean(list(of.values())), np.std(list(of.values()), ddof=min(1, len(of) - 1)))
            for of in scores
        ]
        return _joined(
            ax,
            summary,
            {name: [of.get(name, np.nan) for of in scores] for name in names},
            means,
            legend=True,
        )
    for at, of in enumerate(scores):
        values = np.sort(list(of.values()))
        ax.scatter(values, at + _aside(values, 0.3), s=8, alpha=0.8)
        low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
        ax.hlines(at + 0.38, low, high, colors="k", linewidth=1.5)
        ax.plot(middle, at + 0.38, "k|", markersize=9)
    return _methods_down(ax, summary)


def confusion(study: Study, method: str | None = None, ax: Any = None) -> Any:
    """The confusion matrix of a method, summed over folds and seeds.

    Parameters
    ----------
    study : DataFrame | path-like | dict
        A study: its scores, its folder, or the contents of its ``summary.json``.
    method : None | str, default=None
        Which method; None takes the one of the report's first sentence.
    ax : None | matplotlib Axes, default=None
        Where to draw.

    Returns
    -------
    ax : matplotlib Axes
        The drawing: colours are shares of the true class, and the numbers count trials.

    Examples
    --------
    >>> import tempfile
    >>> import stiefel
    >>> results = stiefel.study(
    ...     "main", "synthetic:bnci2015001,subjects=2,trials=10", methods=["mdm", "ts+lr"], folder=tempfile.mkdtemp(), progress=False,
    ... )
    >>> ax = stiefel.plot.confusion(results, "mdm")
    >>> sum(int(text.get_text()) for text in ax.texts)  # test trials of all folds
    58
    """
    summary = summary_of(study)
    row = row_of(summary, method)
    counts = np.array(row["confusion"], dtype=float)
    total = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, total, out=np.full_like(counts, np.nan), where=total > 0)
    names = summary["dataset"]["classes"]
    ax = image_of(axes_of(ax), shares, names, names, "share of the true class", (0, 1))
    for (r, c), count in np.ndenumerate(counts):
        ax.text(
            c, r, f"{count:.0f}", ha="center", va="center", color="k" if shares[r, c] > 0.5 else "w"
        )
    ax.set(xlabel="decided", ylabel="true", title=row["method"])
    return ax


def _one(values):
    return next(iter(values), np.nan)


def _turned(interval, sign):
    return None if interval is None else sorted(sign * end for end in interval)


def _methods_down(ax, summary):
    ax.set_yticks(range(len(summary["rows"])), [row["method"] for row in summary["rows"]])
    ax.invert_yaxis()
    classes = len(summary["dataset"]["classes"])
    if classes:
        ax.axvline(1 / classes, color="0.5", linestyle="--", linewidth=0.8, label="chance")
    ax.set(xlabel="balanced accuracy")
    return ax


def _joined(ax, summary, series, means, legend=False):
    """A row per method, and the values of a series joined by a line."""
    places = np.arange(len(means))
    for name, values in series.items():
        ax.plot(values, places, marker="o", markersize=4, linewidth=0.8, alpha=0.7, label=name)
    for at, (mean, std) in enumerate(means):
        ax.errorbar(mean, at + 0.25, xerr=std, color="k", marker="|", markersize=9, label="_")
    ax = _methods_down(ax, summary)
    if legend:
        ax.legend(fontsize="small")
    return ax


def _aside(values, room):
    """How far sorted values are moved so that equal ones can be seen: alternately to either side
    within a group of the same hundredth."""
    offsets = np.zeros(len(values))
    for same in np.unique(np.round(values, 2)):
        at = np.flatnonzero(np.round(values, 2) == same)
        order = np.arange(len(at))
        offsets[at] = (
            np.where(order % 2, 1, -1) * ((order + 1) // 2) * min(0.06, 2 * room / len(at))
        )
    return offsets
