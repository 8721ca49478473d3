"""The package is typed: annotations in the sources, and stubs that say what the other modules
are."""

import subprocess
import sys
from pathlib import Path

import pytest

import stiefel

pytest.importorskip("mypy")


def test_stubs(tmp_path):
    """Of the compiled core, which has no other annotations, and wherever else there is a stub."""
    folder = Path(stiefel.__file__).parent
    modules = [
        ".".join(["stiefel", *file.relative_to(folder).with_suffix("").parts])
        for file in folder.rglob("*.pyi")
    ]
    settings = tmp_path / "mypy.ini"
    settings.write_text("[mypy]\nignore_missing_imports = True\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", *sorted(modules), "--mypy-config-file", settings],
        capture_output=True, text=True, cwd=tmp_path, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_annotations_hold(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--ignore-missing-imports", "-p", "stiefel"],
        capture_output=True, text=True, cwd=tmp_path, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def test_a_typed_program_checks(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(
        "import numpy as np\n"
        "import stiefel\n"
        "from stiefel import spd\n"
        "x = spd.logm(np.eye(3))\n"
        "clf = stiefel.DaspClassifier(n_experts=2, unseen='zero')\n"
        "p = clf.fit(x, [0]).predict_proba(x)\n"
        "print(p.shape, x.shape)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--ignore-missing-imports", script],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout
    script.write_text("import stiefel\nstiefel.DaspClassifier(unseen='guess')\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--ignore-missing-imports", script],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=300,
    )
    assert "guess" in done.stdout or "incompatible type" in done.stdout
