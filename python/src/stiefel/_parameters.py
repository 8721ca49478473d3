"""Parameters of estimators: what each may be stands once, in the annotation of the constructor, and
is checked before the core sees it."""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from numbers import Integral, Real
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
from sklearn.base import BaseEstimator


@dataclass(frozen=True)
class Rule:
    """What an annotation cannot say by a type: in words, and as a function of a value of that
    type."""

    words: str
    holds: Callable[[Any], bool]


Count = Annotated[int, Rule("a whole number of at least 1", lambda v: v >= 1)]
Positive = Annotated[float, Rule("a number above 0", lambda v: v > 0)]
NotNegative = Annotated[float, Rule("a number of at least 0", lambda v: v >= 0)]
Share = Annotated[float, Rule("a number of at least 0 and below 1", lambda v: 0 <= v < 1)]

Auto = Literal["auto"]
Covariance = Literal["sample", "ledoit-wolf", "oas", "schaefer-strimmer"]
HandleUnknown = Literal["error", "new"]
LabelFormat = Literal["class", "domain/class"]
ClassWeight = Union[dict, Literal["balanced"], None]
Seed = Union[int, np.random.RandomState, None]


def fits(value, hint):
    """Whether a value is what an annotation says; numbers may be NumPy's, and must be finite."""
    kind, inner = get_origin(hint), get_args(hint)
    if kind in (Union, types.UnionType):
        return any(fits(value, one) for one in inner)
    if kind is Annotated:
        return fits(value, inner[0]) and all(rule.holds(value) for rule in inner[1:])
    if kind is Literal:
        return isinstance(value, str) and value in inner
    if hint is Any:
        return True
    if hint is bool:
        return isinstance(value, (bool, np.bool_))
    if hint in (int, float):
        number = isinstance(value, Integral if hint is int else Real) and not isinstance(
            value, bool
        )
        return number and bool(np.isfinite(value))
    return isinstance(value, kind or hint)


def words(hint):
    """An annotation in words."""
    kind, inner = get_origin(hint), get_args(hint)
    if kind in (Union, types.UnionType):
        return " or ".join(
            words(one) for one in sorted(inner, key=lambda one: one is not type(None))
        )
    if kind is Annotated:
        return inner[1].words
    if kind is Literal:
        return f"one of {', '.join(inner)}" if len(inner) > 1 else repr(inner[0])
    told = {
        bool: "True or False",
        int: "a whole number",
        float: "a finite number",
        type(None): "None",
        dict: "a dictionary",
    }
    return told.get(hint) or f"an object {hint.__name__}"


@cache
def hints_of(cls):
    """The annotations of a constructor by parameter; a subclass need not repeat those of its
    base."""
    hints = {}
    for base in reversed(cls.__mro__[:-1]):
        if "__init__" in vars(base):
            hints.update(get_type_hints(base.__init__, include_extras=True))
    return {name: hint for name, hint in hints.items() if name != "return"}


def check(estimator, prefix=""):
    """An error that names the first parameter that is not what its annotation says.

    Raises
    ------
    ValueError
        With the name of the parameter, what it may be, and what it is.
    """
    for name, hint in hints_of(type(estimator)).items():
        value = getattr(estimator, name)
        if not fits(value, hint):
            raise ValueError(f"{prefix}{name} must be {words(hint)}, got {value!r}.")
        if isinstance(value, Group):
            check(value, f"{name}.")


def store(owner, values):
    """Keeps the arguments of a constructor, ``locals()`` of it, as attributes of their names: all a
    constructor may do."""
    for name, value in values.items():
        if name not in ("self", "__class__"):
            setattr(owner, name, value)


class Group(BaseEstimator):
    """Parameters that belong together. A group does not change: estimators may share it, and
    ``set_params`` puts another in its place."""

    def __setattr__(self, name, value):
        if name in vars(self):
            raise AttributeError(
                f"{type(self).__name__} does not change once it is made: make another one, or use "
                "set_params of the estimator, "
                f"as in set_params({type(self).__name__.lower()}__{name}={value!r})."
            )
        super().__setattr__(name, value)

    def __eq__(self, other):
        return type(self) is type(other) and self.get_params() == other.get_params()

    def __hash__(self):
        return hash((type(self), tuple(self.get_params().items())))


class Grouped(BaseEstimator):
    """An estimator with groups among its parameters; None stands for the group with its
    defaults."""

    def _group(self, name):
        """A group, or the one with its defaults."""
        given = getattr(self, name)
        return self._groups()[name]() if given is None else given

    @classmethod
    def _groups(cls):
        inner = {name: get_args(hint) for name, hint in hints_of(cls).items()}
        return {
            name: kinds[0]
            for name, kinds in inner.items()
            if kinds and isinstance(kinds[0], type) and issubclass(kinds[0], Group)
        }

    def set_params(self, **params: Any):
        """Set parameters; those of a group by ``group__name``.

        Parameters
        ----------
        **params : object
            The parameters by name.

        Returns
        -------
        self : object
            The estimator.
        """
        for group, kind in self._groups().items():
            own = {name: params.pop(name) for name in list(params) if name.startswith(f"{group}__")}
            if own:
                before = params.get(group, getattr(self, group))
                values = kind().get_params() if before is None else before.get_params()
                for name, value in own.items():
                    plain = name.removeprefix(f"{group}__")
                    if plain not in values:
                        raise ValueError(
                            f"Invalid parameter {plain!r} for {kind.__name__}. Valid parameters "
                            f"are: {list(values)}."
                        )
                    values[plain] = value
                params[group] = kind(**values)
        return super().set_params(**params)
