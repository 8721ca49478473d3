"""Quick start: train on several people, look at what was chosen and why, decode known people.

Synthetic motor imagery stands in for a dataset; replace `load_synthetic` with your own covariances.
"""

import numpy as np

import stiefel

data = stiefel.load_synthetic("BNCI2015001", subjects=4, trials_per_class=30, random_state=0)
test = np.arange(len(data)) % 4 == 0

clf = stiefel.DaspClassifier(max_epochs=15, random_state=0)
clf.fit(data.X[~test], data.y[~test], subjects=data.domains[~test])
print(clf.scaling_)
print(f"stopped after {clf.n_iter_} epochs, kept number {clf.best_epoch_}")

accuracy = clf.score(data.X[test], data.y[test], subjects=data.domains[test])
peer = stiefel.TangentSpaceLR(whiten_domains=True).fit(data.X[~test], data.y[~test], subjects=data.domains[~test])
print(f"DASP {accuracy:.3f}, tangent space + logistic regression {peer.score(data.X[test], data.y[test], subjects=data.domains[test]):.3f}")
