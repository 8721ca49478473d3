"""The routed layer in one operation of the core: the same as step by step in PyTorch, values and
every gradient; and the manners of an operation."""

import gc

import pytest
import torch
from torch.autograd import gradcheck

from stiefel.torch import (
    BiMap,
    DaspBiMap,
    DaspNet,
    LogEig,
    MultiView,
    ReEig,
    _operators,
    routing_report,
)

F64 = torch.float64
DOMAIN = torch.tensor([0, 1, 2, -1, 1])
OPTIONS = [
    {}, {"anchor": "first"}, {"anchor": "barycenter"}, {"anchor": "routed-barycenter"}, {"retraction": "polar"}, {"top_p": 2}, {"kind": "polar"},
    {"kind": "barrier"}, {"kind": "barrier", "barrier": "paper", "barrier_weight": 0.1}, {"domain_embedding": False}, {"decoupled_keys": False},
    {"align": 0.2, "balance": 0.1, "entropy": 0.1, "shrink": 0.1}, {"orthogonality": "cayley"}, {"threshold": 0.4},
]  # fmt: skip


def layer(**options):
    return DaspBiMap(4, 2, n_experts=3, n_domains=3, embedding=4, dtype=F64, **options)


@pytest.fixture
def step_by_step(monkeypatch):
    """Runs a function on the way that other devices and torch.compile take."""

    def run(f):
        with monkeypatch.context() as patch:
            patch.setattr(DaspBiMap, "_at_once", lambda self, x: False)
            return f()

    return run


def everything(module, x, domain, rows, how):
    """A number of all that a pass gives, and its gradients in everything it took."""
    y = getattr(module, how)(x, domain, rows)
    weights = module._alpha
    score = (
        (y * torch.linspace(-1, 1, y.numel(), dtype=F64).view_as(y)).sum()
        + (weights.square() * 3).sum()
        + 2 * module.auxiliary_loss()
    )
    inputs = [x, *([] if rows is None else [rows]), *module.parameters()]
    gradients = torch.autograd.grad(score, inputs, allow_unused=True)
    return [
        y,
        weights,
        score,
        *(torch.zeros_like(i) if g is None else g for g, i in zip(gradients, inputs)),
    ]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("how", ["features", "forward"])
def test_is_the_layer_step_by_step(options, how, spd, step_by_step):
    module = layer(**options)
    for domain in (DOMAIN, DOMAIN.abs(), None):
        for rows in (None, torch.randn(5, 10, dtype=F64, requires_grad=True)):
            x = spd(5, 4).requires_grad_()
            found = everything(module, x, domain, rows, how)
            expected = step_by_step(lambda: everything(module, x, domain, rows, how))
            for a, b in zip(found, expected):
                assert torch.allclose(a, b, atol=1e-10, rtol=1e-9)


@pytest.mark.parametrize("routing", ["uniform", "top-1", "given"])
def test_other_weights(routing, spd, step_by_step):
    module, x = layer(), spd(5, 4)
    given = torch.rand(5, 3, dtype=F64) if routing == "given" else routing
    with module.rerouted(given):
        found = module.features(x, DOMAIN)
        assert torch.allclose(found, step_by_step(lambda: module.features(x, DOMAIN)), atol=1e-12)
        if routing == "given":
            assert torch.equal(module.last_routing, given)


def test_batch_norm_uses_the_same_filters(spd, step_by_step):
    for position in ("before", "after"):
        net = DaspNet(
            4,
            2,
            n_experts=3,
            n_domains=3,
            n_classes=2,
            batch_norm=position,
            head="routed",
            dtype=F64,
        ).eval()
        x = spd(5, 4)
        assert torch.allclose(
            net(x, DOMAIN.abs()), step_by_step(lambda: net(x, DOMAIN.abs())), atol=1e-11
        )


def test_gradcheck(spd):
    # Alignment holds the query constant, and is in the golden files.
    module = layer(decoupled_keys=False, align=0.0, entropy=0.3, shrink=0.2)
    names, parameters = zip(
        *[(name, p.detach().clone().requires_grad_()) for name, p in module.named_parameters()]
    )
    x, rows = spd(5, 4), torch.randn(5, 10, dtype=F64, requires_grad=True)

    def f(rows, *values):
        z = torch.func.functional_call(module, dict(zip(names, values)), (x, DOMAIN, rows))
        return z, module._alpha, module.auxiliary_loss()

    assert gradcheck(f, (rows, *parameters), eps=1e-6, atol=1e-6)


def test_single_precision_and_frozen_parameters(spd):
    module = layer()
    single = DaspBiMap(4, 2, n_experts=3, n_domains=3, embedding=4)
    x = spd(5, 4)
    assert single.features(x.float(), DOMAIN).dtype == torch.float32
    assert single.features(x, DOMAIN).dtype == torch.float64
    assert (single.features(x, DOMAIN) - module.features(x, DOMAIN)).abs().max() < 1e-5
    module.experts.requires_grad_(False)
    module.features(x, DOMAIN).sum().backward()
    assert (
        module.experts.grad is None and module.anchor.grad is not None and module.keys.grad is None
    )
    for p in module.parameters():
        p.requires_grad_(False)
    assert not module.features(x, DOMAIN).requires_grad
    assert module.features(x.clone().requires_grad_(), DOMAIN).requires_grad


def test_manners_of_an_operation(spd):
    module, x = layer(align=0.3), spd(5, 4)
    gc.collect()
    before = len(_operators._KEPT)
    loss = module.features(x, DOMAIN).sin().sum() + module.auxiliary_loss()
    assert len(_operators._KEPT) == before + 1
    first = torch.autograd.grad(loss, module.experts, retain_graph=True)[0]
    assert torch.equal(first, torch.autograd.grad(loss, module.experts, retain_graph=True)[0])
    (again,) = torch.autograd.grad(loss, module.experts, create_graph=True)
    assert torch.equal(first, again)
    with pytest.raises(NotImplementedError, match="first derivatives only"):
        again.sum().backward()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        copied = module.features(x, DOMAIN).sin().sum() + module.auxiliary_loss()
    assert torch.equal(first, torch.autograd.grad(copied, module.experts)[0])
    checkpointed = (
        torch.utils.checkpoint.checkpoint(module.features, x, DOMAIN, use_reentrant=False)
        .sin()
        .sum()
    )
    assert torch.allclose(first, torch.autograd.grad(checkpointed, module.experts)[0], atol=1e-12)
    # The losses of the layer alone.
    module.features(x, DOMAIN)
    (keys,) = torch.autograd.grad(module.auxiliary_loss(), module.keys)
    assert keys.abs().max() > 0
    del loss, again, copied, checkpointed
    with torch.no_grad():
        module.features(x, DOMAIN)
    gc.collect()
    assert len(_operators._KEPT) == before


def test_threads_change_nothing():
    module = DaspBiMap(40, 20, n_experts=3, n_domains=3, dtype=F64)
    a = torch.randn(70, 40, 80, dtype=F64)
    x = a @ a.mT / 80
    x = (x + x.mT) / 2
    found = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        module.zero_grad()
        z = module.features(x)
        z.sin().sum().backward()
        found.append((z.detach(), module.experts.grad.clone()))
    assert torch.equal(found[0][0], found[1][0]) and torch.equal(found[0][1], found[1][1])


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (lambda x: (x, torch.tensor([0, 1, 2, 3, 1])), "from 0 to 2"),
        (lambda x: (x, DOMAIN[:4]), "5 whole numbers"),
        (lambda x: (x, DOMAIN.double()), "whole numbers"),
        (lambda x: (x, DOMAIN, torch.ones(5, 9, dtype=F64)), r"\(5, 10\)"),
        (
            lambda x: (x + torch.triu(torch.ones(4, 4), 1), DOMAIN, torch.ones(5, 10, dtype=F64)),
            "symmetric",
        ),
        (lambda x: (x * float("nan"), DOMAIN, torch.ones(5, 10, dtype=F64)), "(?i)nan|finite"),
        (lambda x: (-x, DOMAIN), "positive definite|eigenvalue"),
    ],
)
def test_bad_input(arguments, text, spd):
    with pytest.raises(ValueError, match=text):
        layer().features(*arguments(spd(5, 4)))


class TwoViews(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.views = MultiView([layer(align=0.1), layer(seed=1, align=0.1)])
        self.head = torch.nn.Linear(6, 2, dtype=F64)

    def forward(self, x, domain):
        return self.head(self.views(x, domain))


def test_views_are_their_layers_side_by_side(spd):
    """Values and gradients of two views are those of each layer by itself; a third view of another
    size has no routing."""
    views = MultiView(
        [
            layer(align=0.1),
            layer(seed=1, align=0.1),
            torch.nn.Sequential(BiMap(3, 2, dtype=F64), ReEig(1e-4), LogEig()),
        ]
    )
    x = [spd(5, 4), spd(5, 4, seed=1), spd(5, 3, seed=2)]
    z = views(x, DOMAIN)
    assert z.shape == (5, 9)
    g = torch.randn(5, 9, dtype=F64)
    ((z * g).sum() + views.auxiliary_loss()).backward()
    for at, own in enumerate(views.layers):
        found = [p.grad.clone() for p in own.parameters() if p.grad is not None]
        own.zero_grad()
        alone = own.features(x[at], DOMAIN) if at < 2 else own(x[at])
        assert torch.equal(alone, z[:, 3 * at : 3 * at + 3])
        loss = (alone * g[:, 3 * at : 3 * at + 3]).sum()
        (loss + own.auxiliary_loss() if at < 2 else loss).backward()
        expected = [p.grad for p in own.parameters() if p.grad is not None]
        assert len(found) == len(expected) and all(
            torch.allclose(a, b, atol=1e-13) for a, b in zip(found, expected)
        )


def test_a_report_on_one_of_several_views(spd):
    net, x = TwoViews(), torch.stack([spd(24, 4), spd(24, 4, seed=1)], 1)
    y, domain = torch.arange(24) % 2, torch.arange(24) % 3
    with pytest.raises(ValueError, match="say which"):
        routing_report(net, x, y, domain)
    with pytest.raises(ValueError, match="no DaspBiMap of the module"):
        routing_report(net, x, y, domain, layer=layer())
    reports = [routing_report(net, x, y, domain, layer=own) for own in net.views.layers]
    assert all(
        sorted(report["controls"]) == ["domain_mean", "hard_top1", "permuted", "retrained"]
        for report in reports
    )
    assert (reports[0].routing != reports[1].routing).any()
