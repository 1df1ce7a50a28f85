"""The instruction sets of this machine, for tests that compare them."""

from collections.abc import Callable
from typing import TypeVar

from quickshift import _core

Result = TypeVar("Result")

SETS = [each for each in _core.InstructionSet if _core.has_instruction_set(each)]


def with_every_instruction_set(run: Callable[[], Result]) -> list[Result]:
    """Return the results of a function with each instruction set of this machine, in their order.

    Afterwards, the one that was used before is used again.
    """
    before = _core.instruction_set()
    results = []
    try:
        for each in SETS:
            _core.set_instruction_set(each)
            results.append(run())
    finally:
        _core.set_instruction_set(before)
    return results
