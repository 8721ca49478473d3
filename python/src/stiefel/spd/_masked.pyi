from typing import Any

from numpy.typing import ArrayLike, NDArray

def maskedmean_riemann(
    X: ArrayLike,
    masks: list[Any],
    *,
    tol: float = 1e-08,
    maxiter: int = 100,
    init: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> NDArray[Any]: ...
def nanmean_riemann(
    X: ArrayLike,
    tol: float = 1e-08,
    maxiter: int = 100,
    init: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> NDArray[Any]: ...
