"""A fitted classifier at work on the trials of one domain."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._base import flat
from ._info import is_epochs
from ._trials import Trials


class Session:
    """Decisions for one domain, one after the other; made by ``session`` of a fitted classifier.

    Under causal whitening every trial changes the mean of the next, in this call and in later ones:
    the same trials in one call or in several give the same decisions to the bit.

    Attributes
    ----------
    domain : str
        Whose trials are decided.
    classes_ : ndarray
        The classes, in the order of the probabilities.
    note : str | None
        What is done for a domain without training trials, in words.

    Examples
    --------
    >>> import numpy as np
    >>> import stiefel
    >>> data = stiefel.load_synthetic("BNCI2015001", subjects=3, trials_per_class=10)
    >>> new = data.domains == "S03"
    >>> clf = stiefel.ChoirClassifier(adapt="causal", random_state=0).fit(data[~new])
    >>> session = clf.session()
    >>> one_by_one = np.stack([session.predict_proba(x) for x in data.X[new]])
    >>> bool((one_by_one == clf.session().predict_proba(data.X[new])).all())
    True
    """

    def __init__(self, estimator, domain, session):
        self._estimator, self._session, self._columns = estimator, session, estimator._columns
        self.domain, self.classes_, self.note = domain, estimator.classes_, session.note

    def __repr__(self):
        return f"Session(domain={self.domain!r})"

    def predict_proba(self, X: ArrayLike | Trials) -> NDArray[np.float64]:
        """Probabilities of the classes.

        Parameters
        ----------
        X : ndarray, shape (n, n) or (trials, n, n) | Trials
            With several views, shape (views, n, n) or (trials, views, n, n). One trial or several,
            in the order in which they came: covariances, or epochs with the option ``covariance``.

        Returns
        -------
        p : ndarray, shape (classes,) or (trials, classes)
            The probabilities.
        """
        alone = 3 if getattr(self._estimator, "n_views_", 1) > 1 else 2
        one = not isinstance(X, Trials) and not is_epochs(X) and np.ndim(X) == alone
        x, _ = self._estimator._accept(np.asarray(X)[np.newaxis] if one else X)
        p = self._session.decide(flat(x))[0][0][:, self._columns]
        return p[0] if one else p

    def predict(self, X: ArrayLike | Trials) -> Any:
        """The most probable class.

        Parameters
        ----------
        X : ndarray, shape (n, n) or (trials, n, n) | Trials
            One trial or several.

        Returns
        -------
        y : object | ndarray, shape (trials,)
            The class, or the class of each.
        """
        return self.classes_[self.predict_proba(X).argmax(axis=-1)]
