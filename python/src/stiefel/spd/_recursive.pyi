from typing import Any

from numpy.typing import ArrayLike, NDArray

def mean_ale(
    X: ArrayLike,
    *,
    tol: float = 1e-06,
    maxiter: int = 50,
    init: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> NDArray[Any]: ...
def mean_alm(
    X: ArrayLike,
    *,
    tol: float = 1e-14,
    maxiter: int = 100,
    sample_weight: ArrayLike | None = None,
    **kwargs: Any,
) -> NDArray[Any]: ...
def mean_bmp(
    X: ArrayLike, *, tol: float = 1e-07, maxiter: int = 50, sample_weight: ArrayLike | None = None
) -> NDArray[Any]: ...
def mean_cheap(
    X: ArrayLike, *, tol: float = 1e-07, maxiter: int = 50, sample_weight: ArrayLike | None = None
) -> NDArray[Any]: ...
