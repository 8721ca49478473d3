"""A model at work on a running signal: in Python, and in the program over LSL."""

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np
import pytest

import stiefel
from stiefel import live

PROGRAM = Path(__file__).parents[2] / "target" / "debug" / "stiefel"
lsl = pytest.mark.skipif(
    not PROGRAM.exists() or importlib.util.find_spec("pylsl") is None,
    reason="LSL needs the program (cargo build -p stiefel-cli) and the package pylsl",
)
SECONDS = 40


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model of synthetic imagery: 13 channels."""
    data = stiefel.load_synthetic("BNCI2015001", subjects=2, trials_per_class=10)
    return stiefel.ChoirClassifier(random_state=0).fit(data)


@pytest.fixture(scope="module")
def file(model, tmp_path_factory):
    """The same as a file."""
    path = tmp_path_factory.mktemp("live") / "model.stiefel"
    model.save(path)
    return path


@pytest.fixture(scope="module")
def rate(model):
    return float(model.preparation_["recipe"]["rate"])


@pytest.fixture(scope="module")
def signal_(model, rate):
    """Pink-like noise with an alpha rhythm, in microvolts."""
    rng = np.random.default_rng(0)
    white = rng.normal(size=(int(SECONDS * rate), len(model.channels_)))
    t = np.arange(len(white)) / rate
    alpha = np.sin(2 * np.pi * 11 * t)[:, None] * rng.normal(size=white.shape[1])
    return 8 * white + 6 * alpha


def session(model, **options):
    return live.Session(model, domain="S01", **{"unfamiliar": None, **options})


def without_time(said):
    return [{k: v for k, v in vars(d).items() if k not in ("milliseconds", "stamp")} for d in said]


def test_blocks_of_any_size_say_the_same(model, file, signal_):
    whole = session(model).push(signal_)
    assert len(whole) > 100 and {d.status for d in whole} == {"decided"}
    assert all(
        d.class_ in model.classes_ and abs(sum(d.probabilities.values()) - 1) < 1e-12 for d in whole
    )
    again = session(file)
    pieces = [
        d for first in range(0, len(signal_), 37) for d in again.push(signal_[first : first + 37])
    ]
    assert without_time(pieces) == without_time(whole)


def test_channels_and_units_are_put_right(model, signal_):
    expected = session(model).push(signal_)
    turned = session(model, channels=[*model.channels_[::-1], "EOG"], unit="V")
    samples = np.column_stack([signal_[:, ::-1] * 1e-6, np.zeros(len(signal_))])
    for a, b in zip(turned.push(samples), expected):
        assert a.probabilities == pytest.approx(b.probabilities, abs=1e-9)


def test_bad_samples_are_rejected_and_gaps_are_told(model, signal_, rate):
    bad = signal_.copy()
    bad[5000, 2] = np.nan
    said = session(model).push(bad)
    reasons = [d.reason for d in said if d.status == "rejected"]
    assert "non-finite" in reasons and said[-1].status == "decided"
    assert all(d.class_ is None and d.probabilities is None for d in said if d.status == "rejected")
    keep = np.r_[0:8000, 8300 : len(signal_)]
    said = session(model).push(signal_[keep], keep / rate + 17.0)
    gaps = [d for d in said if isinstance(d, live.Gap)]
    assert [(g.sample, g.samples) for g in gaps] == [(8000, 300)]
    assert any(d.reason == "gap" for d in said if isinstance(d, live.Decision))


def test_cues_score_the_windows_of_trials(model, signal_, rate):
    name = str(model.classes_[0])
    cued = session(model, hop=None)
    said = cued.push(signal_, markers=[(4000, name), (9000, "rest")], at="sample")
    assert [d.cue["sample"] for d in said] == [4000] and said[0].cue["class"] == name
    timed = session(model, hop=None, cues=["rest"])
    times = np.arange(len(signal_)) / rate
    # A marker whose window is over already is decided while it is in memory.
    said = timed.push(signal_, times, [(times[-1] - 6, "rest")])
    assert [(d.cue["label"], d.cue["class"]) for d in said] == [("rest", None)]


def test_what_cannot_be_is_refused(model, signal_):
    for options, reason in [
        ({"channels": ["C3", "C4"]}, "there is no channel"),
        ({"rate": 160}, "160 Hz"),
        ({"unit": "kg"}, "kg"),
        ({"hop": -1}, "hop"),
        ({"threshold": 2}, "threshold"),
    ]:
        with pytest.raises(ValueError, match=reason):
            session(model, **options)
    with pytest.raises(ValueError, match="fitted classifier"):
        live.Session(stiefel.ChoirClassifier(), domain="S01")
    with pytest.raises(FileNotFoundError):
        live.Session("nowhere.stiefel", domain="S01")
    good = session(model)
    for samples, more, reason in [
        (signal_[:, :3], {}, "shape"),
        (signal_[0], {}, "shape"),
        (signal_, {"times": [1.0]}, "times"),
        (signal_, {"markers": [(1.0, "a")]}, "need the times"),
        (signal_, {"at": "once"}, "'time' or 'sample'"),
    ]:
        with pytest.raises(ValueError, match=reason):
            good.push(samples, **more)
    unknown = stiefel.ChoirClassifier(random_state=0)
    data = stiefel.load_synthetic("BNCI2015001", subjects=2, trials_per_class=10)
    with pytest.raises(ValueError, match="does not know how"):
        live.Session(unknown.fit(data.X, data.y, subjects=data.domains), domain="S01")


def test_somebody_new_is_learnt_from_until_frozen(model, signal_):
    causal = stiefel.ChoirClassifier(adapt="causal", random_state=0)
    causal.fit(stiefel.load_synthetic("BNCI2015001", subjects=2, trials_per_class=10))
    learning, frozen = (live.Session(causal, domain="new", unfamiliar=None) for _ in range(2))
    frozen.freeze()
    assert "causal" in " ".join(learning.notes)
    assert without_time(learning.push(signal_)) != without_time(frozen.push(signal_))


class Sender:
    """An outlet in another process."""

    def __init__(self, folder, name, samples, channels, rate, **plan):
        np.save(folder / f"{name}.npy", samples)
        plan = {
            "samples": str(folder / f"{name}.npy"),
            "name": name,
            "channels": channels,
            "rate": rate,
            **plan,
        }
        (folder / f"{name}.json").write_text(json.dumps(plan))
        script = Path(__file__).parent / "lsl_outlet.py"
        self.process = subprocess.Popen(
            [sys.executable, script, folder / f"{name}.json"], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout.readline() == "ready\n"

    def wait(self):
        assert self.process.stdout.readline() == "sent\n"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def started(file, *options):
    command = [PROGRAM, "live", file, "--domain", "S01", "--unfamiliar", "off", *options]
    library = next(
        (Path(importlib.util.find_spec("pylsl").submodule_search_locations[0]) / "lib").glob(
            "*lsl*"
        ),
        None,
    )
    variables = {**os.environ, **({"STIEFEL_LIBLSL": str(library)} if library else {})}
    return subprocess.Popen(
        [str(c) for c in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=variables,
    )


def ended(process, after=1.0):
    """Ctrl-C after a while; every line, and what was said beside them."""
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    return [json.loads(line) for line in out.splitlines()], err


@lsl
def test_a_stream_says_what_its_samples_say(model, file, signal_, rate, tmp_path):
    cues = [
        (int(k * rate), str(model.classes_[i % 2])) for i, k in enumerate(range(3, SECONDS - 8, 6))
    ]
    with Sender(
        tmp_path, f"amp {os.getpid()}", signal_, model.channels_, rate, markers=cues
    ) as sender:
        query = f"lsl:name=amp {os.getpid()}"
        process = started(file, "--from", query, "--markers", query + " markers", "--hop", "0.5")
        sender.wait()
        lines, told = ended(process)
    windows = [line for line in lines if line["type"] == "window"]
    expected = session(model, hop=0.5).push(signal_, markers=cues, at="sample")
    assert len(windows) == len(expected) > 50
    for line, decision in zip(windows, expected):
        assert (line["sample"], line["status"], line["class"]) == (
            decision.sample,
            decision.status,
            decision.class_,
        )
        assert line["probabilities"] == decision.probabilities
        assert line.get("cue") == decision.cue
    assert len([line for line in windows if "cue" in line]) == len(cues)
    summary = lines[-1]
    assert (
        summary["type"] == "summary"
        and summary["cued"] == len(cues)
        and abs(summary["rate"] / rate - 1) < 1e-4
    )
    assert "99 %" in told


@lsl
def test_a_stream_that_is_killed_and_comes_back(model, file, signal_, rate, tmp_path):
    name = f"lost {os.getpid()}"
    with Sender(
        tmp_path, name, signal_[: 12 * int(rate)], model.channels_, rate, speed=4
    ) as sender:
        process = started(file, "--from", f"lsl:name={name}")
        sender.wait()
    with Sender(
        tmp_path, name, signal_[: 12 * int(rate)], model.channels_, rate, speed=4
    ) as sender:
        sender.wait()
        lines, told = ended(process)
    states = [line["state"] for line in lines if line["type"] == "stream"]
    assert states == ["lost", "found"], lines
    lost = next(i for i, line in enumerate(lines) if line["type"] == "stream")
    # Nothing is glued: whatever comes first after the break is a gap, or a window that says so.
    first = lines[lost + 2]
    assert first["type"] == "gap" or first.get("reason") in ("gap", "settling"), lines[
        lost : lost + 4
    ]
    for part in (lines[:lost], lines[lost:]):
        assert any(line.get("status") == "decided" for line in part)
    assert "lost 1 times" in told


@lsl
def test_lost_chunks_bad_values_and_twenty_millionths(model, file, signal_, rate, tmp_path):
    n = len(signal_)
    bad = signal_.copy()
    bad[2 * n // 8, 1] = np.nan
    bad[3 * n // 8 : 3 * n // 8 + int(rate), 4] = 1.25
    bad[4 * n // 8, 6] += 1e5
    keep = np.array([t for t in range(n) if t < 5 * n // 8 or (t // 32) % 20 != 7])
    name = f"bad {os.getpid()}"
    times = (keep / rate * (1 + 20e-6)).tolist()
    with Sender(tmp_path, name, bad[keep], model.channels_, rate, times=times) as sender:
        process = started(file, "--from", f"lsl:name={name}")
        sender.wait()
        lines, _ = ended(process)
    reasons = {line["reason"] for line in lines if line.get("status") == "rejected"}
    assert {"non-finite", "flat", "out-of-range", "gap"} <= reasons, reasons
    gaps = [line for line in lines if line["type"] == "gap"]
    assert gaps and all(gap["samples"] == 32 for gap in gaps)
    assert sum(line.get("status") == "decided" for line in lines) > 20


@lsl
def test_streams_that_do_not_fit_are_refused(model, file, signal_, rate, tmp_path):
    name = f"other {os.getpid()}"
    for plan, reason in [
        (
            {"channels": [f"X{i}" for i in range(len(model.channels_))], "rate": rate},
            "there is no channel",
        ),
        ({"channels": model.channels_, "rate": rate / 2}, f"{rate / 2:g} Hz"),
        ({"channels": model.channels_, "rate": rate, "unit": "kelvin"}, "kelvin"),
    ]:
        with Sender(tmp_path, name, signal_, **plan):
            process = started(file, "--from", f"lsl:name={name}")
            _, told = process.communicate(timeout=30)
        assert process.returncode == 2 and reason in told, told
    process = started(file, "--from", "lsl:name=nobody is called that", "--wait", "1")
    _, told = process.communicate(timeout=30)
    assert process.returncode == 1 and "no LSL stream" in told
    # What is there is told to those who look for something else.
    with Sender(tmp_path, name, signal_, model.channels_, rate):
        process = started(file, "--from", "lsl:name=nobody is called that", "--wait", "1")
        _, told = process.communicate(timeout=30)
    assert process.returncode == 1 and f'there is "{name}"' in told, told


BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


def events(url, count):
    """The first events that a page hears, each a name and its content."""
    address, _, query = url.partition("?")
    address = address.rstrip("/") + "/events" + (f"?{query}" if query else "")
    found, name = [], None
    with urllib.request.urlopen(address, timeout=20) as stream:
        for line in stream:
            text = line.decode().strip()
            if text.startswith("event: "):
                name = text.removeprefix("event: ")
            elif text.startswith("data: "):
                found.append((name, json.loads(text.removeprefix("data: "))))
            if len(found) == count:
                return found
    raise AssertionError(f"the stream of events ended after {len(found)}")


@pytest.mark.skipif(
    not PROGRAM.exists() or BROWSER is None, reason="the page needs the program and a Chromium"
)
@pytest.mark.parametrize(("size", "scheme"), [("1300,1000", 1), ("420,1700", 0)])
def test_the_page_in_a_browser(file, model, signal_, size, scheme, tmp_path):
    command = [PROGRAM, "live", file, "--from", "stdin", "--domain", "S01", "--unfamiliar", "off"]
    process = subprocess.Popen(
        [*command, "--page"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        rows = [
            ",".join(model.channels_),
            *(",".join(map(repr, row.tolist())) for row in signal_[:8000]),
        ]
        process.stdin.write("\n".join(rows) + "\n")
        process.stdin.flush()
        url = process.stderr.readline().split()[-1]
        assert url.startswith("http://127.0.0.1:")
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
            f"--user-data-dir={tmp_path}",
        ]
        options += [
            f"--window-size={size}",
            f"--blink-settings=preferredColorScheme={scheme}",
            "--timeout=4000",
            "--dump-dom",
        ]
        shown = subprocess.run([BROWSER, *options, url], capture_output=True, text=True, timeout=60)
        heard = events(url, 3)
    finally:
        process.kill()
        process.communicate()
    assert "CONSOLE" not in shown.stderr, shown.stderr
    assert "<title>" in shown.stdout
    # The browser prints a page when it is loaded, before anything was heard: what it would draw is
    # in the events.
    (first, about), (_, window), _ = heard
    assert first == "about" and [c["name"] for c in about["channels"]] == list(model.channels_)
    assert window["line"]["type"] == "window" and window["faults"] == [""] * len(model.channels_)
    assert len(window["power"]) == len(model.channels_)
