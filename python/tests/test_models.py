"""A fitted model keeps what decisions depend on: in files, from call to call, with the names of its
channels and the trials it has seen."""

import json
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedKFold, cross_val_score

import stiefel
from stiefel import (
    ChoirClassifier,
    DaspClassifier,
    Experts,
    Losses,
    SeenTrialsWarning,
    SPDNetClassifier,
    Training,
    Whitening,
)

mne = pytest.importorskip("mne")
QUICK = {"epochs": 4, "random_state": 0}
CORE = [
    DaspClassifier(n_experts=2, **QUICK),
    SPDNetClassifier(**QUICK),
    ChoirClassifier(random_state=0),
]
SETTINGS = [
    *CORE,
    DaspClassifier(**QUICK),
    DaspClassifier(
        n_experts=3,
        filters=2,
        embedding=4,
        dsp_rank=3,
        unseen="nearest",
        handle_unknown="new",
        class_weight={0: 1.0, 1: 2.5},
        experts=Experts(top_p=2, kind="polar"),
        losses=Losses(align=0.1, shrink=0.01),
        whitening=Whitening("own-mean", kappa=3.7),
        training=Training(precision="f64", learning_rate=0.013),
        **QUICK,
    ),
    DaspClassifier(
        n_experts=2,
        unseen="transductive",
        whitening=Whitening("own-mean", method="pca", tikhonov=None),
        **QUICK,
    ),
    DaspClassifier(
        n_experts=2,
        unseen="input-only",
        whitening=Whitening("causal", scaling="per-domain"),
        class_weight="balanced",
        **QUICK,
    ),
    SPDNetClassifier(precondition=False, batch_norm="before", handle_unknown="new", **QUICK),
    SPDNetClassifier(
        whitening=Whitening("causal"),
        training=Training(precision="f64"),
        label_format="class",
        **QUICK,
    ),
    SPDNetClassifier(filters=3, whitening=Whitening("own-mean", reference="riemannian"), **QUICK),
    ChoirClassifier(
        filters=3, shared_variance=0.3, own_variance=0.0, adapt="pooled", random_state=3
    ),
    ChoirClassifier(handle_unknown="new", adapt="causal", kappa=np.float64(1.3)),
]


def ids(estimator):
    return type(estimator).__name__


def all_decisions(clf, x, d):
    """Of known domains, of a new one without a name, and of two new ones with theirs."""
    named = (
        clf.predict_proba(x[:9] * 2, subjects=["zoe", "yan", "yan"] * 3)
        if clf.handle_unknown == "new"
        else []
    )
    marks = [-1, -2] * (len(x) // 2)
    return (
        clf.predict_proba(x, sample_domain=d),
        clf.predict_proba(x[:11] * 1.7),
        clf.predict_proba(x, sample_domain=marks),
        named,
    )


@pytest.mark.parametrize("base", SETTINGS, ids=ids)
def test_a_file_keeps_parameters_classes_and_every_decision(base, small, policy, tmp_path):
    x, y, d = small
    clf = clone(base).fit(x, y, sample_domain=d)
    file = tmp_path / "model.stiefel"
    clf.save(file)
    for again in (
        stiefel.load(file),
        type(base).load(file),
        pickle.loads(pickle.dumps(stiefel.load(file))),
    ):
        assert type(again) is type(base)
        for name, value in clf.get_params().items():
            np.testing.assert_array_equal(
                np.array(again.get_params()[name], dtype=object), np.array(value, dtype=object)
            )
        assert again.classes_.tolist() == [0, 1] and again.n_features_in_ == 6
        for ours, theirs in zip(all_decisions(again, x, d), all_decisions(clf, x, d)):
            np.testing.assert_array_equal(ours, theirs)
    assert clone(again).fit(x, y, sample_domain=d).predict_proba(x).shape == (48, 2)
    # A parameter of decisions that was changed after the fit is kept as it is now.
    if isinstance(clf, ChoirClassifier) or clf.precondition:
        kappa = "kappa" if isinstance(clf, ChoirClassifier) else "whitening__kappa"
        clf.set_params(**policy(clf, "own-mean"), **{kappa: 0.9}).save(file, overwrite=True)
        np.testing.assert_array_equal(
            stiefel.load(file).predict_proba(x[:12] * 3), clf.predict_proba(x[:12] * 3)
        )


@pytest.mark.parametrize("base", CORE, ids=ids)
@pytest.mark.parametrize(
    "classes",
    [
        [3, 5],
        [-1.0, 2.0],
        [False, True],
        ["hand", "feet"],
        np.array([1, 2], np.uint8),
        np.array([1, 2], np.float32),
    ],
    ids=str,
)
def test_a_file_keeps_the_type_of_classes(base, classes, small, tmp_path):
    x, y, d = small
    labels = np.array(classes)[y]
    clf = clone(base).fit(x, labels, subjects=d)
    clf.save(tmp_path / "model")
    again = stiefel.load(tmp_path / "model")
    assert again.classes_.dtype.kind in {"u": "i"}.get(labels.dtype.kind, labels.dtype.kind)
    np.testing.assert_array_equal(again.classes_, clf.classes_)
    np.testing.assert_array_equal(
        again.predict(x, subjects=d) == labels, clf.predict(x, subjects=d) == labels
    )


@pytest.mark.parametrize("base", CORE, ids=ids)
def test_a_file_keeps_target_trials(base, small, elsewhere, policy, tmp_path):
    x, y, d = small
    base = clone(base).set_params(**policy(base, "own-mean"))
    for extra, told in [
        ({"X_target_unlabeled": x[:10] * 3}, {}),
        (
            {"X_target_unlabeled": {"carl": x[:10] * 3, 7: x[10:20] / 2}},
            {"subjects": ["carl", 7] * 6},
        ),
        ({"X_target_labeled": elsewhere(x[:12]), "y_target_labeled": y[:12]}, {}),
    ]:
        clf = clone(base).fit(x, y, subjects=d, **extra)
        clf.save(tmp_path / "model", overwrite=True)
        np.testing.assert_array_equal(
            stiefel.load(tmp_path / "model").predict_proba(x[:12], **told),
            clf.predict_proba(x[:12], **told),
        )


def test_files_that_are_not_what_they_should_be(small, tmp_path):
    x, y, d = small
    file = tmp_path / "model"
    dasp, spdnet, choir = (clone(base).fit(x, y, sample_domain=d) for base in CORE)
    dasp.save(file)
    before = file.read_bytes()
    with pytest.raises(FileExistsError, match="model"):
        choir.save(file)
    assert file.read_bytes() == before
    for other in (SPDNetClassifier, ChoirClassifier):
        with pytest.raises(
            ValueError,
            match=f"holds a DaspClassifier, not a {other.__name__}; stiefel.load opens any model",
        ):
            other.load(file)
    choir.save(file, overwrite=True)
    with pytest.raises(ValueError, match="holds a ChoirClassifier, not a DaspClassifier"):
        DaspClassifier.load(file)
    spdnet.save(tmp_path / "spdnet")
    with pytest.raises(ValueError, match="holds a SPDNetClassifier, not a DaspClassifier"):
        DaspClassifier.load(tmp_path / "spdnet")
    (tmp_path / "broken").write_bytes(b"not a model")
    for load in (stiefel.load, DaspClassifier.load):
        with pytest.raises(ValueError, match="not a stiefel model|damaged|bytes"):
            load(tmp_path / "broken")
        with pytest.raises(FileNotFoundError, match="missing"):
            load(tmp_path / "missing")
    with pytest.raises(NotFittedError):
        DaspClassifier().save(tmp_path / "never")


class Mine(SPDNetClassifier):
    """A subclass of a user's."""

    def __init__(self, filters=4):
        whitening = Whitening("own-mean", kappa=2.0)
        super().__init__(filters=filters, whitening=whitening, **QUICK)


def test_a_subclass_is_saved_as_what_it_inherits_from(small, tmp_path):
    x, y, d = small
    clf = Mine(3).fit(x, y, sample_domain=d)
    clf.save(tmp_path / "model")
    plain, own = stiefel.load(tmp_path / "model"), Mine.load(tmp_path / "model")
    assert type(plain) is SPDNetClassifier and plain.whitening == clf.whitening
    assert type(own) is Mine and own.filters == 3
    for again in (plain, own):
        np.testing.assert_array_equal(
            again.predict_proba(x[:12] * 2), clf.predict_proba(x[:12] * 2)
        )


# Sessions


@pytest.mark.parametrize("whitening", ["pooled", "own-mean", "causal"])
@pytest.mark.parametrize("base", CORE, ids=ids)
def test_a_session_remembers_from_call_to_call(base, whitening, small, policy):
    x, y, d = small
    clf = clone(base).set_params(**policy(base, whitening)).fit(x, y, sample_domain=d)
    new = x[:12] * 2
    if whitening == "own-mean":
        with pytest.raises(
            ValueError, match="own-mean whitening.* needs? unlabelled trials of the new domain"
        ):
            clf.session()
        clf.fit(x, y, sample_domain=d, X_target_unlabeled=x[30:40])
    whole = clf.session().predict_proba(new)
    cut = clf.session()
    np.testing.assert_array_equal(
        np.concatenate(
            [cut.predict_proba(new[:5]), cut.predict_proba(new[5:6]), cut.predict_proba(new[6:])]
        ),
        whole,
    )
    single = clf.session(domain=-1)
    one_by_one = [single.predict_proba(trial) for trial in new]
    assert one_by_one[0].shape == (2,)
    np.testing.assert_array_equal(np.stack(one_by_one), whole)
    assert clf.session().predict(new[0]) == clf.classes_[whole[0].argmax()]
    np.testing.assert_array_equal(clf.session().predict(new), clf.classes_[whole.argmax(axis=1)])
    np.testing.assert_array_equal(whole, clf.predict_proba(new))
    if whitening == "causal":
        assert not np.array_equal(clf.session().predict_proba(new[6:]), whole[6:]), (
            "the first trials count"
        )
        assert "causal" in clf.session().note or "so far" in clf.session().note
    # What is known beforehand counts, given here or at fit; sessions do not share their state.
    given = clf.session(X_unlabeled=x[20:30] * 2).predict_proba(new)
    assert np.array_equal(given, whole) == (whitening == "pooled")
    at_fit = clone(clf).fit(x, y, sample_domain=d, X_target_unlabeled=x[20:30] * 2).session()
    np.testing.assert_array_equal(at_fit.predict_proba(new), given)
    np.testing.assert_array_equal(clf.session().predict_proba(new), whole)


@pytest.mark.parametrize("base", CORE, ids=ids)
def test_a_session_of_a_known_domain_needs_no_policy(base, small, policy):
    x, y, d = small
    clf = clone(base).set_params(**policy(base, "pooled"))
    clf.fit(x, y, subjects=np.array(["anna", "bob"])[d])
    session = clf.session("bob")
    np.testing.assert_array_equal(
        session.predict_proba(x[:7]), clf.predict_proba(x[:7], subjects=["bob"] * 7)
    )
    assert (session.domain, session.note, repr(session)) == ("bob", None, "Session(domain='bob')")
    with pytest.raises(ValueError, match="'bob' has training trials: it needs no unlabelled ones"):
        clf.session("bob", x[:5])
    with pytest.raises(ValueError, match="domain 'zoe', which had no training trials"):
        clf.session("zoe")
    assert clf.set_params(handle_unknown="new").session("zoe").domain == "zoe"
    with pytest.raises(ValueError, match="5 features"):
        session.predict(np.eye(5))
    with pytest.raises(NotFittedError):
        clone(base).session()


# Names of channels, and how trials were made


def reordered(trials, at):
    return stiefel.Trials(
        **{
            **vars(trials),
            "X": trials.X[:, at][:, :, at],
            "channels": [trials.channels[i] for i in at],
        }
    )


@pytest.mark.parametrize("base", CORE, ids=ids)
def test_channels_in_another_order_are_put_right(base, study, tmp_path):
    train, test = study[::2], study[1::2]
    clf = clone(base).fit(train)
    assert clf.channels_ == study.channels and clf.domains_.tolist() == ["S01", "S02", "S03"]
    expected = clf.predict_proba(test)
    unnamed = clone(base).fit(train.X, train.y, subjects=train.domains)
    np.testing.assert_array_equal(expected, unnamed.predict_proba(test.X, subjects=test.domains))
    clf.save(tmp_path / "model")
    swapped = reordered(test, np.arange(13)[::-1])
    for model in (clf, stiefel.load(tmp_path / "model"), pickle.loads(pickle.dumps(clf))):
        np.testing.assert_array_equal(model.predict_proba(swapped), expected)
        assert model.score(swapped) == clf.score(test)
        np.testing.assert_array_equal(
            model.session("S02").predict_proba(swapped), model.session("S02").predict_proba(test)
        )
    # An array has no names, and the decisions of reversed channels are others.
    assert not np.allclose(
        clf.predict_proba(swapped.X, subjects=swapped.domains), expected, atol=0.05
    )
    other = stiefel.Trials(**{**vars(test), "channels": [*test.channels[:-1], "Oz"]})
    with pytest.raises(ValueError, match="the model needs channel CP4; the trials have FC3"):
        clf.predict(other)
    with pytest.raises(
        ValueError, match="X_target_unlabeled.*: channel CP4 of training is missing"
    ):
        zoe = {"domains": np.full(len(test), "zoe")}
        clone(base).fit(train, X_target_unlabeled=stiefel.Trials(**{**vars(other), **zoe}))


@pytest.mark.parametrize("base", CORE, ids=ids)
def test_trials_made_another_way_are_refused(base, study, tmp_path):
    clf = clone(base).fit(study)
    assert str(clf.preparation_) == str(study.preparation)
    clf.save(tmp_path / "model")
    said = {**study.preparation, "recipe": {**study.preparation["recipe"], "views": ["4-40@0.5-5"]}}
    wide = stiefel.Trials(
        **{
            **vars(study),
            "preparation": stiefel.Preparation(json.dumps({"known": said}), "4–40 Hz"),
        }
    )
    for model in (clf, stiefel.load(tmp_path / "model")):
        with pytest.raises(ValueError, match="bands and windows|8–32 Hz"):
            model.predict(wide)
        # Of an array nobody knows how it was made.
        assert len(model.predict(wide.X, subjects=wide.domains)) == len(wide)


def test_trials_in_the_place_of_arrays(study):
    for base in (*CORE, stiefel.TangentSpaceLR(whiten_domains=True)):
        clf = clone(base).fit(study[::2])
        plain = clone(base).fit(study.X[::2], study.y[::2], subjects=study.domains[::2])
        np.testing.assert_array_equal(
            clf.predict_proba(study), plain.predict_proba(study.X, subjects=study.domains)
        )
        assert clf.score(study[1::2]) == plain.score(
            study.X[1::2], study.y[1::2], subjects=study.domains[1::2]
        )
        # What is given beside takes the place of the trials' own.
        labels = np.where(study.y == "feet", 1, 0)
        assert clone(base).fit(study, labels, subjects=["one"] * len(study)).classes_.tolist() == [
            0,
            1,
        ]
    whitening = stiefel.DomainWhitening().fit(study)
    np.testing.assert_array_equal(
        whitening.transform(study), whitening.transform(study.X, subjects=study.domains)
    )
    with pytest.raises(
        ValueError, match="X already holds covariances, but covariance='ledoit-wolf'"
    ):
        ChoirClassifier(covariance="ledoit-wolf").fit(study)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    clf = ChoirClassifier(random_state=0)
    assert len(cross_val_score(clf, study, study.y, cv=folds, error_score="raise")) == 3


def test_selections_of_trials(study):
    part = study[study.domains == "S02"]
    assert (
        len(part) == (study.domains == "S02").sum()
        and part.channels is study.channels
        and part.preparation is study.preparation
    )
    np.testing.assert_array_equal(np.asarray(study[[3, 1]]), study.X[[3, 1]])
    assert study[5].y.tolist() == [study.y[5]] and part.names == (
        list(dict.fromkeys(study.y.tolist())),
        ["S01", "S02", "S03"],
    )
    assert pickle.loads(pickle.dumps(part)).preparation == study.preparation


@pytest.mark.parametrize("base", CORE, ids=ids)
def test_epochs_of_mne_bring_their_channels(base):
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((40, 3, 100)), np.array(["left", "right"])[np.arange(40) % 2]
    x[::2, 0] *= 2
    epochs = stiefel.to_epochs(x, ["C3", "Cz", "C4"], 100.0, y)
    clf = clone(base).set_params(covariance="sample").fit(epochs)
    assert clf.channels_ == ["C3", "Cz", "C4"] and clf.classes_.tolist() == ["left", "right"]
    expected = clf.predict_proba(epochs)
    np.testing.assert_allclose(
        clf.predict_proba(epochs.copy().reorder_channels(["C4", "C3", "Cz"])), expected, atol=1e-6
    )
    from_trials = clone(base).fit(stiefel.from_epochs(epochs, covariance="sample"))
    np.testing.assert_array_equal(
        from_trials.predict_proba(stiefel.from_epochs(epochs, covariance="sample")), expected
    )
    with pytest.raises(ValueError, match="the model needs channel Cz"):
        clf.predict(epochs.copy().rename_channels({"Cz": "Fz"}))


@pytest.mark.parametrize("base", CORE, ids=ids)
def test_channels_in_another_order_calibrate_alike(base, study):
    if not hasattr(base, "calibrate"):
        pytest.skip("nothing to calibrate")
    known, new = (
        study[study.domains != study.domains[-1]],
        study[study.domains == study.domains[-1]],
    )
    order = np.random.default_rng(1).permutation(new.X.shape[-1])
    other = stiefel.Trials(
        **{
            **vars(new),
            "X": new.X[..., order[:, None], order],
            "channels": [new.channels[i] for i in order],
        }
    )
    learn, test = np.arange(len(new)) < 8, np.arange(len(new)) >= 8
    for method in ("calibrate", "partial_fit"):
        plain, turned = clone(base).fit(known), clone(base).fit(known)
        getattr(plain, method)(new[learn])
        getattr(turned, method)(other[learn])
        np.testing.assert_allclose(
            turned.predict_proba(other[test]), plain.predict_proba(new[test]), atol=1e-6
        )
        # They are the same trials, and cannot be given again.
        with pytest.raises(ValueError, match="seen|made with|already"):
            turned.calibrate(new[learn])


# Trials that the model has seen


@pytest.mark.parametrize("base", CORE, ids=ids)
def test_a_score_is_of_new_trials(base, small, tmp_path):
    x, y, d = small
    train = np.arange(48) // 2 % 4 > 0
    clf = clone(base).fit(x[train], y[train], sample_domain=d[train])
    clf.save(tmp_path / "model")
    right = clf.predict(x, sample_domain=d) == y
    for model in (clf, stiefel.load(tmp_path / "model")):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert (
                model.score(x[~train], y[~train], sample_domain=d[~train]) == right[~train].mean()
            )
        with pytest.warns(
            SeenTrialsWarning,
            match="of 48 trials, .* 12 of them are new to the model: only the new ones are scored",
        ):
            assert model.score(x, y, sample_domain=d) == right[~train].mean()
        with pytest.warns(
            SeenTrialsWarning, match="none of them is new to the model: this does not say"
        ):
            assert model.score(x[train], y[train], sample_domain=d[train]) == right[train].mean()
        parts = model.judge(x, y, sample_domain=d)
        assert list(parts) == ["new", "stopping", "training"]
        balanced = np.mean([right[~train & (y == c)].mean() for c in set(y[~train])])
        assert 0 <= parts["new"].pop("unfamiliar") <= 12
        assert parts["new"] == {
            "trials": 12,
            "accuracy": right[~train].mean(),
            "balanced_accuracy": balanced,
        }
        stopped = parts["stopping"]["trials"] if parts["stopping"] else 0
        assert (
            stopped == (0 if isinstance(base, ChoirClassifier) else 4)
            and parts["training"]["trials"] == 36 - stopped
        )
        report = stiefel.routing_report(model, x, y, d)
        assert "12 of them are new to the model" in str(report)


def test_seen_trials_are_known_in_another_order_of_channels(study):
    clf = ChoirClassifier(random_state=0).fit(study[::2])
    parts = clf.judge(reordered(study, np.arange(13)[::-1]))
    assert parts["new"]["trials"] == len(study[1::2]) and parts["training"]["trials"] == len(
        study[::2]
    )
