"""Units of a study on a Dask cluster.

The client ships the dataset once to every worker, submits one task per group of units that share
their training, and keeps each result
in its own store as it arrives. A task whose worker died is run again by Dask; where the scheduler
gives up or the last copy of the data
died with a worker, data and task are sent again.
"""

from __future__ import annotations

import threading
from collections import Counter

import numpy as np

from . import _core

#: How often a unit is sent again after Dask has given it up, which it does when three workers in a
#: row died of it.
ATTEMPTS = 3

#: What a user is told where the scheduler went away.
GONE = "the scheduler is gone; finished units are kept, and the same call continues from there."

_plans: dict = {}
_lock = threading.Lock()


def received(trials, *rest):
    """Data that was shipped. Buffers that came over a network may begin at any byte; the core wants
    numbers where numbers lie."""
    return _core.study_data(
        {**trials, "x": np.require(trials["x"], requirements=["C", "A"])}, *rest
    )


def execute(data, config, code, places):
    """On a worker: the records of some units, and the seconds they took."""
    if code != _core.study_code:
        raise RuntimeError(
            f"a worker runs stiefel {_core.study_code}, but the study was planned with {code}; install the same version everywhere"
        )
    return _plan(data, config).execute(places)


def _plan(data, config):
    """The plan, made once per process: planning again for every unit would copy the data each
    time."""
    key = (data.fingerprint, config)
    with _lock:
        if key not in _plans:
            _plans.clear()
            _plans[key] = _core.StudyPlan(config, data)
        return _plans[key]


def compute(plan, data, config, folder, client, progress):
    """Compute what is missing on the cluster of a client; what arrives is kept at once.

    Parameters
    ----------
    plan : _core.StudyPlan
        The study.
    data : _core.StudyData
        What it runs on, shipped once.
    config : str
        The configuration that made the plan.
    folder : Path
        The store.
    client : distributed.Client
        The user's own.
    progress : object
        Told of every unit.
    """
    from distributed.client import ClosedClientError
    from distributed.comm import CommClosedError

    if client.asynchronous:
        raise ValueError(
            "an asynchronous client cannot be waited for; pass Client(…) without asynchronous=True."
        )
    groups = plan.missing(folder)
    progress.begin(len(plan.units), len(plan.units) - sum(map(len, groups)))
    if not groups:
        return
    # Whether a task is given up or a connection breaks when the scheduler goes depends on what the
    # client waits for at that moment.
    try:
        failures = _collect(plan, groups, _Cluster(client, data, config), folder, progress)
    except (CommClosedError, ClosedClientError) as error:
        raise RuntimeError(GONE) from error
    if failures:
        places, first = failures[0]
        raise ValueError(f"{_told(plan, places)}: {first}") from first


def _collect(plan, groups, cluster, folder, progress):
    """Submit all groups and keep what arrives; the groups whose units cannot be computed, with
    their errors."""
    from distributed import CancelledError, KilledWorker, as_completed

    pending = {cluster.submit(places): places for places in groups}
    queue = as_completed(pending)
    lost, failures = Counter(), []
    try:
        for future in queue:
            places = pending.pop(future)
            try:
                records = future.result()
            except (CancelledError, KilledWorker) as error:
                lost[places[0]] += 1
                if lost[places[0]] > ATTEMPTS:
                    raise RuntimeError(
                        f"{_told(plan, places)}: its workers died again and again ({error}); do they have enough memory? Finished "
                        "units are kept, and the same call continues from there."
                    ) from error
                again = cluster.submit(places)
                pending[again] = places
                queue.add(again)
                continue
            except ValueError as error:
                failures.append((places, error))
                continue
            for place, (record, seconds) in zip(places, records):
                _, method, fold, seed = plan.units[place]
                progress.unit(method, fold, seed, plan.keep(folder, record, seconds))
            future.release()
    finally:
        cluster.cancel(pending)
    return failures


def _told(plan, places):
    _, method, fold, seed = plan.units[places[0]]
    return f"{method}, fold {fold}, seed {seed}"


class _Cluster:
    """Workers that have the data."""

    def __init__(self, client, data, config):
        self._client, self._data, self._config = client, data, config
        self._shipped = None

    def submit(self, places):
        """A task, after the data where no worker has it."""
        if self._client.status != "running":
            raise RuntimeError(GONE)
        if self._shipped is None or self._shipped.status != "finished":
            self._client.wait_for_workers(1)
            self._shipped = self._client.scatter(self._data, broadcast=True)
        return self._client.submit(
            execute, self._shipped, self._config, _core.study_code, places, pure=False
        )

    def cancel(self, pending):
        """Tasks that nobody waits for any more; a scheduler that is gone has dropped them
        already."""
        if self._client.status == "running":
            self._client.cancel(list(pending))
