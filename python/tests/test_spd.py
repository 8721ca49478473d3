"""The functions of `stiefel.spd` beside pyRiemann's."""

import warnings

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from pyriemann import geometry as peer
from pyriemann.geometry import distance as peer_distance
from pyriemann.geometry import mean as peer_mean

from stiefel import spd

TOLERANCE = 1e-10


def random_spd(shape, n, seed=0, spread=1.0):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((*shape, n, 2 * n)) * spread
    return a @ np.swapaxes(a, -1, -2) / (2 * n)


def close(found, expected, tolerance=TOLERANCE):
    assert found.shape == np.shape(expected)
    scale = max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * scale)


FUNCTIONS = {
    "logm": ((), peer.base.logm),
    "expm": ((), peer.base.expm),
    "sqrtm": ((), peer.base.sqrtm),
    "invsqrtm": ((), peer.base.invsqrtm),
    "powm": ((0.3,), peer.base.powm),
}


@pytest.mark.parametrize("shape", [(), (1,), (7,), (2, 3)])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_eigenvalues(name, shape):
    arguments, reference = FUNCTIONS[name]
    x = random_spd(shape, 5)
    close(getattr(spd, name)(x, *arguments), reference(x, *arguments))


DISTANCES = [
    "chol",
    "euclid",
    "harmonic",
    "kullback",
    "kullback_right",
    "kullback_sym",
    "logchol",
    "logdet",
    "logeuclid",
    "riemann",
    "thompson",
    "wasserstein",
]


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("name", DISTANCES)
def test_distances(name, squared):
    a, b = random_spd((6,), 5, 1), random_spd((6,), 5, 2)
    ours, theirs = getattr(spd, f"distance_{name}"), getattr(peer_distance, f"distance_{name}")
    for left, right in [(a, b), (a, b[0]), (a[0], b[0]), (a[:, None], b[None, :4])]:
        close(
            np.asarray(ours(left, right, squared=squared)),
            np.asarray(theirs(left, right, squared=squared)),
        )
    close(spd.distance(a, b[0], metric=name), peer_distance.distance(a, b[0], metric=name))
    for y in (None, b[:3]):
        ours, theirs = (
            spd.pairwise_distance(a, y, metric=name),
            peer_distance.pairwise_distance(a, y, metric=name),
        )
        if y is None:
            # A matrix and itself: the peer subtracts equal numbers under a root and keeps 1e-8 of
            # rounding there.
            assert np.all(np.diag(ours) <= 1e-12)
            apart = ~np.eye(len(a), dtype=bool)
            ours, theirs = ours[apart], theirs[apart]
        close(ours, theirs)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "name",
    [
        "ale",
        "chol",
        "euclid",
        "harmonic",
        "kullback_sym",
        "logchol",
        "logdet",
        "logeuclid",
        "riemann",
        "wasserstein",
    ],
)
def test_means(name, weighted):
    x = random_spd((3, 12), 6)
    weights = np.arange(1.0, 13.0) if weighted else None
    options = (
        {"tol": 1e-13, "maxiter": 300}
        if name in ("ale", "logdet", "riemann", "wasserstein")
        else {}
    )
    ours, theirs = getattr(spd, f"mean_{name}"), getattr(peer_mean, f"mean_{name}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = theirs(x, sample_weight=weights, **options)
        close(ours(x, sample_weight=weights, **options), expected)
        close(ours(x[0], sample_weight=weights, **options), expected[0])
        close(spd.gmean(x, metric=name, sample_weight=weights, **options), expected)


def test_power_means():
    x = random_spd((9,), 4)
    for p in (-1, -0.5, 0, 0.4, 1):
        close(spd.mean_poweuclid(x, p), peer_mean.mean_poweuclid(x, p))
        close(spd.gmean(x, metric="poweuclid", p=p), peer_mean.gmean(x, p, metric="poweuclid"))


def test_a_mean_says_when_it_did_not_converge():
    with pytest.warns(UserWarning, match="Convergence not reached"):
        spd.mean_riemann(random_spd((5,), 4), tol=1e-12, maxiter=1)


@pytest.mark.parametrize(
    "name", ["chol", "euclid", "logchol", "logeuclid", "riemann", "thompson", "wasserstein"]
)
def test_geodesics(name):
    a, b = random_spd((4,), 5, 1), random_spd((4,), 5, 2)
    ours = getattr(spd, f"geodesic_{name}")
    theirs = getattr(peer.geodesic, f"geodesic_{name}")
    for alpha in (0.0, 0.3, 1, np.array([0.0, 0.25, 0.5, 1.0])):
        close(ours(a, b, alpha), theirs(a, b, alpha))
    close(
        spd.geodesic(a[0], b[0], 0.7, metric=name),
        peer.geodesic.geodesic(a[0], b[0], 0.7, metric=name),
    )


def test_tangent_spaces():
    x, c = random_spd((2, 4), 5, 1), random_spd((), 5, 2)
    theirs = peer.tangentspace
    close(spd.upper(x), theirs.upper(x))
    close(spd.unupper(theirs.upper(x)), x)
    for metric in ("euclid", "logchol", "logeuclid", "riemann", "wasserstein"):
        vectors = theirs.tangent_space(x, c, metric=metric)
        close(spd.tangent_space(x, c, metric=metric), vectors)
        close(spd.untangent_space(vectors, c, metric=metric), x)
    for flag in (False, True):
        close(spd.log_map_riemann(x, c, C12=flag), theirs.log_map_riemann(x, c, C12=flag))
        close(spd.exp_map_riemann(x, c, Cm12=flag), theirs.exp_map_riemann(x, c, Cm12=flag))
    v, w = spd.log_map(x, c), spd.log_map(x[::-1], c)
    close(spd.innerproduct_riemann(v, w, c), theirs.innerproduct_riemann(v, w, c))
    close(np.asarray(spd.norm(v[0, 0], c)), np.asarray(theirs.norm(v[0, 0], c)))
    d = random_spd((), 5, 3)
    close(spd.transport_riemann(v, c, d), theirs.transport_riemann(v, c, d))
    root = peer.base.invsqrtm(c)
    close(spd.whiten(x, c), root @ x @ root)


def test_derivatives():
    x, c = random_spd((2, 4), 5, 1), random_spd((), 5, 2)
    x = x - 0.5 * np.eye(5)
    for name in ("ddexpm", "ddlogm"):
        ours, theirs = getattr(spd, name), getattr(peer.base, name)
        close(ours(x, c), theirs(x, c))
        close(ours(x[0, 0], c), theirs(x[0, 0], c))
        many = random_spd((2, 4), 5, 3)
        one_by_one = np.stack([[ours(x[i, j], many[i, j]) for j in range(4)] for i in range(2)])
        close(ours(x, many), one_by_one, 1e-13)
        close(ours(x[0, 0], many)[1, 2], ours(x[0, 0], many[1, 2]), 1e-13)
    # Symmetric to rounding, and not at all.
    rough = x.copy()
    rough[..., 0, 1] *= 1 + 2e-16
    close(spd.ddexpm(rough, c), peer.base.ddexpm(x, c))
    y = random_spd((3,), 5, 4)
    rough = y.copy()
    rough[..., 0, 1] *= 1 + 2e-16
    for name in ("log_map_logeuclid", "exp_map_logeuclid"):
        close(getattr(spd, name)(rough, c), getattr(spd, name)(y, c), 1e-13)
        close(getattr(spd, name)(y, y)[1], getattr(spd, name)(y[1], y[1]), 1e-13)
    for bad, told in ((np.nan, "NaN"), (1.0, "symmetric")):
        broken = x.copy()
        broken[1, 2, 0, 3] += bad
        with pytest.raises(ValueError, match=f"(matrix|trial) 6 .*{told}"):
            spd.ddexpm(broken, c)
    # Repeated eigenvalues, and nearly repeated ones, where differences of the function lose all
    # digits.
    for gap in (0.0, 1e-16, 1e-12, 1e-9):
        point = np.diag([1.0, 1.0 + gap, 4.0])
        direction = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
        close(
            spd.ddlogm(direction, point),
            direction / np.array([1.0, 1.0, 4.0])[:, None],
            1e-8 if gap == 1e-9 else 1e-11,
        )


@pytest.mark.parametrize("n", [1, 2, 22, 60])
def test_sizes(n):
    x = random_spd((5,), n)
    close(spd.logm(x), peer.base.logm(x))
    close(spd.distance_riemann(x, x[0]), peer_distance.distance_riemann(x, x[0]))


def whole_stacks(x, y, c):
    """Calls on stacks of several parts, one operand for each and one for all, and the same calls of
    the peer."""
    for name in DISTANCES:
        ours, theirs = getattr(spd, f"distance_{name}"), getattr(peer_distance, f"distance_{name}")
        yield name, lambda f=ours: f(x, y), lambda f=theirs: f(x, y)
        yield name, lambda f=ours: f(x, c), lambda f=theirs: f(x, c[None])
        yield name, lambda f=ours: f(c, y), lambda f=theirs: f(c[None], y)
    for name, (arguments, theirs) in FUNCTIONS.items():
        yield (
            name,
            lambda n=name, a=arguments: getattr(spd, n)(x, *a),
            lambda f=theirs, a=arguments: f(x, *a),
        )
    for name in ("euclid", "logeuclid", "riemann"):
        ours, theirs = getattr(spd, f"geodesic_{name}"), getattr(peer.geodesic, f"geodesic_{name}")
        yield name, lambda f=ours: f(x, y, -0.3), lambda f=theirs: f(x, y, -0.3)
        yield name, lambda f=ours: f(c, y, 0.7), lambda f=theirs: f(c, y, 0.7)
    for name in ("euclid", "harmonic", "logeuclid"):
        yield (
            name,
            lambda n=name: getattr(spd, f"mean_{n}")(x),
            lambda n=name: getattr(peer_mean, f"mean_{n}")(x),
        )
    theirs = peer.tangentspace
    vectors = theirs.tangent_space(x, c)
    tangents = theirs.unupper(vectors)
    yield (
        "pairwise",
        lambda: spd.pairwise_distance(x[:40], y),
        lambda: peer_distance.pairwise_distance(x[:40], y),
    )
    yield "tangent", lambda: spd.tangent_space(x, c), lambda: vectors
    yield (
        "untangent",
        lambda: spd.untangent_space(vectors, c),
        lambda: theirs.untangent_space(vectors, c),
    )
    yield (
        "transport",
        lambda: spd.transport_riemann(tangents, c, y[0]),
        lambda: theirs.transport_riemann(tangents, c, y[0]),
    )
    for name in ("log_map_logeuclid", "exp_map_logeuclid"):
        z = x if name.startswith("log") else tangents
        yield (
            name,
            lambda n=name, z=z: getattr(spd, n)(z, c),
            lambda n=name, z=z: getattr(theirs, n)(z, c),
        )
    yield (
        "inner",
        lambda: spd.innerproduct_riemann(x, y, c),
        lambda: theirs.innerproduct_riemann(x, y, c),
    )
    for flag in (False, True):
        log, exp = {"C12": flag}, {"Cm12": flag}
        yield (
            "log",
            lambda o=log: spd.log_map_riemann(x, c, **o),
            lambda o=log: theirs.log_map_riemann(x, c, **o),
        )
        yield (
            "exp",
            lambda o=exp: spd.exp_map_riemann(tangents, c, **o),
            lambda o=exp: theirs.exp_map_riemann(tangents, c, **o),
        )


@pytest.mark.parametrize("n", [1, 3, 22])
def test_whole_stacks(n):
    x, y, c = random_spd((75,), n, 1), random_spd((75,), n, 2), random_spd((), n, 3)
    for _, ours, theirs in whole_stacks(x, y, c):
        close(ours(), theirs())
    d = spd.pairwise_distance(x)
    close(d, peer_distance.pairwise_distance(x, x) * (1 - np.eye(75)))
    np.testing.assert_array_equal(d, d.T)


def test_what_the_short_ways_leave_to_others():
    x, y = random_spd((75,), 6, 1), random_spd((75,), 6, 2)
    rng = np.random.default_rng(0)
    # Invertible, not positive definite.
    indefinite = x.copy()
    indefinite[50] -= 2 * np.linalg.eigvalsh(x[50]).mean() * np.eye(6)
    close(spd.distance_harmonic(indefinite, y), peer_distance.distance_harmonic(indefinite, y))
    close(spd.mean_harmonic(indefinite), peer_mean.mean_harmonic(indefinite))
    # Nearly singular: the other way must be the peer's, or digits differ.
    graded = x.copy()
    values, vectors = np.linalg.eigh(x[50])
    values[0] = 1e-9 * values[-1]
    graded[50] = (vectors * values) @ vectors.T
    close(
        spd.distance_harmonic(graded, y),
        peer_distance.distance_harmonic(graded, y),
    )
    # The peer takes the determinant of a product, which has fewer digits than each alone.
    close(
        spd.distance_logdet(graded, y),
        peer_distance.distance_logdet(graded, y),
        6e9 * np.finfo(float).eps,
    )
    # Another factorisation: the determinant of a matrix of condition 1e9 has rounding of ε·1e9 for
    # each of six pivots.
    close(
        spd.distance_kullback(graded, y),
        peer_distance.distance_kullback(graded, y),
        6e9 * np.finfo(float).eps,
    )
    # No matrix of a manifold at all.
    a, b = rng.standard_normal((2, 75, 6, 6))
    close(spd.distance_euclid(a, b), peer_distance.distance_euclid(a, b))
    close(spd.mean_euclid(a), peer_mean.mean_euclid(a))
    close(spd.geodesic_euclid(a, b, 0.2), peer.geodesic.geodesic_euclid(a, b, 0.2))
    close(spd.transport_riemann(a, x[0], y[0]), peer.tangentspace.transport_riemann(a, x[0], y[0]))


def every_function():
    """A call of every kind, for what holds of all."""
    c = random_spd((), 4, 9)
    yield "spectral", spd.logm
    yield "distance", lambda x: spd.distance_riemann(x, c.astype(x.dtype))
    yield "euclid", lambda x: spd.distance_euclid(x, c.astype(x.dtype))
    yield "mean", spd.mean_riemann
    yield "mean euclid", spd.mean_euclid
    yield "mean logeuclid", spd.mean_logeuclid
    yield "geodesic", lambda x: spd.geodesic_riemann(x, c.astype(x.dtype), 0.3)
    yield "tangent", lambda x: spd.tangent_space(x, c.astype(x.dtype))
    yield "upper", spd.upper
    yield "whiten", lambda x: spd.whiten(x, c.astype(x.dtype))


@pytest.mark.parametrize(
    ("name", "function"), list(every_function()), ids=lambda v: v if isinstance(v, str) else ""
)
def test_layouts_give_the_same_and_arguments_stay(name, function):
    x = random_spd((6,), 4)
    expected = function(x)
    frozen = x.copy()
    frozen.flags.writeable = False
    strided = np.zeros((12, 4, 4))
    strided[::2] = x
    swapped = x.astype(">f8")
    for variant in (
        frozen,
        np.asfortranarray(x),
        strided[::2],
        np.swapaxes(x, 1, 2),
        swapped,
        x[::-1][::-1],
    ):
        before = variant.copy()
        # NumPy sums in the order of memory: its last digit may differ.
        np.testing.assert_allclose(function(variant), expected, rtol=1e-14, atol=1e-14)
        np.testing.assert_array_equal(variant, before)


def test_lists_are_arrays():
    x = random_spd((6,), 4)
    np.testing.assert_array_equal(spd.logm(x.tolist()), spd.logm(x))


@pytest.mark.parametrize(
    ("name", "function"), list(every_function()), ids=lambda v: v if isinstance(v, str) else ""
)
def test_single_precision_stays_single(name, function):
    x = random_spd((6,), 4)
    found = function(x.astype(np.float32))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, function(x), rtol=2e-4, atol=2e-4)


def test_bad_input_is_named():
    x = random_spd((5,), 3)
    nan = x.copy()
    nan[3, 0, 1] = np.nan
    flat = x.copy()
    flat[2] = np.ones((3, 3))
    skew = x.copy()
    skew[4, 0, 1] += 1.0
    for bad, match in [
        (nan, "matrix 3 has the value NaN at row 0, column 1"),
        (flat, "trial 2 .* not positive definite"),
        (skew, "trial 4 is not symmetric"),
    ]:
        for function in (
            spd.logm,
            lambda v: spd.distance_riemann(v, x),
            spd.mean_riemann,
            spd.mean_logeuclid,
        ):
            with pytest.raises(ValueError, match=match):
                function(bad)
    with pytest.raises(ValueError, match=r"index \[3, 0, 1\]"):
        spd.mean_euclid(nan)
    with pytest.raises(ValueError, match=r"index \[3, 0, 1\]"):
        spd.distance_euclid(nan, x)
    with pytest.raises(ValueError, match="square"):
        spd.logm(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="dimension"):
        spd.logm(np.zeros(3))
    with pytest.raises(ValueError, match="objects"):
        spd.logm(np.array([[1.0], [None]], dtype=object))
    with pytest.raises(ValueError, match="symmetric"):
        spd.logm(np.eye(2) * 1j)
    with pytest.raises(ValueError, match="Complex data not supported"):
        spd.mean_ale(x * (1 + 0j))
    with pytest.raises(ValueError, match="incompatible"):
        spd.distance_riemann(x, x[:2])
    with pytest.raises(ValueError, match="equal matrix dimensions"):
        spd.distance_riemann(x, np.eye(2))
    with pytest.raises(ValueError, match="Unknown metric"):
        spd.distance(x, x, metric="manhattan")
    with pytest.raises(ValueError, match="good shape"):
        spd.mean_riemann(x, sample_weight=[1.0, 2.0])
    with pytest.raises(ValueError, match="holds no matrix"):
        spd.mean_euclid(x[:0])


def test_bad_input_is_named_far_into_a_stack():
    x, c = random_spd((75,), 4, 1), random_spd((), 4, 2)
    flat = x.copy()
    flat[61] = np.ones((4, 4))
    nan = x.copy()
    nan[61, 2, 2] = np.nan
    skew = x.copy()
    skew[61, 0, 1] += 1.0
    for function in (
        spd.logm,
        lambda v: spd.distance_riemann(v, x),
        lambda v: spd.distance_logeuclid(x, v),
        lambda v: spd.distance_kullback(x, v),
        lambda v: spd.distance_kullback_sym(x, v),
        lambda v: spd.geodesic_riemann(c, v, 0.3),
        lambda v: spd.log_map_riemann(v, c),
        lambda v: spd.log_map_riemann(v, c, C12=True),
        lambda v: spd.tangent_space(v, c),
        spd.pairwise_distance,
    ):
        for bad, match in [
            (flat, "trial 61 .*not positive"),
            (nan, "matrix 61 .*NaN"),
            (skew, "trial 61 is not symmetric"),
        ]:
            with pytest.raises(ValueError, match=match):
                function(bad)
    for function in (spd.distance_euclid, spd.distance_harmonic, spd.distance_logdet):
        with pytest.raises(
            ValueError, match=r"B contains NaN or infinity, first at index \[61, 2, 2\]"
        ):
            function(x, nan)
    with pytest.raises(ValueError, match="equal matrix dimensions"):
        spd.untangent_space(np.zeros((3, 6)), c)


def test_empty_stacks_stay_empty():
    empty = np.zeros((0, 3, 3))
    assert spd.logm(empty).shape == (0, 3, 3)
    assert spd.upper(empty).shape == (0, 6)
    assert spd.tangent_space(empty, np.eye(3)).shape == (0, 6)
    assert spd.untangent_space(np.zeros((0, 6)), np.eye(3)).shape == (0, 3, 3)
    assert spd.distance_harmonic(empty, np.eye(3)).shape == (0,)
    assert spd.geodesic_euclid(empty, empty).shape == (0, 3, 3)
    nothing = np.zeros((4, 0, 0))
    assert spd.mean_euclid(nothing).shape == (0, 0)
    assert spd.distance_euclid(nothing, nothing).tolist() == [0.0] * 4
    assert spd.geodesic_euclid(nothing, nothing).shape == (4, 0, 0)


def test_threads_do_not_change_results():
    import stiefel

    x, y, c = random_spd((600,), 22, 1), random_spd((600,), 22, 2), random_spd((), 22, 3)
    calls = [ours for _, ours, _ in whole_stacks(x, y, c)]
    one = [call() for call in calls]
    stiefel.set_num_threads(2)
    try:
        for call, expected in zip(calls, one, strict=True):
            np.testing.assert_array_equal(call(), expected)
    finally:
        stiefel.set_num_threads(1)
    with pytest.raises(ValueError, match="at least one thread"):
        stiefel.set_num_threads(0)


def exact_logdet(x):
    """The logarithm of a determinant of floating-point numbers, by rational arithmetic."""
    rows = [[Fraction(float(v)) for v in row] for row in x]
    determinant = Fraction(1)
    for i, row in enumerate(rows):
        determinant *= row[i]
        for other in rows[i + 1 :]:
            factor = other[i] / row[i]
            other[i:] = [b - factor * a for a, b in zip(row[i:], other[i:])]
    with localcontext() as context:
        context.prec = 60
        return (Decimal(determinant.numerator) / Decimal(determinant.denominator)).ln()


@pytest.mark.parametrize("condition", [1e2, 1e6, 1e8, 1e10])
def test_the_log_det_distance_keeps_its_digits(condition):
    rng = np.random.default_rng(0)
    values = np.geomspace(1 / condition, 1, 6)
    a, b = (
        spd.unupper(spd.upper(q @ np.diag(values) @ q.T))
        for q in (np.linalg.qr(rng.standard_normal((6, 6)))[0] for _ in range(2))
    )
    with localcontext() as context:
        context.prec = 60
        square = exact_logdet((a + b) / 2) - (exact_logdet(a) + exact_logdet(b)) / 2
        expected = float(square.sqrt())
    # A determinant keeps the digits that the condition leaves.
    assert abs(spd.distance_logdet(a, b) - expected) < 1e-14 * condition
    assert abs(spd.distance_logdet(a, b, squared=True) - expected**2) < 1e-13 * condition
