from typing import Any, Callable

from numpy.typing import ArrayLike, NDArray

def kernel_euclid(
    X: ArrayLike, Y: ArrayLike | None = None, *, Cref: ArrayLike | None = None, reg: float = 1e-10
) -> NDArray[Any]: ...
def kernel_logeuclid(
    X: ArrayLike, Y: ArrayLike | None = None, *, Cref: ArrayLike | None = None, reg: float = 1e-10
) -> NDArray[Any]: ...
def kernel_riemann(
    X: ArrayLike, Y: ArrayLike | None = None, *, Cref: ArrayLike | None = None, reg: float = 1e-10
) -> NDArray[Any]: ...
def kernel(
    X: ArrayLike,
    Y: ArrayLike | None = None,
    *,
    Cref: ArrayLike | None = None,
    metric: str | Callable[..., Any] = "riemann",
    reg: float = 1e-10,
) -> NDArray[Any]: ...
