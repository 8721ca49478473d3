from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._base import DomainClassifier

class RoutingReport(dict[str, Any]):
    text: str
    routing: NDArray[np.float64] | None
    domains: NDArray[np.str_]
    experts: NDArray[np.floating] | None
    patterns: NDArray[np.float64] | None
    def __init__(
        self,
        values: dict[str, Any],
        text: str,
        routing: NDArray[np.float64] | None,
        domains: NDArray[np.str_],
        experts: NDArray[np.floating] | None,
        patterns: NDArray[np.float64] | None,
    ) -> None: ...
    def plot_routing(self, ax: Any = None) -> Any: ...
    def plot_controls(self, ax: Any = None) -> Any: ...
    def plot_topomap(self, info: Any, expert: int = 0, component: int = 0, ax: Any = None) -> Any: ...

def routing_report(
    model: DomainClassifier,
    X: ArrayLike,
    y: ArrayLike,
    domains: ArrayLike,
    X_train: ArrayLike | None = None,
    y_train: ArrayLike | None = None,
    domains_train: ArrayLike | None = None,
) -> RoutingReport: ...
