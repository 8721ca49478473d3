"""CHOIR person by person: ``python docs/figures/people.py MAIN CALIBRATION OUT.svg``.

MAIN and CALIBRATION are the folders of two studies.
Lines and text are grey on a clear ground, which can be read on white and on black.
"""

import json
import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np

OURS, GREY = "choir", "#767c85"
COLOURS = {"choir": "#2f81c7", "recentred-ts+lr": "#d0743c"}
LABELS = {"no labels": 0, "2 labels": 2, "4 labels": 4, "8 labels": 8, "16 labels": 16}


def rows(folder):
    """The rows of a study's table, by method."""
    summary = json.loads(Path(folder, "summary.json").read_text(encoding="utf-8"))
    return {row["method"]: row for row in summary["rows"]}


def by_person(row):
    return dict(row["per_subject"])


def known_people(ax, folder):
    """Person by person, against the peer with the highest mean."""
    table = rows(folder)
    names = [name for name in table if "ts+lr" in name or "mdm" in name]
    peers = {name: table[name]["accuracy"]["mean"] for name in names}
    peer = max(peers, key=peers.get)
    ours, theirs = by_person(table[OURS]), by_person(table[peer])
    difference = np.sort([ours[person] - theirs[person] for person in ours])
    colours = [COLOURS[OURS] if d > 0 else COLOURS["recentred-ts+lr"] for d in difference]
    ax.bar(np.arange(len(difference)), difference, color=colours, width=0.8)
    ax.axhline(0, color=GREY, linewidth=0.8)
    resampled = np.random.default_rng(0).choice(difference, (10_000, len(difference))).mean(axis=1)
    low, high = np.quantile(resampled, [0.025, 0.975])
    ax.axhspan(low, high, color=COLOURS[OURS], alpha=0.15, linewidth=0)
    ax.axhline(difference.mean(), color=COLOURS[OURS], linestyle="--", linewidth=1)
    ax.set_title(f"known people: {OURS} − {peer}", fontsize=10)
    ax.set(xlabel=f"{len(difference)} people, sorted", xticks=[])
    ax.set(ylabel="balanced accuracy, difference")
    words = f"mean +{difference.mean():.3f}\n95 % interval [{low:+.3f}, {high:+.3f}]"
    ax.text(0.03, 0.95, words, transform=ax.transAxes, va="top", fontsize=9)


def new_people(ax, folder):
    """What labelled trials of a new person are worth."""
    table = rows(folder)
    for method, colour in COLOURS.items():
        means = [table[f"{cell}: {method}"]["accuracy"]["mean"] for cell in LABELS]
        ax.plot(list(LABELS.values()), means, "o-", color=colour, label=method)
    ax.set_title("new people: a few labelled trials", fontsize=10)
    ax.set(xlabel="labelled trials of the new person", ylabel="balanced accuracy")
    ax.set_xticks(list(LABELS.values()))
    ax.legend(frameon=False, fontsize=9)


def main():
    study, calibration, out = sys.argv[1:]
    parts = ["text", "axes.edge", "axes.label", "axes.title", "xtick.", "ytick."]
    names = [f"{part}.color" if part == "text" else f"{part}color" for part in parts]
    matplotlib.rcParams.update(dict.fromkeys(names, GREY))
    matplotlib.rcParams.update({"svg.hashsalt": "stiefel", "axes.facecolor": "none"})
    matplotlib.rcParams.update({"axes.spines.top": False, "axes.spines.right": False})
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained", facecolor="none")
    known_people(axes[0], study)
    new_people(axes[1], calibration)
    figure.savefig(out, metadata={"Date": None})


if __name__ == "__main__":
    main()
