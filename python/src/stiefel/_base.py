"""What both networks share: preparing trials, fitting through the core, deciding, saving."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from . import _core, _domains
from ._preconditioning import is_causal, preconditioning, unseen_whitening
from ._scaling import Scaling, recommend
from ._split import validation_trials
from ._validation import check_spd, check_trials, n_threads

#: What stands in for the embedding of a new domain.
POLICIES = ("input-only", "zero", "nearest", "riemannian-nearest", "transductive")
#: Those that look at its unlabelled trials.
LOOKING = ("nearest", "riemannian-nearest", "transductive")


class NetworkClassifier(ClassifierMixin, BaseEstimator):
    """A network of the core behind scikit-learn's interface."""

    __metadata_request__fit = {
        "sample_domain": True,
        "subjects": True,
        "X_target_unlabeled": True,
        "X_target_labeled": True,
        "y_target_labeled": True,
    }
    __metadata_request__predict = {"sample_domain": True, "subjects": True}
    __metadata_request__predict_proba = {"sample_domain": True, "subjects": True}
    __metadata_request__decision_function = {"sample_domain": True, "subjects": True}
    __metadata_request__score = {"sample_domain": True, "subjects": True}

    def _configuration(self, scaling):
        """The core's configuration, as a dictionary, and the choices as they stand."""
        raise NotImplementedError

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.non_deterministic = False
        return tags

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_model")

    def _get_metadata_request(self):
        """Target trials reach the last step of a pipeline as they are: whoever takes covariances does not ask for epochs."""
        request = super()._get_metadata_request()
        if self.covariance is None and not hasattr(self, "_metadata_request"):
            for name in ("X_target_unlabeled", "X_target_labeled", "y_target_labeled"):
                request.fit.add_request(param=name, alias=None)
        return request

    def _trials(self, X, name="X"):
        return check_trials(X, self.covariance, name)

    def fit(
        self,
        X,
        y,
        sample_weight=None,
        sample_domain=None,
        subjects=None,
        X_target_unlabeled=None,
        X_target_labeled=None,
        y_target_labeled=None,
    ):
        """Fit whitening, encoder and network.

        Parameters
        ----------
        X : ndarray, shape (trials, n, n)
            Covariances; or epochs (trials, channels, samples) with the option ``covariance``.
        y : ndarray, shape (trials,)
            Classes; or pyRiemann's "domain/class".
        sample_weight : None | ndarray, shape (trials,), default=None
            Weights in the loss; a trial of weight zero is left out.
        sample_domain, subjects : None | ndarray, shape (trials,), default=None
            Domains, skada's or MOABB's way. A negative ``sample_domain`` marks an unlabelled trial of the target.
        X_target_unlabeled : None | ndarray, default=None
            Trials of the domain that will be decoded, without labels: what its policies need at predict.
        X_target_labeled, y_target_labeled : None | ndarray, default=None
            Labelled trials of the domain that will be decoded; it becomes one more training domain, which trials without a
            domain are taken to be of at predict.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._check_parameters()
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        x = check_spd(self._trials(X))
        labels = _labels(y, len(x))
        domains = _domains.given(len(x), sample_domain, subjects)
        if domains is None and _domains.is_encoded(labels):
            domains, labels = _domains.decode(labels)
        unlabelled = None if X_target_unlabeled is None else self._trials(X_target_unlabeled, "X_target_unlabeled")
        weight = None if sample_weight is None else _check_sample_weight(sample_weight, x[:, 0], ensure_non_negative=True)
        keep = np.ones(len(x), dtype=bool) if weight is None else weight > 0
        if domains is not None:
            target = np.array([_domains.is_target(d) for d in domains])
            if target.any():
                own = x[target]
                unlabelled = own if unlabelled is None else np.concatenate([own, unlabelled])
            keep &= ~target
        if not keep.any():
            raise ValueError("No labelled trial of positive weight is left to train on.")
        x, labels = x[keep], labels[keep]
        weight = None if weight is None else weight[keep]
        domains = [_domains.ONLY] * len(x) if domains is None else [d for d, k in zip(domains, keep) if k]
        if X_target_labeled is not None:
            own = check_spd(self._trials(X_target_labeled, "X_target_labeled"), "X_target_labeled")
            x = np.concatenate([x, own])
            labels = np.concatenate([labels, _labels(y_target_labeled, len(own), "y_target_labeled")])
            weight = None if weight is None else np.concatenate([weight, np.ones(len(own))])
            domains += ["target"] * len(own)
        self._fit(x, labels, domains, weight)
        self._target = unlabelled
        self._labelled_target = X_target_labeled is not None
        return self

    def _fit(self, x, labels, domains, weight):
        check_classification_targets(labels)
        names, classes = np.unique(labels, return_inverse=True)
        _check_classes(names, classes)
        keys = [_domains.key(d) for d in domains]
        own = list(dict.fromkeys(keys))
        at = {name: i for i, name in enumerate(own)}
        indices = np.array([at[k] for k in keys], dtype=np.intp)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        validation = validation_trials(classes, indices, self.validation_fraction, np.random.RandomState(seed))
        if self.class_weight is not None:
            balance = compute_sample_weight(self.class_weight, labels)
            weight = balance if weight is None else weight * balance
        # Nothing is replaced before the core has succeeded: an error or Ctrl-C leaves the estimator as it was.
        self._model = self._train(labelled(x, classes, names, indices, own, weight), validation, seed)
        self.classes_ = names
        self.n_features_in_ = self._channels = x.shape[1]
        self._describe()

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
            json.dumps(config),
            json.dumps(scaling),
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
        """The fitted attributes that the core knows."""
        record = json.loads(self._model.record)
        self.domains_ = np.array(self._model.domains)
        self.history_ = record["history"]
        self.n_iter_ = len(self.history_)
        self.best_epoch_ = record["best_epoch"]

    @property
    def experts_(self):
        """The experts, ``(K, n, k)``; None where nothing is routed."""
        check_is_fitted(self)
        return self._model.experts()

    def _check_parameters(self):
        if self.unseen not in POLICIES:
            raise ValueError(f"unseen must be one of {', '.join(POLICIES)}, got {self.unseen!r}.")
        for name in ("batch_size", "max_epochs", "patience"):
            value = getattr(self, name)
            if not (isinstance(value, (int, np.integer)) and value >= 1):
                raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}.")
        if self.precision not in ("f32", "f64"):
            raise ValueError(f"precision must be 'f32' or 'f64', got {self.precision!r}.")

    def _decide(self, X, sample_domain=None, subjects=None):
        """Probabilities and, where there is routing, weights of the experts."""
        check_is_fitted(self)
        x = self._trials(X)
        if x.shape[1] != self._channels:
            raise ValueError(
                f"X has {x.shape[1]} features, but {type(self).__name__} is expecting {self._channels} features as input."
            )
        check_spd(x)
        domains = _domains.given(len(x), sample_domain, subjects)
        groups = self._groups(x, domains)
        probabilities = np.empty((len(x), len(self.classes_)))
        routing = None
        for index, trials in groups:
            part = x if len(trials) == len(x) else x[trials]
            if index >= 0:
                p, alpha = self._model.predict_known(part, index)
            else:
                p, alpha = self._model.predict_unseen(part, self._handle(part))
            probabilities[trials] = p[0]
            if alpha is not None:
                routing = np.empty((len(x), alpha.shape[-1])) if routing is None else routing
                routing[trials] = alpha[0]
        return probabilities, routing

    def _groups(self, x, domains):
        """Number of the training domain (−1 for a new one) and the trials of each group."""
        names = list(self.domains_)
        everything = np.arange(len(x))
        if domains is None:
            if self._labelled_target:
                return [(names.index("target"), everything)]
            return [(0 if len(names) == 1 and self._target is None else -1, everything)]
        known = _domains.known_index(domains, names)
        groups = [(int(d), np.flatnonzero(known == d)) for d in np.unique(known[known >= 0])]
        marks = {}
        for trial in np.flatnonzero(known < 0):
            marks.setdefault(domains[trial], []).append(trial)
        return groups + [(-1, np.array(trials)) for trials in marks.values()]

    def _handle(self, x):
        """What decodes a new domain: adapted to the unlabelled trials given at fit, else to those at hand."""
        policy = self.unseen if self._model.has_embedding else "input-only"
        if policy in LOOKING and is_causal(self) and self._target is None:
            raise ValueError(
                f"unseen={policy!r} looks at all trials of the new domain and unseen_whitening='causal' only at those up to each one: "
                "give X_target_unlabeled at fit, or choose 'own-mean' or 'pooled'."
            )
        return self._model.adapt(self._seen(x), unseen_whitening(self), policy)

    def _seen(self, x):
        """The trials of the new domain `x` that are known before the first decision: a causal mean has not seen those it decides."""
        if self._target is not None:
            return self._target
        return x[:0] if is_causal(self) else x

    def predict_proba(self, X, sample_domain=None, subjects=None):
        """Probabilities of the classes, ``(trials, classes)``, in the order of ``classes_``.

        Parameters
        ----------
        X : ndarray, shape (trials, n, n)
            Covariances, or epochs with the option ``covariance``.
        sample_domain, subjects : None | ndarray, shape (trials,), default=None
            Domains. None: all trials are of one new domain (of the training domain, where there was one). None or a negative
            number among them marks trials of a new domain.
        """
        return self._decide(X, sample_domain, subjects)[0]

    def predict(self, X, sample_domain=None, subjects=None):
        """The most probable class of every trial; see :meth:`predict_proba`."""
        best = self.predict_proba(X, sample_domain, subjects).argmax(axis=1)
        return self.classes_[best]

    def decision_function(self, X, sample_domain=None, subjects=None):
        """Log-odds of the second class, ``(trials,)``, or log-probabilities of several, ``(trials, classes)``."""
        p = self.predict_proba(X, sample_domain, subjects)
        scores = np.log(np.maximum(p, np.finfo(float).tiny))
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def routing_weights(self, X, sample_domain=None, subjects=None):
        """Weights of the experts, ``(trials, K)``; None where nothing is routed."""
        return self._decide(X, sample_domain, subjects)[1]

    def score(self, X, y, sample_weight=None, sample_domain=None, subjects=None):
        """Accuracy; labels may be pyRiemann's "domain/class"."""
        from sklearn.metrics import accuracy_score

        labels = np.asarray(y)
        if sample_domain is None and subjects is None and hasattr(self, "classes_") and _domains.is_encoded(labels):
            encoded = set(labels.tolist()) - set(self.classes_.tolist())
            if encoded:
                sample_domain, labels = _domains.decode(labels)
        return accuracy_score(labels, self.predict(X, sample_domain, subjects), sample_weight=sample_weight)

    def save(self, path):
        """Write the model file that the Rust library and the program ``stiefel`` read.

        Parameters
        ----------
        path : path-like
            Where to; an existing file is replaced whole or not at all.
        """
        check_is_fitted(self)
        self._model.save(Path(path))

    @classmethod
    def load(cls, path):
        """A fitted estimator from a model file, of Python's making or not; classes are then text.

        Parameters
        ----------
        path : path-like
            The file.

        Returns
        -------
        estimator : object
            Fitted, with default parameters otherwise.
        """
        self = cls()
        self._adopt(_core.load(Path(path)))
        self.classes_ = np.array(self._model.classes)
        self._target, self._labelled_target = None, False
        told = self._model.scaling
        if told is not None:
            self.scaling_ = Scaling(json.loads(told[0]), told[1])
        return self

    def _adopt(self, model):
        network = json.loads(model.config)["architecture"]["network"]
        if network not in self._networks:
            raise ValueError(f"the file holds a {network} network, which {type(self).__name__} is not; load it as another class.")
        self._model = model
        self.n_features_in_ = self._channels = model.n_channels
        self._describe()

    def __getstate__(self):
        state = super().__getstate__()
        if "_model" in state:
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder, "model")
                state["_model"].save(file)
                state = {**state, "_model": file.read_bytes()}
        return state

    def __setstate__(self, state):
        if isinstance(state.get("_model"), bytes):
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder, "model")
                file.write_bytes(state["_model"])
                state = {**state, "_model": _core.load(file)}
        super().__setstate__(state)


def _labels(y, count, name="y"):
    """One class per trial."""
    if y is None:
        raise ValueError(f"{name} is needed and was not given.")
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        import warnings

        from sklearn.exceptions import DataConversionWarning

        warnings.warn("A column-vector y was passed when a 1d array was expected.", DataConversionWarning, stacklevel=3)
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(f"{name} should be a 1d array, got an array of shape {labels.shape} instead.")
    if len(labels) != count:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{count}, {len(labels)}]")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError(f"Input {name} contains NaN or infinity: {name}[{np.flatnonzero(~np.isfinite(labels))[0]}].")
    return labels


def _check_classes(names, classes):
    """Two classes at least, of two trials at least."""
    if len(names) < 2:
        raise ValueError(f"This solver needs samples of at least 2 classes in the data, but the data contains only one class: {names[0]!r}")
    counts = np.bincount(classes)
    if counts.min() < 2:
        rare = int(counts.argmin())
        trial = int(np.flatnonzero(classes == rare)[0])
        raise ValueError(
            f"class {names[rare]!r} has only one trial, number {trial}: at least two of every class are needed to learn anything of it."
        )


def labelled(x, classes, class_names, domains, domain_names, weights=None, channels=None):
    """Trials as the core takes them."""
    return {
        "x": np.ascontiguousarray(x, dtype=np.float64),
        "classes": [int(c) for c in classes],
        "class_names": [str(c) for c in class_names],
        "domains": [int(d) for d in domains],
        "domain_names": list(domain_names),
        "channels": channels,
        "weights": None if weights is None else [float(w) for w in weights],
    }
