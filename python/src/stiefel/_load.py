"""Any model file as the estimator it is."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from . import _core
from ._classifiers import DaspClassifier, SPDNetClassifier
from ._persistence import told_by
from ._pooled import PooledClassifier
from ._views import ViewsClassifier

CLASSES = {cls.__name__: cls for cls in (DaspClassifier, SPDNetClassifier, PooledClassifier, ViewsClassifier)}


def load(path: str | PathLike[str]) -> DaspClassifier | SPDNetClassifier | PooledClassifier | ViewsClassifier:
    """Open any model file.

    Parameters
    ----------
    path : path-like
        The file, written by Python or by the program.

    Returns
    -------
    estimator : DaspClassifier | SPDNetClassifier | PooledClassifier | ViewsClassifier
        The fitted estimator, with the parameters and the types of classes it was saved with: it decides the same to the bit. A file of the
        program says how trials are whitened, but not the other parameters: these have their defaults.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import stiefel
    >>> data = stiefel.load_synthetic("BNCI2015001", subjects=2, trials_per_class=10)
    >>> file = Path(tempfile.mkdtemp(), "model.stiefel")
    >>> stiefel.PooledClassifier(whitening=stiefel.Whitening("own-mean"), random_state=0).fit(data).save(file)
    >>> again = stiefel.load(file)
    >>> again
    PooledClassifier(random_state=0, whitening=Whitening(unseen='own-mean'))
    >>> again.channels_[:3]
    ['FC3', 'FCz', 'FC4']
    """
    model = _core.load(Path(path))
    said, held = told_by(model)
    if held not in CLASSES:
        raise ValueError(f"{path} holds a {held}, which this version of stiefel does not know.")
    return CLASSES[held]._of(model, said)
