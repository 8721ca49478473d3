"""The page of pyRiemann's names says what is so: of this package, and of pyRiemann where it is
installed."""

import ast
import importlib.util
import re
from pathlib import Path

import pytest

from stiefel import spd

PAGE = Path(__file__).parent.parent.parent / "docs" / "pyriemann-names.md"
TEXT = PAGE.read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(\w+)` \| `(\w+)` \| (.+) \|$", TEXT, re.M)


def test_every_name_is_present_or_absent_as_the_page_says():
    assert len(ROWS) > 90 and len({name for _, name, _ in ROWS}) == len(ROWS)
    for _, name, here in ROWS:
        if here.startswith("absent: "):
            assert not hasattr(spd, name), f"{name} is here and the page says it is not"
        else:
            assert here.split(";")[0] == "present", here
            assert name in spd.__all__, f"{name} is not here and the page says it is"
    more = set(spd.__all__) - {name for _, name, _ in ROWS}
    assert more == {"whiten"}, "the page names the functions that pyRiemann does not have"


def test_the_counts_of_the_page():
    absent = sum(here.startswith("absent") for _, _, here in ROWS)
    said = re.search(
        r"lists all (\d+) of its modules .*?: (\d+) are here, (\d+) are not", TEXT, re.S
    )
    assert said and tuple(map(int, said.groups())) == (len(ROWS), len(ROWS) - absent, absent)


def test_the_page_lists_what_pyriemann_has():
    pyriemann = pytest.importorskip("pyriemann")
    if not pyriemann.__version__.startswith("0.12"):
        pytest.skip("the page is about pyRiemann 0.12")
    theirs = set()
    for module in {module for module, _, _ in ROWS}:
        source = Path(importlib.util.find_spec(f"pyriemann.geometry.{module}").origin).read_text(
            encoding="utf-8"
        )
        functions = [
            node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)
        ]
        theirs |= {(module, name) for name in functions if not name.startswith("_")}
    assert theirs == {(module, name) for module, name, _ in ROWS}
