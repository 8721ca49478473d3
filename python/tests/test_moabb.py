"""MOABB runs the classifiers unchanged beside a pyRiemann pipeline, offline, in every evaluation and target-access mode."""

import warnings

import numpy as np
import pytest

moabb = pytest.importorskip("moabb")

from moabb.datasets.fake import FakeDataset  # noqa: E402
from moabb.evaluations import CrossSessionEvaluation, CrossSubjectEvaluation, WithinSessionEvaluation  # noqa: E402
from moabb.evaluations.protocols import CrossSubjectMode  # noqa: E402
from moabb.paradigms import LeftRightImagery  # noqa: E402
from pyriemann.classification import MDM  # noqa: E402
from pyriemann.estimation import Covariances  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402

from stiefel import DaspClassifier, PooledClassifier, TangentSpaceLR  # noqa: E402


def pipelines():
    quick = {"max_epochs": 2, "random_state": 0}
    return {
        "DASP": make_pipeline(Covariances("oas"), DaspClassifier(**quick)),
        "DASP from epochs": DaspClassifier(
            covariance="oas", unseen="nearest", unseen_whitening="own-mean", n_experts=2, **quick
        ),
        "DASP, adapted": make_pipeline(Covariances("oas"), DaspClassifier(unseen="transductive", n_experts=2, **quick)),
        "recommended": make_pipeline(Covariances("oas"), PooledClassifier(unseen_whitening="own-mean", random_state=0)),
        "peer": make_pipeline(Covariances("oas"), TangentSpaceLR()),
        "pyRiemann": make_pipeline(Covariances("oas"), MDM()),
    }


def evaluations():
    yield "within session", WithinSessionEvaluation, {}
    yield "cross session", CrossSessionEvaluation, {}
    for mode in CrossSubjectMode:
        yield f"cross subject, {mode.value}", CrossSubjectEvaluation, {"cs_mode": mode}


def test_every_evaluation(tmp_path, monkeypatch):
    monkeypatch.setenv("MNE_DATA", str(tmp_path))
    moabb.set_log_level("error")
    dataset = FakeDataset(
        ["left_hand", "right_hand"], n_subjects=3, n_sessions=2, n_runs=1, n_events=24, duration=100, seed=1,
        paradigm="imagery",
    )  # fmt: skip
    paradigm = LeftRightImagery(fmin=8, fmax=32)
    for name, evaluation, options in evaluations():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            runner = evaluation(
                paradigm=paradigm, datasets=[dataset], overwrite=True, hdf5_path=str(tmp_path), suffix=name.replace(" ", ""),
                random_state=0, **options,
            )  # fmt: skip
            results = runner.process(pipelines())
        assert set(results["pipeline"]) == set(pipelines()), name
        assert np.isfinite(results["score"]).all(), name
        counts = results.groupby("pipeline").size()
        assert counts.nunique() == 1, name
