"""Arrays in .npy and .npz files, read only if they can be as large as they declare."""

import io
import zipfile
from pathlib import Path
from typing import IO

import numpy as np

from quickshift.arrays import Numbers
from quickshift.checks.archives import DAMAGED, check_archive, check_declared

__all__ = ["read_npy", "read_npz"]


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
            check_declared(opened, Path(file).stat().st_size, "it")
        mapped: Numbers = np.load(file, mmap_mode="r", allow_pickle=False)
        return mapped
    check_declared(file, file.seek(0, io.SEEK_END), "it")
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
            check_archive(archive)
        if not isinstance(file, str):
            file.seek(0)
        with np.load(file, allow_pickle=False) as loaded:
            arrays: dict[str, Numbers] = dict(loaded)
    except DAMAGED as error:
        raise ValueError(str(error) or type(error).__name__) from error
    if not arrays:
        raise ValueError("it has no arrays, expected at least one")
    shapes = {name: array.shape for name, array in arrays.items()}
    lengths = {shape[:1] for shape in shapes.values()}
    if len(lengths) > 1 or any(len(shape) not in (1, 2) for shape in shapes.values()):
        raise ValueError(f"its arrays have the shapes {shapes}, expected equal numbers of rows")
    return arrays
