"""Times of the functions of `stiefel.spd` beside pyRiemann's, one thread.

    python benchmarks/functions.py [--matrices 1000] [--channels 22] [--repeats 7]

Times are those of the processor, so that other programs disturb them less.

Ends with an error where a function built on an eigen-decomposition is less than three times as fast as its peer, or another one
is slower than its peer by more than what repeated runs differ by.
"""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import argparse
import time
import warnings

import numpy as np
from pyriemann.geometry import base, distance, geodesic, mean, tangentspace

from stiefel import spd

warnings.simplefilter("ignore")
EIGEN, OTHER = 3.0, 0.9


def cases(x, y, c):
    """Name, floor of the ratio, ours, theirs."""
    options = {"tol": 1e-9, "maxiter": 100}
    yield "logm", EIGEN, lambda: spd.logm(x), lambda: base.logm(x)
    yield "expm", EIGEN, lambda: spd.expm(x), lambda: base.expm(x)
    yield "sqrtm", EIGEN, lambda: spd.sqrtm(x), lambda: base.sqrtm(x)
    yield "invsqrtm", EIGEN, lambda: spd.invsqrtm(x), lambda: base.invsqrtm(x)
    yield "powm", EIGEN, lambda: spd.powm(x, 0.3), lambda: base.powm(x, 0.3)
    yield "distance_riemann", EIGEN, lambda: spd.distance_riemann(x, y), lambda: distance.distance_riemann(x, y)
    yield "distance_logeuclid", EIGEN, lambda: spd.distance_logeuclid(x, y), lambda: distance.distance_logeuclid(x, y)
    yield (
        "distance_wasserstein", EIGEN,
        lambda: spd.distance_wasserstein(x, y), lambda: distance.distance_wasserstein(x, y),
    )  # fmt: skip
    yield (
        "pairwise riemann, 60", EIGEN,
        lambda: spd.pairwise_distance(x[:60]), lambda: distance.pairwise_distance(x[:60]),
    )  # fmt: skip
    yield "mean_logeuclid", EIGEN, lambda: spd.mean_logeuclid(x), lambda: mean.mean_logeuclid(x)
    yield "mean_riemann", EIGEN, lambda: spd.mean_riemann(x, **options), lambda: mean.mean_riemann(x, **options)
    yield "geodesic_riemann", EIGEN, lambda: spd.geodesic_riemann(x, y, 0.3), lambda: geodesic.geodesic_riemann(x, y, 0.3)
    yield "tangent_space", EIGEN, lambda: spd.tangent_space(x, c), lambda: tangentspace.tangent_space(x, c)
    vectors = tangentspace.tangent_space(x, c)
    yield (
        "untangent_space", EIGEN,
        lambda: spd.untangent_space(vectors, c), lambda: tangentspace.untangent_space(vectors, c),
    )  # fmt: skip
    yield "mean_euclid", OTHER, lambda: spd.mean_euclid(x), lambda: mean.mean_euclid(x)
    yield "mean_harmonic", OTHER, lambda: spd.mean_harmonic(x), lambda: mean.mean_harmonic(x)
    yield "distance_euclid", OTHER, lambda: spd.distance_euclid(x, y), lambda: distance.distance_euclid(x, y)
    yield "distance_harmonic", OTHER, lambda: spd.distance_harmonic(x, y), lambda: distance.distance_harmonic(x, y)
    yield "distance_kullback", OTHER, lambda: spd.distance_kullback(x, y), lambda: distance.distance_kullback(x, y)
    yield "distance_logdet", OTHER, lambda: spd.distance_logdet(x, y), lambda: distance.distance_logdet(x, y)
    yield "upper", OTHER, lambda: spd.upper(x), lambda: tangentspace.upper(x)
    yield "unupper", OTHER, lambda: spd.unupper(vectors), lambda: tangentspace.unupper(vectors)
    yield "geodesic_euclid", OTHER, lambda: spd.geodesic_euclid(x, y, 0.3), lambda: geodesic.geodesic_euclid(x, y, 0.3)


def best(function, repeats):
    function()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--matrices", type=int, default=1000)
    parser.add_argument("--channels", type=int, default=22)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    a = rng.standard_normal((2 * options.matrices + 1, options.channels, 4 * options.channels))
    all_ = a @ np.swapaxes(a, 1, 2) / a.shape[-1]
    x, y, c = all_[: options.matrices], all_[options.matrices : -1], all_[-1]
    print(f"{options.matrices} matrices of {options.channels} × {options.channels}, float64, one thread, best of {options.repeats}, ms")
    print(f"{'function':<24}{'stiefel':>9}{'pyRiemann':>11}{'ratio':>8}{'needed':>8}")
    short = []
    for name, floor, ours, theirs in cases(x, y, c):
        mine, other = best(ours, options.repeats), best(theirs, options.repeats)
        print(f"{name:<24}{1e3 * mine:>9.2f}{1e3 * other:>11.2f}{other / mine:>8.2f}{floor:>8.1f}")
        if other / mine < floor:
            short.append(name)
    if short:
        raise SystemExit(f"slower than required: {', '.join(short)}")


if __name__ == "__main__":
    main()
