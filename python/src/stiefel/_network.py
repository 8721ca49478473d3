"""What the networks share."""

from __future__ import annotations

import json

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._base import DomainClassifier
from ._preconditioning import is_causal, preconditioning, seen, unseen_whitening, whitening_of
from ._scaling import Scaling, recommend
from ._validation import n_threads, to_json

#: What stands in for the embedding of a new domain and looks at its unlabelled trials.
LOOKING = ("nearest", "riemannian-nearest", "transductive")


class NetworkClassifier(DomainClassifier):
    """A network of the core."""

    @staticmethod
    def _read(path):
        return _core.load(path)

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
            to_json(config),
            to_json(scaling),
            training.precision,
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
        record = json.loads(self._model.record)
        self.history_ = record["history"]
        self.n_iter_ = len(self.history_)
        self.best_epoch_ = record["best_epoch"]

    def _decide_known(self, x, domain):
        p, alpha = self._model.predict_known(x, domain)
        return p[0], None if alpha is None else alpha[0]

    def _decide_new(self, x, given):
        """Adapted to the unlabelled trials given at fit, else to those at hand."""
        policy, whitening = self.unseen if self._model.has_embedding else "input-only", whitening_of(self)
        if policy in LOOKING and is_causal(whitening) and given is None:
            raise ValueError(
                f"unseen={policy!r} looks at all trials of the new domain and whitening.unseen='causal' only at those up to each one: "
                "give X_target_unlabeled at fit, or choose 'own-mean' or 'pooled'."
            )
        handle = self._model.adapt(seen(whitening, given, x), unseen_whitening(whitening), policy)
        p, alpha = self._model.predict_unseen(x, handle)
        return p[0], None if alpha is None else alpha[0]

    @property
    def experts_(self) -> NDArray[np.floating] | None:
        """The experts, ``(K, n, k)``, in the precision of training; of polar ones the orthonormal columns; None where nothing is routed."""
        check_is_fitted(self)
        return self._model.experts()

    def _adopt(self, model):
        network = json.loads(model.config)["architecture"]["network"]
        if network not in self._networks:
            raise ValueError(f"the file holds a {network} network, which {type(self).__name__} is not; load it as another class.")
        super()._adopt(model)
        told = model.scaling
        if told is not None:
            self.scaling_ = Scaling(json.loads(told[0]), told[1])
