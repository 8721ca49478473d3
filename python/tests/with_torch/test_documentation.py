"""Docstrings of stiefel.torch say what every argument is, their examples run, and so do the
examples of the gallery."""

import doctest
import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import stiefel.torch

ROOT = Path(__file__).parents[3]
GALLERY = ROOT / "python" / "examples" / "torch"
MODULES = ["stiefel.torch"] + [
    m.name for m in pkgutil.walk_packages(stiefel.torch.__path__, "stiefel.torch.")
]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def public():
    for module in (stiefel.torch, stiefel.torch.functional):
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.ismodule(thing):
                continue
            yield f"{module.__name__}.{name}", thing
            for own, method in vars(thing).items() if inspect.isclass(thing) else ():
                if inspect.isfunction(method) and not own.startswith("_"):
                    yield f"{module.__name__}.{name}.{own}", method


@pytest.mark.parametrize("thing", [pytest.param(thing, id=name) for name, thing in public()])
def test_arguments_are_documented(thing):
    text = inspect.cleandoc(thing.__doc__ or "")
    assert text
    shown = inspect.isclass(thing) or thing.__qualname__ == thing.__name__
    assert not shown or ">>>" in text, "no example"
    arguments = [a for a in inspect.signature(thing).parameters if a not in ("self", "cls")]
    found = re.search(r"^Parameters\n-+\n(.*?)(?=\n\n\w+\n-+\n|\Z)", text, re.M | re.S)
    if not shown and found is None:
        return  # a line says it all: forward of a layer, and its like
    heads = [
        line.split(" : ")[0]
        for line in (found[1] if found else "").splitlines()
        if line and not line.startswith(" ")
    ]
    named = [name.strip().lstrip("*") for head in heads for name in head.split(",")]
    assert sorted(named) == sorted(arguments)


BRIEF = {"convolutions_and_routing": ["--people", "2", "--trials", "24", "--epochs", "2"]}
NEEDS = {"convolutions_and_routing": "skorch", "replace_bimap": "spd_learn"}


@pytest.mark.parametrize("script", sorted(GALLERY.glob("*.py")), ids=lambda p: p.stem)
def test_gallery(script, tmp_path):
    if script.stem in NEEDS:
        pytest.importorskip(NEEDS[script.stem])
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, script, *BRIEF.get(script.stem, [])]
    done = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_the_users_guide_runs(tmp_path, monkeypatch):
    guide = ROOT / "docs" / "pytorch.md"
    if not guide.is_file():
        pytest.skip("the guide is in the repository, not in the package")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", guide.read_text(encoding="utf-8"), re.S)
    assert len(blocks) >= 3
    scope = {}
    for block in blocks:
        exec(compile(block, "pytorch.md", "exec"), scope)
