"""
A MOABB benchmark
=================

Classifiers beside a pyRiemann pipeline; each person is left out in turn. MOABB's fake dataset keeps this offline; put any motor-imagery dataset of MOABB in its
place. MOABB gives the subjects at fit and no names at predict: the policy ``unseen`` decodes the person left out.
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

dataset = FakeDataset(["left_hand", "right_hand"], n_subjects=3, n_sessions=1, n_runs=1, n_events=30, seed=0, paradigm="imagery")
pipelines = {
    "DASP": stiefel.DaspClassifier(covariance="lwf", max_epochs=5, random_state=0),
    # A step before the classifier: this pipeline hands subjects and target trials on, scikit-learn's own does not.
    "CHOIR": stiefel.make_pipeline(Covariances("lwf"), stiefel.ChoirClassifier(random_state=0)),
    "MDM": stiefel.make_pipeline(Covariances("lwf"), MDM()),
}
with tempfile.TemporaryDirectory() as folder:
    evaluation = CrossSubjectEvaluation(
        paradigm=LeftRightImagery(fmin=8, fmax=32), datasets=[dataset], overwrite=True, hdf5_path=folder
    )
    results = evaluation.process(pipelines)
print(results.groupby("pipeline")["score"].agg(["mean", "std", "size"]))
