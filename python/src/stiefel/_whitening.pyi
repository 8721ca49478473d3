from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from typing_extensions import Self

class DomainWhitening(TransformerMixin, BaseEstimator):
    domains_: NDArray[np.str_]
    n_features_in_: int
    unseen_whitening: Literal["pooled", "own-mean", "causal"]
    kappa: float
    handle_unknown: Literal["error", "new"]
    label_format: Literal['class', 'domain/class']
    tikhonov: float | None
    reference: Literal["euclidean", "riemannian", "log-euclidean"]
    whitening: Literal["symmetric", "pca"]
    scaling: Literal["per-trial", "per-domain", "none"]
    covariance: Literal["scm", "lwf", "oas", "sch"] | None
    def __init__(
        self,
        unseen_whitening: Literal["pooled", "own-mean", "causal"] = 'pooled',
        kappa: float = 10.0,
        handle_unknown: Literal['error', 'new'] = 'error',
        label_format: Literal['class', 'domain/class'] = 'class',
        tikhonov: float | None = 1e-08,
        reference: Literal["euclidean", "riemannian", "log-euclidean"] = 'euclidean',
        whitening: Literal["symmetric", "pca"] = 'symmetric',
        scaling: Literal["per-trial", "per-domain", "none"] = 'per-trial',
        covariance: Literal["scm", "lwf", "oas", "sch"] | None = None,
    ) -> None: ...
    def __sklearn_tags__(self) -> Any: ...
    def __sklearn_is_fitted__(self) -> bool: ...
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        sample_domain: ArrayLike | None = None,
        subjects: ArrayLike | None = None,
        X_target_unlabeled: ArrayLike | None = None,
    ) -> Self: ...
    def transform(
        self,
        X: ArrayLike,
        sample_domain: ArrayLike | None = None,
        subjects: ArrayLike | None = None,
    ) -> NDArray[np.float64]: ...
    def fit_transform(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        sample_domain: ArrayLike | None = None,
        subjects: ArrayLike | None = None,
        X_target_unlabeled: ArrayLike | None = None,
    ) -> NDArray[np.float64]: ...
    def __getstate__(self) -> dict[str, Any]: ...
    def __setstate__(self, state: dict[str, Any]) -> None: ...
