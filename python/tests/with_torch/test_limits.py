"""Where derivatives end, which precision comes out, when a point has left, and channels by name."""

import warnings

import numpy as np
import pytest
import torch

import stiefel
from stiefel.torch import (
    BiMap,
    DaspBiMap,
    DaspNet,
    RiemannianAdam,
    SPDNet,
    StiefelParameter,
    functional,
    load,
)

DOMAIN = torch.tensor([0, 1, 1, 0, 1])


# Derivatives that there are not -----------------------------------------------------------------


@pytest.mark.parametrize(
    "function",
    [functional.logm, functional.log_upper, functional.mean, functional.upper],
    ids=lambda f: f.__name__,
)
def test_transformations_of_torch_func_say_what_is_missing(function, spd):
    x = spd(5, 4)

    def total(a):
        return function(a).sum()

    for transform in (torch.func.grad, torch.func.jacrev, torch.func.hessian):
        with pytest.raises(
            NotImplementedError, match="no rules for the transformations of torch.func"
        ):
            transform(total)(x)
    with pytest.raises(NotImplementedError, match="leading dimensions are batched"):
        torch.vmap(total)(x[None])
    with pytest.raises(NotImplementedError, match="no forward mode"):
        torch.func.jvp(total, (x,), (x,))


@pytest.mark.parametrize("make", [lambda: DaspBiMap(4, 2, 3, 2), lambda: DaspNet(4, 2, 3, 2, 2)])
def test_layers_say_what_is_missing(make, spd):
    layer, x = make().double(), spd(5, 4)
    parameters = dict(layer.named_parameters())

    def total(values):
        return torch.func.functional_call(layer, values, (x, DOMAIN)).sum()

    with pytest.raises(NotImplementedError, match="torch.func"):
        torch.func.grad(total)(parameters)


# The distance of equal matrices -------------------------------------------------------------------


@pytest.mark.parametrize("condition", [1.0, 1e4, 1e8])
def test_the_distance_of_equal_matrices_is_flat(condition):
    q = torch.linalg.qr(torch.randn(4, 6, 6, dtype=torch.float64))[0]
    values = torch.logspace(0, -np.log10(condition), 6, dtype=torch.float64)
    a = q @ torch.diag(values) @ q.mT
    a = ((a + a.mT) / 2).requires_grad_()
    for b in (a.detach().clone(), a.detach() * (1 + 1e-16)):
        d = functional.distance(a, b)
        (g,) = torch.autograd.grad(d.sum(), a)
        assert not d.any() and not g.any()
    # A pair that differs has the derivative it had.
    b = torch.eye(6, dtype=torch.float64)
    (g,) = torch.autograd.grad(functional.distance(a, b).sum(), a)
    (s,) = torch.autograd.grad(functional.distance(a, b, squared=True).sum(), a)
    if condition > 1:
        d = functional.distance(a, b).detach()[:, None, None]
        torch.testing.assert_close(g, s / (2 * d))


# Precision ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("parameters", [torch.float32, torch.float64])
@pytest.mark.parametrize("trials", [torch.float32, torch.float64])
def test_the_wider_precision_comes_out_of_both_layers(parameters, trials, spd):
    x, wider = spd(5, 4, dtype=trials), torch.promote_types(parameters, trials)
    bimap, layer = BiMap(4, 2, dtype=parameters), DaspBiMap(4, 2, 3, 2, dtype=parameters)
    assert bimap(x).dtype == layer(x, DOMAIN).dtype == layer.features(x, DOMAIN).dtype == wider
    exact = DaspBiMap(4, 2, 3, 2, dtype=torch.float64)
    exact.load_state_dict(layer.state_dict())
    torch.testing.assert_close(
        layer(x, DOMAIN).double(), exact(x.double(), DOMAIN), atol=1e-5, rtol=1e-5
    )
    z = exact.features(x.double(), DOMAIN)
    torch.testing.assert_close(layer.features(x, DOMAIN).double(), z, atol=1e-4, rtol=1e-4)
    # A network computes in the precision of its parameters, as its documentation says.
    for net in (DaspNet(4, 2, 3, 2, 2, dtype=parameters), SPDNet(4, 2, 2, 2, dtype=parameters)):
        assert net(x, DOMAIN).dtype == parameters


# Points that leave --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda: BiMap(4, 2, parametrized="riemannian", init_method="stiefel"),
        lambda: DaspBiMap(4, 2, 3, 2),
        lambda: SPDNet(4, 2, 2, 2),
    ],
    ids=["BiMap", "DaspBiMap", "SPDNet"],
)
def test_a_filter_that_leaves_the_manifold_is_noticed(make, spd):
    x = spd(5, 4, dtype=torch.float32)

    def run(optimiser, steps=3):
        layer = make()
        moves = optimiser(layer.parameters(), lr=0.05)
        for _ in range(steps):
            moves.zero_grad()
            y = layer(x) if isinstance(layer, BiMap) else layer(x, DOMAIN)
            y.square().sum().backward()
            moves.step()
        layer(x) if isinstance(layer, BiMap) else layer(x, DOMAIN)

    with pytest.warns(
        UserWarning, match="WᵀW differs from the identity by .*RiemannianAdam"
    ) as told:
        run(torch.optim.Adam)
    assert len({str(w.message).partition("differs")[0] for w in told}) == len(told), "said once"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(RiemannianAdam)


def test_points_are_looked_at_only_after_somebody_else_moved_them(monkeypatch, spd):
    from stiefel.torch import optim

    looked = []
    kept = optim._off_manifold
    monkeypatch.setattr(optim, "_off_manifold", lambda w, dtype: looked.append(w) or kept(w, dtype))
    layer, x = DaspBiMap(4, 2, 3, 2), spd(5, 4, dtype=torch.float32)
    moves = RiemannianAdam(layer.parameters())
    layer(x, DOMAIN).sum().backward()
    first = len(looked)
    moves.step()
    at_first_step = len(looked)
    for _ in range(3):
        moves.zero_grad()
        layer(x, DOMAIN).sum().backward()
        moves.step()
    assert first == 2 and len(looked) == at_first_step
    with torch.no_grad():
        layer.anchor.copy_(torch.linalg.qr(torch.randn(4, 2))[0])
    layer(x, DOMAIN)
    assert len(looked) == at_first_step + 1
    assert isinstance(layer.anchor, StiefelParameter)


# Channels -----------------------------------------------------------------------------------------


def test_a_network_of_a_file_puts_channels_in_its_order(tmp_path):
    data = stiefel.load_synthetic("BNCI2015001", subjects=2, trials_per_class=10)
    stiefel.DaspClassifier(epochs=2, random_state=0).fit(data).save(tmp_path / "model")
    net = load(tmp_path / "model")
    turned = stiefel.Trials(
        data.X[:, ::-1, ::-1].copy(), data.y, data.domains, channels=data.channels[::-1]
    )
    np.testing.assert_array_equal(net.predict_proba(turned), net.predict_proba(data))
    other = stiefel.Trials(data.X, data.y, data.domains, channels=["Oz", *data.channels[1:]])
    with pytest.raises(ValueError, match="channel FC3 of training is missing"):
        net.predict_proba(other)
    # Written with trials in another order, it is the same network.
    whitening = net.whitening
    options = {name: getattr(whitening, name) for name in stiefel.Whitening().get_params()}
    again = {"classes": net.classes, "domain_names": net.domains}
    written = []
    for trials in (data, turned):
        file = tmp_path / f"again{len(written)}"
        net.to_stiefel(file, trials, whitening=stiefel.Whitening(**options), **again)
        written.append(load(file))
    assert written[1].channels == data.channels
    np.testing.assert_allclose(
        written[1].predict_proba(turned), written[0].predict_proba(data), atol=1e-12
    )
