"""A person without training trials: every policy, with and without their unlabelled trials."""

import stiefel

data = stiefel.load_synthetic("BNCI2015001", subjects=4, trials_per_class=30, random_state=2)
new = data.domains == data.domains[-1]
train = dict(X=data.X[~new], y=data.y[~new], subjects=data.domains[~new])

for unseen in ("zero", "input-only", "nearest", "riemannian-nearest", "transductive"):
    # The last three look at all trials of the new person; a causal mean knows only those so far.
    for whitening in ("pooled", "own-mean", "causal") if unseen in ("zero", "input-only") else ("pooled", "own-mean"):
        clf = stiefel.DaspClassifier(unseen=unseen, whitening=stiefel.Whitening(whitening), max_epochs=10, random_state=0).fit(**train)
        print(f"{unseen:<20}{whitening:<10}{clf.score(data.X[new], data.y[new]):.3f}")

# The first ten trials of the new person, unlabelled, given at fit: decisions no longer depend on the batch at predict.
calibration, rest = data.X[new][:10], slice(10, None)
clf = stiefel.DaspClassifier(unseen="nearest", whitening=stiefel.Whitening("own-mean"), max_epochs=10, random_state=0)
clf.fit(**train, X_target_unlabeled=calibration)
print(f"adapted to ten unlabelled trials: {clf.score(data.X[new][rest], data.y[new][rest]):.3f}")
