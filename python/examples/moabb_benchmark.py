"""
A MOABB benchmark
=================

CHOIR and a network beside a pyRiemann pipeline; each person is left out in turn. MOABB's fake
dataset keeps this offline; put any motor-imagery dataset of MOABB in its place.

MOABB gives the subjects at fit and no names at predict. By default (MOABB's mode "train") nothing
may look at the block of trials that is scored. So the mean of the person left out is that of the
trials up to each one (``adapt="causal"``), or that of the others (``"pooled"``, the default of
networks). ``adapt="own-mean"``, the default of CHOIR, takes all trials at hand: it belongs to the
modes in which MOABB hands trials of the target over.
"""

import tempfile
import warnings

import moabb
from moabb.datasets.fake import FakeDataset
from moabb.evaluations import CrossSubjectEvaluation
from moabb.paradigms import LeftRightImagery
from pyriemann.classification import MDM
from pyriemann.estimation import Covariances

import stiefel

warnings.simplefilter("ignore")
moabb.set_log_level("error")

dataset = FakeDataset(
    ["left_hand", "right_hand"],
    n_subjects=3, n_sessions=1, n_runs=1, n_events=30, seed=0, paradigm="imagery",
)  # fmt: skip
pipelines = {
    "DASP": stiefel.DaspClassifier(covariance="ledoit-wolf", epochs=5, random_state=0),
    # This pipeline hands subjects and target trials on, scikit-learn's own does not.
    "CHOIR": stiefel.make_pipeline(
        Covariances("lwf"), stiefel.ChoirClassifier(adapt="causal", random_state=0)
    ),
    "MDM": stiefel.make_pipeline(Covariances("lwf"), MDM()),
}
with tempfile.TemporaryDirectory() as folder:
    evaluation = CrossSubjectEvaluation(
        paradigm=LeftRightImagery(fmin=8, fmax=32),
        datasets=[dataset],
        overwrite=True,
        hdf5_path=folder,
    )
    results = evaluation.process(pipelines)
print(results.groupby("pipeline")["score"].agg(["mean", "std", "size"]))
