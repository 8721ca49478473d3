from typing import Any, Literal

from typing_extensions import Self

class Scaling(dict[str, Any]):
    text: str
    def __init__(self, values: dict[str, Any], text: str) -> None: ...
    def given(self, **values: Any) -> Self: ...

def recommend(
    n_channels: int,
    n_domains: int,
    preset: Literal["Weibo2014", "BNCI2015001", "BNCI2014001"] | None = None,
) -> Scaling: ...
