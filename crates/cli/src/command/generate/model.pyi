# Made by `cargo xtask generate` from the settings of the core; changes belong there.
from collections.abc import Sequence
from typing import Any, Literal, TypedDict, overload

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Unpack

from ._calibration import CalibratedClassifier
from ._parameters import ClassWeight, Covariance, HandleUnknown, LabelFormat, Seed

_Embedding = Literal[
    "zero", "initial", "input-only", "nearest", "riemannian-nearest", "transductive"
]
SIZES: tuple[int, int]
COMMON: dict[str, tuple[Any, Any, str, str]]

class ModelClassifier(CalibratedClassifier):
    _name: str
    _settings: dict[str, str]
    _takes_views: bool
    adapt: Any
    kappa: Any
    embedding: Any
    covariance: Any
    random_state: Any
    n_jobs: Any
    verbose: Any
    @property
    def filters_(self) -> NDArray[np.float64] | None: ...
    def __repr__(self, N_CHAR_MAX: int = 700) -> str: ...
    def set_params(self, **params: Any) -> ModelClassifier: ...
    # Made by scikit-learn from the arguments of each method.
    set_decision_function_request: Any
    set_fit_request: Any
    set_partial_fit_request: Any
    set_predict_proba_request: Any
    set_predict_request: Any
    set_score_request: Any

class _Common(TypedDict, total=False):
    adapt: Literal["own-mean", "causal", "pooled"]
    kappa: float | None
    embedding: _Embedding
    handle_unknown: HandleUnknown
    label_format: LabelFormat
    covariance: Covariance | None
    validation_fraction: float
    class_weight: ClassWeight
    random_state: Seed
    n_jobs: int | None
    verbose: bool | int

# SETTINGS
def defaults_of(name: str) -> dict[str, Any]: ...
def class_of(name: str) -> type[ModelClassifier]: ...

# OVERLOADS
@overload
def model(name: str, **settings: Any) -> ModelClassifier: ...
