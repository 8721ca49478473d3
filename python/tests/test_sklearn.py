"""scikit-learn's own estimator checks.

The checks feed tables ``(samples, features)``. An estimator of covariances refuses those, and
scikit-learn skips it. So the checks run on subclasses that differ in one point: a row of a table
becomes an SPD matrix (``exp`` of the symmetric matrix whose upper triangle it is), row by row and
one to one. Everything behind that step is what users get.
"""

import inspect
import re

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import validate_data

import stiefel
from stiefel import (
    ChoirClassifier,
    DaspClassifier,
    DomainWhitening,
    SPDNetClassifier,
    TangentSpaceLR,
    Training,
    Views,
    Whitening,
    model,
    spd,
)


def to_spd(table):
    """Rows as matrices of the smallest size that holds them; the scale keeps the exponential
    tame."""
    rows, width = table.shape
    n = max(3, int(np.ceil((np.sqrt(8 * width + 1) - 1) / 2)))
    padded = np.zeros((rows, n * (n + 1) // 2))
    padded[:, :width] = table
    return spd.expm(spd.unupper(np.arctan(padded)))


def on_tables(base):
    """The same estimator for tables."""

    class OnTables(base):
        def __sklearn_tags__(self):
            tags = super().__sklearn_tags__()
            tags.input_tags.two_d_array = True
            tags.input_tags.three_d_array = False
            return tags

        def _trials(self, X, name="X"):
            fitted = hasattr(self, "_width")
            table = validate_data(self, X, reset=not fitted, dtype=[np.float64, np.float32])
            return to_spd(table.astype(np.float64))

        def _fit_table(self, X, y, **named):
            self.__dict__.pop("_width", None)
            base.fit(self, X, y, **named)
            self._width = self.n_features_in_ = np.asarray(X).shape[1]
            return self

        # The checks read from the signature whether an estimator takes weights.
        if "sample_weight" in inspect.signature(base.fit).parameters:

            def fit(self, X, y=None, sample_weight=None, **named):
                weights = {} if sample_weight is None else {"sample_weight": sample_weight}
                return self._fit_table(X, y, **weights, **named)

        else:

            def fit(self, X, y=None, **named):
                return self._fit_table(X, y, **named)

    # Found by name, so that it can be pickled.
    # A check looks for a name without signs.
    name = re.sub(r"\W", "_", base.__name__)
    OnTables.__name__ = OnTables.__qualname__ = f"{name}OnTables"
    globals()[OnTables.__name__] = OnTables
    return OnTables


def quick(base):
    return on_tables(base)(
        epochs=30,
        random_state=0,
        training=Training(learning_rate=0.05),
        whitening=Whitening(scaling="none"),
    )


def named(name):
    """The estimator of a kind by its name, for tables."""
    return on_tables(type(model(name)))(random_state=0)


RANDOM = (
    "mini-batches, the validation part and the order of trials are drawn by position: a repeated "
    "trial is not a weight of two"
)
CHOICE = (
    "the epoch kept is the one of the best balanced accuracy on the validation part, which class "
    "weights do not tilt"
)
SPLIT = (
    "the validation part is drawn by position, and whitening counts every trial once: a repeated "
    "trial is not a weight of two"
)
CALIBRATES = "partial_fit calibrates a fitted model, with trials that it was not trained on"
NETWORKS = [quick(DaspClassifier), quick(SPDNetClassifier)]
CHOIR = on_tables(ChoirClassifier)(random_state=0)


def expected(estimator):
    kind = getattr(estimator, "_name", "choir" if "Choir" in type(estimator).__name__ else None)
    if kind is not None:
        checks = {"check_sample_weight_equivalence_on_dense_data": SPLIT}
        if hasattr(estimator, "partial_fit"):
            checks["check_fit_score_takes_y"] = CALIBRATES
            checks["check_n_features_in_after_fitting"] = CALIBRATES
            checks["check_estimators_partial_fit_n_features"] = CALIBRATES
        return checks
    if not hasattr(estimator, "epochs"):
        return {}
    return {
        "check_sample_weight_equivalence_on_dense_data": RANDOM,
        "check_class_weight_classifiers": CHOICE,
    }


OTHERS = [on_tables(TangentSpaceLR)(), on_tables(DomainWhitening)(scaling="none")]
#: Kinds by name, one for each way of fitting and deciding.
KINDS = [named(name) for name in ("choir", "ts+lr", "recentred-mdm", "fb-ts+lr-per-domain")]


#: It takes signals: what scikit-learn can check without trials of its own.
SIGNALS = Views(sfreq=100.0)


@parametrize_with_checks(
    [*NETWORKS, CHOIR, *OTHERS, *KINDS, SIGNALS], expected_failed_checks=expected
)
def test_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "base",
    [
        ChoirClassifier,
        DaspClassifier,
        SPDNetClassifier,
        TangentSpaceLR,
        DomainWhitening,
        Views,
        type(model("dasp")),
        type(model("mdm")),
    ],
)
def test_the_constructor_only_stores(base):
    estimator = base()
    for name, value in estimator.get_params().items():
        assert getattr(estimator, name) is value
    tags = estimator.__sklearn_tags__()
    assert tags.input_tags.three_d_array
    assert not tags.input_tags.two_d_array


def test_every_estimator_is_checked():
    """Everything public that fits is in the lists above, as itself or for tables."""
    checked = {
        type(e).__name__.removesuffix("OnTables") for e in [*NETWORKS, CHOIR, *OTHERS, SIGNALS]
    }
    public = {name for name in stiefel.__all__ if hasattr(getattr(stiefel, name), "fit")}
    assert public == checked
