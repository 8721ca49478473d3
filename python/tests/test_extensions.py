"""Options of the networks beyond the published layer: each is read, trained, kept in files and
decided with."""

import pickle

import numpy as np
import pytest

from stiefel import (
    DaspClassifier,
    DomainWhitening,
    SPDNetClassifier,
    TangentSpaceLR,
    Whitening,
    manifold,
)

QUICK = {"epochs": 4, "random_state": 0, "filters": 4}
ROUTED = {"n_experts": 3, **QUICK}
OPTIONS = [
    {"experts__top_p": 1},
    {"experts__top_p": 2},
    {"experts__kind": "polar"},
    {"experts__kind": "barrier"},
    {"experts__kind": "barrier", "experts__barrier": "paper"},
    {"experts__kind": "barrier", "losses__barrier": 0.5},
    {"losses__csp": 0.5},
    {"losses__csp": 0.5, "losses__csp_filters": 1},
    {"losses__shrink": 0.5},
    {"experts__head": "routed"},
    {"experts__head": "routed", "experts__head_ridge": 1.0},
    {"initial_anchor": "discriminative"},
    {"experts__noise": 0.05},
    {"batch_norm": "after"},
    {"batch_norm": "before"},
    {"training__orthogonality": "cayley"},
]


def fitted(small, base=DaspClassifier, **options):
    x, y, d = small
    options = {**(ROUTED if base is DaspClassifier else QUICK), **options}
    return base().set_params(**options).fit(x, y, sample_domain=d)


@pytest.fixture(scope="module")
def outcomes(small):
    x, _, d = small
    return {
        str(options): fitted(small, **options).predict_proba(x, sample_domain=d)
        for options in [{}, *OPTIONS]
    }


def test_every_option_is_read(outcomes):
    names = list(outcomes)
    for i, name in enumerate(names):
        for other in names[:i]:
            assert not np.array_equal(outcomes[name], outcomes[other]), f"{name} is {other}"


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_files_and_pickles_decide_the_same(options, small, outcomes, tmp_path):
    x, _, d = small
    clf = fitted(small, **options)
    np.testing.assert_array_equal(clf.predict_proba(x, sample_domain=d), outcomes[str(options)])
    clf.save(tmp_path / "model")
    for again in (pickle.loads(pickle.dumps(clf)), DaspClassifier.load(tmp_path / "model")):
        np.testing.assert_array_equal(
            again.predict_proba(x, sample_domain=d), outcomes[str(options)]
        )
    # People without training trials are decoded too.
    assert np.isfinite(clf.predict_proba(x[:5] * 1.3)).all()


def test_top_p(small, outcomes):
    x, _, d = small
    one, two = (fitted(small, experts__top_p=p).routing_weights(x, sample_domain=d) for p in (1, 2))
    assert set(np.unique(one)) == {0.0, 1.0} and (one.sum(axis=1) == 1).all()
    assert ((two > 0).sum(axis=1) == 2).all()
    np.testing.assert_array_equal(
        fitted(small, experts__top_p=3).predict_proba(x, sample_domain=d), outcomes["{}"]
    )


def test_experts(small):
    stiefel, cayley, polar, barrier = (
        fitted(small, **options).experts_
        for options in (
            {},
            {"training__orthogonality": "cayley"},
            {"experts__kind": "polar"},
            {"experts__kind": "barrier"},
        )
    )
    for points in (stiefel, cayley, polar):
        assert manifold.orthonormality_defect(points).max() < 5e-6
    assert manifold.orthonormality_defect(barrier).max() > 1e-3
    assert np.linalg.svd(barrier, compute_uv=False).min() > 0.05
    near = fitted(small, experts__noise=1e-3, training__learning_rate=1e-6).experts_
    assert manifold.principal_angles(near[0], near[1:]).max() < 0.02


def test_batch_normalisation_in_place_of_whitening(small):
    x, y, d = small
    scale = np.array([1.0, 30.0])[d][:, None, None]
    options = {
        "precondition": False,
        "batch_norm": "before",
        "training__precision": "f64",
        "epochs": 20,
    }
    for base in (DaspClassifier, SPDNetClassifier):
        clf = fitted((x * scale, y, d), base, **options)
        assert clf.score(x * scale, y, sample_domain=d) > 0.8
        # Statistics of a new person come from their unlabelled trials, or are those of everybody.
        new = x[:20] * 4
        np.testing.assert_array_equal(clf.predict_proba(new[:3]), clf.predict_proba(new)[:3])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"batch_norm": "after"},
        {"initial_anchor": "discriminative"},
        {"training__orthogonality": "cayley"},
    ],
    ids=str,
)
def test_the_baseline_has_what_it_can_use(options, small):
    x, _, d = small
    clf = fitted(small, SPDNetClassifier, **options)
    plain = fitted(small, SPDNetClassifier).predict_proba(x, sample_domain=d)
    assert np.array_equal(clf.predict_proba(x, sample_domain=d), plain) == (not options)
    # With one domain nothing is routed, and the routed network is the baseline.
    x, y, _ = small
    one = DaspClassifier(**QUICK).set_params(**options).fit(x, y)
    np.testing.assert_array_equal(
        one.predict_proba(x),
        SPDNetClassifier(**QUICK).set_params(**options).fit(x, y).predict_proba(x),
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"experts__anchor": "guess"},
            "experts.anchor must be one of dedicated, first, barycenter, routed-barycenter, got "
            "'guess'",
        ),
        (
            {"experts__retraction": "guess"},
            "experts.retraction must be one of qr, polar, got 'guess'",
        ),
        (
            {"experts__kind": "guess"},
            "experts.kind must be one of stiefel, polar, barrier, got 'guess'",
        ),
        (
            {"experts__barrier": "guess"},
            "experts.barrier must be one of bounded, paper, got 'guess'",
        ),
        ({"experts__head": "guess"}, "experts.head must be one of shared, routed, got 'guess'"),
        (
            {"initial_anchor": None},
            "initial_anchor must be one of random, discriminative, got None",
        ),
        ({"batch_norm": True}, "batch_norm must be None or one of after, before, got True"),
        (
            {"training__orthogonality": 3},
            "training.orthogonality must be one of riemannian, cayley, got 3",
        ),
        ({"experts__top_p": 4}, "at most the number of experts"),
        (
            {"experts__top_p": 0},
            "experts.top_p must be None or a whole number of at least 1, got 0",
        ),
        (
            {"experts__top_p": 1.5},
            "experts.top_p must be None or a whole number of at least 1, got 1.5",
        ),
        ({"losses__csp_filters": 5, "losses__csp": 1.0}, "from 1 to the directions a filter keeps"),
        ({"losses__csp": -1.0}, "losses.csp must be a number of at least 0, got -1.0"),
        (
            {"losses__shrink": 1.0, "experts__anchor": "routed-barycenter"},
            "0 under a routed barycenter",
        ),
        (
            {"experts__head": "routed", "experts__head_ridge": -1.0},
            "experts.head_ridge must be a number of at least 0, got -1.0",
        ),
        (
            {"experts__noise": -1.0},
            "experts.noise must be None or a number of at least 0, got -1.0",
        ),
        ({"losses__barrier": np.nan}, "losses.barrier must be a number of at least 0, got nan"),
        (
            {"experts__barrier": "paper"},
            "experts.barrier='paper' has no effect without experts.kind='barrier'",
        ),
        (
            {"losses__barrier": 0.5},
            "losses.barrier=0.5 has no effect without experts.kind='barrier'",
        ),
        (
            {"experts__head_ridge": 1.0},
            "experts.head_ridge=1.0 has no effect without experts.head='routed'",
        ),
        (
            {"losses__csp_filters": 2},
            "losses.csp_filters=2 has no effect without losses.csp above 0",
        ),
        ({"experts__topp": 2}, "Invalid parameter 'topp' for Experts"),
    ],
)
def test_bad_options(options, message, small):
    with pytest.raises(ValueError, match=message):
        fitted(small, **options)


# Unlabelled trials of the target, without a network
# ------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["pooled", "own-mean", "causal"])
def test_whitening_adapts_to_the_trials_given_at_fit(policy, small):
    x, y, d = small
    target, test = x[:12] * 3, x[12:18] * 3
    given = DomainWhitening(adapt=policy).fit(x, sample_domain=d, X_target_unlabeled=target)
    marked = DomainWhitening(adapt=policy).fit(
        np.concatenate([x, target]), sample_domain=[*d, *[-1] * 12]
    )
    found = given.transform(test)
    np.testing.assert_array_equal(found, marked.transform(test))
    np.testing.assert_array_equal(found, pickle.loads(pickle.dumps(given)).transform(test))
    np.testing.assert_array_equal(found[:1], given.transform(test[:1]))
    without = DomainWhitening(adapt=policy).fit(x, sample_domain=d).transform(test)
    assert np.array_equal(found, without) == (policy == "pooled")
    # With one training domain, trials given for another one say that the next ones are not of the
    # first.
    alone = DomainWhitening(adapt=policy).fit(x, X_target_unlabeled=target)
    assert (
        not np.array_equal(
            alone.transform(test), DomainWhitening(adapt=policy).fit(x).transform(test)
        )
        or policy == "pooled"
    )
    peer = TangentSpaceLR(whiten_domains=True, whitening=Whitening(policy)).fit(
        x, y, sample_domain=d, X_target_unlabeled=target
    )
    np.testing.assert_array_equal(peer.whitening_.transform(test), found)
    with pytest.raises(ValueError, match="X_target_unlabeled has 4 features, but X has 6"):
        DomainWhitening().fit(x, X_target_unlabeled=x[:, :4, :4])


def test_missing_names_are_one_new_domain(small):
    """What a pandas column has where there was None."""
    x, y, d = small
    pandas = pytest.importorskip("pandas")
    clf = fitted(small, unseen="nearest", whitening__adapt="own-mean")
    whitening = DomainWhitening(adapt="own-mean").fit(x, sample_domain=d)
    expected = clf.predict_proba(x[:6]), whitening.transform(x[:6])
    for missing in (
        [None] * 6,
        [np.nan] * 6,
        np.full(6, np.nan),
        pandas.Series([None] * 6),
        pandas.Series([None] * 6, dtype="Int64"),
        pandas.Series([np.nan] * 6),
    ):
        np.testing.assert_array_equal(clf.predict_proba(x[:6], subjects=missing), expected[0])
        np.testing.assert_array_equal(whitening.transform(x[:6], subjects=missing), expected[1])
