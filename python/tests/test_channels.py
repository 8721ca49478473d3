"""Channels are matched by name, everywhere trials bring names: the order makes no difference."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

import stiefel
from stiefel import (
    ChoirClassifier,
    DaspClassifier,
    DomainWhitening,
    SPDNetClassifier,
    TangentSpaceLR,
    Trials,
)

QUICK = {"epochs": 2, "random_state": 0}
CORE = [
    DaspClassifier(n_experts=2, **QUICK),
    SPDNetClassifier(**QUICK),
    ChoirClassifier(random_state=0),
    stiefel.model("recentred-ts+lr", random_state=0),
]
ALL = [*CORE, TangentSpaceLR(), TangentSpaceLR(whiten_domains=True)]


def name(base):
    return repr(base).partition("(")[0]


def changed(trials, **what):
    return Trials(**{**vars(trials), **what})


def reversed_(trials):
    return changed(trials, X=trials.X[:, ::-1, ::-1].copy(), channels=trials.channels[::-1])


def wider(trials):
    """More channels, two of them unknown to whoever was fitted on the trials."""
    n = trials.X.shape[1]
    x = np.zeros((len(trials), n + 2, n + 2))
    x[:, 1:-1, 1:-1] = trials.X[:, ::-1, ::-1]
    x[:, 0, 0] = x[:, -1, -1] = 50.0
    return changed(trials, X=x, channels=["EXG1", *trials.channels[::-1], "EXG2"])


@pytest.fixture(scope="module")
def parts(study):
    new = study.domains == "S03"
    return study[~new], study[new]


@pytest.mark.parametrize("base", ALL, ids=name)
def test_decisions(base, study):
    clf = clone(base).fit(study[::2])
    test, expected = study[1::2], clone(base).fit(study[::2]).predict_proba(study[1::2])
    np.testing.assert_array_equal(clf.predict_proba(reversed_(test)), expected)
    with pytest.warns(UserWarning, match="X has 2 channels .* left out: EXG1, EXG2"):
        np.testing.assert_array_equal(clf.predict_proba(wider(test)), expected)
    with pytest.raises(ValueError, match="channel CP4"):
        clf.predict(changed(test, channels=[*test.channels[:-1], "Oz"]))
    # Case is no other electrode.
    lower = changed(test, channels=[c.lower() for c in test.channels])
    np.testing.assert_array_equal(clf.predict_proba(lower), expected)


@pytest.mark.parametrize("how", [reversed_, wider])
@pytest.mark.parametrize("method", ["calibrate", "partial_fit"])
def test_calibration(method, how, parts):
    known, new = parts
    learnt, test = new[:8], new[8:]
    plain, turned = (ChoirClassifier(random_state=0).fit(known) for _ in range(2))
    getattr(plain, method)(learnt)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        getattr(turned, method)(how(learnt))
    np.testing.assert_array_equal(turned.predict_proba(test), plain.predict_proba(test))
    # They are known again, in whatever order they come.
    assert turned.judge(learnt)["training"]["trials"] == 8
    with pytest.raises(ValueError, match="among those the model was made with"):
        turned.calibrate(learnt)


@pytest.mark.parametrize("base", CORE, ids=name)
def test_trials_of_the_target_at_fit(base, parts):
    known, new = parts
    clean = clone(base).fit(known, X_target_labeled=new[:8], X_target_unlabeled={"zoe": new[8:16]})
    turned = clone(base).fit(
        known,
        X_target_labeled=reversed_(new[:8]),
        X_target_unlabeled={"zoe": reversed_(new[8:16])},
    )
    for whose in ("target", "zoe"):
        p, q = (c.predict_proba(new[16:], subjects=[whose] * 8) for c in (clean, turned))
        np.testing.assert_array_equal(p, q)


@pytest.mark.parametrize("base", [*CORE[:2], TangentSpaceLR(max_iter=3)], ids=name)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_warm_starts(base, study):
    plain, turned = (clone(base).set_params(warm_start=True).fit(study) for _ in range(2))
    plain.fit(study)
    turned.fit(reversed_(study))
    assert turned.channels_ == study.channels
    np.testing.assert_array_equal(turned.predict_proba(study), plain.predict_proba(study))
    with pytest.raises(ValueError, match="channel CP4"):
        turned.fit(changed(study, channels=[*study.channels[:-1], "Oz"]))


@pytest.mark.parametrize("adapt", ["pooled", "own-mean", "causal"])
def test_whitening(adapt, parts):
    known, new = parts
    whitening = DomainWhitening(adapt=adapt, handle_unknown="new").fit(known)
    expected = whitening.transform(new)
    np.testing.assert_array_equal(whitening.transform(reversed_(new)), expected)
    with pytest.warns(UserWarning, match="left out: EXG1, EXG2"):
        np.testing.assert_array_equal(whitening.transform(wider(new)), expected)


def test_an_average_of_other_channels_is_another_reference(study):
    """Trials of more channels, referred to the average of all of them, are no trials of the few."""
    made = {**study.preparation, "recipe": {**study.preparation["recipe"], "reference": "average"}}
    import json

    average = changed(
        study, preparation=stiefel.Preparation(json.dumps({"known": made}), "average")
    )
    clf = ChoirClassifier(random_state=0).fit(average)
    clf.predict(reversed_(average))
    with pytest.raises(
        ValueError, match="reference: the model was trained with average, but .*EXG1"
    ):
        clf.predict(wider(average))
