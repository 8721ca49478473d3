"""From a recording to decisions by the program: a network of PyTorch on prepared covariances, and
its file under predict, evaluate and live."""

import csv
import json
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

import stiefel
import stiefel.torch
from stiefel.torch import DaspNet, RiemannianAdam, SPDNet

CHANNELS, RATE, CLASSES = ["C3", "Cz", "C4", "Pz", "Fz"], 160, ["left", "right"]


def record(path, seed, trials=16):
    """A BrainVision recording of two imagined movements: a rhythm of 11 Hz that grows weaker over
    one hand or the other."""
    rng = np.random.default_rng(seed)
    cues, labels = RATE * (2 + 5 * np.arange(trials)), rng.permutation(trials) % 2
    samples = int(cues[-1]) + 6 * RATE
    rhythm = 6 * np.sin(2 * np.pi * 11 * np.arange(samples) / RATE + rng.uniform(0, 6, (2, 1)))
    for cue, label in zip(cues, labels):
        rhythm[label, cue : cue + 4 * RATE] *= 0.3
    mixing = np.eye(5, 2) + rng.uniform(0.2, 0.6, (5, 2))
    signal = mixing @ rhythm + 3 * rng.standard_normal((5, samples))
    signal.T.astype("<f4").tofile(path.with_suffix(".eeg"))
    names = "".join(f"Ch{i}={name},,1,µV\n" for i, name in enumerate(CHANNELS, 1))
    path.with_suffix(".vhdr").write_text(
        f"Brain Vision Data Exchange Header File Version 1.0\n[Common Infos]\nDataFile={path.stem}.eeg\nMarkerFile={path.stem}.vmrk\nDataFormat=BINARY\n"
        f"DataOrientation=MULTIPLEXED\nNumberOfChannels=5\nSamplingInterval={1_000_000 // RATE}\n[Binary Infos]\nBinaryFormat=IEEE_FLOAT_32\n"
        f"[Channel Infos]\n{names}",
        encoding="utf-8",
    )
    marks = "".join(
        f"Mk{i}=Stimulus,S{label + 1},{cue + 1},1,0\n"
        for i, (cue, label) in enumerate(zip(cues, labels), 1)
    )
    path.with_suffix(".vmrk").write_text(
        f"Brain Vision Data Exchange Marker File, Version 1.0\n[Marker Infos]\n{marks}",
        encoding="utf-8",
    )


def program(folder, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "stiefel", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
    )


def said(folder, *arguments):
    done = program(folder, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two people's recordings as covariances, and a later recording of the first; filtered as a
    stream is, so that live and offline are the same numbers."""
    folder = tmp_path_factory.mktemp("program")
    for name, seed in (("S01R01", 0), ("S02R01", 1), ("S01R02", 2)):
        record(folder / name, seed)
    for name, *recordings in (("train", "S01R01.vhdr", "S02R01.vhdr"), ("later", "S01R02.vhdr")):
        said(
            folder,
            "prepare",
            *recordings,
            "--classes",
            "S1=left,S2=right",
            "--phase",
            "causal",
            "--reject",
            "off",
            "-o",
            f"{name}.npz",
        )
    return folder


def trained(net, data, people, steps=15):
    x = torch.from_numpy(stiefel.DomainWhitening().fit_transform(data))
    y, domain = (
        torch.tensor([names.index(v) for v in values])
        for names, values in ((CLASSES, data.y), (people, data.domains))
    )
    optimiser = RiemannianAdam(net.parameters(), lr=0.02)
    for _ in range(steps):
        optimiser.zero_grad()
        (
            cross_entropy(net(x, domain), y)
            + (net.auxiliary_loss() if isinstance(net, DaspNet) else 0)
        ).backward()
        optimiser.step()
    return net.eval()


NETWORKS = {
    "dasp": lambda: DaspNet(
        5, 3, n_experts=2, n_domains=2, n_classes=2, embedding=4, dtype=torch.float64
    ),
    "batch norm, f32": lambda: DaspNet(
        5, 3, n_experts=2, n_domains=2, n_classes=2, embedding=4, batch_norm="after", head="routed"
    ),
    "spdnet": lambda: SPDNet(5, 3, 2, 2, dtype=torch.float64),
}


@pytest.mark.parametrize("kind", NETWORKS)
def test_predict_evaluate_and_live_decide_as_the_module(kind, folder, tmp_path):
    data, later = (
        stiefel.load_dataset(folder / "train.npz"),
        stiefel.load_dataset(folder / "later.npz"),
    )
    people, file = sorted(set(data.domains)), str(tmp_path / "m.stiefel")
    net = trained(NETWORKS[kind](), data, people)
    net.to_stiefel(file, data, whitening=stiefel.Whitening(), classes=CLASSES, domain_names=people)
    again = stiefel.torch.load(file)
    own = again.predict_proba(later)
    assert set(own.argmax(1)) == {0, 1}

    rows = list(csv.DictReader(said(folder, "predict", file, "S01R02.vhdr").splitlines()))
    found = np.array([[float(row[f"p_{name}"]) for name in CLASSES] for row in rows])
    assert np.abs(found - own).max() < (1e-6 if kind == "batch norm, f32" else 1e-12)
    assert [row["label"] for row in rows] == later.y.tolist()

    scores = json.loads(said(folder, "evaluate", file, "S01R02.vhdr", "--json"))
    right = np.mean(
        [(own.argmax(1)[later.y == name] == c).mean() for c, name in enumerate(CLASSES)]
    )
    assert abs(scores["new"]["scores"]["balanced_accuracy"]["value"] - right) < 1e-12

    done = program(
        folder, "live", file, "--from", "replay:S01R02.vhdr", "--speed", "max", "--domain", "S01"
    )
    assert done.returncode == 0, done.stderr
    windows = [
        line for line in map(json.loads, done.stdout.splitlines()) if line["type"] == "window"
    ]
    live = np.array([[line["probabilities"][name] for name in CLASSES] for line in windows])
    # The signal is filtered sample by sample here, and as a whole there.
    assert np.abs(live - own).max() < (1e-5 if kind == "batch norm, f32" else 1e-9)
    # A file of PyTorch knows what is familiar, as one of the program's own does.
    assert (
        all(line["familiarity"] is not None for line in windows)
        and "is not checked" not in done.stderr
    )


def test_another_preparation_is_refused(folder, tmp_path):
    """The file knows how its covariances were made, and the program does not decide on others."""
    data, people = stiefel.load_dataset(folder / "train.npz"), ["S01", "S02"]
    file = str(tmp_path / "m.stiefel")
    trained(SPDNet(5, 3, 2, 2), data, people, 1).to_stiefel(
        file, data, whitening=stiefel.Whitening(), classes=CLASSES, domain_names=people
    )
    said(
        folder,
        "prepare",
        "S01R02.vhdr",
        "--classes",
        "S1=left,S2=right",
        "-o",
        str(tmp_path / "other.npz"),
    )
    done = program(folder, "predict", file, str(tmp_path / "other.npz"))
    assert done.returncode != 0 and "causal" in done.stderr


def test_a_file_that_the_program_does_not_know_is_refused(folder, tmp_path):
    """A newer format and a network of another name, by every command; nothing is decided."""
    data, people = stiefel.load_dataset(folder / "train.npz"), ["S01", "S02"]
    file = tmp_path / "m.stiefel"
    SPDNet(5, 3, 2, 2).to_stiefel(
        file, data, whitening=stiefel.Whitening(), classes=CLASSES, domain_names=people
    )
    written = file.read_bytes()
    changes = [
        (b'"format_version":"2"', b'"format_version":"9"', ("version", "newer")),
        (b"spdnet", b"spdnex", ("spdnex", "damaged", "checksum")),
    ]
    for old, new, words in changes:
        assert old in written
        other = tmp_path / "other.stiefel"
        other.write_bytes(written.replace(old, new))
        for command, *arguments in (
            ("predict", "S01R02.vhdr"),
            ("evaluate", "S01R02.vhdr"),
            ("live", "--from", "replay:S01R02.vhdr", "--domain", "S01"),
        ):
            done = program(folder, command, str(other), *arguments)
            assert done.returncode == 1 and not done.stdout, done
            assert any(word in done.stderr for word in words), done.stderr
