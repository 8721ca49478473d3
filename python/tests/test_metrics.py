"""Means, medians, kernels, vectors and predicates beside pyRiemann's, and where the two differ on
purpose."""

import warnings

import numpy as np
import pytest
from pyriemann.geometry import base, distance, kernel, mean, median, tangentspace
from pyriemann.geometry import test as predicates

from stiefel import spd


def random_spd(shape, n, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((*shape, n, 3 * n))
    return a @ np.swapaxes(a, -1, -2) / (3 * n)


def close(found, expected, tolerance=1e-9):
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(
        found, expected, rtol=0, atol=tolerance * max(1.0, float(np.abs(expected).max()))
    )


@pytest.fixture(autouse=True)
def quiet_peer():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Convergence not reached$")
        yield


@pytest.mark.parametrize("p", [-0.7, -0.2, 0.3, 0.9])
def test_power_means(p):
    x, weights = random_spd((8,), 5), np.arange(1.0, 9.0)
    close(
        spd.mean_power(x, p, sample_weight=weights, zeta=1e-12, maxiter=500),
        mean.mean_power(x, p, sample_weight=weights, zeta=1e-12, maxiter=500),
    )
    close(spd.gmean(x, p, metric="power"), mean.mean_power(x, p), 1e-7)


def test_power_distances():
    a, b = random_spd((6,), 4, 1), random_spd((6,), 4, 2)
    for p in (-1, -0.3, 0, 0.6, 1):
        found = spd.distance_poweuclid(a, b, p)
        close(found, distance.distance_poweuclid(a, b, p))
        close(spd.distance_poweuclid(a, b, p, squared=True), found**2)
    with pytest.raises(ValueError, match="scalar"):
        spd.distance_poweuclid(a, b, [1])


@pytest.mark.parametrize("name", ["alm", "bmp"])
def test_recursive_means(name):
    x = random_spd((3,), 4)
    close(
        getattr(spd, f"mean_{name}")(x, tol=1e-13),
        getattr(mean, f"mean_{name}")(x, tol=1e-13),
        1e-8,
    )


def test_the_cheap_mean_is_a_symmetric_matrix_close_to_the_frechet_mean():
    x = random_spd((4,), 4)
    m = spd.mean_cheap(x, tol=1e-13)
    assert np.array_equal(m, m.T)
    assert spd.distance_riemann(m, spd.mean_riemann(x)) < 0.05 * spd.distance_riemann(x, m).mean()
    # Invariant to mixing, as the Fréchet mean is; the peer's is not, because it takes symmetric
    # logarithms of matrices that are not symmetric.
    w = random_spd((), 4, 5) + np.triu(np.ones((4, 4)))
    close(spd.mean_cheap(w @ x @ w.T, tol=1e-13), w @ m @ w.T, 1e-8)


@pytest.mark.parametrize("name", ["alm", "bmp", "cheap", "thompson"])
def test_means_without_weights_refuse_them(name):
    with pytest.raises(ValueError, match="weights"):
        getattr(spd, f"mean_{name}")(random_spd((3,), 2), sample_weight=[1, 2, 3])


def test_the_thompson_mean():
    x = random_spd((5,), 4)
    with pytest.warns(UserWarning, match="Convergence not reached: residual"):
        found = spd.mean_thompson(x)
    close(found, mean.mean_thompson(x))


def test_medians():
    x, weights = random_spd((9,), 4), np.arange(1.0, 10.0)
    for name in ("euclid", "riemann"):
        ours, theirs = getattr(spd, f"median_{name}"), getattr(median, f"median_{name}")
        options = {"tol": 1e-9, "maxiter": 2000}
        close(ours(x, weights=weights, **options), theirs(x, weights=weights, **options), 1e-7)
    flat = np.random.default_rng(0).standard_normal((7, 3, 5))
    close(
        spd.median_euclid(flat, tol=1e-9, maxiter=500),
        median.median_euclid(flat, tol=1e-9, maxiter=500),
        1e-7,
    )
    # At a point of the data: three of five are the same.
    same = np.concatenate([np.repeat(x[:1], 3, axis=0), x[1:3]])
    close(spd.median_euclid(same, maxiter=2000, init=x[0]), x[0], 1e-6)
    with pytest.raises(ValueError, match="step_size"):
        spd.median_riemann(x, step_size=3)


def test_means_with_missing_channels():
    x = random_spd((20,), 4)
    options = {"tol": 1e-10, "maxiter": 1000}
    close(spd.nanmean_riemann(x, **options), spd.mean_riemann(x, tol=1e-12), 1e-7)
    broken, rng = x.copy(), np.random.default_rng(1)
    for i in range(0, 20, 2):
        j = rng.integers(4)
        broken[i, j] = broken[i, :, j] = np.nan
    masks = [np.eye(4)[:, ~np.isnan(np.diag(m))] for m in broken]
    m = spd.nanmean_riemann(broken, **options)
    close(m, spd.maskedmean_riemann(x, masks, **options), 1e-7)

    def spread(m):
        return sum(
            spd.distance_riemann(p.T @ m @ p, p.T @ a @ p, squared=True)
            for a, p in zip(x, masks, strict=True)
        )

    # A minimum, which the peer's result is not.
    assert spread(m) < spread(mean.maskedmean_riemann(x, masks, tol=1e-9, maxiter=1000)) - 1e-9
    for k in range(5):
        s = np.random.default_rng(k).standard_normal((4, 4))
        assert spread(m) < spread(spd.exp_map_riemann(1e-3 * (s + s.T), m))
    lost = broken.copy()
    lost[:, 2] = lost[:, :, 2] = np.nan
    with pytest.raises(ValueError, match="channel that no matrix knows"):
        spd.nanmean_riemann(lost)
    lost[3] = np.nan
    with pytest.raises(ValueError, match="Matrix 3 holds nothing"):
        spd.nanmean_riemann(lost)
    for place in ((0, 1), (0, slice(None))):
        bad = x.copy()
        bad[5][place] = np.nan
        with pytest.raises(ValueError, match="matrix 5"):
            spd.nanmean_riemann(bad)


@pytest.mark.parametrize("metric", ["euclid", "logeuclid", "riemann"])
def test_kernels(metric):
    x, y, c = random_spd((7,), 4, 1), random_spd((5,), 4, 2), random_spd((), 4, 3)
    for arguments, options in [
        ((x,), {}),
        ((x, y), {}),
        ((x, y), {"Cref": c}),
        ((x,), {"Cref": c, "reg": 0.5}),
    ]:
        close(
            spd.kernel(*arguments, metric=metric, **options),
            kernel.kernel(*arguments, metric=metric, **options),
            1e-7,
        )
    with pytest.raises(ValueError, match="one size"):
        spd.kernel(x, random_spd((5,), 3), metric=metric)
    with pytest.raises(ValueError, match="Cref"):
        spd.kernel(x, Cref=np.eye(3), metric=metric)


def test_log_cholesky_tangent_spaces():
    a, b, x = random_spd((), 5, 1), random_spd((), 5, 2), random_spd((6,), 5, 3)
    v, w = spd.log_map_logchol(x, a), spd.log_map_logchol(x[::-1], a)
    close(v, tangentspace.log_map_logchol(x, a))
    close(spd.innerproduct_logchol(v, w, a), tangentspace.innerproduct_logchol(v, w, a))
    close(spd.transport_logchol(v, a, b), tangentspace.transport_logchol(v, a, b))
    close(spd.exp_map_logchol(v, a), x)
    close(spd.norm(v, a, metric="logchol"), spd.distance_logchol(x, a))


def test_the_nearest_spd_matrix():
    rng = np.random.default_rng(0)
    for x in (rng.standard_normal((6, 4, 4)), random_spd((3,), 4), np.ones((3, 3))):
        found = spd.nearest_sym_pos_def(x)
        close(found, base.nearest_sym_pos_def(x), 1e-10)
        assert spd.is_sym_pos_def(found)


def test_predicates():
    z = np.array([[2.0, 1j], [-1j, 2.0]])
    for x in (
        np.eye(2),
        -np.eye(2),
        np.diag([1.0, 0.0]),
        np.ones((2, 3)),
        np.array([[0.0, 1.0], [-1.0, 0.0]]),
        z,
        z.conj() * 1j,
        np.stack([z, -z]),
    ):
        for name in [n for n in spd.__all__ if n.startswith("is_")]:
            assert getattr(spd, name)(x) == getattr(predicates, name)(x), (name, x)
    assert spd.is_pos_def(np.eye(2), fast_mode=True) and not spd.is_pos_def(
        -np.eye(2), fast_mode=True
    )
    assert not spd.is_sym_pos_def(np.eye(2), tol=2)


def test_any_shape_in_the_euclidean_metric():
    rng = np.random.default_rng(0)
    for a, b in [
        (rng.standard_normal((3, 4, 5)), rng.standard_normal((3, 4, 5))),
        (1j * rng.standard_normal((3, 5, 2)), rng.standard_normal((3, 5, 2))),
    ]:
        close(spd.distance_euclid(a, b), np.linalg.norm(a - b, axis=(1, 2)))
        close(spd.mean_euclid(a), a.mean(0))
        close(spd.geodesic_euclid(a, b, 0.25), 0.75 * a + 0.25 * b)
        close(spd.exp_map_euclid(spd.log_map_euclid(a, b), b), a)
        close(spd.innerproduct_euclid(a, b), np.einsum("kij,kij->k", a.conj(), b).real)
    close(spd.kernel_euclid(a.real, b), np.einsum("ikl,jkl->ij", a.real, b))


def test_a_start_is_used():
    x = random_spd((6,), 4)
    m = spd.mean_riemann(x, tol=1e-12)
    # One evaluation is enough from the mean itself.
    close(spd.mean_riemann(x, tol=1e-8, maxiter=1, init=m), m)
    with pytest.raises(ValueError, match="good shape"):
        spd.mean_wasserstein(x, init=np.eye(3))
    with pytest.raises(ValueError, match="positive definite"):
        spd.mean_logdet(x, init=-np.eye(4))


def test_positions_of_geodesics():
    a, b = random_spd((4,), 3, 1), random_spd((4,), 3, 2)
    for bad, told in (
        ("abc", "float or an array"),
        (np.zeros((4, 1)), "dimension"),
        (np.zeros(3), "shape"),
    ):
        for name in ("chol", "euclid", "riemann", "thompson"):
            with pytest.raises(ValueError, match=told):
                spd.geodesic(a, b, bad, metric=name)
