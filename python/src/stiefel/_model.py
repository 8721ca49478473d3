"""Estimators of every kind of model that the core knows, by name."""

from __future__ import annotations

import inspect
import json
import keyword
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._calibration import CalibratedClassifier
from ._choir import NewDomain, new_person
from ._fitted import progress
from ._parameters import (
    ClassWeight,
    Covariance,
    HandleUnknown,
    LabelFormat,
    NotNegative,
    Seed,
    Share,
)
from ._scaling import Scaling
from ._trials import in_order
from ._validation import check_views, n_threads, to_json

_EMBEDDING = Literal[
    "zero", "initial", "input-only", "nearest", "riemannian-nearest", "transductive"
]

#: Channels and training domains whose default settings stand in signatures.
SIZES = (22, 9)

#: Parameters of every kind: annotation, default, and what it is.
COMMON: dict[str, tuple[Any, Any, str, str]] = {
    "adapt": (
        NewDomain, "own-mean", '{"own-mean", "causal", "pooled"}',
        "The mean of a new domain: that of all its unlabelled trials at hand, of those up to the\n"
        "one decided, or of none. Its labelled trials, if any, are always part of it.",
    ),
    "kappa": (
        NotNegative | None, None, "None | float",
        "How many trials the other domains count for in that mean; None for 10.",
    ),
    "embedding": (
        _EMBEDDING, "zero",
        '{"zero", "initial", "input-only", "nearest", "riemannian-nearest", "transductive"}',
        "What stands in for the embedding of a new domain, if the model has one.",
    ),
    "handle_unknown": (
        HandleUnknown, "error", '{"error", "new"}',
        "What happens at predict with a name that no training domain had: an error, or a new\n"
        "domain.",
    ),
    "label_format": (
        LabelFormat, "class", '{"class", "domain/class"}',
        'What the labels are: classes, or pyRiemann\'s "domain/class".',
    ),
    "covariance": (
        Covariance | None, None, 'None | {"sample", "ledoit-wolf", "oas", "schaefer-strimmer"}',
        "None takes covariances; a name takes epochs (trials, channels, samples) and estimates\n"
        "them. The sample covariance is divided by the number of samples minus one.",
    ),
    "validation_fraction": (
        Share, 0.15, "float",
        "Share of every (domain, class) cell that chooses the epoch or the penalty.",
    ),
    "class_weight": (
        ClassWeight, None, 'None | dict | "balanced"',
        "Weights of the classes in the loss of a network; of other kinds the probability of each\n"
        "class is multiplied by its weight.",
    ),
    "random_state": (
        Seed, None, "None | int | RandomState",
        "The seed of the core and of the validation part; an int is taken as it is.",
    ),
    "n_jobs": (
        int | None, None, "None | int",
        "Threads; the result does not depend on it.",
    ),
    "verbose": (
        bool | int, 0, "int",
        "Print what is fitted.",
    ),
}  # fmt: skip


class ModelClassifier(CalibratedClassifier):
    """A model of the core by the name of its kind or variant; made by :func:`model`."""

    #: The name of the kind or variant.
    _name: str
    #: The path of the setting that each parameter sets.
    _settings: dict[str, str]
    #: Whether all views of a trial are taken, or the first.
    _takes_views: bool

    adapt: Any
    kappa: Any
    embedding: Any
    covariance: Any
    random_state: Any
    n_jobs: Any
    verbose: Any

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        defaults = inspect.signature(type(self)).parameters
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params(False).items()
            if (default := defaults[name].default) is not value
            and (default is None or value != default)
        ]
        return f"stiefel.model({', '.join([repr(self._name), *changed])})"

    def set_params(self, **params: Any) -> ModelClassifier:
        """Set parameters.

        Parameters
        ----------
        **params : object
            The parameters by name.

        Returns
        -------
        self : object
            The estimator.
        """
        known = self._get_param_names()
        unknown = [name for name in params if name not in known]
        if unknown:
            raise ValueError(_no_setting(self._name, unknown[0], known))
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def _trials(self, X, name="X"):
        """Covariances: ``(trials, views, n, n)`` if the model takes all views of a trial, else
        those of the first view."""
        x = check_views(X, self.covariance, name)
        if self._takes_views or getattr(self, "n_views_", 1) > 1:
            return x if x.ndim == 4 else x[:, np.newaxis]
        return x if x.ndim == 3 else np.ascontiguousarray(x[:, 0])

    def _unseen(self):
        embedding = self.embedding if self._model.has_embedding else "input-only"
        return _core.unseen(self._policy(), embedding)

    def _policy(self):
        return new_person(self.adapt, 10.0 if self.kappa is None else self.kappa)

    def _calibrates(self):
        return _core.calibrates(self._name, 2)

    # What a kind cannot do, its estimator does not offer.
    calibrate = available_if(_calibrates)(CalibratedClassifier.calibrate)
    partial_fit = available_if(_calibrates)(CalibratedClassifier.partial_fit)

    def _can_calibrate(self, class_count):
        return _core.calibrates(self._name, class_count)

    def _seed(self):
        return super()._seed() if self._draws() else int(self.random_state)

    def _draws(self):
        return self.random_state is None or isinstance(self.random_state, np.random.RandomState)

    def _orders(self, labels, domains, own):
        # As in a study, where the whole set numbers its classes and domains.
        classes, all_domains = own.names or ((), ())
        at = {str(label): label for label in labels.tolist()}
        known = set(all_domains) & set(domains)
        return (
            np.array(
                [at[str(name)] for name in in_order([*map(str, classes), *at]) if str(name) in at]
            ),
            in_order([*map(str, all_domains if known else ()), *domains]),
        )

    def _given(self, seed):
        """The settings that differ from the defaults of the kind, by path."""
        tree = defaults_of(self._name)
        given = {}
        names = {s["path"]: s["name"] for s in _core.settings(self._name, *SIZES)}
        for name, path in self._settings.items():
            value = getattr(self, name)
            # A part with settings of its own is turned off by False: None is the default.
            turned_off = value is False and not isinstance(tree[path], bool)
            if value is not None:
                given[names[path]] = None if turned_off else value
        for path in tree:
            if _is_seed(path):
                given[path] = seed
            elif _is_policy(path, tree):
                given[path] = json.loads(self._policy())
            elif path == "kappa" and self.kappa is not None:
                given[path] = float(self.kappa)
        if self.embedding == "riemannian-nearest" and "frechet_means" in tree:
            given.setdefault("frechet_means", True)
        return given

    def _train(self, data, validation, seed):
        sizes = data["x"].shape[1], len(set(data["domains"]))
        spec, scaling = _core.spec(self._name, to_json(self._given(seed)), *sizes)
        told = None
        if self.verbose:
            name, settings = type(self).__name__, json.loads(spec)["settings"]
            print(f"[{name}] {data['views']} views, {sizes[1]} domains", flush=True)
            told = progress(name, settings.get("training", {}).get("epochs"))
        model = _core.fit(data, validation, spec, scaling, n_threads(self.n_jobs), told, None)
        if model.scaling is not None:
            self.scaling_ = Scaling(json.loads(model.scaling[0]), model.scaling[1])
        return model

    @classmethod
    def _parameters_of(cls, model):
        default = _core.spec(cls._name, "{}", model.n_channels, max(1, len(model.domains)))[0]
        changed = dict(_changed(*(json.loads(spec)["settings"] for spec in (default, model.spec))))
        found = {}
        for path, value in changed.items():
            if _is_seed(path):
                found["random_state"] = value
            elif path == "kappa":
                found["kappa"] = value
            elif path.rpartition(".")[2] == "unseen" and isinstance(value, dict):
                found.update(adapt=value["policy"], kappa=value.get("kappa"))
        parameters = {path: name for name, path in cls._settings.items()}
        given = {parameters[path]: value for path, value in changed.items() if path in parameters}
        return {
            **found,
            **{name: False if value is None else value for name, value in given.items()},
        }

    @property
    def filters_(self) -> NDArray[np.float64] | None:
        """The filters as orthonormal columns, ``(K, n, k)``; None where there are none."""
        check_is_fitted(self)
        return self._model.filters()


@cache
def defaults_of(name):
    """The default of every setting of a kind or variant by its path, groups before their parts."""
    return {
        setting["path"]: json.loads(setting["default"]) for setting in _core.settings(name, *SIZES)
    }


def _changed(before, after, prefix=""):
    """Paths and values of the settings that differ between two trees."""
    for name, value in after.items():
        old, path = before.get(name), f"{prefix}{name}"
        if isinstance(old, dict) and isinstance(value, dict) and old.keys() == value.keys():
            if name != "unseen":
                yield from _changed(old, value, f"{path}.")
                continue
        if old != value:
            yield path, value


def _is_seed(path):
    return path.rpartition(".")[2] == "seed"


def _is_policy(path, tree):
    """Whether a setting is the policy for new domains, which ``adapt`` sets."""
    return (
        path.rpartition(".")[2] == "unseen"
        and isinstance(tree[path], dict)
        and "policy" in tree[path]
    )


@cache
def _paths(name):
    """The path of the setting that each parameter of a kind or variant sets."""
    tree = defaults_of(name)
    policies = [path for path in tree if _is_policy(path, tree)]
    found = {}
    for setting in _core.settings(name, *SIZES):
        path, short = setting["path"], setting["name"]
        if (
            path == "kappa"
            or _is_seed(path)
            or any(f"{path}.".startswith(f"{p}.") for p in policies)
        ):
            continue
        taken = short in COMMON or hasattr(ModelClassifier, short)
        parameter = (path if taken else short).replace(".", "__").replace("-", "_")
        while (
            parameter in COMMON
            or keyword.iskeyword(parameter)
            or hasattr(ModelClassifier, parameter)
        ):
            parameter += "_"
        found[parameter] = path
    return found


def _no_setting(name, wrong, known):
    return f"{wrong}: {_core.no_such_setting(name, wrong, [*known])}"


@cache
def class_of(name: str) -> type[ModelClassifier]:
    """Make the class of a kind or variant.

    Parameters
    ----------
    name : str
        The kind or variant.

    Returns
    -------
    cls : type
        A subclass of :class:`ModelClassifier` whose constructor has the settings as parameters.

    Raises
    ------
    ValueError
        If there is no such name; it lists those that exist.
    """
    spec = json.loads(_core.spec(name, "{}", *SIZES)[0])
    settings = _paths(name)
    defaults = {
        **dict.fromkeys(settings),
        **{key: default for key, (_, default, *_) in COMMON.items()},
    }

    def __init__(self, **given):
        for key in given:
            if key not in defaults:
                raise TypeError(_no_setting(name, key, defaults))
        for key, default in defaults.items():
            setattr(self, key, given.get(key, default))

    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    parameters += [
        inspect.Parameter(k, inspect.Parameter.KEYWORD_ONLY, default=v) for k, v in defaults.items()
    ]
    __init__.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    __init__.__annotations__ = {key: hint for key, (hint, *_) in COMMON.items()}
    body = {
        "__init__": __init__,
        "__doc__": _docstring(name),
        "__module__": __name__,
        "__qualname__": f"model[{name}]",
        "_name": name,
        "_kinds": (spec["kind"],),
        "_settings": settings,
        "_takes_views": spec["all_views"],
        "_weighs_loss": spec["kind"] in ("dasp", "spdnet"),
        "_counts_alike": spec["kind"] == "choir" or spec["kind"].endswith("mdm"),
    }
    return type(name, (ModelClassifier,), body)


def _docstring(name):
    settings = {setting["path"]: setting for setting in _core.settings(name, *SIZES)}
    lines = [
        f"{dict(_core.kinds())[name]}.",
        "",
        f"Made by ``stiefel.model({name!r})``.",
        "",
        "Parameters",
        "----------",
    ]
    for parameter, path in _paths(name).items():
        setting = settings[path]
        default = "a group" if setting["is_group"] else setting["default"]
        lines += [
            f"{parameter} : {setting['values']}, default=None",
            f"    {setting['about']} None for the default of the kind, {default}.",
        ]
    for parameter, (_, default, hint, about) in COMMON.items():
        lines.append(f"{parameter} : {hint}, default={default!r}")
        lines += [f"    {line}" for line in about.splitlines()]
    return "\n".join(lines)


def __getattr__(name: str) -> type[ModelClassifier]:
    """The class of a kind or variant, where pickle looks for it."""
    if name.startswith("model[") and name.endswith("]"):
        try:
            return class_of(name[len("model[") : -1])
        except ValueError:
            pass
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def model(name: str, **settings: Any) -> ModelClassifier:
    """Make an estimator of any kind of model, by the name it has in studies and for ``stiefel
    train``.

    It is fitted by the code that fits it in a study: on the trials of a fold of :func:`folds`, with
    the seed of the study as ``random_state``, its probabilities are those of the study's record to
    the bit. Pass the trials of the fold that validate as ``fit(..., validation=...)``.

    Parameters
    ----------
    name : str
        A kind or a variant of one: "choir", "dasp", "spdnet", "naive", "ts+lr", "mdm",
        "recentred-ts+lr", and so on. An unknown name is an error that lists them all.
    **settings : object
        The settings of the kind, such as ``epochs`` or ``filters``, and the parameters that all
        kinds have: ``adapt``, ``kappa``, ``embedding``, ``handle_unknown``, ``label_format``,
        ``covariance``, ``validation_fraction``, ``class_weight``, ``random_state``, ``n_jobs`` and
        ``verbose``. ``help(stiefel.model(name))`` explains them, and an unknown one is an error
        that lists them. None is the default of the kind; False turns off a part that has settings
        of its own, as in ``encoder=False``. Of several settings of one name the outermost has
        it, and the others have their whole path as name, with two underscores in the place of each
        dot.

    Returns
    -------
    estimator : object
        A scikit-learn classifier, not yet fitted. It can be saved and loaded, decides in sessions,
        and has ``calibrate`` for kinds that labelled trials can calibrate.

    Raises
    ------
    ValueError
        If there is no kind or variant of this name.
    TypeError
        If the kind has no such setting.

    Examples
    --------
    >>> import stiefel
    >>> data = stiefel.load_synthetic("BNCI2015001", subjects=2, trials_per_class=20)
    >>> fold = stiefel.folds(data)[0]
    >>> clf = stiefel.model("recentred-ts+lr", random_state=0)
    >>> used = sorted([*fold.train, *fold.validation])
    >>> clf = clf.fit(data[used], validation=[i in fold.validation for i in used])
    >>> clf.predict_proba(data[fold.test]).shape == (len(fold.test), 2)
    True
    >>> stiefel.model("dasp", epochs=5, experts=4)
    stiefel.model('dasp', epochs=5, experts=4)
    """
    return class_of(name)(**settings)
