"""The Fréchet mean of 500 covariances, 22 × 22: stiefel beside pyRiemann's mean_riemann, one thread
each.

Both stop on the same quantity, ‖J‖_F with J = mean_i log(M^-1/2 X_i M^-1/2), but not at the same
place: stiefel accepts an M whose
own J is below the tolerance, pyRiemann stops once the J of the M *before* the last one is, and has
then moved once more. So two
ratios are printed:

  same call        both are given the tolerance as it is; pyRiemann's answer is then better than asked for
  same residual    pyRiemann is told the fewest iterations after which its answer meets the tolerance, as if it had known

Every residual printed is computed here, from the answers alone, by the same NumPy code for both.
"""

import peers  # first: it sets the number of threads

import tempfile
import warnings
from pathlib import Path

import numpy as np
from pyriemann.geometry.mean import mean_riemann


def power(matrices, function):
    """U f(λ) Uᵀ."""
    values, vectors = np.linalg.eigh(matrices)
    return (vectors * function(values)[..., None, :]) @ np.swapaxes(vectors, -1, -2)


def residual(mean, matrices):
    """‖mean log(M^-1/2 X M^-1/2)‖_F."""
    whitener = power(mean, lambda x: 1 / np.sqrt(x))
    return np.linalg.norm(power(whitener @ matrices @ whitener, np.log).mean(axis=0))


def distance(a, b):
    """The affine-invariant distance."""
    whitener = power(a, lambda x: 1 / np.sqrt(x))
    return np.linalg.norm(np.log(np.linalg.eigvalsh(whitener @ b @ whitener)))


def after(matrices, iterations):
    """pyRiemann's answer after so many iterations."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it has not converged is what was asked for
        return mean_riemann(matrices, tol=1e-300, maxiter=iterations)


def fewest_iterations(matrices, tolerance):
    """The fewest iterations after which pyRiemann's answer meets the tolerance."""
    for iterations in range(1, 100):
        if residual(after(matrices, iterations), matrices) <= tolerance:
            return iterations
    raise SystemExit("pyRiemann does not reach the tolerance in 100 iterations")


def measure(options, file, matrices, iterations):
    """Seconds of stiefel, of pyRiemann called alike, and of pyRiemann told when to stop; 10th
    percentiles."""
    ours, called, told = [], [], []
    for _ in range(options.rounds):
        figures = peers.stiefel(
            options.binary,
            "frechet",
            file,
            "--json",
            "--rounds",
            4,
            "--tolerance",
            options.tolerance,
        )
        ours += figures["times"]
        called += peers.timed(lambda: mean_riemann(matrices, tol=options.tolerance, maxiter=100))
        told += peers.timed(lambda: after(matrices, iterations))
    return [peers.tenth_percentile(seconds) for seconds in (ours, called, told)]


def main():
    parser = peers.arguments(__doc__.splitlines()[0], rounds=12)
    parser.add_argument("--tolerance", type=float, default=1e-8)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file, answer = Path(folder) / "covariances.npy", Path(folder) / "mean.npy"
        peers.stiefel(options.binary, "data", file)
        matrices = np.load(file)
        figures = peers.stiefel(
            options.binary,
            "frechet",
            file,
            "--json",
            "--rounds",
            1,
            "--tolerance",
            options.tolerance,
            "--mean",
            answer,
        )
        ours = np.load(answer)[0]
        called = mean_riemann(matrices, tol=options.tolerance, maxiter=100)
        iterations = fewest_iterations(matrices, options.tolerance)
        told = after(matrices, iterations)
        measured = [measure(options, file, matrices, iterations) for _ in range(options.repeats)]

    print(
        f"Fréchet mean of {len(matrices)} matrices {matrices.shape[1]} × {matrices.shape[2]}, tolerance {options.tolerance:g}, one thread"
    )
    print(
        f"{options.repeats} measurements of {options.rounds} rounds: middle (smallest–largest) of the 10th percentiles\n"
    )
    print(f"{'':28}{'residual':>10}  milliseconds")
    rows = [
        (f"stiefel ({figures['iterations']} evaluations)", ours),
        ("pyRiemann, same call", called),
        (f"pyRiemann, {iterations} iterations", told),
    ]
    for column, (name, mean) in enumerate(rows):
        times = peers.spread([seconds[column] * 1e3 for seconds in measured], 1)
        print(f"{name:28}{residual(mean, matrices):>10.1e}  {times}")
    print(f"\nratio, same call       {peers.spread([s[1] / s[0] for s in measured])}")
    print(f"ratio, same residual   {peers.spread([s[2] / s[0] for s in measured])}")
    print(
        f"distance of the answers, stiefel to pyRiemann: {distance(ours, called):.1e} (relative to the mean, affine-invariant)"
    )
    print(f"‖M − M'‖_F/‖M'‖_F: {np.linalg.norm(ours - called) / np.linalg.norm(called):.1e}")


if __name__ == "__main__":
    main()
