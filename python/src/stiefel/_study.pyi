from os import PathLike
from typing import Any, Literal

import pandas as pd

from ._readers import Trials

SCORINGS: tuple[str, ...]
COLUMNS: tuple[str, ...]

def study(
    study: Literal["main", "ablation", "loso", "scaling", "session", "online", "null"],
    data: str | PathLike[str] | Trials,
    *,
    name: str = "trials",
    folder: str | PathLike[str] | None = None,
    client: Any | None = None,
    n_jobs: int | None = -1,
    scoring: Literal["balanced_accuracy", "accuracy", "roc_auc", "kappa"] = "balanced_accuracy",
    progress: bool = True,
    **settings: object,
) -> pd.DataFrame: ...
