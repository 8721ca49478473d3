"""What the networks share."""

from __future__ import annotations

import json

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._fitted import DomainClassifier
from ._preconditioning import preconditioning, whitening_of
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
        scaling = recommend(data["x"].shape[1], len(data["domain_names"]), getattr(self, "preset", None))
        config = self._configuration(scaling)
        training = self._group("training")
        config["preconditioning"] = preconditioning(whitening_of(self))
        config["training"].update(batch=training.batch_size, epochs=self.max_epochs, patience=training.patience, seed=seed)
        config["training"]["adam"]["learning_rate"] = training.learning_rate
        model = _core.fit(
            data,
            validation,
            to_json({"kind": "network", "model": config, "precision": training.precision}),
            to_json(scaling),
            n_threads(self.n_jobs),
            self._progress() if self.verbose else None,
            getattr(self, "_model", None) if self.warm_start else None,
        )
        self.scaling_ = scaling
        return model

    def _progress(self):
        """Prints a line per epoch; plain lines work in a terminal, a log and a notebook."""

        def tell(record):
            epoch = json.loads(record)
            loss = sum(value for _, value in epoch["losses"])
            print(
                f"[{type(self).__name__}] epoch {epoch['epoch'] + 1:>3}/{self.max_epochs}  loss {loss:.4f}  "
                f"validation accuracy {epoch['validation_accuracy']:.3f}",
                flush=True,
            )

        return tell

    def _describe(self):
        super()._describe()
        self.n_views_ = self._model.views
        record = json.loads(self._model.record)
        self.history_ = record["history"]
        self.n_iter_ = len(self.history_)
        self.best_epoch_ = record["best_epoch"]

    @property
    def experts_(self) -> NDArray[np.floating] | None:
        """The experts, ``(K, n, k)``, in the precision of training; of polar ones the orthonormal columns, of several views those of the first; None where nothing is routed."""
        check_is_fitted(self)
        precision = json.loads(self._model.config)["precision"]
        found = self._model.filters()
        return None if found is None else found.astype(np.float32 if precision == "f32" else np.float64)
