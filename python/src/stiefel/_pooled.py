"""The preset ``recommended-1``: one discriminative filter, partly pooled weights, one view of a trial."""

from __future__ import annotations

import json

import numpy as np

from . import _core
from ._fitted import DomainClassifier
from ._options import Whitening
from ._parameters import Auto, ClassWeight, Count, Covariance, HandleUnknown, LabelFormat, NotNegative, Positives, Seed, Share, store
from ._preconditioning import preconditioning, whitening_of
from ._validation import n_threads, to_json


class PooledClassifier(DomainClassifier):
    """One discriminative filter for everybody, and a classifier whose weights are partly shared and partly each domain's own.

    Covariances are whitened per domain on the training part, and projected by the k directions in which classes differ most within domains.
    A hierarchical logistic regression classifies them from the logarithm of what the filter keeps. It has shared weights plus each domain's
    own, drawn towards zero. Everything is found in closed steps, without a seed except for the validation part. A domain without training
    trials is decided by the shared weights.

    Parameters
    ----------
    n_filters : int | "auto", default="auto"
        Directions k that the filter keeps; "auto" keeps 16. With fewer channels, all are kept.
    C : float | sequence of float, default=(1.0, 3.0, 10.0, 30.0)
        Inverse strength of the L2 penalty. Of several, the one with the best balanced accuracy on the validation part is taken.
    rho : float, default=8.0
        Prior variance of a domain's own weights over that of the shared ones; 0 gives everybody the same weights.
    refit : bool, default=True
        Fit once more on training and validation part together after C is chosen.
    precondition : bool, default=True
        Whether trials are whitened per domain; False takes them as they are, whitened by the caller.
    whitening : None | Whitening, default=None
        How domains with and without training trials are whitened; None for the defaults of :class:`Whitening`.
    handle_unknown : {"error", "new"}, default="error"
        What happens at predict with a name that no training domain had: an error, or a new domain, as when each subject is left out in turn.
    label_format : {"class", "domain/class"}, default="class"
        What the labels are: classes, or pyRiemann's "domain/class", where the class stands after the last slash.
    covariance : None | {"scm", "lwf", "oas", "sch"}, default=None
        None takes covariances; a name takes epochs (trials, channels, samples) and estimates them.
    validation_fraction : float, default=0.15
        Share of every (domain, class) cell that C is chosen on; 0 chooses on the training trials.
    class_weight : None | dict | "balanced", default=None
        Weights of the classes in the loss.
    random_state : None | int | RandomState, default=None
        Seed of the validation part.
    n_jobs : None | int, default=None
        Threads; the result does not depend on it.
    verbose : int, default=0
        Print what was chosen.

    Attributes
    ----------
    classes_ : ndarray
        The classes, in the order of the probabilities.
    domains_ : ndarray of str
        The training domains.
    C_ : float
        The inverse penalty that was chosen.
    filters_ : ndarray, shape (n, k)
        The filter, most discriminative direction first.
    coef_ : ndarray, shape (scores, k(k+1)/2)
        The weights everybody shares; one score for two classes, else one per class.
    domain_coef_ : ndarray, shape (domains, scores, k(k+1)/2)
        What each training domain adds to them.
    intercept_ : ndarray, shape (scores,)
        The intercepts.
    n_features_in_ : int
        Channels.
    channels_ : list of str | None
        Their names, if known.
    preparation_ : Preparation
        How the training trials were made, if known; print it.

    Examples
    --------
    >>> from stiefel import PooledClassifier, load_synthetic
    >>> data = load_synthetic("BNCI2015001", subjects=3, trials_per_class=20, random_state=0)
    >>> clf = PooledClassifier(random_state=0).fit(data.X, data.y, subjects=data.domains)
    >>> clf.predict_proba(data.X[:2], subjects=data.domains[:2]).shape
    (2, 2)
    >>> clf.filters_.shape
    (13, 13)
    """

    _kinds = ("recommended-1",)

    def __init__(
        self,
        n_filters: Auto | Count = "auto",
        C: Positives = (1.0, 3.0, 10.0, 30.0),
        rho: NotNegative = 8.0,
        refit: bool = True,
        precondition: bool = True,
        whitening: Whitening | None = None,
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

    def _train(self, data, validation, seed):
        config = json.loads(_core.preset_configuration(to_json(preconditioning(whitening_of(self)))))
        if self.n_filters != "auto":
            config["filters"] = self.n_filters
        config["head"].update(ratio=float(self.rho), candidates=np.ravel(self.C).astype(float).tolist())
        config["refit"] = bool(self.refit)
        fit = to_json({"kind": "preset", "config": config})
        model = _core.fit(data, validation, fit, None, n_threads(self.n_jobs), None, None)
        if self.verbose:
            watched = f"{len(validation)} validation" if validation else f"{len(data['classes'])} training"
            tried = ", ".join(f"{c:g}" for c in config["head"]["candidates"])
            print(f"[{type(self).__name__}] C = {model.head()[3]:g} of {tried} on {watched} trials", flush=True)
        return model

    def _describe(self):
        super()._describe()
        shared, self.domain_coef_, intercept, self.C_ = self._model.head()
        self.coef_, self.intercept_ = shared[0], np.array(intercept)
        self.filters_ = self._model.filters()[0]
