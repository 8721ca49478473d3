"""Functions on stacks of symmetric positive definite matrices ``(..., n, n)``.

Names and meaning are those of pyRiemann, if it has the function. All functions work in float32 and
float64, let other threads run while
they compute, and never change their arguments. If a matrix is not finite, not symmetric or not
positive definite, they raise
``ValueError`` with the position of the first such matrix; pyRiemann gives NaN. Arrays of complex
numbers are taken as Hermitian matrices.

Examples
--------
>>> import numpy as np
>>> from stiefel import spd
>>> X = np.array([[[2.0, 1.0], [1.0, 2.0]], [[1.0, 0.0], [0.0, 4.0]]])
>>> spd.logm(X).shape
(2, 2, 2)
>>> bool(np.allclose(spd.expm(spd.logm(X)), X))
True
"""

from ._cholesky import (
    distance_chol,
    distance_logchol,
    exp_map_logchol,
    geodesic_chol,
    geodesic_logchol,
    innerproduct_logchol,
    log_map_logchol,
    mean_chol,
    mean_logchol,
    transport_logchol,
)
from ._distance import (
    distance,
    distance_euclid,
    distance_harmonic,
    distance_kullback,
    distance_kullback_right,
    distance_kullback_sym,
    distance_logdet,
    distance_logeuclid,
    distance_mahalanobis,
    distance_poweuclid,
    distance_riemann,
    distance_wasserstein,
    pairwise_distance,
)
from ._function import (
    ctranspose,
    ddexpm,
    ddlogm,
    expm,
    invsqrtm,
    logm,
    nearest_sym_pos_def,
    powm,
    sqrtm,
)
from ._geodesic import geodesic, geodesic_euclid, geodesic_logeuclid, geodesic_riemann
from ._kernel import kernel, kernel_euclid, kernel_logeuclid, kernel_riemann
from ._map import (
    exp_map,
    exp_map_euclid,
    exp_map_logeuclid,
    exp_map_riemann,
    log_map,
    log_map_euclid,
    log_map_logeuclid,
    log_map_riemann,
)
from ._masked import maskedmean_riemann, nanmean_riemann
from ._mean import (
    gmean,
    mean_euclid,
    mean_harmonic,
    mean_kullback_sym,
    mean_logdet,
    mean_logeuclid,
    mean_power,
    mean_poweuclid,
    mean_riemann,
)
from ._median import median_euclid, median_riemann
from ._predicates import (
    is_herm_pos_def,
    is_herm_pos_semi_def,
    is_hermitian,
    is_pos_def,
    is_pos_semi_def,
    is_real,
    is_real_type,
    is_skew_sym,
    is_square,
    is_sym,
    is_sym_pos_def,
    is_sym_pos_semi_def,
)
from ._recursive import mean_ale, mean_alm, mean_bmp, mean_cheap
from ._tangent import (
    innerproduct,
    innerproduct_euclid,
    innerproduct_logeuclid,
    innerproduct_riemann,
    norm,
    tangent_space,
    transport,
    transport_euclid,
    transport_logeuclid,
    transport_riemann,
    untangent_space,
    unupper,
    upper,
    whiten,
)
from ._thompson import distance_thompson, geodesic_thompson, mean_thompson
from ._wasserstein import (
    exp_map_wasserstein,
    geodesic_wasserstein,
    log_map_wasserstein,
    mean_wasserstein,
)

__all__ = [
    "ctranspose",
    "ddexpm",
    "ddlogm",
    "distance",
    "distance_chol",
    "distance_euclid",
    "distance_harmonic",
    "distance_kullback",
    "distance_kullback_right",
    "distance_kullback_sym",
    "distance_logchol",
    "distance_logdet",
    "distance_logeuclid",
    "distance_mahalanobis",
    "distance_poweuclid",
    "distance_riemann",
    "distance_thompson",
    "distance_wasserstein",
    "exp_map",
    "exp_map_euclid",
    "exp_map_logchol",
    "exp_map_logeuclid",
    "exp_map_riemann",
    "exp_map_wasserstein",
    "expm",
    "geodesic",
    "geodesic_chol",
    "geodesic_euclid",
    "geodesic_logchol",
    "geodesic_logeuclid",
    "geodesic_riemann",
    "geodesic_thompson",
    "geodesic_wasserstein",
    "gmean",
    "innerproduct",
    "innerproduct_euclid",
    "innerproduct_logchol",
    "innerproduct_logeuclid",
    "innerproduct_riemann",
    "invsqrtm",
    "is_herm_pos_def",
    "is_herm_pos_semi_def",
    "is_hermitian",
    "is_pos_def",
    "is_pos_semi_def",
    "is_real",
    "is_real_type",
    "is_skew_sym",
    "is_square",
    "is_sym",
    "is_sym_pos_def",
    "is_sym_pos_semi_def",
    "kernel",
    "kernel_euclid",
    "kernel_logeuclid",
    "kernel_riemann",
    "log_map",
    "log_map_euclid",
    "log_map_logchol",
    "log_map_logeuclid",
    "log_map_riemann",
    "log_map_wasserstein",
    "logm",
    "maskedmean_riemann",
    "mean_ale",
    "mean_alm",
    "mean_bmp",
    "mean_cheap",
    "mean_chol",
    "mean_euclid",
    "mean_harmonic",
    "mean_kullback_sym",
    "mean_logchol",
    "mean_logdet",
    "mean_logeuclid",
    "mean_power",
    "mean_poweuclid",
    "mean_riemann",
    "mean_thompson",
    "mean_wasserstein",
    "median_euclid",
    "median_riemann",
    "nanmean_riemann",
    "nearest_sym_pos_def",
    "norm",
    "pairwise_distance",
    "powm",
    "sqrtm",
    "tangent_space",
    "transport",
    "transport_euclid",
    "transport_logchol",
    "transport_logeuclid",
    "transport_riemann",
    "untangent_space",
    "unupper",
    "upper",
    "whiten",
]
