"""Results of passes as bytes: arrays and JSON in an .npz archive, without pickle.

A run that is resumed reads files from a folder that others may be able to write to. Loading a
pickle would execute whatever code they put there.
"""

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

import numpy as np

from quickshift.arrays import Numbers
from quickshift.checks.archives import DAMAGED, check_archive

__all__ = ["from_bytes", "to_bytes"]

_OURS = "quickshift."


def to_bytes(value: Any) -> bytes:
    """Write numbers, strings, arrays, lists, tuples and our own records of these.

    Parameters
    ----------
    value : object
        What a pass has returned.

    Returns
    -------
    bytes

    Examples
    --------
    >>> from_bytes(to_bytes([(1, 2.5), np.arange(3)]))
    [(1, 2.5), array([0, 1, 2])]
    """
    arrays: list[Numbers] = []
    text = json.dumps(_described(value, arrays))
    buffer = io.BytesIO()
    named: dict[str, Any] = {f"a{i}": array for i, array in enumerate(arrays)}
    np.savez(buffer, json=np.array(text), **named)
    return buffer.getvalue()


def from_bytes(content: bytes) -> Any:
    """Read what `to_bytes` has written; nothing in it is executed.

    Parameters
    ----------
    content : bytes
        From `to_bytes`.

    Returns
    -------
    object
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            check_archive(archive)
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            return _made(json.loads(str(file["json"])), lambda i: file[f"a{i}"])
    except DAMAGED as error:
        reason = str(error) or type(error).__name__
        raise ValueError(
            f"a result of an earlier run cannot be read ({reason}), expected a file that "
            f"quickshift has written. Fit again with resume=False."
        ) from error


def _described(value: Any, arrays: list[Numbers]) -> Any:
    """Return what JSON can express, and append the arrays to a list."""
    if value is None or type(value) in _PLAIN:
        return value
    if isinstance(value, np.ndarray | np.generic) and not value.dtype.hasobject:
        arrays.append(np.asarray(value))
        return {"array": len(arrays) - 1, "scalar": isinstance(value, np.generic)}
    if isinstance(value, list):
        return [_described(item, arrays) for item in value]
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return {"tuple": [_described(item, arrays) for item in value]}
    names = _field_names(type(value))
    if names is None:
        raise TypeError(f"a result is of type {type(value).__name__}, expected plain data.")
    parts = {name: _described(getattr(value, name), arrays) for name in names}
    return {"record": f"{type(value).__module__}:{type(value).__qualname__}", "parts": parts}


_PLAIN = (bool, int, float, str)


def _made(described: Any, array: Callable[[int], Numbers]) -> Any:
    """Return the value that `_described` has described."""
    if isinstance(described, list):
        return [_made(item, array) for item in described]
    if not isinstance(described, dict):
        return described
    if "array" in described:
        found = array(int(described["array"]))
        return found[()] if described["scalar"] else found
    if "tuple" in described:
        return tuple(_made(item, array) for item in described["tuple"])
    kind = _record(described["record"])
    return kind(**{name: _made(part, array) for name, part in described["parts"].items()})


def _record(name: str) -> Any:
    """Return a class of ours that holds data and nothing else."""
    module, _, kind = name.partition(":")
    found = getattr(import_module(module), kind) if module.startswith(_OURS) else None
    if not isinstance(found, type) or found.__module__ != module or _field_names(found) is None:
        raise ValueError(f"{name!r} is not a record of this package")
    return found


def _field_names(kind: type) -> tuple[str, ...] | None:
    """Return the fields of a class of ours, or None if it is another class."""
    if not kind.__module__.startswith(_OURS):
        return None
    if is_dataclass(kind):
        return tuple(field.name for field in fields(kind) if field.init)
    named: tuple[str, ...] | None = getattr(kind, "_fields", None)
    return named
