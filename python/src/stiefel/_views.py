"""Covariances of signals in several frequency bands and time windows, as a transformer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin

from . import _core
from ._info import channels_of, check_recipe, event_names, is_epochs, is_raw, of_channels
from ._mne import from_raw, recipe_of
from ._parameters import store
from ._trials import Preparation, Trials, of_core
from ._validation import as_real


class Views(TransformerMixin, BaseEstimator):
    """Covariances of signals in several frequency bands and time windows, by a recipe.

    It takes recordings of MNE (their annotations are the events), epochs of MNE that are not
    filtered yet, or arrays. Its output knows classes, names of channels, and bands and windows: a
    model puts channels and views in its own order, and refuses signals that were prepared in
    another way. Of MNE's objects, channels that are marked as bad are left out and projections are
    applied. What ``info`` says of filters and reference is compared with the recipe, and a
    contradiction is an error that names both values.

    Parameters
    ----------
    recipe : str | dict | Preparation, default="choir"
        How covariances are made. A text names the views: "choir" (six views around 8–32 Hz and
        0.5–3.5 s), "broad" (this one alone), or bands and windows,
        "8-32@0.5-3.5,10-14@0.5-3.5". A dictionary has the fields of the program's recipe:
        ``views``, or ``band`` and ``window`` around which a name finds its views; ``reference``
        ("as-recorded", "average" or electrodes, "M1+M2"), ``rate``, ``channels``, ``order``,
        ``phase`` ("zero" or "causal"), ``estimator``, ``reject`` and ``classes``. The
        ``preparation_`` of a model is its own recipe.
    domain : None | str | list of str, default=None
        Whose signals they are, or each of the recordings in a list; None if this is told later.
    sfreq : None | float, default=None
        Samples per second of arrays.
    tmin : float, default=0.0
        Time of the first sample of arrays, in seconds from the event.

    Attributes
    ----------
    recipe_ : dict
        The complete recipe.

    Notes
    -----
    Epochs are filtered one by one. They should begin before the first window and end after the last
    one: the filter needs room. Recordings are filtered as a whole, and their trials of extreme
    amplitude are left out as ``reject`` says; no epoch is.

    Examples
    --------
    >>> import numpy as np
    >>> import stiefel
    >>> epochs = np.random.default_rng(0).normal(size=(6, 4, 700))
    >>> trials = stiefel.Views(sfreq=160).fit_transform(epochs)
    >>> trials.shape, trials.preparation["recipe"]["views"][1]
    ((6, 6, 4, 4), '10-14@0.5-3.5')
    >>> stiefel.Views("8-30@0-4,10-14@1-3", sfreq=160).fit_transform(epochs).shape
    (6, 2, 4, 4)
    """

    def __init__(
        self,
        recipe: str | Mapping[str, Any] | Preparation = "choir",
        domain: str | Sequence[str] | None = None,
        sfreq: float | None = None,
        tmin: float = 0.0,
    ) -> None:
        store(self, locals())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def recipe_(self) -> dict[str, Any]:
        """The complete recipe."""
        complete: dict[str, Any] = recipe_of(self.recipe)
        return complete

    def fit(self, X: Any, y: ArrayLike | None = None) -> Views:
        """Check the recipe; nothing is learnt.

        Parameters
        ----------
        X : mne.io.Raw | list of mne.io.Raw | mne.Epochs | ndarray
            Signals.
        y : None
            Not used.

        Returns
        -------
        self : object
            The transformer.
        """
        recipe_of(self.recipe)
        return self

    def transform(self, X: Any) -> Trials:
        """Covariances of every view of every trial.

        Parameters
        ----------
        X : mne.io.Raw | list of mne.io.Raw | mne.Epochs | ndarray
            Signals; of an array ``(trials, channels, samples)``.

        Returns
        -------
        trials : Trials
            Covariances ``(trials, views, n, n)``, or ``(trials, n, n)`` of one view; in µV² of
            MNE's objects.
        """
        if is_raw(X) or isinstance(X, (list, tuple)) and len(X) and all(map(is_raw, X)):
            found = from_raw(X, self.recipe, domain=self.domain)
            found.domains = None if self.domain is None else found.domains
            return found
        recipe = recipe_of(self.recipe)
        cut = _of_epochs(X, recipe) if is_epochs(X) else self._of_array(X)
        if self.domain is not None and not isinstance(self.domain, str):
            raise ValueError("several names are for several recordings; epochs have one domain.")
        domains = [self.domain or ""] * len(cut["data"])
        found = of_core(_core.prepare_epochs(json.dumps(recipe), {**cut, "domains": domains}))
        found.y = found.y if is_epochs(X) else None
        found.domains = None if self.domain is None else found.domains
        found.channels = None if cut["channels"] is None else found.channels
        return found

    def _of_array(self, X):
        if self.sfreq is None:
            raise ValueError(
                "sfreq is needed: an array does not say how many samples a second has."
            )
        x = np.ascontiguousarray(as_real(X, "X", ndim=3), dtype=np.float64)
        if x.ndim != 3:
            raise ValueError(
                f"Expected 3D array, got {x.ndim}D array instead: X of shape {x.shape} is not "
                "(trials, channels, samples)."
            )
        return {
            "data": x,
            "sfreq": float(self.sfreq),
            "channels": None,
            "unit": "",
            "start": float(self.tmin),
            "labels": [""] * len(x),
        }


def _of_epochs(epochs, recipe):
    names = check_recipe(epochs, recipe)
    channels = channels_of(epochs, names)
    return {
        "data": np.ascontiguousarray(of_channels(epochs, names)),
        "sfreq": float(epochs.info["sfreq"]),
        "channels": channels,
        "unit": "µV",
        "start": float(epochs.tmin),
        "labels": event_names(epochs).tolist(),
    }
