"""Studies: the paper's tables from one call, on this machine or on a cluster."""

from __future__ import annotations

import json
import os
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np

from . import _core, _dask
from ._base import labelled
from ._domains import factor, names_of
from ._optional import needed
from ._readers import Trials
from ._validation import check_trials, n_threads, one_of

SCORINGS = ("balanced_accuracy", "accuracy", "roc_auc", "kappa")

#: MOABB's columns, in its order, and what identifies a unit of work.
COLUMNS = (
    "score", "time", "samples", "samples_test", "n_classes", "subject", "session", "channels", "n_sessions", "dataset",
    "pipeline", "fold", "seed",
)  # fmt: skip


def study(
    study: Literal["main", "ablation", "loso", "scaling", "session", "online", "null"],
    data: str | PathLike[str] | Trials,
    *,
    name: str = "trials",
    folder: str | PathLike[str] | None = None,
    client: Any | None = None,
    n_jobs: int | None = -1,
    scoring: Literal["balanced_accuracy", "accuracy", "roc_auc", "kappa"] = "balanced_accuracy",
    progress: bool = True,
    **settings: object,
) -> Any:
    """Run a study and give its scores as MOABB does.

    A unit of work is one method on one fold with one seed. Its result is kept in ``folder`` as soon as it is finished: a study that was
    stopped, or whose machine died, goes on from there, and ends in the same table to the bit.

    Parameters
    ----------
    study : {"main", "ablation", "loso", "scaling", "session", "online", "null"}
        Which one: methods and peers across domains; the rows from naive routing to DASP; one subject held out; encoder and alignment
        over channels and domains; first session against later ones; held-out subjects decoded trial by trial; labels that only leakage
        can decode.
    data : str | path-like | Trials
        A dataset by name (``"eegmmidb"``, ``"synthetic:weibo2014"``), a .npz of covariances, or trials in memory. A domain called
        ``S03-2`` is session 2 of subject ``S03``.
    name : str, default="trials"
        What to call trials in memory.
    folder : None | path-like, default=None
        Where results go: records of units, summary.json and report.html. None: ``stiefel-results/STUDY-DATA``.
    client : None | dask.distributed.Client, default=None
        Spreads the units over its cluster. The data is shipped once; units of lost workers are computed again elsewhere.
    n_jobs : int, default=-1
        Threads on this machine, without a client; −1 for all.
    scoring : {"balanced_accuracy", "accuracy", "roc_auc", "kappa"}, default="balanced_accuracy"
        The column ``score``.
    progress : bool, default=True
        Shows a bar, in a terminal or a notebook.
    **settings : object
        ``methods``, ``seeds``, ``split`` ("trial" or "block"), ``preset``, ``channels`` (a montage or names), ``classes``, ``subjects`` (places counted
        from 1, a list or "1-26,30"), ``band``, ``window``, ``epochs``, ``patience``, ``batch``, ``learning_rate``, ``precision``, ``orthogonality``,
        ``whitening``, ``scaling``, ``unseen`` ("pooled", "own-mean" or "causal") and ``retrained``: the options of the program ``stiefel study``.

    Returns
    -------
    results : pandas.DataFrame
        One row per unit, subject and session, with MOABB's columns, ``fold`` and ``seed``. ``results.attrs["table"]`` is the table with tests
        and verdict as text, ``results.attrs["folder"]`` where everything is.

    Raises
    ------
    ValueError
        A study, method or setting that does not exist, or data that cannot be split as asked; a unit that failed, after all
        others have been finished and kept.
    RuntimeError
        A worker with another version of stiefel, or a unit whose workers died again and again.

    Examples
    --------
    >>> import tempfile
    >>> import stiefel
    >>> results = stiefel.study(
    ...     "main", "synthetic:bnci2015001,subjects=2,trials=10", methods=["mdm", "ts+lr"],
    ...     folder=tempfile.mkdtemp(), progress=False,
    ... )
    >>> results.groupby("pipeline").size().to_dict()
    {'mdm': 20, 'ts+lr': 20}
    """
    pandas = needed("pandas", "studies")
    one_of("scoring", scoring, SCORINGS)
    source = os.fspath(data) if not isinstance(data, Trials) else name
    config = _core.study_configuration(str(study), source, json.dumps(_plain(settings)))
    if isinstance(data, Trials):
        shipped = _in_memory(data, name, config)
    else:
        shipped = _core.load_study_data(config)
    plan = _core.StudyPlan(config, shipped)
    folder = Path(plan.default_folder if folder is None else folder)
    with _Progress(f"{study} {Path(source).name}", progress) as bar:
        if client is not None:
            _dask.compute(plan, shipped, config, folder, client, bar)
        table, rows = plan.run(folder, n_threads(n_jobs), bar.begin, bar.unit)
    results = pandas.DataFrame(rows)
    results["score"] = results[scoring]
    results["n_sessions"] = results["session"].nunique()
    results = results[list(COLUMNS)]
    results.attrs.update(table=table, folder=str(folder))
    return results


def _plain(settings):
    """Settings as JSON has them; single names and seeds may stand without a list."""
    given = {key: value for key, value in settings.items() if value is not None}
    for key in ("methods", "seeds", "classes"):
        if isinstance(given.get(key), (str, int, np.integer)):
            given[key] = [given[key]]
    if "subjects" in given and not isinstance(given["subjects"], str):
        given["subjects"] = ",".join(str(int(s)) for s in np.atleast_1d(given["subjects"]))

    def plain(value):
        if isinstance(value, (np.ndarray, np.generic)):
            return value.tolist()
        return list(value) if isinstance(value, (tuple, range, set)) else value

    given = {key: plain(value) for key, value in given.items()}
    try:
        json.dumps(given)
    except TypeError as error:
        raise ValueError(f"a setting is neither text nor a number nor a list of them: {error}") from None
    return given


def _in_memory(data, name, config):
    """Trials as the core takes them, the part of them that the configuration chooses."""
    x = check_trials(data.X, None, "data.X")
    parts = {part: names_of(getattr(data, part), len(x), f"data.{part}", complete=True) for part in ("y", "domains")}
    (class_names, classes), (domain_names, domains) = (factor(parts[p]) for p in ("y", "domains"))
    channels = None if data.channels is None else [str(c) for c in data.channels]
    trials = labelled(x, classes, class_names, domains, domain_names, channels=channels)
    runs = None if data.runs is None else factor(names_of(data.runs, len(x), "data.runs", complete=True))
    return _core.study_data(trials, runs, name, "{}", json.dumps(json.loads(config)["choice"]))


class _Progress:
    """A bar over the units of a study, or nothing."""

    def __init__(self, title, shown):
        self._title, self._bar = title, None
        self._make = needed("tqdm.auto", "bars of progress").tqdm if shown else None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._bar is not None:
            self._bar.close()

    def begin(self, units, kept):
        """How many units there are, and how many are there already."""
        if self._make is not None and self._bar is None:
            self._bar = self._make(total=units, initial=kept, desc=self._title, unit="unit")

    def unit(self, method, fold, seed, score):
        """A unit is finished."""
        if self._bar is not None:
            shown = "" if score is None else f" {score:.3f}"
            self._bar.set_postfix_str(f"{method}, fold {fold}, seed {seed}:{shown}", refresh=False)
            self._bar.update()
