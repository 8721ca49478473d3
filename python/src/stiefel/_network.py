"""What the networks share."""

from __future__ import annotations

import json

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._base import DomainClassifier
from ._preconditioning import is_causal, preconditioning, seen, unseen_whitening
from ._scaling import Scaling, recommend
from ._validation import n_threads, one_of, to_json

#: What stands in for the embedding of a new domain.
POLICIES = ("input-only", "zero", "nearest", "riemannian-nearest", "transductive")
#: Those that look at its unlabelled trials.
LOOKING = ("nearest", "riemannian-nearest", "transductive")


class NetworkClassifier(DomainClassifier):
    """A network of the core."""

    @staticmethod
    def _read(path):
        return _core.load(path)

    def _configuration(self, scaling):
        """The core's configuration, as a dictionary, and the choices as they stand."""
        raise NotImplementedError

    def _check_parameters(self):
        super()._check_parameters()
        for name, known in self._choices.items():
            one_of(name, getattr(self, name), known)
        for name in ("batch_size", "max_epochs", "patience"):
            value = getattr(self, name)
            if not (isinstance(value, (int, np.integer)) and value >= 1):
                raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}.")

    def _train(self, data, validation, seed):
        """The core's model of labelled trials."""
        scaling = recommend(data["x"].shape[1], len(data["domain_names"]), getattr(self, "preset", None))
        config = self._configuration(scaling)
        config["preconditioning"] = preconditioning(self)
        config["training"].update(batch=self.batch_size, epochs=self.max_epochs, patience=self.patience, seed=seed)
        config["training"]["adam"]["learning_rate"] = self.learning_rate
        model = _core.fit(
            data,
            validation,
            to_json(config),
            to_json(scaling),
            self.precision,
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
        policy = self.unseen if self._model.has_embedding else "input-only"
        if policy in LOOKING and is_causal(self) and given is None:
            raise ValueError(
                f"unseen={policy!r} looks at all trials of the new domain and unseen_whitening='causal' only at those up to each one: "
                "give X_target_unlabeled at fit, or choose 'own-mean' or 'pooled'."
            )
        handle = self._model.adapt(seen(self, given, x), unseen_whitening(self), policy)
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
