"""How the functions of this package call the core: pairs, sets, searches, and the choice of a
function by its name."""

import numbers
import warnings

import numpy as np

from .. import _core
from .._arrays import as_square, as_weights, at, pair, stack, unstack


def choose(metric, known):
    """The function of a name, or a callable as it is."""
    if callable(metric):
        return metric
    if not isinstance(metric, str) or metric not in known:
        raise ValueError(
            f"Unknown metric {metric!r}. Must be one of {', '.join(known)}, or a callable."
        )
    return known[metric]


def distance_of(A, B, metric, squared):
    """Distances of pairs by the core."""
    a, b, lead = pair(as_square(A, "A"), as_square(B, "B"))
    d = unstack(_core.distance(a, b, metric), lead)
    return d**2 if squared else d


def as_alpha(alpha, lead):
    """A number, or an array of one per matrix."""
    if isinstance(alpha, numbers.Real):
        return float(alpha)
    if not hasattr(alpha, "shape") and not isinstance(alpha, (list, tuple)):
        raise ValueError(f"alpha must be a float or an array, got {type(alpha)}.")
    alpha = np.asarray(alpha, dtype=np.float64)
    if alpha.ndim != len(lead):
        raise ValueError(f"alpha must have dimension {len(lead)}, got {alpha.ndim}.")
    if alpha.shape != lead:
        raise ValueError(f"alpha must have shape {lead}, got {alpha.shape}.")
    return alpha


def geodesic_of(A, B, alpha, name):
    """Points of geodesics by the core, at one position for all pairs or one for each."""
    a, b, lead = pair(as_square(A, "A"), as_square(B, "B"))
    alpha = as_alpha(alpha, lead)
    positions = [alpha] if isinstance(alpha, float) else alpha.ravel().tolist()
    return unstack(_core.geodesic_of(a, b, name, positions), lead)[()]


def map_of(X, Cref, name):
    """A map of matrices at foot points by the core."""
    x, c, lead = at(X, Cref)
    return unstack(_core.map_of(c, x, name), lead)[()]


def sets(X):
    """``(..., m, n, n)`` with at least one matrix."""
    x = as_square(X, "X")
    check_sets(x)
    return x


def check_sets(x):
    """An error unless there is at least one matrix in each set."""
    if x.ndim < 3:
        raise ValueError(f"X must be a stack of matrices (..., m, n, n), found shape {x.shape}.")
    if x.shape[-3] == 0:
        raise ValueError("X holds no matrix; the mean of nothing is not defined.")


def per_set(x, mean):
    """One mean for each leading position."""
    lead, shape = x.shape[:-3], x.shape[-3:]
    if not lead:
        return mean(stack(x))
    parts = [mean(part) for part in np.ascontiguousarray(x).reshape((-1, *shape))]
    return np.stack(parts).reshape((*lead, *shape[1:]))


def as_start(init, shape):
    """The values of a matrix to start from, row by row."""
    if init is None:
        return None
    start = np.asarray(init)
    if start.shape != shape:
        wanted = ",".join(map(str, shape))
        raise ValueError(
            f"Init matrix does not have the good shape. Should be ({wanted}) but got {start.shape}."
        )
    return start.astype(np.float64).ravel().tolist()


def searched(x, name, tol, maxiter, init=None, sample_weight=None, parameter=0.0, scale=1.0):
    """Means that are found step by step, one for each set; a warning tells where the tolerance was
    not met.

    ``scale`` is how many times the core's residual is that of the caller.
    """
    weights = as_weights(sample_weight, x.shape[-3])
    start = as_start(init, x.shape[-2:])

    def mean(part):
        return told(
            _core.iterated_mean(
                part, name, float(parameter), weights, float(tol) * scale, int(maxiter), start
            ),
            tol,
            scale,
        )

    return per_set(x, mean)


def told(found, tol, scale=1.0):
    """The mean; a warning where it did not converge."""
    mean, _, residual, converged = found
    if not converged:
        warnings.warn(
            f"Convergence not reached: residual {residual / scale:.1e}, tolerance {tol:.1e}",
            stacklevel=6,
        )
    return mean[0]
