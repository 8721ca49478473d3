"""
A person without training trials
================================

Every policy for a new person, with and without their unlabelled trials.
"""

import matplotlib.pyplot as plt

import stiefel

data = stiefel.load_synthetic("BNCI2015001", subjects=4, trials_per_class=30, random_state=2)
new = data.domains == data.domains[-1]
options = {
    "handle_unknown": "new",
    "epochs": 10,
    "random_state": 0,
}  # a name without training trials is a new person

scores = {}
for unseen in ("zero", "input-only", "nearest", "riemannian-nearest", "transductive"):
    # The last three look at all trials of the new person; a causal mean knows only those so far.
    for whitening in (
        ("pooled", "own-mean", "causal")
        if unseen in ("zero", "input-only")
        else ("pooled", "own-mean")
    ):
        clf = stiefel.DaspClassifier(
            unseen=unseen, whitening=stiefel.Whitening(whitening), **options
        ).fit(data[~new])
        scores[f"{unseen}, {whitening}"] = clf.score(data[new])
        print(f"{unseen:<20}{whitening:<10}{clf.score(data[new]):.3f}")

figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.barh(list(scores), list(scores.values()))
ax.axvline(0.5, color="k", linestyle=":")
ax.set(xlabel="accuracy on the new person", xlim=(0.4, 1))
plt.show()

# The first ten trials of the new person are given at fit, unlabelled: decisions no longer depend on
# the batch at predict.
calibration, rest = data[new][:10], data[new][10:]
clf = stiefel.DaspClassifier(unseen="nearest", whitening=stiefel.Whitening("own-mean"), **options)
clf.fit(data[~new], X_target_unlabeled=calibration)
print(f"adapted to ten unlabelled trials: {clf.score(rest):.3f}")

# As in a live session: trials come one by one, and the causal mean goes on from each to the next.
clf = stiefel.ChoirClassifier(adapt="causal", random_state=0).fit(data[~new])
session = clf.session()
decided = [session.predict(trial) for trial in data.X[new]]
print(f"one by one: {(decided == data.y[new]).mean():.3f}; {session.note}")
