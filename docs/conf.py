"""Settings of the documentation; `cargo xtask docs` builds it."""

import sys
import warnings
from pathlib import Path

import matplotlib
from pygments.lexers import RustLexer

sys.path.insert(0, str(Path(__file__).parent / "_tools"))

import commands  # noqa: E402  (beside this file)
import reference  # noqa: E402

import stiefel  # noqa: E402

matplotlib.use("Agg")

project = "stiefel"
author = "The stiefel developers"
copyright = "the stiefel developers; MIT or Apache-2.0"
release = version = stiefel.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_tools", "_templates", "requirements.txt", "figures/*.py"]
templates_path = ["_templates"]

# Pages in Markdown.
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

# Pages from docstrings.
autosummary_generate = True
autodoc_default_options = {"members": True, "inherited-members": True}
autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False
# PyTorch is several gigabytes; its layers are documented without it.
autodoc_mock_imports = ["torch"]

# The gallery. Scripts that need an amplifier or PyTorch are shown, not run; `cargo xtask test
# --torch` runs the latter.
sphinx_gallery_conf = {
    "examples_dirs": "../python/examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/examples/[^/]+\.py$",
    "ignore_pattern": r"^_|/_",
    "abort_on_example_error": True,
    "within_subsection_order": "gallery.Order",
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "remove_config_comments": True,
    "min_reported_time": 1e9,
}
# A figure that is saved, and not shown, is no defect.
warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")

html_theme = "pydata_sphinx_theme"
html_title = "stiefel"
html_static_path = ["_static"]
html_css_files = ["stiefel.css"]
html_show_sourcelink = False
html_theme_options = {
    "show_toc_level": 2,
    "header_links_before_dropdown": 7,
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
}


def _only_our_own(app, what, name, thing, skip, options):
    """Methods that scikit-learn brings along are documented there."""
    module = getattr(thing, "__module__", None) or ""
    return True if callable(thing) and not module.startswith("stiefel") else None


def _write_pages(app, config):
    commands.write(Path(app.srcdir, "commands.md"))
    reference.write(Path(app.srcdir, "reference.rst"), autodoc_mock_imports)


def setup(app):
    app.connect("autodoc-skip-member", _only_our_own)
    # Rust that rustdoc compiles and does not run.
    app.add_lexer("rust,no_run", RustLexer)
    # Before Sphinx looks for pages.
    app.connect("config-inited", _write_pages)
