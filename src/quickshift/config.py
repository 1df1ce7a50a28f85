"""The configuration that quickshift runs with: instruction set, threads and versions."""

import platform
from importlib import metadata

from quickshift import _core
from quickshift.threads import resolve_threads

__all__ = ["get_config", "show_config"]

_DEPENDENCIES = ("numpy", "scipy", "scikit-learn")


def get_config() -> dict[str, str | int | list[str]]:
    """Return the configuration that quickshift runs with on this machine, for bug reports.

    The instruction set is chosen once, when the compiled core is loaded. It is the fastest one that
    this machine supports, or the one named by the environment variable
    ``QUICKSHIFT_INSTRUCTION_SET``.

    Returns
    -------
    dict
        ``instruction_set``, the one in use; ``available_instruction_sets`` on this machine, slowest
        first; ``threads``, the number that a call uses by default; ``compiler`` of the core;
        ``platform``; and the versions of quickshift, Python and the dependencies.

    Examples
    --------
    >>> from quickshift.config import get_config
    >>> config = get_config()
    >>> config["instruction_set"] in config["available_instruction_sets"]
    True
    """
    available = [set_.name for set_ in _core.InstructionSet if _core.has_instruction_set(set_)]
    return {
        "quickshift": metadata.version("quickshift"),
        "instruction_set": _core.instruction_set().name,
        "available_instruction_sets": available,
        "threads": resolve_threads(None),
        "compiler": _core.compiler(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        **{name: metadata.version(name) for name in _DEPENDENCIES},
    }


def show_config() -> None:
    """Print the configuration that quickshift runs with on this machine, for bug reports.

    Examples
    --------
    >>> from quickshift import show_config
    >>> show_config()
    quickshift: ...
    instruction_set: ...
    """
    for name, value in get_config().items():
        text = ", ".join(value) if isinstance(value, list) else value
        print(f"{name}: {text}")  # noqa: T201 (printing is its purpose)
