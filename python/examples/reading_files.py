"""
Reading recordings
==================

``read_raw`` opens EDF, BDF, GDF, BrainVision, FIF, EEGLAB, XDF, MATLAB, BCI2000 and CSV files, and
recognises them by their content. Here it opens a CSV file,
which is written first.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from _signals import motor_imagery, write_csv

import stiefel

file = Path(tempfile.mkdtemp(), "S01R1.csv")
write_csv(file, *motor_imagery(seed=3))

# %%
# Channels, rate and events come from the file; signals are in microvolts.
recording = stiefel.read_raw(file)
print(recording.ch_names, recording.sfreq, recording.data.shape)
print(recording.events[:4])

# %%
# As an object of MNE, the recording can be cut and filtered there. The power at C3 is lower while
# hands are imagined.
raw = recording.to_mne()
figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
for label in ("hands", "feet"):
    onsets = [onset for _, onset, _, name in recording.events if name == label]
    cut = [raw.get_data(["C3"], tmin=t + 0.5, tmax=t + 3.5)[0] * 1e6 for t in onsets]
    power = np.mean([np.abs(np.fft.rfft(x * np.hanning(len(x)))) ** 2 for x in cut], axis=0)
    ax.semilogy(np.fft.rfftfreq(len(cut[0]), 1 / recording.sfreq), power, label=label)
ax.set(xlim=(4, 40), xlabel="Hz", ylabel="power at C3 (arbitrary)")
ax.legend()
plt.show()
