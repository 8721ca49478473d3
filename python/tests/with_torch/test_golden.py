"""The routed network against the golden files: losses and every gradient to 1e-9, 15 steps of Adam
to 1e-7; and against the core's own training."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

import stiefel
from stiefel import _core
from stiefel.torch import (
    BiMap,
    DaspBiMap,
    DaspNet,
    LogEig,
    ReEig,
    RiemannianAdam,
    SPDNet,
    functional,
)

GOLDEN = Path(__file__).parents[3] / "golden"
NAMES = {
    "query.w1": "w1",
    "query.b1": "b1",
    "query.w2": "w2",
    "query.b2": "b2",
    "embedding": "emb",
    "keys": "E",
    "experts": "W",
    "anchor": "W_base",
    "scales": "Lraw",
    "head.w": "wc",
    "head.b": "bc",
}
ROUTED = [
    "small_dasp_full",
    "small_ded_nodsp",
    "small_naive_w1",
    "small_naive_bary",
    "small_naive_bary_alpha",
    "small_noemb",
    "small_4class",
    "small_all_losses",
    "small_polar",
    "small_polar_retr",
    "small_barrier",
    "medium_dasp_full",
    "medium_ded_nodsp",
    "medium_naive_w1",
    "medium_polar",
    "bnci2014001_ded",
    "weibo_dasp_full",
]
ANCHORS = {
    "dedicated": "dedicated",
    "w1": "first",
    "bary": "barycenter",
    "bary_alpha": "routed-barycenter",
}

pytestmark = pytest.mark.skipif(
    not GOLDEN.is_dir(), reason="the golden files are in the repository, not in the package"
)


def opened(name):
    config = json.loads((GOLDEN / f"{name}.json").read_text())["conventions"].get("config")
    return np.load(GOLDEN / f"{name}.npz"), config


def options(c, encoded, tangent):
    own = (
        {"kind": c["variant"], "barrier": "paper", "barrier_weight": c["lam_barrier"]}
        if c["variant"] == "barrier"
        else {"kind": c["variant"]}
    )
    return dict(
        in_features=c["n"],
        out_features=c["k"],
        n_experts=c["K"],
        n_domains=c["D"],
        embedding=c["m"],
        anchor=ANCHORS[c["anchor"]],
        retraction=c["retraction"],
        domain_embedding=c["use_emb"],
        decoupled_keys=c["decouple"],
        align=c["lam_align"],
        balance=c["lam_lb"],
        entropy=c["lam_ent"],
        threshold=c["thr"],
        dsp_rank=None if encoded == tangent else encoded,
        dtype=torch.float64,
        **own,
    )


def network(name):
    golden, c = opened(name)
    net = DaspNet(n_classes=c["C"], **options(c, golden["xt"].shape[1], c["n"] * (c["n"] + 1) // 2))
    with torch.no_grad():
        for own, parameter in net.named_parameters():
            parameter.copy_(torch.from_numpy(golden[f"p_{NAMES[own]}"]))
        if net.encoder is not None:
            net.encoder.projection.copy_(torch.from_numpy(golden["P_dsp"]))
            net.encoder.between.fill_(0)
    return golden, net


def relative(found, expected):
    size = np.linalg.norm(expected)
    return np.linalg.norm(found - expected) / (size if size > 0 else 1.0)


@pytest.mark.parametrize("name", ROUTED)
def test_losses_and_gradients(name):
    golden, net = network(name)
    x, domains, labels = (torch.from_numpy(golden[key]) for key in ("X", "d", "y"))
    assert relative(net.encode(x).numpy(), golden["xt"]) < 1e-12
    logits = net(x, domains)
    loss = cross_entropy(logits, labels) + net.auxiliary_loss()
    loss.backward()
    assert relative(logits.detach().numpy(), golden["out_logits"]) < 1e-9
    assert relative(net.last_routing.numpy(), golden["out_alpha"]) < 1e-9
    assert abs(loss.item() / golden["loss_total"].item() - 1) < 1e-9
    for own, parameter in net.named_parameters():
        expected = golden[f"g_{NAMES[own]}"]
        found = np.zeros_like(expected) if parameter.grad is None else parameter.grad.numpy()
        assert relative(found, expected) < 1e-9, own
    y = DaspBiMap.forward(net, x, domains)
    assert relative(y.detach().numpy(), golden["out_Y"]) < 1e-9
    with torch.no_grad(), net.rerouted("uniform"):
        assert relative(net(x, domains).numpy(), golden["k1_logits"]) < 1e-9


@pytest.mark.parametrize("name", ["small_dasp_full", "weibo_dasp_full"])
def test_layer_by_layer_gives_the_same(name):
    """DaspBiMap, ReEig and LogEig one after the other, as in a network of spd_learn."""
    golden, net = network(name)
    x, domains = torch.from_numpy(golden["X"]), torch.from_numpy(golden["d"])
    z = LogEig()(ReEig(net.options["threshold"])(DaspBiMap.forward(net, x, domains)))
    assert torch.allclose(z, net.features(x, domains), atol=1e-10)
    assert relative(net.head(z).detach().numpy(), golden["out_logits"]) < 1e-9


@pytest.mark.parametrize("name", ["baseline_small", "baseline_medium"])
def test_baseline(name):
    golden, _ = opened(name)
    n, k = golden["p_W"].shape[-2:]
    x, labels = torch.from_numpy(golden["X"]), torch.from_numpy(golden["y"])
    net = SPDNet(n, k, golden["p_wc"].shape[0], dtype=torch.float64)
    names = {"filter": "W", "head.w": "wc", "head.b": "bc"}
    with torch.no_grad():
        for own, parameter in net.named_parameters():
            parameter.copy_(torch.from_numpy(golden[f"p_{names[own]}"]).reshape(parameter.shape))
    loss = cross_entropy(net(x), labels)
    loss.backward()
    assert abs(loss.item() / golden["loss_total"].item() - 1) < 1e-9
    for own, parameter in net.named_parameters():
        assert relative(parameter.grad.numpy().ravel(), golden[f"g_{names[own]}"].ravel()) < 1e-9, (
            own
        )


@pytest.mark.parametrize("how", ["cayley", "matrix_exp", "householder", "naive_cayley"])
def test_fifteen_steps_of_adam(how):
    """Under PyTorch's own parametrisations, with PyTorch's own Adam."""
    golden, c = opened(f"traj_{how}")
    map_ = how.removeprefix("naive_")
    net = DaspNet(
        n_classes=c["C"],
        orthogonality=map_,
        **options(c, golden["xt"].shape[1], c["n"] * (c["n"] + 1) // 2),
    )
    x, rows, domains, labels = (torch.from_numpy(golden[key]) for key in ("X", "xt", "d", "y"))
    theirs = {
        "query.w1": "lin1_weight",
        "query.b1": "lin1_bias",
        "query.w2": "lin2_weight",
        "query.b2": "lin2_bias",
        "embedding": "emb_weight",
        "keys": "E",
        "head.w": "cls_weight",
        "head.b": "cls_bias",
        "parametrizations.experts.original": "experts_parametrizations_weight_original",
        "parametrizations.anchor.original": "base_parametrizations_weight_original",
    }
    with torch.no_grad():
        for own, parameter in net.named_parameters():
            parameter.copy_(torch.from_numpy(golden[f"init_{theirs[own]}"]))
        net.parametrizations.experts[0].base.copy_(torch.from_numpy(golden["init_experts_base"]))
        if net.anchor is not None:
            net.parametrizations.anchor[0].base.copy_(torch.from_numpy(golden["init_base_base"]))
    optimiser, losses = torch.optim.Adam(net.parameters(), lr=0.01), []
    for _ in range(15):
        optimiser.zero_grad()
        loss = cross_entropy(net(x, domains, rows), labels) + net.auxiliary_loss()
        losses.append(loss.item())
        loss.backward()
        optimiser.step()
    assert relative(np.array(losses), golden["losses"]) < 1e-7
    for own, parameter in net.named_parameters():
        assert relative(parameter.detach().numpy(), golden[f"final_{theirs[own]}"]) < 1e-7, own
    assert relative(net.experts.detach().numpy(), golden["final_W"]) < 1e-7


TRAINED = {
    "plain": ({}, {}),
    "options": (
        {"experts": stiefel.Experts(top_p=2, anchor="barycenter", retraction="polar")},
        {"losses": stiefel.Losses(balance=0.1, entropy=0.1, shrink=0.2)},
    ),
    "polar, routed head": (
        {"experts": stiefel.Experts(kind="polar", head="routed", head_ridge=0.01)},
        {},
    ),
    "barrier": ({"experts": stiefel.Experts(kind="barrier")}, {}),
    "batch norm before": ({"batch_norm": "before"}, {}),
    "batch norm after": ({"batch_norm": "after"}, {}),
}


@pytest.mark.parametrize("case", TRAINED)
def test_training_is_the_cores_training(case, trials):
    """The same seed, the same steps of Riemannian Adam: the parameters of both are the same after
    15 epochs of one batch."""
    x, y, domains = trials
    experts, losses = TRAINED[case]
    clf = stiefel.DaspClassifier(
        filters=3,
        n_experts=3,
        embedding=5,
        dsp_rank=None,
        epochs=15,
        validation_fraction=0.15,
        random_state=0,
        training=stiefel.Training(batch=1000, precision="f64", patience=15),
        **experts,
        **losses,
    ).fit(x, y, subjects=domains)
    _, names, parameters, _ = _core.torch_network(clf._model)
    seed = json.loads(clf._model.spec)["settings"]["training"]["seed"]
    # The core holds some trials out: those it knows as training trials are left.
    kept = clf._seen(x) == 0
    whitening = stiefel.DomainWhitening().fit(x[kept], subjects=domains[kept])
    rows = torch.from_numpy(whitening.transform(x[kept], subjects=domains[kept]))
    whose, labels = torch.from_numpy(domains[kept]), torch.from_numpy(y[kept])
    assert names == ["0", "1", "2"]
    from stiefel.torch import _file

    config = json.loads(clf._model.spec)["settings"]["architecture"]
    sizes = {"channels": 6, "classes": 2, "domains": 3, "encoded": 21}
    net = DaspNet(**_file._options(config, sizes, None), seed=seed, dtype=torch.float64)
    if net.norm is not None:
        net.fit_statistics(rows, whose)
    optimiser = RiemannianAdam(net.parameters())
    for _ in range(clf.best_epoch_ + 1):
        optimiser.zero_grad()
        (cross_entropy(net(rows, whose), labels) + net.auxiliary_loss()).backward()
        optimiser.step()
    assert clf.best_epoch_ > 0
    for name, value, _ in parameters:
        own = _file._at(net, name).detach().numpy()
        assert relative(own.ravel(), value.ravel()) < 1e-7, name


def test_first_values_are_the_cores(trials):
    x, y, domains = trials
    for seed in (0, 7):
        layer = DaspBiMap(6, 3, n_experts=4, n_domains=3, seed=seed)
        architecture = {**layer.architecture(), "head": {"kind": "shared"}}
        found = _core.torch_initial(json.dumps(architecture), json.dumps(layer._sizes()), seed)
        values = {name: value for name, value, _ in found}
        for name, parameter in layer.named_parameters():
            assert np.array_equal(
                parameter.detach().numpy().ravel(), values[name].astype(np.float32).ravel()
            ), name
    assert not torch.equal(DaspBiMap(6, 3, 4, 3).experts, DaspBiMap(6, 3, 4, 3, seed=1).experts)
    start = BiMap(
        6, 3, init_method="stiefel", parametrized="riemannian", seed=5, dtype=torch.float64
    ).weight
    assert torch.allclose(start.mT @ start, torch.eye(3, dtype=torch.float64), atol=1e-14)


def test_the_encoder_is_the_cores():
    golden, _ = opened("small_dasp_full")
    layer = DaspBiMap(6, 3, n_experts=2, n_domains=3, dsp_rank=4, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="not fitted"):
        layer(torch.eye(6, dtype=torch.float64)[None])
    rng = np.random.default_rng(0)
    a = rng.standard_normal((30, 6, 20))
    x = torch.from_numpy(a @ a.transpose(0, 2, 1) / 20)
    whose = torch.arange(30) % 3
    layer.fit_encoder(x, whose)
    p = layer.encoder.projection
    assert (
        torch.allclose(p.T @ p, torch.eye(4, dtype=torch.float64), atol=1e-12)
        and int(layer.encoder.between) == 2
    )
    means = torch.stack(
        [functional.upper(functional.logm(x[whose == d])).mean(0) for d in range(3)]
    )
    spread = (means - means.mean(0)) @ (torch.eye(21, dtype=torch.float64) - p[:, :2] @ p[:, :2].T)
    assert spread.abs().max() < 1e-10
    with pytest.raises(ValueError, match="dsp_rank=2"):
        DaspBiMap(6, 3, n_experts=2, n_domains=3, dsp_rank=5, dtype=torch.float64).fit_encoder(
            x, whose, fill="between-only"
        )
