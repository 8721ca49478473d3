"""Scores over labels, people and epochs."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._optional import needed
from ._axes import axes_of
from ._study import Study, named, own_name, summary_of


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
    ...     "calibration", "synthetic:bnci2015001,subjects=2,trials=16",
    ...     methods=["choir", "recentred-ts+lr"],
    ...     folder=tempfile.mkdtemp(), progress=False,
    ... )
    >>> [line.get_label() for line in stiefel.plot.calibration(results).get_lines()]
    ['choir', 'recentred-ts+lr']
    """
    summary = summary_of(study)
    points = [
        (own_name(row), row["labels"], row["accuracy"]["mean"])
        for row in summary["rows"]
        if row.get("labels") is not None
    ]
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
    >>> scores = [{"mean": m, "std": 0.0, "count": 5} for m in (0.6, 0.7)]
    >>> rows = [{**row, "size": [22, d], "accuracy": s} for d, s in zip((4, 8), scores)]
    >>> ax = stiefel.plot.learning({"rows": rows})
    >>> ax.get_lines()[0].get_ydata().tolist()
    [0.6, 0.7]
    """
    rows = [row for row in summary_of(study)["rows"] if row.get("size") is not None]
    several = len({row["size"][0] for row in rows}) > 1
    points = [
        (
            own_name(row) + (f", {row['size'][0]} channels" if several else ""),
            row["size"][1],
            row["accuracy"]["mean"],
        )
        for row in rows
    ]
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
        The drawings: a thin line per fold and seed, a thick one for their mean while at least half
        of them are in training.

    Examples
    --------
    >>> import stiefel
    >>> data = stiefel.load_synthetic("BNCI2015001", subjects=2, trials_per_class=10)
    >>> clf = stiefel.DaspClassifier(epochs=3, random_state=0).fit(data)
    >>> axes = stiefel.plot.training(clf)
    >>> len(axes), len(axes[1].get_lines()[0].get_xdata()) == len(clf.history_)
    (3, True)
    """
    if hasattr(source, "history_"):
        if method is not None:
            raise ValueError("a network is one method: leave method out.")
        histories, name = [source.history_], type(source).__name__
    else:
        units = summary_of(source)["units"]
        trained = list(dict.fromkeys(u["method"] for u in units if u["outcome"]["history"]))
        name = named(method, trained, "is trained by epochs")
        histories = [
            u["outcome"]["history"]
            for u in units
            if u["method"] == name and u["outcome"]["history"]
        ]
    if axes is None:
        axes = needed("matplotlib.pyplot", "plots").subplots(
            3, 1, sharex=True, layout="constrained", figsize=(5, 7)
        )[1]
    axes = np.asarray(axes, dtype=object).ravel()
    if len(axes) != 3:
        raise ValueError(f"axes must be three, got {len(axes)}.")
    _epochs(
        axes[0],
        histories,
        lambda e: sum(term[1] for term in e["losses"]),
        "C0",
        "training, all terms",
    )
    _epochs(axes[0], histories, lambda e: e["validation_loss"], "C1", "validation cross-entropy")
    _epochs(axes[1], histories, lambda e: e["validation_accuracy"], "C2", None)
    _epochs(axes[2], histories, lambda e: e.get("routing_entropy"), "C3", None)
    axes[0].set(ylabel="loss", title=f"training of {name}")
    axes[0].legend()
    axes[1].set(ylabel="balanced accuracy on validation")
    axes[2].set(ylabel="routing entropy", xlabel="epoch")
    return axes


def _curves(ax, points, axis, study):
    curves: dict[str, list[tuple[float, float]]] = {}
    for name, x, y in points:
        curves.setdefault(name, []).append((x, y))
    curves = {name: sorted(of) for name, of in curves.items() if len(of) > 1}
    if not curves:
        raise ValueError(f"there is no curve in this study: run stiefel.study({study!r}, …).")
    ax = axes_of(ax)
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
        ax.text(
            0.5, 0.5, "not routed", transform=ax.transAxes, ha="center", va="center", color="0.5"
        )
        return
    for line in lines:
        ax.plot(line, color=colour, linewidth=0.7, alpha=0.5)
    longest = max(map(len, lines))
    at = [[line[i] for line in lines if i < len(line)] for i in range(longest)]
    mean = [np.mean(of) for of in at if 2 * len(of) >= len(lines)]
    ax.plot(mean, color=colour, linewidth=2, label=label or "mean")
