from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.linear_model import LogisticRegression
from typing_extensions import Self

from ._base import ByDomain
from ._whitening import DomainWhitening

class TangentSpaceLR(ByDomain):
    n_iter_: int
    reference_: NDArray[np.float64]
    regression_: LogisticRegression
    whitening_: DomainWhitening | None
    C: float
    metric: str
    whiten_domains: bool
    unseen_whitening: Literal["pooled", "own-mean", "causal"]
    kappa: float
    handle_unknown: Literal["error", "new"]
    label_format: Literal['class', 'domain/class']
    class_weight: dict[Any, float] | Literal["balanced"] | None
    covariance: Literal["scm", "lwf", "oas", "sch"] | None
    max_iter: int
    warm_start: bool
    random_state: int | np.random.RandomState | None
    def __init__(
        self,
        C: float = 1.0,
        metric: str = 'riemann',
        whiten_domains: bool = False,
        unseen_whitening: Literal["pooled", "own-mean", "causal"] = 'pooled',
        kappa: float = 10.0,
        handle_unknown: Literal['error', 'new'] = 'error',
        label_format: Literal['class', 'domain/class'] = 'class',
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        covariance: Literal["scm", "lwf", "oas", "sch"] | None = None,
        max_iter: int = 1000,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None: ...
    def __sklearn_is_fitted__(self) -> bool: ...
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        sample_domain: ArrayLike | None = None,
        subjects: ArrayLike | None = None,
        X_target_unlabeled: ArrayLike | None = None,
    ) -> Self: ...
    def predict(
        self,
        X: ArrayLike,
        sample_domain: ArrayLike | None = None,
        subjects: ArrayLike | None = None,
    ) -> NDArray[Any]: ...
    def predict_proba(
        self,
        X: ArrayLike,
        sample_domain: ArrayLike | None = None,
        subjects: ArrayLike | None = None,
    ) -> NDArray[np.float64]: ...
    def decision_function(
        self,
        X: ArrayLike,
        sample_domain: ArrayLike | None = None,
        subjects: ArrayLike | None = None,
    ) -> NDArray[np.float64]: ...
