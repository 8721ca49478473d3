"""Studies: the same records and the same table wherever and however often they are run."""

import contextlib
import json
import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest

import stiefel
from stiefel import _core, _dask, _study

pytest.importorskip("pandas")
DATA = "synthetic:bnci2015001,subjects=3,trials=10"
SETTINGS = {"methods": ["baseline", "dasp", "mdm", "ts+lr"], "epochs": 12, "retrained": False}


def records(folder):
    """Every record of a store, byte for byte."""
    return {file.name: file.read_bytes() for file in (folder / "units").iterdir()}


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """A study on this machine alone."""
    folder = tmp_path_factory.mktemp("alone")
    return stiefel.study("main", DATA, folder=folder, progress=False, **SETTINGS), folder


def test_columns_are_those_of_moabb(alone):
    results, folder = alone
    assert tuple(results.columns) == _study.COLUMNS
    assert set(results["pipeline"]) == set(SETTINGS["methods"])
    assert set(results["subject"]) == {"S01", "S02", "S03"} and set(results["session"]) == {
        "1",
        "2",
    }
    assert results["score"].between(0, 1).all() and (results["time"] > 0).all()
    assert (results["n_sessions"] == 2).all() and (results["channels"] == 13).all()
    # Five disjoint test sets of four methods: every test trial is counted once per method.
    summary = json.loads((folder / "summary.json").read_text())
    tested = sum(len(unit["outcome"]["test"]) for unit in summary["units"])
    assert results["samples_test"].sum() == tested
    assert "choir" not in results.attrs["table"] and "mdm" in results.attrs["table"]
    assert (folder / "report.html").exists()


def test_moabb_reads_the_results(alone):
    meta_analysis = pytest.importorskip("moabb.analysis.meta_analysis")
    results, _ = alone
    found = meta_analysis.compute_dataset_statistics(results)
    assert {"pipe1", "pipe2", "p"} <= set(found.columns) and len(found) == 4 * 4
    assert set(found["nsub"]) == {3}


def test_scores_are_those_of_the_decisions(alone):
    metrics = pytest.importorskip("sklearn.metrics")
    results, folder = alone
    summary = json.loads((folder / "summary.json").read_text())
    unit = summary["units"][0]
    outcome = unit["outcome"]
    names = summary["dataset"]["domains"]
    rows = results[(results.pipeline == unit["method"]) & (results.fold == unit["fold"])]
    assert len(rows) == len(names)
    for row in rows.itertuples():
        own = [
            i
            for i, d in enumerate(outcome["domains"])
            if names[d] == f"{row.subject}-{row.session}"
        ]
        truth, decided = (np.array(outcome[key])[own] for key in ("truth", "decided"))
        assert row.samples_test == len(own)
        assert row.score == pytest.approx(
            metrics.balanced_accuracy_score(truth, decided), abs=1e-15
        )


def test_other_scores(alone, tmp_path):
    results, folder = alone
    before = records(folder)
    for scoring in ("accuracy", "roc_auc", "kappa"):
        again = stiefel.study(
            "main", DATA, folder=folder, progress=False, scoring=scoring, **SETTINGS
        )
        assert again.attrs["table"] == results.attrs["table"]
        assert again["time"].equals(results["time"]), "nothing is computed again"
        assert not again["score"].equals(results["score"])
    assert records(folder) == before


def test_a_study_goes_on_where_it_was(alone, tmp_path):
    results, folder = alone
    stiefel.study("main", DATA, folder=tmp_path, progress=False, **{**SETTINGS, "methods": ["mdm"]})
    kept = {name: (tmp_path / "units" / name).stat().st_mtime_ns for name in records(tmp_path)}
    assert len(kept) == 5
    broken = next(iter(kept))
    (tmp_path / "units" / broken).write_text("{")
    again = stiefel.study(
        "main", DATA, folder=tmp_path, overwrite=True, progress=False, n_jobs=1, **SETTINGS
    )
    assert records(tmp_path) == records(folder) and again.attrs["table"] == results.attrs["table"]
    touched = [
        name for name, at in kept.items() if (tmp_path / "units" / name).stat().st_mtime_ns != at
    ]
    assert touched == [broken]
    assert again.drop(columns="time").equals(results.drop(columns="time"))


def test_trials_in_memory(tmp_path):
    data = stiefel.load_synthetic("BNCI2015001", subjects=2, trials_per_class=10)
    found = stiefel.study(
        "main", data, name="mine", folder=tmp_path, methods="mdm", seeds=1, progress=False
    )
    assert set(found["dataset"]) == {"mine"} and set(found["seed"]) == {1}
    some = stiefel.study(
        "main",
        data,
        folder=tmp_path / "some",
        methods="mdm",
        channels=["C3", "Cz", "C4"],
        subjects=[1],
        progress=False,
    )
    assert set(some["channels"]) == {3} and set(some["subject"]) == {"S01"}


def test_data_travels_whole():
    data = _core.load_study_data(_core.study_configuration("main", DATA, "{}"))
    assert pickle.loads(pickle.dumps(data)).fingerprint == data.fingerprint


@pytest.mark.parametrize(
    ("arguments", "settings", "told"),
    [
        (("table", DATA), {}, 'there is no study "table"'),
        (
            ("main", DATA),
            {"epoch": 3},
            "^epoch: the study main has no such setting; did you mean epochs",
        ),
        (("main", DATA), {"methods": ["guess"]}, "guess"),
        (
            ("main", DATA),
            {"epochs": "many"},
            "^epochs='many': must be a whole number of at least 1$",
        ),
        (("main", DATA), {"epochs": object()}, "neither text nor a number"),
        (
            ("main", DATA),
            {"seeds": []},
            "^seeds=.*must be a list of at least 1, each a whole number$",
        ),
        (("main", DATA), {"scoring": "luck"}, "scoring must be one of"),
        (("main", "nowhere.npz"), {}, "neither a file nor the name of a dataset"),
        (("session", "synthetic:weibo2014,subjects=2,trials=8"), {}, "session"),
    ],
)
def test_wrong_arguments(arguments, settings, told, tmp_path):
    with pytest.raises(ValueError, match=told):
        stiefel.study(*arguments, folder=tmp_path, progress=False, **settings)


def test_wrong_trials(tmp_path, study):
    bad = stiefel.Trials(study.X.copy(), study.y, study.domains)
    bad.X[7, 2, 2] = np.nan
    with pytest.raises(ValueError, match="7"):
        stiefel.study("main", bad, folder=tmp_path, progress=False)
    short = stiefel.Trials(study.X, study.y[:-1], study.domains)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        stiefel.study("main", short, folder=tmp_path, progress=False)


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        stiefel.study("main", DATA, folder=tmp_path / "file", methods="mdm", progress=False)


def test_progress(capsys, tmp_path):
    pytest.importorskip("tqdm")
    stiefel.study("main", DATA, folder=tmp_path, methods="mdm")
    assert "5/5" in capsys.readouterr().err


def test_ctrl_c_ends_it_and_keeps_what_is_finished(tmp_path, interrupts):
    def interrupt():
        while len(list((tmp_path / "units").glob("*.json"))) < 2:
            time.sleep(0.01)
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    (tmp_path / "units").mkdir()
    pressed = []
    watcher = threading.Thread(target=interrupt, daemon=True)
    watcher.start()
    with pytest.raises(KeyboardInterrupt):
        stiefel.study("ablation", DATA, folder=tmp_path, progress=False, epochs=100, patience=100)
    assert time.monotonic() - pressed[0] < 5, "the whole study would take much longer"
    watcher.join()
    assert len(records(tmp_path)) >= 2


# On clusters
# ------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def cluster_of():
    """Makes local clusters of worker processes, and ends them."""
    distributed = pytest.importorskip("distributed")
    made = []

    def make(workers, processes=True):
        cluster = distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=processes, dashboard_address=None
        )
        client = distributed.Client(cluster)
        made.extend([client, cluster])
        return client

    yield make
    for thing in made:
        # Where a test took the scheduler away there is nobody to say goodbye to.
        with contextlib.suppress(TimeoutError):
            thing.close(timeout=2)


def kill_one(client, folder, after):
    """Ends one worker process with SIGKILL once some records are there; how many were there."""
    killed = []

    def watch():
        while len(list((folder / "units").glob("*.json"))) < after:
            time.sleep(0.005)
        os.kill(pid, signal.SIGKILL)
        killed.append(len(list((folder / "units").glob("*.json"))))

    (folder / "units").mkdir()
    pid = next(iter(client.run(os.getpid).values()))
    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread, killed


@pytest.mark.parametrize("workers", [2, 1])
def test_a_killed_worker_loses_nothing(workers, cluster_of, alone, tmp_path):
    """With two workers the other one has the data; with one, data and units are sent again to its
    successor."""
    results, folder = alone
    client = cluster_of(workers)
    thread, killed = kill_one(client, tmp_path, after=3)
    found = stiefel.study(
        "main", DATA, folder=tmp_path, overwrite=True, client=client, progress=False, **SETTINGS
    )
    thread.join()
    assert 3 <= killed[0] < 20, "in the middle of the study"
    assert found.attrs["table"] == results.attrs["table"]
    assert records(tmp_path) == records(folder)
    assert found.drop(columns="time").equals(results.drop(columns="time"))


def test_a_cluster_computes_only_what_is_missing(cluster_of, alone, tmp_path):
    _, folder = alone
    stiefel.study(
        "main",
        DATA,
        folder=tmp_path,
        progress=False,
        **{**SETTINGS, "methods": ["baseline", "mdm"]},
    )
    client = cluster_of(1)
    submitted = []
    real = client.submit
    client.submit = lambda *a, **k: (submitted.append(a), real(*a, **k))[1]
    scattered = []
    ship = client.scatter
    client.scatter = lambda *a, **k: (scattered.append(a), ship(*a, **k))[1]
    stiefel.study(
        "main", DATA, folder=tmp_path, overwrite=True, client=client, progress=False, **SETTINGS
    )
    assert len(submitted) == 10 and len(scattered) == 1
    assert records(tmp_path) == records(folder)


def failing(data, config, code, places):
    """The second unit cannot be computed."""
    if 1 in places:
        raise ValueError("no")
    return _core.StudyPlan(config, data).execute(places)


def test_a_unit_that_fails_does_not_stop_the_others(cluster_of, monkeypatch, tmp_path):
    monkeypatch.setattr(_dask, "execute", failing)
    with pytest.raises(ValueError, match="mdm, fold 1, seed 0: no"):
        stiefel.study(
            "main",
            DATA,
            folder=tmp_path,
            client=cluster_of(1, processes=False),
            progress=False,
            methods="mdm",
        )
    assert len(records(tmp_path)) == 4


def test_a_worker_with_another_version_is_refused(cluster_of, monkeypatch, tmp_path):
    client = cluster_of(1)
    monkeypatch.setattr(_core, "study_code", "0.0.0+other")
    with pytest.raises(RuntimeError, match="install the same version everywhere"):
        stiefel.study("main", DATA, folder=tmp_path, client=client, progress=False, methods="mdm")


def test_a_scheduler_that_is_gone_is_told(cluster_of, tmp_path):
    client = cluster_of(1)

    def close():
        while len(list((tmp_path / "units").glob("*.json"))) < 2:
            time.sleep(0.01)
        client.cluster.scheduler.loop.add_callback(client.cluster.scheduler.close)

    (tmp_path / "units").mkdir()
    threading.Thread(target=close, daemon=True).start()
    with pytest.raises(RuntimeError, match="the scheduler is gone; finished units are kept"):
        stiefel.study(
            "main",
            DATA,
            folder=tmp_path,
            client=client,
            progress=False,
            **{**SETTINGS, "epochs": 40},
        )
    assert len(records(tmp_path)) >= 2


def test_a_connection_that_breaks_in_the_middle_of_a_result_is_told(
    cluster_of, monkeypatch, tmp_path
):
    distributed = pytest.importorskip("distributed")

    def broken(*_args, **_kwargs):
        raise distributed.comm.CommClosedError("in <TCP (closed)>: Stream is closed")

    client = cluster_of(1, processes=False)
    monkeypatch.setattr(distributed.Future, "result", broken)
    with pytest.raises(RuntimeError, match="the scheduler is gone; finished units are kept"):
        stiefel.study("main", DATA, folder=tmp_path, client=client, progress=False, methods="mdm")


def test_an_asynchronous_client_is_refused(tmp_path):
    distributed = pytest.importorskip("distributed")

    async def use():
        async with distributed.Client(
            processes=False, asynchronous=True, dashboard_address=None
        ) as client:
            with pytest.raises(ValueError, match="asynchronous"):
                stiefel.study(
                    "main", DATA, folder=tmp_path, client=client, progress=False, methods="mdm"
                )

    import asyncio

    asyncio.run(use())
