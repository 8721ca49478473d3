"""Routed methods: their controls, and the weights, queries and experts of one fold."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._axes import axes_of, image_of
from ._study import Study, first_unit, named, summary_of, unit_name

#: Controls of a router: name in the record, name in the plot.
CONTROLS = {
    "permuted": "permuted weights",
    "domain_mean": "domain-mean weights",
    "hard_top1": "winner alone (top-1)",
    "retrained": "one expert, retrained",
}
#: Up to so many domains have their name in a legend.
NAMED_DOMAINS = 12


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
        The drawing: balanced accuracy of the model minus that of the control, a dot per fold and
        seed; black is the mean.

    Examples
    --------
    >>> import tempfile
    >>> import stiefel
    >>> results = stiefel.study(
    ...     "main", "synthetic:bnci2015001,subjects=2,trials=10", methods=["choir", "mdm"],
    ...     folder=tempfile.mkdtemp(), progress=False,
    ... )
    >>> ax = stiefel.plot.controls(results)
    >>> ax.get_yticklabels()[0].get_text()
    'uniform weights (Δ_K1)'
    """
    units, name = _routed(study, method)
    reports = [u["outcome"]["routing"]["report"] for u in units]
    gaps = {"uniform weights (Δ_K1)": [_value(r["proxy_gap"]) for r in reports]}
    for key, title in CONTROLS.items():
        own = [
            (_value(r["scores"]["balanced_accuracy"]), (r["controls"] or {}).get(key))
            for r in reports
        ]
        gaps[title] = [None if a is None or b is None else a - b for a, b in own]
    known = {title: [g for g in values if g is not None] for title, values in gaps.items()}
    drawn = {title: values for title, values in known.items() if values}
    ax = axes_of(ax)
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
    summary = summary_of(study)
    record, unit = _router(summary, method, "domain_weights")
    table = record["domain_weights"]
    experts = max(map(len, table))
    values = np.array([row if row else [np.nan] * experts for row in table])
    ax = image_of(
        axes_of(ax),
        values,
        range(1, experts + 1),
        summary["dataset"]["domains"],
        "mean weight",
        (0, None),
    )
    ax.set(xlabel="expert", ylabel="domain", title=unit_name(unit))
    return ax


def queries(study: Study, method: str | None = None, ax: Any = None) -> Any:
    """Queries of the test trials on their first two principal axes, of the first fold of the first
    seed.

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
    summary = summary_of(study)
    record, unit = _router(summary, method, "queries")
    points, of = np.array(record["queries"]), np.array(unit["outcome"]["domains"])
    ax = axes_of(ax)
    for domain in np.unique(of):
        at = of == domain
        ax.scatter(*points[at].T, s=10, label=summary["dataset"]["domains"][domain])
    if len(np.unique(of)) <= NAMED_DOMAINS:
        ax.legend()
    ax.set(
        xlabel="first principal axis",
        ylabel="second principal axis",
        title=unit_name(unit),
        aspect="equal",
    )
    return ax


def angles(study: Study, method: str | None = None, ax: Any = None) -> Any:
    """Mean principal angle between every two experts, in degrees, of the first fold of the first
    seed.

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
    record, unit = _router(summary_of(study), method, "angles")
    values = np.array(record["angles"])
    names = range(1, len(values) + 1)
    ax = image_of(axes_of(ax), values, names, names, "mean principal angle, degrees", (0, None))
    ax.set(xlabel="expert", ylabel="expert", title=unit_name(unit))
    return ax


def _value(measure):
    """A measure's value; None where it does not exist."""
    return measure.get("value")


def _router(summary, method, part):
    unit = first_unit(
        [u for u in summary["units"] if (u["outcome"]["routing"] or {}).get(part)],
        method,
        "has experts",
    )
    return unit["outcome"]["routing"], unit


def _routed(study, method):
    units = [unit for unit in summary_of(study)["units"] if unit["outcome"]["routing"]]
    name = named(method, list(dict.fromkeys(unit["method"] for unit in units)), "routes")
    return [unit for unit in units if unit["method"] == name], name
