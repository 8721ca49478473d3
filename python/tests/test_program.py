"""Model files travel between Python and the program `stiefel`, and both decide the same."""

import csv
import json
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import numpy as np
import pytest

import stiefel

PROGRAM = Path(__file__).parents[2] / "target" / "debug" / "stiefel"
LIBRARY = PROGRAM.parent / "examples" / "fold"
pytestmark = pytest.mark.skipif(
    not PROGRAM.exists(), reason="the program is not built: cargo build -p stiefel-cli"
)


def run(*arguments):
    done = subprocess.run(
        [PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def dataset(study, tmp_path_factory):
    """The study as a file, with the classes in the order in which both sides number them."""
    file = tmp_path_factory.mktemp("program") / "study.npz"
    np.savez(file, X=study.X, y=study.y, subject=study.domains, ch_names=np.array(study.channels))
    return file


def trials(study):
    """What the file says of the trials: not how they were made."""
    return stiefel.Trials(study.X, study.y, study.domains, channels=study.channels)


def program_decides(model, dataset):
    """Probabilities of every trial, by the name of the class."""
    rows = list(csv.DictReader(run("predict", model, dataset).splitlines()))
    names = [name for name in rows[0] if name.startswith("p_")]
    return {name[2:]: np.array([float(row[name]) for row in rows]) for name in names}


def assert_same(model, estimator, dataset, study):
    ours = estimator.predict_proba(study.X, subjects=study.domains)
    theirs = program_decides(model, dataset)
    assert set(theirs) == set(estimator.classes_)
    for column, name in enumerate(estimator.classes_):
        np.testing.assert_allclose(ours[:, column], theirs[name], rtol=0, atol=1e-12)


@pytest.mark.parametrize("made", [stiefel.DaspClassifier, stiefel.SPDNetClassifier])
@pytest.mark.parametrize("precision", ["f32", "f64"])
def test_the_program_opens_networks_of_python(made, precision, study, dataset, tmp_path):
    clf = made(epochs=2, training=stiefel.Training(precision=precision), random_state=0).fit(
        trials(study)
    )
    clf.save(tmp_path / "model.stiefel")
    assert_same(tmp_path / "model.stiefel", clf, dataset, study)
    assert "FC3 FCz FC4" in run("inspect", tmp_path / "model.stiefel")


def test_the_program_opens_choir_of_python(study, dataset, tmp_path):
    clf = stiefel.ChoirClassifier(random_state=0).fit(trials(study))
    clf.save(tmp_path / "model.stiefel")
    assert_same(tmp_path / "model.stiefel", clf, dataset, study)
    assert "FC3 FCz FC4" in run("inspect", tmp_path / "model.stiefel")


@pytest.mark.parametrize(
    ("model", "options", "made"),
    [
        ("dasp", ["--set", "epochs=2"], stiefel.DaspClassifier),
        ("spdnet", ["--set", "epochs=2"], stiefel.SPDNetClassifier),
        ("choir", [], stiefel.ChoirClassifier),
    ],
)
def test_python_opens_what_the_program_saved(model, options, made, study, dataset, tmp_path):
    run("train", dataset, "--output", tmp_path / "model.stiefel", "--model", model, *options)
    for opened in (made.load(tmp_path / "model.stiefel"), stiefel.load(tmp_path / "model.stiefel")):
        assert type(opened) is made and opened.channels_ == study.channels
        assert_same(tmp_path / "model.stiefel", opened, dataset, study)
    if model == "choir":
        with pytest.raises(ValueError, match="holds a ChoirClassifier, not a DaspClassifier"):
            stiefel.DaspClassifier.load(tmp_path / "model.stiefel")


@pytest.mark.parametrize("name", ["choir", "dasp"])
def test_a_fold_gives_the_same_bits_by_every_door(name, tmp_path):
    """A study, `train`, the Rust library and Python."""
    source, settings = (
        "synthetic:bnci2015001,subjects=3,sessions=1,trials=20",
        {"epochs": 2} if name == "dasp" else {},
    )
    options = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    run(
        "study",
        "main",
        source,
        "--methods",
        name,
        "--seeds",
        3,
        "--output",
        tmp_path / "study",
        *options,
    )
    records = [
        json.loads(file.read_text()) for file in (tmp_path / "study" / "units").glob("*.json")
    ]
    record = next(record for record in records if record["fold"] == 1)["outcome"]

    run(
        "train",
        source,
        "-o",
        tmp_path / "m.stiefel",
        "--model",
        name,
        "--fold",
        1,
        "--seed",
        3,
        *options,
    )
    lines = [
        json.loads(line)
        for line in run("predict", tmp_path / "m.stiefel", source, "--json").splitlines()
    ]
    data = stiefel.load_synthetic("bnci2015001", subjects=3, trials_per_class=20)
    order = list(dict.fromkeys(data.y.tolist()))
    trained = [lines[i]["probabilities"][c] for i in record["test"] for c in order]
    assert trained == record["probabilities"]

    if not LIBRARY.exists():
        pytest.skip("the example is not built: cargo build -p stiefel --examples")
    library = subprocess.run(
        [LIBRARY, source, name, "3", "1", *map(str, settings.values())],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert library.returncode == 0, library.stderr
    assert json.loads(library.stdout) == record["probabilities"]

    fold = stiefel.folds(data, seed=3)[1]
    used = np.sort(np.concatenate([fold.train, fold.validation]))
    clf = stiefel.model(name, random_state=3, **settings).fit(
        data[used], validation=np.isin(used, fold.validation)
    )
    p = clf.predict_proba(data[fold.test])[:, [clf.classes_.tolist().index(c) for c in order]]
    assert p.ravel().tolist() == record["probabilities"]


def packaged(*arguments, **options):
    """The program that the package brings along, as its console script."""
    script = Path(sysconfig.get_path("scripts")) / "stiefel"
    return subprocess.run(
        [script, *map(str, arguments)], capture_output=True, text=True, timeout=300, **options
    )


def test_the_package_brings_the_program(dataset):
    assert packaged("-V").stdout == f"stiefel {stiefel.__version__}\n"
    done = packaged("inspect", dataset)
    assert (done.returncode, done.stdout) == (0, run("inspect", dataset))
    wrong = packaged("inspect", "nowhere.npz")
    assert wrong.returncode in (1, 2)
    assert "nowhere.npz" in wrong.stderr
    misuse = packaged("train", "--no-such-option")
    assert misuse.returncode == 2
    module = subprocess.run(
        [sys.executable, "-m", "stiefel", "--version"], capture_output=True, text=True, timeout=300
    )
    assert module.stdout == packaged("--version").stdout


def test_ctrl_c_ends_the_packaged_program(dataset, tmp_path):
    script = Path(sysconfig.get_path("scripts")) / "stiefel"
    words = [
        script,
        "train",
        dataset,
        "-o",
        tmp_path / "m.stiefel",
        "--model",
        "dasp",
        "--set",
        "epochs=100000",
        "--set",
        "patience=100000",
    ]
    process = subprocess.Popen(
        list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    time.sleep(4)
    assert process.poll() is None, process.stderr.read()
    process.send_signal(signal.SIGINT)
    process.wait(timeout=60)
