"""The figures of a study's report, with matplotlib, on axes of yours.

Every function takes a study as :func:`stiefel.study` returns it, the folder where a study's results are, or the contents of its ``summary.json``, and
returns the axes it drew on. :func:`training` also takes a fitted network; a model's routing is plotted by :class:`stiefel.RoutingReport`.

What is drawn are the figures of the summary; nothing is computed again.
"""

from __future__ import annotations

import json
import os
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ._optional import needed

__all__ = [
    "angles",
    "calibration",
    "confusion",
    "controls",
    "differences",
    "electrodes",
    "folds",
    "learning",
    "patterns",
    "queries",
    "subjects",
    "training",
    "weights",
]

#: Up to so many people have a row with their name, as in the report.
NAMED_DIFFERENCES = 16
#: Up to so many people have a line of their own.
NAMED_SUBJECTS = 12

#: Controls of a router: name in the record, name in the plot.
CONTROLS = {
    "permuted": "permuted weights",
    "domain_mean": "domain-mean weights",
    "hard_top1": "winner alone (top-1)",
    "retrained": "one expert, retrained",
}

Study = Any


def differences(study: Study, method: str | None = None, against: str | None = None, ax: Any = None) -> Any:
    """The difference between two methods, person by person, largest first, with intervals.

    Parameters
    ----------
    study : DataFrame | path-like | dict
        A study: its scores, its folder, or the contents of its ``summary.json``.
    method, against : None | str, default=None
        Two methods that the study compared, in any order; None takes those of the report's first sentence.
    ax : None | matplotlib Axes, default=None
        Where to draw.

    Returns
    -------
    ax : matplotlib Axes
        The drawing: a row per person where there are few, a column where there are many; thin lines are 95 % intervals of the person's own
        test trials, the band is that of the mean over people.

    Examples
    --------
    >>> import tempfile
    >>> import stiefel
    >>> results = stiefel.study(
    ...     "main", "synthetic:bnci2015001,subjects=3,trials=10", methods=["recommended-1", "mdm", "ts+lr"],
    ...     folder=tempfile.mkdtemp(), progress=False,
    ... )
    >>> ax = stiefel.plot.differences(results)
    >>> len(ax.collections[0].get_offsets())  # a dot for each person
    3
    """
    summary = _summary(study)
    found, sign = _comparison(summary, method, against)
    people = sorted(((sign * p["difference"], _turned(p["interval"], sign), p["subject"]) for p in found["people"]), key=lambda p: -p[0])
    if not people:
        raise ValueError(f"no person has scores of both {found['method']} and {found['against']}.")
    ax = _axes(ax)
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
    one, other = (found["method"], found["against"]) if sign > 0 else (found["against"], found["method"])
    told = f"balanced accuracy: {one} minus {other}"
    if rows:
        ax.set_yticks(at, [p[2] for p in people])
        ax.invert_yaxis()
        ax.set(xlabel=told)
    else:
        ax.set(ylabel=told, xlabel=f"{len(people)} people, largest difference first", xticks=[])
    return ax


def folds(study: Study, ax: Any = None) -> Any:
    """Balanced accuracy of every method on every fold and seed, the same fold joined by a line.

    Parameters
    ----------
    study : DataFrame | path-like | dict
        A study: its scores, its folder, or the contents of its ``summary.json``.
    ax : None | matplotlib Axes, default=None
        Where to draw.

    Returns
    -------
    ax : matplotlib Axes
        The drawing; black are mean and standard deviation. Folds and seeds share trials: they are described, not tested.

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
    summary = _summary(study)
    rows = summary["rows"]
    units = list(dict.fromkeys((u["fold"], u["seed"]) for row in rows for u in row["units"]))
    series = {f"fold {f}, seed {s}": [_one(u["accuracy"] for u in row["units"] if (u["fold"], u["seed"]) == (f, s)) for row in rows] for f, s in units}
    means = [(row["accuracy"]["mean"], row["accuracy"]["std"]) for row in rows]
    return _joined(_axes(ax), summary, series, means)


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
        The drawing: up to twelve subjects have a line each, more are dots with their quartiles.

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
    summary = _summary(study)
    rows = summary["rows"]
    scores = [dict(map(tuple, row["per_subject"])) for row in rows]
    names = list(dict.fromkeys(name for of in scores for name in of))
    ax = _axes(ax)
    if len(names) <= NAMED_SUBJECTS:
        means = [(np.mean(list(of.values())), np.std(list(of.values()), ddof=min(1, len(of) - 1))) for of in scores]
        return _joined(ax, summary, {name: [of.get(name, np.nan) for of in scores] for name in names}, means, legend=True)
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
        The drawing: colours are shares of the true class, the text how many trials.

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
    summary = _summary(study)
    row = _row(summary, method)
    counts = np.array(row["confusion"], dtype=float)
    total = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, total, out=np.full_like(counts, np.nan), where=total > 0)
    names = summary["dataset"]["classes"]
    ax = _image(_axes(ax), shares, names, names, "share of the true class", (0, 1))
    for (r, c), count in np.ndenumerate(counts):
        ax.text(c, r, f"{count:.0f}", ha="center", va="center", color="k" if shares[r, c] > 0.5 else "w")
    ax.set(xlabel="decided", ylabel="true", title=row["method"])
    return ax


def calibration(study: Study, ax: Any = None) -> Any:
    """What a few labelled trials of a new person are worth, a curve per method.

    Parameters
    ----------
    study : DataFrame | path-like | dict
        A study ``"calibration"``: its scores, its folder, or the contents of its ``summary.json``.
    ax : None | matplotlib Axes, default=None
        Where to draw.

    Returns
    -------
    ax : matplotlib Axes
        The drawing: balanced accuracy on the other trials, over the number of labelled ones.

    Examples
    --------
    >>> import tempfile
    >>> import stiefel
    >>> results = stiefel.study(
    ...     "calibration", "synthetic:bnci2015001,subjects=2,trials=16", methods=["recommended", "recentred-ts+lr"],
    ...     folder=tempfile.mkdtemp(), progress=False,
    ... )
    >>> [line.get_label() for line in stiefel.plot.calibration(results).get_lines()]
    ['recommended', 'recentred-ts+lr']
    """
    summary = _summary(study)
    points = [(_own_name(row), row["labels"], row["accuracy"]["mean"]) for row in summary["rows"] if row.get("labels") is not None]
    return _curves(ax, points, "labelled trials per new person", "calibration")


def learning(study: Study, ax: Any = None) -> Any:
    """Balanced accuracy over the number of people trained on, a curve per method and montage.

    Parameters
    ----------
    study : DataFrame | path-like | dict
        A study ``"scaling"``: its scores, its folder, or the contents of its ``summary.json``.
    ax : None | matplotlib Axes, default=None
        Where to draw.

    Returns
    -------
    ax : matplotlib Axes
        The drawing.

    Examples
    --------
    >>> import stiefel
    >>> row = {"method": "plain", "cell": None, "labels": None}
    >>> rows = [{**row, "size": [22, d], "accuracy": {"mean": m, "std": 0.0, "count": 5}} for d, m in [(4, 0.6), (8, 0.7)]]
    >>> ax = stiefel.plot.learning({"rows": rows})
    >>> ax.get_lines()[0].get_ydata().tolist()
    [0.6, 0.7]
    """
    rows = [row for row in _summary(study)["rows"] if row.get("size") is not None]
    several = len({row["size"][0] for row in rows}) > 1
    points = [(_own_name(row) + (f", {row['size'][0]} channels" if several else ""), row["size"][1], row["accuracy"]["mean"]) for row in rows]
    return _curves(ax, points, "domains trained on", "scaling")


def training(source: Study, method: str | None = None, axes: Any = None) -> Any:
    """Loss, validation accuracy and routing entropy over the epochs.

    Parameters
    ----------
    source : DataFrame | path-like | dict | DaspClassifier | SPDNetClassifier
        A study, or a fitted network.
    method : None | str, default=None
        Which method of a study; None takes the first that is trained by epochs.
    axes : None | sequence of three matplotlib Axes, default=None
        Where to draw.

    Returns
    -------
    axes : ndarray of matplotlib Axes, shape (3,)
        The drawings: a thin line per fold and seed, a thick one for their mean while at least half of them are in training.

    Examples
    --------
    >>> import stiefel
    >>> data = stiefel.load_synthetic("BNCI2015001", subjects=2, trials_per_class=10, random_state=0)
    >>> clf = stiefel.DaspClassifier(max_epochs=3, random_state=0).fit(data)
    >>> axes = stiefel.plot.training(clf)
    >>> len(axes), len(axes[1].get_lines()[0].get_xdata()) == len(clf.history_)
    (3, True)
    """
    if hasattr(source, "history_"):
        if method is not None:
            raise ValueError("a network is one method: leave method out.")
        histories, name = [source.history_], type(source).__name__
    else:
        units = _summary(source)["units"]
        trained = list(dict.fromkeys(u["method"] for u in units if u["outcome"]["history"]))
        name = _named(method, trained, "is trained by epochs")
        histories = [u["outcome"]["history"] for u in units if u["method"] == name and u["outcome"]["history"]]
    if axes is None:
        axes = needed("matplotlib.pyplot", "plots").subplots(3, 1, sharex=True, layout="constrained", figsize=(5, 7))[1]
    axes = np.asarray(axes, dtype=object).ravel()
    if len(axes) != 3:
        raise ValueError(f"axes must be three, got {len(axes)}.")
    _epochs(axes[0], histories, lambda e: sum(term[1] for term in e["losses"]), "C0", "training, all terms")
    _epochs(axes[0], histories, lambda e: e["validation_loss"], "C1", "validation cross-entropy")
    _epochs(axes[1], histories, lambda e: e["validation_accuracy"], "C2", None)
    _epochs(axes[2], histories, lambda e: e.get("routing_entropy"), "C3", None)
    axes[0].set(ylabel="loss", title=f"training of {name}")
    axes[0].legend()
    axes[1].set(ylabel="balanced accuracy on validation")
    axes[2].set(ylabel="routing entropy", xlabel="epoch")
    return axes


def controls(study: Study, method: str | None = None, ax: Any = None) -> Any:
    """What a routed method loses, fold by fold, when its routing is replaced.

    Parameters
    ----------
    study : DataFrame | path-like | dict
        A study: its scores, its folder, or the contents of its ``summary.json``.
    method : None | str, default=None
        Which method; None takes the first that routes.
    ax : None | matplotlib Axes, default=None
        Where to draw.

    Returns
    -------
    ax : matplotlib Axes
        The drawing: balanced accuracy of the model minus that of the control, a dot per fold and seed; black is the mean.

    Examples
    --------
    >>> import tempfile
    >>> import stiefel
    >>> results = stiefel.study(
    ...     "main", "synthetic:bnci2015001,subjects=2,trials=10", methods=["recommended-1", "mdm"], folder=tempfile.mkdtemp(), progress=False,
    ... )
    >>> ax = stiefel.plot.controls(results)
    >>> ax.get_yticklabels()[0].get_text()
    'uniform weights (Δ_K1)'
    """
    units, name = _routed(study, method)
    reports = [u["outcome"]["routing"]["report"] for u in units]
    gaps = {"uniform weights (Δ_K1)": [_value(r["proxy_gap"]) for r in reports]}
    for key, title in CONTROLS.items():
        own = [(_value(r["scores"]["balanced_accuracy"]), (r["controls"] or {}).get(key)) for r in reports]
        gaps[title] = [None if a is None or b is None else a - b for a, b in own]
    known = {title: [g for g in values if g is not None] for title, values in gaps.items()}
    drawn = {title: values for title, values in known.items() if values}
    ax = _axes(ax)
    for at, values in enumerate(drawn.values()):
        ax.scatter(values, np.full(len(values), at), s=16, alpha=0.7)
        ax.plot(np.mean(values), at, "k|", markersize=14)
    ax.axvline(0.0, color="0.5", linewidth=0.8)
    ax.set_yticks(range(len(drawn)), list(drawn))
    ax.invert_yaxis()
    ax.set(xlabel="balanced accuracy of the model minus that of the control", title=name)
    return ax


def weights(study: Study, method: str | None = None, ax: Any = None) -> Any:
    """Mean routing weights of every expert in every domain, of the first fold of the first seed.

    Parameters
    ----------
    study : DataFrame | path-like | dict
        A study: its scores, its folder, or the contents of its ``summary.json``.
    method : None | str, default=None
        Which method; None takes the first that has experts.
    ax : None | matplotlib Axes, default=None
        Where to draw.

    Returns
    -------
    ax : matplotlib Axes
        The drawing.

    Examples
    --------
    >>> import tempfile
    >>> import stiefel
    >>> results = stiefel.study(
    ...     "main", "synthetic:bnci2015001,subjects=2,trials=10", methods=["dasp"], epochs=1, retrained=False,
    ...     folder=tempfile.mkdtemp(), progress=False,
    ... )
    >>> image = stiefel.plot.weights(results).images[0].get_array()
    >>> bool(abs(image.sum(axis=1) - 1).max() < 1e-6)  # weights of a domain
    True
    """
    summary = _summary(study)
    record, unit = _router(summary, method, "domain_weights")
    table = record["domain_weights"]
    experts = max(map(len, table))
    values = np.array([row if row else [np.nan] * experts for row in table])
    ax = _image(_axes(ax), values, range(1, experts + 1), summary["dataset"]["domains"], "mean weight", (0, None))
    ax.set(xlabel="expert", ylabel="domain", title=_unit_name(unit))
    return ax


def queries(study: Study, method: str | None = None, ax: Any = None) -> Any:
    """Queries of the test trials on their first two principal axes, of the first fold of the first seed.

    Parameters
    ----------
    study : DataFrame | path-like | dict
        A study: its scores, its folder, or the contents of its ``summary.json``.
    method : None | str, default=None
        Which method; None takes the first that has queries.
    ax : None | matplotlib Axes, default=None
        Where to draw.

    Returns
    -------
    ax : matplotlib Axes
        The drawing, coloured by domain.

    Examples
    --------
    >>> import tempfile
    >>> import stiefel
    >>> results = stiefel.study(
    ...     "main", "synthetic:bnci2015001,subjects=2,trials=10", methods=["dasp"], epochs=1, retrained=False,
    ...     folder=tempfile.mkdtemp(), progress=False,
    ... )
    >>> len(stiefel.plot.queries(results).collections)  # domains: two sessions of two people
    4
    """
    summary = _summary(study)
    record, unit = _router(summary, method, "queries")
    points, of = np.array(record["queries"]), np.array(unit["outcome"]["domains"])
    ax = _axes(ax)
    for domain in np.unique(of):
        at = of == domain
        ax.scatter(*points[at].T, s=10, label=summary["dataset"]["domains"][domain])
    if len(np.unique(of)) <= NAMED_SUBJECTS:
        ax.legend()
    ax.set(xlabel="first principal axis", ylabel="second principal axis", title=_unit_name(unit), aspect="equal")
    return ax


def angles(study: Study, method: str | None = None, ax: Any = None) -> Any:
    """Mean principal angle between every two experts, in degrees, of the first fold of the first seed.

    Parameters
    ----------
    study : DataFrame | path-like | dict
        A study: its scores, its folder, or the contents of its ``summary.json``.
    method : None | str, default=None
        Which method; None takes the first that has experts.
    ax : None | matplotlib Axes, default=None
        Where to draw.

    Returns
    -------
    ax : matplotlib Axes
        The drawing.

    Examples
    --------
    >>> import tempfile
    >>> import stiefel
    >>> results = stiefel.study(
    ...     "main", "synthetic:bnci2015001,subjects=2,trials=10", methods=["dasp"], epochs=1, retrained=False,
    ...     folder=tempfile.mkdtemp(), progress=False,
    ... )
    >>> image = stiefel.plot.angles(results).images[0].get_array()
    >>> bool(abs(image - image.T).max() < 1e-9)
    True
    """
    record, unit = _router(_summary(study), method, "angles")
    values = np.array(record["angles"])
    names = range(1, len(values) + 1)
    ax = _image(_axes(ax), values, names, names, "mean principal angle, degrees", (0, None))
    ax.set(xlabel="expert", ylabel="expert", title=_unit_name(unit))
    return ax


def patterns(study: Study, method: str | None = None, axes: Any = None) -> Any:
    """What the filters of a method see: activation patterns on the head, of the first fold of the first seed.

    Parameters
    ----------
    study : DataFrame | path-like | dict
        A study: its scores, its folder, or the contents of its ``summary.json``.
    method : None | str, default=None
        Which method; None takes the first that has filters.
    axes : None | sequence of matplotlib Axes, default=None
        Where to draw; one for each pattern of each filter.

    Returns
    -------
    axes : ndarray of matplotlib Axes, shape (filters, patterns)
        The drawings, seen from above, nose up. The sign of a pattern has no meaning; each map is scaled by its largest value.

    Examples
    --------
    >>> import tempfile
    >>> import stiefel
    >>> results = stiefel.study(
    ...     "main", "synthetic:bnci2015001,subjects=2,trials=10", methods=["recommended-1"], folder=tempfile.mkdtemp(), progress=False,
    ... )
    >>> stiefel.plot.patterns(results).shape
    (1, 2)
    """
    summary = _summary(study)
    with_patterns = [u for u in summary["units"] if any(f["patterns"] for f in u["outcome"].get("patterns", []))]
    unit = _first_unit(with_patterns, method, "has filters whose patterns were recorded")
    filters = unit["outcome"]["patterns"]
    names, at, kept = _places(summary["dataset"])
    shape = len(filters), max(len(f["patterns"]) for f in filters)
    if axes is None:
        pyplot = needed("matplotlib.pyplot", "plots")
        axes = pyplot.subplots(*shape, squeeze=False, layout="constrained", figsize=(2.4 * shape[1], 2.5 * shape[0]))[1]
    axes = np.asarray(axes, dtype=object)
    if axes.size != shape[0] * shape[1]:
        raise ValueError(f"axes must be {shape[0]} × {shape[1]}, one for each pattern of each filter, got {axes.size}.")
    axes = axes.reshape(shape)
    for of, row in zip(filters, axes):
        for number, (pattern, ax) in enumerate(zip(of["patterns"], row)):
            _head(ax, np.array(pattern)[kept], names, at)
            ax.set_title(f"{of['filter']}, pattern {number + 1}", fontsize="small")
    axes[0, 0].figure.suptitle(_unit_name(unit), fontsize="medium")
    return axes


def electrodes(study: Study, ax: Any = None) -> Any:
    """Where the electrodes of a study are, by name.

    Parameters
    ----------
    study : DataFrame | path-like | dict
        A study: its scores, its folder, or the contents of its ``summary.json``.
    ax : None | matplotlib Axes, default=None
        Where to draw.

    Returns
    -------
    ax : matplotlib Axes
        The drawing, seen from above, nose up; channels whose place is not known are left out.

    Examples
    --------
    >>> import tempfile
    >>> import stiefel
    >>> results = stiefel.study(
    ...     "main", "synthetic:bnci2015001,subjects=2,trials=10", methods=["mdm"], folder=tempfile.mkdtemp(), progress=False,
    ... )
    >>> len(stiefel.plot.electrodes(results).texts)
    13
    """
    names, at, _ = _places(_summary(study)["dataset"])
    ax = _axes(ax)
    _outline(ax)
    for name, (x, y) in zip(names, at):
        ax.text(x, y, name, ha="center", va="center", fontsize="x-small")
    return ax


def _summary(study):
    """The contents of a study's summary.json."""
    if isinstance(study, dict):
        return study
    folder = getattr(study, "attrs", {}).get("folder", study)
    if not isinstance(folder, (str, PathLike)):
        raise TypeError(f"a study is what stiefel.study returns, a folder of results, or the contents of its summary.json, got {type(study).__name__}.")
    path = Path(os.fspath(folder))
    path = path / "summary.json" if path.is_dir() else path
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"{path} is not there; give the folder of a study that has been run to its end.") from None
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: {error}; give the folder of a study that has been run to its end.") from error


def _axes(ax):
    return needed("matplotlib.pyplot", "plots").subplots(layout="constrained")[1] if ax is None else ax


def _one(values):
    return next(iter(values), np.nan)


def _value(measure):
    """A measure's value; None where it does not exist."""
    return measure.get("value")


def _named(method, known, what):
    """The method, or the first known one; an error where there is none."""
    if not known:
        raise ValueError(f"no method of this study {what}.")
    if method is None:
        return known[0]
    if method not in known:
        raise ValueError(f"{method!r} is not a method of this study that {what}; these are: {', '.join(known)}.")
    return method


def _row(summary, method):
    known = [row["method"] for row in summary["rows"]]
    headline = summary.get("headline")
    name = _named(headline["method"] if method is None and headline else method, known, "has a row in its table")
    return summary["rows"][known.index(name)]


def _comparison(summary, method, against):
    """The comparison of two methods, and −1 where it was made the other way round."""
    made = summary["comparisons"]
    if (method is None) != (against is None):
        raise ValueError("give both method and against, or neither.")
    if method is None:
        headline = summary.get("headline")
        if headline is None:
            raise ValueError("the study has no comparison in its first sentence: say which with method and against.")
        method, against = headline["method"], headline["against"]
    for found in made:
        if {found["method"], found["against"]} == {method, against}:
            return found, 1 if found["method"] == method else -1
    pairs = "; ".join(f"{c['method']} and {c['against']}" for c in made) or "none"
    raise ValueError(f"{method} and {against} were not compared. These were compared: {pairs}.")


def _turned(interval, sign):
    return None if interval is None else sorted(sign * end for end in interval)


def _own_name(row):
    """The method without its part of the data."""
    return row["method"].removeprefix(f"{row['cell']}: ") if row.get("cell") else row["method"]


def _first_unit(units, method, what):
    """The first fold of the first seed of a method among units that have something."""
    name = _named(method, list(dict.fromkeys(unit["method"] for unit in units)), what)
    return min((unit for unit in units if unit["method"] == name), key=lambda unit: unit["fold"])


def _router(summary, method, part):
    unit = _first_unit([u for u in summary["units"] if (u["outcome"]["routing"] or {}).get(part)], method, "has experts")
    return unit["outcome"]["routing"], unit


def _routed(study, method):
    units = [unit for unit in _summary(study)["units"] if unit["outcome"]["routing"]]
    name = _named(method, list(dict.fromkeys(unit["method"] for unit in units)), "routes")
    return [unit for unit in units if unit["method"] == name], name


def _unit_name(unit):
    return f"{unit['method']}, fold {unit['fold']}, seed {unit['seed']}"


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
    """How far sorted values are moved so that equal ones can be seen: alternately to either side within a group of the same hundredth."""
    offsets = np.zeros(len(values))
    for same in np.unique(np.round(values, 2)):
        at = np.flatnonzero(np.round(values, 2) == same)
        order = np.arange(len(at))
        offsets[at] = np.where(order % 2, 1, -1) * ((order + 1) // 2) * min(0.06, 2 * room / len(at))
    return offsets


def _curves(ax, points, axis, study):
    curves: dict[str, list[tuple[float, float]]] = {}
    for name, x, y in points:
        curves.setdefault(name, []).append((x, y))
    curves = {name: sorted(of) for name, of in curves.items() if len(of) > 1}
    if not curves:
        raise ValueError(f"there is no curve in this study: run stiefel.study({study!r}, …).")
    ax = _axes(ax)
    for name, of in curves.items():
        ax.plot(*zip(*of), marker="o", label=name)
    ax.set(xlabel=axis, ylabel="balanced accuracy")
    ax.legend()
    return ax


def _epochs(ax, histories, value, colour, label):
    """A thin line per unit, and their mean while at least half of them are in training."""
    lines = [[value(epoch) for epoch in history] for history in histories]
    lines = [[np.nan if v is None else v for v in line] for line in lines]
    if not any(np.isfinite(line).any() for line in lines if line):
        ax.text(0.5, 0.5, "not routed", transform=ax.transAxes, ha="center", va="center", color="0.5")
        return
    for line in lines:
        ax.plot(line, color=colour, linewidth=0.7, alpha=0.5)
    longest = max(map(len, lines))
    at = [[line[i] for line in lines if i < len(line)] for i in range(longest)]
    mean = [np.mean(of) for of in at if 2 * len(of) >= len(lines)]
    ax.plot(mean, color=colour, linewidth=2, label=label or "mean")


def _image(ax, values, columns, rows, label, limits):
    image = ax.imshow(values, vmin=limits[0], vmax=limits[1], aspect="auto", cmap="viridis")
    if len(columns) <= 24:
        ax.set_xticks(range(len(columns)), list(columns))
    if len(rows) <= 60:
        ax.set_yticks(range(len(rows)), list(rows))
    ax.figure.colorbar(image, ax=ax, label=label)
    return ax


def _places(dataset):
    """Names, places in the plane (azimuthal equidistant, the outline at 1) and numbers of the channels whose place is known."""
    places = dataset.get("places") or []
    kept = [c for c, place in enumerate(places) if place is not None]
    if len(kept) < 3:
        raise ValueError("the places of fewer than three electrodes are known: there is no map of the head.")
    x, y, z = np.array([places[c] for c in kept]).T
    ring = np.hypot(x, y)
    scale = np.divide(np.arccos(np.clip(z, -1, 1)) / (np.pi / 2), ring, out=np.zeros_like(ring), where=ring > 0)
    return [dataset["channels"][c] for c in kept], np.stack([x * scale, y * scale], axis=1), kept


def _outline(ax):
    """A head with its nose."""
    turn = np.linspace(0, 2 * np.pi, 100)
    ax.plot(np.cos(turn), np.sin(turn), color="k", linewidth=1)
    ax.plot([-0.16, 0, 0.16], [0.987, 1.17, 0.987], color="k", linewidth=1)
    ax.set(aspect="equal", xlim=(-1.35, 1.35), ylim=(-1.35, 1.35))
    ax.set_axis_off()


def _head(ax, values, names, at):
    """A map of one pattern, coloured between the electrodes, the three strongest named."""
    tri = needed("matplotlib.tri", "plots")
    _outline(ax)
    largest = np.abs(values).max() or 1.0
    try:
        ax.tricontourf(tri.Triangulation(*at.T), values / largest, levels=np.linspace(-1, 1, 21), cmap="RdBu_r", extend="neither")
    except (RuntimeError, ValueError):
        pass  # electrodes on a line have no area between them
    ax.scatter(*at.T, c=values / largest, cmap="RdBu_r", vmin=-1, vmax=1, s=12, edgecolors="k", linewidths=0.4, zorder=3)
    for strongest in np.argsort(-np.abs(values))[:3]:
        ax.annotate(names[strongest], at[strongest], xytext=(0, 4), textcoords="offset points", ha="center", fontsize="x-small")
