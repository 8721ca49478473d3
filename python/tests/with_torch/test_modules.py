"""Layers: shapes, options, batch normalisation, heads, several views, bad input; and the manners of
modules."""

import copy
import io
import pickle

import pytest
import torch
from torch.nn.functional import cross_entropy

from stiefel.torch import (
    BiMap,
    DaspBiMap,
    DaspNet,
    LogEig,
    MultiView,
    ReEig,
    RiemannianAdam,
    RoutedHead,
    SPDBatchNorm,
    SPDNet,
)
from stiefel.torch import StiefelParameter, functional, optim

F64 = torch.float64
DOMAIN = torch.tensor([0, 1, 2, 0, 1])


def net(**options):
    return DaspNet(4, 2, n_experts=3, n_domains=3, n_classes=2, embedding=4, dtype=F64, **options)


def orthonormal(w):
    return (w.mT @ w - torch.eye(w.shape[-1], dtype=w.dtype)).abs().max()


@pytest.mark.parametrize("parametrized", [True, False, "riemannian"])
def test_bimap(parametrized, spd):
    x = spd(5, 4)
    layer = BiMap(4, 2, parametrized=parametrized, dtype=F64)
    assert torch.allclose(layer(x), layer.weight.mT @ x @ layer.weight, atol=1e-12)
    square = torch.randn(5, 4, 4, dtype=F64)
    assert torch.allclose(layer(square), layer.weight.mT @ square @ layer.weight, atol=1e-12)
    assert layer.weight.shape == (1, 4, 2)
    if parametrized:
        assert orthonormal(layer.weight) < 1e-12
    assert layer(x[0]).shape == (2, 2)
    assert BiMap(4, 2, depthwise=3, dtype=F64)(x.repeat(3, 1, 1).reshape(5, 3, 4, 4)).shape == (
        5,
        3,
        2,
        2,
    )
    wide = BiMap(4, 6, dtype=F64)(x)
    assert wide.shape == (5, 6, 6) and torch.linalg.eigvalsh(wide).min() > 0


def test_reeig_and_logeig(spd):
    x = spd(5, 4)
    assert torch.linalg.eigvalsh(ReEig(0.5)(x)).min() >= 0.5 - 1e-12
    assert ReEig()(x.float()).dtype == torch.float32
    assert LogEig()(x).shape == (5, 10) and LogEig(upper=False)(x).shape == (5, 16)
    assert torch.allclose(LogEig(upper=False, flatten=False)(x), functional.logm(x))


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: BiMap(4, 2, init_method="odd"), "Unknown init_method"),
        (lambda: BiMap(4, 2, parametrized=False, orthogonal_map="cayley"), "orthogonal_map"),
        (lambda: BiMap(4, 2, seed=3), "seed"),
        (lambda: ReEig(autograd=True), "autograd"),
        (lambda: ReEig(-1.0), "above 0"),
        (lambda: LogEig(autograd=True), "autograd"),
        (lambda: DaspBiMap(4, 5, 2, 2), "from 1 to the number of channels"),
        (lambda: DaspBiMap(4, 2, 2, 2, top_p=3), "at most the number of experts"),
        (lambda: DaspBiMap(4, 2, 2, 2, anchor="nowhere"), "nowhere"),
        (lambda: DaspBiMap(4, 2, 2, 2, barrier="paper"), "kind='barrier'"),
        (lambda: DaspBiMap(4, 2, 2, 2, dsp_rank=11), "from 1 to 10"),
        (lambda: DaspBiMap(4, 2, 2, 2, align=-1.0), "zero or above"),
        (lambda: DaspBiMap(4, 2, 2, 2, orthogonality="odd"), "orthogonality"),
        (lambda: DaspBiMap(4, 2, 2, 2, kind="barrier", orthogonality="cayley"), "orthogonality"),
        (lambda: net(head="odd"), "shared"),
        (lambda: net(head_ridge=0.5), "head='routed'"),
        (lambda: net(norm={"eps": 1.0}), "batch_norm"),
        (lambda: net(batch_norm="beside"), "batch_norm"),
        (lambda: SPDBatchNorm(3, momentum=0.0), "momentum"),
        (lambda: MultiView([]), "at least one"),
    ],
)
def test_options_that_cannot_be(make, text):
    with pytest.raises(ValueError, match=text):
        make()


@pytest.mark.parametrize("options", [
    {}, {"anchor": "first"}, {"anchor": "barycenter"}, {"anchor": "routed-barycenter"}, {"retraction": "polar"}, {"top_p": 2}, {"kind": "polar"},
    {"domain_embedding": False}, {"balance": 0.1, "entropy": 0.1, "shrink": 0.1},
    {"kind": "barrier"}, {"kind": "barrier", "barrier": "paper", "barrier_weight": 0.1}, {"head": "routed"}, {"batch_norm": "before"}, {"batch_norm": "after"},
], ids=str)  # fmt: skip
def test_gradients_of_every_option(options, spd):
    """Against central differences, parameter by parameter along one direction; what is held
    constant (alignment, decoupled keys) is in the golden files."""
    x, labels, model = (
        spd(5, 4),
        torch.tensor([0, 1, 1, 0, 1]),
        net(align=0.0, decoupled_keys=False, **options),
    )
    state = copy.deepcopy(model.state_dict())

    def loss():
        model.load_state_dict(state)
        return cross_entropy(model(x, DOMAIN), labels) + model.auxiliary_loss()

    model.zero_grad()
    loss().backward()
    for name, parameter in model.named_parameters():
        if "top_p" in options and name.startswith(("query", "embedding", "keys")):
            continue  # learnt straight through a mask: no derivative of the value
        direction = torch.randn_like(parameter.data)
        slope = float((parameter.grad * direction).sum())
        values = []
        for t in (1e-6, -1e-6):
            original = state[name].clone()
            state[name] = original + t * direction
            values.append(float(loss().detach()))
            state[name] = original
        assert abs(slope - (values[0] - values[1]) / 2e-6) < 1e-6 * max(1, abs(slope)), name


def test_top_p(spd):
    x, model = spd(5, 4), net(top_p=2)
    model(x, DOMAIN)
    assert ((model.last_routing > 0).sum(1) == 2).all()
    assert torch.allclose(model.last_routing.sum(1), torch.ones(5, dtype=F64))
    full, soft = net(top_p=3), net()
    assert torch.equal(full(x, DOMAIN), soft(x, DOMAIN))


def test_somebody_new_has_no_embedding(spd):
    x, model = spd(5, 4), net()
    new = model(x)
    assert torch.equal(new, model(x, torch.full((5,), -1)))
    mixed = model(x, torch.tensor([0, -1, 2, -1, 1]))
    assert torch.allclose(mixed[[1, 3]], new[[1, 3]], atol=1e-14)
    assert torch.allclose(
        mixed[[0, 2, 4]], model(x, torch.tensor([0, 0, 2, 0, 1]))[[0, 2, 4]], atol=1e-14
    )
    for wrong, text in (
        (torch.tensor([0, 1, 2, 3, 0]), "0 to 2"),
        (DOMAIN.double(), "whole numbers"),
        (DOMAIN[:4], "5 whole numbers"),
    ):
        with pytest.raises(ValueError, match=text):
            model(x, wrong)
    with pytest.raises(ValueError, match=r"batch \(B, 4, 4\)"):
        model(spd(5, 3), DOMAIN)
    with pytest.raises(RuntimeError, match="no forward pass"):
        net().auxiliary_loss()


def test_rows_computed_before_are_the_rows(spd):
    x, model = spd(5, 4), net()
    assert torch.equal(model(x, DOMAIN), model(x, DOMAIN, model.encode(x)))
    # Where the trials are learnt themselves, the gradient runs through the query too.
    x = x.requires_grad_()
    model(x, DOMAIN).sum().backward()
    through, x.grad = x.grad, None
    model(x, DOMAIN, model.encode(x.detach())).sum().backward()
    assert not torch.allclose(through, x.grad)


def test_batch_norm_by_its_formula(spd):
    x, norm = spd(6, 3), SPDBatchNorm(3, n_domains=3, dtype=F64)
    domain = torch.tensor([0, 0, 1, 1, 1, 0])
    y = norm(x, domain)
    for d in (0, 1):
        own = x[domain == d]
        mean = functional.expm(0.1 * functional.logm(own).mean(0))
        assert torch.allclose(norm.mean[d], mean, atol=1e-12)
        root = functional.invsqrtm(mean)
        v = functional.logm(root @ own @ root)
        spread = 0.9 + 0.1 * v.square().sum((1, 2)).mean()
        assert torch.allclose(norm.dispersion[d], spread, atol=1e-12)
        assert torch.allclose(
            y[domain == d], functional.expm(v / (spread + 1e-5).sqrt()), atol=1e-11
        )
    assert torch.equal(norm.mean[2], torch.eye(3, dtype=F64)) and norm.dispersion[2] == 1
    norm.eval()
    before = norm.mean.clone()
    assert norm(x).shape == x.shape and norm(x, torch.full((6,), -1)).equal(norm(x))
    assert torch.equal(norm.mean, before)
    norm.fit_statistics(x, domain)
    assert torch.allclose(norm.mean[1], functional.mean(x[2:5]), atol=1e-12)
    assert torch.allclose(norm.mean[2], functional.mean(norm.mean[:2]), atol=1e-10)
    with pytest.raises(ValueError, match="whose"):
        SPDBatchNorm(3, n_domains=2, dtype=F64)(x)
    assert SPDBatchNorm(3, dtype=F64, bias=False)(x).shape == x.shape


def test_somebody_new_is_an_error_under_compile_not_somebody_else(spd):
    x, norm = spd(4, 3), SPDBatchNorm(3, n_domains=2, dtype=F64).eval()
    compiled = torch.compile(norm, backend="aot_eager")
    domain = torch.tensor([0, 1, 1, 0])
    assert torch.allclose(compiled(x, domain), norm(x, domain), atol=1e-12)
    with pytest.raises((IndexError, RuntimeError)):
        compiled(x, torch.tensor([0, -1, 1, 0]))


def test_routed_head():
    head, z, alpha = (
        RoutedHead(3, 2, 4, dtype=F64),
        torch.randn(5, 3, dtype=F64),
        torch.rand(5, 4, dtype=F64).softmax(1),
    )
    assert torch.allclose(head(z, alpha), z @ head.w.T + head.b)
    head.own.data.normal_()
    expected = torch.stack(
        [(head.w + (a[:, None, None] * head.own).sum(0)) @ v + head.b for a, v in zip(alpha, z)]
    )
    assert torch.allclose(head(z, alpha), expected, atol=1e-13)
    assert torch.allclose(head.auxiliary_loss(), 1e-3 * head.own.square().sum())
    with pytest.raises(ValueError, match="needs the weights"):
        head(z)


def test_several_views(spd):
    x = torch.stack([spd(5, 4), spd(5, 4, seed=1)], 1)
    layers = [DaspBiMap(4, 2, 3, 3, dtype=F64, embedding=4, seed=i) for i in range(2)]
    views = MultiView(layers)
    z = views(x, DOMAIN)
    assert z.shape == (5, 6)
    assert torch.equal(z[:, 3:], layers[1].features(x[:, 1], DOMAIN))
    assert torch.allclose(
        views.auxiliary_loss(), layers[0].auxiliary_loss() + layers[1].auxiliary_loss()
    )
    assert views([x[:, 0], x[:, 1]], DOMAIN).equal(z)
    with pytest.raises(ValueError, match="3 view"):
        views(torch.cat([x, x[:, :1]], 1), DOMAIN)


def test_state_dict_has_the_names_of_the_file():
    model = net(dsp_rank=5, head="routed", batch_norm="after", kind="polar")
    assert set(model.state_dict()) == {
        "embedding", "query.w1", "query.b1", "query.w2", "query.b2", "keys", "experts", "scales", "anchor", "head.w", "head.b", "head.own", "norm.mean",
        "norm.dispersion", "norm.scale", "norm.bias", "encoder.projection", "encoder.between",
    }  # fmt: skip
    assert set(SPDNet(4, 2, 2).state_dict()) == {"filter", "head.w", "head.b"}


@pytest.mark.parametrize("options", [{}, {"batch_norm": "after", "head": "routed"}], ids=str)
def test_copies(options, spd):
    """After a forward pass too, whose graph is not copied."""
    x, model = spd(5, 4), net(**options)
    model.eval()
    expected = model(x, DOMAIN)
    buffer = io.BytesIO()
    torch.save(model, buffer)
    buffer.seek(0)
    for again in (
        copy.deepcopy(model),
        pickle.loads(pickle.dumps(model)),
        torch.load(buffer, weights_only=False),
    ):
        assert torch.equal(again(x, DOMAIN), expected)
        assert isinstance(again.experts, StiefelParameter) and again.experts.requires_grad
    buffer = io.BytesIO()
    torch.save(model.state_dict(), buffer)
    buffer.seek(0)
    other = net(seed=5, **options).eval()
    assert not torch.allclose(other(x, DOMAIN), expected)
    other.load_state_dict(torch.load(buffer, weights_only=True))
    assert torch.equal(other(x, DOMAIN), expected)


def test_data_parallel(spd):
    """Without a GPU the wrapper calls the module itself; that copies in threads agree is the next
    test."""
    x, model = spd(5, 4), net()
    assert torch.equal(torch.nn.DataParallel(model)(x, DOMAIN), model(x, DOMAIN))


def test_copies_in_threads_agree(spd):
    import threading

    x, models = spd(5, 4), [net() for _ in range(4)]
    expected = models[0](x, DOMAIN)
    found = [None] * 4

    def work(i):
        y = models[i](x, DOMAIN)
        y.sum().backward()
        found[i] = y

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert all(torch.equal(y, expected) for y in found)
    assert all(torch.equal(m.experts.grad, models[0].experts.grad) for m in models)


@pytest.mark.parametrize("options", [{}, {"top_p": 2}, {"batch_norm": "after"}], ids=str)
def test_compile(options, spd):
    x, labels = spd(5, 4), torch.tensor([0, 1, 1, 0, 1])
    plain, compiled = net(**options), net(**options)
    step = torch.compile(
        lambda x, d: cross_entropy(compiled(x, d), labels) + compiled.auxiliary_loss(),
        backend="aot_eager",
        fullgraph=True,
    )
    loss = cross_entropy(plain(x, DOMAIN), labels) + plain.auxiliary_loss()
    loss.backward()
    found = step(x, DOMAIN)
    found.backward()
    assert torch.allclose(loss, found, atol=1e-12)
    for (name, a), b in zip(plain.named_parameters(), compiled.parameters()):
        assert a.grad is None or torch.allclose(a.grad, b.grad, atol=1e-12), name


def test_autocast_changes_nothing(spd):
    x, model = spd(5, 4, dtype=torch.float32), DaspNet(4, 2, 3, 3, 2, embedding=4)
    expected = model(x, DOMAIN)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = model(x, DOMAIN)
        assert model(x.bfloat16().float(), DOMAIN).dtype == torch.float32
    assert found.dtype == torch.float32 and torch.equal(found, expected)


def test_without_gradients(spd):
    model = net()
    with torch.no_grad():
        assert not model(spd(5, 4), DOMAIN).requires_grad
    with torch.inference_mode():
        model(spd(5, 4), DOMAIN)


def test_riemannian_adam_stays_on_the_manifold_and_moves_the_rest_as_adam(spd):
    x, labels = spd(5, 4), torch.tensor([0, 1, 1, 0, 1])
    model, other = net(), net()
    optimiser, adam = (
        RiemannianAdam(model.parameters(), fused=True),
        torch.optim.Adam(other.parameters(), lr=0.01),
    )
    for m, o in ((model, optimiser), (other, adam)):
        (cross_entropy(m(x, DOMAIN), labels) + m.auxiliary_loss()).backward()
        o.step()
    assert torch.allclose(model.head.w, other.head.w, atol=1e-15) and torch.allclose(
        model.keys, other.keys, atol=1e-15
    )
    assert orthonormal(model.experts) < 1e-14 < 1e-4 < orthonormal(other.experts)
    losses = []
    for _ in range(40):
        optimiser.zero_grad()
        loss = cross_entropy(model(x, DOMAIN), labels) + model.auxiliary_loss()
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.5 * losses[0] and orthonormal(model.experts) < 1e-13
    again = RiemannianAdam(model.parameters())
    again.load_state_dict(optimiser.state_dict())
    twin = copy.deepcopy(model)
    resumed = RiemannianAdam(twin.parameters())
    resumed.load_state_dict(copy.deepcopy(optimiser.state_dict()))
    for m, o in ((model, again), (twin, resumed)):
        o.zero_grad()
        cross_entropy(m(x, DOMAIN), labels).backward()
        o.step()
    assert torch.equal(model.experts, twin.experts)


@pytest.mark.parametrize("shape", [(4, 2), (3, 4, 2), (2, 3, 4, 2)])
def test_the_step_elsewhere_is_the_step_here(shape):
    """On another device Adam moves through PyTorch alone; here both ways start alike and stay
    together."""
    start = torch.linalg.qr(torch.randn(*shape, dtype=F64))[0].contiguous()
    ways = [StiefelParameter(start.clone()) for _ in range(2)]
    group = {"lr": 0.05, "betas": (0.9, 0.99), "eps": 1e-8, "maximize": False}
    zeros = [torch.zeros(()), torch.zeros(shape, dtype=F64), torch.zeros(shape, dtype=F64)]
    states = [dict(zip(("step", "exp_avg", "exp_avg_sq"), copy.deepcopy(zeros))) for _ in ways]
    for _ in range(5):
        g = torch.randn(*shape, dtype=F64)
        for w, state, step in zip(ways, states, (optim._core_step, optim._plain_step)):
            with torch.no_grad():
                step([(w, g, state)], group)
    assert [int(state["step"]) for state in states] == [5, 5]
    assert torch.allclose(*ways, atol=1e-13) and orthonormal(ways[0].data) < 1e-13
    assert (ways[0] - start).abs().max() > 0.01
    still = StiefelParameter(start.clone())
    still.grad = torch.randn(*shape, dtype=F64)
    RiemannianAdam([still], lr=0.0).step()
    assert torch.allclose(still, start, atol=1e-14)


@pytest.mark.parametrize("dtype", [torch.float32, F64])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"maximize": True},
        {"fused": True},
        {"weight_decay": 0.1},
        {"amsgrad": True},
        {"lr": torch.tensor(0.01)},
        {"lr": 0.0},
    ],
    ids=lambda options: next(iter(options), "plain"),
)
def test_what_is_not_on_the_manifold_moves_as_adam_moves_it(options, dtype):
    """By the core where the options are plain, by PyTorch where they are not; the state is that of
    PyTorch's Adam, and either goes on from the other's."""
    generator = torch.Generator().manual_seed(3)
    start = [torch.randn(shape, generator=generator, dtype=dtype) for shape in ((5, 4), (7,), ())]
    options = {"lr": 0.01, **options}
    ours, theirs = ([torch.nn.Parameter(x.clone()) for x in start] for _ in range(2))
    optimisers = [RiemannianAdam(ours, **options), torch.optim.Adam(theirs, **options)]
    for step in range(6):
        gradients = [torch.randn(x.shape, generator=generator, dtype=dtype) for x in start]
        for parameters in (ours, theirs):
            for p, g in zip(parameters, gradients):
                p.grad = None if step == 2 and p.ndim == 1 else g.clone()
        for optimiser in optimisers:
            optimiser.step()
        if step == 3:  # each goes on with what the other remembers
            states = [copy.deepcopy(optimiser.state_dict()) for optimiser in optimisers]
            for optimiser, state in zip(optimisers, reversed(states)):
                optimiser.load_state_dict(state)
    tolerance = 1e-6 if dtype == torch.float32 else 1e-14
    for a, b, x in zip(ours, theirs, start):
        assert torch.allclose(a, b, rtol=0, atol=tolerance)
        assert torch.equal(a, x) == (options["lr"] == 0.0)


def test_what_riemannian_adam_refuses():
    off = StiefelParameter(torch.ones(3, 2))
    off.grad = torch.ones(3, 2)
    with pytest.raises(ValueError, match="no orthonormal columns"):
        RiemannianAdam([off]).step()
    with pytest.raises(ValueError, match="amsgrad"):
        RiemannianAdam([StiefelParameter(torch.eye(3, 2))], amsgrad=True)
