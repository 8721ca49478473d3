"""Opening any model file as the estimator it holds."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from . import _core
from ._choir import ChoirClassifier
from ._classifiers import DaspClassifier, SPDNetClassifier
from ._model import ModelClassifier, class_of
from ._persistence import told_by

#: The classes that kinds have of their own, by name.
CLASSES = {cls.__name__: cls for cls in (ChoirClassifier, DaspClassifier, SPDNetClassifier)}


def load(
    path: str | PathLike[str],
) -> ChoirClassifier | DaspClassifier | SPDNetClassifier | ModelClassifier:
    """Open any model file.

    Parameters
    ----------
    path : path-like
        The file, written by Python or by the program.

    Returns
    -------
    estimator : ChoirClassifier | DaspClassifier | SPDNetClassifier | object
        The fitted estimator, with the parameters and the types of classes it was saved with: it
        decides the same to the bit. A file of the program that holds CHOIR or a network is opened
        as the class of that name. It says how trials are whitened, but not the other parameters:
        these have their defaults. A model of any other kind is the estimator that :func:`model`
        makes, with the settings it was fitted with.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import stiefel
    >>> data = stiefel.load_synthetic("BNCI2015001", subjects=2, trials_per_class=10)
    >>> file = Path(tempfile.mkdtemp(), "model.stiefel")
    >>> stiefel.ChoirClassifier(adapt="causal", random_state=0).fit(data).save(file)
    >>> again = stiefel.load(file)
    >>> again
    ChoirClassifier(adapt='causal', random_state=0)
    >>> again.channels_[:3]
    ['FC3', 'FCz', 'FC4']
    """
    model = _core.load(Path(path))
    said, held = told_by(model)
    try:
        cls = CLASSES.get(held) or class_of(held)
    except ValueError:
        raise ValueError(
            f"{path} holds a {held}, which this version of stiefel does not know."
        ) from None
    return cls._of(model, said)
