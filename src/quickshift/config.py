"""What quickshift runs with: the instruction set, the threads, the versions."""

import platform
from importlib import metadata

from quickshift import _core
from quickshift.threads import resolve_threads

__all__ = ["get_config", "show_config"]

_DEPENDENCIES = ("numpy", "scipy", "scikit-learn")


def get_config() -> dict[str, str | int | list[str]]:
    """Tell what quickshift runs with here, for a report of a problem.

    The instruction set is chosen once, when the compiled core is loaded: the fastest that this
    machine has, or the one that the environment variable ``QUICKSHIFT_INSTRUCTION_SET`` names.

    Returns
    -------
    dict
        ``instruction_set``, the one in use; ``available_instruction_sets`` on this machine, the
        slowest first; ``threads`` that a call uses by default; ``compiler`` of the core; and the
        versions of quickshift, Python and what quickshift needs.

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
    """Print what quickshift runs with here, for a report of a problem.

    Examples
    --------
    >>> from quickshift import show_config
    >>> show_config()
    quickshift: ...
    instruction_set: ...
    """
    for name, value in get_config().items():
        text = ", ".join(value) if isinstance(value, list) else value
        print(f"{name}: {text}")  # noqa: T201 (what it is for)
