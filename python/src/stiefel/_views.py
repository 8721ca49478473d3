"""The preset ``recommended``: all views of a trial, weights that are partly everybody's, and calibration with a few labelled trials."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from . import _core, _domains
from ._base import labelled
from ._fitted import DomainClassifier
from ._parameters import Auto, ClassWeight, Count, Covariance, HandleUnknown, LabelFormat, NotNegative, Positive, Seed, Share, store
from ._trials import Trials, is_epochs, microvolts, told
from ._validation import as_real, check_labels, check_views, n_threads, to_json

if TYPE_CHECKING:
    from typing_extensions import Self

NewDomain = Literal["own-mean", "causal", "pooled"]


class ViewsClassifier(DomainClassifier):
    """One model for people it knows, people it has never seen, and people it has just met.

    A trial has one or several views: covariances of the same channels in several frequency bands and time windows (:func:`views`). They are
    reduced to the directions in which classes differ within people, and centred person by person. They are classified by weights that everybody
    shares, plus what the labelled trials of each person add. Everything is found in closed form, without a seed except for the validation part,
    which only gives a score. A new person is decided by the shared weights, and :meth:`calibrate` adds their own from two labelled trials on.

    Parameters
    ----------
    n_filters : int | "auto", default="auto"
        Directions that are kept of the first view, the broad one; "auto" keeps 16. Of each other view 12 are kept. With fewer channels, all are kept.
    shared_variance : float, default=0.1
        Prior variance of the weights everybody shares.
    own_variance : float, default=2.0
        Prior variance of what a domain adds to them; 0 gives everybody the same weights.
    new_domain : {"own-mean", "causal", "pooled"}, default="own-mean"
        What the mean of a new domain is made of: all its unlabelled trials at hand, those up to the one decided, or none. The labelled trials of a
        calibrated domain are always part of it; with "pooled" they are all of it.
    kappa : float, default=10.0
        How many trials the other people count for in that mean.
    handle_unknown : {"error", "new"}, default="error"
        What happens at predict with a name that no training domain had: an error, or a new domain, as when each subject is left out in turn.
    label_format : {"class", "domain/class"}, default="class"
        What the labels are: classes, or pyRiemann's "domain/class", where the class stands after the last slash.
    covariance : None | {"scm", "lwf", "oas", "sch"}, default=None
        None takes covariances; a name takes epochs (trials, channels, samples) and estimates one view of each.
    validation_fraction : float, default=0.15
        Share of every (domain, class) cell that is not fitted at first and gives the validation score; everything is then fitted on all trials.
    class_weight : None | dict | "balanced", default=None
        Weights of the classes on top of those that make the classes of each domain count alike.
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
    >>> from stiefel import ViewsClassifier, load_synthetic
    >>> data = load_synthetic("BNCI2015001", subjects=3, trials_per_class=20, random_state=0)
    >>> new = data.domains == "S03"
    >>> clf = ViewsClassifier(random_state=0).fit(data[~new])
    >>> met = clf.calibrate(data[new][:8])
    >>> met.domains_.tolist()
    ['S01', 'S02', 'S03']
    >>> met.predict_proba(data[new][8:]).shape
    (30, 2)
    """

    _kinds = ("recommended",)
    _calibrates = True

    def __init__(
        self,
        n_filters: Auto | Count = "auto",
        shared_variance: Positive = 0.1,
        own_variance: NotNegative = 2.0,
        new_domain: NewDomain = "own-mean",
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
        policy = {"policy": self.new_domain}
        if self.new_domain != "pooled":
            policy["kappa"] = float(self.kappa)
        return _core.unseen(json.dumps(policy), "input-only")

    def _train(self, data, validation, seed):
        config = json.loads(_core.views_configuration())
        if self.n_filters != "auto":
            config["blocks"][0]["filters"] = self.n_filters
        config.update(shared=float(self.shared_variance), own=float(self.own_variance))
        model = _core.fit(data, validation, to_json({"kind": "views", "config": config}), None, n_threads(self.n_jobs), None, None)
        if self.verbose:
            print(f"[{type(self).__name__}] {model.views} views, {len(model.domains)} domains", flush=True)
        return model

    def _describe(self):
        super()._describe()
        self.n_views_ = self._model.views
        self.filters_ = self._model.filters()[0]

    def calibrate(
        self,
        X: ArrayLike | Trials,
        y: ArrayLike | None = None,
        domain: Any = None,
        sample_domain: ArrayLike | None = None,
        subjects: ArrayLike | None = None,
    ) -> Self:
        """Learn the own weights of people, new or known, from a few of their labelled trials; nothing else changes, to the bit.

        Two trials of two classes are enough to begin with, and more can follow in further calls, with the same result as all of them at once.
        From then on a new domain is a known one, and its mean goes on with unlabelled trials as ``new_domain`` says. Take equally many trials of
        each class, if you can.

        Parameters
        ----------
        X : ndarray, shape (trials, views, n, n) or (trials, n, n) | Trials
            Covariances that are new to the model; or epochs with the option ``covariance``.
        y : None | ndarray, shape (trials,), default=None
            Classes, among those of training. None takes those of ``Trials``.
        domain : None | str | int, default=None
            Whose trials they are, if all belong to one domain.
        sample_domain, subjects : None | ndarray, shape (trials,), default=None
            The domain of each trial. If none of the three is given, it is that of ``Trials``, or the one domain "target".

        Returns
        -------
        self : object
            The estimator, calibrated.
        """
        x, own = self._accept(X)
        labels = check_labels(told(X).y if y is None else y, len(x))
        if domain is not None:
            if sample_domain is not None or subjects is not None:
                raise ValueError("Pass either domain or sample_domain or subjects: each says whose trial it is.")
            subjects = [domain] * len(x)
        by_sample, by_subject = own.whose(sample_domain, subjects)
        names = _domains.given(len(x), by_sample, by_subject, complete=True)
        self._calibrate(x, labels, [_domains.TARGET] * len(x) if names is None else names, own)
        return self

    def partial_fit(
        self,
        X: ArrayLike | Trials,
        y: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        sample_domain: ArrayLike | None = None,
        subjects: ArrayLike | None = None,
    ) -> Self:
        """The same as :meth:`calibrate`, under scikit-learn's name; the model must be fitted.

        Parameters
        ----------
        X : ndarray, shape (trials, views, n, n) or (trials, n, n) | Trials
            Labelled trials that are new to the model.
        y : None | ndarray, shape (trials,), default=None
            Classes, among those of training. None takes those of ``Trials``.
        classes : None | ndarray, default=None
            Not needed: the classes are those of training, and others are refused.
        sample_domain, subjects : None | ndarray, shape (trials,), default=None
            Domains; see :meth:`calibrate`.

        Returns
        -------
        self : object
            The estimator, calibrated.
        """
        check_is_fitted(self)
        if classes is not None and not set(np.asarray(classes).tolist()) <= set(self.classes_.tolist()):
            raise ValueError(f"the model was trained on the classes {self.classes_.tolist()}, but classes says {np.asarray(classes).tolist()}.")
        return self.calibrate(X, y, None, sample_domain, subjects)

    def _calibrate(self, x, labels, domains, own):
        different, numbers = _domains.factor(domains)
        unknown = [c for c in dict.fromkeys(labels.tolist()) if c not in self.classes_.tolist()]
        if unknown:
            raise ValueError(f"class {unknown[0]!r} is not among those of training: {self.classes_.tolist()}.")
        classes = np.searchsorted(self.classes_, labels)
        data = labelled(x, classes, self.classes_, numbers, different, None, own.channels, own.preparation)
        model, said = self._model.calibrate(data)
        for text in said:
            warnings.warn(f"calibration with uneven classes: {text}", UserWarning, stacklevel=3)
        self._model = model
        self._describe()


def views(
    epochs: Any,
    views: str = "recommended",
    sfreq: float | None = None,
    window: tuple[float, float] | None = None,
    band: tuple[float, float] = (8.0, 32.0),
    covariance: Covariance = "scm",
    order: int = 4,
    causal: bool = False,
) -> NDArray[np.float64]:
    """Covariances of epochs in several frequency bands and time windows.

    Epochs are filtered one by one (Butterworth, both ways unless ``causal``). They should begin before the first window and end after the last one:
    the filter needs room. Each band is filtered once, for all its windows.

    Parameters
    ----------
    epochs : mne.Epochs | ndarray, shape (trials, channels, samples)
        Epochs that are not yet filtered to a band; of MNE the EEG channels.
    views : str, default="recommended"
        "broad" (band and window alone), "recommended" (10–14 and 20–28 Hz beside the band, and all three in an earlier, shorter window too),
        or a list of bands and windows, the broad one first: "8-32@0.5-3.5,10-14@0.5-3.5".
    sfreq : None | float, default=None
        Samples per second; MNE's epochs know theirs.
    window : None | (float, float), default=None
        Seconds of the broad view, counted from the event of MNE's epochs, or from the first sample of an array; None takes all.
    band : (float, float), default=(8.0, 32.0)
        Hertz of the broad view.
    covariance : {"scm", "lwf", "oas", "sch"}, default="scm"
        The estimator.
    order : int, default=4
        Order of the filter.
    causal : bool, default=False
        Filter forwards only, as a live stream is filtered.

    Returns
    -------
    X : ndarray, shape (trials, views, channels, channels)
        The covariances, in µV² of MNE's epochs.

    Examples
    --------
    >>> import numpy as np
    >>> import stiefel
    >>> epochs = np.random.default_rng(0).normal(size=(6, 4, 700))
    >>> stiefel.views(epochs, sfreq=160, window=(0.5, 3.5)).shape
    (6, 6, 4, 4)
    >>> stiefel.views(epochs, "8-30@0-4,10-14@1-3", sfreq=160).shape
    (6, 2, 4, 4)
    """
    start = 0.0
    if is_epochs(epochs):
        start, sfreq = float(epochs.tmin), float(epochs.info["sfreq"])
        epochs = microvolts(epochs)
    if sfreq is None:
        raise ValueError("sfreq is needed: an array does not say how many samples a second has.")
    x = np.ascontiguousarray(as_real(epochs, "epochs", ndim=3), dtype=np.float64)
    if x.ndim != 3:
        raise ValueError(f"Expected 3D array, got {x.ndim}D array instead: epochs of shape {x.shape} are not (trials, channels, samples).")
    flat, count = _core.views(x, float(sfreq), views, start, window, tuple(map(float, band)), covariance, order, causal)
    return flat.reshape((len(x), count, *flat.shape[1:]))
