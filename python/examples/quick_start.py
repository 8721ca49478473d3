"""Quick start ===========

Train on several people, look at what was chosen and why, and decode their new trials. Synthetic
motor imagery stands in for a dataset; put your own covariances in its place.
"""

import matplotlib.pyplot as plt
import numpy as np

import stiefel

data = stiefel.load_synthetic("BNCI2015001", subjects=4, trials_per_class=30, random_state=0)
test = np.arange(len(data)) % 4 == 0

clf = stiefel.DaspClassifier(epochs=15, random_state=0)
clf.fit(data[~test])  # or clf.fit(X, y, subjects=...) with arrays
print(clf.scaling_)
print(f"stopped after {clf.n_iter_} epochs, kept number {clf.best_epoch_}")

peer = stiefel.TangentSpaceLR(whiten_domains=True).fit(data[~test])
print(
    f"DASP {clf.score(data[test]):.3f}, tangent space + logistic regression "
    f"{peer.score(data[test]):.3f}"
)

# %%
# The accuracy, person by person.
people = sorted(set(data.domains))
for offset, (name, model) in zip(
    (-0.2, 0.2), {"DASP": clf, "tangent space": peer}.items(), strict=True
):
    scores = [model.score(data[test & (data.domains == person)]) for person in people]
    plt.bar(np.arange(len(people)) + offset, scores, width=0.35, label=name)
plt.xticks(range(len(people)), people)
plt.ylabel("accuracy of new trials")
plt.legend(loc="lower right")
plt.show()
