from typing import Any

from numpy.typing import ArrayLike, NDArray

def geodesic_wasserstein(
    A: ArrayLike, B: ArrayLike, alpha: float | ArrayLike = 0.5
) -> NDArray[Any]: ...
def log_map_wasserstein(X: ArrayLike, Cref: ArrayLike, **kwargs: Any) -> NDArray[Any]: ...
def exp_map_wasserstein(X: ArrayLike, Cref: ArrayLike, **kwargs: Any) -> NDArray[Any]: ...
def mean_wasserstein(
    X: ArrayLike,
    tol: float = 1e-08,
    maxiter: int = 50,
    init: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> NDArray[Any]: ...
