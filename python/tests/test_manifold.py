"""The functions of `stiefel.manifold` beside NumPy and SciPy."""

import numpy as np
import pytest
from scipy.linalg import polar, qr, subspace_angles

from stiefel import manifold


def test_points_are_orthonormal():
    w = manifold.random_points(9, 4, size=5, random_state=1)
    assert w.shape == (5, 9, 4)
    assert manifold.orthonormality_defect(w).max() < 1e-14
    assert manifold.random_points(3, 3).shape == (3, 3)
    np.testing.assert_array_equal(w, manifold.random_points(9, 4, size=5, random_state=1))
    with pytest.raises(ValueError, match="between 1 and n"):
        manifold.random_points(3, 4)


def test_project_and_retract():
    rng = np.random.default_rng(0)
    w, z = manifold.random_points(7, 3, random_state=2), rng.standard_normal((4, 7, 3))
    d = manifold.project(w, z)
    inner = w.T @ z
    np.testing.assert_allclose(d, z - w @ ((inner + np.swapaxes(inner, 1, 2)) / 2), atol=1e-14)
    np.testing.assert_allclose(manifold.project(w, d), d, atol=1e-14)
    for i, found in enumerate(manifold.retract(w, d)):
        q, r = qr(w + d[i], mode="economic")
        np.testing.assert_allclose(found, q * np.sign(np.diag(r)), atol=1e-13)
    for i, found in enumerate(manifold.retract(w, d, method="polar")):
        np.testing.assert_allclose(found, polar(w + d[i])[0], atol=1e-13)
    np.testing.assert_allclose(manifold.retract(w, np.zeros_like(w)), w, atol=1e-15)
    with pytest.raises(ValueError, match="method must be"):
        manifold.retract(w, d, method="exact")


def test_principal_angles():
    v, w = (
        manifold.random_points(8, 3, random_state=3),
        manifold.random_points(8, 3, size=4, random_state=4),
    )
    for i, found in enumerate(manifold.principal_angles(v, w)):
        np.testing.assert_allclose(found, np.sort(subspace_angles(v, w[i])), atol=1e-12)
    with pytest.raises(ValueError, match="not on the Stiefel manifold"):
        manifold.principal_angles(2 * v, w)


def test_barycenter_of_one_is_itself():
    w = manifold.random_points(6, 2, size=1, random_state=5)
    np.testing.assert_allclose(manifold.barycenter(w), w[0], atol=1e-14)
    many = manifold.random_points(6, 2, size=4, random_state=6)
    weights = np.array([0.0, 1.0, 2.0, 1.0])
    average = manifold.barycenter(many, weights)
    tangent = sum(x * manifold.project(many[0], y) for x, y in zip(weights / 4, many))
    np.testing.assert_allclose(average, manifold.retract(many[0], tangent), atol=1e-13)


def test_single_precision_and_bad_input():
    w = manifold.random_points(6, 2, size=3, random_state=7).astype(np.float32)
    assert manifold.project(w, w).dtype == np.float32
    with pytest.raises(ValueError, match="linearly dependent"):
        manifold.orthonormal_factor(np.ones((1, 4, 2)))
    with pytest.raises(ValueError, match="NaN"):
        manifold.orthonormal_factor(np.full((6, 2), np.nan))
    with pytest.raises(ValueError, match="sum of the weights"):
        manifold.barycenter(w, np.zeros(3))
