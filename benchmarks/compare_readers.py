"""Every file of a folder, read by stiefel and by MNE-Python, pyxdf or SciPy, side by side.

    python benchmarks/compare_readers.py FOLDER

Prints a line for every file: the largest difference of the signal relative to its largest value,
the events of both sides, and what differs. Trials are
compared by their covariances. Where the other side is known to leave something out, it is put right
first, and the line says so. Needs stiefel, mne, pyxdf,
scipy and pymatreader. Exit 1 where a file that both sides read differs by more than 1e-9, or in a
sample of an event.
"""

import pathlib
import re
import sys
import warnings

import mne
import numpy as np

import stiefel

mne.set_log_level("ERROR")
warnings.simplefilter("ignore")
SIGNALS = {
    ".edf": mne.io.read_raw_edf,
    ".bdf": mne.io.read_raw_bdf,
    ".gdf": mne.io.read_raw_gdf,
    ".vhdr": mne.io.read_raw_brainvision,
    ".set": mne.io.read_raw_eeglab,
    ".fif": mne.io.read_raw_fif,
}


def theirs(path):
    """Signal (channels x samples in µV, codes as they are), names, rate, events (sample, label) of
    the other side."""
    if path.suffix == ".xdf":
        return of_xdf(path)
    if path.suffix == ".mat":
        return of_mat(path)
    if path.suffix == ".dat":
        return of_bci2000(path)
    raw = SIGNALS[path.suffix](path, preload=True)
    kinds = raw.get_channel_types()
    scale = np.array(
        [
            1e6
            if k in ("eeg", "eog", "ecg", "emg", "misc", "bio", "ref_meg", "seeg", "ecog")
            else 1.0
            for k in kinds
        ]
    )
    rate, first = raw.info["sfreq"], raw.first_time if raw.info["meas_date"] is not None else 0.0
    events = [
        (int(np.round((a["onset"] - first) * rate)), str(a["description"])) for a in raw.annotations
    ]
    if path.suffix == ".vhdr":
        events = [e for e in events if not e[1].startswith("New Segment")]
    if "stim" in kinds:
        try:
            found = mne.find_events(
                raw,
                consecutive=True,
                shortest_event=1,
                mask=0xFFFF if path.suffix == ".bdf" else None,
                mask_type="and",
            )
            events += [(int(s - raw.first_samp), str(code)) for s, _, code in found]
        except ValueError:
            pass
    onsets = [(a["onset"] - first, str(a["description"])) for a in raw.annotations]
    halves = {
        (int(np.round(t * rate)), label): [int(np.round((t + d) * rate)) for d in (-1e-6, 1e-6)]
        for t, label in onsets
    }
    return raw.get_data() * scale[:, None], raw.ch_names, rate, sorted(events), kinds, halves


def of_bci2000(path):
    """MNE gives the stored numbers and calls them volts; gain and offset of the format's
    documentation make them µV."""
    raw = mne.io.read_raw_bci2k(path, preload=True)
    picks = mne.pick_types(raw.info, eeg=True)
    head = path.read_bytes()[:200_000].decode("latin-1")
    words = lambda name, default: (
        re.search(rf" {name}= \d+ ([^/\r\n]*)", head) or [0, default * len(picks)]
    )[1].split()[: len(picks)]
    gain = np.array([float(re.match(r"[-+.\deE]+", w)[0]) for w in words("SourceChGain", "1 ")])
    offset = np.array([float(w) for w in words("SourceChOffset", "0 ")])
    data = (raw.get_data(picks) - offset[:, None]) * gain[:, None]
    events = (
        [
            (int(e[0]), "StimulusCode:" + str(e[2]))
            for e in mne.find_events(raw, consecutive=True, shortest_event=1)
        ]
        if "stim" in raw
        else []
    )
    return (
        data,
        [raw.ch_names[p] for p in picks],
        raw.info["sfreq"],
        sorted(events),
        ["eeg"] * len(picks),
    )


def trials_of(path):
    """Covariances of the trials of the other side, where the file holds trials: EEGLAB, FIF,
    FieldTrip."""
    if path.suffix == ".mat":
        from pymatreader import read_mat

        trials = next(
            v["trial"] for v in read_mat(str(path)).values() if isinstance(v, dict) and "trial" in v
        )
        return np.stack([np.cov(t) for t in trials])
    read = mne.read_epochs if path.suffix == ".fif" else mne.read_epochs_eeglab
    return np.stack([np.cov(t) for t in read(path).get_data() * 1e6])


def of_xdf(path):
    import pyxdf

    streams, _ = pyxdf.load_xdf(str(path))
    eeg = [s for s in streams if s["info"]["type"][0] == "EEG" and len(s["time_stamps"])] or [
        s for s in streams if float(s["info"]["nominal_srate"][0]) > 0 and len(s["time_stamps"])
    ]
    signal = eeg[0]
    events = []
    for s in streams:
        if s is not signal and s["info"]["channel_format"][0] == "string":
            for value, t in zip(s["time_series"], s["time_stamps"]):
                events.append(
                    (
                        int(np.argmin(np.abs(signal["time_stamps"] - t))),
                        "/".join(v for v in value if v),
                    )
                )
    data = np.asarray(signal["time_series"], float).T
    names = [str(i) for i in range(len(data))]
    return (
        data,
        names,
        float(signal["info"]["nominal_srate"][0]),
        sorted(events),
        ["eeg"] * len(data),
    )


def of_mat(path):
    from pymatreader import read_mat

    found = read_mat(str(path))
    for value in found.values():
        if isinstance(value, dict) and "trial" in value:
            trials = value["trial"]
            data = np.asarray(trials if np.ndim(trials) == 2 else np.concatenate(trials, axis=1))
            return data, list(value["label"]), float(value["fsample"]), [], ["eeg"] * len(data)
    raise ValueError("neither FieldTrip nor a known layout")


def ours(path):
    parts = []
    index = 0
    while True:
        try:
            parts.append(stiefel.read_raw(path, index))
        except ValueError as error:
            if "there is no number" in str(error) or "is no number" in str(error):
                break
            raise
        index += 1
    data = np.concatenate([p.data for p in parts], axis=1)
    starts = np.cumsum([0] + [p.data.shape[1] for p in parts])
    # MNE drops the marker of a segment's start.
    events = sorted(
        (int(e[0] + s), e[3])
        for p, s in zip(parts, starts)
        for e in p.events
        if e[3] != "New Segment"
    )
    notes = [note for p in parts for note in p.notes]
    return (
        data,
        parts[0].ch_names,
        parts[0].sfreq,
        events,
        parts[0].ch_types,
        starts[1:-1].tolist(),
        notes,
    )


def compare(path):
    """A line about a file, and whether the sides agree."""
    try:
        mine = ours(path)
    except Exception as error:
        mine = error
    if isinstance(mine, ValueError) and "holds trials" in str(mine):
        a, b = stiefel.load_dataset(path).X, trials_of(path)
        worst = np.abs(a - b).max() / np.abs(b).max()
        return f"covariances of {len(a)} trials, {worst:.1e}", a.shape == b.shape and worst <= 1e-9
    try:
        other = theirs(path)
    except Exception as error:
        other = error
    if isinstance(mine, Exception) or isinstance(other, Exception):
        text = lambda x: (
            f"{type(x).__name__}: {str(x)[:110]}" if isinstance(x, Exception) else "read"
        )
        return f"stiefel {text(mine)} | other {text(other)}", not isinstance(
            mine, Exception
        ) or isinstance(other, Exception)
    data, names, rate, events, kinds, joins, told = mine
    want, their_names, their_rate, their_events, _, *halves = other
    halves = halves[0] if halves else {}
    problems, notes = [], []
    if rate != their_rate:
        problems.append(f"rate {rate} against {their_rate}")
    if data.shape != want.shape:
        both = [n for n in names if n in their_names] or None
        left = [n for n in their_names if n not in names]
        if left and all(any(note.startswith(f"channel {n} has") for note in told) for n in left):
            # A choice: nothing is resampled without being asked for.
            notes.append(
                f"MNE resamples {', '.join(left)} to the rate of the others, stiefel leaves it out and says so"
            )
        else:
            problems.append(f"shape {data.shape} against {want.shape}")
        if both and data.shape[1] == want.shape[1]:
            data = data[[names.index(n) for n in both]]
            want = want[[their_names.index(n) for n in both]]
    worst = None
    if data.shape == want.shape:
        # MNE calls a channel misc where the file gives volts, or not; the scale of every row
        # settles it.
        rows = []
        for a, b, kind in zip(data, want, kinds):
            # Of a status word MNE keeps 17 bits, stiefel all; what the codes are, the events show.
            if kind == "stim":
                continue
            size = max(np.abs(b).max(), 1e-300)
            rows.append(min(np.abs(a - k * b).max() / (k * size) for k in (1.0, 1e-6, 1e6)))
        worst = max(rows, default=0.0)
        if worst > 1e-9:
            problems.append(f"signal off by {worst:.1e}")
    if path.suffix == ".dat":
        # MNE reads one state, stiefel all of them.
        events = [e for e in events if e[1].startswith("StimulusCode:")]
    extra = [e for e in their_events if e[0] in joins and e not in events]
    if extra:
        # A file with gaps is one signal for MNE: the level at the start of a stretch is a change
        # for it, at the start of a recording it is none.
        their_events = [e for e in their_events if e not in extra]
        notes.append(f"{len(extra)} event that MNE sees where it joins two stretches is left out")
    if len(events) == len(their_events):
        # MNE rounds onsets to a microsecond: half a sample can then be the one before.
        moved = [
            (a, b)
            for a, b in zip(events, their_events)
            if a[0] != b[0] and a[1] == b[1] and a[0] in halves.get(b, ())
        ]
        their_events = [next((a for a, other in moved if other == b), b) for b in their_events]
        if moved:
            notes.append(
                f"{len(moved)} event is half a sample from both, less than the microsecond that MNE rounds to"
            )
    if [e[0] for e in events] != [e[0] for e in their_events]:
        problems.append(
            f"events at {events[:4]}… ({len(events)}) against {their_events[:4]}… ({len(their_events)})"
        )
    shown = "-" if worst is None else f"{worst:.1e}"
    line = f"signal {shown}, {data.shape[0]} × {data.shape[1]}, {rate:g} Hz, {len(events)} events"
    return "; ".join([line, *notes, *problems]), not problems


def main():
    folder = pathlib.Path(sys.argv[1])
    failed = 0
    for path in sorted(folder.rglob("*")):
        if path.suffix in SIGNALS or path.suffix in (".xdf", ".mat", ".dat"):
            line, good = compare(path)
            failed += not good
            print(f"{'ok ' if good else '-> '}{path.relative_to(folder)}: {line}")
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
