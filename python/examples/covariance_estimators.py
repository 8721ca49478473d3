"""Estimators, and "not positive definite" =======================================

A covariance matrix of few samples has eigenvalues that are too small, or zero. This example shows
how the four estimators treat them, and what the message says if a matrix cannot be used.
"""

import matplotlib.pyplot as plt
import numpy as np
from _signals import CHANNELS, epochs_of, motor_imagery

import stiefel

# %%
# Twelve samples for nine channels: less than a tenth of a second. The plain estimate ("sample")
# makes the small eigenvalues too small and the large ones too large. The others draw it towards a
# simpler matrix, as far as the data suggest. The eigenvalues of three seconds stand for the truth.
signal, onsets, labels = motor_imagery(seed=0)
epochs = epochs_of(signal, onsets, before=0, after=4)
mne_epochs = stiefel.to_epochs(epochs, CHANNELS, 160.0, labels)
long = stiefel.from_epochs(mne_epochs.copy().crop(0.5, 3.5), covariance="sample")
short = mne_epochs.copy().crop(0.5, 0.5 + 11 / 160)

figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.semilogy(np.linalg.eigvalsh(long.X).mean(axis=0), "k.-", label="three seconds, sample")
for name in ("sample", "ledoit-wolf", "oas", "schaefer-strimmer"):
    trials = stiefel.from_epochs(short, covariance=name)
    ax.semilogy(np.linalg.eigvalsh(trials.X).mean(axis=0), ".-", label=f"twelve samples, {name}")
ax.set(xlabel="eigenvalue", ylabel="µV²", title="mean spectrum over 40 trials")
ax.legend(fontsize="small")
plt.show()

# %%
# A common average reference makes the channels sum to zero. One eigenvalue is then zero, always,
# and the logarithm does not exist. The message says which matrix it is, and what to do.
average = epochs - epochs.mean(axis=1, keepdims=True)
referenced = stiefel.from_epochs(
    stiefel.to_epochs(average, CHANNELS, 160.0, labels), covariance="sample"
)
try:
    stiefel.spd.logm(referenced.X)
except ValueError as error:
    print(error)

# %%
# Drop a channel, or shrink.
print(np.isfinite(stiefel.spd.logm(referenced.X[:, :-1, :-1])).all())
shrunk = stiefel.from_epochs(stiefel.to_epochs(average, CHANNELS, 160.0, labels), covariance="oas")
print(f"smallest eigenvalue: {np.linalg.eigvalsh(shrunk.X).min():.3f} µV²")
