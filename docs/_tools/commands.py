"""The command reference: what the program says of itself, a section for every command."""

import os
import re
import sys
import tempfile
from pathlib import Path

from stiefel._core import program

#: What the page begins with.
HEAD = """# The commands

What `stiefel COMMAND --help` prints, for every command. `stiefel generate manual FOLDER` writes the same as manual pages, and
`stiefel generate completions SHELL` prints a completion script.
"""


def help_of(words):
    """The help of a command. A copy of this process runs the program: a new one would first load
    the whole package, every time."""
    sys.stdout.flush()
    with tempfile.TemporaryFile() as file:
        child = os.fork()
        if child == 0:
            os.dup2(file.fileno(), 1)
            os._exit(program(["stiefel", *words, "--help"]))
        _, status = os.waitpid(child, 0)
        file.seek(0)
        text = file.read().decode("utf-8").rstrip()
    if status != 0 or not text:
        raise RuntimeError(
            f"stiefel {' '.join(words)} --help ended with {status} and printed {len(text)} characters"
        )
    return text


def parts_of(text):
    """The commands below one, by name."""
    listed = text.partition("\nOptions:\n")[0]
    if "<COMMAND>" not in listed and "[COMMAND]" not in listed:
        return []
    blocks = re.findall(r"^\w+:\n((?:  .*\n?)+)", listed, re.M)
    names = [name for block in blocks for name in re.findall(r"^  (\S+)", block, re.M)]
    return [name for name in names if name != "help"]


def sections(words=()):
    """Heading and help of a command and of those below it."""
    text = help_of(words)
    yield f"{'##' if len(words) < 2 else '###'} stiefel {' '.join(words)}".rstrip(), text
    for name in parts_of(text):
        yield from sections((*words, name))


def write(path: Path):
    """Write the page, unless it is there and the same."""
    text = HEAD + "".join(f"\n{heading}\n\n```text\n{text}\n```\n" for heading, text in sections())
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
