"""What the networks share."""

from __future__ import annotations

import json

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._fitted import DomainClassifier, progress
from ._preconditioning import options_of, preconditioning, whitening_of
from ._scaling import recommend
from ._validation import check_views, n_threads, to_json


class NetworkClassifier(DomainClassifier):
    """A network of the core."""

    def _trials(self, X, name="X"):
        """Covariances ``(trials, n, n)``, or of several views ``(trials, views, n, n)``."""
        return check_views(X, self.covariance, name)

    def _configuration(self, scaling):
        """The core's configuration, as a dictionary, and the choices as they stand."""
        raise NotImplementedError

    def _tail(self):
        """What the networks with one filter and with many have in common, as the core reads it."""
        return {
            "orthogonality": self._group("training").orthogonality,
            "initial_anchor": self.initial_anchor,
            "batch_norm": None if self.batch_norm is None else {"position": self.batch_norm},
        }

    def _train(self, data, validation, seed):
        """The core's model of labelled trials."""
        scaling = recommend(
            data["x"].shape[1], len(data["domain_names"]), getattr(self, "preset", None)
        )
        config = self._configuration(scaling)
        training = self._group("training")
        config["preconditioning"] = preconditioning(whitening_of(self))
        config["training"].update(
            batch=training.batch, epochs=self.epochs, patience=training.patience, seed=seed
        )
        config["training"]["adam"]["learning_rate"] = training.learning_rate
        spec = {
            "kind": config["architecture"]["network"],
            "settings": {**config, "sizes": "auto", "precision": training.precision},
            "all_views": data["views"] > 1,
        }
        model = _core.fit(
            data,
            validation,
            to_json(spec),
            to_json(scaling),
            n_threads(self.n_jobs),
            progress(type(self).__name__, self.epochs) if self.verbose else None,
            getattr(self, "_model", None) if self.warm_start else None,
        )
        self.scaling_ = scaling
        return model

    @classmethod
    def _parameters_of(cls, model):
        return options_of(json.loads(model.spec)["settings"])

    @property
    def experts_(self) -> NDArray[np.floating] | None:
        """The experts, ``(K, n, k)``, in the precision of training; of polar ones the orthonormal
        columns, of several views those of the first; None where nothing is routed."""
        check_is_fitted(self)
        settings = json.loads(self._model.spec)["settings"]
        precision = settings["precision"]
        found = self._model.filters() if settings["architecture"]["network"] == "dasp" else None
        return (
            None
            if found is None
            else found.astype(np.float32 if precision == "f32" else np.float64)
        )
