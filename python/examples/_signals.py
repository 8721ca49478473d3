"""Synthetic motor imagery for the examples: raw signals with events, where real recordings would
be."""

import numpy as np

RATE = 160.0
CHANNELS = ["FC3", "FCz", "FC4", "C3", "Cz", "C4", "CP3", "CPz", "CP4"]
#: How strongly the rhythms of left hand, foot and right hand area reach every channel.
_REACH = np.array(
    [[0.5, 0.2, 0.1], [0.2, 0.4, 0.2], [0.1, 0.2, 0.5]]
    + [[1.0, 0.3, 0.1], [0.3, 1.0, 0.3], [0.1, 0.3, 1.0]]
    + [[0.6, 0.2, 0.1], [0.2, 0.5, 0.2], [0.1, 0.2, 0.6]]
)


def _rhythm(rng, samples, frequency):
    """A rhythm that waxes and wanes: noise around a frequency."""
    spectrum = np.fft.rfft(rng.standard_normal(samples))
    distance = (np.fft.rfftfreq(samples, 1 / RATE) - frequency) / 1.5
    rhythm = np.fft.irfft(spectrum * np.exp(-(distance**2)), samples)
    return rhythm / rhythm.std()


def motor_imagery(seed, trials=20, left=(0.35, 0.65)):
    """One person: signal in µV (channels, samples), onsets in seconds, and what was imagined,
    "hands" or "feet".

    While hands are imagined, the rhythms (11 and 22 Hz) over both hand areas fall; while feet are
    imagined, those between them fall. What is left of the rhythms
    differs from person to person and from area to area, within the bounds ``left``.
    """
    rng = np.random.default_rng(seed)
    onsets = 2 + 5.0 * np.arange(2 * trials)
    labels = rng.permutation(["hands", "feet"] * trials)
    samples = int((onsets[-1] + 6) * RATE)
    strength = np.ones((3, samples))
    depth = rng.uniform(*left, size=3)
    for onset, label in zip(onsets, labels, strict=True):
        during = slice(int((onset + 0.3) * RATE), int((onset + 4) * RATE))
        for area in (0, 2) if label == "hands" else (1,):
            strength[area, during] = depth[area]
    areas = strength * sum(
        a * np.stack([_rhythm(rng, samples, f) for _ in range(3)]) for a, f in ((9, 11), (5, 22))
    )
    mixing = _REACH * rng.uniform(0.7, 1.4, _REACH.shape)  # heads differ
    noise = (
        4 * rng.standard_normal((len(CHANNELS), samples))
        + 0.5 * rng.standard_normal(samples).cumsum() / 12
    )
    return mixing @ areas + noise, onsets, labels


def epochs_of(signal, onsets, before=0.5, after=4.5):
    """Trials (trials, channels, samples), cut around the onsets."""
    starts = ((np.asarray(onsets) - before) * RATE).astype(int)
    return np.stack([signal[:, start : start + int((before + after) * RATE)] for start in starts])


def write_csv(path, signal, onsets, labels):
    """A recording as a CSV file: time, channels in µV, and a column of markers."""
    markers = np.full(signal.shape[1], "", dtype="<U8")
    markers[(np.asarray(onsets) * RATE).astype(int)] = labels
    with open(path, "w", encoding="utf-8") as file:
        print("time", *CHANNELS, "marker", sep=",", file=file)
        for i, (row, marker) in enumerate(zip(signal.T, markers, strict=True)):
            print(f"{i / RATE:.5f}", *(f"{x:.3f}" for x in row), marker, sep=",", file=file)
