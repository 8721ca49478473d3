"""The page of all public names of the Python package, from what its modules list in ``__all__``: a
name cannot be forgotten."""

import importlib
import inspect
from pathlib import Path

from sphinx.ext.autodoc.mock import mock

#: Modules in the order of the page; those that :mod:`stiefel` lists beside these come before
#: PyTorch's.
FIRST, LAST = (
    ["stiefel", "stiefel.spd", "stiefel.manifold", "stiefel.live"],
    ["stiefel.torch", "stiefel.torch.functional"],
)


def modules(absent):
    """The public modules, with packages that are not installed replaced by stand-ins."""
    with mock(absent):
        found = [importlib.import_module(name) for name in FIRST]
        listed = [getattr(found[0], name) for name in found[0].__all__]
        found += [thing for thing in listed if inspect.ismodule(thing) and thing not in found]
        return found + [importlib.import_module(name) for name in LAST]


def section(module):
    """Heading, first line, and a table of its names."""
    title = module.__name__
    names = [
        name
        for name in module.__all__
        if not name.startswith("__") and not inspect.ismodule(getattr(module, name))
    ]
    lines = [
        f"``{title}``",
        "=" * (len(title) + 4),
        "",
        inspect.cleandoc(module.__doc__).splitlines()[0],
        "",
    ]
    lines += [f".. currentmodule:: {title}", "", ".. autosummary::", "   :toctree: reference", ""]
    return "\n".join([*lines, *(f"   {name}" for name in names), ""])


def write(path: Path, absent):
    """Write the page, unless it is there and the same."""
    head = "The Python package\n##################\n\nEvery public name, by module.\n\n"
    text = head + "\n".join(section(module) for module in modules(absent))
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
