"""The charts of the README, drawn from tables of the pages beside it: ``python docs/figures/bars.py``.

A chart shows numbers that a page states, so the two cannot disagree; a test draws the charts again.
Text is grey, which can be read on white and on black.
"""

import re
from pathlib import Path
from xml.sax.saxutils import escape

DOCS = Path(__file__).parent.parent
GREY, OURS, OTHERS = "#767c85", "#2f81c7", "#9aa1a9"
WIDTH, LABELS, ROW, TOP = 720, 330, 28, 34


def cells(page, heading):
    """The rows of the first table below a heading, without its head."""
    text = (DOCS / page).read_text(encoding="utf-8")
    below = text.split(f"\n{heading}\n", 1)[1]
    table = re.search(r"(?:^\|.*\n)+", below, re.M)[0].splitlines()[2:]
    return [[re.sub(r"[*`]", "", cell).strip() for cell in row.strip("|").split("|")] for row in table]


def chart(title, rows, zero, last, digits, note):
    """An SVG of horizontal bars; a row is a label, a value and whether it is ours."""
    height = TOP + ROW * len(rows) + 30
    scale = (WIDTH - LABELS - 60) / (last - zero)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img"'
        f' font-family="system-ui, sans-serif" font-size="14" fill="{GREY}">',
        f"<title>{escape(title)}</title>",
        f'<text x="{LABELS}" y="18" font-weight="600">{escape(title)}</text>',
    ]
    for place, (label, value, ours) in enumerate(rows):
        y = TOP + ROW * place
        length = max((value - zero) * scale, 0)
        weight = ' font-weight="600"' if ours else ""
        number = f"{value:.{digits}f}".removeprefix("0")
        lines += [
            f'<text x="{LABELS - 10}" y="{y + 15}" text-anchor="end"{weight}>{escape(label)}</text>',
            f'<rect x="{LABELS}" y="{y}" width="{length:.1f}" height="20" rx="2" fill="{OURS if ours else OTHERS}"/>',
            f'<text x="{LABELS + length + 6:.1f}" y="{y + 15}"{weight}>{number}</text>',
        ]
    lines.append(f'<text x="{LABELS}" y="{height - 8}" font-size="12">{escape(note)}</text>')
    return "\n".join([*lines, "</svg>", ""])


def accuracy():
    """The methods on people who were held out, from the page of results."""
    rows = [(name, float(value), name.startswith("CHOIR")) for name, value, *_ in cells("results.md", "## In short")]
    note = "Bars start at chance, .5. EEGMMIDB, hands against feet, 64 channels, 27 held-out people."
    return chart("Balanced accuracy on real EEG", rows, 0.5, 0.85, 3, note)


def speed():
    """Times as fast as others, from the page of benchmarks."""
    rows = [(task.split(",")[0] + f" ÷ {peer}", float(ratio), True) for task, peer, ratio in cells("benchmarks.md", "## In short")]
    short = [(label.replace("PyTorch with spd_learn's layers", "spd_learn"), value, ours) for label, value, ours in rows]
    note = "One thread, AMD Zen 5, both sides in one run. 1 is the speed of the other package."
    return chart("Times as fast", short, 0.0, 26.0, 1, note)


CHARTS = {"accuracy.svg": accuracy, "speed.svg": speed}

if __name__ == "__main__":
    for name, draw in CHARTS.items():
        (Path(__file__).parent / name).write_text(draw(), encoding="utf-8")
