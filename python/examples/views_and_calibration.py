"""
Several views, and a new person calibrated
==========================================

CHOIR takes covariances of several bands and windows per trial, and learns a new person's own
weights from a few labelled trials.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from _signals import RATE, epochs_of, motor_imagery

import stiefel

# %%
# There are eight people, and the rhythms of an area may fall or rise while its limb is imagined:
# what everybody shares is worth little here. ``Views`` filters the epochs and gives six covariances
# of each: 8–32, 10–14 and 20–28 Hz in two windows. Epochs begin before the first window and end
# after the last: the filter needs room.
views = stiefel.Views({"views": "choir", "window": (1.0, 4.0)}, sfreq=RATE)
X, y, people = [], [], []
for person in range(8):
    signal, onsets, labels = motor_imagery(seed=person, trials=24, left=(0.6, 1.4))
    X.append(views.fit_transform(epochs_of(signal, onsets)).X)
    y.extend(labels)
    people.extend([f"P{person}"] * len(labels))
X, y, people = np.concatenate(X), np.array(y), np.array(people)
print(X.shape)

# %%
# Each person is left out in turn. Without labels, a person is recentred by the mean of their
# trials; the first 2, 4, 8 and 16 labelled trials add weights of their own. The first trials are
# taken as they come; the model warns if one class has more of them.
#
# These people were simulated to differ. If everybody's rhythms fall in the same way, what is shared
# is enough, and few labelled trials can lower the score. People simulated with falling rhythms went
# from .81 without labels to .76 with 16 labelled trials. The reason is that a calibrated person is
# recentred by their labelled trials, no longer by all trials at hand.
warnings.filterwarnings("ignore", message="calibration with uneven classes")
counts = [0, 2, 4, 8, 16]
scores = np.zeros((8, len(counts)))
for person in range(8):
    new = people == f"P{person}"
    clf = stiefel.ChoirClassifier(adapt="own-mean")
    clf.fit(X[~new], y[~new], subjects=people[~new])
    x_new, y_new = X[new], y[new]
    learnt, judged = 0, slice(16, None)  # the same trials are judged for every count
    for column, count in enumerate(counts):
        if (
            len(set(y_new[:count])) == 2
        ):  # it takes both classes; trials that were learnt from stay learnt
            clf.calibrate(x_new[learnt:count], y_new[learnt:count], domain="newcomer")
            learnt = count
        names = ["newcomer" if learnt else None] * len(y_new[judged])
        scores[person, column] = (
            clf.predict(x_new[judged], subjects=names) == y_new[judged]
        ).mean()

# %%
figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.plot(counts, scores.T, color="0.8")
ax.plot(counts, scores.mean(axis=0), "o-", color="tab:blue", label="mean of eight people")
ax.axhline(0.5, color="0.5", linestyle=":", label="chance")
ax.set(xlabel="labelled trials of the new person", ylabel="accuracy", xticks=counts)
ax.legend()
plt.show()
print(
    {
        count: round(float(score), 3)
        for count, score in zip(counts, scores.mean(axis=0), strict=True)
    }
)
