"""Reading large files: stiefel beside MNE-Python with preload, seconds and peak memory.

    python benchmarks/read_large.py FOLDER [--megabytes 200] [--rounds 8]

Makes one file of each kind in FOLDER by repeating a block of random samples (EDF, BDF, BrainVision,
FIF, EEGLAB), then reads it in a process of its own, the
sides in turn; a figure is the best round. Memory is the peak of the process minus its size after
the imports, over the bytes of the samples as float64.
Needs stiefel, mne, edfio, scipy and Linux (/proc).
"""

import argparse
import json
import pathlib
import subprocess
import sys

CHILD = """
import json, sys, time
side, path = sys.argv[1:]
import numpy as np
if side == "stiefel":
    import stiefel
    stiefel.read_raw  # imported
else:
    import mne
    mne.set_log_level("ERROR")
    kind = path.rsplit(".", 1)[1]
    read = {"edf": mne.io.read_raw_edf, "bdf": mne.io.read_raw_bdf, "vhdr": mne.io.read_raw_brainvision, "fif": mne.io.read_raw_fif, "set": mne.io.read_raw_eeglab}[kind]
def status(key):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(key))
# The peak of a process is inherited from the one that started it: begin anew.
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
base = status("VmRSS")
start = time.perf_counter()
if side == "stiefel":
    data = stiefel.read_raw(path).data
else:
    data = read(path, preload=True)._data
seconds = time.perf_counter() - start
peak = status("VmHWM")
print(json.dumps({"seconds": seconds, "memory": (peak - base) * 1024 / data.nbytes, "shape": data.shape}))
"""


def make(folder, megabytes):
    import mne
    import numpy as np
    from edfio import Bdf, BdfSignal, Edf, EdfSignal

    mne.set_log_level("ERROR")
    rng = np.random.default_rng(0)
    rate, channels = 512, 64
    files = []
    block = rng.standard_normal((channels, rate * 10)) * 20
    for name, kind, signal, size in [
        ("large.edf", Edf, EdfSignal, 2),
        ("large.bdf", Bdf, BdfSignal, 3),
    ]:
        path = folder / name
        if not path.exists():
            small = kind(
                [
                    signal(
                        row,
                        rate,
                        label=f"E{i}",
                        physical_dimension="uV",
                        physical_range=(-200, 200),
                    )
                    for i, row in enumerate(block)
                ]
            )
            small.write(path)
            raw = path.read_bytes()
            head, body = bytearray(raw[: 256 * (channels + 1)]), raw[256 * (channels + 1) :]
            times = megabytes * 1_000_000 // len(body)
            head[236:244] = str(10 * times).encode().ljust(8)
            with open(path, "wb") as out:
                out.write(head)
                for _ in range(times):
                    out.write(body)
        files.append(path)
    path = folder / "large.vhdr"
    if not path.exists():
        body = block.T.astype("<f4").tobytes()
        with open(folder / "large.eeg", "wb") as out:
            for _ in range(megabytes * 1_000_000 // len(body)):
                out.write(body)
        (folder / "large.vmrk").write_text(
            "Brain Vision Data Exchange Marker File, Version 1.0\n[Common Infos]\nDataFile=large.eeg\n[Marker Infos]\n"
        )
        rows = "\n".join(f"Ch{i + 1}=E{i},,1,µV" for i in range(channels))
        path.write_text(
            "Brain Vision Data Exchange Header File Version 1.0\n[Common Infos]\nCodepage=UTF-8\nDataFile=large.eeg\nMarkerFile=large.vmrk\nDataFormat=BINARY\n"
            f"DataOrientation=MULTIPLEXED\nNumberOfChannels={channels}\nSamplingInterval={1e6 / rate}\n[Binary Infos]\nBinaryFormat=IEEE_FLOAT_32\n"
            f"[Channel Infos]\n{rows}\n",
            encoding="utf-8",
        )
    files.append(path)
    path = folder / "large_raw.fif"
    if not path.exists():
        times = megabytes * 1_000_000 // (block.size * 4)
        info = mne.create_info([f"E{i}" for i in range(channels)], rate, "eeg")
        mne.io.RawArray(np.tile(block * 1e-6, times), info).save(path, overwrite=True)
    files.append(path)
    path = folder / "large.set"
    if not path.exists():
        import scipy.io

        times = megabytes * 1_000_000 // (block.size * 4)
        with open(folder / "large.fdt", "wb") as out:
            for _ in range(times):
                out.write(block.T.astype("<f4").tobytes())
        names = np.array([(f"E{i}",) for i in range(channels)], dtype=[("labels", object)])
        samples = times * block.shape[1]
        fields = {
            "setname": "large",
            "nbchan": channels,
            "pnts": samples,
            "trials": 1,
            "srate": rate,
            "xmin": 0.0,
            "xmax": (samples - 1) / rate,
            "ref": "common",
        }
        scipy.io.savemat(
            path,
            {
                "EEG": {
                    **fields,
                    "data": "large.fdt",
                    "datfile": "large.fdt",
                    "chanlocs": names,
                    "event": [],
                    "icawinv": [],
                    "icaweights": [],
                    "icasphere": [],
                }
            },
        )
    files.append(path)
    return files


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=8)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for path in make(arguments.folder, arguments.megabytes):
        best = {}
        for _ in range(arguments.rounds):
            for side in ("stiefel", "mne"):
                run = subprocess.run(
                    [sys.executable, "-c", CHILD, side, str(path)],
                    check=True,
                    capture_output=True,
                    text=True,
                )
                figures = json.loads(run.stdout.splitlines()[-1])
                if side not in best or figures["seconds"] < best[side]["seconds"]:
                    best[side] = figures
        a, b = best["stiefel"], best["mne"]
        assert a["shape"] == b["shape"], (a, b)
        print(
            f"{path.name:<14} stiefel {a['seconds']:.3f} s, {a['memory']:.2f} × the data; MNE {b['seconds']:.3f} s, {b['memory']:.2f} ×; ratio {b['seconds'] / a['seconds']:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
