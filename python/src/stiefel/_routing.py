"""scikit-learn's scorers and pipelines, with the domains and target trials that it would leave
behind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn import config_context, metrics
from sklearn.pipeline import Pipeline
from sklearn.pipeline import make_pipeline as name_steps
from sklearn.utils.metadata_routing import get_routing_for_object, process_routing
from sklearn.utils.metaestimators import available_if

from . import _domains

#: What says whose trial it is.
DOMAINS = ("sample_domain", "subjects")
#: Trials among the arguments of ``fit``, which the steps of a pipeline transform.
TARGETS = ("X_target_unlabeled", "X_target_labeled")


class _Told:
    """A fitted estimator that knows the domains of the trials it is about to decide."""

    def __init__(self, estimator, domains):
        self._estimator, self._domains = estimator, domains

    def __getattr__(self, name):
        found = getattr(self._estimator, name)
        if name not in ("predict", "predict_proba", "decision_function"):
            return found

        def decide(X):
            return found(X, **self._domains)

        decide.__name__ = name
        return decide


class DomainScorer:
    """A scorer of scikit-learn that hands domains on to the estimator; see :func:`make_scorer`."""

    def __init__(self, scorer):
        self.scorer = scorer

    def __call__(self, estimator, X, y, sample_domain=None, subjects=None, **params):
        last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
        if getattr(last, "label_format", "class") == "domain/class":
            sample_domain, y = _domains.of_fit(
                np.asarray(y), sample_domain, subjects, "domain/class"
            )
        given = {
            name: value
            for name, value in zip(DOMAINS, (sample_domain, subjects))
            if value is not None
        }
        return self.scorer(_Told(estimator, given), X, y, **params)

    def __repr__(self):
        return f"stiefel.make_scorer({self.scorer!r})"

    def set_score_request(self, **requests):
        """Request other metadata, such as ``sample_weight``, for the function that scores."""
        self.scorer.set_score_request(**requests)
        return self

    def get_metadata_routing(self):
        """The requests of the scorer inside, and the domains."""
        request = get_routing_for_object(self.scorer)
        for name in DOMAINS:
            request.score.add_request(param=name, alias=True)
        return request


def make_scorer(scoring: str | Callable[..., float] = "accuracy", **options: Any) -> DomainScorer:
    """Make a scorer that tells the estimator whose trials it decides.

    scikit-learn's own scorers hand nothing on to ``predict``: a model of several people then
    decodes everybody as a new person.

    Parameters
    ----------
    scoring : str | callable, default="accuracy"
        The name of a scorer of scikit-learn, or a function of true and decided classes.
    **options : object
        For a function, the options of :func:`sklearn.metrics.make_scorer`: ``response_method``,
        ``greater_is_better`` and those of the function.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, subjects=...)``, or ``sample_domain=...``. With scikit-learn's
        metadata routing switched on, cross-validation and grid search pass them.

    Examples
    --------
    >>> import sklearn
    >>> from sklearn.model_selection import StratifiedKFold, cross_val_score
    >>> import stiefel
    >>> data = stiefel.load_synthetic("BNCI2015001", subjects=3, trials_per_class=20)
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     scores = cross_val_score(
    ...         stiefel.ChoirClassifier(random_state=0), data.X, data.y,
    ...         scoring=stiefel.make_scorer("roc_auc"),
    ...         cv=StratifiedKFold(3, shuffle=True, random_state=0),
    ...         params={"subjects": data.domains},
    ...     )
    >>> len(scores)
    3
    """
    if isinstance(scoring, str):
        if options:
            raise ValueError(
                f"{', '.join(options)} cannot be set for a scorer by name ({scoring!r}); pass the "
                "function that scores."
            )
        return DomainScorer(metrics.get_scorer(scoring))
    return DomainScorer(metrics.make_scorer(scoring, **options))


def _last_has(name):
    return available_if(lambda pipeline: hasattr(pipeline.steps[-1][1], name))


def _decides(name):
    """A method of a pipeline that hands domains on, whether or not metadata routing is switched
    on."""

    def method(self, X, *arguments, **params):
        with config_context(enable_metadata_routing=True):
            return getattr(super(DomainPipeline, self), name)(X, *arguments, **params)

    method.__name__, method.__doc__ = name, getattr(Pipeline, name).__doc__
    return _last_has(name)(method)


class DomainPipeline(Pipeline):
    """A pipeline that hands domains and target trials on; see :func:`make_pipeline`."""

    predict = _decides("predict")
    predict_proba = _decides("predict_proba")
    decision_function = _decides("decision_function")
    score = _decides("score")
    transform = _decides("transform")

    def fit(self, X, y=None, **params):
        """Fit the steps one after the other, each on what those before it made of the trials and of
        the target trials.

        Parameters
        ----------
        X : ndarray
            Trials as the first step takes them.
        y : None | ndarray, shape (trials,), default=None
            Classes.
        **params : object
            ``subjects``, ``sample_domain``, ``X_target_unlabeled``, ``X_target_labeled``,
            ``y_target_labeled`` and whatever else a step requests.

        Returns
        -------
        self : object
            The fitted pipeline.
        """
        for name in ("memory", "transform_input", "verbose"):
            if getattr(self, name):
                raise ValueError(
                    f"a pipeline of stiefel.make_pipeline has no option {name}; leave it out."
                )
        self._validate_steps()
        with config_context(enable_metadata_routing=True):
            routed = process_routing(self, "fit", **params)
            targets = {name: params[name] for name in TARGETS if params.get(name) is not None}
            for _, name, step in self._iter(with_final=False):
                whole = hasattr(step, "fit_transform")
                wanted = routed[name].fit_transform if whole else routed[name].fit
                wanted = {key: targets.get(key, value) for key, value in wanted.items()}
                X = (
                    step.fit_transform(X, y, **wanted)
                    if whole
                    else step.fit(X, y, **wanted).transform(X, **routed[name].transform)
                )
                targets = {key: _through(step, value) for key, value in targets.items()}
            name, last = self.steps[-1]
            if last not in (None, "passthrough"):
                last.fit(
                    X,
                    y,
                    **{key: targets.get(key, value) for key, value in routed[name].fit.items()},
                )
        return self


def _through(step, trials, name=None):
    """Target trials as a fitted step transforms them: an array of one new domain, or arrays by
    name."""
    if isinstance(trials, Mapping):
        return {name: _through(step, own, name) for name, own in trials.items()}
    told = get_routing_for_object(step).consumes("transform", ["sample_domain"])
    return step.transform(trials, **{key: [name] * len(trials) for key in told})


def make_pipeline(*steps: Any) -> DomainPipeline:
    """Make a pipeline of scikit-learn that hands domains and target trials through its steps.

    ``subjects`` and ``sample_domain`` reach every step that asks for them. The trials of
    ``X_target_unlabeled`` and ``X_target_labeled`` are transformed by the steps before the one that
    asks for them; scikit-learn's own pipelines hand them over as they came.

    Parameters
    ----------
    *steps : object
        Transformers and a last step, as for :func:`sklearn.pipeline.make_pipeline`.

    Returns
    -------
    pipeline : sklearn.pipeline.Pipeline
        The pipeline. Metadata routing need not be switched on for ``fit``, ``predict`` and
        ``score``.

    Examples
    --------
    >>> import stiefel
    >>> data = stiefel.load_synthetic("BNCI2015001", subjects=3, trials_per_class=20)
    >>> new = data.domains == "S03"
    >>> clf = stiefel.SPDNetClassifier(precondition=False, epochs=5, random_state=0)
    >>> pipeline = stiefel.make_pipeline(stiefel.DomainWhitening(), clf)
    >>> told = {"subjects": data.domains[~new], "X_target_unlabeled": data.X[new][:10]}
    >>> pipeline = pipeline.fit(data.X[~new], data.y[~new], **told)
    >>> pipeline.predict(data.X[new][:5]).shape
    (5,)
    """
    return DomainPipeline(name_steps(*steps).steps)
