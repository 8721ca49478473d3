"""
Your own data from MNE
======================

From a recording of MNE to trials and a cross-validated model.
"""

import mne
import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score

import stiefel

mne.set_log_level("error")

# A stand-in for `mne.io.read_raw_...`, or for `stiefel.read_raw(path).to_mne()`.
rng = np.random.default_rng(0)
sfreq, names = 128.0, ["C3", "Cz", "C4", "CP3", "CP4"]
onsets = np.arange(60) * 4.0 + 1.0
labels = np.array(["left_hand", "right_hand"])[np.arange(60) % 2]
signal = 5e-6 * rng.standard_normal((len(names), int(245 * sfreq)))
for onset, label in zip(onsets, labels):
    channel = 2 if label == "left_hand" else 0
    signal[channel, int(onset * sfreq) : int((onset + 3) * sfreq)] *= (
        0.6  # desynchronisation on the other side
    )
raw = mne.io.RawArray(signal, mne.create_info(names, sfreq, "eeg"))
raw.set_annotations(mne.Annotations(onsets, 3.0, labels))

# %%
# A recipe filters the recording, cuts its trials and estimates their covariances, in a pipeline
# with the classifier. The trials know what they are: a model refuses signals that were filtered,
# cut or referenced in another way, and puts channels in its own order.
recipe = {"views": "choir", "window": (0.5, 2.5), "classes": ["left_hand", "right_hand"]}
trials = stiefel.Views(recipe, domain="me").fit_transform(raw)
print(trials)
clf = stiefel.ChoirClassifier(random_state=0)
folds = StratifiedKFold(3, shuffle=True, random_state=0)
scores = cross_val_score(clf, trials, trials.y, cv=folds)
print(f"accuracy {scores.mean():.3f} ± {scores.std():.3f} over {len(scores)} folds")

# %%
# Epochs that MNE has filtered and cut are taken as they are; what ``info`` says of them travels
# too.
raw.filter(8, 32)
events, event_id = mne.events_from_annotations(raw)
epochs = mne.Epochs(raw, events, event_id, tmin=0.5, tmax=2.5, baseline=None)
print(stiefel.from_epochs(epochs, domain="me").preparation)
