"""Which trials validate: a share of every (domain, class) cell."""

import numpy as np


def validation_trials(classes, domains, fraction, random_state):
    """The indices, ascending; a cell of one or two trials trains whole.

    Parameters
    ----------
    classes, domains : ndarray of int, shape (trials,)
        The cell of each trial.
    fraction : float
        Share of each cell, at least one trial of it.
    random_state : RandomState
        Which ones.
    """
    held = []
    if fraction == 0:
        return held
    cells = np.stack([domains, classes], axis=1)
    for cell in np.unique(cells, axis=0):
        trials = random_state.permutation(np.flatnonzero((cells == cell).all(axis=1)))
        count = max(1, round(fraction * len(trials))) if len(trials) >= 3 else 0
        held.extend(trials[:count].tolist())
    return sorted(held)
