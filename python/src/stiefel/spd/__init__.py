"""Functions on stacks of symmetric positive definite matrices ``(..., n, n)``.

Names and meaning are those of pyRiemann where it has them. Everything works in float32 and float64, lets other threads run while it
computes, never changes its arguments, and raises ``ValueError`` with the position of the first matrix that is not finite, not symmetric
or not positive definite, where pyRiemann gives NaN. Arrays of complex numbers are taken for Hermitian matrices, but for :func:`upper` and what
gives or takes its vectors.

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

from ._distance import (
    distance,
    distance_euclid,
    distance_harmonic,
    distance_kullback,
    distance_kullback_right,
    distance_kullback_sym,
    distance_logdet,
    distance_logeuclid,
    distance_riemann,
    distance_wasserstein,
    pairwise_distance,
)
from ._function import ddexpm, ddlogm, expm, invsqrtm, logm, powm, sqrtm
from ._geodesic import geodesic, geodesic_euclid, geodesic_logeuclid, geodesic_riemann
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
from ._mean import gmean, mean_euclid, mean_harmonic, mean_logeuclid, mean_poweuclid, mean_riemann
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

__all__ = [
    "ddexpm",
    "ddlogm",
    "distance",
    "distance_euclid",
    "distance_harmonic",
    "distance_kullback",
    "distance_kullback_right",
    "distance_kullback_sym",
    "distance_logdet",
    "distance_logeuclid",
    "distance_riemann",
    "distance_wasserstein",
    "exp_map",
    "exp_map_euclid",
    "exp_map_logeuclid",
    "exp_map_riemann",
    "expm",
    "geodesic",
    "geodesic_euclid",
    "geodesic_logeuclid",
    "geodesic_riemann",
    "gmean",
    "innerproduct",
    "innerproduct_euclid",
    "innerproduct_logeuclid",
    "innerproduct_riemann",
    "invsqrtm",
    "log_map",
    "log_map_euclid",
    "log_map_logeuclid",
    "log_map_riemann",
    "logm",
    "mean_euclid",
    "mean_harmonic",
    "mean_logeuclid",
    "mean_poweuclid",
    "mean_riemann",
    "norm",
    "pairwise_distance",
    "powm",
    "sqrtm",
    "tangent_space",
    "transport",
    "transport_euclid",
    "transport_logeuclid",
    "transport_riemann",
    "untangent_space",
    "unupper",
    "upper",
    "whiten",
]
