"""What is wrong, where, in the exception scikit-learn users expect."""

import sys

import numpy as np
import pytest

import stiefel
from stiefel import (
    ChoirClassifier,
    DaspClassifier,
    DomainWhitening,
    SPDNetClassifier,
    TangentSpaceLR,
)

QUICK = {"epochs": 2, "random_state": 0}
CORE = [DaspClassifier(**QUICK), SPDNetClassifier(**QUICK), ChoirClassifier(random_state=0)]
CLASSIFIERS = [*CORE, TangentSpaceLR()]


def ids(estimator):
    return type(estimator).__name__


def broken(x):
    """Name, data, what the message says."""
    nan = x.copy()
    nan[3, 1, 2] = np.nan
    yield nan, r"X\[3, 1, 2\] is nan"
    infinite = x.copy()
    infinite[5, 0, 0] = np.inf
    yield infinite, r"X\[5, 0, 0\] is inf"
    negative = x.copy()
    negative[7] -= 2 * np.linalg.eigvalsh(x[7])[-1] * np.eye(6)
    yield negative, r"X\[7\] is not positive definite"
    indefinite = x.copy()
    indefinite[2, 0, 1] = indefinite[2, 1, 0] = 10 * x[2].max()
    yield indefinite, r"X\[2\] is not positive definite: its smallest eigenvalue"
    skew = x.copy()
    skew[4, 0, 1] += 1
    yield skew, r"X\[4\] is not symmetric"
    flat = x.copy()
    flat[6, 2] = flat[6, :, 2] = 0
    yield flat, r"X\[6\] is not positive definite: its channel 2 has variance 0"
    yield x[0], "Expected 3D array, got 2D array instead"
    yield x[:, :, :4], "does not hold square matrices"
    yield x[:0], r"0 sample\(s\)"
    yield x[:, :0, :0], r"0 feature\(s\)"
    yield np.array([1.0, "a", None], dtype=object), "array of objects"
    yield x + 0j, "Complex data not supported"
    yield np.array([["a"]]), "array of numbers"


@pytest.mark.parametrize("estimator", [*CLASSIFIERS, DomainWhitening()], ids=ids)
def test_bad_trials(estimator, small):
    x, y, _ = small
    fitted = type(estimator)(**estimator.get_params()).fit(x, y)
    decide = fitted.transform if hasattr(fitted, "transform") else fitted.predict
    for bad, message in broken(x):
        with pytest.raises(ValueError, match=message):
            type(estimator)(**estimator.get_params()).fit(bad, y[: len(bad)])
        with pytest.raises(ValueError, match=message):
            decide(bad)
    with pytest.raises(ValueError, match="X has 5 features, but .* is expecting 6"):
        decide(x[:, :5, :5])


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=ids)
def test_bad_labels(estimator, small):
    x, y, d = small

    def refuses(message, labels, **options):
        with pytest.raises(ValueError, match=message):
            type(estimator)(**estimator.get_params()).fit(x, labels, **options)

    refuses("inconsistent numbers of samples", y[:-1])
    refuses("requires y to be passed", None)
    refuses("only one class", np.zeros(len(x)))
    lonely = y.copy()
    lonely[11] = 2
    refuses(r"class .*2.* has only one trial, number 11", lonely)
    refuses("Unknown label type", y + 0.5)
    missing = y.astype(float)
    missing[4] = np.nan
    refuses(r"y\[4\]", missing)
    refuses("1d array", np.stack([y, y], axis=1))
    refuses("inconsistent numbers of samples: 48 trials, 47 subjects", y, subjects=d[:-1])
    refuses("either sample_domain or subjects", y, subjects=d, sample_domain=d)


@pytest.mark.parametrize("estimator", CORE, ids=ids)
def test_unknown_domains(estimator, small):
    x, y, d = small
    clf = type(estimator)(**estimator.get_params()).fit(x, y, subjects=np.array(["anna", "bob"])[d])
    with pytest.raises(
        ValueError,
        match=r"trial 2 belongs to domain 'carl', .* no training trials \(known: anna, bob\)",
    ):
        clf.predict(x[:3], subjects=["anna", "bob", "carl"])
    with pytest.raises(ValueError, match="set handle_unknown='new'"):
        clf.predict(x[:3], subjects=["carl"] * 3)
    with pytest.raises(ValueError, match="handle_unknown must be one of error, new, got 'guess'"):
        type(estimator)(**{**estimator.get_params(), "handle_unknown": "guess"}).fit(x, y)
    with pytest.raises(ValueError, match="No labelled trial"):
        type(estimator)(**estimator.get_params()).fit(x, y, sample_domain=[-1] * len(x))


def test_bad_options(small):
    x, y, d = small
    for options, message in [
        (
            {"training__learning_rate": np.nan},
            "training.learning_rate must be a number above 0, got nan",
        ),
        (
            {"losses__align": np.inf},
            "losses.align must be 'auto' or a number of at least 0, got inf",
        ),
        ({"unseen": "guess"}, "unseen must be one of"),
        (
            {"whitening__adapt": "guess"},
            "whitening.adapt must be one of pooled, own-mean, causal, got 'guess'",
        ),
        ({"whitening__reference": "guess"}, "whitening.reference must be one of"),
        (
            {"covariance": "guess"},
            "covariance must be None or one of sample, ledoit-wolf, oas, schaefer-strimmer, got",
        ),
        ({"training__precision": "f16"}, "training.precision must be one of f32, f64"),
        (
            {"validation_fraction": 1.5},
            "validation_fraction must be a number of at least 0 and below 1, got 1.5",
        ),
        ({"epochs": 0}, "epochs must be a whole number"),
        ({"training__batch": 1.5}, "training.batch must be a whole number of at least 1, got 1.5"),
        (
            {"training__learning_rate": -1.0},
            "training.learning_rate must be a number above 0, got -1.0",
        ),
        ({"filters": 7, "n_experts": 2}, "from 1 to the number of channels"),
        ({"n_experts": 0}, "n_experts must be 'auto' or a whole number of at least 1, got 0"),
        ({"filters": 4.0}, "filters must be 'auto' or a whole number of at least 1, got 4.0"),
        (
            {"embedding": "wide"},
            "embedding must be 'auto' or a whole number of at least 1, got 'wide'",
        ),
        (
            {"dsp_rank": -1},
            "dsp_rank must be None or 'auto' or a whole number of at least 1, got -1",
        ),
        ({"epochs": True}, "epochs must be a whole number of at least 1, got True"),
        ({"n_jobs": 1.5}, "n_jobs must be None or a whole number, got 1.5"),
        (
            {"random_state": "luck"},
            "random_state must be None or a whole number or an object RandomState, got 'luck'",
        ),
        ({"class_weight": 2}, "class_weight must be None or a dictionary or 'balanced', got 2"),
        ({"experts": {"top_p": 2}}, "experts must be None or an object Experts, got {'top_p': 2}"),
        ({"precondition": 1}, "precondition must be True or False, got 1"),
        (
            {"precondition": False, "whitening__kappa": 3},
            "whitening was given with precondition=False",
        ),
        ({"preset": "guess"}, 'preset "guess" is not known'),
        ({"whitening__kappa": -1.0}, "whitening.kappa must be a number of at least 0, got -1.0"),
        (
            {"whitening__tikhonov": -1.0},
            "whitening.tikhonov must be None or a number of at least 0, got -1.0",
        ),
    ]:
        with pytest.raises(ValueError, match=message):
            DaspClassifier(**QUICK).set_params(**options).fit(x, y, sample_domain=d)


def test_bad_options_of_choir(small):
    x, y, d = small
    for options, message in [
        ({"adapt": "guess"}, "adapt must be one of own-mean, causal, pooled, got 'guess'"),
        (
            {"covariance": "guess"},
            "covariance must be None or one of sample, ledoit-wolf, oas, schaefer-strimmer, got",
        ),
        ({"validation_fraction": -0.1}, "validation_fraction must be"),
        ({"filters": 0}, "filters must be 'auto' or a whole number of at least 1, got 0"),
        ({"filters": 2.5}, "filters must be 'auto' or a whole number of at least 1, got 2.5"),
        ({"filters": "all"}, "filters must be 'auto' or a whole number of at least 1, got 'all'"),
        ({"shared_variance": 0.0}, "shared_variance must be a number above 0, got 0.0"),
        ({"shared_variance": np.nan}, "shared_variance must be a number above 0, got nan"),
        ({"own_variance": -1.0}, "own_variance must be a number of at least 0, got -1.0"),
        ({"own_variance": np.inf}, "own_variance must be a number of at least 0, got inf"),
        ({"own_variance": "wide"}, "own_variance must be a number of at least 0, got 'wide'"),
        ({"kappa": -1.0}, "kappa must be a number of at least 0, got -1.0"),
    ]:
        with pytest.raises(ValueError, match=message):
            ChoirClassifier().set_params(**options).fit(x, y, sample_domain=d)


@pytest.mark.parametrize("estimator", CORE, ids=ids)
def test_bad_target_trials(estimator, small):
    x, y, d = small
    nan, skew = x[:5].copy(), x[:5].copy()
    nan[2, 0, 0] = np.nan
    skew[3, 0, 1] += 1
    for name, extra in [
        ("X_target_unlabeled", {}),
        ("X_target_labeled", {"y_target_labeled": y[:5]}),
    ]:
        for bad, message in [
            (nan, rf"{name}\[2, 0, 0\] is nan"),
            (skew, rf"{name}\[3\] is not symmetric"),
            (x[:5, :4, :4], f"{name} has 4 features, but X has 6"),
        ]:
            with pytest.raises(ValueError, match=message):
                type(estimator)(**estimator.get_params()).fit(
                    x, y, sample_domain=d, **{name: bad}, **extra
                )
    with pytest.raises(ValueError, match="y_target_labeled is needed"):
        type(estimator)(**estimator.get_params()).fit(x, y, sample_domain=d, X_target_labeled=x[:5])


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=ids)
def test_layouts_are_welcome_and_stay_as_they_are(estimator, small):
    x, y, d = small
    expected = (
        type(estimator)(**estimator.get_params())
        .fit(x, y, sample_domain=d)
        .predict_proba(x, sample_domain=d)
    )
    frozen = x.copy()
    frozen.flags.writeable = False
    padded = np.zeros((2 * len(x), 6, 6))
    padded[::2] = x
    for variant in (frozen, np.asfortranarray(x), padded[::2], x.tolist()):
        before = np.array(variant)
        clf = type(estimator)(**estimator.get_params()).fit(variant, y, sample_domain=d)
        np.testing.assert_allclose(
            clf.predict_proba(variant, sample_domain=d), expected, atol=1e-12
        )
        np.testing.assert_array_equal(np.array(variant), before)
    single = type(estimator)(**estimator.get_params()).fit(x.astype(np.float32), y, sample_domain=d)
    assert single.predict_proba(x, sample_domain=d).shape == expected.shape


@pytest.mark.parametrize(
    ("module", "call"),
    [
        ("pandas", lambda data, report: stiefel.study("main", data)),
        ("tqdm", lambda data, report: stiefel.study("main", data)),
        ("matplotlib", lambda data, report: report.plot_routing()),
        ("matplotlib", lambda data, report: report.plot_controls()),
        (
            "matplotlib",
            lambda data, report: stiefel.plot.learning(
                {
                    "rows": [
                        {"method": "a", "size": [8, d], "accuracy": {"mean": 0.5}} for d in (2, 4)
                    ]
                }
            ),
        ),
        ("mne", lambda data, report: report.plot_topomap(None)),
        ("mne", lambda data, report: stiefel.to_epochs(np.zeros((2, 1, 5)), ["Cz"], 100.0, [0, 1])),
    ],
)
def test_packages_that_only_some_need(module, call, study, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    clf = DaspClassifier(**QUICK).fit(study.X, study.y, subjects=study.domains)
    report = stiefel.routing_report(clf, study.X, study.y, study.domains)
    for name in [name for name in sys.modules if name.partition(".")[0] == module]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        ImportError, match=f"need {module}, which is not installed: pip install {module}"
    ):
        call(study, report)


def test_a_report_is_of_a_network(study):
    peer = TangentSpaceLR().fit(study.X, study.y)
    with pytest.raises(
        TypeError, match="routing_report takes a ChoirClassifier, .*, got TangentSpaceLR"
    ):
        stiefel.routing_report(peer, study.X, study.y, study.domains)


# Symmetric up to the rounding of the type
# ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [*CLASSIFIERS, DomainWhitening()], ids=ids)
def test_symmetry_is_judged_by_the_type_of_the_input(estimator, small):
    x, y, d = small
    for dtype in (np.float32, np.float64):
        rounding = np.sqrt(np.finfo(dtype).eps)
        for factor, fine in ((0.3, True), (3, False)):
            skew = x.astype(dtype)
            skew[5, 0, 1] += factor * rounding * np.abs(x[5]).max()
            if fine:
                type(estimator)(**estimator.get_params()).fit(skew, y, sample_domain=d)
            else:
                with pytest.raises(ValueError, match=r"X\[5\] is not symmetric"):
                    type(estimator)(**estimator.get_params()).fit(skew, y, sample_domain=d)


@pytest.mark.parametrize("estimator", [*CLASSIFIERS, DomainWhitening()], ids=ids)
def test_single_precision_is_welcome(estimator):
    epochs = np.random.default_rng(0).standard_normal((24, 12, 40)).astype(np.float32)
    # Products of slices in single precision: A·B and (B·A)ᵀ are rounded differently.
    x = np.stack(
        [
            [
                [np.dot(a, b * np.float32(1 + 1e-6 * (i > j))) for j, b in enumerate(e)]
                for i, a in enumerate(e)
            ]
            for e in epochs
        ]
    )
    assert x.dtype == np.float32 and not np.allclose(x, x.swapaxes(1, 2), rtol=1e-8, atol=0)
    model = type(estimator)(**estimator.get_params()).fit(x, np.arange(24) % 2)
    (model.transform if hasattr(model, "transform") else model.predict)(x)


def test_single_precision_in_studies(study, tmp_path):
    pytest.importorskip("pandas")
    x = study.X.astype(np.float32)
    x[:, 3, 4] *= 1 + 2e-7
    stiefel.study(
        "main",
        stiefel.Trials(x, study.y, study.domains),
        folder=tmp_path,
        methods="mdm",
        progress=False,
    )
