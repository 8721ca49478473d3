"""The preset ``recommended``: what it chooses, what it keeps, whom it decides how."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from stiefel import DomainWhitening, PooledClassifier, manifold, spd


@pytest.fixture
def fitted(small):
    x, y, d = small
    return PooledClassifier(n_filters=4, random_state=0).fit(x, y, sample_domain=d)


def features(clf, whitened):
    return spd.upper(spd.logm(clf.filters_.T @ whitened @ clf.filters_))


def test_what_is_fitted(fitted, small):
    x, y, d = small
    assert fitted.filters_.shape == (6, 4)
    assert manifold.orthonormality_defect(fitted.filters_) < 1e-12
    assert fitted.coef_.shape == (1, 10)
    assert fitted.domain_coef_.shape == (2, 1, 10)
    assert fitted.intercept_.shape == (1,)
    assert fitted.C_ in fitted.C
    # The shared weights decide strangers: their log-odds are linear in the features.
    z = features(fitted, DomainWhitening().fit(x, sample_domain=d).transform(x))
    scores = fitted.decision_function(x)
    np.testing.assert_allclose(scores - scores[0], (z - z[0]) @ fitted.coef_[0], atol=1e-9)
    # Each domain adds its own.
    for i in (0, 1):
        own = d == i
        z = features(fitted, DomainWhitening().fit(x, sample_domain=d).transform(x[own], sample_domain=d[own]))
        scores = fitted.decision_function(x[own], sample_domain=d[own])
        np.testing.assert_allclose(scores - scores[0], (z - z[0]) @ (fitted.coef_[0] + fitted.domain_coef_[i, 0]), atol=1e-9)


@pytest.mark.parametrize("classes", [2, 3])
def test_without_own_weights_it_is_logistic_regression(classes, small):
    x, _, d = small
    y = np.arange(len(x)) % classes
    clf = PooledClassifier(n_filters=3, C=0.7, rho=0.0, validation_fraction=0).fit(x, y, sample_domain=d)
    assert not clf.domain_coef_.any()
    z = features(clf, DomainWhitening().fit_transform(x, sample_domain=d))
    peer = LogisticRegression(C=0.7, tol=1e-12, max_iter=10000).fit(z, y)
    np.testing.assert_allclose(clf.predict_proba(x, sample_domain=d), peer.predict_proba(z), atol=1e-6)


def test_c_is_chosen_on_the_validation_part(small):
    x, y, d = small
    one = [PooledClassifier(C=c, refit=False, random_state=0).fit(x, y, sample_domain=d) for c in (0.01, 1.0, 100.0)]
    both = PooledClassifier(C=[100.0, 0.01, 1.0], refit=False, random_state=0).fit(x, y, sample_domain=d)
    chosen = [clf for clf in one if clf.C_ == both.C_]
    # One minimum, reached from another start.
    np.testing.assert_allclose(both.predict_proba(x), chosen[0].predict_proba(x), atol=1e-12)
    # Fitted again, the validation part counts too: it is the fit on all trials with that C.
    again = PooledClassifier(C=[100.0, 0.01, 1.0], random_state=0).fit(x, y, sample_domain=d)
    whole = PooledClassifier(C=both.C_, validation_fraction=0).fit(x, y, sample_domain=d)
    assert again.C_ == both.C_
    np.testing.assert_allclose(again.predict_proba(x), whole.predict_proba(x), atol=1e-8)
    assert not np.allclose(again.predict_proba(x), both.predict_proba(x), atol=1e-4)


def test_own_weights_learn_what_shared_ones_cannot():
    """A channel whose meaning is reversed from person to person."""
    rng = np.random.default_rng(3)
    y, d = np.arange(120) % 2, np.arange(120) // 60
    a = rng.standard_normal((120, 4, 80))
    a[:, 0] *= np.where(y == d, 1.6, 1.0)[:, None]
    x = a @ a.swapaxes(1, 2) / 80
    train = np.arange(120) % 60 < 40
    own = PooledClassifier(random_state=0).fit(x[train], y[train], sample_domain=d[train])
    shared = PooledClassifier(rho=0.0, random_state=0).fit(x[train], y[train], sample_domain=d[train])
    assert own.score(x[~train], y[~train], sample_domain=d[~train]) > 0.9
    assert shared.score(x[~train], y[~train], sample_domain=d[~train]) < 0.75


def test_a_weight_is_a_repetition(small):
    """Where nothing but the head sees how often a trial is there: no whitening, no validation part, all directions."""
    x, y, _ = small
    times = np.random.default_rng(0).integers(0, 4, len(x))
    head = {"C": 1.0, "precondition": False, "validation_fraction": 0}
    weighted = PooledClassifier(**head).fit(x, y, sample_weight=times).predict_proba(x)
    repeated = PooledClassifier(**head).fit(np.repeat(x, times, axis=0), np.repeat(y, times)).predict_proba(x)
    np.testing.assert_allclose(weighted, repeated, atol=1e-9)
    assert not np.allclose(weighted, PooledClassifier(**head).fit(x, y).predict_proba(x), atol=1e-3)


def test_the_seed_decides_the_split_only_and_threads_nothing(small):
    x, y, d = small
    base = PooledClassifier(random_state=0).fit(x, y, sample_domain=d).predict_proba(x)
    for jobs in (2, -1):
        np.testing.assert_array_equal(PooledClassifier(random_state=0, n_jobs=jobs).fit(x, y, sample_domain=d).predict_proba(x), base)
    options = {"C": 1.0, "validation_fraction": 0}
    seeds = [PooledClassifier(random_state=s, **options).fit(x, y, sample_domain=d).predict_proba(x) for s in (0, 1)]
    np.testing.assert_array_equal(*seeds)


def test_verbose_says_what_was_chosen(small, capsys):
    x, y, d = small
    PooledClassifier(verbose=1, random_state=0).fit(x, y, sample_domain=d)
    line = capsys.readouterr().out
    assert line.startswith("[PooledClassifier] C = ")
    assert line.endswith("of 1, 3, 10, 30 on 8 validation trials\n")


def test_learns_a_study(study):
    odd = np.arange(len(study.y)) // 2 % 2 == 1
    assert set(study.y[odd]) == set(study.y)
    clf = PooledClassifier(random_state=0).fit(study.X[~odd], study.y[~odd], subjects=study.domains[~odd])
    assert clf.filters_.shape == (13, 13)
    assert clf.score(study.X[odd], study.y[odd], subjects=study.domains[odd]) > 0.6
