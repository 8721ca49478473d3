"""What MNE's objects say of themselves, without importing MNE."""

from __future__ import annotations

import json
import warnings

import numpy as np

from . import _core

#: MNE's number for a projection that subtracts the average of the EEG channels.
AVERAGE_PROJECTION = 10


def is_epochs(X):
    """Whether it is epochs of MNE."""
    return hasattr(X, "get_data") and hasattr(X, "event_id")


def is_raw(X):
    """Whether it is a recording of MNE."""
    return hasattr(X, "get_data") and hasattr(X, "first_samp") and not hasattr(X, "event_id")


def event_names(epochs):
    """The name of each epoch's event."""
    names = {code: name for name, code in epochs.event_id.items()}
    return np.array([names[code] for code in epochs.events[:, 2]])


def good_eeg(found):
    """Names of the EEG channels that are not marked as bad."""
    kinds, bads = found.get_channel_types(), set(found.info["bads"])
    names = [n for n, kind in zip(found.ch_names, kinds) if kind == "eeg" and n not in bads]
    if not names:
        raise ValueError("there is no EEG channel that is not marked as bad in info['bads'].")
    return names


def of_channels(found, names):
    """Channels in microvolts, with all projections applied."""
    picked = found.copy().load_data().pick(list(names), exclude=())
    if any(not p["active"] for p in picked.info["projs"]):
        picked.apply_proj()
    data = picked.get_data() * 1e6
    order = [picked.ch_names.index(name) for name in names]
    return data if order == list(range(len(order))) else data.take(order, axis=-2)


def microvolts(epochs):
    """The good EEG channels of epochs, ``(trials, channels, samples)`` in µV."""
    return of_channels(epochs, good_eeg(epochs))


def reference_of(found):
    """The reference as a recipe says it: "as-recorded", "average", or "custom" if it has no
    name."""
    info = found.info
    if any(p["kind"] == AVERAGE_PROJECTION for p in info["projs"]):
        return "average"
    if not int(info["custom_ref_applied"]):
        return "as-recorded"
    # MNE notes that there was a reference, not which: channels of their average sum to zero.
    part = found.copy()[:5] if is_epochs(found) else found.copy().crop(0, min(5, found.times[-1]))
    x = part.load_data().get_data(picks=good_eeg(found))
    small = np.abs(x.mean(axis=-2)).max() <= 1e-5 * np.abs(x).max()
    return "average" if small and x.shape[-2] > 1 else "custom"


def band_of(found, band):
    """The band of a signal in Hz: what info says, or what is given if info knows of no filter."""
    low, high = float(found.info["highpass"]), float(found.info["lowpass"])
    nyquist = float(found.info["sfreq"]) / 2
    if band is None:
        return low, high
    given = tuple(map(float, band))
    for name, said, own, silent in [
        ("highpass", low, given[0], low <= 0),
        ("lowpass", high, given[1], high >= nyquist),
    ]:
        if not silent and abs(said - own) > 1e-4 * own:
            raise ValueError(f"band says {own:g} Hz, but info[{name!r}] says {said:g} Hz.")
    return given


def elsewhere(epochs, covariance, band=None):
    """How covariances of epochs were made that are filtered and cut: as JSON and in words."""
    if covariance is None:
        return None
    low, high = band_of(epochs, band)
    made = {
        "view": f"{low:.6f}-{high:.6f}@{epochs.tmin:.6f}-{epochs.tmax:.6f}",
        "rate": float(epochs.info["sfreq"]),
        "reference": reference_of(epochs),
        "estimator": covariance,
        "unit": "µV",
    }
    return _core.elsewhere(json.dumps(made))


def check_recipe(found, recipe):
    """Channels that a recipe needs of a signal.

    Raises
    ------
    ValueError
        If ``info`` contradicts the recipe, with both values.
    """
    info, views = found.info, [_pair(view.rpartition("@")[0]) for view in recipe["views"]]
    low, high = min(band[0] for band in views), max(band[1] for band in views)
    if info["highpass"] >= low:
        raise ValueError(
            f"the bands of the recipe begin at {low:g} Hz, but info['highpass'] says that the "
            f"signal was filtered at {info['highpass']:g} Hz: give the signal before this filter."
        )
    if info["lowpass"] <= high and info["lowpass"] < info["sfreq"] / 2:
        raise ValueError(
            f"the bands of the recipe end at {high:g} Hz, but info['lowpass'] says that the "
            f"signal was filtered at {info['lowpass']:g} Hz: give the signal before this filter."
        )
    reference = recipe["reference"]
    if reference == "as-recorded" and (own := reference_of(found)) != reference:
        raise ValueError(
            f"the reference of the recipe is {reference}, but info says that the signal has "
            f"another one: {own}. Give the signal before it was re-referenced."
        )
    names = list(recipe.get("channels") or good_eeg(found))
    electrodes = [] if reference in ("as-recorded", "average") else reference.split("+")
    kinds = dict(zip(found.ch_names, found.get_channel_types()))
    for name in [*names, *electrodes]:
        if name in info["bads"]:
            raise ValueError(f"the recipe needs channel {name}, which info['bads'] marks as bad.")
        if name in names and kinds.get(name, "eeg") != "eeg":
            raise ValueError(
                f"the recipe takes channel {name} for EEG, but info says that it is {kinds[name]}."
            )
    names += [name for name in electrodes if name not in names]
    own = {name.lower(): name for name in found.ch_names}
    return [own.get(name.lower(), name) for name in names]


def _pair(text):
    """Two numbers that a dash parts."""
    low, _, high = text[1:].partition("-")
    return float(text[0] + low), float(high)


def windows_of(recipe):
    """The first and the last second of all windows of a recipe."""
    windows = [_pair(view.rpartition("@")[2]) for view in recipe["views"]]
    return min(window[0] for window in windows), max(window[1] for window in windows)


def channels_of(found, names):
    """Names and types of channels, as the core takes them."""
    kinds = dict(zip(found.ch_names, found.get_channel_types()))
    missing = [name for name in names if name not in kinds]
    if missing:
        raise ValueError(
            f"the recipe needs channel {missing[0]}; the signal has {', '.join(found.ch_names)}."
        )
    return [(name, kinds[name]) for name in names]


def events_of(raw, recipe, events=None, event_id=None):
    """Events of a recording, ``(sample, onset, duration, label)``: of an array as MNE has it, or of
    the annotations; those that reach into a bad segment are left out, which is said."""
    if events is None:
        if event_id is not None:
            raise ValueError("event_id names the codes of events, and there are no events.")
        found = list(_annotated(raw))
    else:
        names = {int(code): str(code) for code in np.asarray(events)[:, 2]}
        names.update({int(code): str(name) for name, code in (event_id or {}).items()})
        samples = [(int(s) - raw.first_samp, names[int(code)]) for s, _, code in events]
        found = [(s, s / raw.info["sfreq"], 0.0, name) for s, name in samples if s >= 0]
    labels = [rule.rpartition("=")[0] or rule for rule in recipe["classes"]]
    known = sorted({label for *_, label in found})
    if not labels:
        raise ValueError(
            f"the recipe does not say which events are trials; the recording has "
            f"{', '.join(known) or 'none'}. Name labels and classes, as in "
            "{'classes': ['T1=hands', 'T2=feet']}."
        )
    wanted = [event for event in found if event[3] in labels]
    bad, (first, last) = list(_bad(raw)), windows_of(recipe)
    kept = [e for e in wanted if not any(a < e[1] + last and e[1] + first < b for a, b in bad)]
    if len(kept) < len(wanted):
        warnings.warn(
            f"{len(wanted) - len(kept)} events reach into a segment that an annotation marks as "
            "bad: they are left out.",
            UserWarning,
            stacklevel=4,
        )
    return kept


def _annotated(raw):
    notes, rate = raw.annotations, raw.info["sfreq"]
    samples = raw.time_as_index(notes.onset, use_rounding=True, origin=notes.orig_time)
    for note, sample in zip(notes, samples):
        # As exact as it is told: between the samples too.
        onset = float(note["onset"]) - raw.first_time
        onset = onset if abs(onset * rate - sample) <= 1 else sample / rate
        if sample >= 0:
            yield int(sample), float(onset), float(note["duration"]), str(note["description"])


def _bad(raw):
    for _, onset, duration, label in _annotated(raw):
        if label.lower().startswith(("bad", "edge")):
            yield onset, onset + duration
