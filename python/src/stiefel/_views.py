"""Covariances of epochs in several frequency bands and time windows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._parameters import Covariance
from ._trials import is_epochs, microvolts
from ._validation import as_real


def views(
    epochs: Any,
    views: str = "choir",
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
    views : str, default="choir"
        "broad" (band and window alone), "choir" (10–14 and 20–28 Hz beside the band, and all three
        in an earlier, shorter window too), or a list of bands and windows, the broad one first:
        "8-32@0.5-3.5,10-14@0.5-3.5".
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
