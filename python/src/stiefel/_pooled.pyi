from typing import Any, Literal, Sequence

import numpy as np
from numpy.typing import NDArray

from ._base import DomainClassifier

class PooledClassifier(DomainClassifier):
    C_: float
    filters_: NDArray[np.float64]
    coef_: NDArray[np.float64]
    domain_coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]
    n_filters: int | Literal["auto"]
    C: float | Sequence[float]
    rho: float
    refit: bool
    precondition: bool
    unseen_whitening: Literal["pooled", "own-mean", "causal"]
    kappa: float
    handle_unknown: Literal["error", "new"]
    label_format: Literal['class', 'domain/class']
    tikhonov: float | None
    reference: Literal["euclidean", "riemannian", "log-euclidean"]
    whitening: Literal["symmetric", "pca"]
    scaling: Literal["per-trial", "per-domain", "none"]
    covariance: Literal["scm", "lwf", "oas", "sch"] | None
    validation_fraction: float
    class_weight: dict[Any, float] | Literal["balanced"] | None
    random_state: int | np.random.RandomState | None
    n_jobs: int | None
    verbose: int
    def __init__(
        self,
        n_filters: int | Literal["auto"] = 'auto',
        C: float | Sequence[float] = (1.0, 3.0, 10.0, 30.0),
        rho: float = 8.0,
        refit: bool = True,
        precondition: bool = True,
        unseen_whitening: Literal["pooled", "own-mean", "causal"] = 'pooled',
        kappa: float = 10.0,
        handle_unknown: Literal['error', 'new'] = 'error',
        label_format: Literal['class', 'domain/class'] = 'class',
        tikhonov: float | None = 1e-08,
        reference: Literal["euclidean", "riemannian", "log-euclidean"] = 'euclidean',
        whitening: Literal["symmetric", "pca"] = 'symmetric',
        scaling: Literal["per-trial", "per-domain", "none"] = 'per-trial',
        covariance: Literal["scm", "lwf", "oas", "sch"] | None = None,
        validation_fraction: float = 0.15,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None: ...
