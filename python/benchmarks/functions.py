"""Times of the functions of `stiefel.spd` beside pyRiemann's, one thread.

    python benchmarks/functions.py [--matrices 1000] [--channels 22] [--repeats 21]
    python benchmarks/functions.py --single

With --single, functions built on an eigen-decomposition are called with one matrix at a time, of 8
to 128 channels. Times are those of the processor, so that other programs disturb them less.

Ends with an error where a function built on an eigen-decomposition is less than three times as fast
as its peer, or, called with one matrix, or
another function, is slower than its peer.
"""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import argparse
import time
import warnings
from functools import partial

import numpy as np
from pyriemann.geometry import base, distance, geodesic, kernel, mean, median, tangentspace

from stiefel import spd

warnings.simplefilter("ignore")
EIGEN, OTHER = 3.0, 1.0
# Where both are one and the same operation of NumPy, repeated runs differ by this much.
SAME = 0.9


def cases(x, y, c, d):
    """Name, floor of the ratio, ours, theirs: every function with a peer; those that only choose
    one by name are left out."""
    few, options = x[:60], {"tol": 1e-9, "maxiter": 100}
    vague = {"tol": 1e-4, "maxiter": 50}
    vectors = tangentspace.tangent_space(x, c)
    tangents = tangentspace.unupper(vectors)
    for name, floor, peers, *arguments in [
        ("logm", EIGEN, base, x),
        ("expm", EIGEN, base, x),
        ("sqrtm", EIGEN, base, x),
        ("invsqrtm", EIGEN, base, x),
        ("powm", EIGEN, base, x, 0.3),
        ("distance_riemann", EIGEN, distance, x, y),
        ("distance_logeuclid", EIGEN, distance, x, y),
        ("distance_wasserstein", EIGEN, distance, x, y),
        ("pairwise_distance", EIGEN, distance, few),
        ("mean_logeuclid", EIGEN, mean, x),
        ("mean_poweuclid", EIGEN, mean, x, 0.3),
        ("mean_riemann", EIGEN, mean, x, options),
        ("geodesic_riemann", EIGEN, geodesic, x, y, 0.3),
        ("geodesic_logeuclid", EIGEN, geodesic, x, y, 0.3),
        ("log_map_riemann", EIGEN, tangentspace, x, c),
        ("log_map_riemann", EIGEN, tangentspace, x, c, {"C12": True}),
        ("exp_map_riemann", EIGEN, tangentspace, tangents, c),
        ("exp_map_riemann", EIGEN, tangentspace, tangents, c, {"Cm12": True}),
        ("log_map_logeuclid", EIGEN, tangentspace, x, c),
        ("exp_map_logeuclid", EIGEN, tangentspace, tangents, c),
        ("distance_thompson", EIGEN, distance, x, y),
        ("distance_poweuclid", EIGEN, distance, x, y, 0.3),
        ("mean_power", EIGEN, mean, x, 0.3),
        ("mean_wasserstein", EIGEN, mean, x, vague),
        ("median_riemann", EIGEN, median, x, vague),
        ("geodesic_thompson", EIGEN, geodesic, x, y, 0.3),
        ("geodesic_wasserstein", EIGEN, geodesic, x, y, 0.3),
        ("log_map_wasserstein", EIGEN, tangentspace, x, c),
        ("exp_map_wasserstein", OTHER, tangentspace, tangents, c),
        ("kernel_riemann", EIGEN, kernel, x, None, {"Cref": c}),
        ("tangent_space", EIGEN, tangentspace, x, c),
        ("untangent_space", EIGEN, tangentspace, vectors, c),
        ("ddexpm", OTHER, base, tangents, c),
        ("ddlogm", OTHER, base, tangents, c),
        ("mean_euclid", OTHER, mean, x),
        ("mean_harmonic", OTHER, mean, x),
        ("distance_euclid", OTHER, distance, x, y),
        ("distance_harmonic", OTHER, distance, x, y),
        ("distance_kullback", OTHER, distance, x, y),
        ("distance_kullback_right", OTHER, distance, x, y),
        ("distance_kullback_sym", OTHER, distance, x, y),
        ("distance_logdet", OTHER, distance, x, y),
        ("distance_chol", OTHER, distance, x, y),
        ("distance_logchol", OTHER, distance, x, y),
        ("distance_mahalanobis", OTHER, distance, x, y),
        ("mean_chol", OTHER, mean, x),
        ("mean_logchol", OTHER, mean, x),
        ("mean_kullback_sym", OTHER, mean, x),
        ("mean_logdet", OTHER, mean, x, vague),
        ("geodesic_chol", OTHER, geodesic, x, y, 0.3),
        ("geodesic_logchol", OTHER, geodesic, x, y, 0.3),
        ("log_map_logchol", OTHER, tangentspace, x, c),
        ("exp_map_logchol", OTHER, tangentspace, tangents, c),
        ("innerproduct_logchol", OTHER, tangentspace, tangents, x, c),
        ("transport_logchol", OTHER, tangentspace, tangents, c, d),
        ("geodesic_euclid", OTHER, geodesic, x, y, 0.3),
        ("log_map_euclid", SAME, tangentspace, x, c),
        ("exp_map_euclid", SAME, tangentspace, x, c),
        ("upper", OTHER, tangentspace, x),
        ("unupper", OTHER, tangentspace, vectors),
        ("innerproduct_riemann", OTHER, tangentspace, tangents, x, c),
        ("norm", OTHER, tangentspace, tangents, c),
        ("transport_riemann", OTHER, tangentspace, tangents, c, d),
    ]:
        named = arguments.pop() if isinstance(arguments[-1], dict) else {}
        label = (
            f"{name}, {next(iter(named))}"
            if any(value is True for value in named.values())
            else name
        )
        ours, theirs = getattr(spd, name), getattr(peers, name)
        yield label, floor, partial(ours, *arguments, **named), partial(theirs, *arguments, **named)


def best(functions, repeats, calls=1):
    """The least time of each function, taken in turns, so that a slow moment of the machine meets
    all of them."""
    times = [[] for _ in functions]
    for _ in range(repeats + 1):
        for function, taken in zip(functions, times, strict=True):
            start = time.process_time()
            for _ in range(calls):
                function()
            taken.append((time.process_time() - start) / calls)
    # The first call warms up.
    return [min(taken[1:]) for taken in times]


def covariances(matrices, channels):
    """Two stacks and two single matrices."""
    rng = np.random.default_rng(0)
    a = rng.standard_normal((2 * matrices + 2, channels, 4 * channels))
    all_ = a @ np.swapaxes(a, 1, 2) / a.shape[-1]
    return all_[:matrices], all_[matrices:-2], all_[-2], all_[-1]


def one_by_one(repeats):
    """Names of functions that are slower than their peer with one matrix of some size."""
    sizes, needed, ratios = (8, 16, 22, 32, 64, 96, 128), 1.0, {}
    for n in sizes:
        for name, floor, ours, theirs in cases(*covariances(1, n)):
            if floor == EIGEN and name != "pairwise_distance":
                mine, other = best((ours, theirs), repeats, calls=max(1, 2000 // n))
                ratios.setdefault(name, []).append(other / mine)
    print(f"one matrix, float64, one thread, best of {repeats}: times as fast as pyRiemann")
    print(f"{'function':<28}" + "".join(f"{f'n = {n}':>9}" for n in sizes))
    for name, found in ratios.items():
        print(f"{name:<28}" + "".join(f"{ratio:>9.2f}" for ratio in found))
    return [name for name, found in ratios.items() if min(found) < needed]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--matrices", type=int, default=1000)
    parser.add_argument("--channels", type=int, default=22)
    parser.add_argument("--repeats", type=int, default=21)
    parser.add_argument(
        "--single", action="store_true", help="one matrix at a time, of several sizes"
    )
    options = parser.parse_args()
    if options.single:
        short = one_by_one(options.repeats)
        if short:
            raise SystemExit(f"slower than required: {', '.join(short)}")
        return
    print(
        f"{options.matrices} matrices of {options.channels} × {options.channels}, float64, one thread, best of {options.repeats}, ms"
    )
    print(f"{'function':<28}{'stiefel':>9}{'pyRiemann':>11}{'ratio':>8}{'needed':>8}")
    short = []
    for name, floor, ours, theirs in cases(*covariances(options.matrices, options.channels)):
        mine, other = best((ours, theirs), options.repeats)
        print(f"{name:<28}{1e3 * mine:>9.2f}{1e3 * other:>11.2f}{other / mine:>8.2f}{floor:>8.1f}")
        if other / mine < floor:
            short.append(name)
    if short:
        raise SystemExit(f"slower than required: {', '.join(short)}")


if __name__ == "__main__":
    main()
