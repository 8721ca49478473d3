"""The routing report of a module."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from .. import _core
from .._report import RoutingReport
from ._dasp import DaspBiMap


def routing_report(
    module: nn.Module,
    X: Any,
    y: Tensor,
    domain: Tensor,
    X_train: Any = None,
    domain_train: Tensor | None = None,
    seed: int = 0,
    layer: DaspBiMap | None = None,
) -> RoutingReport:
    """Does routing help, and is it routing that helps? A report on any module that has a
    :class:`DaspBiMap` inside.

    Parameters
    ----------
    module : Module
        ``module(X, domain)`` gives scores of the classes.
    X : Tensor
        Test trials as the module takes them.
    y : Tensor, shape (N,)
        Their classes, from 0.
    domain : Tensor, shape (N,)
        Whose they are, from 0.
    X_train, domain_train : None | Tensor, default=None
        Training trials, whose mean weights of each domain are a control; None takes the test
        trials.
    seed : int, default=0
        Seed of the permuted control.
    layer : None | DaspBiMap, default=None
        The layer that the report is about, if the module has several (for example, one per view).
        The others route as they have learnt.

    Returns
    -------
    report : RoutingReport
        A dictionary that prints as a table. It does not know which trials the module was trained
        with: give it other trials.

    Examples
    --------
    >>> import torch
    >>> from stiefel.torch import DaspNet, routing_report
    >>> net = DaspNet(3, 2, n_experts=2, n_domains=2, n_classes=2)
    >>> x = torch.diag_embed(torch.rand(8, 3) + 0.5)
    >>> report = routing_report(net, x, torch.tensor([0, 1] * 4), torch.tensor([0, 0, 1, 1] * 2))
    >>> sorted(report["controls"])
    ['domain_mean', 'hard_top1', 'permuted', 'retrained']
    """
    layers = [layer for layer in module.modules() if isinstance(layer, DaspBiMap)]
    if layer is None and len(layers) != 1:
        raise ValueError(
            f"the report is about one DaspBiMap, and the module has {len(layers)}: say which with layer=…."
        )
    if layer is not None and not any(own is layer for own in layers):
        raise ValueError("layer is no DaspBiMap of the module.")
    layer = layers[0] if layer is None else layer
    if (X_train is None) != (domain_train is None):
        raise ValueError("X_train and domain_train belong together: give both, or neither.")
    before = module.training
    module.eval()
    try:
        weights = _weights(
            module, layer, *((X, domain) if X_train is None else (X_train, domain_train))
        )
        whose = np.asarray((domain if domain_train is None else domain_train).cpu())
        means = {int(d): weights[whose == d].mean(0).tolist() for d in np.unique(whose)}

        def decide(routing):
            given = torch.from_numpy(routing[0]) if isinstance(routing, np.ndarray) else routing
            with torch.no_grad(), layer.rerouted(given):
                p = module(X, domain).double().softmax(1).cpu().numpy()
            return p[np.newaxis], _double(layer.last_routing)[np.newaxis]

        experts = _double(layer.experts)
        values, text, verdict = _core.torch_report(
            y.tolist(), domain.tolist(), means, experts, seed, decide
        )
        routing = _weights(module, layer, X, domain)
    finally:
        module.train(before)
    names = np.array([str(d) for d in domain.tolist()])
    return RoutingReport(json.loads(values), text, verdict, None, routing, names, experts, None)


def _double(x: Any) -> Any:
    return np.ascontiguousarray(x.detach().double().cpu().numpy())


@torch.no_grad()
def _weights(module: nn.Module, layer: DaspBiMap, X: Any, domain: Any) -> Any:
    module(X, domain)
    return _double(layer.last_routing)
