"""There and back: modules and model files decide alike; what a file cannot hold is refused; the
report; what is missing is said."""

import copy
import csv
import subprocess
import sys

import numpy as np
import pytest
import torch

import stiefel
import stiefel.torch
from stiefel.torch import DaspNet, RiemannianAdam, SPDNet, routing_report

TOLERANCE = {torch.float32: 1e-6, torch.float64: 1e-12}
OPTIONS = [
    {},
    {"dsp_rank": 4},
    {"kind": "polar", "head": "routed"},
    {"kind": "barrier"},
    {"top_p": 1, "anchor": "routed-barycenter"},
    {"retraction": "polar", "anchor": "first", "domain_embedding": False},
    {"batch_norm": "after"},
    {"batch_norm": "before", "norm": {"bias": False}},
    {"orthogonality": "cayley"},
]


def trained(net, trials, steps=3):
    """A network after a few steps on whitened trials."""
    x, y, domains = trials
    rows = torch.from_numpy(stiefel.DomainWhitening().fit_transform(x, subjects=domains))
    whose, labels = torch.from_numpy(domains), torch.from_numpy(y)
    if getattr(net, "encoder", None) is not None:
        net.fit_encoder(rows, whose)
    kind = torch.optim.Adam if net.options["orthogonality"] != "riemannian" else RiemannianAdam
    optimiser = kind(net.parameters(), lr=0.02)
    for _ in range(steps):
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(rows, whose), labels)
        (loss + (net.auxiliary_loss() if hasattr(net, "auxiliary_loss") else 0)).backward()
        optimiser.step()
    return net.eval(), rows, whose


def probabilities(net, rows, whose):
    with torch.no_grad():
        return net(rows, whose).double().softmax(1).numpy()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_module_to_file_to_module_and_core(options, dtype, trials, tmp_path):
    x, y, domains = trials
    net = DaspNet(6, 3, n_experts=3, n_domains=3, n_classes=2, embedding=5, dtype=dtype, **options)
    net, rows, whose = trained(net, trials)
    file = tmp_path / "m.stiefel"
    net.to_stiefel(file, x, y, domains, whitening=stiefel.Whitening())
    own = probabilities(net, rows, whose)
    again = stiefel.torch.load(file)
    assert np.abs(again.predict_proba(x, domains) - own).max() <= TOLERANCE[dtype]
    # Whatever the precision of the parameters: two roundings to single precision would be further
    # apart than one.
    assert np.array_equal(
        again.predict_proba(x, domains),
        stiefel.torch.load(file, dtype=torch.float64).predict_proba(x, domains),
    )
    core = stiefel.load(file).predict_proba(x, subjects=domains)
    assert np.abs(core - own).max() <= TOLERANCE[dtype]
    assert (core.argmax(1) == own.argmax(1)).all()
    assert np.array_equal(
        copy.deepcopy(again).predict_proba(x, domains), again.predict_proba(x, domains)
    )
    assert (
        again.keys.dtype == dtype
        and again.classes == ["0", "1"]
        and again.domains == ["0", "1", "2"]
    )
    again.to_stiefel(tmp_path / "again.stiefel", x, y, domains, whitening=stiefel.Whitening())
    assert np.array_equal(
        stiefel.load(tmp_path / "again.stiefel").predict_proba(x, subjects=domains), core
    )


@pytest.mark.parametrize("batch_norm", [None, "before", "after"])
def test_the_baseline(batch_norm, trials, tmp_path):
    x, y, domains = trials
    net, rows, whose = trained(
        SPDNet(6, 3, 2, 3, batch_norm=batch_norm, dtype=torch.float64), trials
    )
    net.to_stiefel(tmp_path / "m.stiefel", x, y, domains, whitening=stiefel.Whitening())
    own = probabilities(net, rows, whose)
    assert (
        np.abs(stiefel.load(tmp_path / "m.stiefel").predict_proba(x, subjects=domains) - own).max()
        < 1e-12
    )
    assert (
        np.abs(stiefel.torch.load(tmp_path / "m.stiefel").predict_proba(x, domains) - own).max()
        < 1e-12
    )


@pytest.mark.parametrize("precision", ["f32", "f64"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"training": {"orthogonality": "cayley"}},
        {"batch_norm": "after"},
        {"experts": stiefel.Experts(kind="polar", head="routed", top_p=1)},
        {"unseen": "input-only"},
    ],
    ids=str,
)
def test_any_network_of_the_core_as_a_module(options, precision, trials, tmp_path):
    x, y, domains = trials
    options = dict(options)
    training = stiefel.Training(precision=precision, **options.pop("training", {}))
    clf = stiefel.DaspClassifier(
        filters=3, n_experts=3, epochs=3, random_state=0, training=training, **options
    ).fit(x, y, subjects=domains)
    clf.save(tmp_path / "m.stiefel")
    net = stiefel.torch.load(tmp_path / "m.stiefel")
    bound = 1e-6 if precision == "f32" else 1e-12
    assert (
        np.abs(net.predict_proba(x, domains) - clf.predict_proba(x, subjects=domains)).max()
        <= bound
    )
    new = clf.set_params(handle_unknown="new").predict_proba(x, subjects=["new"] * len(x))
    assert np.abs(net.predict_proba(x) - new).max() <= bound
    assert net.whitening.domains_.tolist() == ["0", "1", "2"]


def test_the_program_runs_it(tmp_path):
    """``stiefel predict`` on a file of PyTorch, with the program that the package brings."""
    program = [sys.executable, "-m", "stiefel"]
    data = stiefel.load_synthetic("BNCI2015001", subjects=2, trials_per_class=10, random_state=0)
    classes, people = sorted(set(data.y)), sorted(set(data.domains))
    whose = np.array([people.index(d) for d in data.domains])
    labels = np.array([classes.index(c) for c in data.y])
    net = DaspNet(13, 4, n_experts=2, n_domains=2, n_classes=2, dtype=torch.float64)
    net, rows, whose = trained(net, (data.X, labels, whose))
    net.to_stiefel(
        tmp_path / "m.stiefel",
        data,
        whitening=stiefel.Whitening(),
        classes=classes,
        domain_names=people,
    )
    own = probabilities(net, rows, whose)
    source = "synthetic:bnci2015001,subjects=2,sessions=1,trials=10,seed=0"
    done = subprocess.run(
        [*program, "predict", "m.stiefel", source],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    told = subprocess.run(
        [*program, "evaluate", "m.stiefel", source],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert told.returncode == 0 and f"{len(data)} that it was trained on" in told.stdout, (
        told.stderr
    )
    seen = subprocess.run(
        [*program, "inspect", "m.stiefel"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert f"{len(data)} trials, by another program" in seen.stdout, seen.stdout
    rows = list(csv.DictReader(done.stdout.splitlines()))
    found = np.array([[float(row[f"p_{name}"]) for name in classes] for row in rows])
    assert np.abs(found - own).max() < 1e-12


def test_trials_bring_names_and_preparation(tmp_path):
    data = stiefel.load_synthetic("BNCI2015001", subjects=2, trials_per_class=10, random_state=0)
    classes, people = sorted(set(data.y)), sorted(set(data.domains))
    net = SPDNet(13, 4, 2, 2)
    with pytest.raises(ValueError, match="y are names"):
        net.to_stiefel(tmp_path / "m.stiefel", data, whitening=None)
    with pytest.raises(ValueError, match="domains are names"):
        net.to_stiefel(tmp_path / "m.stiefel", data, whitening=None, classes=classes)
    net.to_stiefel(
        tmp_path / "m.stiefel", data, whitening=None, classes=classes, domain_names=people
    )
    again = stiefel.torch.load(tmp_path / "m.stiefel")
    assert (
        again.classes == classes
        and again.domains == people
        and again.channels == data.channels
        and again.whitening is None
    )
    assert str(again.preparation) == str(data.preparation)
    # The file knows the trials it was made with.
    assert stiefel.load(tmp_path / "m.stiefel").judge(data)["new"] is None


def test_what_a_file_cannot_hold(trials, tmp_path):
    x, y, domains = trials
    net, file = SPDNet(6, 3, 2, 3), tmp_path / "m.stiefel"
    with pytest.raises(TypeError, match="whitening"):
        net.to_stiefel(file, x, y, domains)
    with pytest.raises(ValueError, match="several views"):
        net.to_stiefel(file, np.stack([x, x], 1), y, domains, whitening=None)
    with pytest.raises(ValueError, match="from 0 to 2, found 3"):
        net.to_stiefel(file, x, y, domains + 1, whitening=None)
    with pytest.raises(ValueError, match="y must be given"):
        net.to_stiefel(file, x, domains=domains, whitening=None)
    with pytest.raises(ValueError, match="2 different names"):
        net.to_stiefel(file, x, y, domains, whitening=None, classes=["a", "a"])
    net.filter.data.mul_(2)
    with pytest.raises(ValueError, match="orthonormal"):
        net.to_stiefel(file, x, y, domains, whitening=None)
    net.filter.data.fill_(float("nan"))
    with pytest.raises(ValueError, match="(?i)nan|finite"):
        net.to_stiefel(file, x, y, domains, whitening=None)
    with pytest.raises(RuntimeError, match="fit_encoder"):
        DaspNet(6, 3, 2, 3, 2, dsp_rank=3).to_stiefel(file, x, y, domains, whitening=None)
    assert not file.exists()
    SPDNet(6, 3, 2, 3).to_stiefel(file, x, y, domains, whitening=None)
    with pytest.raises(FileExistsError):
        SPDNet(6, 3, 2, 3).to_stiefel(file, x, y, domains, whitening=None)


def test_files_that_are_no_network(trials, tmp_path):
    x, y, domains = trials
    file = tmp_path / "m.stiefel"
    SPDNet(6, 3, 2, 3).to_stiefel(file, x, y, domains, whitening=None)
    data = file.read_bytes()
    newer = tmp_path / "newer.stiefel"
    for old, new, text in (
        (b'"format_version":"1"', b'"format_version":"9"', "newer|version"),
        (b"spdnet", b"spdnex", "damaged|checksum|spdnex"),
    ):
        assert old in data
        newer.write_bytes(data.replace(old, new))
        with pytest.raises(ValueError, match=text):
            stiefel.torch.load(newer)
    with pytest.raises(FileNotFoundError):
        stiefel.torch.load(tmp_path / "none.stiefel")
    choir = stiefel.ChoirClassifier(random_state=0).fit(x, y, subjects=domains)
    choir.save(tmp_path / "choir.stiefel")
    with pytest.raises(ValueError, match="no network"):
        stiefel.torch.load(tmp_path / "choir.stiefel")


def test_networks_from_another_time_are_refused():
    """What a later version adds to a network must not be left out in silence."""
    from stiefel.torch import _file

    sizes = {"channels": 4, "classes": 2, "domains": 1, "encoded": 10}
    plain = SPDNet(4, 2, 2).architecture()
    _file._check_known(plain, sizes, "m")
    _file._check_known(plain, {**sizes, "views": 1}, "m")
    for architecture, found, text in (
        ({**plain, "network": "later"}, sizes, "'later'"),
        ({**plain, "depth": 3}, sizes, "depth"),
        (plain, {**sizes, "views": 2}, "2 views"),
        (plain, {**sizes, "bands": 2}, "bands"),
    ):
        with pytest.raises(ValueError, match=text):
            _file._check_known(architecture, found, "m")


def test_routing_report(trials):
    x, y, domains = trials
    net, rows, whose = trained(
        DaspNet(6, 3, n_experts=3, n_domains=3, n_classes=2, embedding=5, dtype=torch.float64),
        trials,
    )
    labels = torch.from_numpy(y)
    report = routing_report(net, rows[:30], labels[:30], whose[:30], rows[30:], whose[30:])

    def balanced(decided):
        return np.mean([(decided[y[:30] == c] == c).mean() for c in (0, 1)])

    assert (
        abs(
            report["scores"]["balanced_accuracy"]["value"]
            - balanced(probabilities(net, rows[:30], whose[:30]).argmax(1))
        )
        < 1e-12
    )
    with torch.no_grad(), net.rerouted("uniform"):
        uniform = net(rows[:30], whose[:30]).argmax(1).numpy()
    assert abs(report["proxy_accuracy"]["value"] - balanced(uniform)) < 1e-12
    assert (
        report.routing.shape == (30, 3)
        and report.verdict in str(report)
        and report.experts.shape == (3, 6, 3)
    )
    # Any module with the layer inside.
    wrapped = torch.nn.ModuleDict({"net": net})
    wrapped.forward = lambda x, d: net(x, d)
    assert routing_report(wrapped, rows, torch.from_numpy(y), whose)["scores"] is not None
    with pytest.raises(ValueError, match="has 0"):
        routing_report(SPDNet(6, 3, 2), rows, torch.from_numpy(y), whose)
    with pytest.raises(ValueError, match="belong together"):
        routing_report(net, rows, torch.from_numpy(y), whose, rows)

    class Broken(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.net, self.calls = net, 0

        def forward(self, x, d):
            self.calls += 1
            if self.calls > 2:
                raise ZeroDivisionError("its own error")
            return self.net(x, d)

    with pytest.raises(ZeroDivisionError, match="its own error"):
        routing_report(Broken(), rows, torch.from_numpy(y), whose)


def test_without_pytorch_the_import_says_so(tmp_path):
    code = (
        "import sys, stiefel\n"
        "sys.modules['torch'] = None\n"
        "try:\n    import stiefel.torch\nexcept ImportError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert "pip install torch" in done.stdout, done.stderr
