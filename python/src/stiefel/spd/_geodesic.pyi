from typing import Any, Callable

from numpy.typing import ArrayLike, NDArray

def geodesic_riemann(
    A: ArrayLike, B: ArrayLike, alpha: float | ArrayLike = 0.5
) -> NDArray[Any]: ...
def geodesic_logeuclid(
    A: ArrayLike, B: ArrayLike, alpha: float | ArrayLike = 0.5
) -> NDArray[Any]: ...
def geodesic_euclid(A: ArrayLike, B: ArrayLike, alpha: float | ArrayLike = 0.5) -> NDArray[Any]: ...
def geodesic(
    A: ArrayLike,
    B: ArrayLike,
    alpha: float | ArrayLike,
    metric: str | Callable[..., Any] = "riemann",
) -> NDArray[Any]: ...
