"""What "auto" chose, and why."""

from __future__ import annotations

import json
from typing import Any, Literal

from . import _core


class Scaling(dict):
    """The scaling rule's choices: ``scaling["experts"]`` is ``{"value": …, "reason": …}``; printed,
    it explains them all.

    Examples
    --------
    >>> from stiefel import recommend
    >>> auto = recommend(60, 9)
    >>> auto["experts"]["value"], auto["filters"]["value"], auto["dsp_rank"]["value"]
    (8, 30, 40)
    >>> print(auto)  # doctest: +ELLIPSIS
    60 channels and 9 training domain(s), by the scaling rule
    ρ = n(n+1)/(2D) = 203.3, above the threshold 50
    ...
    """

    def __init__(self, values: dict[str, Any], text: str) -> None:
        super().__init__(values)
        self.text = text

    def given(self, **values: Any) -> Scaling:
        """Takes over values the user gave in place of the rule's.

        Parameters
        ----------
        **values : object
            The values by name; None is a value like any other.

        Returns
        -------
        self : Scaling
            The same choices, with these.
        """
        lines = []
        for name, value in values.items():
            self[name] = {"value": value, "reason": "given by the user"}
            lines.append(f"  {name} = {value}, given by the user")
        if lines:
            self.text = "\n".join([self.text, *lines])
        return self

    def __str__(self):
        return self.text

    def __repr__(self):
        return self.text

    def __reduce__(self):
        return (Scaling, (dict(self), self.text))


def recommend(
    n_channels: int,
    n_domains: int,
    preset: Literal["Weibo2014", "BNCI2015001", "BNCI2014001"] | None = None,
) -> Scaling:
    """What the scaling rule chooses for a number of channels and of training domains.

    Parameters
    ----------
    n_channels, n_domains : int
        Channels n and training domains D.
    preset : None | {"Weibo2014", "BNCI2015001", "BNCI2014001"}, default=None
        The paper's setting for one of its datasets in place of the rule.

    Returns
    -------
    scaling : Scaling
        A dictionary of choices with their reasons.

    Examples
    --------
    >>> from stiefel import recommend
    >>> auto = recommend(22, 9)
    >>> auto["experts"]["value"], auto["filters"]["value"]
    (8, 20)
    """
    values, text = _core.recommend(n_channels, n_domains, preset)
    return Scaling(json.loads(values), text)
