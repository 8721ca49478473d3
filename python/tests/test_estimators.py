"""The estimators: conventions of domains, policies, weights, persistence, interruption."""

import os
import pickle
import signal
import threading
import time

import joblib
import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, LeaveOneGroupOut, cross_val_score
from sklearn.pipeline import make_pipeline

import stiefel
from stiefel import (
    ChoirClassifier,
    DaspClassifier,
    DomainWhitening,
    Losses,
    SPDNetClassifier,
    TangentSpaceLR,
    Training,
    Whitening,
    spd,
)

QUICK = {"epochs": 6, "random_state": 0}
NETWORKS = [DaspClassifier(**QUICK), SPDNetClassifier(**QUICK)]
CORE = [*NETWORKS, ChoirClassifier(random_state=0)]
ALL = [*CORE, TangentSpaceLR(whiten_domains=True)]


def ids(estimator):
    return type(estimator).__name__


@pytest.mark.parametrize("estimator", ALL, ids=ids)
def test_learns_what_is_there(estimator, small):
    x, y, d = small
    clf = clone(estimator).set_params(
        **({"epochs": 30} if "epochs" in estimator.get_params() else {})
    )
    clf.fit(x, y, sample_domain=d)
    assert clf.score(x, y, sample_domain=d) > 0.85
    p = clf.predict_proba(x, sample_domain=d)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-6)
    np.testing.assert_array_equal(clf.predict(x, sample_domain=d), clf.classes_[p.argmax(axis=1)])
    np.testing.assert_array_equal(clf.decision_function(x, sample_domain=d) > 0, p[:, 1] > 0.5)


@pytest.mark.parametrize("estimator", ALL, ids=ids)
def test_three_conventions_are_one(estimator, small):
    x, y, d = small
    names = np.array(["anna", "bob"])[d]
    encoded = np.array([f"{n}/{c}" for n, c in zip(names, y)])
    by_number = clone(estimator).fit(x, y, sample_domain=d).predict_proba(x, sample_domain=d)
    by_name = clone(estimator).fit(x, y, subjects=names)
    by_label = clone(estimator).set_params(label_format="domain/class").fit(x, encoded)
    np.testing.assert_array_equal(by_name.predict_proba(x, subjects=names), by_number)
    np.testing.assert_array_equal(by_label.predict_proba(x, sample_domain=names), by_number)
    assert by_label.classes_.tolist() == ["0", "1"]
    if hasattr(by_label, "domains_"):
        assert by_label.domains_.tolist() == ["anna", "bob"]
        assert by_label.score(x, encoded) == by_name.score(x, y, subjects=names)


LOOKING = ("nearest", "riemannian-nearest", "transductive")


@pytest.mark.parametrize("whitening", ["pooled", "own-mean", "causal"])
def test_all_domain_policies(whitening, small):
    x, y, d = small
    new = x[:7] * 1.3
    outcomes = {}
    for unseen in ("input-only", "zero", *LOOKING):
        clf = DaspClassifier(n_experts=3, unseen=unseen, whitening=Whitening(whitening), **QUICK)
        if unseen in LOOKING and whitening == "causal":
            clf.fit(x, y, sample_domain=d)
            with pytest.raises(
                ValueError, match="a nearest or adapted embedding is found with all trials"
            ):
                clf.predict_proba(new)
        given = {"X_target_unlabeled": x[7:12]} if whitening == "causal" else {}
        p = clf.fit(x, y, sample_domain=d, **given).predict_proba(new)
        np.testing.assert_array_equal(p, clf.predict_proba(new, sample_domain=[-1] * 7))
        np.testing.assert_array_equal(p, clf.predict_proba(new, subjects=[None] * 7))
        outcomes[unseen] = p
    for other in ("nearest", "transductive", "input-only"):
        assert not np.allclose(outcomes["zero"], outcomes[other]), other


def test_whitening_of_new_domains_differs(small):
    x, y, d = small
    clf = DaspClassifier(n_experts=3, **QUICK).fit(x, y, sample_domain=d)
    pooled = clf.predict_proba(x[:7] * 1.3)
    own = clf.set_params(whitening__adapt="own-mean").predict_proba(x[:7] * 1.3)
    assert not np.allclose(pooled, own)


@pytest.mark.parametrize(
    "base", [*CORE, DaspClassifier(unseen="input-only", n_experts=2, **QUICK)], ids=ids
)
def test_causal_whitening_knows_no_later_trial(base, small, policy):
    x, y, d = small
    clf = clone(base).set_params(**policy(base, "causal")).fit(x, y, sample_domain=d)
    whole = clf.predict_proba(x[:9] * 2)
    for count in (1, 4, 8):
        np.testing.assert_array_equal(clf.predict_proba(x[:count] * 2), whole[:count])


def test_transductive_embedding(small):
    x, y, d = small
    new = x[::3] * 1.3
    options = {
        "n_experts": 3,
        "unseen": "transductive",
        "training": Training(precision="f64"),
        **QUICK,
    }
    clf = DaspClassifier(**options).fit(x, y, sample_domain=d)
    p = clf.predict_proba(new)
    np.testing.assert_array_equal(p, clf.predict_proba(new))
    np.testing.assert_array_equal(p, pickle.loads(pickle.dumps(clf)).predict_proba(new))
    np.testing.assert_array_equal(p, clone(clf).fit(x, y, sample_domain=d).predict_proba(new))
    # The trials given at fit are those looked at.
    given = DaspClassifier(**options).fit(x, y, sample_domain=d, X_target_unlabeled=new)
    np.testing.assert_array_equal(p, given.predict_proba(new))
    np.testing.assert_array_equal(p[:2], given.predict_proba(new[:2]))
    assert not np.array_equal(p[:2], clf.predict_proba(new[:2]))

    def entropy(clf):
        alpha = clf.routing_weights(new)
        return -(alpha * np.log(alpha)).sum(axis=1).mean()

    # The embedding starts at zero and makes routing sharper.
    assert entropy(clf) < entropy(clf.set_params(unseen="zero"))
    # Where there is nothing to adapt, the input decides.
    alone = DaspClassifier(unseen="transductive", **QUICK).fit(x, y, X_target_unlabeled=new)
    np.testing.assert_array_equal(
        alone.predict_proba(new),
        DaspClassifier(**QUICK).fit(x, y, X_target_unlabeled=new).predict_proba(new),
    )


@pytest.mark.parametrize("base", CORE, ids=ids)
def test_decisions_by_the_pooled_mean_do_not_depend_on_the_batch(base, small, policy):
    x, y, d = small
    clf = clone(base).set_params(**policy(base, "pooled")).fit(x, y, sample_domain=d)
    whole = clf.predict_proba(x)
    np.testing.assert_array_equal(
        np.concatenate([clf.predict_proba(x[i : i + 1]) for i in range(len(x))]), whole
    )


@pytest.mark.parametrize("base", [DaspClassifier(unseen="nearest", **QUICK), *CORE[1:]], ids=ids)
def test_new_domains_are_grouped_by_their_mark(base, small, policy):
    x, y, d = small
    clf = clone(base).set_params(**policy(base, "own-mean")).fit(x, y, sample_domain=d)
    marks = np.array([-1, -2] * 6)
    together = clf.predict_proba(x[:12], sample_domain=marks)
    np.testing.assert_array_equal(together[::2], clf.predict_proba(x[:12:2]))
    np.testing.assert_array_equal(together[1::2], clf.predict_proba(x[1:12:2]))


@pytest.mark.parametrize("base", [*ALL, DomainWhitening()], ids=ids)
def test_unknown_names_can_be_new_domains(base, small, policy):
    x, y, d = small
    model = clone(base).set_params(handle_unknown="new", **policy(base, "own-mean"))
    model.fit(x, y, subjects=np.array(["anna", "bob"])[d])
    decide = model.transform if hasattr(model, "transform") else model.predict_proba
    names = np.array(["anna", "carl", "dora"] * 8)
    together = decide(x[:24], subjects=names)
    for name in ("carl", "dora"):
        np.testing.assert_array_equal(together[names == name], decide(x[:24][names == name]))
    np.testing.assert_array_equal(
        together[names == "anna"], decide(x[:24][names == "anna"], subjects=["anna"] * 8)
    )
    assert not np.array_equal(
        together[names == "carl"], decide(x[:24], subjects=["carl"] * 24)[names == "carl"]
    ), "each on its own"


def test_each_subject_left_out_in_turn(study):
    with config_context(enable_metadata_routing=True):
        for base in (
            DaspClassifier(**QUICK),
            ChoirClassifier(),
            TangentSpaceLR(whiten_domains=True),
        ):
            clf = clone(base).set_params(handle_unknown="new")
            who = {"subjects": study.domains, "groups": study.domains}
            scores = cross_val_score(
                clf, study.X, study.y, cv=LeaveOneGroupOut(), params=who, error_score="raise"
            )
            assert len(scores) == len(set(study.domains)) and (scores > 0.4).all()


@pytest.mark.parametrize("whitening", ["own-mean", "causal"])
@pytest.mark.parametrize("base", [DaspClassifier(unseen="nearest", **QUICK), *CORE[1:]], ids=ids)
def test_unlabelled_target_at_fit_is_used_for_adaptation(base, whitening, small, policy):
    x, y, d = small
    target, test = x[:10] * 3, x[10:16] * 3
    options = policy(base, whitening)
    given = clone(base).set_params(**options).fit(x, y, sample_domain=d, X_target_unlabeled=target)
    marked = (
        clone(base)
        .set_params(**options)
        .fit(
            np.concatenate([x, target]),
            np.concatenate([y, -np.ones(10, int)]),
            sample_domain=np.concatenate([d, [-1] * 10]),
        )
    )
    np.testing.assert_array_equal(given.classes_, marked.classes_)
    p = given.predict_proba(test)
    np.testing.assert_array_equal(p, marked.predict_proba(test))
    # The batch at predict no longer matters.
    np.testing.assert_array_equal(p[:1], given.predict_proba(test[:1]))
    pooled = given.set_params(**policy(base, "pooled")).predict_proba(test)
    assert not np.array_equal(p, pooled)


@pytest.mark.parametrize("base", CORE, ids=ids)
def test_labelled_target_becomes_a_training_domain(base, small, elsewhere):
    x, y, d = small
    clf = clone(base).fit(
        x, y, sample_domain=d, X_target_labeled=elsewhere(x[:12]), y_target_labeled=y[:12]
    )
    assert clf.domains_.tolist() == ["0", "1", "target"]
    np.testing.assert_array_equal(
        clf.predict_proba(x), clf.predict_proba(x, subjects=["target"] * len(x))
    )


def test_one_domain_turns_routing_off_and_says_so(small):
    x, y, _ = small
    clf = DaspClassifier(**QUICK).fit(x, y)
    assert clf.scaling_["routing"]["value"] is False
    assert "nothing to route between" in str(clf.scaling_)
    assert clf.routing_weights(x) is None
    assert clf.experts_ is None


def test_scaling_explains_what_was_chosen(small):
    x, y, d = small
    auto = DaspClassifier(**QUICK).fit(x, y, sample_domain=d)
    assert auto.scaling_["experts"]["value"] == 1
    own = DaspClassifier(n_experts=3, filters=2, dsp_rank=4, losses=Losses(align=0.1), **QUICK).fit(
        x, y, sample_domain=d
    )
    assert own.experts_.shape == (3, 6, 2)
    assert own.scaling_["experts"] == {"value": 3, "reason": "given by the user"}
    assert "experts = 3, given by the user" in str(own.scaling_)
    assert own.routing_weights(x, sample_domain=d).shape == (len(x), 3)
    assert stiefel.manifold.orthonormality_defect(own.experts_).max() < 5e-6
    paper = stiefel.recommend(60, 9, preset="Weibo2014")
    assert (paper["experts"]["value"], paper["dsp_rank"]["value"]) == (8, 40)


@pytest.mark.parametrize(
    "estimator",
    [*ALL, DaspClassifier(n_experts=2, training=Training(precision="f64"), **QUICK)],
    ids=ids,
)
def test_clone_pickle_joblib(estimator, small, tmp_path):
    x, y, d = small
    clf = clone(estimator).fit(x, y, sample_domain=d)
    expected = clf.predict_proba(x, sample_domain=d)
    joblib.dump(clf, tmp_path / "clf")
    for again in (pickle.loads(pickle.dumps(clf)), joblib.load(tmp_path / "clf")):
        np.testing.assert_array_equal(again.predict_proba(x, sample_domain=d), expected)
        np.testing.assert_array_equal(again.predict_proba(x), clf.predict_proba(x))
        assert again.get_params() == clf.get_params()
    assert clone(clf).get_params() == clf.get_params()
    assert not hasattr(clone(clf), "classes_")


def test_the_seed_decides_and_threads_do_not(small):
    x, y, d = small
    base = DaspClassifier(n_experts=2, **QUICK).fit(x, y, sample_domain=d).predict_proba(x)
    for options in ({"n_jobs": 2}, {"n_jobs": -1}):
        clf = DaspClassifier(n_experts=2, **QUICK, **options).fit(x, y, sample_domain=d)
        np.testing.assert_array_equal(clf.predict_proba(x), base)
    other = DaspClassifier(n_experts=2, epochs=6, random_state=1).fit(x, y, sample_domain=d)
    assert not np.array_equal(other.predict_proba(x), base)


@pytest.mark.parametrize("base", CORE[1:], ids=ids)
def test_weights(base, small):
    x, y, d = small

    def p(x=x, y=y, d=d, weight=None, **options):
        clf = clone(base).set_params(**options).fit(x, y, sample_weight=weight, sample_domain=d)
        return clf.predict_proba(small[0])

    keep = np.ones(len(x))
    keep[::5] = 0
    np.testing.assert_array_equal(p(weight=keep), p(x[keep > 0], y[keep > 0], d[keep > 0]))
    plain = p()
    np.testing.assert_array_equal(plain, p(weight=np.ones(len(x))))
    tilted = p(class_weight={0: 1, 1: 20})
    assert tilted[:, 1].mean() > plain[:, 1].mean()
    # CHOIR makes the classes of each domain count alike, whatever their trials weigh.
    if not isinstance(base, ChoirClassifier):
        np.testing.assert_array_equal(tilted, p(weight=np.where(y == 1, 20.0, 1.0)))
    with pytest.raises(ValueError, match="[Nn]egative"):
        p(weight=-keep)


@pytest.mark.parametrize("base", NETWORKS, ids=ids)
@pytest.mark.parametrize("precision", ["f32", "f64"])
def test_warm_start_goes_on(base, precision, small):
    x, y, d = small

    def loss(clf):
        return sum(value for _, value in clf.history_[0]["losses"])

    clf = (
        clone(base)
        .set_params(epochs=1, warm_start=True, training__precision=precision)
        .fit(x, y, sample_domain=d)
    )
    first = loss(clf)
    assert loss(clf.fit(x, y, sample_domain=d)) < first
    assert loss(pickle.loads(pickle.dumps(clf)).fit(x, y, sample_domain=d)) < first
    assert loss(clone(clf).fit(x, y, sample_domain=d)) == first
    cold = clf.set_params(warm_start=False).fit(x, y, sample_domain=d).predict_proba(x)
    np.testing.assert_array_equal(cold, clone(clf).fit(x, y, sample_domain=d).predict_proba(x))


def test_warm_start_says_what_differs(small):
    x, y, d = small
    clf = DaspClassifier(n_experts=2, warm_start=True, **QUICK).fit(x, y, sample_domain=d)
    expected = clf.predict_proba(x, sample_domain=d)
    for change, options, message in [
        ({}, (x[:, :5, :5], y, d), "the model has 6 channels, but the trials have 5"),
        (
            {},
            (x, y, 1 - d),
            r'the model has the domains \["0", "1"\], but the trials have \["1", "0"\]',
        ),
        (
            {},
            (x, y + 1, d),
            r'the model has the classes \["0", "1"\], but the trials have \["1", "2"\]',
        ),
        ({"n_experts": 3}, (x, y, d), "architecture.experts is 3 now and was 2"),
        (
            {"whitening__scaling": "none"},
            (x, y, d),
            'preconditioning.scaling is "none" now and was "per-trial"',
        ),
        ({"training__precision": "f64"}, (x, y, d), "another precision"),
    ]:
        before = clf.get_params()
        with pytest.raises(ValueError, match=message):
            clf.set_params(**change).fit(*options[:2], sample_domain=options[2])
        # It stays what it was.
        clf.set_params(**before)
        np.testing.assert_array_equal(clf.predict_proba(x, sample_domain=d), expected)


def test_warm_start_of_the_peer(small):
    x, y, _ = small
    clf = TangentSpaceLR(warm_start=True).fit(x, y)
    assert clf.n_iter_ > 1
    assert clf.fit(x, y).n_iter_ < TangentSpaceLR().fit(x, y).n_iter_


def slow():
    """Twelve classes of noise on six views: CHOIR takes seconds for them."""
    count = 6000
    a = np.random.default_rng(0).standard_normal((count, 6, 16, 20))
    return a @ a.swapaxes(2, 3), np.arange(count) % 12, np.arange(count) // 12 % 10


ENDLESS = {"epochs": 10**7, "training": Training(patience=10**7)}


@pytest.mark.parametrize(
    "clf", [DaspClassifier(n_experts=4, random_state=0, **ENDLESS), ChoirClassifier()], ids=ids
)
def test_ctrl_c_ends_training_within_a_second(clf, small, interrupts):
    x, y, d = slow() if isinstance(clf, ChoirClassifier) else small
    waits = []
    # The best of three: another program may hold the core for longer than training holds the
    # signal.
    for _ in range(3):
        sent = []

        def press():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        threading.Timer(0.5, press).start()
        with pytest.raises(KeyboardInterrupt):
            clf.fit(x, y, sample_domain=d)
        waits.append(time.monotonic() - sent[0])
    assert min(waits) < 1.0
    with pytest.raises(NotFittedError):
        clf.predict(x)


def test_other_threads_run_during_training(small):
    x, y, d = small
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.002)

    ticker = threading.Thread(target=tick)
    ticker.start()
    DaspClassifier(n_experts=3, epochs=1500, training=Training(patience=1500), random_state=0).fit(
        x, y, sample_domain=d
    )
    done.set()
    ticker.join()
    assert len(ticks) > 10


def test_verbose_prints_epochs(small, capsys):
    x, y, d = small
    clf = DaspClassifier(verbose=1, **QUICK).fit(x, y, sample_domain=d)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == clf.n_iter_
    assert lines[0].startswith("[DaspClassifier] epoch   1/6  loss ")


def test_meta_estimators(small):
    x, y, _ = small
    assert cross_val_score(SPDNetClassifier(**QUICK), x, y, cv=2).shape == (2,)
    search = GridSearchCV(SPDNetClassifier(**QUICK), {"filters": [1, 3]}, cv=2).fit(x, y)
    assert search.best_params_["filters"] in (1, 3)
    pipeline = make_pipeline(DomainWhitening(), TangentSpaceLR()).fit(x, y)
    assert pipeline.predict(x).shape == y.shape
    assert "DaspClassifier" in DaspClassifier()._repr_html_()


def test_epochs_in_place_of_covariances(small):
    rng = np.random.default_rng(0)
    epochs = rng.standard_normal((30, 4, 50))
    epochs[::2, 0] *= 3
    y = np.arange(30) % 2
    from pyriemann.estimation import Covariances

    theirs = {"sample": "cov", "ledoit-wolf": "lwf", "oas": "oas", "schaefer-strimmer": "sch"}
    for name, their in theirs.items():
        direct = SPDNetClassifier(covariance=name, **QUICK).fit(epochs, y).predict_proba(epochs)
        c = Covariances(their).transform(epochs)
        np.testing.assert_allclose(
            direct, SPDNetClassifier(**QUICK).fit(c, y).predict_proba(c), atol=1e-5
        )


def test_whitening(small):
    x, _, d = small
    w = DomainWhitening(scaling="none").fit(x, sample_domain=d)
    for i in (0, 1):
        mean = spd.mean_euclid(w.transform(x[d == i], sample_domain=d[d == i]))
        np.testing.assert_allclose(mean, np.eye(6), atol=1e-7)
    new = x[:12] * 5
    pooled = w.transform(new)
    alone = np.concatenate([w.transform(new[i : i + 1]) for i in range(12)])
    np.testing.assert_array_equal(pooled, alone)
    own = DomainWhitening(scaling="none", adapt="own-mean", kappa=0.0).fit(x, sample_domain=d)
    np.testing.assert_allclose(spd.mean_euclid(own.transform(new)), np.eye(6), atol=1e-7)
    again = pickle.loads(pickle.dumps(own))
    np.testing.assert_array_equal(again.transform(new), own.transform(new))
    both = DomainWhitening().fit_transform(x, sample_domain=d)
    np.testing.assert_array_equal(
        both, DomainWhitening().fit(x, sample_domain=d).transform(x, sample_domain=d)
    )
    assert "training data only" in DomainWhitening.fit_transform.__doc__
    with pytest.raises(ValueError, match="κ = 0 needs at least 10 trials"):
        own.transform(new[:3])


@pytest.mark.parametrize(
    "options",
    [{}, {"scaling": "per-domain"}, {"method": "pca", "reference": "riemannian"}],
    ids=str,
)
@pytest.mark.parametrize("base", NETWORKS, ids=ids)
def test_whitened_by_the_caller(base, options, small):
    x, y, d = small
    own = {"validation_fraction": 0, "training": Training(precision="f64")}
    inside = (
        clone(base).set_params(whitening=Whitening(**options), **own).fit(x, y, sample_domain=d)
    )
    whitening = DomainWhitening(**options).fit(x, sample_domain=d)
    outside = clone(base).set_params(precondition=False, **own)
    outside.fit(whitening.transform(x, sample_domain=d), y, sample_domain=d)
    expected = inside.predict_proba(x, sample_domain=d)
    np.testing.assert_allclose(
        outside.predict_proba(whitening.transform(x, sample_domain=d), sample_domain=d),
        expected,
        atol=1e-9,
    )
    new = x[:5] * 1.7
    np.testing.assert_allclose(
        outside.predict_proba(whitening.transform(new)), inside.predict_proba(new), atol=1e-9
    )
    assert not np.allclose(outside.predict_proba(x, sample_domain=d), expected, atol=1e-3)
    with pytest.raises(ValueError, match="precondition must be True or False, got 'no'"):
        clone(base).set_params(precondition="no").fit(x, y)


@pytest.mark.parametrize("base", NETWORKS, ids=ids)
def test_a_pipeline_hands_on_whose_trial_it_is(base, small):
    x, y, d = small
    own = {"validation_fraction": 0}
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(
            DomainWhitening(), clone(base).set_params(precondition=False, **own)
        ).fit(x, y, subjects=d)
        inside = clone(base).set_params(**own).fit(x, y, subjects=d)
        for domains in ({"subjects": d}, {}):
            np.testing.assert_allclose(
                pipeline.predict_proba(x, **domains), inside.predict_proba(x, **domains), atol=1e-4
            )


def test_peer_equals_pyriemann(small):
    from pyriemann.tangentspace import TangentSpace
    from sklearn.linear_model import LogisticRegression

    x, y, _ = small
    ours = TangentSpaceLR().fit(x, y).predict_proba(x)
    theirs = (
        make_pipeline(TangentSpace(), LogisticRegression(max_iter=1000)).fit(x, y).predict_proba(x)
    )
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_options_may_be_numpy_numbers(small):
    x, y, d = small
    for base, options in [
        (
            DaspClassifier(**QUICK),
            {
                "filters": 2,
                "n_experts": 3,
                "epochs": 2,
                "losses__decouple_keys": True,
                "whitening__kappa": 1.0,
            },
        ),
        (
            SPDNetClassifier(**QUICK),
            {"filters": 2, "training__batch": 8, "training__learning_rate": 0.02},
        ),
        (
            ChoirClassifier(random_state=0),
            {"filters": 2, "shared_variance": 0.2, "own_variance": 1.0, "kappa": 3.0},
        ),
    ]:
        ours = clone(base).set_params(**options).fit(x, y, sample_domain=d)
        theirs = (
            clone(base)
            .set_params(**{name: np.array(value)[()] for name, value in options.items()})
            .fit(x, y, sample_domain=d)
        )
        np.testing.assert_array_equal(ours.predict_proba(x), theirs.predict_proba(x))


@pytest.mark.parametrize("name", ["sample", "ledoit-wolf", "oas", "schaefer-strimmer"])
def test_covariances_are_not_estimated_again(name, small):
    x, y, d = small
    for estimator in (SPDNetClassifier(covariance=name, **QUICK), DomainWhitening(covariance=name)):
        with pytest.raises(ValueError, match="X already holds covariances .*leave it out"):
            estimator.fit(x, y, sample_domain=d)
    # Signals as long as they are many are signals.
    square = np.random.default_rng(0).standard_normal((30, 6, 6))
    SPDNetClassifier(covariance=name, **QUICK).fit(square, np.arange(30) % 2)


def test_the_sample_covariance_is_divided_by_one_less(small):
    epochs = np.random.default_rng(0).standard_normal((8, 3, 20))
    found = DomainWhitening(covariance="sample")._trials(epochs)
    np.testing.assert_allclose(found, [np.cov(t) for t in epochs])
    assert "number of samples minus one" in DomainWhitening.__doc__
