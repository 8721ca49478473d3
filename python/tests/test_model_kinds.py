"""Every kind of model is an estimator by its name, and decides here as in a study, to the bit."""

import ast
import inspect
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

import stiefel
from stiefel import _core, spd
from stiefel._study import in_memory
from stiefel._trials import in_order

NAMES = [name for name, _ in _core.kinds()]
#: Whatever of these a kind has keeps its fit short.
TINY = {"epochs": 2, "experts": 2, "embedding": 2, "filters": 3}


def tiny(name, **given):
    """An estimator of a kind, small where the kind has sizes."""
    parameters = inspect.signature(type(stiefel.model(name))).parameters
    found = {}
    for setting, value in TINY.items():
        paths = [p for p in parameters if p == setting or p.endswith(f"__{setting}")]
        own = [p for p in paths if p not in ("embedding",)]
        found.update(dict.fromkeys(own[:1], value))
    return stiefel.model(name, random_state=0, **{**found, **given})


@pytest.fixture(scope="module")
def stacked(study):
    """Two views: the covariances, and those with more of the first channel."""
    other = study.X * 1.0
    other[:, 0, 0] *= 1.5
    return np.stack([study.X, other], axis=1)


@pytest.mark.parametrize("name", NAMES)
def test_every_kind_is_an_estimator(name, study, stacked, tmp_path):
    clf = tiny(name).fit(stacked, study.y, subjects=study.domains)
    p = clf.predict_proba(stacked, subjects=study.domains)
    assert p.shape == (len(study), 2)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-6)
    again = clone(clf)
    assert again.get_params() == clf.get_params() and not hasattr(again, "classes_")
    clf.save(tmp_path / "model.stiefel")
    loaded = stiefel.load(tmp_path / "model.stiefel")
    assert type(loaded) is type(clf) is type(stiefel.model(name))
    assert repr(loaded) == repr(clf) and loaded.get_params() == clf.get_params()
    others = [
        again.fit(stacked, study.y, subjects=study.domains),
        pickle.loads(pickle.dumps(clf)),
        loaded,
        type(clf).load(tmp_path / "model.stiefel"),
    ]
    for other in others:
        np.testing.assert_array_equal(other.predict_proba(stacked, subjects=study.domains), p)
    one = clf.session(domain=study.domains[0])
    np.testing.assert_array_equal(one.predict_proba(stacked[:1])[0], p[0])
    assert clf.score(stacked, study.y, subjects=study.domains) >= 0


@pytest.mark.skipif(
    "toy" not in NAMES, reason="the package was built without the feature test-kind"
)
def test_a_new_kind_is_found_here_without_a_line_of_python(study, tmp_path):
    """The toy of the core's tests is the nearest mean logarithm of a class."""
    train, test = study[::2], study[1::2]
    clf = stiefel.model("toy", sharpness=0.5, validation_fraction=0.0).fit(train)
    assert "sharpness : a number above 0, default=None" in type(clf).__doc__
    logs = spd.upper(spd.logm(train.X))
    means = np.stack([logs[train.y == c].mean(axis=0) for c in clf.classes_])
    squares = ((spd.upper(spd.logm(test.X))[:, np.newaxis] - means) ** 2).sum(axis=-1)
    expected = np.exp(-0.5 * (squares - squares.min(axis=1, keepdims=True)))
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(clf.predict_proba(test), expected, rtol=1e-9, atol=1e-12)
    clf.save(tmp_path / "model.stiefel")
    assert repr(stiefel.load(tmp_path / "model.stiefel")) == repr(clf)
    with pytest.raises(ValueError, match="^sharpness=0.0: must be a number above 0$"):
        stiefel.model("toy", sharpness=0.0).fit(train)


def test_the_stub_has_the_settings_of_every_kind():
    """It is made by the program from the description that signatures are made from here."""
    stub = ast.parse(Path(stiefel.__file__).with_name("_model.pyi").read_text())
    classes = {
        node.name: {field.target.id for field in node.body if isinstance(field, ast.AnnAssign)}
        for node in stub.body
        if isinstance(node, ast.ClassDef)
    }
    common = classes["_Common"]
    found = {}
    for node in stub.body:
        if isinstance(node, ast.FunctionDef) and node.name == "model":
            names, settings = node.args.args[0].annotation, node.args.kwarg.annotation
            if isinstance(names, ast.Subscript):
                literals = getattr(names.slice, "elts", [names.slice])
                own = common | classes[settings.slice.id]
                found.update({literal.value: own for literal in literals})
    assert set(found) == set(NAMES) - {"toy"}
    for name, own in found.items():
        assert own == set(inspect.signature(type(stiefel.model(name))).parameters), name


@pytest.mark.parametrize("name", NAMES)
def test_names_and_settings_that_do_not_exist_are_refused(name):
    with pytest.raises(ValueError, match="guess") as error:
        stiefel.model("guess")
    assert name in str(error.value)
    with pytest.raises(
        TypeError, match=r"^epoch: .* has no such setting.* its settings are .*adapt, kappa"
    ) as error:
        stiefel.model(name, epoch=3)
    clf = stiefel.model(name)
    with pytest.raises(ValueError, match="epoch: .* has no such setting"):
        clf.set_params(epoch=3)
    for parameter in inspect.signature(type(clf)).parameters:
        assert parameter in str(error.value) and f"\n{parameter} : " in type(clf).__doc__
    assert eval(repr(tiny(name))).get_params() == tiny(name).get_params()
    assert pickle.loads(pickle.dumps(type(clf))) is type(clf)


def test_settings_reach_the_core(small, tmp_path):
    x, y, d = small
    clf = stiefel.model(
        "dasp",
        epochs=3,
        experts=2,
        architecture__embedding=3,
        batch=7,
        head={"kind": "routed", "ridge": 0.5},
        random_state=4,
    )
    clf.fit(x, y, subjects=d)
    settings = json.loads(clf._model.spec)["settings"]
    assert clf.n_iter_ == len(clf.history_) == 3 and clf.filters_.shape[0] == 2
    assert settings["architecture"]["head"] == {"kind": "routed", "ridge": 0.5}
    assert (
        settings["architecture"]["embedding"],
        settings["training"]["batch"],
        settings["training"]["seed"],
    ) == (3, 7, 4)
    search = GridSearchCV(
        stiefel.model("spdnet", epochs=1, random_state=0),
        {"filters": [2, 3], "epsilon": [1e-4]},
        cv=2,
    )
    assert search.fit(x, y).best_params_["filters"] in (2, 3)
    with pytest.raises(ValueError, match="filters"):
        stiefel.model("choir", filters="many").fit(x, y, subjects=d)
    with pytest.raises(ValueError, match="adapt must be"):
        stiefel.model("mdm", adapt="guess").fit(x, y)
    file = tmp_path / "model.stiefel"
    clf._model.save(file, False)
    assert isinstance(stiefel.load(file), stiefel.DaspClassifier)
    opened = type(clf).load(file)
    assert {**clf.get_params(), "epochs": 3} == {
        **opened.get_params(),
        "epochs": 3,
        **{k: clf.get_params()[k] for k in ("kappa",)},
    }


def test_a_file_of_the_program_opens_as_its_kind(small, tmp_path):
    """A model that no estimator has described."""
    x, y, d = small
    clf = stiefel.model(
        "recentred-ts+lr", tikhonov={"relative": 1e-6}, adapt="causal", kappa=5.0, random_state=0
    ).fit(x, y, subjects=d)
    clf._model.save(tmp_path / "model.stiefel", False)
    opened = stiefel.load(tmp_path / "model.stiefel")
    assert type(opened) is type(clf) and opened.relative == 1e-6
    np.testing.assert_array_equal(
        opened.predict_proba(x, subjects=d), clf.predict_proba(x, subjects=list(map(str, d)))
    )
    with pytest.raises(ValueError, match="not a mdm"):
        type(stiefel.model("mdm")).load(tmp_path / "model.stiefel")


@pytest.mark.parametrize("name", ["choir", "ts+lr", "fb-ts+lr", "mdm", "dasp"])
def test_calibration(name, study):
    new = study.domains == "S03"
    few, rest = study[np.flatnonzero(new)[:8]], study[np.flatnonzero(new)[8:]]
    clf = tiny(name, adapt="pooled").fit(study[~new])
    if name in ("mdm", "dasp"):
        assert not hasattr(clf, "calibrate") and not hasattr(clf, "partial_fit")
    else:
        before = clf.predict_proba(study[~new])
        assert clf.calibrate(few).domains_.tolist() == ["S01", "S02", "S03"]
        np.testing.assert_array_equal(clf.predict_proba(study[~new]), before)
        assert clf.predict_proba(rest).shape == (len(rest), 2)
    # What cannot be calibrated is fitted with the labelled trials of the target.
    target = tiny(name, adapt="pooled").fit(study[~new], X_target_labeled=few)
    assert "target" in target.domains_ and ("target" in target._model.calibrated) == (
        name not in ("mdm", "dasp")
    )


@pytest.mark.parametrize(
    "embedding", ["zero", "initial", "nearest", "riemannian-nearest", "transductive"]
)
def test_new_domains_of_a_routed_network(embedding, study):
    new = study.domains == "S03"
    clf = tiny("dasp", embedding=embedding, handle_unknown="new")
    p = clf.fit(study[~new]).predict_proba(study[new])
    assert p.shape == (new.sum(), 2) and np.isfinite(p).all()


SOURCE = "synthetic:bnci2015001,subjects=3,sessions=1,trials=12,seed=1"
STUDIED = ["dasp", "choir", "ts+lr", "recentred-ts+lr", "mdm", "baseline"]


@pytest.fixture(scope="module")
def units(tmp_path_factory):
    """The records of a study by method and fold."""
    pytest.importorskip("pandas")
    folder = tmp_path_factory.mktemp("study")
    stiefel.study(
        "main", SOURCE, folder=folder, methods=STUDIED, progress=False, epochs=2, retrained=False
    )
    records = [json.loads(file.read_text()) for file in (folder / "units").glob("*.json")]
    return {(record["method"], record["fold"]): record["outcome"] for record in records}


@pytest.mark.parametrize("name", STUDIED)
def test_a_fold_gives_the_same_bits_as_in_a_study(name, units, study):
    settings = {"epochs": 2} if name in ("dasp", "baseline") else {}
    for number, fold in enumerate(stiefel.folds(study)[:2]):
        record = units[name, number]
        assert fold.test.tolist() == record["test"]
        used = np.sort(np.concatenate([fold.train, fold.validation]))
        clf = stiefel.model(name, random_state=0, **settings).fit(
            study[used], validation=np.isin(used, fold.validation)
        )
        p = clf.predict_proba(study[fold.test])
        in_record = np.array(record["probabilities"]).reshape(-1, 2)
        order = [list(dict.fromkeys(study.y.tolist())).index(c) for c in clf.classes_]
        np.testing.assert_array_equal(p, in_record[:, order])
        assert clf.classes_.tolist() == ["feet", "right_hand"]
        places = np.flatnonzero(np.isin(used, fold.validation))
        for again in (
            pickle.loads(pickle.dumps(clf)),
            clone(clf).fit(study[used], validation=places),
        ):
            np.testing.assert_array_equal(again.predict_proba(study[fold.test]), p)


def test_trials_that_validate_are_checked(study):
    clf = stiefel.model("ts+lr", random_state=0)
    for wrong in ([len(study)], [True, False]):
        with pytest.raises(ValueError, match=f"validation must be a mask of {len(study)} trials"):
            clf.fit(study, validation=wrong)
    with pytest.raises(ValueError, match="validation names all labelled trials"):
        clf.fit(study, validation=range(len(study)))
    weights = np.ones(len(study))
    weights[:4] = 0
    clf.fit(study, sample_weight=weights, validation=range(2, 20))
    judged = clf.judge(study)
    assert (judged["stopping"]["trials"], judged["new"]["trials"]) == (16, 4)
    networks = stiefel.SPDNetClassifier(epochs=1, random_state=0).fit(study, validation=range(12))
    assert networks.judge(study)["stopping"]["trials"] == 12


def test_arrays_and_types_of_classes(study):
    labels = np.where(study.y == "feet", 2, 1)
    for name in ("choir", "mdm"):
        clf = tiny(name).fit(study.X, labels, subjects=study.domains)
        named = tiny(name).fit(study)
        assert (
            clf.classes_.tolist() == [1, 2]
            and clf.predict(study.X, subjects=study.domains).dtype.kind == "i"
        )
        np.testing.assert_array_equal(
            clf.predict_proba(study.X, subjects=study.domains)[:, ::-1], named.predict_proba(study)
        )
        half = tiny(name).fit(study[::2])
        assert half.score(study[1::2]) == np.mean(half.predict(study[1::2]) == study.y[1::2])
        with pytest.warns(
            stiefel.SeenTrialsWarning, match=f"{name}.score: .* only the new ones are scored"
        ):
            assert half.score(study) == half.score(study[1::2])
    assert (
        len(cross_val_score(stiefel.model("ts+lr"), study.X, labels, cv=3, error_score="raise"))
        == 3
    )


def test_a_kind_of_one_view_takes_the_first(study, stacked):
    def decided(name, x):
        clf = tiny(name).fit(x, study.y, subjects=study.domains)
        return clf.predict_proba(x, subjects=study.domains)

    np.testing.assert_array_equal(decided("ts+lr", stacked), decided("ts+lr", study.X))
    assert not np.array_equal(decided("fb-ts+lr", stacked), decided("fb-ts+lr", study.X))


def test_verbose(study, capsys):
    tiny("spdnet", verbose=1).fit(study)
    assert capsys.readouterr().out.startswith(
        "[spdnet] 1 views, 3 domains\n[spdnet] epoch   1/2  loss "
    )


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
    source = f"synthetic:{name.lower()},trials=8,seed=0" + (
        f",subjects={subjects},sessions=1" if subjects else ""
    )
    data = stiefel.load_synthetic(name, subjects=subjects, trials_per_class=8)
    theirs = _core.load_study_data(_core.study_configuration("main", source, "{}"))
    assert in_memory(data, "mine").fingerprint == theirs.fingerprint
    if subjects:
        assert in_order(data.domains) == ["S01", "S02"]
    elif name == "BNCI2014001":
        assert (
            set(data.sessions) == {"1", "2"}
            and len(set(data.runs)) > 2
            and all(run.startswith(("1/", "2/")) for run in data.runs)
        )
