"""The head from above: patterns of filters, and where the electrodes are."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._optional import needed
from ._axes import axes_of
from ._study import Study, first_unit, summary_of, unit_name


def patterns(study: Study, method: str | None = None, axes: Any = None) -> Any:
    """What the filters of a method see: activation patterns on the head, of the first fold of the
    first seed.

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
        The drawings, seen from above, nose up. The sign of a pattern has no meaning; each map is
        scaled by its largest value.

    Examples
    --------
    >>> import tempfile
    >>> import stiefel
    >>> results = stiefel.study(
    ...     "main", "synthetic:bnci2015001,subjects=2,trials=10", methods=["choir"],
    ...     folder=tempfile.mkdtemp(), progress=False,
    ... )
    >>> stiefel.plot.patterns(results).shape
    (1, 2)
    """
    summary = summary_of(study)
    with_patterns = [
        u for u in summary["units"] if any(f["patterns"] for f in u["outcome"].get("patterns", []))
    ]
    unit = first_unit(with_patterns, method, "has filters whose patterns were recorded")
    filters = unit["outcome"]["patterns"]
    names, at, kept = _places(summary["dataset"])
    shape = len(filters), max(len(f["patterns"]) for f in filters)
    if axes is None:
        pyplot = needed("matplotlib.pyplot", "plots")
        axes = pyplot.subplots(
            *shape, squeeze=False, layout="constrained", figsize=(2.4 * shape[1], 2.5 * shape[0])
        )[1]
    axes = np.asarray(axes, dtype=object)
    if axes.size != shape[0] * shape[1]:
        raise ValueError(
            f"axes must be {shape[0]} × {shape[1]}, one for each pattern of each filter, got {axes.size}."
        )
    axes = axes.reshape(shape)
    for of, row in zip(filters, axes):
        for number, (pattern, ax) in enumerate(zip(of["patterns"], row)):
            _head(ax, np.array(pattern)[kept], names, at)
            ax.set_title(f"{of['filter']}, pattern {number + 1}", fontsize="small")
    axes[0, 0].figure.suptitle(unit_name(unit), fontsize="medium")
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
    names, at, _ = _places(summary_of(study)["dataset"])
    ax = axes_of(ax)
    _outline(ax)
    for name, (x, y) in zip(names, at):
        ax.text(x, y, name, ha="center", va="center", fontsize="x-small")
    return ax


def _places(dataset):
    """Names, places in the plane (azimuthal equidistant, the outline at 1) and numbers of the
    channels whose place is known."""
    places = dataset.get("places") or []
    kept = [c for c, place in enumerate(places) if place is not None]
    if len(kept) < 3:
        raise ValueError(
            "the places of fewer than three electrodes are known: there is no map of the head."
        )
    x, y, z = np.array([places[c] for c in kept]).T
    ring = np.hypot(x, y)
    scale = np.divide(
        np.arccos(np.clip(z, -1, 1)) / (np.pi / 2), ring, out=np.zeros_like(ring), where=ring > 0
    )
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
        ax.tricontourf(
            tri.Triangulation(*at.T),
            values / largest,
            levels=np.linspace(-1, 1, 21),
            cmap="RdBu_r",
            extend="neither",
        )
    except (RuntimeError, ValueError):
        pass  # electrodes on a line have no area between them
    ax.scatter(
        *at.T,
        c=values / largest,
        cmap="RdBu_r",
        vmin=-1,
        vmax=1,
        s=12,
        edgecolors="k",
        linewidths=0.4,
        zorder=3,
    )
    for strongest in np.argsort(-np.abs(values))[:3]:
        ax.annotate(
            names[strongest],
            at[strongest],
            xytext=(0, 4),
            textcoords="offset points",
            ha="center",
            fontsize="x-small",
        )
