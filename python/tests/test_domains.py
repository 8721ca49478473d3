"""Whose trial it is: one name per domain, nothing lost, nobody pooled, and a word where nobody was
named."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone

from stiefel import (
    ChoirClassifier,
    DaspClassifier,
    DomainWhitening,
    SPDNetClassifier,
    TangentSpaceLR,
)

QUICK = {"epochs": 4, "random_state": 0}
CORE = [
    DaspClassifier(n_experts=2, **QUICK),
    SPDNetClassifier(**QUICK),
    ChoirClassifier(random_state=0),
]
ALL = [*CORE, TangentSpaceLR(whiten_domains=True), DomainWhitening()]


def ids(estimator):
    return type(estimator).__name__


def decide(model, *arguments, **named):
    return (model.transform if hasattr(model, "transform") else model.predict_proba)(
        *arguments, **named
    )


@pytest.mark.parametrize("handle_unknown", ["error", "new"])
@pytest.mark.parametrize("base", ALL, ids=ids)
def test_a_number_and_its_text_are_one_domain(base, handle_unknown, small):
    x, y, d = small
    d = d + 1
    model = clone(base).set_params(handle_unknown=handle_unknown).fit(x, y, subjects=d)
    expected = decide(model, x, subjects=d)
    for same in (
        d.astype(float),
        d.astype(np.float32),
        d.astype(str),
        d.tolist(),
        d.astype(np.int8),
        d.astype(object),
    ):
        np.testing.assert_array_equal(decide(model, x, subjects=same), expected)
        np.testing.assert_array_equal(
            decide(clone(model).fit(x, y, subjects=same), x, sample_domain=d), expected
        )
    names = model.whitening_.domains_ if hasattr(model, "whitening_") else model.domains_
    assert names.tolist() == ["1", "2"]
    other = np.char.add("0", d.astype(str))
    if handle_unknown == "error":
        with pytest.raises(
            ValueError, match="trial 0 belongs to domain '01', which had no training trials"
        ):
            decide(model, x, subjects=other)
    else:
        assert not np.array_equal(decide(model, x, subjects=other), expected)


@pytest.mark.parametrize("base", ALL, ids=ids)
def test_a_trial_of_nobody_is_an_error_at_fit(base, small):
    x, y, d = small
    pandas = pytest.importorskip("pandas")
    for missing in (None, np.nan, pandas.NA):
        for keyword in ("subjects", "sample_domain"):
            who = d.astype(object)
            who[5] = missing
            with pytest.raises(ValueError, match=rf"{keyword}\[5\] is missing"):
                clone(base).fit(x, y, **{keyword: who})
    with pytest.raises(ValueError, match="trial 24 has the domain -1, a negative number"):
        clone(base).fit(x, y, subjects=np.where(d == 1, -1, d))
    with pytest.raises(ValueError, match="trial 24 has the domain -1, a negative number"):
        clone(base).set_params(label_format="domain/class").fit(
            x, np.where(d == 1, "-1/hand", "0/feet")
        )
    clone(base).fit(x, y, sample_domain=np.where(d == 1, -1, d))


@pytest.mark.parametrize("base", CORE, ids=ids)
def test_a_domain_called_target_is_not_the_target(base, small):
    x, y, d = small
    who = np.array(["anna", "target"])[d]
    with pytest.raises(ValueError, match="a training domain is called 'target'"):
        clone(base).fit(x, y, subjects=who, X_target_labeled=x[:12], y_target_labeled=y[:12])
    assert clone(base).fit(x, y, subjects=who).domains_.tolist() == ["anna", "target"]
    with pytest.raises(ValueError, match="y_target_labeled was given without X_target_labeled"):
        clone(base).fit(x, y, subjects=who, y_target_labeled=y[:12])


@pytest.mark.parametrize("base", ALL, ids=ids)
def test_several_new_people_are_not_one(base, small, policy):
    x, y, d = small
    carl, dora = x[:12] * 3, x[30:42] / 2
    test = x[12:18]
    base = clone(base).set_params(**policy(base, "own-mean"))

    def alone(target):
        return decide(clone(base).fit(x, y, sample_domain=d, X_target_unlabeled=target), test)

    named = clone(base).fit(x, y, sample_domain=d, X_target_unlabeled={"carl": carl, 7: dora})
    marked = clone(base).fit(
        np.concatenate([x, carl, dora]),
        np.concatenate([y, y[:24]]),
        sample_domain=[*d, *[-1] * 12, *[-2] * 12],
    )
    for model, names in (
        (named, ("carl", "7")),
        (marked, (-1, -2)),
        (pickle.loads(pickle.dumps(marked)), ("-1", -2.0)),
    ):
        for name, target in zip(names, (carl, dora)):
            np.testing.assert_array_equal(
                decide(model, test, sample_domain=[name] * 6), alone(target)
            )
        # Another stranger is known by the trials at hand.
        np.testing.assert_array_equal(decide(model, test, sample_domain=[-9] * 6), alone(test))
        with pytest.raises(
            ValueError,
            match=r"unlabelled trials of 2 new domains were given at fit \((carl, 7|-1, -2)\)",
        ):
            decide(model, test)
    with pytest.raises(
        ValueError, match=r"X_target_unlabeled\['1'\] belongs to a domain that has training trials"
    ):
        clone(base).fit(x, y, sample_domain=d, X_target_unlabeled={1: carl})
    with pytest.raises(
        ValueError, match="one array, for one new domain, but these trials belong to 2 \\(-1, -2\\)"
    ):
        decide(
            clone(base).fit(x, y, sample_domain=d, X_target_unlabeled=carl),
            test,
            sample_domain=[-1, -2] * 3,
        )


@pytest.mark.parametrize("base", ALL, ids=ids)
def test_a_slash_in_a_class_is_part_of_its_name(base, small):
    x, y, d = small
    classes = np.array(["imagery/feet", "imagery/hand"])[y]
    plain = clone(base).fit(x, y, subjects=d)
    model = clone(base).fit(x, classes, subjects=d)
    np.testing.assert_array_equal(decide(model, x, subjects=d), decide(plain, x, subjects=d))
    alone = clone(base).fit(x, classes)
    if hasattr(model, "classes_"):
        assert alone.classes_.tolist() == ["imagery/feet", "imagery/hand"]
        assert alone.score(x, classes) > 0.7
    # On request it is not.
    encoded = np.array([f"S/{who}/{label}" for who, label in zip(d, y)])
    model = clone(base).set_params(label_format="domain/class").fit(x, encoded)
    names = np.array(["S/0", "S/1"])[d]
    np.testing.assert_array_equal(decide(model, x, subjects=names), decide(plain, x, subjects=d))
    if hasattr(model, "classes_"):
        assert model.classes_.tolist() == ["0", "1"]
        assert model.score(x, encoded) == plain.score(x, y, subjects=d)
    with pytest.raises(
        ValueError, match=r"label_format is 'domain/class', but y\[0\] is '?0'?, which has no slash"
    ):
        clone(model).fit(x, y)
    with pytest.raises(ValueError, match="takes the domains from the labels"):
        clone(model).fit(x, encoded, subjects=d)
    with pytest.raises(
        ValueError, match="label_format must be one of class, domain/class, got 'both'"
    ):
        clone(model).set_params(label_format="both").fit(x, encoded)


@pytest.mark.parametrize("base", ALL, ids=ids)
def test_a_model_of_several_domains_says_once_that_it_was_told_of_none(base, small):
    x, y, d = small
    model = clone(base).fit(x, y, subjects=d)
    with pytest.warns(
        UserWarning, match="was trained on 2 domains and was not told whose trials these are"
    ):
        expected = decide(model, x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(decide(model, x), expected)
        fresh = clone(base).fit(x, y, subjects=d)
        np.testing.assert_array_equal(decide(fresh, x, sample_domain=[-1] * len(x)), expected)
        decide(fresh, x, subjects=d)
        decide(clone(base).fit(x, y), x)
        decide(clone(base).fit(x, y, subjects=d, X_target_unlabeled=x[:10]), x)
    with pytest.warns(UserWarning, match="not told"):
        decide(model.fit(x, y, subjects=d), x)


def test_weights_of_zero_shape_nothing(small):
    x, y, d = small
    weight = np.ones(len(x))
    weight[::4] = 0
    kept = weight > 0
    for whiten in (False, True):
        clf = TangentSpaceLR(whiten_domains=whiten)
        p = clf.fit(x, y, weight, sample_domain=d).predict_proba(x, sample_domain=d)
        without = clf.fit(x[kept], y[kept], sample_domain=d[kept]).predict_proba(x, sample_domain=d)
        np.testing.assert_array_equal(p, without)
