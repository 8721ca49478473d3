"""
Does routing help?
==================

And is it routing that helps? The report, its controls and its pictures.
"""

import matplotlib.pyplot as plt
import mne
import numpy as np

import stiefel

data = stiefel.load_synthetic("BNCI2015001", subjects=5, trials_per_class=30, random_state=0)
test = np.arange(len(data)) % 4 == 0
clf = stiefel.DaspClassifier(epochs=15, random_state=0)
clf.fit(data[~test])

report = stiefel.routing_report(clf, data[test], X_train=data[~test])
print(report)

figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
report.plot_routing(axes[0])
report.plot_controls(axes[1])
info = mne.create_info(data.channels, 128.0, "eeg").set_montage("biosemi64")
report.plot_topomap(info, expert=0, component=0, ax=axes[2])
plt.show()
