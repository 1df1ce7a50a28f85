"""Print every public name with its signature, one per line.

tests/public_names.txt contains the names that users rely on, and a test compares it with the output
of this script. After an intended change, run `make public-names` to rewrite the file, so that
the change shows in the diff.
"""

import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any

MODULES = (
    "quickshift",
    "quickshift.bandwidth",
    "quickshift.compat.skimage",
    "quickshift.config",
    "quickshift.datasets",
    "quickshift.distributed",
    "quickshift.estimators",
    "quickshift.image",
    "quickshift.kernels",
    "quickshift.plot",
    "quickshift.reference",
    "quickshift.stages",
)


def public_names() -> list[str]:
    """Return one line per name in `__all__` of a public module and per public member of a class."""
    return [
        line
        for module in MODULES
        for name in sorted(importlib.import_module(module).__all__)
        for line in described(f"{module}.{name}", getattr(importlib.import_module(module), name))
    ]


def described(path: str, thing: Any) -> Iterator[str]:
    """Yield one line for a name and, if it is a class, one per public member."""
    yield path + signature(thing)
    if not inspect.isclass(thing):
        return
    ours = [base for base in thing.__mro__ if base.__module__.startswith("quickshift")]
    members = {name: member for base in reversed(ours) for name, member in vars(base).items()}
    for name, member in sorted(members.items()):
        if not name.startswith("_"):
            yield f"{path}.{name}" + signature(getattr(member, "__func__", member))


def signature(thing: Any) -> str:
    """Return parameters and defaults without types, or "" for an object that is not callable."""
    if not callable(thing):
        return ""
    found = inspect.signature(thing)
    parameters = [p.replace(annotation=p.empty) for p in found.parameters.values()]
    written = str(found.replace(parameters=parameters, return_annotation=found.empty))
    return re.sub(r" at 0x\w+", "", written)  # memory addresses in the repr of a default


if __name__ == "__main__":
    print(*public_names(), sep="\n")
