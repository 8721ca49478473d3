"""Functions: values against NumPy's side of the package and against PyTorch alone, derivatives by
gradcheck, dimensions, precisions, bad input."""

import threading
import weakref

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

import stiefel.spd
from stiefel.torch import _inputs, _operators, _plain, _spectral, functional

EPSILON = 0.3
SPECTRAL = {
    "logm": (functional.logm, 0.0),
    "expm": (functional.expm, 0.0),
    "sqrtm": (functional.sqrtm, 0.0),
    "invsqrtm": (functional.invsqrtm, 0.0),
    "powm": (lambda x: functional.powm(x, 1.7), 1.7),
    "reeig": (lambda x: functional.reeig(x, EPSILON), EPSILON),
    "reeig_log": (lambda x: functional.reeig_log(x, EPSILON), EPSILON),
}
#: Eigenvalues: apart, repeated, nearly repeated, with one below the threshold, all alike.
SPECTRA = [
    [2.0, 1.1, 0.7, 0.05],
    [1.3, 1.3, 1.3, 0.6],
    [1.0, 1.0 + 1e-9, 0.5, 0.5 - 1e-12],
    [2.0, 2.0, 0.1, 0.1],
    [1.5, 1.5, 1.5, 1.5],
]


def symmetric(x):
    return (x + x.mT) / 2


def of_spectrum(values, seed=0):
    values = torch.tensor(values, dtype=torch.float64)
    q = torch.linalg.qr(
        torch.randn(
            len(values),
            len(values),
            dtype=torch.float64,
            generator=torch.Generator().manual_seed(seed),
        )
    )[0]
    return symmetric(q @ torch.diag(values) @ q.T).requires_grad_()


def points(count, n, k, seed=1):
    g = torch.randn(count, n, k, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    return torch.linalg.qr(g)[0].requires_grad_()


@pytest.mark.parametrize(
    "spectrum", SPECTRA, ids=["apart", "repeated", "nearly", "clamped", "alike"]
)
def test_derivatives_of_logeig(spectrum):
    x = of_spectrum(spectrum)
    assert gradcheck(lambda a: functional.log_upper(symmetric(a)), (x,), eps=1e-6, atol=1e-6)
    assert both(functional.log_upper, lambda a: functional.upper(functional.logm(a)), x) < 1e-11
    assert (
        both(functional.log_upper, lambda a: _plain.upper(_plain.spectral("logm", a, 0.0)), x)
        < 1e-11
    )


@pytest.mark.parametrize(
    "spectrum", SPECTRA, ids=["apart", "repeated", "nearly", "clamped", "alike"]
)
@pytest.mark.parametrize("name", SPECTRAL)
def test_derivatives_of_spectral_functions(name, spectrum):
    f, parameter = SPECTRAL[name]
    x = of_spectrum(spectrum)
    assert gradcheck(lambda a: f(symmetric(a)), (x,), eps=1e-6, atol=1e-6)
    assert gradcheck(
        lambda a: _plain.spectral(name, symmetric(a), parameter), (x,), eps=1e-6, atol=1e-6
    )


PAIRS = {
    "bimap": lambda x, w, z: functional.bimap(symmetric(x), w),
    "bimap_of_any_square": lambda x, w, z: functional.bimap(x, w),
    "bimap_crooked": lambda x, w, z: functional.bimap(x.triu(), w),
    "project_tangent": lambda x, w, z: functional.project_tangent(w, z),
    "retract_qr": lambda x, w, z: functional.retract_qr(w, 0.3 * z),
    "retract_polar": lambda x, w, z: functional.retract_polar(w, 0.3 * z),
    "filtered_log": lambda x, w, z: functional.filtered_log(symmetric(x), w + 0.3 * z, 1e-4),
    "filtered_log_clamped": lambda x, w, z: functional.filtered_log(symmetric(x), w + 0.3 * z, 0.5),
    "filtered_log_of_points": lambda x, w, z: functional.filtered_log(
        symmetric(x), w, 1e-4, retract=False
    ),
    "upper": lambda x, w, z: functional.upper(symmetric(x)),
    "from_upper": lambda x, w, z: functional.from_upper(z.flatten(1)[:, :6]),
    "distance": lambda x, w, z: functional.distance(symmetric(x), symmetric(x.flip(0))),
    "squared_distance": lambda x, w, z: functional.distance(
        symmetric(x), symmetric(x.flip(0)), squared=True
    ),
    "mean": lambda x, w, z: functional.mean(symmetric(x), torch.tensor([1.0, 2.0, 0.5])),
}


@pytest.mark.parametrize("name", PAIRS)
def test_derivatives_of_the_others(name, spd):
    x = spd(3, 5).requires_grad_()
    z = torch.randn(3, 5, 3, dtype=torch.float64).requires_grad_()
    assert gradcheck(PAIRS[name], (x, points(3, 5, 3), z), eps=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    "spectrum", SPECTRA, ids=["apart", "repeated", "nearly", "clamped", "alike"]
)
@pytest.mark.parametrize(
    "name", ["filtered_log", "filtered_log_clamped", "squared_distance", "mean"]
)
def test_derivatives_at_repeated_eigenvalues(name, spectrum):
    x = torch.stack([of_spectrum(spectrum, seed).detach() for seed in range(3)]).requires_grad_()
    z = torch.zeros(3, 4, 2, dtype=torch.float64)
    assert gradcheck(lambda a, w: PAIRS[name](a, w, z), (x, points(3, 4, 2)), eps=1e-6, atol=2e-6)


def both(f, plain, *inputs):
    """The largest differences of values and gradients of two functions."""
    found = []
    for function in (f, plain):
        own = [x.detach().clone().requires_grad_() for x in inputs]
        y = function(*own)
        g = torch.sin(torch.arange(y.numel(), dtype=y.dtype)).reshape(y.shape)
        found.append((y.detach(), *torch.autograd.grad(y, own, g)))
    return max(float((a - b).abs().max()) for a, b in zip(*found))


def test_kernels_and_pytorch_alone_agree(spd):
    x, w, z = spd(4, 6), points(4, 6, 3).detach(), 0.3 * torch.randn(4, 6, 3, dtype=torch.float64)
    for name, (f, parameter) in SPECTRAL.items():
        assert both(f, lambda a, n=name, p=parameter: _plain.spectral(n, a, p), x) < 1e-12, name
    for matrices in (x, x.triu()):
        assert both(functional.bimap, _plain.bimap, matrices, w) < 1e-12
    assert both(functional.project_tangent, _plain.project_tangent, w, z) < 1e-12
    assert both(functional.retract_qr, _plain.retract_qr, w, z) < 1e-12
    assert both(functional.retract_polar, _plain.retract_polar, w, z) < 1e-12
    assert both(functional.upper, _plain.upper, x) < 1e-12
    assert (
        both(functional.from_upper, lambda v: _plain.from_upper(v, 6), functional.upper(x)) < 1e-12
    )
    assert (
        both(
            lambda a, b: functional.distance(a, b, squared=True),
            _plain.squared_distance,
            x,
            x.flip(0),
        )
        < 1e-11
    )
    for retract in (True, False):
        f = [
            lambda a, b, g=g, r=retract: g(a, b, 1e-4, r)
            for g in (functional.filtered_log, _plain.filtered_log)
        ]
        assert both(*f, x, w + z if retract else w) < 1e-12


def test_the_mean_elsewhere_is_the_mean_here(spd, monkeypatch):
    from stiefel.torch import _mean

    x, weights = spd(5, 4), torch.full((5,), 0.2, dtype=torch.float64)
    here = _mean._found(x, weights)

    class Elsewhere(torch.Tensor):
        device = torch.device("meta")

    monkeypatch.setattr(_mean, "float", float, raising=False)
    there = _mean._found(x.as_subclass(Elsewhere), weights).as_subclass(torch.Tensor)
    assert float((here - there).abs().max()) < 1e-11
    assert np.abs(here.numpy() - stiefel.spd.mean_riemann(x.numpy())).max() < 1e-9


def test_another_device_takes_the_plain_way(monkeypatch, spd):
    """No GPU here: a tensor that says it lies elsewhere must not reach the kernels."""

    def refused(*_):
        raise AssertionError("a kernel was called")

    for module in (functional, _spectral, _inputs):
        for name, other in (("kernels", lambda *tensors: False), ("call", refused)):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, other)
    x, w = spd(3, 4), points(3, 4, 2).detach()
    for f, _ in SPECTRAL.values():
        assert f(x).shape == x.shape
    assert functional.filtered_log(x, w).shape == (3, 3)
    assert functional.log_upper(x).shape == (3, 10)
    assert functional.distance(x, x[0]).shape == (3,)
    assert functional.from_upper(functional.upper(x)).shape == x.shape
    for f in (functional.project_tangent, functional.retract_qr, functional.retract_polar):
        assert f(w, w * 0.1).shape == w.shape
    assert functional.bimap(x, w).shape == (3, 2, 2)


def test_leading_dimensions_broadcast(spd):
    x = spd(6, 4).reshape(2, 3, 4, 4)
    w = points(3, 4, 2).detach()
    assert torch.equal(functional.logm(x)[1, 2], functional.logm(x[1, 2]))
    assert functional.logm(x[0, 0]).shape == (4, 4)
    y = functional.bimap(x, w)
    assert y.shape == (2, 3, 2, 2)
    assert torch.allclose(y[1, 2], w[2].T @ x[1, 2] @ w[2], atol=1e-14)
    assert functional.filtered_log(x, w).shape == (2, 3, 3)
    assert functional.filtered_log(x[0, 0], w).shape == (3, 3)
    assert functional.distance(x[:, :1], x).shape == (2, 3)
    assert functional.upper(x[0, 0]).shape == (10,)
    assert functional.log_upper(x).shape == (2, 3, 10) and functional.log_upper(x[0, 0]).shape == (
        10,
    )
    assert functional.log_upper(x[:0]).shape == (0, 3, 10)
    assert functional.logm(x[:0]).shape == (0, 3, 4, 4)


def test_broadcast_gradients_are_sums(spd):
    x, w = (
        spd(6, 4).reshape(2, 3, 4, 4).requires_grad_(),
        points(1, 4, 2).detach()[0].requires_grad_(),
    )
    functional.bimap(x, w).sin().sum().backward()
    own = w.detach().clone().requires_grad_()
    (own.T @ x.detach() @ own).sin().sum().backward()
    assert torch.allclose(w.grad, own.grad, atol=1e-12)


def test_strides_do_not_matter(spd):
    x = spd(3, 4)
    expanded = x[:1].expand(3, 4, 4)
    assert torch.equal(functional.logm(expanded), functional.logm(x[:1]).expand(3, 4, 4))
    strided = torch.stack([x, x], -1)[..., 0]
    assert not strided.is_contiguous()
    assert torch.equal(functional.expm(strided), functional.expm(x))


def test_single_precision_and_less(spd):
    x = spd(3, 4)
    exact = functional.logm(x)
    assert functional.logm(x.float()).dtype == torch.float32
    assert (functional.logm(x.float()) - exact).abs().max() < 1e-5
    half = functional.logm(x.bfloat16().mul(1))
    assert half.dtype == torch.float32 and (half - exact).abs().max() < 0.2
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(functional.logm(x.float()), functional.logm(x.float()))
        assert functional.bimap(x.float(), torch.eye(4, 2)).dtype == torch.float32
        assert _plain_under_autocast(x.float()).dtype == torch.float32
    mixed = functional.bimap(x, torch.eye(4, 2))
    assert mixed.dtype == torch.float64


def _plain_under_autocast(x):
    with _inputs.exact(x):
        return _plain.bimap(x, torch.eye(4, 2))


def test_inputs_are_read_where_they_lie_and_stay_as_they_are(spd):
    x = spd(3, 4)
    before = x.clone()
    (array,) = _operators.arrays(x)
    assert array.ctypes.data == x.data_ptr()
    functional.logm(x)
    assert torch.equal(x, before)


def test_what_a_pull_back_needs_lives_as_long_as_the_graph(spd):
    x = spd(3, 4).requires_grad_()
    before = len(_operators._KEPT)
    y = functional.logm(x)
    assert len(_operators._KEPT) == before + 1
    y.sum().backward()
    del y
    assert len(_operators._KEPT) == before
    with torch.no_grad():
        functional.logm(x)
    functional.logm(x.detach())
    assert len(_operators._KEPT) == before
    assert isinstance(_operators._KEPT, weakref.WeakValueDictionary)


def test_a_copied_token_is_computed_again(spd):
    x = spd(3, 4).requires_grad_()
    functional.logm(x).sin().sum().backward()
    expected = x.grad.clone()
    x.grad = None
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        functional.logm(x).sin().sum().backward()
    assert torch.equal(x.grad, expected)
    x.grad = None
    torch.utils.checkpoint.checkpoint(
        functional.logm, x, use_reentrant=False
    ).sin().sum().backward()
    assert torch.equal(x.grad, expected)


def test_a_graph_is_walked_twice_where_it_is_kept(spd):
    x = spd(3, 4).requires_grad_()
    y = functional.logm(x).sum()
    first = torch.autograd.grad(y, x, retain_graph=True)[0]
    assert torch.equal(first, torch.autograd.grad(y, x)[0])


def test_second_derivatives_are_refused(spd):
    x = spd(2, 3).requires_grad_()
    (g,) = torch.autograd.grad(functional.logm(x).sin().sum(), x, create_graph=True)
    with pytest.raises(NotImplementedError, match="first derivatives only"):
        g.sum().backward()


def test_other_threads_run(spd):
    """The interpreter is free while a kernel computes."""
    x, ticks, stop = spd(400, 60), [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(0)
            stop.wait(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    functional.logm(x)
    stop.set()
    thread.join()
    assert len(ticks) > 3


def test_threads_change_nothing(spd):
    x = spd(64, 40)
    one = functional.logm(x)
    torch.set_num_threads(2)
    assert torch.equal(functional.logm(x), one)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: functional.logm(x.numpy()), TypeError, "must be a tensor"),
        (lambda x: functional.logm(x.long()), TypeError, "dtype torch.int64"),
        (lambda x: functional.logm(x[0, 0]), ValueError, "1 dimension"),
        (lambda x: functional.logm(x[:, :2]), ValueError, "square"),
        (lambda x: functional.logm(-x), ValueError, "positive definite|eigenvalue"),
        (lambda x: functional.log_upper(-x), ValueError, "positive definite|eigenvalue"),
        (
            lambda x: functional.log_upper(x + torch.triu(torch.ones(4, 4), 1)),
            ValueError,
            "symmetric",
        ),
        (lambda x: functional.logm(x + torch.triu(torch.ones(4, 4), 1)), ValueError, "symmetric"),
        (lambda x: functional.logm(x * float("nan")), ValueError, "(?i)nan|finite"),
        (lambda x: functional.reeig(x, 0.0), ValueError, "above 0"),
        (lambda x: functional.powm(x, float("inf")), ValueError, "finite"),
        (lambda x: functional.bimap(x, torch.eye(5, 2).double()), ValueError, "n × k"),
        (lambda x: functional.filtered_log(x, torch.zeros(4, 2).double()), ValueError, "."),
        (lambda x: functional.from_upper(torch.ones(5)), ValueError, "1, 3, 6"),
        (lambda x: functional.mean(x[0]), ValueError, "stack"),
        (lambda x: functional.mean(x, torch.tensor([1.0, -1.0, 0.0])), ValueError, "not negative"),
        (lambda x: functional.bimap(x, torch.empty(4, 2, device="meta")), ValueError, "one device"),
    ],
)
def test_bad_input(call, error, text, spd):
    with pytest.raises(error, match=text):
        call(spd(3, 4))


def test_equal_matrices_have_distance_zero_and_no_gradient(spd):
    x = spd(2, 3).requires_grad_()
    d = functional.distance(x, x.detach())
    d.sum().backward()
    assert not d.any() and not x.grad.any()


@pytest.mark.parametrize("dynamic", [False, True])
def test_compile_sees_one_graph(spd, dynamic):
    def f(x, w):
        z = functional.filtered_log(
            x, functional.retract_qr(w, 0.1 * functional.project_tangent(w, x[0, :, :2]))
        )
        return (
            z.sin().sum()
            + functional.distance(x, x[0], squared=True).sum()
            + functional.log_upper(x).cos().sum()
        )

    compiled = torch.compile(f, fullgraph=True, dynamic=dynamic, backend="aot_eager")
    for count in (3, 5):
        x, w = spd(count, 4).requires_grad_(), torch.eye(4, 2, dtype=torch.float64).requires_grad_()
        expected, found = f(x, w), compiled(x, w)
        assert torch.allclose(expected, found, atol=1e-12)
        for a, b in zip(torch.autograd.grad(expected, (x, w)), torch.autograd.grad(found, (x, w))):
            assert torch.allclose(a, b, atol=1e-12)


def test_the_operators_keep_pytorchs_rules(spd):
    x = spd(2, 3).requires_grad_()
    torch.library.opcheck(
        _operators.apply,
        ("logm", 0.0, x, None, True),
        test_utils=("test_schema", "test_faketensor", "test_autograd_registration"),
    )
    w = torch.eye(3, 2, dtype=torch.float64)[None].requires_grad_()
    torch.library.opcheck(
        _operators.apply,
        ("filtered_log", 1e-4, w, x, True),
        test_utils=("test_schema", "test_faketensor"),
    )
