"""Trials as estimators take them: covariances ``(trials, n, n)``, or epochs ``(trials, channels,
samples)``."""

from __future__ import annotations

import json
import warnings

import numpy as np
from sklearn.exceptions import DataConversionWarning

from . import _core
from ._arrays import as_real
from ._info import is_epochs, microvolts
from ._trials import Trials

ESTIMATORS = ("sample", "ledoit-wolf", "oas", "schaefer-strimmer")

#: What epochs need that are given in the place of covariances.
OPTION = (
    "Epochs (trials, channels, samples) need the option covariance='ledoit-wolf', or 'sample', \
'oas' or 'schaefer-strimmer'"
)


def check_trials(X, covariance=None, name="X"):
    """Covariances as a symmetric float64 stack, C-contiguous; epochs are reduced by the estimator
    named.

    What is symmetric and positive up to rounding in the type of the input is so: a matrix of
    float32 may be off by more than one of float64.

    Raises
    ------
    ValueError
        With the index of the first value that is not finite and of the first matrix that is no
        covariance.
    """
    x, rounding = as_trials(X, covariance, name)
    return check_spd(x, name, rounding)


def check_views(X, covariance=None, name="X"):
    """Covariances ``(trials, n, n)``, or of several views ``(trials, views, n, n)``, as they were
    given."""
    given = X.X if isinstance(X, Trials) else X
    if is_epochs(X) or np.ndim(given) != 4:
        return check_trials(X, covariance, name)
    if covariance is not None:
        raise ValueError(
            f"{name} already holds views, but covariance={covariance!r} estimates covariances from "
            "epochs: leave it out."
        )
    x = as_real(given, name, ndim=4)
    if x.shape[0] == 0 or x.shape[1] == 0:
        raise ValueError(
            f"Found array with 0 sample(s) (shape={x.shape}) while a minimum of 1 is required: "
            f"{name}."
        )
    return check_trials(x.reshape((-1, *x.shape[2:])), None, name).reshape(x.shape)


def as_trials(X, covariance=None, name="X"):
    """Covariances as they are, and the relative rounding that their type allows for."""
    if isinstance(X, Trials):
        if covariance is not None:
            raise ValueError(
                f"{name} already holds covariances, but covariance={covariance!r} estimates them "
                "from epochs: leave it out."
            )
        X = X.X
    elif is_epochs(X):
        X = microvolts(X)
    x = as_real(X, name, ndim=1)
    if x.ndim != 3:
        hint = "Reshape your data: one covariance is X[np.newaxis]. " if x.ndim == 2 else ""
        raise ValueError(
            f"Expected 3D array, got {x.ndim}D array instead: {name} of shape {x.shape} is not "
            f"(trials, n, n). {hint}{OPTION}."
        )
    if len(x) == 0:
        raise ValueError(
            f"Found array with 0 sample(s) (shape={x.shape}) while a minimum of 1 is required: "
            f"{name}."
        )
    if x.shape[1] == 0 or x.shape[2] == 0:
        raise ValueError(
            f"Found array with 0 feature(s) (shape={x.shape}) while a minimum of 1 is required: "
            f"{name}."
        )
    rounding = np.sqrt(np.finfo(x.dtype).eps)
    x = np.ascontiguousarray(x, dtype=np.float64)
    if not np.isfinite(x).all():
        where = tuple(np.argwhere(~np.isfinite(x))[0].tolist())
        raise ValueError(
            f"Input {name} contains NaN or infinity: {name}[{', '.join(map(str, where))}] is "
            f"{x[where]}."
        )
    if covariance is not None:
        if covariance not in ESTIMATORS:
            raise ValueError(
                f"covariance must be None or one of {', '.join(ESTIMATORS)}, got {covariance!r}."
            )
        if x.shape[1] == x.shape[2] and np.array_equal(x, np.swapaxes(x, 1, 2)):
            raise ValueError(
                f"{name} already holds covariances (its matrices are symmetric), but "
                f"covariance={covariance!r} estimates them from epochs: leave it out."
            )
        return _core.covariances(x, covariance), rounding
    if x.shape[1] != x.shape[2]:
        raise ValueError(
            f"{name} of shape {x.shape} does not hold square matrices. {OPTION}"
            + (
                "; in a pipeline, stiefel.make_pipeline hands them through the steps before."
                if name.startswith("X_target")
                else "."
            )
        )
    return x, rounding


def check_channels(estimator, x):
    """As many channels as a fitted estimator was trained on."""
    found, views = (
        x.shape[1] if x.ndim == 4 else 1,
        getattr(getattr(estimator, "_model", None), "views", 1),
    )
    if found != views:
        raise ValueError(
            f"X has {found} view{'s' * (found != 1)} of each trial, but {type(estimator).__name__} "
            f"was trained on {views}: make the same "
            "bands and windows."
        )
    if x.shape[-1] != estimator._channels:
        raise ValueError(
            f"X has {x.shape[-1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator._channels} features as input."
        )


def check_spd(X, name, rounding):
    """Symmetric, and made so exactly, and not negative definite anywhere: what diagonal loading can
    still save passes."""
    transposed = np.swapaxes(X, 1, 2)
    if not np.array_equal(X, transposed):
        skew = np.abs(X - transposed).max(axis=(1, 2))
        bad = np.flatnonzero(skew > rounding * np.abs(X).max(axis=(1, 2)))
        if len(bad):
            raise ValueError(
                f"{name}[{bad[0]}] is not symmetric: entries differ by {skew[bad[0]]:.3g}. Pass "
                "covariances."
            )
        X = (X + transposed) / 2
    try:
        np.linalg.cholesky(X)
        return X
    except np.linalg.LinAlgError:
        pass  # Rank-deficient ones are welcome, the others are told apart below.
    diagonal = np.diagonal(X, axis1=1, axis2=2)
    bad = np.argwhere(diagonal <= 0)
    if len(bad):
        trial, channel = bad[0]
        raise ValueError(
            f"{name}[{trial}] is not positive definite: its channel {channel} has variance "
            f"{diagonal[trial, channel]:.3g}. "
            "Drop flat channels and reject broken trials."
        )
    values = np.linalg.eigvalsh(X)
    bad = np.flatnonzero(values[:, 0] < -rounding * values[:, -1])
    if len(bad):
        raise ValueError(
            f"{name}[{bad[0]}] is not positive definite: its smallest eigenvalue is "
            f"{values[bad[0], 0]:.3g}, its largest "
            f"{values[bad[0], -1]:.3g}. Pass covariances."
        )
    return X


def check_labels(y, count, name="y"):
    """One class per trial."""
    if y is None:
        raise ValueError(f"{name} is needed and was not given.")
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected.",
            DataConversionWarning,
            stacklevel=3,
        )
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(
            f"{name} should be a 1d array, got an array of shape {labels.shape} instead."
        )
    if len(labels) != count:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: [{count}, {len(labels)}]"
        )
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError(
            f"Input {name} contains NaN or infinity: "
            f"{name}[{np.flatnonzero(~np.isfinite(labels))[0]}]."
        )
    return labels


def check_classes(names, classes, weight=None):
    """Two classes at least, of two trials at least; where weights are repetitions, of one trial
    that counts for two."""
    if len(names) < 2:
        raise ValueError(
            "This solver needs samples of at least 2 classes in the data, but the data contains "
            f"only one class: {names[0]!r}"
        )
    counts = np.maximum(np.bincount(classes), np.bincount(classes, weight))
    if counts.min() < 2:
        rare = int(counts.argmin())
        trial = int(np.flatnonzero(classes == rare)[0])
        raise ValueError(
            f"class {names[rare]!r} has only one trial, number {trial}: at least two trials of "
            "every class are needed to learn it."
        )


def one_of(name, value, known):
    """The value of an option that has a few."""
    if not any(value is k if k is None else isinstance(value, str) and value == k for k in known):
        raise ValueError(f"{name} must be one of {', '.join(map(str, known))}, got {value!r}.")
    return value


def n_threads(n_jobs):
    """Threads for ``n_jobs``, joblib's way; None is one, or what a joblib context says."""
    from joblib import effective_n_jobs

    return max(1, effective_n_jobs(n_jobs))


def to_json(value):
    """JSON for the core; numbers and lists may be NumPy's."""
    numpy = (np.generic, np.ndarray)
    return json.dumps(
        value,
        default=lambda v: v.tolist() if isinstance(v, numpy) else json.JSONEncoder().default(v),
    )
