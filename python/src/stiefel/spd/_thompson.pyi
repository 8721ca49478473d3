from typing import Any

from numpy.typing import ArrayLike, NDArray

def distance_thompson(A: ArrayLike, B: ArrayLike, squared: bool = False) -> Any: ...
def geodesic_thompson(
    A: ArrayLike, B: ArrayLike, alpha: float | ArrayLike = 0.5
) -> NDArray[Any]: ...
def mean_thompson(
    X: ArrayLike,
    *,
    tol: float = 1e-06,
    maxiter: int = 50,
    init: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> NDArray[Any]: ...
