"""Does routing help, and is it routing that helps?"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from . import _domains
from ._base import check_given, labelled
from ._fitted import DomainClassifier
from ._judge import sentence
from ._optional import needed
from ._trials import Trials, told


def _pyplot():
    return needed("matplotlib.pyplot", "plots")


class RoutingReport(dict):
    """Scores, routing figures and controls of a model on labelled test trials; printed, it reads as
    a table.

    Attributes
    ----------
    routing : ndarray, shape (trials, K) | None
        Weights of the experts.
    domains : ndarray of str, shape (trials,)
        The domain of each trial.
    experts : ndarray, shape (K, n, k) | None
        The experts.
    patterns : ndarray, shape (K, k, n) | None
        What each expert sees: its activation patterns on the sensors. The direction in which the
        classes differ most comes first. For a :class:`SPDNetClassifier`, they are those of its one
        filter; for a :class:`ChoirClassifier`, those of the shared weights on each view. The sign
        of a pattern has no meaning.
    verdict : str
        What the figures say about routing, in a sentence.
    seen : str | None
        How many of the trials the model was made with, in a sentence; None if all are new to it.
    """

    def __init__(self, values, text, verdict, seen, routing, domains, experts, patterns):
        super().__init__(values)
        self.verdict, self.seen, self.routing, self.domains = verdict, seen, routing, domains
        self.experts, self.patterns = experts, patterns
        self.text = "\n".join(
            [text.rstrip(), verdict, *([f"Not all of this is a test: {seen}."] if seen else [])]
        )

    def __str__(self):
        return self.text

    def __repr__(self):
        return self.text

    def _need(self, part):
        if part is None:
            raise ValueError("The model does not route trials: there is nothing to plot.")

    def plot_routing(self, ax: Any = None) -> Any:
        """Mean weight of every expert in every domain, as an image.

        Parameters
        ----------
        ax : None | matplotlib Axes, default=None
            Where to draw.

        Returns
        -------
        ax : matplotlib Axes
            The drawing.
        """
        plt = _pyplot()

        self._need(self.routing)
        ax = plt.subplots()[1] if ax is None else ax
        names = list(dict.fromkeys(self.domains.tolist()))
        means = np.stack([self.routing[self.domains == name].mean(axis=0) for name in names])
        image = ax.imshow(means, vmin=0, vmax=1, aspect="auto", cmap="viridis")
        ax.set(xlabel="expert", ylabel="domain", title="mean routing weight")
        ax.set_xticks(range(means.shape[1]))
        ax.set_yticks(range(len(names)), names)
        ax.figure.colorbar(image, ax=ax)
        return ax

    def plot_controls(self, ax: Any = None) -> Any:
        """Balanced accuracy of the model beside its controls, as bars.

        Parameters
        ----------
        ax : None | matplotlib Axes, default=None
            Where to draw.

        Returns
        -------
        ax : matplotlib Axes
            The drawing.
        """
        plt = _pyplot()

        self._need(self["controls"])
        ax = plt.subplots()[1] if ax is None else ax
        controls = self["controls"]
        bars = {
            "model": self["scores"]["balanced_accuracy"]["value"],
            "K=1 proxy": self["proxy_accuracy"]["value"],
            "permuted": controls["permuted"],
            "domain mean": controls["domain_mean"],
            "hard top-1": controls["hard_top1"],
        }
        places = range(len(bars))
        drawn = ax.barh(places, list(bars.values()), color=["C0"] + ["C7"] * (len(bars) - 1))
        ax.bar_label(drawn, fmt="%.3f", label_type="center", color="white")
        ax.axvline(bars["model"], color="C0", linewidth=0.8)
        ax.set_yticks(places, list(bars))
        ax.invert_yaxis()
        ax.set(xlabel="balanced accuracy", xlim=(0, 1), title="does routing help?")
        return ax

    def plot_topomap(self, info: Any, expert: int = 0, component: int = 0, ax: Any = None) -> Any:
        """One activation pattern of an expert over the scalp.

        Parameters
        ----------
        info : mne.Info
            Channels with positions, in the order of the covariances.
        expert, component : int, default=0
            Which expert, and which of its patterns; the classes differ most along the first.
        ax : None | matplotlib Axes, default=None
            Where to draw.

        Returns
        -------
        ax : matplotlib Axes
            The drawing.

        References
        ----------
        .. [1] S. Haufe et al. On the interpretation of weight vectors of linear models in
        multivariate neuroimaging. NeuroImage, 2014.
        """
        plt, mne = _pyplot(), needed("mne", "maps of the scalp")

        self._need(self.patterns)
        ax = plt.subplots()[1] if ax is None else ax
        mne.viz.plot_topomap(self.patterns[expert, component], info, axes=ax, show=False)
        ax.set_title(
            f"expert {expert}, pattern {component}"
            if len(self.patterns) > 1
            else f"pattern {component}"
        )
        return ax


def routing_report(
    model: DomainClassifier,
    X: ArrayLike | Trials,
    y: ArrayLike | None = None,
    domains: ArrayLike | None = None,
    X_train: ArrayLike | Trials | None = None,
    y_train: ArrayLike | None = None,
    domains_train: ArrayLike | None = None,
) -> RoutingReport:
    """The routing report of a fitted classifier on labelled test trials of its training domains.

    Parameters
    ----------
    model : ChoirClassifier | DaspClassifier | SPDNetClassifier
        A fitted classifier. The first one routes by domain: each domain has its own weights, and
        the proxy is their mean.
    X : ndarray, shape (trials, n, n) | Trials
        Test covariances.
    y, domains : None | ndarray, shape (trials,), default=None
        Their classes, and their domains, which must have had training trials; None takes those of
        ``Trials``.
    X_train, y_train, domains_train : None | ndarray | Trials, default=None
        The training trials, from which the patterns are computed; None takes the test trials.

    Returns
    -------
    report : RoutingReport
        A dictionary that prints as a table, with the verdict and how many of the trials the model
        has seen, and with ``plot_routing``, ``plot_controls`` and ``plot_topomap``.

    Examples
    --------
    >>> from stiefel import DaspClassifier, load_synthetic, routing_report
    >>> data = load_synthetic("BNCI2015001", subjects=3, trials_per_class=20, random_state=0)
    >>> clf = DaspClassifier(epochs=2, random_state=0).fit(data[::2])
    >>> report = routing_report(clf, data[1::2])
    >>> sorted(report["controls"])
    ['domain_mean', 'hard_top1', 'permuted', 'retrained']
    >>> report.seen is None  # all are new to the model
    True
    """
    if not isinstance(model, DomainClassifier):
        raise TypeError(
            "routing_report takes a ChoirClassifier, DaspClassifier or SPDNetClassifier, got "
            f"{type(model).__name__}; of a pipeline, pass the last step, and X as the steps before "
            "it transform it."
        )
    check_is_fitted(model)
    test = _labelled(model, X, y, domains, "y")
    training = (
        test if X_train is None else _labelled(model, X_train, y_train, domains_train, "y_train")
    )
    names = np.array([test["domain_names"][d] for d in test["domains"]])
    values, text, verdict = model._model.report(test, 0)
    return RoutingReport(
        json.loads(values),
        text,
        verdict,
        sentence(model._seen(X)),
        model.routing_weights(X, sample_domain=names),
        names,
        getattr(model, "experts_", None),
        model._model.patterns(training),
    )


def _labelled(model, X, y, domains, name):
    x, own = model._trials(X), told(X)
    at = {c: i for i, c in enumerate(model.classes_.tolist())}
    classes = []
    for trial, label in enumerate(
        np.asarray(check_given(model, own.y if y is None else y)).tolist()
    ):
        if label not in at:
            raise ValueError(
                f"{name}[{trial}] is {label!r}, which the model was not trained on: "
                f"{', '.join(map(str, at))}."
            )
        classes.append(at[label])
    if domains is None and own.domains is None:
        raise ValueError(
            "the report is about training domains: say whose trials these are, with domains."
        )
    names = _domains.names_of(
        own.domains if domains is None else domains, len(x), "domains", complete=True
    )
    known = _domains.known_index(names, list(model.domains_), unknown="new")
    if (known < 0).any():
        trial = int(np.flatnonzero(known < 0)[0])
        raise ValueError(
            f"trial {trial} belongs to domain {names[trial]!r}, which had no training trials; the "
            "report is about training domains."
        )
    return labelled(
        x,
        classes,
        model.classes_,
        known,
        model.domains_.tolist(),
        channels=own.channels,
        preparation=own.preparation,
    )
