"""Packages that only some functions need."""

from importlib import import_module


def needed(module, what):
    """The module, or an error that says what wants it and how it is had."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(
            f"{what} need {package}, which is not installed: pip install {package}", name=package
        ) from error
