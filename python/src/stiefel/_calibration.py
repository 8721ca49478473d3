"""Calibration: a fitted model learns from a few labelled trials of people, new or known."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from . import _domains
from ._base import labelled
from ._fitted import DomainClassifier
from ._trials import Trials, told
from ._validation import check_labels

if TYPE_CHECKING:
    from typing_extensions import Self


class CalibratedClassifier(DomainClassifier):
    """A classifier that labelled trials of a domain calibrate after the fit."""

    def calibrate(
        self,
        X: ArrayLike | Trials,
        y: ArrayLike | None = None,
        domain: Any = None,
        sample_domain: ArrayLike | None = None,
        subjects: ArrayLike | None = None,
    ) -> Self:
        """Learn what is a domain's own from a few of its labelled trials; nothing else changes.

        Two trials of two classes are enough to begin with, and more can follow in further calls,
        with the same result as all of them at once. From then on a new domain is a known one, and
        its mean goes on with unlabelled trials as ``adapt`` says. Take equally many trials of
        each class, if you can. Decisions for all other domains stay the same to the bit.

        Parameters
        ----------
        X : ndarray, shape (trials, views, n, n) or (trials, n, n) | Trials
            Covariances that are new to the model; or epochs with the option ``covariance``.
        y : None | ndarray, shape (trials,), default=None
            Classes, among those of training. None takes those of ``Trials``.
        domain : None | str | int, default=None
            Whose trials they are, if all belong to one domain.
        sample_domain, subjects : None | ndarray, shape (trials,), default=None
            The domain of each trial. If none of the three is given, it is that of ``Trials``, or
            the one domain "target".

        Returns
        -------
        self : object
            The estimator, calibrated.

        Raises
        ------
        ValueError
            If the model has nothing that labelled trials could set, or the trials are those it was
            made with.
        """
        x, own = self._accept(X)
        labels = check_labels(told(X).y if y is None else y, len(x))
        if domain is not None:
            if sample_domain is not None or subjects is not None:
                raise ValueError(
                    "Pass either domain or sample_domain or subjects: each says whose trial it is."
                )
            subjects = [domain] * len(x)
        by_sample, by_subject = own.whose(sample_domain, subjects)
        names = _domains.given(len(x), by_sample, by_subject, complete=True)
        self._calibrate(x, labels, [_domains.TARGET] * len(x) if names is None else names, own)
        return self

    def partial_fit(
        self,
        X: ArrayLike | Trials,
        y: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        sample_domain: ArrayLike | None = None,
        subjects: ArrayLike | None = None,
    ) -> Self:
        """Calibrate under scikit-learn's name, see :meth:`calibrate`; the model must be fitted.

        Parameters
        ----------
        X : ndarray, shape (trials, views, n, n) or (trials, n, n) | Trials
            Labelled trials that are new to the model.
        y : None | ndarray, shape (trials,), default=None
            Classes, among those of training. None takes those of ``Trials``.
        classes : None | ndarray, default=None
            Not needed: the classes are those of training, and others are refused.
        sample_domain, subjects : None | ndarray, shape (trials,), default=None
            Domains; see :meth:`calibrate`.

        Returns
        -------
        self : object
            The estimator, calibrated.
        """
        check_is_fitted(self)
        if classes is not None and not set(np.asarray(classes).tolist()) <= set(
            self.classes_.tolist()
        ):
            raise ValueError(
                f"the model was trained on the classes {self.classes_.tolist()}, but classes says "
                f"{np.asarray(classes).tolist()}."
            )
        return self.calibrate(X, y, None, sample_domain, subjects)

    def _calibrate(self, x, labels, domains, own):
        different, numbers = _domains.factor(domains)
        at = {c: i for i, c in enumerate(self.classes_.tolist())}
        unknown = [c for c in dict.fromkeys(labels.tolist()) if c not in at]
        if unknown:
            raise ValueError(
                f"class {unknown[0]!r} is not among those of training: {self.classes_.tolist()}."
            )
        classes = [at[c] for c in labels.tolist()]
        data = labelled(
            x, classes, self.classes_, numbers, different, None, own.channels, own.preparation
        )
        model, said = self._model.calibrate(data)
        for text in said:
            warnings.warn(f"calibration with uneven classes: {text}", UserWarning, stacklevel=3)
        self._model = model
        self._describe()
