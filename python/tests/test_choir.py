"""CHOIR: several views of a trial, calibration, and covariances in bands and windows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import stiefel
from stiefel import (
    ChoirClassifier,
    DaspClassifier,
    Experts,
    SPDNetClassifier,
    Whitening,
    manifold,
)


@pytest.fixture(scope="module")
def data():
    return stiefel.load_synthetic("BNCI2015001", subjects=3, trials_per_class=16, random_state=0)


@pytest.fixture(scope="module")
def stacked(data):
    """Two views: the covariances, and the same of a rotated montage with more of the first
    channel."""
    other = data.X[:, ::-1, ::-1] * 1.0
    other[:, 0, 0] *= 1.5
    return np.stack([data.X, other], axis=1)


def parts(data):
    new = data.domains == "S03"
    return new, np.flatnonzero(new)


def test_one_view_as_three_or_four_dimensions(data):
    three = ChoirClassifier(random_state=0).fit(data.X, data.y, subjects=data.domains)
    four = ChoirClassifier(random_state=0).fit(data.X[:, np.newaxis], data.y, subjects=data.domains)
    p = three.predict_proba(data.X, subjects=data.domains)
    assert_array_equal(p, four.predict_proba(data.X[:, np.newaxis], subjects=data.domains))
    assert (
        three.n_views_ == 1
        and (p.argmax(axis=1) == np.searchsorted(three.classes_, data.y)).mean() > 0.8
    )


def test_several_views(data, stacked):
    clf = ChoirClassifier(random_state=0).fit(stacked, data.y, subjects=data.domains)
    assert clf.n_views_ == 2 and clf.filters_.shape == (13, 13)
    p = clf.predict_proba(stacked, subjects=data.domains)
    assert_allclose(p.sum(axis=1), 1)
    with pytest.raises(
        ValueError, match="X has 1 view of each trial, but ChoirClassifier was trained on 2"
    ):
        clf.predict(data.X, subjects=data.domains)
    with pytest.raises(ValueError, match="features"):
        clf.predict(stacked[:, :, :5, :5], subjects=data.domains)
    one = clf.session(domain=data.domains[0])
    assert_array_equal(one.predict_proba(stacked[0]), p[0])


@pytest.mark.parametrize("policy", ["own-mean", "causal", "pooled"])
def test_new_people_under_every_policy(data, stacked, policy):
    new, at = parts(data)
    clf = ChoirClassifier(adapt=policy, handle_unknown="new", random_state=0)
    clf.fit(stacked[~new], data.y[~new], subjects=data.domains[~new])
    p = clf.predict_proba(stacked[new], subjects=data.domains[new])
    assert p.shape == (len(at), 2) and np.isfinite(p).all()
    if policy == "own-mean":
        with pytest.raises(ValueError, match="needs unlabelled trials"):
            clf.session()
    session = clf.session(X_unlabeled=stacked[new] if policy == "own-mean" else None)
    one_by_one = np.stack([session.predict_proba(x) for x in stacked[new]])
    assert_array_equal(one_by_one, p)


def test_calibration_makes_a_person_known_and_changes_nobody_else(data, stacked):
    new, at = parts(data)
    clf = ChoirClassifier(random_state=0).fit(
        stacked[~new], data.y[~new], subjects=data.domains[~new]
    )
    before = clf.predict_proba(stacked[~new], subjects=data.domains[~new])
    first, rest = at[:8], at[8:]
    with pytest.raises(ValueError, match="had no training trials"):
        clf.predict(stacked[rest], subjects=data.domains[rest])
    clf.calibrate(stacked[first], data.y[first], domain="S03")
    assert "S03" in clf.domains_
    assert_array_equal(before, clf.predict_proba(stacked[~new], subjects=data.domains[~new]))
    once = clf.predict_proba(stacked[rest], subjects=data.domains[rest])
    again = ChoirClassifier(random_state=0).fit(
        stacked[~new], data.y[~new], subjects=data.domains[~new]
    )
    again.partial_fit(
        stacked[at[:4]], data.y[at[:4]], classes=again.classes_, subjects=data.domains[at[:4]]
    )
    again.partial_fit(stacked[at[4:8]], data.y[at[4:8]], subjects=data.domains[at[4:8]])
    assert_array_equal(once, again.predict_proba(stacked[rest], subjects=data.domains[rest]))
    with pytest.raises(ValueError, match="among those the model was made with"):
        clf.calibrate(stacked[first], data.y[first], domain="S03")


@pytest.mark.parametrize("policy", ["own-mean", "causal", "pooled"])
def test_the_mean_of_a_calibrated_person_goes_on_as_new_domain_says(data, stacked, policy):
    new, at = parts(data)
    first, rest = at[:8], at[8:]
    clf = ChoirClassifier(adapt=policy, random_state=0).fit(
        stacked[~new], data.y[~new], subjects=data.domains[~new]
    )
    clf.calibrate(stacked[first], data.y[first], domain="S03")
    p = clf.predict_proba(stacked[rest], subjects=data.domains[rest])
    session = clf.session(domain="S03", X_unlabeled=stacked[rest] if policy == "own-mean" else None)
    assert_array_equal(np.stack([session.predict_proba(x) for x in stacked[rest]]), p)
    # Alone, a trial has only the labelled ones beside it: the others are in the mean where the
    # policy says so, and nowhere else.
    last = clf.predict_proba(stacked[rest[-1:]], subjects=data.domains[rest[-1:]])[0]
    assert np.array_equal(last, p[-1]) == (policy == "pooled")
    # Those that calibrated the model are in the mean already.
    both = clf.predict_proba(stacked[at], subjects=data.domains[at])
    assert_array_equal(both[8:], p)


def test_a_calibrated_person_keeps_the_mean_of_all_their_trials():
    """With the mean of the labelled trials alone, simulated people were decided at .77 in place of
    .80."""
    data = stiefel.load_synthetic("BNCI2015001", subjects=6, trials_per_class=30, random_state=0)
    alone, together = [], []
    for name in np.unique(data.domains):
        new = data.domains == name
        at = np.flatnonzero(new)
        clf = ChoirClassifier(random_state=0).fit(data[~new]).calibrate(data[at[:16]])
        together.append(clf.score(data[at[16:]]))
        alone.append(clf.set_params(adapt="pooled").score(data[at[16:]]))
    assert np.mean(together) > np.mean(alone) + 0.02


def test_uneven_and_impossible_calibrations_are_said(data, stacked):
    new, at = parts(data)
    clf = ChoirClassifier(random_state=0).fit(
        stacked[~new], data.y[~new], subjects=data.domains[~new]
    )
    one = at[data.y[at] == data.y[at[0]]]
    with pytest.raises(ValueError, match="all of"):
        clf.calibrate(stacked[one[:4]], data.y[one[:4]], domain="S03")
    other = at[data.y[at] != data.y[at[0]]]
    few = np.concatenate([one[:5], other[:1]])
    with pytest.warns(UserWarning, match="uneven"):
        clf.calibrate(stacked[few], data.y[few], domain="S03")
    with pytest.raises(ValueError, match="not among those of training"):
        clf.calibrate(stacked[at[-2:]], ["tongue", "nose"], domain="S03")
    with pytest.raises(ValueError, match="classes says"):
        clf.partial_fit(stacked[at[-2:]], data.y[at[-2:]], classes=["tongue"])


def test_labelled_target_trials_calibrate(data, stacked):
    """MOABB's labelled target mode: the model of the others, then the target's trials."""
    new, at = parts(data)
    few, rest = at[:6], at[6:]
    moabb = ChoirClassifier(random_state=0).fit(
        stacked[~new],
        data.y[~new],
        subjects=data.domains[~new],
        X_target_labeled=stacked[few],
        y_target_labeled=data.y[few],
    )
    own = ChoirClassifier(random_state=0).fit(
        stacked[~new], data.y[~new], subjects=data.domains[~new]
    )
    own.calibrate(stacked[few], data.y[few], domain="target")
    assert_array_equal(
        moabb.predict_proba(stacked[rest]),
        own.predict_proba(stacked[rest], subjects=["target"] * len(rest)),
    )


def test_a_calibrated_model_survives_its_file(data, stacked, tmp_path):
    new, at = parts(data)
    clf = ChoirClassifier(random_state=0, own_variance=1.5).fit(
        stacked[~new], data.y[~new], subjects=data.domains[~new]
    )
    clf.calibrate(stacked[at[:4]], data.y[at[:4]], domain="S03")
    clf.save(tmp_path / "m.stiefel")
    again = stiefel.load(tmp_path / "m.stiefel")
    assert isinstance(again, ChoirClassifier) and again.own_variance == 1.5
    rest = at[4:]
    assert_array_equal(
        clf.predict_proba(stacked[rest], subjects=data.domains[rest]),
        again.predict_proba(stacked[rest], subjects=data.domains[rest]),
    )


def test_own_weights_learn_what_shared_ones_cannot():
    """A channel whose meaning is reversed from person to person."""
    rng = np.random.default_rng(3)
    y, d = np.arange(120) % 2, np.arange(120) // 60
    a = rng.standard_normal((120, 4, 80))
    a[:, 0] *= np.where(y == d, 1.6, 1.0)[:, None]
    x = a @ a.swapaxes(1, 2) / 80
    train = np.arange(120) % 60 < 40

    def score(**options):
        clf = ChoirClassifier(random_state=0, **options)
        clf.fit(x[train], y[train], sample_domain=d[train])
        return clf.score(x[~train], y[~train], sample_domain=d[~train])

    assert score() > 0.9
    assert score(own_variance=0.0) < 0.75


def test_seed_and_threads_change_no_decision(data, stacked):
    def p(**options):
        clf = ChoirClassifier(**options).fit(stacked, data.y, subjects=data.domains)
        return clf.predict_proba(stacked, subjects=data.domains)

    expected = p(random_state=0)
    for options in ({"n_jobs": 2}, {"n_jobs": -1}):
        assert_array_equal(p(random_state=0, **options), expected)
    # The seed draws the trials of the validation score; all trials are fitted.
    assert_array_equal(p(random_state=1).argmax(axis=1), expected.argmax(axis=1))


def test_verbose_names_what_was_fitted(data, stacked, capsys):
    ChoirClassifier(verbose=1, random_state=0).fit(stacked, data.y, subjects=data.domains)
    assert capsys.readouterr().out == "[ChoirClassifier] 2 views, 3 domains\n"


def test_filters_are_orthonormal(data):
    clf = ChoirClassifier(filters=4, random_state=0).fit(data)
    assert clf.filters_.shape == (13, 4)
    assert manifold.orthonormality_defect(clf.filters_) < 1e-12


NETWORKS = [
    SPDNetClassifier(filters=4, epochs=3, random_state=0),
    DaspClassifier(filters=4, n_experts=2, embedding=4, epochs=3, random_state=0),
    DaspClassifier(
        filters=4,
        n_experts=2,
        embedding=4,
        epochs=3,
        experts=Experts(view_routing="view"),
        random_state=0,
    ),
]


@pytest.mark.parametrize("network", NETWORKS)
def test_networks_of_several_views(data, stacked, network, tmp_path):
    clf = clone(network).fit(stacked, data.y, subjects=data.domains)
    assert clf.n_views_ == 2
    p = clf.predict_proba(stacked, subjects=data.domains)
    assert_allclose(p.sum(axis=1), 1)
    one = clf.session(domain=data.domains[0])
    assert_array_equal(one.predict_proba(stacked[0]), p[0])
    clf.save(tmp_path / "model.stiefel")
    again = stiefel.load(tmp_path / "model.stiefel")
    assert again.n_views_ == 2
    assert_array_equal(again.predict_proba(stacked, subjects=data.domains), p)
    with pytest.raises(
        ValueError, match=f"X has 1 view of each trial, but {type(clf).__name__} was trained on 2"
    ):
        clf.predict(data.X, subjects=data.domains)
    with pytest.raises(ValueError, match="X has 3 views of each trial"):
        clf.predict(stacked[:, [0, 1, 1]], subjects=data.domains)


@pytest.mark.parametrize("network", NETWORKS[:2])
def test_a_network_of_one_view_has_its_bits(data, network):
    three = clone(network).fit(data.X, data.y, subjects=data.domains)
    four = clone(network).fit(data.X[:, np.newaxis], data.y, subjects=data.domains)
    assert_array_equal(
        three.predict_proba(data.X, subjects=data.domains),
        four.predict_proba(data.X[:, np.newaxis], subjects=data.domains),
    )


def test_a_new_person_in_a_network_of_several_views(data, stacked):
    new, _ = parts(data)
    clf = DaspClassifier(
        filters=4,
        n_experts=2,
        embedding=4,
        epochs=3,
        handle_unknown="new",
        whitening=Whitening(adapt="own-mean"),
        random_state=0,
    )
    clf.fit(stacked[~new], data.y[~new], subjects=data.domains[~new])
    p = clf.predict_proba(stacked[new], subjects=data.domains[new])
    louder = stacked[new] * np.array([1.0, 9.0])[:, np.newaxis, np.newaxis]
    assert p.shape == (new.sum(), 2)
    # Trials are scaled one by one: an amplifier of one view does not matter.
    assert_allclose(clf.predict_proba(louder, subjects=data.domains[new]), p, atol=0.2)


@pytest.mark.parametrize(
    ("network", "said"),
    [
        (
            SPDNetClassifier(filters=4, batch_norm="after"),
            "batch normalisation takes trials of one view, but these have 2",
        ),
        (
            SPDNetClassifier(filters=4, initial_anchor="discriminative"),
            "a discriminative start takes trials of one view",
        ),
        (
            DaspClassifier(filters=4, experts=Experts(kind="polar")),
            "experts of full rank takes trials of one view",
        ),
    ],
)
def test_what_knows_one_view_is_refused_with_several(data, stacked, network, said):
    with pytest.raises(ValueError, match=said):
        network.fit(stacked, data.y, subjects=data.domains)


def test_one_routing_per_view_needs_several(data):
    network = DaspClassifier(filters=4, n_experts=2, experts=Experts(view_routing="view"))
    with pytest.raises(ValueError, match="the trials have one view"):
        network.fit(data.X, data.y, subjects=data.domains)


@pytest.mark.parametrize("name", ["choir", "mdm", "recentred-mdm", "ts+lr", "ts+lr-per-domain"])
def test_weights_of_classes_have_a_direction(name, data, tmp_path):
    base = (
        ChoirClassifier(random_state=0) if name == "choir" else stiefel.model(name, random_state=0)
    )
    a, b = sorted(set(data.y.tolist()))
    train, test = data[::2], data[1::2]

    def odds(class_weight):
        clf = clone(base).set_params(class_weight=class_weight).fit(train)
        p = clf.predict_proba(test)
        file = tmp_path / f"{a}{len(list(tmp_path.iterdir()))}"
        clf.save(file)
        assert_array_equal(stiefel.load(file).predict_proba(test), p)
        return np.log(p[:, 0]) - np.log(p[:, 1]), p

    (plain, p), (heavy, more), (light, less) = map(odds, (None, {a: 100, b: 1}, {a: 1, b: 100}))
    assert more[:, 0].mean() > p[:, 0].mean() + 0.1 > less[:, 0].mean() + 0.2
    assert_allclose(heavy - plain, np.log(100), atol=1e-6)
    assert_allclose(light - plain, -np.log(100), atol=1e-6)
    # Alike is alike, whatever the number; a class that is not named counts once.
    assert_allclose(odds({a: 7, b: 7})[0], plain, atol=1e-9)
    assert_allclose(odds({b: 0.01})[0], heavy, atol=1e-6)
    with pytest.raises(ValueError, match="class_weight must be numbers above 0"):
        clone(base).set_params(class_weight={a: 0, b: 1}).fit(train)


def test_balanced_classes_are_what_choir_has_already(data):
    few = np.flatnonzero(data.y == data.y[0])[4:]
    uneven = data[np.setdiff1d(np.arange(len(data)), few)]
    plain = ChoirClassifier(random_state=0).fit(uneven)
    balanced = ChoirClassifier(class_weight="balanced", random_state=0).fit(uneven)
    assert_array_equal(balanced.predict_proba(data), plain.predict_proba(data))
