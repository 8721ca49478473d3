"""A method is one thing with one name: fitted here on a fold of a study, it decides as the study's record says, to the bit."""

import json
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import stiefel
from stiefel import _core
from stiefel._study import in_memory
from stiefel._trials import in_order

pytest.importorskip("pandas")
SOURCE = "synthetic:bnci2015001,subjects=3,sessions=1,trials=12,seed=1"
METHODS = ["dasp", "recommended", "ts+lr", "recentred-ts+lr", "mdm", "baseline"]
SETTINGS = {"epochs": 3, "retrained": False}


@pytest.fixture(scope="module")
def units(tmp_path_factory):
    """The records of a study by method and fold."""
    folder = tmp_path_factory.mktemp("study")
    stiefel.study("main", SOURCE, folder=folder, methods=METHODS, progress=False, **SETTINGS)
    records = [json.loads(file.read_text()) for file in (folder / "units").glob("*.json")]
    return {(record["method"], record["fold"]): record["outcome"] for record in records}


@pytest.mark.parametrize("name", METHODS)
def test_a_fold_gives_the_same_bits_as_in_a_study(name, units, study):
    for number, fold in enumerate(stiefel.folds(study)[:2]):
        record = units[name, number]
        assert fold.test.tolist() == record["test"]
        used = np.sort(np.concatenate([fold.train, fold.validation]))
        clf = stiefel.method(name, **SETTINGS).fit(study[used], validation=np.isin(used, fold.validation))
        p = clf.predict_proba(study[fold.test])
        in_record = np.array(record["probabilities"]).reshape(-1, 2)
        order = [list(dict.fromkeys(study.y.tolist())).index(c) for c in clf.classes_]
        np.testing.assert_array_equal(p, in_record[:, order])
        assert clf.classes_.tolist() == ["feet", "right_hand"]
        for again in (pickle.loads(pickle.dumps(clf)), clone(clf).fit(study[used], validation=np.flatnonzero(np.isin(used, fold.validation)))):
            np.testing.assert_array_equal(again.predict_proba(study[fold.test]), p)


def test_arrays_and_types_of_classes(study):
    labels = np.where(study.y == "feet", 2, 1)
    for name in ("recommended", "mdm"):
        clf = stiefel.method(name).fit(study.X, labels, subjects=study.domains)
        named = stiefel.method(name).fit(study)
        assert clf.classes_.tolist() == [1, 2] and clf.predict(study.X, subjects=study.domains).dtype.kind == "i"
        np.testing.assert_array_equal(clf.predict_proba(study.X, subjects=study.domains)[:, ::-1], named.predict_proba(study))
        with pytest.raises(ValueError, match="fitted on 3 domains: say whose"):
            clf.predict(study.X)
        alone = stiefel.method(name).fit(study.X, labels)
        assert alone.score(study.X, labels) > 0.5
        half = stiefel.method(name).fit(study[::2])
        assert half.score(study[1::2]) == np.mean(half.predict(study[1::2]) == study.y[1::2])
        if name == "recommended":
            with pytest.warns(stiefel.SeenTrialsWarning, match="recommended.score: .* only the new ones are scored"):
                assert half.score(study) == half.score(study[1::2])
    assert len(cross_val_score(stiefel.method("ts+lr"), study.X, labels, cv=3, error_score="raise")) == 3


@pytest.mark.parametrize(
    ("name", "settings", "told"),
    [("guess", {}, "the methods are baseline, naive"), ("mdm", {"epoch": 3}, 'there is no setting "epoch"'), ("mdm", {"unseen": "pooled"}, "unseen")],
)
def test_what_does_not_exist_is_refused(name, settings, told, study):
    with pytest.raises(ValueError, match=told):
        stiefel.method(name, **settings).fit(study)


def test_folds(study):
    folds = stiefel.folds(study)
    for fold in folds:
        assert sorted(np.concatenate(fold).tolist()) == list(range(len(study)))
    tested = np.concatenate([fold.test for fold in folds])
    assert len(set(tested.tolist())) == len(tested)
    assert not np.array_equal(stiefel.folds(study, seed=1)[0].test, folds[0].test)
    assert len(stiefel.folds(study, "block")) >= 2
    with pytest.raises(ValueError, match="fold"):
        stiefel.folds(study, "fold")


@pytest.mark.parametrize("name", ["BNCI2014001", "BNCI2015001", "Weibo2014"])
@pytest.mark.parametrize("subjects", [None, 2])
def test_names_are_those_of_the_program(name, subjects):
    """Matrices, channels, classes, domains and runs of a source are the same whoever loads it."""
    source = f"synthetic:{name.lower()},trials=8,seed=0" + (f",subjects={subjects},sessions=1" if subjects else "")
    data = stiefel.load_synthetic(name, subjects=subjects, trials_per_class=8)
    theirs = _core.load_study_data(_core.study_configuration("main", source, "{}"))
    assert in_memory(data, "mine").fingerprint == theirs.fingerprint
    if subjects:
        assert in_order(data.domains) == ["S01", "S02"]
    elif name == "BNCI2014001":
        assert set(data.sessions) == {"1", "2"} and len(set(data.runs)) > 2 and all(run.startswith(("1/", "2/")) for run in data.runs)
