"""The program ``stiefel``, as a console script and as ``python -m stiefel``."""

import signal
import sys

from ._core import program


def main() -> int:
    """Run the program with the words of this process's command line.

    Returns
    -------
    int
        The exit code: 0 done, 1 failed, 2 misuse, 130 interrupted.
    """
    # Python only notes an interrupt and acts when its own code runs next; the program is not Python
    # code.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return program(["stiefel", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
