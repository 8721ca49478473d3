"""From EDF files to covariances: MNE-Python and SciPy beside stiefel, one thread each, interleaved.

    cargo build --release -p stiefel-eeg --example eeg_speed
    python benchmarks/eeg_mne.py FOLDER [--binary target/release/examples/eeg_speed] [--blocks 5]
    [--rounds 5]

FOLDER/edf holds PhysioNet EEG Motor Movement/Imagery recordings (SsssRrr.edf, runs 4, 6, 8, 10, 12,
14). Both sides read
each file, band-pass it 8-32 Hz (Butterworth of order 4, zero phase), cut 0.5-3.5 s after each cue
T1 and T2 and estimate the
sample covariance of every trial. The sides take turns, block by block. A block's figure is the sum
over the files of the
10th percentile of their seconds, a side's figure its best block. Needs mne, numpy and scipy; made
with mne 1.13, scipy 1.17, numpy 2.4.
"""

import os

for variable in (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
):
    os.environ[variable] = "1"

import argparse
import json
import pathlib
import subprocess
import time

import mne
import numpy as np
from scipy import signal

mne.set_log_level("ERROR")
START, STOP = 0.5, 3.5


def covariances(path):
    """The sample covariances (µV²) of the trials of one recording."""
    raw = mne.io.read_raw_edf(path, preload=True)
    rate = raw.info["sfreq"]
    sos = signal.butter(4, [8, 32], "bandpass", fs=rate, output="sos")
    x = signal.sosfiltfilt(sos, raw.get_data() * 1e6)
    length = round((STOP - START) * rate)
    result = []
    for onset, label in zip(raw.annotations.onset, raw.annotations.description):
        start = round(onset * rate) + round(START * rate)
        if label in ("T1", "T2") and start + length <= x.shape[1]:
            result.append(np.cov(x[:, start : start + length]))
    return np.array(result)


def tenth_percentile(seconds):
    return sorted(seconds)[len(seconds) // 10]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--binary", default="target/release/examples/eeg_speed")
    parser.add_argument("--blocks", type=int, default=5, help="turns that each side takes")
    parser.add_argument("--rounds", type=int, default=5, help="passes over all files in a turn")
    arguments = parser.parse_args()
    files = sorted((arguments.folder / "edf").glob("S*R*.edf"))

    ours, theirs = [], []
    for _ in range(arguments.blocks):
        command = [arguments.binary, str(arguments.folder), str(arguments.rounds)]
        figures = json.loads(
            subprocess.run(command, check=True, capture_output=True, text=True).stdout
        )
        ours.append(figures["seconds"])
        matrices = [covariances(path) for path in files]
        seconds = {path: [] for path in files}
        for _ in range(arguments.rounds):
            for path in files:
                start = time.perf_counter()
                covariances(path)
                seconds[path].append(time.perf_counter() - start)
        theirs.append(sum(map(tenth_percentile, seconds.values())))

    # The two sides must have computed the same thing.
    trials, checksum = sum(map(len, matrices)), float(sum(m.sum() for m in matrices))
    if trials != figures["trials"] or abs(checksum - figures["checksum"]) > 1e-8 * abs(checksum):
        raise SystemExit(f"the sides differ: {trials} trials, sum {checksum} against {figures}")
    a, b = min(ours), min(theirs)
    print(f"{len(files)} files, {trials} trials; mne {mne.__version__}")
    print(f"stiefel     {1e3 * a / len(files):7.2f} ms per file")
    print(f"MNE + SciPy {1e3 * b / len(files):7.2f} ms per file")
    print(f"ratio       {b / a:7.2f}")


if __name__ == "__main__":
    main()
