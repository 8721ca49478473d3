from typing import Any

from numpy.typing import ArrayLike, NDArray

def median_euclid(
    X: ArrayLike,
    *,
    tol: float = 1e-05,
    maxiter: int = 50,
    init: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> NDArray[Any]: ...
def median_riemann(
    X: ArrayLike,
    *,
    tol: float = 1e-05,
    maxiter: int = 50,
    init: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    step_size: float = 1,
) -> NDArray[Any]: ...
