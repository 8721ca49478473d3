"""
Scalp maps
==========

Which places on the head does a model use? A filter does not show that: a large weight may be there
to cancel noise. Its *activation patterns* (Haufe et al., 2014)
show it, and the routing report has them for every model with a filter. Here it is CHOIR.
"""

import matplotlib.pyplot as plt
import mne

import stiefel

data = stiefel.load_synthetic("Weibo2014", subjects=4, trials_per_class=30, random_state=1)
clf = stiefel.ChoirClassifier(random_state=0).fit(data[::2])
report = stiefel.routing_report(clf, data[1::2], X_train=data[::2])

# %%
# The first directions are those in which the classes (right hand and feet) differ most. The sign of
# a pattern has no meaning.
info = mne.create_info(data.channels, 200.0, "eeg").set_montage("colin27_1005")
figure, axes = plt.subplots(1, 4, figsize=(10, 3), layout="constrained")
for component, ax in enumerate(axes):
    report.plot_topomap(info, component=component, ax=ax)
    ax.set_title(f"direction {component + 1}")
plt.show()
print(report.verdict)
