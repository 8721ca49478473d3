"""Parameters: each has a rule, groups of them behave as scikit-learn expects, and nothing that
cannot be reaches the core."""

import inspect
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from stiefel import (
    ChoirClassifier,
    DaspClassifier,
    DomainWhitening,
    Experts,
    Losses,
    SPDNetClassifier,
    TangentSpaceLR,
    Training,
    Whitening,
)
from stiefel._parameters import Group, check, hints_of

ESTIMATORS = [
    ChoirClassifier,
    DaspClassifier,
    SPDNetClassifier,
    TangentSpaceLR,
    DomainWhitening,
]
GROUPS = [Experts, Losses, Training, Whitening]


class Nonsense:
    """What no parameter can be."""


@pytest.mark.parametrize("made", [*ESTIMATORS, *GROUPS])
def test_every_parameter_has_a_rule_that_its_default_obeys(made):
    names = [name for name in inspect.signature(made).parameters]
    assert sorted(hints_of(made)) == sorted(names)
    check(made())
    for name in names:
        with pytest.raises(ValueError, match=rf"^{name} must be .*, got "):
            check(made(**{name: Nonsense()}))


@pytest.mark.parametrize("made", ESTIMATORS)
def test_nothing_that_cannot_be_reaches_the_core(made, small):
    """Whatever has the wrong type is refused by its name at fit, and at predict where it was
    changed since."""
    x, y, d = small
    fitted = (
        made()
        .set_params(**({"epochs": 1} if hasattr(made(), "epochs") else {}))
        .fit(x, y, sample_domain=d)
    )
    for name in inspect.signature(made).parameters:
        with pytest.raises(ValueError, match=f"^{name} must be"):
            made(**{name: Nonsense()}).fit(x, y, sample_domain=d)
        before = getattr(fitted, name)
        with pytest.raises(ValueError, match=f"^{name} must be"):
            decide = fitted.transform if made is DomainWhitening else fitted.predict
            fitted.set_params(**{name: Nonsense()}) and decide(x, sample_domain=d)
        fitted.set_params(**{name: before})


def test_groups_do_not_change_and_may_be_shared():
    shared = Whitening(kappa=3)
    one, two = SPDNetClassifier(whitening=shared), DaspClassifier(whitening=shared)
    one.set_params(whitening__adapt="causal")
    assert (
        one.whitening == Whitening("causal", kappa=3)
        and two.whitening is shared
        and shared.adapt == "pooled"
    )
    with pytest.raises(
        AttributeError,
        match=r"use set_params of the estimator, as in set_params\(whitening__kappa=5\)",
    ):
        shared.kappa = 5
    three = SPDNetClassifier().set_params(whitening=shared, whitening__kappa=7)
    assert (three.whitening.kappa, shared.kappa) == (7, 3)
    assert (
        len({Whitening(), Whitening(kappa=10.0), Whitening(kappa=9)}) == 2
        and Whitening() != Training()
    )


@pytest.mark.parametrize(
    "group",
    [Experts(top_p=2), Losses(csp=0.5), Training(patience=3), Whitening("own-mean")],
    ids=repr,
)
def test_groups_are_parameters_as_scikit_learn_knows_them(group):
    assert isinstance(group, Group)
    assert clone(group) == pickle.loads(pickle.dumps(group)) == group
    name = type(group).__name__.lower()
    clf = DaspClassifier(**{name: group})
    assert repr(clf) == f"DaspClassifier({name}={group!r})"
    assert clone(clf).get_params() == clf.get_params()
    for key, value in group.get_params().items():
        assert clf.get_params()[f"{name}__{key}"] == value
    assert (
        DaspClassifier()
        .set_params(**{f"{name}__{k}": v for k, v in group.get_params().items()})
        .get_params()
        == clf.get_params()
    )
    pipeline = make_pipeline(DaspClassifier())
    key, value = next(
        (k, v) for k, v in group.get_params().items() if v != getattr(type(group)(), k)
    )
    assert (
        getattr(pipeline.set_params(**{f"daspclassifier__{name}__{key}": value})[-1], name) == group
    )


def test_grids_over_groups(small):
    x, y, _ = small
    base = SPDNetClassifier(epochs=2, random_state=0)
    grid = {"training__learning_rate": [0.01, 0.1], "whitening": [None, Whitening(scaling="none")]}
    search = GridSearchCV(base, grid, cv=2).fit(x, y)
    assert len(search.cv_results_["params"]) == 4
    assert (
        search.best_estimator_.training.learning_rate
        == search.best_params_["training__learning_rate"]
    )
    assert np.isfinite(search.cv_results_["mean_test_score"]).all() and base.training is None


def test_whitening_that_would_not_be_used_is_refused(small):
    x, y, _ = small
    with pytest.raises(ValueError, match="whiten_domains=False whitens nothing"):
        TangentSpaceLR(whitening=Whitening()).fit(x, y)


class Mine(SPDNetClassifier):
    """A subclass of a user's, who annotates nothing."""

    def __init__(self, filters=4):
        super().__init__(filters=filters, epochs=2, whitening=Whitening("own-mean"))


def test_subclasses_inherit_the_rules(small):
    x, y, d = small
    expected = SPDNetClassifier(filters=4, epochs=2, whitening=Whitening("own-mean"))
    mine = Mine().fit(x, y, sample_domain=d)
    assert mine.predict_proba(x[:5]).shape == (5, 2)
    assert mine.whitening == expected.whitening and mine.filters == expected.filters
    with pytest.raises(
        ValueError, match="filters must be 'auto' or a whole number of at least 1, got 4.0"
    ):
        Mine(4.0).fit(x, y)
