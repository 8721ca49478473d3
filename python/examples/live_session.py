"""
A live session
==============

Samples arrive in blocks, and decisions come out. Here the first half of a signal is written to a
file, prepared and learnt from. The second half is given to a
session as if it came from an amplifier. One electrode falls off on the way.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from _signals import CHANNELS, RATE, motor_imagery, write_csv

import stiefel
from stiefel import live

# %%
# The program prepares the first half with causal filters, as the live stream will be filtered.
# Band, window and channels stay with the dataset and with the model.
folder = Path(tempfile.mkdtemp())
signal, onsets, labels = motor_imagery(seed=4, trials=40)
half = int((onsets[40] - 2) * RATE)
write_csv(folder / "S01R1.csv", signal[:, :half], onsets[:40], labels[:40])
command = f"prepare {folder}/S01R1.csv -o {folder}/dataset.npz --classes hands=hands,feet=feet --phase causal"
done = subprocess.run(
    [sys.executable, "-m", "stiefel", *command.split()], capture_output=True, text=True, check=True
)
print(done.stdout)
clf = stiefel.ChoirClassifier().fit(stiefel.load_dataset(folder / "dataset.npz"))

# %%
# The blocks are a tenth of a second long. From 60 s to 75 s the electrode C3 is off: windows with
# it are rejected, with the reason, and never decided.
rest, events = signal[:, half:].copy(), onsets[40:] - half / RATE
rest[CHANNELS.index("C3"), int(60 * RATE) : int(75 * RATE)] = 0.0
session = live.Session(clf, domain="S01", channels=CHANNELS, rate=RATE, unit="uV", hop=0.25)
said = []
for start in range(0, rest.shape[1], 16):
    said += session.push(rest[:, start : start + 16].T)
print(
    {status: sum(d.status == status for d in said) for status in sorted({d.status for d in said})}
)
print(
    {
        reason: sum(d.reason == reason for d in said)
        for reason in sorted({d.reason for d in said} - {None})
    }
)

# %%
# Probability of "hands" over time. The shaded bands are the windows in which hands were imagined;
# the gap is where the electrode was off.
figure, ax = plt.subplots(figsize=(9, 3.5), layout="constrained")
probability = [d.probabilities["hands"] if d.probabilities else np.nan for d in said]
ax.plot([d.time for d in said], probability)
for onset, label in zip(events, labels[40:], strict=True):
    if label == "hands":
        ax.axvspan(onset, onset + 4, color="tab:blue", alpha=0.15, linewidth=0)
ax.set(xlim=(30, 110), ylim=(0, 1), xlabel="seconds", ylabel="probability of hands")
plt.show()
