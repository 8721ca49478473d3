"""Model files and pickles of estimators whose model lives in the core."""

from __future__ import annotations

import tempfile
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._domains import Targets

if TYPE_CHECKING:
    from typing_extensions import Self


class FileModel:
    """Saves, loads and pickles the attribute ``_model``; ``_read`` is the core's function that opens its file."""

    @staticmethod
    def _read(path):
        """The core's model of a file."""
        raise NotImplementedError

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model file that the Rust library and the program ``stiefel`` read.

        Parameters
        ----------
        path : path-like
            Where to; an existing file is replaced whole or not at all.
        """
        check_is_fitted(self)
        self._model.save(Path(path))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """A fitted estimator from a model file, of Python's making or not; classes are then text.

        Parameters
        ----------
        path : path-like
            The file.

        Returns
        -------
        estimator : object
            Fitted, with default parameters otherwise.
        """
        self = cls()
        self._adopt(self._read(Path(path)))
        return self

    def _adopt(self, model):
        """Takes over a model that was fitted elsewhere."""
        self._model = model
        self.classes_ = np.array(model.classes)
        self.n_features_in_ = self._channels = model.n_channels
        self._targets, self._labelled, self._warned = Targets(), False, False
        self._describe()

    def __getstate__(self):
        state = super().__getstate__()
        if "_model" in state:
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder, "model")
                state["_model"].save(file)
                state = {**state, "_model": file.read_bytes()}
        return state

    def __setstate__(self, state):
        if isinstance(state.get("_model"), bytes):
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder, "model")
                file.write_bytes(state["_model"])
                state = {**state, "_model": self._read(file)}
        super().__setstate__(state)
