"""Every public name is documented in numpydoc's manner; the examples in docstrings and in the README, and the gallery, run."""

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
import sklearn

import stiefel

FOLDER = Path(__file__).parent.parent
MODULES = ["stiefel"] + [m.name for m in pkgutil.walk_packages(stiefel.__path__, "stiefel.")]
GALLERY = sorted((FOLDER / "examples").glob("*.py"))


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def public():
    """Name and object of everything a user can call, and whether it is shown in its own example: methods are in that of their class."""
    for module in (stiefel, stiefel.spd, stiefel.manifold):
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.ismodule(thing) or not callable(thing):
                continue
            yield f"{module.__name__}.{name}", thing, name not in ("Recording", "RoutingReport", "Trials")
            if inspect.isclass(thing):
                for own, method in inspect.getmembers(thing, inspect.isroutine):
                    ours = (getattr(method, "__module__", None) or "").startswith("stiefel")
                    if ours and not own.startswith("_"):
                        yield f"{module.__name__}.{name}.{own}", method, False


def documented(text, section):
    """The names in a section of a docstring; None where there is no such section."""
    found = re.search(rf"^{section}\n-+\n(.*?)(?=\n\n\w+\n-+\n|\Z)", inspect.cleandoc(text), re.M | re.S)
    if found is None:
        return None
    heads = [line.split(" : ")[0] for line in found[1].splitlines() if line and not line.startswith(" ")]
    return [name.strip().lstrip("*") for head in heads for name in head.split(",")]


@pytest.mark.parametrize(("thing", "shown"), [pytest.param(*rest, id=name) for name, *rest in public()])
def test_numpydoc(thing, shown):
    text = thing.__doc__
    assert text and text.strip(), "no docstring"
    is_class = inspect.isclass(thing)
    if not is_class or hasattr(thing, "get_params"):
        arguments = [a for a in inspect.signature(thing).parameters if a not in ("self", "cls")]
        assert sorted(documented(text, "Parameters") or []) == sorted(arguments)
    if not is_class:
        gives_nothing = thing.__name__ in ("save", "set_num_threads")
        assert gives_nothing or documented(text, "Returns"), "no Returns"
    if shown:
        assert ">>>" in text, "no example"


def test_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert len(blocks) >= 3
    scope = {}
    with sklearn.config_context():  # what a block sets ends here
        for block in blocks:
            exec(compile(block, "README.md", "exec"), scope)
    assert (tmp_path / "model.stiefel").exists()


@pytest.mark.parametrize("script", GALLERY, ids=lambda p: p.stem)
def test_gallery(script, tmp_path):
    environment = {**os.environ, "MPLBACKEND": "Agg", "MNE_DATA": str(tmp_path), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, script], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
