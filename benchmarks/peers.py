"""What the side-by-sides share: one thread, the Rust binary, interleaved rounds, 10th percentiles.

Import this before numpy or torch: the number of threads is read when they load.
"""

import os

for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import argparse
import json
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BINARY = ROOT / "target" / "release" / "stiefel-bench"


def arguments(description, rounds):
    """A parser with what every side-by-side takes."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--binary", type=Path, default=BINARY, help="the Rust benchmarks, built for release"
    )
    parser.add_argument(
        "--rounds", type=int, default=rounds, help="times the contenders take turns"
    )
    parser.add_argument(
        "--repeats",
        type=int,
        default=3,
        help="measurements, each of so many rounds; their spread is printed",
    )
    return parser


def stiefel(binary, *words):
    """Runs the Rust benchmarks; what they print as JSON, or None where they print none."""
    if not Path(binary).exists():
        raise SystemExit(f"{binary} is not built: cargo build --release --package stiefel-bench")
    done = subprocess.run([binary, *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{binary} {' '.join(map(str, words))} failed:\n{done.stderr}")
    return json.loads(done.stdout) if done.stdout.strip() else None


def timed(call, times=1):
    """Seconds of each of so many calls."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return seconds


def tenth_percentile(seconds):
    """What the machine can do when left alone."""
    return sorted(seconds)[len(seconds) // 10]


def spread(values, digits=2):
    """The middle one of several measurements, with the smallest and the largest."""
    ordered = sorted(values)
    middle = ordered[len(ordered) // 2]
    return f"{middle:.{digits}f} ({ordered[0]:.{digits}f}–{ordered[-1]:.{digits}f})"
