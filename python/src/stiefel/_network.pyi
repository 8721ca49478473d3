from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._base import DomainClassifier
from ._scaling import Scaling

POLICIES: tuple[str, ...]
LOOKING: tuple[str, ...]

class NetworkClassifier(DomainClassifier):
    scaling_: Scaling
    history_: list[dict[str, Any]]
    n_iter_: int
    best_epoch_: int
    @property
    def experts_(self) -> NDArray[np.floating] | None: ...
