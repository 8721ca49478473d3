"""What a plot takes from a study: its summary, one of its methods, one of its comparisons, one of
its folds."""

from __future__ import annotations

import json
import os
from os import PathLike
from pathlib import Path
from typing import Any

#: A study: its scores, its folder, or the contents of its summary.json.
Study = Any


def summary_of(study):
    """The contents of a study's summary.json."""
    if isinstance(study, dict):
        return study
    folder = getattr(study, "attrs", {}).get("folder", study)
    if not isinstance(folder, (str, PathLike)):
        raise TypeError(
            f"a study is what stiefel.study returns, a folder of results, or the contents of its summary.json, got {type(study).__name__}."
        )
    path = Path(os.fspath(folder))
    path = path / "summary.json" if path.is_dir() else path
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(
            f"{path} is not there; give the folder of a study that has been run to its end."
        ) from None
    except (OSError, ValueError) as error:
        raise ValueError(
            f"{path}: {error}; give the folder of a study that has been run to its end."
        ) from error


def named(method, known, what):
    """The method, or the first known one; an error where there is none."""
    if not known:
        raise ValueError(f"no method of this study {what}.")
    if method is None:
        return known[0]
    if method not in known:
        raise ValueError(
            f"{method!r} is not a method of this study that {what}; these are: {', '.join(known)}."
        )
    return method


def row_of(summary, method):
    known = [row["method"] for row in summary["rows"]]
    headline = summary.get("headline")
    name = named(
        headline["method"] if method is None and headline else method,
        known,
        "has a row in its table",
    )
    return summary["rows"][known.index(name)]


def comparison(summary, method, against):
    """The comparison of two methods, and −1 where it was made the other way round."""
    made = summary["comparisons"]
    if (method is None) != (against is None):
        raise ValueError("give both method and against, or neither.")
    if method is None:
        headline = summary.get("headline")
        if headline is None:
            raise ValueError(
                "the study has no comparison in its first sentence: say which with method and against."
            )
        method, against = headline["method"], headline["against"]
    for found in made:
        if {found["method"], found["against"]} == {method, against}:
            return found, 1 if found["method"] == method else -1
    pairs = "; ".join(f"{c['method']} and {c['against']}" for c in made) or "none"
    raise ValueError(f"{method} and {against} were not compared. These were compared: {pairs}.")


def own_name(row):
    """The method without its part of the data."""
    return row["method"].removeprefix(f"{row['cell']}: ") if row.get("cell") else row["method"]


def first_unit(units, method, what):
    """The first fold of the first seed of a method among units that have something."""
    name = named(method, list(dict.fromkeys(unit["method"] for unit in units)), what)
    return min((unit for unit in units if unit["method"] == name), key=lambda unit: unit["fold"])


def unit_name(unit):
    return f"{unit['method']}, fold {unit['fold']}, seed {unit['seed']}"
