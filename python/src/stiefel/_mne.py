"""Trials from MNE's objects, and MNE's epochs from arrays."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _core, _domains
from ._info import (
    channels_of,
    check_recipe,
    elsewhere,
    event_names,
    events_of,
    good_eeg,
    of_channels,
)
from ._optional import needed
from ._parameters import Covariance
from ._trials import Preparation, Trials, of_core
from ._validation import as_trials


def from_epochs(
    epochs: Any,
    domains: str | ArrayLike | None = None,
    covariance: Covariance = "ledoit-wolf",
    *,
    domain: str | None = None,
    band: tuple[float, float] | None = None,
) -> Trials:
    """Covariances of MNE epochs that are filtered and cut.

    The EEG channels are used that ``info`` does not mark as bad, with all projections applied. What
    ``info`` says travels with the trials: band, window, sampling rate and reference. A model
    refuses trials that contradict those it was trained on. How the epochs were filtered is not
    known; see :class:`Views` for epochs or recordings that are filtered here. A baseline makes no
    difference: covariances do not depend on constants.

    Parameters
    ----------
    epochs : mne.Epochs
        Epochs; band-pass the recording first.
    domains : None | str | ndarray, shape (trials,), default=None
        Whose trials they are: the name of a column of ``epochs.metadata``, or a name or number per
        trial.
    covariance : {"sample", "ledoit-wolf", "oas", "schaefer-strimmer"}, default="ledoit-wolf"
        Estimator. The sample covariance is divided by the number of samples minus one.
    domain : None | str, default=None
        One name for all of them, in the place of ``domains``; without either they belong to the
        domain "all".
    band : None | (float, float), default=None
        The pass band in Hz, if MNE did not filter the signal and ``info`` knows of no filter.

    Returns
    -------
    trials : Trials
        Covariances in µV², classes from the event names.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel import from_epochs, to_epochs
    >>> signals = np.random.default_rng(0).standard_normal((10, 3, 200))
    >>> epochs = to_epochs(signals, ["C3", "Cz", "C4"], 100.0, ["left", "right"] * 5)
    >>> trials = from_epochs(epochs, domain="anna", band=(8, 32))
    >>> trials.X.shape, trials.y[:2].tolist(), trials.channels
    ((10, 3, 3), ['left', 'right'], ['C3', 'Cz', 'C4'])
    >>> print(trials.preparation)  # doctest: +ELLIPSIS
    100 Hz, 8–32 Hz, 0–1.99 s (filtered and cut before; filter not known), ...
    """
    y = event_names(epochs)
    if domains is None:
        domains = [_domains.ONLY if domain is None else domain] * len(y)
    elif domain is not None:
        raise ValueError(
            "Pass either domains, which says whose each trial is, or domain, one name for all."
        )
    elif isinstance(domains, str):
        columns = [] if epochs.metadata is None else list(epochs.metadata)
        if domains not in columns:
            listed = ", ".join(map(str, columns))
            has = f"whose columns are {listed}" if columns else "which these epochs do not have"
            raise ValueError(
                f"domains={domains!r} is not a column of epochs.metadata, {has}. One name for all "
                f"epochs is domain={domains!r}."
            )
        domains = epochs.metadata[domains]
    column = np.array(_domains.names_of(domains, len(y), "domains", complete=True))
    x = as_trials(epochs, covariance, "epochs")[0]
    made = Preparation(*elsewhere(epochs, covariance, band))
    return Trials(x, y, column, None, good_eeg(epochs), preparation=made)


def from_raw(
    raw: Any,
    recipe: str | Mapping[str, Any] | Preparation,
    events: ArrayLike | None = None,
    event_id: Mapping[str, int] | None = None,
    *,
    domain: str | Sequence[str] | None = None,
) -> Trials:
    """Trials of recordings of MNE, by a recipe: as ``stiefel prepare`` makes them of files.

    Parameters
    ----------
    raw : mne.io.Raw | list of mne.io.Raw
        Recordings, before they are filtered. Channels that ``info`` marks as bad are left out, and
        projections are applied; annotations that begin with "bad" leave out the events they touch.
    recipe : str | dict | Preparation
        See :class:`Views`.
    events : None | ndarray, shape (n, 3), default=None
        Events of MNE; None takes the annotations.
    event_id : None | dict, default=None
        Names of the codes of ``events``; they are the classes, if the recipe names none.
    domain : None | str | list of str, default=None
        Whose recording it is, or each of them is; None is one domain, "all".

    Returns
    -------
    trials : Trials
        Covariances of every view in µV², classes, names of channels, and how they were made.

    Examples
    --------
    >>> import mne
    >>> import numpy as np
    >>> from stiefel import from_raw
    >>> info = mne.create_info(["C3", "Cz", "C4"], 100.0, "eeg")
    >>> noise = 1e-5 * np.random.default_rng(0).standard_normal((3, 6000))
    >>> raw = mne.io.RawArray(noise, info, verbose="error")
    >>> _ = raw.set_annotations(mne.Annotations([5.0, 15.0, 25.0, 35.0], 4.0, ["T1", "T2"] * 2))
    >>> trials = from_raw(raw, {"views": "choir", "classes": ["T1=hands", "T2=feet"]})
    >>> trials.X.shape, trials.y.tolist()
    ((4, 6, 3, 3), ['hands', 'feet', 'hands', 'feet'])
    """
    several = list(raw) if isinstance(raw, (list, tuple)) else [raw]
    names = [domain] * len(several) if domain is None or isinstance(domain, str) else list(domain)
    if len(names) != len(several):
        raise ValueError(f"domain has {len(names)} names for {len(several)} recordings.")
    if events is not None and len(several) > 1:
        raise ValueError("events belong to one recording; give several their annotations.")
    complete = recipe_of(recipe)
    if not complete["classes"] and event_id:
        complete["classes"] = list(event_id)
    signals = [
        _signal(one, complete, events, event_id, _domains.ONLY if name is None else str(name))
        for one, name in zip(several, names)
    ]
    found, outside, _ = _core.prepare_recordings(json.dumps(complete), signals)
    if outside:
        warnings.warn(
            f"{outside} events are too near to an end of their recording for all windows: they "
            "are left out.",
            UserWarning,
            stacklevel=2,
        )
    return of_core(found)


def recipe_of(recipe):
    """The complete recipe, as a dictionary."""
    if isinstance(recipe, Preparation):
        if "recipe" not in recipe:
            raise ValueError(
                "this preparation has no recipe: the signal was filtered and cut elsewhere."
            )
        # A rate that nobody asked for is that of the recordings.
        given = {"rate": recipe["recorded_rate"], **recipe["recipe"]}
    else:
        given = {"views": recipe} if isinstance(recipe, str) else recipe
    if not isinstance(given, Mapping):
        raise ValueError(f"a recipe is a name, a dictionary or a Preparation, got {recipe!r}.")
    return json.loads(_core.recipe(json.dumps(dict(given))))


def _signal(raw, recipe, events, event_id, domain):
    names = check_recipe(raw, recipe)
    channels = channels_of(raw, names)
    return {
        "data": np.ascontiguousarray(of_channels(raw, names)),
        "sfreq": float(raw.info["sfreq"]),
        "channels": channels,
        "unit": "µV",
        "events": events_of(raw, recipe, events, event_id),
        "domain": domain,
    }


def to_epochs(
    X: ArrayLike, ch_names: Sequence[str], sfreq: float, y: ArrayLike, tmin: float = 0.0
) -> Any:
    """MNE epochs from arrays in microvolts.

    Parameters
    ----------
    X : ndarray, shape (trials, channels, samples)
        Trials in µV.
    ch_names : list of str
        Names of the channels.
    sfreq : float
        Samples per second.
    y : ndarray, shape (trials,)
        Classes, which become event names.
    tmin : float, default=0.0
        Time of the first sample.

    Returns
    -------
    epochs : mne.EpochsArray
        Epochs in volts.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel import to_epochs
    >>> y = ["left", "right", "left", "right"]
    >>> epochs = to_epochs(np.zeros((4, 2, 50)), ["C3", "C4"], 100.0, y)
    >>> len(epochs["left"]), epochs.info["sfreq"]
    (2, 100.0)
    """
    mne = needed("mne", "epochs of MNE")
    data = np.asarray(X, dtype=float)
    classes, codes = np.unique(np.asarray(y).astype(str), return_inverse=True)
    step = data.shape[2]
    events = np.stack([np.arange(len(data)) * step, np.zeros(len(data), int), codes + 1], axis=1)
    info = mne.create_info(list(ch_names), sfreq, "eeg")
    event_id = {name: i + 1 for i, name in enumerate(classes)}
    return mne.EpochsArray(data * 1e-6, info, events, tmin=tmin, event_id=event_id, verbose="error")
