"""Every public name is documented in numpydoc's manner; the examples in docstrings and in the
README, and the gallery, run."""

import doctest
import importlib
import inspect
import pkgutil
import re
import runpy
import warnings
from pathlib import Path

import pytest
import sklearn

import stiefel

FOLDER = Path(__file__).parent.parent
#: stiefel.torch needs PyTorch, and has tests of its own.
MODULES = ["stiefel"] + [
    m.name
    for m in pkgutil.walk_packages(stiefel.__path__, "stiefel.")
    if not m.name.startswith("stiefel.torch")
]
#: What the examples share begins with an underscore.
GALLERY = sorted((FOLDER / "examples").glob("[!_]*.py"))


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def public():
    """Name and object of everything a user can call, and whether it is shown in its own example:
    methods are in that of their class."""
    for module in (stiefel, stiefel.spd, stiefel.manifold, stiefel.plot):
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.ismodule(thing) or not callable(thing):
                continue
            yield (
                f"{module.__name__}.{name}",
                thing,
                name not in ("Recording", "RoutingReport", "Trials"),
            )
            if inspect.isclass(thing):
                for own, method in inspect.getmembers(thing, inspect.isroutine):
                    ours = (getattr(method, "__module__", None) or "").startswith("stiefel")
                    if ours and not own.startswith("_"):
                        yield f"{module.__name__}.{name}.{own}", method, False


def documented(text, section):
    """The names in a section of a docstring; None where there is no such section."""
    found = re.search(
        rf"^{section}\n-+\n(.*?)(?=\n\n\w+\n-+\n|\Z)", inspect.cleandoc(text), re.M | re.S
    )
    if found is None:
        return None
    heads = [
        line.split(" : ")[0] for line in found[1].splitlines() if line and not line.startswith(" ")
    ]
    return [name.strip().lstrip("*") for head in heads for name in head.split(",")]


@pytest.mark.parametrize(
    ("thing", "shown"), [pytest.param(*rest, id=name) for name, *rest in public()]
)
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


#: Pages whose Python is run from top to bottom, and how many blocks they have at least.
PAGES = {"python/README.md": 2, "README.md": 1, "docs/install.md": 1, "docs/python.md": 4}


@pytest.mark.parametrize("page", PAGES)
def test_the_python_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (FOLDER.parent / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert len(blocks) >= PAGES[page]
    scope = {}
    with sklearn.config_context():  # what a block sets ends here
        for block in blocks:
            exec(compile(block, page, "exec"), scope)
    assert (tmp_path / "model.stiefel").exists()


def test_lines_of_the_readme_are_on_pages_that_run():
    """PyTorch and Rust are one line each in the README; the pages about them run as tests."""
    readme = (FOLDER.parent / "README.md").read_text(encoding="utf-8")
    for row, page in {"PyTorch": "pytorch.md", "Rust": "rust.md"}.items():
        line = re.search(rf"^\| {row} \| `(.+)` \|$", readme, re.M)[1]
        text = (FOLDER.parent / "docs" / page).read_text(encoding="utf-8")
        assert line in re.sub(r"\s+", " ", text), line


def test_the_charts_show_their_tables():
    charts = runpy.run_path(str(FOLDER.parent / "docs" / "figures" / "bars.py"))["CHARTS"]
    for name, draw in charts.items():
        stored = (FOLDER.parent / "docs" / "figures" / name).read_text(encoding="utf-8")
        assert draw() == stored, f"draw {name} again: python docs/figures/bars.py"


def test_a_link_that_leads_nowhere_is_found(tmp_path):
    check = runpy.run_path(str(FOLDER.parent / "docs" / "_tools" / "check_links.py"))["broken"]
    (tmp_path / "a.html").write_text(
        '<h1 id="top">a</h1><a href="b.html#here">b</a> <a href="https://example.org/">web</a>'
    )
    (tmp_path / "b.html").write_text(
        '<h1 id="here">b</h1><a href="a.html#top">a</a> <img src="picture%20one.png">'
    )
    pages, bad, web = check(tmp_path)
    assert (pages, [(link, why) for _, link, why in bad], len(web)) == (
        2,
        [("picture%20one.png", "there is no such file")],
        1,
    )
    (tmp_path / "picture one.png").touch()
    (tmp_path / "b.html").write_text('<a href="a.html#bottom">a</a> <img src="picture%20one.png">')
    assert [(link, why) for _, link, why in check(tmp_path)[1]] == [
        ("b.html#here", "there is no such place on that page"),
        ("a.html#bottom", "there is no such place on that page"),
    ]


def test_links_of_rustdoc_are_followed(tmp_path):
    check = runpy.run_path(str(FOLDER.parent / "docs" / "_tools" / "check_links.py"))["broken"]
    pages = tmp_path / "rust" / "stiefel"
    listing = tmp_path / "rust" / "src" / "stiefel" / "lib.rs.html"
    for folder in (pages, listing.parent):
        folder.mkdir(parents=True)
    listing.write_text('<a href="nowhere.html">not read</a>')
    # As rustdoc writes them: places with percent signs, lines that a script numbers, and the path
    # of an item that it did not find.
    (pages / "index.html").write_text(
        '<h3 id="impl-From%3CT%3E-for-T"></h3><a href="#impl-From%3CT%3E-for-T"></a><a href="../src/stiefel/lib.rs.html#12-30"></a><a href="stiefel_data::Steps"></a>'
    )
    assert [(link, why) for _, link, why in check(tmp_path)[1]] == [
        ("stiefel_data::Steps", "there is no such file")
    ]


@pytest.mark.parametrize("script", GALLERY, ids=lambda p: p.stem)
def test_gallery(script, tmp_path, monkeypatch, capsys):
    """In this process, which has loaded everything already: a new one for every script would take
    minutes."""
    plt = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MNE_DATA", str(tmp_path))
    monkeypatch.syspath_prepend(str(script.parent))
    plt.switch_backend("Agg")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")
        runpy.run_path(str(script), run_name="__main__")
    plt.close("all")
    assert capsys.readouterr().out.strip()
