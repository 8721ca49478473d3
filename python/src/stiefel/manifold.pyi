from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "barycenter",
    "orthonormal_factor",
    "orthonormality_defect",
    "principal_angles",
    "project",
    "random_points",
    "retract",
]

def project(W: ArrayLike, Z: ArrayLike) -> NDArray[Any]: ...
def retract(W: ArrayLike, D: ArrayLike, method: Literal["qr", "polar"] = "qr") -> NDArray[Any]: ...
def principal_angles(V: ArrayLike, W: ArrayLike) -> NDArray[Any]: ...
def orthonormal_factor(A: ArrayLike) -> NDArray[Any]: ...
def barycenter(W: ArrayLike, sample_weight: ArrayLike | None = None) -> NDArray[Any]: ...
def orthonormality_defect(W: ArrayLike) -> Any: ...
def random_points(
    n: int, k: int, size: int | None = None, random_state: int | np.random.RandomState | None = None
) -> NDArray[Any]: ...
