"""Where plots are drawn, and the table of colours that several of them share."""

from __future__ import annotations

from .._optional import needed


def axes_of(ax):
    return (
        needed("matplotlib.pyplot", "plots").subplots(layout="constrained")[1] if ax is None else ax
    )


def image_of(ax, values, columns, rows, label, limits):
    image = ax.imshow(values, vmin=limits[0], vmax=limits[1], aspect="auto", cmap="viridis")
    if len(columns) <= 24:
        ax.set_xticks(range(len(columns)), list(columns))
    if len(rows) <= 60:
        ax.set_yticks(range(len(rows)), list(rows))
    ax.figure.colorbar(image, ax=ax, label=label)
    return ax
