"""A fitted model at work on a running signal: the state machine behind ``stiefel live``.

Examples
--------
>>> import stiefel
>>> from stiefel import live
>>> data = stiefel.load_synthetic("BNCI2015001", subjects=2, trials_per_class=10)
>>> clf = stiefel.ChoirClassifier(random_state=0).fit(data)
>>> session = live.Session(clf, domain="S01")
>>> session.push([[0.0] * 13] * 100)
[]
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from os import PathLike
from pathlib import Path
from typing import Any, Iterable, Literal, Sequence

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from ._load import load

__all__ = ["Decision", "Gap", "Session"]


@dataclass(frozen=True)
class Decision:
    """What is said of one window. The fields are those of the lines of ``stiefel live``.

    Attributes
    ----------
    time : float
        Seconds from the start of the stream to the end of the window.
    sample, start : int
        The place after the last sample of the window, and the place of its first sample. Missing
        samples are counted.
    status : {"decided", "undecided", "unfamiliar", "rejected"}
        What became of the window.
    class_ : object
        The decision; None unless the status is "decided".
    probabilities, evidence : None | dict
        The probability of each class: from this window, and from this window and those before it.
    stable : object
        The class with the most evidence.
    reason, channel, detail : None | str
        Why it was rejected, and which electrode is the reason.
    familiarity, distance : None | float
        The share of the training trials that were nearer to the mean of their domain, and the
        distance of the window.
    routing : None | list of float
        The weight of each expert, if a network routes.
    views : None | list of float
        What each view of CHOIR added to the decision, in log-odds for the most probable class.
    cue, trial : None | dict
        The cue of the window, and the labelled trial in which it ends.
    stamp : None | float
        The time of its last sample on the clock of the source.
    milliseconds : float
        Milliseconds from the call of ``push`` to the decision.
    """

    time: float
    sample: int
    start: int
    status: Literal["decided", "undecided", "unfamiliar", "rejected"]
    milliseconds: float
    class_: Any = None
    probabilities: dict[Any, float] | None = None
    evidence: dict[Any, float] | None = None
    stable: Any = None
    reason: str | None = None
    channel: str | None = None
    detail: str | None = None
    familiarity: float | None = None
    distance: float | None = None
    routing: list[float] | None = None
    views: list[float] | None = None
    cue: dict[str, Any] | None = None
    trial: dict[str, Any] | None = None
    stamp: float | None = None


@dataclass(frozen=True)
class Gap:
    """Samples that are missing.

    Attributes
    ----------
    time : float
        Seconds from the start of the stream to the gap.
    sample, samples : int
        The first missing sample, and how many are missing.
    windows : int
        Windows that would have ended in the gap.
    """

    time: float
    sample: int
    samples: int
    windows: int


class Session:
    """A model at work on one stream: samples in, decisions out.

    Rate, bands, windows, channels and unit are those of the model's training trials; a stream that
    has others is refused. The decisions do not depend on the blocks in which samples arrive: they
    are the same to the bit.

    Parameters
    ----------
    model : path-like | ChoirClassifier | DaspClassifier | SPDNetClassifier
        A model file or a fitted classifier. A domain that it was not trained on is treated as its
        ``whitening`` and ``unseen``, or its ``adapt``, say.
    domain : str
        Whose signal it is.
    channels : None | sequence of str, default=None
        Names of the channels in the order of the samples; None if they are the model's.
    rate : None | float, default=None
        Samples per second of the stream; None if it is the model's. Another rate is refused.
    unit : None | str, default=None
        The unit of the samples, such as "V" or "uV"; None if it is the model's.
    hop : None | float, default=0.25
        Seconds from one decision to the next; None decides at cues only.
    threshold : None | float, default=None
        The least probability of a class for a decision.
    time_constant : float, default=1.0
        Time constant of the evidence over time, in seconds.
    unfamiliar : None | float, default=1.5
        A window is unfamiliar if it is more than this many times as far from the mean as 99 % of
        the training trials are. None checks nothing.
    freeze : bool, default=False
        Whether nothing is learnt from unlabelled windows.
    cues : sequence of str, default=()
        Labels of markers that are cues without a class.

    Attributes
    ----------
    domain : str
        Whose signal it is.
    notes : list of str
        What had to be assumed of the stream.

    See Also
    --------
    stiefel.Session : Decisions on covariances.

    Examples
    --------
    >>> import numpy as np
    >>> import stiefel
    >>> from stiefel import live
    >>> data = stiefel.load_synthetic("BNCI2015001", subjects=2, trials_per_class=10)
    >>> clf = stiefel.ChoirClassifier(random_state=0).fit(data)
    >>> session = live.Session(clf, domain="S01", unfamiliar=None)
    >>> samples = np.random.default_rng(0).normal(scale=10, size=(5000, 13))
    >>> decisions = session.push(samples)
    >>> decisions[0].status
    'decided'
    >>> samples[:, 3] = 0
    >>> session.push(samples)[-1].reason
    'flat'
    """

    def __init__(
        self,
        model: str | PathLike[str] | Any,
        *,
        domain: str,
        channels: Sequence[str] | None = None,
        rate: float | None = None,
        unit: str | None = None,
        hop: float | None = 0.25,
        threshold: float | None = None,
        time_constant: float = 1.0,
        unfamiliar: float | None = 1.5,
        freeze: bool = False,
        cues: Sequence[str] = (),
    ) -> None:
        estimator = load(model) if isinstance(model, (str, PathLike, Path)) else model
        if not hasattr(estimator, "_model"):
            raise ValueError("model must be a model file or a fitted classifier.")
        options = {
            "hop": hop,
            "threshold": threshold,
            "time_constant": time_constant,
            "unfamiliar": unfamiliar,
            "freeze": freeze,
            "cues": list(cues),
        }
        known = estimator._model
        names = None if channels is None else list(channels)
        self.domain = str(domain)
        self._width = len(
            names if names is not None else estimator.channels_ or range(estimator.n_features_in_)
        )
        self._live = _core.LiveSession(
            known, self.domain, estimator._unseen(), names, rate, unit, json.dumps(options)
        )
        self._classes = {str(name): name for name in estimator.classes_.tolist()}
        self.notes = self._live.notes

    def __repr__(self) -> str:
        return f"Session(domain={self.domain!r})"

    def push(
        self,
        samples: ArrayLike,
        times: ArrayLike | None = None,
        markers: Iterable[tuple[float, str]] = (),
        *,
        at: Literal["time", "sample"] = "time",
    ) -> list[Decision | Gap]:
        """Take in samples that have arrived, and give the decisions and gaps that follow from them.

        Parameters
        ----------
        samples : ndarray, shape (samples, channels)
            The samples; missing values are NaN.
        times : None | ndarray, shape (samples,), default=None
            Their times, which show gaps; None if no sample can be missing.
        markers : iterable of (float, str), default=()
            The time or the sample of each marker, and its label: cues, and whatever else ends a
            trial.
        at : {"time", "sample"}, default="time"
            Whether markers tell a time, on the clock of ``times``, or a sample, counted from the
            start.

        Returns
        -------
        said : list of Decision and Gap
            Decisions and gaps, in the order in which they came.
        """
        x = np.ascontiguousarray(samples, dtype=np.float64)
        if x.ndim != 2 or x.shape[1] != self._width:
            raise ValueError(
                f"samples must have the shape (samples, {self._width}), but have {x.shape}."
            )
        t = None if times is None else np.ascontiguousarray(times, dtype=np.float64)
        if t is not None and t.shape != (len(x),):
            raise ValueError(f"times must have the shape ({len(x)},), but have {t.shape}.")
        if at not in ("time", "sample"):
            raise ValueError(f"at must be 'time' or 'sample', but is {at!r}.")
        if at == "time" and t is None and len(markers := list(markers)) > 0:
            raise ValueError(
                "markers with a time need the times of the samples; give times, or at='sample'."
            )
        marked: list[tuple[int | None, float | None, str]]
        marked = [
            (int(when), None, label) if at == "sample" else (None, float(when), label)
            for when, label in markers
        ]
        return [self._said(json.loads(line)) for line in self._live.push(x, t, marked)]

    def freeze(self, frozen: bool = True) -> None:
        """Learn nothing more from unlabelled windows, or go on learning.

        Parameters
        ----------
        frozen : bool, default=True
            Whether what was learnt stays as it is.
        """
        self._live.freeze(frozen)

    def _said(self, line: dict[str, Any]) -> Decision | Gap:
        if line.pop("type") == "gap":
            return Gap(**line)
        named = {c: self._classes.get for c in ("class", "stable")}
        for key, of in named.items():
            if line.get(key) is not None:
                line[key] = of(line[key], line[key])
        for key in ("probabilities", "evidence"):
            if line.get(key) is not None:
                line[key] = {self._classes.get(name, name): p for name, p in line[key].items()}
        line["class_"] = line.pop("class")
        known = {f.name for f in fields(Decision)}
        return Decision(**{key: value for key, value in line.items() if key in known})
