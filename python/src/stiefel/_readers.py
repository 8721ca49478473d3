"""Recordings, datasets and MNE's objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np

from . import _core
from ._optional import needed
from ._parameters import Covariance
from ._trials import Trials, of_core

_Geometry = Literal["Weibo2014", "BNCI2015001", "BNCI2014001"]


@dataclass
class Recording:
    """A continuous recording.

    Attributes
    ----------
    data : ndarray, shape (channels, samples)
        Microvolts, for channels that had a voltage unit.
    sfreq : float
        Samples per second.
    ch_names, ch_types, units : list of str
        Name, MNE's type and unit of every channel.
    events : list of tuple
        ``(sample, onset in seconds, duration in seconds, label)``.
    notes : list of str
        What the reader left out or assumed.
    started : None | float
        When the first sample was taken, in seconds since 1970, by the clock of the file (most
        formats tell no time zone).
    """

    data: np.ndarray
    sfreq: float
    ch_names: list
    ch_types: list
    units: list
    events: list
    notes: list = field(default_factory=list)
    started: float | None = None

    def to_mne(self) -> Any:
        """The recording as MNE has it.

        Returns
        -------
        raw : mne.io.RawArray
            In volts, marker channels in their codes, with the measurement date, and the events as
            annotations.
        """
        mne = needed("mne", "recordings of MNE")
        scaled = [unit == "µV" and kind != "stim" for unit, kind in zip(self.units, self.ch_types)]
        volts = np.where(scaled, 1e-6, 1.0)[:, np.newaxis]
        info = mne.create_info(list(self.ch_names), self.sfreq, list(self.ch_types))
        raw = mne.io.RawArray(self.data * volts, info, verbose="error")
        if self.started is not None:
            raw.set_meas_date(self.started)
        if self.events:
            _, onset, duration, label = zip(*self.events)
            raw.set_annotations(mne.Annotations(onset, duration, label), emit_warning=False)
        return raw


def read_raw(
    path: str | PathLike[str],
    index: int | None = None,
    *,
    channels: Sequence[str] | None = None,
    partial: bool = False,
    sfreq: float | None = None,
    markers: str | None = None,
    mat: str | None = None,
    stream: str | None = None,
    max_expanded: int | None = None,
) -> Recording:
    """Read a recording; the format is recognised.

    The formats are EDF, EDF+, BDF, BDF+, GDF, BrainVision, FIF, EEGLAB, XDF, BCI2000, CSV, TSV, and
    MATLAB 5 and 7.3. MATLAB files are read as BNCI and FieldTrip write them, or in any layout with
    ``mat``. Files may be packed with gzip. Files with BIDS names are read with the tables beside
    them.

    Parameters
    ----------
    path : path-like
        The file.
    index : None | int, default=None
        Which recording of a file that holds several (BNCI's MATLAB files hold one per run, files
        with gaps one per stretch); None if there is only one.
    channels : None | list of str, default=None
        Channels to read, in this order; None for all.
    partial : bool, default=False
        Whether the complete part of a file that was cut short is read.
    sfreq : None | float, default=None
        Samples per second, if the file does not say.
    markers : None | str, default=None
        How events are read from marker channels: "off", or some of "channel=STI
        014,mask=0xff,polarity=falling,threshold=2.5".
    mat : None | str, default=None
        What the variables of a MATLAB file mean, by path:
        "signal=EEG.data,rate=fs,labels=y,axis=time" (also onsets, names, unit).
    stream : None | str, default=None
        The stream of an XDF file that holds the signal, by name, type or number.
    max_expanded : None | int, default=None
        The most bytes that the packed parts of the file (gzip, MATLAB, HDF5) may expand to; None
        for 2 GiB.

    Returns
    -------
    recording : Recording
        The recording; ``.to_mne()`` converts it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from stiefel import read_raw
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.vhdr").write_text(  # BrainVision: a header beside the samples
    ...     "Brain Vision Data Exchange Header File Version 1.0\\n[Common Infos]\\n"
    ...     "DataFile=a.eeg\\nDataFormat=BINARY\\nDataOrientation=MULTIPLEXED\\nNumberOfChannels=2\\n"
    ...     "SamplingInterval=4000\\n[Binary Infos]\\nBinaryFormat=IEEE_FLOAT_32\\n"
    ...     "[Channel Infos]\\nCh1=C3,,1,µV\\nCh2=C4,,1,µV\\n", encoding="utf-8"
    ... )
    >>> np.zeros((500, 2), np.float32).tofile(folder / "a.eeg")
    >>> recording = read_raw(folder / "a.vhdr")
    >>> recording.ch_names, recording.sfreq, recording.data.shape
    (['C3', 'C4'], 250.0, (2, 500))
    """
    names = None if channels is None else [str(name) for name in channels]
    found = _core.read_recordings(
        Path(path), partial, sfreq, markers, mat, stream, names, max_expanded
    )
    if index is None:
        if len(found) != 1:
            raise ValueError(
                f"{path} holds {len(found)} recordings; say which with index=0 … {len(found) - 1}."
            )
        index = 0
    if not -len(found) <= index < len(found):
        raise ValueError(f"{path} holds {len(found)} recordings, there is no number {index}.")
    one = found[index]
    return Recording(**one)


def load_dataset(
    name: str | PathLike[str],
    subjects: list[int] | None = None,
    classes: list[str] | None = None,
    covariance: Covariance = "sample",
    *,
    sfreq: float | None = None,
    mat: str | None = None,
) -> Trials:
    """Load labelled trials: a public dataset that is on this machine, or a file.

    Parameters
    ----------
    name : str | path-like
        "BNCI2014001", "BNCI2015001", "EEGMAT", "EEGMMIDB", "Kalunga2016" or "Weibo2014", whose
        files were fetched by ``stiefel data fetch``, MOABB or MNE. The signals are band-passed
        (8–32 Hz, or the dataset's own band), cut to the dataset's window, and outliers of amplitude
        are rejected per domain. Or the path of a file of covariances or epochs (.npz, .npy, FIF,
        EEGLAB, FieldTrip, MATLAB with ``mat``).
    subjects : None | list of int, default=None
        Which subjects of a public dataset; None for all.
    classes : None | list of str, default=None
        Which classes of a public dataset; None for its default ones.
    covariance : {"sample", "ledoit-wolf", "oas", "schaefer-strimmer"}, default="sample"
        Estimator. The sample covariance is divided by the number of samples minus one.
    sfreq : None | float, default=None
        Samples per second, if a file of epochs does not say.
    mat : None | str, default=None
        What the variables of a MATLAB file mean, by path:
        "signal=X,rate=fs,labels=y,axis=trials-channels-time".

    Returns
    -------
    trials : Trials
        Covariances, classes and domains.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from stiefel import load_dataset
    >>> file = Path(tempfile.mkdtemp(), "mine.npz")
    >>> people = ["anna", "anna", "bob", "bob"]
    >>> X = np.stack([np.diag([1.0, i, 3.0]) for i in (1, 2, 4, 5)])
    >>> np.savez(file, X=X, y=["hands", "feet"] * 2, subject=people)
    >>> data = load_dataset(file)
    >>> data.X.shape, data.y.tolist(), data.domains.tolist()
    ((4, 3, 3), ['hands', 'feet', 'hands', 'feet'], ['anna', 'anna', 'bob', 'bob'])
    """
    path = Path(name)
    if path.suffix or path.exists():
        if subjects is not None or classes is not None:
            raise ValueError(
                "subjects and classes select from a public dataset; a file is loaded whole."
            )
        return of_core(_core.read_trials(path, covariance, sfreq, mat))
    if sfreq is not None or mat is not None:
        raise ValueError(
            "sfreq and mat say how a file is read; for a public dataset, leave them out."
        )
    wanted = None if subjects is None else ",".join(str(int(s)) for s in subjects)
    return of_core(_core.dataset(str(name).lower(), wanted, classes, covariance))


def load_synthetic(
    name: _Geometry = "BNCI2015001",
    subjects: int | None = None,
    trials_per_class: int | None = None,
    random_state: int = 0,
) -> Trials:
    """Generate motor imagery of several people in the geometry of a public dataset, from raw signal
    to covariances.

    The same study has the source ``synthetic:bnci2015001,subjects=2,sessions=1,trials=5,seed=0``
    for :func:`study` and the program.

    Parameters
    ----------
    name : {"Weibo2014", "BNCI2015001", "BNCI2014001"}, default="BNCI2015001"
        The dataset whose channels, rate and classes are taken.
    subjects : None | int, default=None
        How many people, one session each; None for the dataset's own people and sessions.
    trials_per_class : None | int, default=None
        Trials of each class and session; None for the dataset's own.
    random_state : int, default=0
        Seed: the same one gives the same study.

    Returns
    -------
    trials : Trials
        Covariances (8–32 Hz), classes and domains.

    Examples
    --------
    >>> from stiefel import load_synthetic
    >>> data = load_synthetic("BNCI2015001", subjects=2, trials_per_class=5)
    >>> data.X.shape[1:], sorted(set(data.domains.tolist()))
    ((13, 13), ['S01', 'S02'])
    """
    source = f"synthetic:{name.lower()},seed={int(random_state)}"
    source += "" if subjects is None else f",subjects={subjects},sessions=1"
    source += "" if trials_per_class is None else f",trials={trials_per_class}"
    return of_core(_core.load_source(source))
