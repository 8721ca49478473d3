from typing import Any, Callable

from numpy.typing import ArrayLike, NDArray

def mean_euclid(
    X: ArrayLike, sample_weight: ArrayLike | None = None, **kwargs: Any
) -> NDArray[Any]: ...
def mean_logeuclid(
    X: ArrayLike, sample_weight: ArrayLike | None = None, **kwargs: Any
) -> NDArray[Any]: ...
def mean_harmonic(
    X: ArrayLike, sample_weight: ArrayLike | None = None, **kwargs: Any
) -> NDArray[Any]: ...
def mean_poweuclid(
    X: ArrayLike, p: float, *, sample_weight: ArrayLike | None = None, **kwargs: Any
) -> NDArray[Any]: ...
def mean_riemann(
    X: ArrayLike,
    *,
    tol: float = 1e-08,
    maxiter: int = 50,
    init: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> NDArray[Any]: ...
def mean_power(
    X: ArrayLike,
    p: float,
    *,
    sample_weight: ArrayLike | None = None,
    zeta: float = 1e-09,
    maxiter: int = 100,
    init: ArrayLike | None = None,
) -> NDArray[Any]: ...
def mean_logdet(
    X: ArrayLike,
    *,
    tol: float = 0.0001,
    maxiter: int = 50,
    init: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> NDArray[Any]: ...
def mean_kullback_sym(
    X: ArrayLike, sample_weight: ArrayLike | None = None, **kwargs: Any
) -> NDArray[Any]: ...
def gmean(
    X: ArrayLike,
    *args: Any,
    metric: str | Callable[..., Any] = "riemann",
    sample_weight: ArrayLike | None = None,
    **kwargs: Any,
) -> NDArray[Any]: ...
