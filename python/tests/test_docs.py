"""The examples in docstrings and the gallery run."""

import doctest
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import stiefel

MODULES = [
    "stiefel", "stiefel.manifold", "stiefel.spd", "stiefel._classifiers", "stiefel._pooled", "stiefel._readers",
    "stiefel._report", "stiefel._scaling", "stiefel._tangent_lr", "stiefel._whitening", "stiefel.spd._distance", "stiefel.spd._function",
    "stiefel.spd._geodesic", "stiefel.spd._mean", "stiefel.spd._tangent",
]  # fmt: skip
GALLERY = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_everything_public_is_documented():
    for module in (stiefel, stiefel.spd, stiefel.manifold):
        for name in module.__all__:
            thing = getattr(module, name)
            assert isinstance(thing, str) or (thing.__doc__ or "").strip(), f"{module.__name__}.{name}"


@pytest.mark.parametrize("script", GALLERY, ids=lambda p: p.stem)
def test_gallery(script, tmp_path):
    environment = {**os.environ, "MPLBACKEND": "Agg", "MNE_DATA": str(tmp_path), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, script], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
