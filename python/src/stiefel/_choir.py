"""CHOIR: all views of a trial, weights shared and per person, and calibration with a few labels."""

from __future__ import annotations

import json
from typing import Literal

import numpy as np

from . import _core
from ._calibration import CalibratedClassifier
from ._parameters import (
    Auto,
    ClassWeight,
    Count,
    Covariance,
    HandleUnknown,
    LabelFormat,
    NotNegative,
    Positive,
    Seed,
    Share,
    store,
)
from ._validation import check_views, n_threads, to_json

NewDomain = Literal["own-mean", "causal", "pooled"]


def new_person(policy, kappa):
    """The policy for the mean of a domain without training trials, as JSON."""
    return json.dumps(
        {"policy": policy} if policy == "pooled" else {"policy": policy, "kappa": float(kappa)}
    )


class ChoirClassifier(CalibratedClassifier):
    """CHOIR (Common Head, Own Increments, Riemannian): shared weights plus those of each person.

    One model decodes people it knows, people it has never seen, and people it has just met. A trial
    has one or several views: covariances of the same channels in several frequency bands and time
    windows (:func:`views`). They are reduced to the directions in which classes differ within
    people, and centred person by person. They are classified by weights that everybody shares, plus
    what the labelled trials of each person add. Everything is found in closed form, without a seed
    except for the validation part, which only gives a score. A new person is decided by the shared
    weights, and :meth:`calibrate` adds their own from two labelled trials on.

    Parameters
    ----------
    filters : int | "auto", default="auto"
        Directions that are kept of the first view, the broad one; "auto" keeps 16. Of each other
        view 12 are kept. With fewer channels, all are kept.
    shared_variance : float, default=0.1
        Prior variance of the weights everybody shares.
    own_variance : float, default=2.0
        Prior variance of what a domain adds to them; 0 gives everybody the same weights.
    adapt : {"own-mean", "causal", "pooled"}, default="own-mean"
        What the mean of a new domain is made of: all its unlabelled trials at hand, those up to the
        one decided, or none. The labelled trials of a calibrated domain are always part of it; with
        "pooled" they are all of it.
    kappa : float, default=10.0
        How many trials the other people count for in that mean.
    handle_unknown : {"error", "new"}, default="error"
        What happens at predict with a name that no training domain had: an error, or a new domain,
        as when each subject is left out in turn.
    label_format : {"class", "domain/class"}, default="class"
        What the labels are: classes, or pyRiemann's "domain/class", where the class stands after
        the last slash.
    covariance : None | {"sample", "ledoit-wolf", "oas", "schaefer-strimmer"}, default=None
        None takes covariances; a name takes epochs (trials, channels, samples) and estimates them.
        The sample covariance is divided by the number of samples minus one.
    validation_fraction : float, default=0.15
        Share of every (domain, class) cell that is not fitted at first and gives the validation
        score; everything is then fitted on all trials.
    class_weight : None | dict | "balanced", default=None
        The probability of each class is multiplied by its weight: with {A: 100, B: 1}, the odds of
        A are 100 times higher. The fit makes the classes of each domain count alike, which is
        "balanced".
    random_state : None | int | RandomState, default=None
        Seed of the validation part.
    n_jobs : None | int, default=None
        Threads; the result does not depend on it.
    verbose : int, default=0
        Print what was fitted.

    Attributes
    ----------
    classes_ : ndarray
        The classes, in the order of the probabilities.
    domains_ : ndarray of str
        The domains it knows: those of training, and those it was calibrated to.
    n_views_ : int
        Views of a trial.
    filters_ : ndarray, shape (n, k)
        The directions in which classes differ most within people, most discriminative first.
    n_features_in_ : int
        Channels.
    channels_ : list of str | None
        Their names, if known.
    preparation_ : Preparation
        How the training trials were made, if known; print it.

    Examples
    --------
    >>> from stiefel import ChoirClassifier, load_synthetic
    >>> data = load_synthetic("BNCI2015001", subjects=3, trials_per_class=20, random_state=0)
    >>> new = data.domains == "S03"
    >>> clf = ChoirClassifier(random_state=0).fit(data[~new])
    >>> met = clf.calibrate(data[new][:8])
    >>> met.domains_.tolist()
    ['S01', 'S02', 'S03']
    >>> met.predict_proba(data[new][8:]).shape
    (30, 2)
    """

    _kinds = ("choir",)
    _calibrates = True
    _weighs_loss = False
    _counts_alike = True

    def __init__(
        self,
        filters: Auto | Count = "auto",
        shared_variance: Positive = 0.1,
        own_variance: NotNegative = 2.0,
        adapt: NewDomain = "own-mean",
        kappa: NotNegative = 10.0,
        handle_unknown: HandleUnknown = "error",
        label_format: LabelFormat = "class",
        covariance: Covariance | None = None,
        validation_fraction: Share = 0.15,
        class_weight: ClassWeight = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: bool | int = 0,
    ) -> None:
        store(self, locals())

    def _trials(self, X, name="X"):
        """Covariances ``(trials, views, n, n)``."""
        x = check_views(X, self.covariance, name)
        return x if x.ndim == 4 else x[:, np.newaxis]

    def _unseen(self):
        return _core.unseen(new_person(self.adapt, self.kappa), "input-only")

    def _train(self, data, validation, seed):
        given = {"shared": float(self.shared_variance), "own": float(self.own_variance)}
        if self.filters != "auto":
            given["filters"] = self.filters
        sizes = data["x"].shape[1], len(data["domain_names"])
        spec, scaling = _core.spec("choir", to_json(given), *sizes)
        model = _core.fit(data, validation, spec, scaling, n_threads(self.n_jobs), None, None)
        if self.verbose:
            print(
                f"[{type(self).__name__}] {model.views} views, {len(model.domains)} domains",
                flush=True,
            )
        return model

    @classmethod
    def _parameters_of(cls, model):
        own = json.loads(model.spec)["settings"]
        return {
            "filters": own["filters"],
            "shared_variance": own["shared"],
            "own_variance": own["own"],
        }

    def _describe(self):
        super()._describe()
        self.filters_ = self._model.filters()[0]
