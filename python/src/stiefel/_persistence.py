"""Model files and pickles of estimators whose model lives in the core."""

from __future__ import annotations

import base64
import json
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._domains import Targets
from ._parameters import Group
from ._scaling import Scaling
from ._validation import to_json

if TYPE_CHECKING:
    from typing_extensions import Self

#: What classes were before they became text, by the kind of their array, and how they become it
#: again.
CLASS_TYPES = {"i": "integer", "u": "integer", "f": "float", "b": "boolean"}
FROM_TEXT = {"text": str, "integer": int, "float": float, "boolean": lambda text: text == "True"}


class FileModel:
    """Saves, loads and pickles the attribute ``_model``."""

    #: The kinds of models that a class stands for; the class that says so is the one whose
    #: parameters are written down.
    _kinds: tuple[str, ...] = ()
    _model: Any
    _targets: Targets
    _labelled: bool
    classes_: np.ndarray

    def save(self, path: str | PathLike[str], overwrite: bool = False) -> None:
        """Write the model file that :func:`load`, the Rust library and the program ``stiefel``
        read.

        The file holds all that decisions depend on: the parameters of the estimator, unlabelled
        trials given at fit, the names of the
        channels and how the trials were made. A generator given as ``random_state`` is not kept.

        Parameters
        ----------
        path : path-like
            Where to write.
        overwrite : bool, default=False
            Whether an existing file is replaced, as a whole or not at all. If not, an existing file
            is a ``FileExistsError``.
        """
        check_is_fitted(self)
        base = _saved_as(type(self))
        said = {
            "class": base.__name__,
            "parameters": {name: _plain(getattr(self, name)) for name in base._get_param_names()},
            "targets": [
                [name, x.shape, base64.b64encode(x.tobytes()).decode()]
                for name, x in self._targets.items()
            ],
            "labelled": self._labelled,
        }
        kind = CLASS_TYPES.get(self.classes_.dtype.kind, "text")
        self._model.described(to_json(said), kind).save(Path(path), overwrite)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """A fitted estimator of this class from a model file; :func:`stiefel.load` opens those of
        all classes.

        Parameters
        ----------
        path : path-like
            The file, written by Python or by the program.

        Returns
        -------
        estimator : object
            The fitted estimator, with the parameters it was saved with. A file of the program does
            not hold most of them: these have their defaults.
        """
        model = _core.load(Path(path))
        said, held = told_by(model)
        base = _saved_as(cls)
        if (held != base.__name__) if said else (model.kind not in base._kinds):
            raise ValueError(
                f"{path} holds a {held}, not a {cls.__name__}; stiefel.load opens any model."
            )
        return cls._of(model, said)

    @classmethod
    def _of(cls, model, said):
        """The estimator of a model, with what its file says."""
        self = cls()
        values = cls._parameters_of(model) if said is None else said["parameters"]
        values = {name: _restored(cls, name, value) for name, value in values.items()}
        unknown = set(values) - set(_saved_as(cls)._get_param_names())
        if unknown:
            raise ValueError(
                f"the model was saved by another version of stiefel, which knew the parameter {', '.join(sorted(unknown))}."
            )
        for name, value in values.items():
            setattr(self, name, value)
        self._model = model
        self.classes_ = np.unique([FROM_TEXT[model.class_type](name) for name in model.classes])
        self._targets, self._labelled, self._warned = (
            Targets(),
            bool(said) and said["labelled"],
            False,
        )
        for name, shape, data in said["targets"] if said else ():
            self._targets[name] = np.frombuffer(base64.b64decode(data)).reshape(shape)
        self._describe()
        if model.scaling is not None:
            self.scaling_ = Scaling(json.loads(model.scaling[0]), model.scaling[1])
        return self

    @classmethod
    def _parameters_of(cls, model):
        """The parameters that a model of the program was fitted with, where they are told."""
        return {}

    def __getstate__(self):
        state = super().__getstate__()
        if "_model" in state:
            state = {**state, "_model": state["_model"].to_bytes()}
        return state

    def __setstate__(self, state):
        if isinstance(state.get("_model"), bytes):
            state = {**state, "_model": _core.model_from_bytes(state["_model"])}
        super().__setstate__(state)


#: The classes of kinds that have one of their own, by the kind.
NAMED = {"choir": "ChoirClassifier", "dasp": "DaspClassifier", "spdnet": "SPDNetClassifier"}


def told_by(model):
    """What the estimator that saved a model said of itself, or None, and the name of the class.

    The class is one of the package, or a name for :func:`stiefel.model`.
    """
    said = None if model.estimator is None else json.loads(model.estimator)
    return said, NAMED.get(model.kind, model.kind) if said is None else said["class"]


def _saved_as(cls):
    """The class of the package that a class is or inherits from."""
    return next(base for base in cls.__mro__ if "_kinds" in vars(base))


def _plain(value):
    """A parameter as JSON has it: what JSON does not tell apart is marked."""
    if isinstance(value, Group):
        return {"group": {name: _plain(own) for name, own in value.get_params().items()}}
    if isinstance(value, dict):
        return {"pairs": [[_plain(key), _plain(own)] for key, own in value.items()]}
    if isinstance(value, tuple):
        return {"tuple": [_plain(own) for own in value]}
    if isinstance(value, np.random.RandomState):
        return None
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return value


def _restored(cls, name, value):
    """A parameter again."""
    # A setting of the core is a dictionary without a mark.
    if not isinstance(value, dict) or set(value) not in ({"group"}, {"pairs"}, {"tuple"}):
        return value
    ((mark, own),) = value.items()
    if mark == "group":
        return cls._groups()[name](**{key: _restored(cls, key, one) for key, one in own.items()})
    if mark == "tuple":
        return tuple(_restored(cls, name, one) for one in own)
    return {_restored(cls, name, key): _restored(cls, name, one) for key, one in own}
