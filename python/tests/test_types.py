"""The stubs say what the modules are."""

import subprocess
import sys

import pytest

pytest.importorskip("mypy")


def test_stubs(tmp_path):
    allowed = tmp_path / "allowed"
    # scikit-learn adds the request methods (`set_fit_request`, …) to classes when they are made.
    allowed.write_text(r".*\.set_\w+_request" + "\n")
    settings = tmp_path / "mypy.ini"
    settings.write_text("[mypy]\nignore_missing_imports = True\n")
    done = subprocess.run(
        [
            sys.executable, "-m", "mypy.stubtest", "stiefel", "--mypy-config-file", settings, "--allowlist", allowed,
            "--ignore-unused-allowlist",
        ],  # fmt: skip
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr


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
        [sys.executable, "-m", "mypy", "--ignore-missing-imports", script], capture_output=True, text=True, cwd=tmp_path, timeout=300
    )
    assert done.returncode == 0, done.stdout
    script.write_text("import stiefel\nstiefel.DaspClassifier(unseen='guess')\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--ignore-missing-imports", script], capture_output=True, text=True, cwd=tmp_path, timeout=300
    )
    assert "guess" in done.stdout or "incompatible type" in done.stdout
