"""
From raw EEG to decisions
=========================

Convolutions, covariance pooling, batch normalisation for each person, and routed filters::

    raw EEG ─▶ temporal and spatial convolution ─▶ covariance ─▶ SPDBatchNorm ─▶ DaspBiMap ─▶ ReEig ─▶ LogEig ─▶ linear

This is TSMNet (Kobler et al., 2022) with DASP in the place of its BiMap. skorch makes a
scikit-learn classifier of it. Without an argument the EEG is
simulated. ``--data FOLDER`` reads recordings of the EEG Motor Movement/Imagery Dataset (files such
as S001R06.edf, runs 6, 10 and 14: both fists or both feet, imagined).
This example needs PyTorch and skorch.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from skorch import NeuralNetClassifier
from skorch.helper import SliceDict
from torch import nn

import stiefel
from stiefel.torch import DaspBiMap, LogEig, ReEig, RiemannianAdam, SPDBatchNorm, routing_report

RUNS, RATE = (6, 10, 14), 160.0


class RoutedTSMNet(nn.Module):
    """``forward(eeg, domain)``: signals ``(B, channels, samples)`` and whose they are."""

    def __init__(self, channels, people, classes, bands=4, components=20, filters=10, experts=4):
        super().__init__()
        self.temporal = nn.Conv1d(1, bands, kernel_size=25, padding=12)
        self.spatial = nn.Conv1d(bands * channels, components, kernel_size=1)
        self.norm = SPDBatchNorm(components, n_domains=people)
        self.bimap = DaspBiMap(components, filters, n_experts=experts, n_domains=people)
        self.reeig, self.logeig = ReEig(1e-4), LogEig()
        self.classifier = nn.Linear(filters * (filters + 1) // 2, classes)

    def forward(self, eeg, domain):
        count, channels, samples = eeg.shape
        bands = self.temporal(eeg.reshape(count * channels, 1, samples)).reshape(count, -1, samples)
        parts = self.spatial(bands)
        parts = parts - parts.mean(-1, keepdim=True)
        covariance = parts @ parts.mT / (samples - 1)
        trace = covariance.diagonal(dim1=1, dim2=2).mean(1)[:, None, None]
        covariance = (covariance + covariance.mT) / 2 + 1e-3 * trace * torch.eye(
            covariance.shape[1], device=eeg.device
        )
        return self.classifier(
            self.logeig(self.reeig(self.bimap(self.norm(covariance, domain), domain)))
        )


class Classifier(NeuralNetClassifier):
    """skorch's, with the losses of the routing."""

    def get_loss(self, y_pred, y_true, *args, **kwargs):
        return (
            super().get_loss(y_pred, y_true, *args, **kwargs) + self.module_.bimap.auxiliary_loss()
        )


def standardised(trials):
    """Common average reference, 4–40 Hz, and one scale per trial: how channels and bands compare is
    what tells the classes apart."""
    eeg = trials["eeg"] - trials["eeg"].mean(1, keepdims=True)
    spectrum, frequencies = np.fft.rfft(eeg), np.fft.rfftfreq(eeg.shape[-1], 1 / RATE)
    eeg = np.fft.irfft(spectrum * ((frequencies >= 4) & (frequencies <= 40)), eeg.shape[-1])
    eeg = eeg / (eeg.std((1, 2), keepdims=True) + 1e-9)
    return SliceDict(eeg=eeg.astype(np.float32), domain=trials["domain"])


def simulated(people, trials, channels=16, samples=320, seed=0):
    """A rhythm of 11 Hz over each hand, one weaker than the other, in heads that mix the sources
    differently."""
    rng = np.random.default_rng(seed)
    eeg, labels, domain = [], [], []
    common, time = rng.standard_normal((channels, 2)), np.arange(samples) / RATE
    for person in range(people):
        mixing = common + 0.5 * rng.standard_normal((channels, 2))
        for trial in range(trials):
            y = trial % 2
            size = np.array([1.5, 0.7] if y else [0.7, 1.5])[:, None]
            sources = size * np.sin(2 * np.pi * 11 * time + rng.uniform(0, 2 * np.pi, (2, 1)))
            eeg.append(mixing @ sources + 1.5 * rng.standard_normal((channels, samples)))
            labels.append(y)
            domain.append(person)
    return np.array(eeg, dtype=np.float32), np.array(labels), np.array(domain)


def recorded(folder):
    """Two seconds of every trial, half a second after its cue, of all people in a folder."""
    eeg, labels, domain = [], [], []
    people = sorted({file.name[:4] for file in Path(folder).rglob("S*R06.edf")})
    if not people:
        raise SystemExit(f"{folder} has no recordings such as S001R06.edf.")
    for person, name in enumerate(people):
        for run in RUNS:
            file = next(Path(folder).rglob(f"{name}R{run:02}.edf"))
            recording = stiefel.read_raw(file)
            if recording.sfreq != RATE:
                raise SystemExit(f"{file} has {recording.sfreq} samples per second, not {RATE}.")
            for sample, _, _, label in recording.events:
                begin = sample + int(0.5 * recording.sfreq)
                part = recording.data[:, begin : begin + int(2 * recording.sfreq)]
                if label in ("T1", "T2") and part.shape[1] == int(2 * recording.sfreq):
                    eeg.append(part)
                    labels.append(int(label == "T2"))
                    domain.append(person)
    return np.array(eeg, dtype=np.float32), np.array(labels), np.array(domain)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument("--data", help="a folder with recordings; without it the EEG is simulated")
    parser.add_argument("--people", type=int, default=4, help="simulated people")
    parser.add_argument("--trials", type=int, default=60, help="simulated trials of each")
    parser.add_argument("--epochs", type=int, default=10)
    options = parser.parse_args()
    torch.manual_seed(0)

    eeg, y, domain = (
        simulated(options.people, options.trials)
        if options.data is None
        else recorded(options.data)
    )
    print(
        f"{len(y)} trials of {domain.max() + 1} people, {eeg.shape[1]} channels, {eeg.shape[2]} samples"
    )
    test = np.zeros(len(y), dtype=bool)
    for person in np.unique(domain):  # the last quarter of everybody's trials
        own = np.flatnonzero(domain == person)
        test[own[3 * len(own) // 4 :]] = True

    pipeline = make_pipeline(
        FunctionTransformer(standardised),
        Classifier(
            RoutedTSMNet, module__channels=eeg.shape[1], module__people=int(domain.max()) + 1, module__classes=2, criterion=nn.CrossEntropyLoss,
            optimizer=RiemannianAdam, lr=0.005, batch_size=32, max_epochs=options.epochs, train_split=None, iterator_train__shuffle=True, verbose=0,
        ),
    )  # fmt: skip
    trials = SliceDict(eeg=eeg, domain=domain)
    pipeline.fit(trials[~test], y[~test])
    print(
        f"accuracy on {test.sum()} later trials: {(pipeline.predict(trials[test]) == y[test]).mean():.3f}\n"
    )

    tensors = {
        part: standardised(trials[rows]) for part, rows in (("train", ~test), ("test", test))
    }
    tensors = {
        part: (torch.from_numpy(x["eeg"]), torch.from_numpy(x["domain"]))
        for part, x in tensors.items()
    }
    print(
        routing_report(
            pipeline[-1].module_,
            tensors["test"][0],
            torch.from_numpy(y[test]),
            tensors["test"][1],
            *tensors["train"],
        )
    )


if __name__ == "__main__":
    main()
