"""The Fréchet mean of SPD matrices of which parts are known."""

import numpy as np

from .. import _core
from .._arrays import as_weights
from ._calls import as_start, check_sets, per_set, sets, told
from ._hermitian import embed, extract


def maskedmean_riemann(X, masks, *, tol=10e-9, maxiter=100, init=None, sample_weight=None):
    """Fréchet mean of the known parts of matrices: the minimiser of
    ``Σ w_i d²(P_iᵀ M P_i, P_iᵀ X_i P_i)``.

    Parameters
    ----------
    X : ndarray, shape (..., m, n, n)
        Sets of SPD matrices; what the masks leave out is not read, but must be finite.
    masks : list of m ndarray of shape (n, n_i)
        Masks ``P_i`` with orthonormal columns. To select known channels, take their columns of the
        identity.
    tol : float, default=10e-9
        Stop when the norm of the gradient is at most this.
    maxiter : int, default=100
        Maximum number of steps.
    init : None | ndarray, shape (n, n), default=None
        The matrix to start from; None for the identity.
    sample_weight : None | ndarray, shape (m,), default=None
        Weights, normalised to sum to one; None for equal ones.

    Returns
    -------
    M : ndarray, shape (..., n, n)
        The means. A warning tells if the tolerance was not met.

    See Also
    --------
    nanmean_riemann : The masks from missing values.

    Notes
    -----
    The gradient is that of the sum above. pyRiemann follows another direction,
    ``Σ w_i P_i V_i P_iᵀ`` with ``V_i`` the logarithms of the known parts. Unless all is
    known, this direction vanishes at another point, and the result of pyRiemann is not a minimum of
    the sum.

    References
    ----------
    .. [1] F. Yger, S. Chevallier, Q. Barthélemy, S. Sra. Geodesically-convex optimization for
           averaging partially observed covariance matrices.
       ACML, 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import maskedmean_riemann
    >>> X = np.stack([np.diag([4.0, 1.0]), np.diag([7.0, 9.0])])
    >>> masks = [np.eye(2), np.eye(2)[:, 1:]]
    >>> maskedmean_riemann(X, masks).round(6).tolist()
    [[4.0, 0.0], [0.0, 3.0]]
    """
    if np.iscomplexobj(X) or np.iscomplexobj(init) or any(map(np.iscomplexobj, masks)):
        start = None if init is None else embed(init)
        real = [embed(mask) for mask in masks]
        return extract(
            maskedmean_riemann(
                embed(X), real, tol=tol, maxiter=maxiter, init=start, sample_weight=sample_weight
            )
        )
    x = sets(X)
    n = x.shape[-1]
    rows = []
    for i, mask in enumerate(masks):
        mask = np.asarray(mask, dtype=np.float64)
        if mask.ndim != 2 or mask.shape[0] != n:
            raise ValueError(f"Mask {i} must have shape ({n}, k), found {mask.shape}.")
        rows.append((mask.shape[1], mask.ravel().tolist()))
    weights, start = as_weights(sample_weight, x.shape[-3]), as_start(init, (n, n))
    return per_set(
        x,
        lambda part: told(
            _core.masked_mean(part, rows, weights, float(tol), int(maxiter), start), tol
        ),
    )


def _known(x, i):
    """The channels that are there, or what is wrong."""
    missing = np.isnan(x)
    rows, columns = missing.all(axis=1), missing.all(axis=0)
    if not np.array_equal(rows, columns):
        raise ValueError(
            f"NaN values of matrix {i} are not symmetric: whole rows and the columns of the same channels must be missing."
        )
    known = ~rows
    if missing[np.ix_(known, known)].any():
        raise ValueError(f"NaN values of matrix {i} must fill rows and columns.")
    if not known.any():
        raise ValueError(f"Matrix {i} holds nothing but NaN: leave it out.")
    return known


def nanmean_riemann(X, tol=10e-9, maxiter=100, init=None, sample_weight=None):
    """Fréchet mean of matrices with missing channels, whose rows and columns are NaN.

    Parameters
    ----------
    X : ndarray, shape (..., m, n, n)
        Sets of SPD matrices with rows and columns of NaN.
    tol : float, default=10e-9
        Stop when the norm of the gradient is at most this.
    maxiter : int, default=100
        Maximum number of steps.
    init : None | ndarray, shape (n, n), default=None
        The matrix to start from; None for the mean of what is known of each entry, plus ``1e-6 I``.
    sample_weight : None | ndarray, shape (m,), default=None
        Weights, normalised to sum to one; None for equal ones.

    Returns
    -------
    M : ndarray, shape (..., n, n)
        The means. A warning tells if the tolerance was not met.

    See Also
    --------
    maskedmean_riemann : The mean with masks, and what it minimises.

    References
    ----------
    .. [1] F. Yger, S. Chevallier, Q. Barthélemy, S. Sra. Geodesically-convex optimization for
           averaging partially observed covariance matrices.
       ACML, 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from stiefel.spd import nanmean_riemann
    >>> X = np.stack([np.diag([4.0, 1.0]), np.diag([np.nan, 9.0])])
    >>> X[1, 0, :] = X[1, :, 0] = np.nan
    >>> nanmean_riemann(X).round(6).tolist()
    [[4.0, 0.0], [0.0, 3.0]]
    """
    x = np.asarray(X)
    check_sets(x)
    lead, shape = x.shape[:-3], x.shape[-3:]
    means = [_nanmean(part, tol, maxiter, init, sample_weight) for part in x.reshape((-1, *shape))]
    return np.stack(means).reshape((*lead, *shape[1:]))


def _nanmean(x, tol, maxiter, init, sample_weight):
    known = np.array([_known(matrix, i) for i, matrix in enumerate(x)])
    n = x.shape[-1]
    if init is None:
        # Pairs of channels that no matrix has together start uncorrelated.
        pairs = known[:, :, np.newaxis] & known[:, np.newaxis, :]
        init = np.where(pairs, x, 0).sum(axis=0) / np.maximum(pairs.sum(axis=0), 1)
        init = init + 1e-6 * np.eye(n)
        try:
            np.linalg.cholesky(init)
        except np.linalg.LinAlgError:
            # Entries averaged over different matrices need not make an SPD one; the diagonal does.
            init = np.diag(np.diag(init).real).astype(init.dtype)
    masks = [np.eye(n)[:, channels] for channels in known]
    return maskedmean_riemann(
        np.where(np.isnan(x), 0, x),
        masks,
        tol=tol,
        maxiter=maxiter,
        init=init,
        sample_weight=sample_weight,
    )
