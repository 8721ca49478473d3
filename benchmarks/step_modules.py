"""One training step of DASP in PyTorch, batch 32: modules of stiefel.torch beside the same step
with spd_learn's layers, one thread each; and LogEig alone.

The step is that of step_pytorch.py: forward, backward and Adam, experts and anchor along the
Stiefel manifold. Both sides are PyTorch; what differs is who
computes. The package must be installed with its kernels compiled for release (pip install
./python).
"""

import peers  # first: it sets the number of threads

import sys
import time

import step_pytorch
import torch
from spd_learn.modules import LogEig
from torch.nn.functional import cross_entropy

import stiefel.torch

BATCH = step_pytorch.BATCH
ROWS = [
    {"type": kind, "n": n, "k": k, "experts": experts, "domains": domains, "encoded": encoded}
    for n, k, experts, domains, encoded in ((60, 30, 8, 10, 40), (22, 20, 8, 9, None))
    for kind in ("f32", "f64")
]
DTYPES = {"f32": torch.float32, "f64": torch.float64}


def modules(row):
    """The same model and batch of stiefel.torch, as a step to call."""
    torch.manual_seed(0)
    dtype, n, high = DTYPES[row["type"]], row["n"], row["encoded"] is not None
    net = stiefel.torch.DaspNet(
        n,
        row["k"],
        row["experts"],
        row["domains"],
        2,
        dsp_rank=row["encoded"],
        align=0.05 if high else 0.0,
        decoupled_keys=high,
        dtype=dtype,
    )
    g = torch.randn(BATCH, n, 2 * n, dtype=dtype)
    x = g @ g.mT / (2 * n) + 0.5 * torch.eye(n, dtype=dtype)
    x = (x + x.mT) / 2
    rows = torch.randn(BATCH, row["encoded"] or n * (n + 1) // 2, dtype=dtype)
    domains, labels = torch.arange(BATCH) % row["domains"], torch.arange(BATCH) % 2
    adam = stiefel.torch.RiemannianAdam(net.parameters(), fused=True)

    def step():
        net.zero_grad(set_to_none=True)
        loss = cross_entropy(net(x, domains, rows), labels)
        if high:
            loss = loss + net.auxiliary_loss()
        loss.backward()
        adam.step()

    return step


def logarithm(layer, n, dtype):
    """Forward and backward of LogEig alone."""
    g = torch.randn(BATCH, n, 2 * n, dtype=dtype)
    x = g @ g.mT / (2 * n)
    x = ((x + x.mT) / 2).requires_grad_()
    weights = torch.randn(BATCH, n * (n + 1) // 2, dtype=dtype)

    def step():
        x.grad = None
        (layer(x) * weights).sum().backward()

    return step


def timed(step, times):
    """Seconds of the processor of each of so many calls: both sides have one thread, and neighbours
    on the machine count less."""
    seconds = []
    for _ in range(times):
        start = time.process_time()
        step()
        seconds.append(time.process_time() - start)
    return seconds


def contenders():
    for row in ROWS:
        yield (
            f"step    n={row['n']:2} k={row['k']} K={row['experts']} {row['type']}",
            modules(row),
            step_pytorch.problem(row, False),
        )
    for n in (22, 60):
        for kind, dtype in DTYPES.items():
            yield (
                f"LogEig  n={n:2}           {kind}",
                logarithm(stiefel.torch.LogEig(), n, dtype),
                logarithm(LogEig(), n, dtype),
            )


def main():
    parser = peers.arguments(__doc__.splitlines()[0], rounds=8)
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(
        f"batch {BATCH}, one thread, milliseconds of the processor; {options.repeats} measurements of {options.rounds} rounds: middle (smallest–largest) of 10th percentiles"
    )
    print(f"{'':32} {'stiefel.torch':>20} {'spd_learn':>22} {'ratio':>20}")
    for name, ours, theirs in contenders():
        timed(ours, 3)
        timed(theirs, 3)
        found = []
        for _ in range(options.repeats):
            seconds = ([], [])
            for _ in range(options.rounds):
                for own, step in zip(seconds, (ours, theirs)):
                    own += timed(step, 4)
            found.append([peers.tenth_percentile(own) * 1e3 for own in seconds])
        columns = [[f[0] for f in found], [f[1] for f in found], [f[1] / f[0] for f in found]]
        print(
            f"{name:32} {peers.spread(columns[0]):>20} {peers.spread(columns[1]):>22} {peers.spread(columns[2]):>20}"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
