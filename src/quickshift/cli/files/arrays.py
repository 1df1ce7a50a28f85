"""Arrays in .npy and .npz files, read only if they can be as large as they declare."""

import io
import math
import zipfile
from pathlib import Path
from typing import IO

import numpy as np

from quickshift.arrays import Numbers
from quickshift.memory import available_memory

__all__ = ["read_npy", "read_npz"]

_MAGIC = b"\x93NUMPY"


def read_npy(file: str | IO[bytes]) -> Numbers:
    """Return the array of an .npy file, memory-mapped if it is a file on disk.

    Parameters
    ----------
    file : str or binary file
        The path, or a file in memory.

    Returns
    -------
    ndarray
    """
    if isinstance(file, str):
        with Path(file).open("rb") as opened:
            _check_declared(opened, Path(file).stat().st_size, "it")
        mapped: Numbers = np.load(file, mmap_mode="r", allow_pickle=False)
        return mapped
    _check_declared(file, file.seek(0, io.SEEK_END), "it")
    array: Numbers = np.load(file, allow_pickle=False)
    return array


def read_npz(file: str | IO[bytes]) -> dict[str, Numbers]:
    """Return the arrays of an .npz file, all of which have one or two axes and the same length.

    Parameters
    ----------
    file : str or binary file
        The path, or a file in memory.

    Returns
    -------
    dict of ndarray
    """
    try:
        with zipfile.ZipFile(file) as archive:
            _check_sizes(archive)
    except zipfile.BadZipFile as error:
        raise ValueError(str(error)) from error
    if not isinstance(file, str):
        file.seek(0)
    with np.load(file, allow_pickle=False) as loaded:
        arrays: dict[str, Numbers] = dict(loaded)
    if not arrays:
        raise ValueError("it has no arrays, expected at least one")
    shapes = {name: array.shape for name, array in arrays.items()}
    lengths = {shape[:1] for shape in shapes.values()}
    if len(lengths) > 1 or any(len(shape) not in (1, 2) for shape in shapes.values()):
        raise ValueError(f"its arrays have the shapes {shapes}, expected equal numbers of rows")
    return arrays


def _check_sizes(archive: zipfile.ZipFile) -> None:
    """Raise if arrays are larger than their files in the archive, or than the memory."""
    total = 0
    for member in archive.infolist():
        with archive.open(member) as file:
            total += _check_declared(file, member.file_size, member.filename)
    if total > available_memory():
        raise ValueError(f"its arrays need {total / 1e9:.1f} GB, more than the available memory")


def _check_declared(file: IO[bytes], size: int, name: str) -> int:
    """Return the bytes that the header of an array declares, at most the size of its file."""
    file.seek(0)
    if file.read(len(_MAGIC)) != _MAGIC:
        raise ValueError(f"{name} does not begin as an .npy file does")
    file.seek(0)
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    else:
        shape, _, dtype = np.lib.format.read_array_header_2_0(file)
    declared = math.prod(shape) * dtype.itemsize
    if declared > size - file.tell():
        raise ValueError(f"{name} declares {declared} bytes of data, but has {size} bytes only")
    file.seek(0)
    return declared
