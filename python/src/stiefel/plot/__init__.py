"""The figures of a study's report, with matplotlib, on your own axes.

Every function takes a study as :func:`stiefel.study` returns it, the folder where a study's results
are, or the contents of its ``summary.json``, and
returns the axes it drew on. :func:`training` also takes a fitted network; a model's routing is
plotted by :class:`stiefel.RoutingReport`.

The numbers are those of the summary; nothing is computed again.
"""

from ._curves import calibration, learning, training
from ._routing import angles, controls, queries, weights
from ._scalp import electrodes, patterns
from ._scores import confusion, differences, folds, subjects

__all__ = [
    "angles",
    "calibration",
    "confusion",
    "controls",
    "differences",
    "electrodes",
    "folds",
    "learning",
    "patterns",
    "queries",
    "subjects",
    "training",
    "weights",
]
