"""One training step of DASP, batch 32: stiefel beside the same step in PyTorch with spd_learn's
layers, one thread each.

A step is forward, backward and Adam; experts and anchor move along the Stiefel manifold (tangent
gradient, QR retraction):

  q = MLP([x̃; Emb(d)]), α = softmax(q Eᵀ/√m), Δ_j = W_j − W_base sym(W_baseᵀ W_j), W_i = qf(W_base
  + Σ_j α_ij Δ_j)
  logits = Linear(upper(log(ReEig(W_iᵀ X_i W_i))))

Two tails are timed: spd_learn's ReEig and LogEig as they are (two eigen-decompositions), and both
at once on top of spd_learn's own
forward and backward of spectral functions (one decomposition, as in stiefel), which is kinder to
PyTorch.

--check compares losses and gradients with the golden files instead of timing anything.
"""

import peers  # first: it sets the number of threads

import json
import math
import sys

import numpy as np
import torch
from spd_learn.functional import bimap_transform, sym_to_upper
from spd_learn.functional.autograd import modeig_backward, modeig_forward
from spd_learn.modules import LogEig, ReEig
from torch.nn import functional

EPSILON = 1e-4
BATCH = 32


class ReLogEig(torch.autograd.Function):
    """log max(λ, ε) with one decomposition."""

    @staticmethod
    def forward(context, x):
        value, s, u, modified = modeig_forward(x, lambda s: s.clamp(min=EPSILON).log())
        context.save_for_backward(s, u, modified)
        return value

    @staticmethod
    def backward(context, gradient):
        def derivative(s):
            return torch.where(s > EPSILON, s.reciprocal(), torch.zeros_like(s))

        return modeig_backward(gradient, *context.saved_tensors, derivative)


def qf(a):
    """The orthonormal factor with a positive diagonal of R."""
    q, r = torch.linalg.qr(a)
    return q * torch.diagonal(r, dim1=-2, dim2=-1).sign().unsqueeze(-2)


def project(w, z):
    """Z − W sym(WᵀZ)."""
    s = w.mT @ z
    return z - w @ (0.5 * (s + s.mT))


class Dasp(torch.nn.Module):
    """The network with a dedicated anchor; parameters are named as in the golden files."""

    def __init__(
        self,
        n,
        k,
        experts,
        domains,
        encoded,
        width,
        classes,
        alignment,
        decoupled,
        one_decomposition,
        dtype,
    ):
        super().__init__()
        shapes = {
            "w1": (2 * width, encoded + width),
            "b1": (2 * width,),
            "w2": (width, 2 * width),
            "b2": (width,),
            "emb": (domains, width),
            "E": (experts, width),
            "W": (experts, n, k),
            "W_base": (n, k),
            "wc": (classes, k * (k + 1) // 2),
            "bc": (classes,),
        }
        for name, shape in shapes.items():
            start = torch.randn(shape, dtype=dtype)
            start = qf(start) if name in self.STIEFEL else start / math.sqrt(shape[-1])
            self.register_parameter(name, torch.nn.Parameter(start))
        self.alignment, self.decoupled, self.width = alignment, decoupled, width
        self.one_decomposition = one_decomposition
        self.reeig, self.logeig = ReEig(threshold=EPSILON), LogEig()

    STIEFEL = ("W", "W_base")

    def loss(self, x, encoded, domains, labels):
        hidden = functional.gelu(
            functional.linear(torch.cat([encoded, self.emb[domains]], 1), self.w1, self.b1)
        )
        query = functional.linear(hidden, self.w2, self.b2)
        keys = self.E.detach() if self.decoupled else self.E
        alpha = torch.softmax(query @ keys.T / math.sqrt(self.width), dim=1)
        tangents = project(self.W_base, self.W)
        filters = qf(self.W_base + torch.einsum("ij,jnk->ink", alpha, tangents))
        y = bimap_transform(x, filters)
        z = (
            sym_to_upper(ReLogEig.apply(y))
            if self.one_decomposition
            else self.logeig(self.reeig(y))
        )
        loss = functional.cross_entropy(functional.linear(z, self.wc, self.bc), labels)
        if self.alignment:
            winners = self.E[alpha.argmax(1)]
            loss = (
                loss
                + self.alignment
                * (1 - functional.cosine_similarity(query.detach(), winners)).mean()
            )
        return loss


class RiemannianAdam:
    """PyTorch's Adam for what is flat; on the manifold the same moments, a projected direction and
    a QR retraction."""

    def __init__(self, model, rate=0.01, betas=(0.9, 0.999), epsilon=1e-8):
        self.curved = [getattr(model, name) for name in model.STIEFEL]
        flat = [p for name, p in model.named_parameters() if name not in model.STIEFEL]
        self.flat = torch.optim.Adam(flat, lr=rate, betas=betas, eps=epsilon, fused=True)
        self.rate, self.betas, self.epsilon, self.steps = rate, betas, epsilon, 0
        self.moments = [(torch.zeros_like(p), torch.zeros_like(p)) for p in self.curved]

    @torch.no_grad()
    def step(self):
        self.flat.step()
        self.steps += 1
        (b1, b2), t = self.betas, self.steps
        for w, (first, second) in zip(self.curved, self.moments):
            g = project(w, w.grad)
            first.lerp_(g, 1 - b1)
            second.mul_(b2).addcmul_(g, g, value=1 - b2)
            scale = (second / (1 - b2**t)).sqrt_().add_(self.epsilon)
            w.copy_(qf(w - self.rate / (1 - b1**t) * project(w, first / scale)))
            first.copy_(project(w, first))


def problem(row, one_decomposition):
    """The model and the batch of a row that the Rust benchmark printed, as a step to call."""
    torch.manual_seed(0)
    dtype = {"f32": torch.float32, "f64": torch.float64}[row["type"]]
    n, high = row["n"], row["encoded"] is not None
    encoded = row["encoded"] if high else n * (n + 1) // 2
    model = Dasp(
        n,
        row["k"],
        row["experts"],
        row["domains"],
        encoded,
        width=20,
        classes=2,
        alignment=0.05 if high else 0.0,
        decoupled=high,
        one_decomposition=one_decomposition,
        dtype=dtype,
    )
    g = torch.randn(BATCH, n, 2 * n, dtype=dtype)
    x = g @ g.mT / (2 * n) + 0.5 * torch.eye(n, dtype=dtype)
    inputs = torch.randn(BATCH, encoded, dtype=dtype)
    domains, labels = torch.arange(BATCH) % row["domains"], torch.arange(BATCH) % 2
    adam = RiemannianAdam(model)

    def step():
        model.zero_grad(set_to_none=True)
        model.loss(x, inputs, domains, labels).backward()
        adam.step()

    return step


def measure(options):
    """For each row, 10th percentiles of stiefel, of the two-decomposition tail and of the
    one-decomposition tail."""
    rows, ours, theirs = [], [], []
    for turn in range(options.rounds):
        rows = peers.stiefel(options.binary, "step", "--json", "--rounds", 20)
        if turn == 0:
            steps = [[problem(row, one) for one in (False, True)] for row in rows]
            ours, theirs = [[] for _ in rows], [([], []) for _ in rows]
            for pair in steps:
                for step in pair:
                    peers.timed(step, 3)  # to warm up
        for at, row in enumerate(rows):
            ours[at] += row["times"]
            for step, seconds in zip(steps[at], theirs[at]):
                seconds += peers.timed(step, 6)
    percentile = peers.tenth_percentile
    return rows, [[percentile(o), *map(percentile, pair)] for o, pair in zip(ours, theirs)]


def check():
    """Losses and gradients against the golden files; says how far off they are and whether that is
    too far."""
    good = True
    for name in ("small_dasp_full", "medium_ded_nodsp", "bnci2014001_ded", "weibo_dasp_full"):
        golden = np.load(peers.ROOT / "golden" / f"{name}.npz")
        c = json.loads((peers.ROOT / "golden" / f"{name}.json").read_text())["conventions"][
            "config"
        ]
        for one_decomposition in (False, True):
            model = Dasp(
                c["n"],
                c["k"],
                c["K"],
                c["D"],
                golden["xt"].shape[1],
                c["m"],
                c["C"],
                c["lam_align"],
                c["decouple"],
                one_decomposition,
                torch.float64,
            )
            with torch.no_grad():
                for key, parameter in model.named_parameters():
                    parameter.copy_(torch.from_numpy(golden[f"p_{key}"]))
            x, encoded, domains, labels = (
                torch.from_numpy(golden[key]) for key in ("X", "xt", "d", "y")
            )
            loss = model.loss(x, encoded, domains, labels)
            loss.backward()
            worst = abs(loss.item() / golden["loss_total"].item() - 1)
            for key, parameter in model.named_parameters():
                expected = golden[f"g_{key}"]
                found = (
                    np.zeros_like(expected) if parameter.grad is None else parameter.grad.numpy()
                )
                worst = max(
                    worst,
                    np.linalg.norm(found - expected)
                    / max(np.linalg.norm(expected), 1e-300 if expected.any() else 1.0),
                )
            good &= worst < 1e-9
            print(
                f"{name:20} {'one decomposition' if one_decomposition else 'spd_learn layers':18} worst relative error {worst:.1e}"
            )
    return good


def main():
    parser = peers.arguments(__doc__.splitlines()[0], rounds=8)
    parser.add_argument(
        "--check", action="store_true", help="compare with the golden files, and time nothing"
    )
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.check:
        sys.exit(0 if check() else "too far from the golden files")
    measured = []
    for _ in range(options.repeats):
        rows, figures = measure(options)
        measured.append(figures)
    print(
        f"training step of DASP, batch {BATCH}, one thread, milliseconds; ratios are PyTorch's time to stiefel's"
    )
    print(
        f"{options.repeats} measurements of {options.rounds} rounds: middle (smallest–largest) of the 10th percentiles\n"
    )
    print(
        f"{'geometry':>12} type   n   k   K    {'stiefel':>20}  {'PyTorch':>22}  {'ratio':>20}  {'ratio, one decomposition':>24}"
    )
    for at, row in enumerate(rows):
        ours, layers, one = ([figures[at][i] * 1e3 for figures in measured] for i in range(3))
        ratios = [[t / o for t, o in zip(theirs, ours)] for theirs in (layers, one)]
        print(
            f"{row['geometry']:>12} {row['type']:>4} {row['n']:>3} {row['k']:>3} {row['experts']:>3}    "
            f"{peers.spread(ours):>20}  {peers.spread(layers):>22}  {peers.spread(ratios[0]):>20}  {peers.spread(ratios[1]):>24}"
        )


if __name__ == "__main__":
    main()
