"""Functions of Hermitian positive definite matrices, against formulas with NumPy's own eigenvalues;
and what takes no complex numbers."""

import numpy as np
import pytest

from stiefel import spd


def hermitian(count, n, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((count, n, 2 * n)) + 1j * rng.standard_normal((count, n, 2 * n))
    return a @ a.conj().transpose(0, 2, 1) / (2 * n)


def of_eigenvalues(x, f):
    values, vectors = np.linalg.eigh(x)
    return (vectors * f(values)[..., None, :]) @ vectors.conj().swapaxes(-1, -2)


X, Y = hermitian(4, 3), hermitian(4, 3, seed=1)
RATIOS = np.array([np.linalg.eigvals(np.linalg.solve(x, y)).real for x, y in zip(X, Y)])


@pytest.mark.parametrize(
    ("function", "f"),
    [
        (spd.logm, np.log),
        (spd.expm, np.exp),
        (spd.sqrtm, np.sqrt),
        (spd.invsqrtm, lambda v: v**-0.5),
        (lambda x: spd.powm(x, 0.3), lambda v: v**0.3),
    ],
)
def test_functions_of_eigenvalues(function, f):
    assert np.allclose(function(X), of_eigenvalues(X, f), atol=1e-12)


def test_distances():
    root = spd.sqrtm(X)
    cross = np.trace(of_eigenvalues(root @ Y @ root, np.sqrt), axis1=1, axis2=2).real
    traces = np.trace(X + Y, axis1=1, axis2=2).real
    logs = np.linalg.slogdet
    expected = {
        "riemann": np.sqrt((np.log(RATIOS) ** 2).sum(1)),
        "euclid": np.linalg.norm(X - Y, axis=(1, 2)),
        "logeuclid": np.linalg.norm(spd.logm(X) - spd.logm(Y), axis=(1, 2)),
        "harmonic": np.linalg.norm(np.linalg.inv(X) - np.linalg.inv(Y), axis=(1, 2)),
        "logdet": np.sqrt(logs((X + Y) / 2)[1] - (logs(X)[1] + logs(Y)[1]) / 2),
        "kullback": ((1 / RATIOS).sum(1) - 3 + np.log(RATIOS).sum(1)) / 2,
        "wasserstein": np.sqrt(traces - 2 * cross),
    }
    for metric, d in expected.items():
        assert np.allclose(spd.distance(X, Y, metric=metric), d, atol=1e-10), metric
        assert np.allclose(spd.distance(X, Y, metric=metric, squared=True), d**2, atol=1e-10), (
            metric
        )
        assert np.allclose(np.diag(spd.pairwise_distance(X, Y, metric=metric)), d, atol=1e-10), (
            metric
        )


def test_means_maps_and_transport():
    assert np.allclose(spd.mean_euclid(X), X.mean(0))
    assert np.allclose(
        spd.mean_harmonic(X, sample_weight=[1, 2, 3, 4]),
        np.linalg.inv(np.tensordot([0.1, 0.2, 0.3, 0.4], np.linalg.inv(X), 1)),
    )
    m = spd.mean_riemann(X)
    assert np.linalg.norm(spd.log_map_riemann(X, m).mean(0)) < 1e-7 and np.allclose(m, m.conj().T)
    for metric in ("riemann", "logeuclid", "euclid"):
        back = spd.exp_map(spd.log_map(X, m, metric=metric), m, metric=metric)
        assert np.allclose(back, X, atol=1e-11), metric
        v, w = spd.log_map(X[0], m, metric=metric), spd.log_map(X[1], m, metric=metric)
        before = spd.innerproduct(v, w, m, metric=metric)
        if metric != "riemann":
            there = [spd.transport(t, m, Y[0], metric=metric) for t in (v, w)]
            assert np.isclose(spd.innerproduct(*there, Y[0], metric=metric), before), metric
        assert np.isclose(
            spd.norm(v, m, metric=metric) ** 2, spd.innerproduct(v, None, m, metric=metric)
        )
    middle = spd.geodesic(X, Y, 0.5)
    assert np.allclose(spd.distance_riemann(X, middle), spd.distance_riemann(X, Y) / 2, atol=1e-11)


def test_other_metrics():
    """Distances, geodesics, maps and means of the other metrics, by formulas of complex
    matrices."""
    l_x, l_y = np.linalg.cholesky(X), np.linalg.cholesky(Y)
    assert np.allclose(spd.distance_chol(X, Y), np.linalg.norm(l_x - l_y, axis=(1, 2)))
    below = np.linalg.norm(np.tril(l_x, -1) - np.tril(l_y, -1), axis=(1, 2))
    logs = np.log(np.diagonal(l_x, axis1=1, axis2=2).real) - np.log(
        np.diagonal(l_y, axis1=1, axis2=2).real
    )
    assert np.allclose(spd.distance_logchol(X, Y) ** 2, below**2 + (logs**2).sum(1))
    assert np.allclose(spd.distance_thompson(X, Y), np.abs(np.log(RATIOS)).max(1))
    assert np.allclose(
        spd.distance_poweuclid(X, Y, 0.4),
        np.linalg.norm(spd.powm(X, 0.4) - spd.powm(Y, 0.4), axis=(1, 2)) / 0.4,
    )
    middle = (l_x + l_y) / 2
    assert np.allclose(spd.geodesic_chol(X, Y, 0.5), middle @ middle.conj().swapaxes(-1, -2))
    root, inverse = spd.sqrtm(X), spd.invsqrtm(X)
    t = inverse @ spd.sqrtm(root @ Y @ root) @ inverse
    assert np.allclose(spd.log_map_wasserstein(Y, X), t @ X + X @ t - 2 * X)
    for name in ("logchol", "wasserstein"):
        assert np.allclose(spd.exp_map(spd.log_map(Y, X[0], metric=name), X[0], metric=name), Y), (
            name
        )
    m = spd.mean_wasserstein(X)
    assert np.linalg.norm(spd.log_map_wasserstein(X, m).mean(0)) < 1e-7
    m = spd.mean_power(X, -0.3)
    assert np.allclose(spd.geodesic(m, X, -0.3).mean(0), m, atol=1e-7)
    m = spd.median_riemann(X, tol=1e-10, maxiter=500)
    logs = spd.log_map_riemann(X, m)
    assert np.linalg.norm((logs / np.linalg.norm(logs, axis=(1, 2), keepdims=True)).mean(0)) < 1e-8
    assert np.allclose(spd.nanmean_riemann(X), spd.mean_riemann(X), atol=1e-6)
    v = np.linalg.solve(np.linalg.cholesky(X[0]), X[1])
    assert np.allclose(spd.distance_mahalanobis(X[1], X[0]), np.linalg.norm(v, axis=0))


def test_vectors():
    v, w = spd.upper(X), spd.upper(Y)
    assert v.shape == (4, 6) and np.allclose(spd.unupper(v), X)
    assert np.allclose((v.conj() * w).sum(1).real, np.einsum("kij,kij->k", X.conj(), Y).real)
    t = spd.tangent_space(X, Y[0])
    assert np.allclose(np.linalg.norm(t, axis=1), spd.distance_riemann(X, Y[0]))
    for metric in ("euclid", "logchol", "logeuclid", "riemann", "wasserstein"):
        back = spd.untangent_space(spd.tangent_space(X, Y[0], metric=metric), Y[0], metric=metric)
        assert np.allclose(back, X, atol=1e-10), metric
    assert np.allclose(
        spd.kernel_riemann(X, Y, Cref=Y[0]), (t.conj() @ spd.tangent_space(Y, Y[0]).T).real
    )


def test_a_real_matrix_among_complex_ones_and_single_precision():
    assert np.allclose(
        spd.distance_riemann(X, np.eye(3)), spd.distance_riemann(X, np.eye(3, dtype=complex))
    )
    assert spd.logm(X.astype(np.complex64)).dtype == np.complex64
    assert spd.logm(X.real).dtype == np.float64


def test_what_is_refused():
    with pytest.raises(ValueError, match="positive definite|eigenvalue"):
        spd.logm(-X)
    with pytest.raises(ValueError, match="symmetric"):
        spd.logm(X + 1j * np.eye(3))
    with pytest.raises(ValueError, match="mean_riemann"):
        spd.mean_ale(X)
    with pytest.raises(ValueError, match="Unknown metric"):
        spd.transport(X, X[0], X[1], metric="odd")
