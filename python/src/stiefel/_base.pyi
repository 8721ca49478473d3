from typing import Any, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from typing_extensions import Self

from ._persistence import FileModel

def store(estimator: BaseEstimator, values: dict[str, Any]) -> None: ...

class ByDomain(ClassifierMixin, BaseEstimator):
    classes_: NDArray[Any]
    n_features_in_: int
    def __sklearn_tags__(self) -> Any: ...
    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        sample_domain: ArrayLike | None = None,
        subjects: ArrayLike | None = None,
    ) -> float: ...

class DomainClassifier(FileModel, ByDomain):
    domains_: NDArray[np.str_]
    def __sklearn_is_fitted__(self) -> bool: ...
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        sample_domain: ArrayLike | None = None,
        subjects: ArrayLike | None = None,
        X_target_unlabeled: ArrayLike | None = None,
        X_target_labeled: ArrayLike | None = None,
        y_target_labeled: ArrayLike | None = None,
    ) -> Self: ...
    def predict_proba(
        self,
        X: ArrayLike,
        sample_domain: ArrayLike | None = None,
        subjects: ArrayLike | None = None,
    ) -> NDArray[np.float64]: ...
    def predict(
        self,
        X: ArrayLike,
        sample_domain: ArrayLike | None = None,
        subjects: ArrayLike | None = None,
    ) -> NDArray[Any]: ...
    def decision_function(
        self,
        X: ArrayLike,
        sample_domain: ArrayLike | None = None,
        subjects: ArrayLike | None = None,
    ) -> NDArray[np.float64]: ...
    def routing_weights(
        self,
        X: ArrayLike,
        sample_domain: ArrayLike | None = None,
        subjects: ArrayLike | None = None,
    ) -> NDArray[np.float64] | None: ...

def labelled(
    x: ArrayLike,
    classes: Sequence[int],
    class_names: Sequence[Any],
    domains: Sequence[int],
    domain_names: Sequence[str],
    weights: Sequence[float] | None = None,
    channels: Sequence[str] | None = None,
) -> dict[str, Any]: ...
