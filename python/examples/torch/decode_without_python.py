"""
Train in PyTorch, decode from the command line
==============================================

The network is trained here and written to a model file; the program ``stiefel`` decodes with it,
without Python. This example needs PyTorch. The program is run
if it is found.
"""

import argparse
import shutil
import subprocess
import tempfile
from pathlib import Path

import torch
from torch.nn.functional import cross_entropy

import stiefel
import stiefel.torch
from stiefel.torch import DaspNet, RiemannianAdam

SOURCE = "synthetic:bnci2015001,subjects=3,sessions=1,trials=30,seed=0"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument(
        "--program",
        default=shutil.which("stiefel"),
        help="the program, if it is not found by itself",
    )
    program = parser.parse_args().program

    data = stiefel.load_synthetic("BNCI2015001", subjects=3, trials_per_class=30, random_state=0)
    classes, people = sorted(set(data.y)), sorted(set(data.domains))
    y = torch.tensor([classes.index(label) for label in data.y])
    domain = torch.tensor([people.index(name) for name in data.domains])

    # The file gets the same options below: the program then whitens its trials as these are
    # whitened.
    options = stiefel.Whitening()
    whitening = stiefel.DomainWhitening(**options.get_params())
    x = torch.from_numpy(whitening.fit_transform(data)).float()

    net = DaspNet(x.shape[1], 8, n_experts=3, n_domains=len(people), n_classes=len(classes))
    optimiser = RiemannianAdam(net.parameters())
    for epoch in range(10):
        loss = cross_entropy(net(x, domain), y) + net.auxiliary_loss()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    print(f"loss after {epoch + 1} steps: {loss.item():.3f}")

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "model.stiefel")
        net.to_stiefel(file, data, whitening=options, classes=classes, domain_names=people)
        again = stiefel.torch.load(file)
        apart = abs(again.predict_proba(data) - stiefel.load(file).predict_proba(data)).max()
        print(f"module and file differ by {apart:.1e}")
        command = ["stiefel", "predict", "model.stiefel", SOURCE]
        print("$", " ".join(command))
        if program is None:
            print("(the program is not installed: cargo install --path crates/cli)")
            return
        done = subprocess.run(
            [program, *command[1:]], cwd=folder, capture_output=True, text=True, check=True
        )
        print("\n".join(done.stdout.splitlines()[:4]), "…", sep="\n")


if __name__ == "__main__":
    main()
