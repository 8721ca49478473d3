"""CHOIR with ten views beside scikit-learn's logistic regression on as many features, one thread.

python benchmarks/views.py
"""

from peers import arguments, spread, stiefel, tenth_percentile, timed

import numpy as np
from sklearn.linear_model import LogisticRegression


def main():
    options = arguments(__doc__.splitlines()[0], rounds=3).parse_args()
    fits, decisions, theirs, rows = [], [], [], []
    for _ in range(options.repeats):
        ours = stiefel(options.binary, "views", "--json", "--rounds", options.rounds)
        rng = np.random.default_rng(0)
        y = np.arange(ours["trials"]) % 2
        x = rng.normal(size=(ours["trials"], ours["features"])) / np.sqrt(ours["features"])
        x[:, 0] += 0.1 * y
        model = LogisticRegression(max_iter=1000)
        theirs.append(tenth_percentile(timed(lambda: model.fit(x, y), options.rounds)))
        rows.append(tenth_percentile(timed(lambda: model.predict_proba(x[:1]), 200)))
        fits.append(ours["fit"])
        decisions.append(ours["decision"])
    print(
        f"{ours['trials']} trials, {ours['features']} features; seconds of a fit, microseconds of a decision, middle (smallest–largest)"
    )
    print(
        f"CHOIR, covariances to weights and probabilities   {spread(fits, 3)}   {spread([1e6 * d for d in decisions], 0)}"
    )
    print(
        f"scikit-learn's regression, from features on        {spread(theirs, 3)}   {spread([1e6 * d for d in rows], 0)}"
    )


if __name__ == "__main__":
    main()
