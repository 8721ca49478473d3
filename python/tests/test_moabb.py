"""MOABB runs the classifiers unchanged beside a pyRiemann pipeline, offline, in every evaluation
and target-access mode."""

import warnings

import numpy as np
import pytest

moabb = pytest.importorskip("moabb")

from moabb.datasets.fake import FakeDataset  # noqa: E402
from moabb.evaluations import (
    CrossSessionEvaluation,
    CrossSubjectEvaluation,
    WithinSessionEvaluation,
)  # noqa: E402
from moabb.evaluations.protocols import CrossSubjectMode  # noqa: E402
from moabb.paradigms import LeftRightImagery  # noqa: E402
from pyriemann.classification import MDM  # noqa: E402
from pyriemann.estimation import Covariances  # noqa: E402
from sklearn.base import clone  # noqa: E402

from stiefel import (  # noqa: E402
    ChoirClassifier,
    DaspClassifier,
    TangentSpaceLR,
    Whitening,
    make_pipeline,
)


def pipelines():
    quick = {"epochs": 2, "random_state": 0}
    return {
        "DASP": make_pipeline(Covariances("oas"), DaspClassifier(**quick)),
        "DASP from epochs": DaspClassifier(
            covariance="oas",
            unseen="nearest",
            whitening=Whitening("own-mean"),
            n_experts=2,
            **quick,
        ),
        "DASP, adapted": make_pipeline(
            Covariances("oas"), DaspClassifier(unseen="transductive", n_experts=2, **quick)
        ),
        "CHOIR": make_pipeline(Covariances("oas"), ChoirClassifier(random_state=0)),
        "peer": make_pipeline(Covariances("oas"), TangentSpaceLR()),
        "pyRiemann": make_pipeline(Covariances("oas"), MDM()),
    }


def fake(**options):
    return FakeDataset(
        ["left_hand", "right_hand"],
        **{
            "n_subjects": 3,
            "n_runs": 1,
            "n_events": 24,
            "duration": 100,
            "paradigm": "imagery",
            **options,
        },
    )


def process(folder, name, evaluation, dataset, pipelines, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runner = evaluation(
            paradigm=LeftRightImagery(fmin=8, fmax=32),
            datasets=[dataset],
            overwrite=True,
            hdf5_path=str(folder),
            suffix=name.replace(" ", ""),
            random_state=0,
            **options,
        )
        return runner.process(pipelines)


def evaluations():
    yield "within session", WithinSessionEvaluation, {}
    yield "cross session", CrossSessionEvaluation, {}
    for mode in CrossSubjectMode:
        yield f"cross subject, {mode.value}", CrossSubjectEvaluation, {"cs_mode": mode}


def test_every_evaluation(tmp_path, monkeypatch):
    monkeypatch.setenv("MNE_DATA", str(tmp_path))
    moabb.set_log_level("error")
    dataset = fake(n_sessions=2, seed=1)
    for name, evaluation, options in evaluations():
        results = process(tmp_path, name, evaluation, dataset, pipelines(), **options)
        assert set(results["pipeline"]) == set(pipelines()), name
        assert np.isfinite(results["score"]).all(), name
        counts = results.groupby("pipeline").size()
        assert counts.nunique() == 1, name


@pytest.fixture(scope="module")
def by_mode(tmp_path_factory):
    """Scores of CHOIR in every target-access mode: covariances inside, and in a step before."""
    folder = tmp_path_factory.mktemp("moabb")
    moabb.set_log_level("error")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MNE_DATA", str(folder))
        # Shrinkage makes the noise of the fake data the same matrix in several trials, and rounding
        # then decides ties.
        choir = ChoirClassifier(random_state=0)
        before = make_pipeline(Covariances("cov"), choir)
        both = {"inside": clone(choir).set_params(covariance="sample"), "before": before}
        dataset = fake(n_sessions=1, seed=2)
        return {
            mode: process(
                folder, mode.value, CrossSubjectEvaluation, dataset, both, cs_mode=mode
            ).pivot(index="subject", columns="pipeline", values="score")
            for mode in CrossSubjectMode
        }


@pytest.mark.parametrize("mode", list(CrossSubjectMode), ids=lambda mode: mode.value)
def test_a_pipeline_scores_as_covariances_inside(mode, by_mode):
    np.testing.assert_allclose(by_mode[mode]["before"], by_mode[mode]["inside"], atol=1e-12)


def test_labelled_target_trials_are_not_lost(by_mode):
    """What the labels add is seen where they are given, not where the same trials come without."""
    labelled, unlabelled = (
        by_mode[CrossSubjectMode(f"train_and_target_{kind}_50p")]["before"]
        for kind in ("labeled", "unlabeled")
    )
    assert not np.array_equal(labelled, unlabelled)
