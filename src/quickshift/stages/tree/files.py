"""Files of cluster trees: plain arrays and JSON in an .npz archive, without pickle."""

import errno
import json
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from quickshift.arrays import Numbers
from quickshift.checks.archives import DAMAGED, Declared, check_archive
from quickshift.checks.numbers import check_nonnegative, check_path, check_positive, check_real
from quickshift.checks.trees import check_tree_arrays
from quickshift.files import published

if TYPE_CHECKING:
    from quickshift.stages.tree.cluster_tree import ClusterTree

__all__ = ["read_tree", "write_tree"]

_FORMAT = "quickshift cluster tree"
_VERSION = 2
_READABLE = (1, 2)  # version 1 has one tau for all samples, and no power
_LONGEST_JSON = 4096  # characters; `write_tree` needs less than 200
# The axes of each array, and the type of its entries: indices or floats.
_ARRAYS = {
    "leaf_labels": ("samples", "i"),
    "leaf_indices": ("leaves", "i"),
    "density": ("samples", "f"),
    "merges": ("merges", "f"),
    "sizes": ("leaves", "f"),
    "towards": ("leaves", "i"),
    "pieces": ("samples", "i"),
    "piece_merges": ("merges", "f"),
}
_OPTIONAL = {"significance": ("leaves", "f"), "tau": ("tau", "f")}


def write_tree(tree: "ClusterTree", path: str | Path) -> None:
    """Write a tree as an .npz file of plain arrays, one of which holds the scalars as JSON."""
    about = {"format": _FORMAT, "version": _VERSION}
    numbers = json.dumps({**about, "log_unit": tree.log_unit, "power": tree.power})
    with published(check_path(path)) as file:
        arrays = {name: getattr(tree, name) for name in (*_ARRAYS, "tau")}
        if tree.significance is not None:
            arrays["significance"] = tree.significance
        np.savez_compressed(file, json=np.array(numbers), **arrays)


def read_tree(path: str | Path) -> dict[str, Any]:
    """Read a file written by `write_tree`, and check that its arrays are a tree.

    No code in the file is executed. Types and shapes are checked before anything is allocated.
    """
    with check_path(path).open("rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                return _fields_of(archive)
        except (*DAMAGED, OSError) as error:
            # A damaged archive can point to places before its beginning. Other errors of the
            # system, such as those of a network drive, are not due to the contents.
            if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
                raise
            reason = str(error).rstrip(".") or type(error).__name__
            message = (
                f"{str(path)!r} is not a cluster tree that this version can read ({reason}), "
                f"expected a file written by ClusterTree.save. Copy the file again if it may be "
                f"damaged, or save the tree again with this version."
            )
            raise ValueError(message) from error


def _fields_of(archive: zipfile.ZipFile) -> dict[str, Any]:
    """Return the arguments of `ClusterTree` that a file has."""
    declared = check_archive(archive)
    numbers = _numbers_of(archive, declared)
    _check_shapes(declared)
    fields: dict[str, Any] = {
        name: _native(_read(archive, name)) for name in (*_ARRAYS, *_OPTIONAL) if name in declared
    }
    fields.setdefault("significance", None)
    tau = fields["tau"] if "tau" in fields else check_nonnegative(numbers.get("tau"), "tau")
    fields["tau"] = tau if np.ndim(tau) else float(tau)
    fields["log_unit"] = check_real(numbers.get("log_unit"), "log_unit", "a number")
    fields["power"] = check_positive(numbers.get("power", 1.0), "power")
    check_tree_arrays(fields)
    return fields


def _numbers_of(archive: zipfile.ZipFile, declared: dict[str, Declared]) -> dict[str, Any]:
    """Return the scalars, which are JSON in an array with one string."""
    text = declared.get("json")
    if text is None or text.shape != () or text.dtype.kind != "U":
        raise ValueError("it has no header")
    if text.n_bytes > 4 * _LONGEST_JSON:
        raise ValueError(f"its header has {text.n_bytes} bytes")
    numbers = json.loads(str(_read(archive, "json")))
    if not isinstance(numbers, dict):
        raise ValueError("its header is not a JSON object")
    format_, version = numbers.get("format"), numbers.get("version")
    if format_ != _FORMAT or version not in _READABLE:
        raise ValueError(f"format {format_!r}, version {version!r}")
    return numbers


def _check_shapes(declared: dict[str, Declared]) -> None:
    """Raise if an array is missing, or if types or shapes do not fit together."""
    missing = [name for name in _ARRAYS if name not in declared]
    if missing:
        raise ValueError(f"it has no array {missing[0]!r}")
    n, k = (declared[name].shape[:1] for name in ("leaf_labels", "leaf_indices"))
    for name, (axes, kind) in {**_ARRAYS, **_OPTIONAL}.items():
        if name not in declared:
            continue
        shape, dtype = declared[name].shape, declared[name].dtype
        known = {"samples": [n], "leaves": [k], "merges": [(*shape[:1], 3)], "tau": [(), n]}[axes]
        if shape not in known or dtype.kind != kind or dtype.itemsize != 8:
            expected = f"{'int' if kind == 'i' else 'float'}64 of shape {known[-1]}"
            raise ValueError(f"{name} is {dtype} of shape {shape}, expected {expected}")


def _read(archive: zipfile.ZipFile, name: str) -> Numbers:
    with archive.open(f"{name}.npy") as file:
        array: Numbers = np.lib.format.read_array(file, allow_pickle=False)
    return array


def _native(array: Numbers) -> Numbers:
    """Return an array in the byte order of this machine."""
    return array.astype(array.dtype.newbyteorder("="), copy=False)
