"""Studies: the paper's tables from one call, on this machine or on a cluster."""

from __future__ import annotations

import json
import os
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _core, _dask
from ._base import labelled
from ._domains import names_of
from ._optional import needed
from ._trials import Trials, in_order, told
from ._validation import check_views, n_threads, one_of

SCORINGS = ("balanced_accuracy", "accuracy", "roc_auc", "kappa")

#: MOABB's columns, in its order, and what identifies a unit of work.
COLUMNS = (
    "score", "time", "samples", "samples_test", "n_classes", "subject", "session", "channels", "n_sessions", "dataset",
    "pipeline", "fold", "seed",
)  # fmt: skip


def study(
    study: str,
    data: str | PathLike[str] | Trials,
    *,
    name: str = "trials",
    folder: str | PathLike[str] | None = None,
    overwrite: bool = False,
    client: Any | None = None,
    n_jobs: int | None = -1,
    scoring: Literal["balanced_accuracy", "accuracy", "roc_auc", "kappa"] = "balanced_accuracy",
    progress: bool = True,
    **settings: object,
) -> Any:
    """Run a study and give its scores as MOABB does.

    A unit of work is one method on one fold with one seed. Its result is kept in ``folder`` as soon
    as it is finished: a study that was
    stopped, or whose machine died, goes on from there, and ends in the same table to the bit.

    Parameters
    ----------
    study : str
        Which one: ``"main"``, methods and peers across domains; ``"ablation"``, the rows from naive
        routing to DASP; ``"loso"``, one subject
        held out; ``"scaling"``, encoder and alignment over channels and domains; ``"session"``,
        first session against later ones;
        ``"online"``, held-out subjects decoded trial by trial; ``"null"``, labels that only leakage
        can decode; ``"calibration"``, held-out
        subjects with a few labelled trials.
    data : str | path-like | Trials
        A dataset by name (``"eegmmidb"``, ``"synthetic:weibo2014"``), a .npz of covariances, or
        trials in memory. A domain called
        ``S03-2`` is session 2 of subject ``S03``.
    name : str, default="trials"
        What to call trials in memory.
    folder : None | path-like, default=None
        Where results go: records of units, summary.json and report.html. None: a folder of this
        study and
        these data below ``stiefel-results``.
    overwrite : bool, default=False
        Replaces what another study left in the folder.
    client : None | dask.distributed.Client, default=None
        Spreads the units over its cluster. The data is shipped once; units of lost workers are
        computed again elsewhere.
    n_jobs : int, default=-1
        Threads on this machine, without a client; −1 for all.
    scoring : {"balanced_accuracy", "accuracy", "roc_auc", "kappa"}, default="balanced_accuracy"
        The column ``score``.
    progress : bool, default=True
        Shows a bar, in a terminal or a notebook.
    **settings : object
        The settings of the study, as ``stiefel study --set`` takes them: ``methods``, ``seeds``,
        ``split`` ("trial" or "block"), ``channels`` (a montage or names), ``classes``, ``subjects``
        (places counted from 1, a list or "1-26,30"), ``adapt`` ("pooled", "own-mean" or "causal"),
        ``sizes``, ``epochs``, ``precision`` and the others that the program lists
        (``stiefel help settings main``).

    Returns
    -------
    results : pandas.DataFrame
        One row per unit, subject and session, with MOABB's columns, ``fold`` and ``seed``.
        ``results.attrs["table"]`` is the table with tests
        and verdict as text, and ``results.attrs["folder"]`` is the folder with everything.

    Raises
    ------
    ValueError
        A study, method or setting that does not exist, or data that cannot be split as asked; a
        unit that failed, after all
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
    config = _core.study_configuration(str(study), source, json.dumps(plain(settings)))
    if isinstance(data, Trials):
        shipped = in_memory(data, name, json.dumps(json.loads(config)["choice"]))
    else:
        shipped = _core.load_study_data(config)
    plan = _core.StudyPlan(config, shipped)
    folder = Path(plan.default_folder if folder is None else folder)
    plan.claim(folder, overwrite)
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


def plain(settings):
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
        raise ValueError(
            f"a setting is neither text nor a number nor a list of them: {error}"
        ) from None
    return given


def in_memory(data, name, choice=None):
    """Trials as studies take them, or the part of them that is chosen."""
    trials = numbered(data)

    def factor(part):
        values = getattr(data, part)
        return (
            None
            if values is None
            else _numbers(names_of(values, len(data), f"data.{part}", complete=True))
        )

    return _core.study_data(
        trials,
        [factor(part) for part in ("subjects", "sessions", "runs")],
        json.dumps({"name": name}),
        choice,
    )


def numbered(data):
    """Trials as the core takes them, with classes and domains in the order of the set they come
    from, else of first appearance."""
    x, own = check_views(data.X, None, "data.X"), told(data)
    classes, domains = (
        names_of(getattr(data, part), len(x), f"data.{part}", complete=True)
        for part in ("y", "domains")
    )
    order = [[str(name) for name in names] for names in data.names] if data.names else [None, None]
    (class_names, classes), (domain_names, domains) = (
        _numbers(classes, order[0]),
        _numbers(domains, order[1]),
    )
    return labelled(
        x,
        classes,
        class_names,
        domains,
        domain_names,
        channels=own.channels,
        preparation=own.preparation,
    )


def _numbers(names, order=None):
    """Different names, and the place of each among them."""
    different = in_order(names) if order is None else order
    at = {name: i for i, name in enumerate(different)}
    return different, [at[name] for name in names]


class Fold(NamedTuple):
    """Places of the trials that train, that choose the epoch or the penalty, and that are tested
    on."""

    train: NDArray[np.intp]
    validation: NDArray[np.intp]
    test: NDArray[np.intp]


def folds(trials: Trials, split: Literal["trial", "block"] = "trial", seed: int = 0) -> list[Fold]:
    """The folds of a study: the same trials that its units train on, validate on and test on.

    Parameters
    ----------
    trials : Trials
        All trials of the study.
    split : {"trial", "block"}, default="trial"
        What is held out: single trials, a share of each class of each domain; or whole runs.
    seed : int, default=0
        The seed of the study.

    Returns
    -------
    folds : list of Fold
        Tuples of the places ``train``, ``validation`` and ``test``.

    Examples
    --------
    >>> import stiefel
    >>> data = stiefel.load_synthetic("BNCI2015001", subjects=2, trials_per_class=20)
    >>> folds = stiefel.folds(data)
    >>> len(folds), len(folds[0].test) + len(folds[0].validation) + len(folds[0].train) == len(data)
    (5, True)
    """
    found = _core.folds(in_memory(trials, "trials"), str(split), int(seed))
    return [Fold(*(np.array(part, dtype=np.intp) for part in fold)) for fold in found]


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
