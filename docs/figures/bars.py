"""The charts of the README, from tables of the pages beside it: ``python docs/figures/bars.py``.

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
    rows = [re.sub(r"[*`]", "", row).strip("|").split("|") for row in table]
    return [[cell.strip() for cell in row] for row in rows]


def text(x, y, words, more=""):
    return f'<text x="{x:g}" y="{y:g}"{more}>{escape(words)}</text>'


def chart(title, rows, zero, last, digits, note):
    """An SVG of horizontal bars; a row is a label, a value and whether it is ours."""
    height = TOP + ROW * len(rows) + 30
    scale = (WIDTH - LABELS - 60) / (last - zero)
    bold = ' font-weight="600"'
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    font = f'font-family="system-ui, sans-serif" font-size="14" fill="{GREY}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {font}>',
        f"<title>{escape(title)}</title>",
        text(LABELS, 18, title, bold),
    ]
    for place, (label, value, ours) in enumerate(rows):
        y, length = TOP + ROW * place, max(round((value - zero) * scale, 1), 0)
        weight, colour = (bold, OURS) if ours else ("", OTHERS)
        bar = f'<rect x="{LABELS}" y="{y}" width="{length}" height="20" rx="2" fill="{colour}"/>'
        number = f"{value:.{digits}f}".removeprefix("0")
        lines += [
            text(LABELS - 10, y + 15, label, ' text-anchor="end"'),
            bar,
            text(LABELS + length + 6, y + 15, number, weight),
        ]
    lines.append(text(WIDTH - 60, height - 8, note, ' font-size="12" text-anchor="end"'))
    return "\n".join([*lines, "</svg>", ""])


def accuracy():
    """The methods on people who were held out, from the page of results."""
    table = cells("results.md", "## In short")
    rows = [(name, float(value), name.startswith("CHOIR")) for name, value, *_ in table]
    note = "Bars start at chance, .5. EEGMMIDB, 64 channels, 27 held-out people."
    return chart("Balanced accuracy, both hands against feet", rows, 0.5, 0.85, 3, note)


def speed():
    """Times as fast as others, from the page of benchmarks."""
    rows = []
    for task, peer, ratio, _ in cells("benchmarks.md", "## In short"):
        rows.append((f"{task} vs {peer}", float(ratio), True))
    note = "One thread, AMD Zen 5, both sides in one run; 1 is the other package."
    return chart("Times as fast", rows, 0.0, 26.0, 1, note)


CHARTS = {"accuracy.svg": accuracy, "speed.svg": speed}

if __name__ == "__main__":
    for name, draw in CHARTS.items():
        (Path(__file__).parent / name).write_text(draw(), encoding="utf-8")
