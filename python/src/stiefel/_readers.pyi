from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

_Estimator = Literal["scm", "lwf", "oas", "sch"]
_Geometry = Literal["Weibo2014", "BNCI2015001", "BNCI2014001"]

@dataclass
class Recording:
    data: NDArray[np.float64]
    sfreq: float
    ch_names: list[str]
    ch_types: list[str]
    units: list[str]
    events: list[tuple[int, float, float, str]]
    notes: list[str] = ...
    def to_mne(self) -> Any: ...

@dataclass
class Trials:
    X: NDArray[np.float64]
    y: NDArray[np.str_]
    domains: NDArray[np.str_]
    runs: NDArray[np.str_] | None = None
    channels: list[str] | None = None
    def __len__(self) -> int: ...

def read_raw(path: str | PathLike[str], index: int | None = None) -> Recording: ...
def load_dataset(
    name: str | PathLike[str],
    subjects: Sequence[int] | None = None,
    classes: Sequence[str] | None = None,
    covariance: _Estimator = "scm",
) -> Trials: ...
def load_synthetic(
    name: _Geometry = "BNCI2015001",
    subjects: int | None = None,
    trials_per_class: int | None = None,
    random_state: int = 0,
) -> Trials: ...
def from_epochs(epochs: Any, domains: str | ArrayLike | None = None, covariance: _Estimator = "lwf") -> Trials: ...
def to_epochs(X: ArrayLike, ch_names: Sequence[str], sfreq: float, y: ArrayLike, tmin: float = 0.0) -> Any: ...
