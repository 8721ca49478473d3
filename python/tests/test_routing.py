"""scikit-learn's scorers and pipelines lose neither domains nor target trials."""

import warnings

import numpy as np
import pytest
from pyriemann.estimation import Covariances
from sklearn import config_context
from sklearn import pipeline as sklearn_pipeline
from sklearn.base import clone
from sklearn.metrics import (
    balanced_accuracy_score,
    brier_score_loss,
    cohen_kappa_score,
    roc_auc_score,
)
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score, cross_validate

from stiefel import (
    ChoirClassifier,
    DaspClassifier,
    DomainWhitening,
    SPDNetClassifier,
    TangentSpaceLR,
    Training,
    Whitening,
    make_pipeline,
    make_scorer,
)


@pytest.fixture(scope="module")
def epochs():
    """Two people whose first channel says the opposite: who does not know whose trial it is,
    guesses."""
    rng = np.random.default_rng(3)
    y, d = np.arange(96) % 2, np.arange(96) // 48
    x = rng.standard_normal((96, 4, 80))
    x[:, 0] *= np.where(y == d, 1.6, 1.0)[:, None]
    return x, y, np.array(["anna", "bob"])[d]


def covariances(x):
    return Covariances("oas").transform(x)


def test_a_scorer_hands_the_domains_on(epochs):
    x, y, who = covariances(epochs[0]), *epochs[1:]
    clf = ChoirClassifier(random_state=0).fit(x, y, subjects=who)
    decided, p = clf.predict(x, subjects=who), clf.predict_proba(x, subjects=who)[:, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for scoring, options, expected in [
            ("accuracy", {}, np.mean(decided == y)),
            ("balanced_accuracy", {}, balanced_accuracy_score(y, decided)),
            ("roc_auc", {}, roc_auc_score(y, p)),
            (
                cohen_kappa_score,
                {"weights": "linear"},
                cohen_kappa_score(y, decided, weights="linear"),
            ),
            (
                brier_score_loss,
                {"response_method": "predict_proba", "greater_is_better": False},
                -brier_score_loss(y, p),
            ),
        ]:
            for keyword in ("subjects", "sample_domain"):
                assert make_scorer(scoring, **options)(
                    clf, x, y, **{keyword: who}
                ) == pytest.approx(expected)
    assert make_scorer()(clf, x, y, subjects=who) > 0.9 > 0.7 > make_scorer()(clf, x, y)
    with pytest.raises(ValueError, match="labels cannot be set for a scorer by name"):
        make_scorer("accuracy", labels=[0, 1])
    encoded = np.array([f"{name}/{label}" for name, label in zip(who, y)])
    by_label = ChoirClassifier(random_state=0, label_format="domain/class").fit(x, encoded)
    assert make_scorer()(by_label, x, encoded) == np.mean(decided == y)
    assert (
        repr(make_scorer("accuracy"))
        == "stiefel.make_scorer(make_scorer(accuracy_score, response_method='predict'))"
    )


def test_scorers_inside_scikit_learn(epochs):
    x, y, who = covariances(epochs[0]), *epochs[1:]
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    with config_context(enable_metadata_routing=True):
        clf = ChoirClassifier(random_state=0)
        told = {"cv": folds, "params": {"subjects": who}, "error_score": "raise"}
        own = cross_val_score(clf, x, y, **told)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            np.testing.assert_array_equal(
                cross_val_score(clf, x, y, scoring=make_scorer("accuracy"), **told), own
            )
            both = {"auc": make_scorer("roc_auc"), "acc": make_scorer("accuracy")}
            np.testing.assert_array_equal(
                cross_validate(clf, x, y, scoring=both, **told)["test_acc"], own
            )
            search = GridSearchCV(
                clf, {"filters": [1, 3]}, scoring=make_scorer("accuracy"), cv=folds
            ).fit(x, y, subjects=who)
        assert search.best_score_ > 0.8 and own.mean() > 0.8
        with pytest.warns(UserWarning, match="not told whose trials these are"):
            lost = cross_val_score(clf, x, y, scoring="accuracy", **told)
        assert lost.mean() < 0.7
        weighted = make_scorer("accuracy").set_score_request(sample_weight=True)
        params = {"subjects": who, "sample_weight": np.where(y == 0, 1e-9, 1.0)}
        clf = clone(clf).set_fit_request(sample_weight=False)
        assert cross_val_score(clf, x, y, cv=folds, scoring=weighted, params=params).shape == (4,)


BASES = [
    ChoirClassifier(random_state=0),
    DaspClassifier(epochs=3, n_experts=2, unseen="nearest", random_state=0),
]


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("base", BASES, ids=lambda b: type(b).__name__)
def test_a_pipeline_hands_domains_and_target_trials_on(base, routing, epochs):
    x, y, who = epochs
    pipeline = make_pipeline(Covariances("oas"), clone(base))
    inside = clone(base).set_params(covariance="oas")
    new, labels = x[:20] * np.linspace(1, 2, x.shape[1])[:, None], y[:20]
    with config_context(enable_metadata_routing=routing):
        for extra in (
            {},
            {"X_target_unlabeled": new},
            {"X_target_unlabeled": {"carl": new, "dora": x[20:40]}},
            {"X_target_labeled": new, "y_target_labeled": labels},
        ):
            pipeline, inside = (
                clone(pipeline).fit(x, y, subjects=who, **extra),
                clone(inside).fit(x, y, subjects=who, **extra),
            )
            named = isinstance(extra.get("X_target_unlabeled"), dict)
            asked = [{"subjects": who}, {"subjects": ["carl"] * len(x)} if named else {}]
            for told in asked:
                for method in ("predict", "predict_proba", "decision_function"):
                    np.testing.assert_allclose(
                        getattr(pipeline, method)(x, **told),
                        getattr(inside, method)(x, **told),
                        atol=1e-4,
                    )
                assert pipeline.score(x, y, **told) == inside.score(x, y, **told)
                assert make_scorer("accuracy")(pipeline, x, y, **told) == inside.score(x, y, **told)


def test_whitening_in_a_pipeline_looks_at_the_target_trials(epochs):
    x, y, who = covariances(epochs[0]), *epochs[1:]
    target, test = x[:20] * 3, x[20:30] * 3
    options = {
        "validation_fraction": 0,
        "training": Training(precision="f64"),
        "epochs": 3,
        "random_state": 0,
    }
    for extra, told in (
        ({"X_target_unlabeled": target}, {}),
        ({"X_target_unlabeled": {"carl": target, "dora": x[40:60]}}, {"subjects": ["carl"] * 10}),
    ):
        pipeline = make_pipeline(
            DomainWhitening(adapt="own-mean"), SPDNetClassifier(precondition=False, **options)
        ).fit(x, y, subjects=who, **extra)
        inside = SPDNetClassifier(whitening=Whitening("own-mean"), **options)
        inside.fit(x, y, subjects=who, **extra)
        np.testing.assert_allclose(
            pipeline.predict_proba(test, **told), inside.predict_proba(test, **told), atol=1e-9
        )


def test_what_a_pipeline_cannot_do_is_refused(epochs):
    x, y, who = epochs
    pipeline = make_pipeline(Covariances("oas"), TangentSpaceLR())
    assert list(pipeline.named_steps) == ["covariances", "tangentspacelr"] and not hasattr(
        pipeline, "transform"
    )
    with pytest.raises(ValueError, match="has no option memory"):
        clone(pipeline).set_params(memory="here").fit(x, y)
    plain = sklearn_pipeline.make_pipeline(Covariances("oas"), ChoirClassifier())
    with config_context(enable_metadata_routing=True):
        for extra in (
            {"X_target_unlabeled": x[:9]},
            {"X_target_labeled": x[:9], "y_target_labeled": y[:9]},
        ):
            with pytest.raises(ValueError, match="stiefel.make_pipeline hands them through"):
                clone(plain).fit(x, y, subjects=who, **extra)
        with pytest.raises(TypeError, match="got unexpected argument"):
            clone(pipeline).fit(x, y, nonsense=1)
