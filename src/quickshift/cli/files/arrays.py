"""Arrays in .npy and .npz files, read only if they can be as large as they declare."""

import errno
import io
import math
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np

from quickshift.arrays import Numbers
from quickshift.checks.archives import DAMAGED, check_archive, check_declared
from quickshift.cli.outcome import CommandError

__all__ = ["NpyFile", "read_npy", "read_npz"]


class NpyFile:
    """An array in an .npy file, parts of which are read when it is sliced.

    Unlike a memory map, it raises if the file has become shorter meanwhile. Reading beyond the end
    of a mapped file ends the process.

    Parameters
    ----------
    path : str
        The file.

    Attributes
    ----------
    shape : tuple of int
        Length of each axis.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        with Path(path).open("rb") as file, _explained():
            declared = check_declared(file, Path(path).stat().st_size, "it")
        self.shape, self._dtype = declared.shape, declared.dtype
        self._begin, self._reversed = declared.begin, declared.fortran

    def __getitem__(self, box: tuple[slice, ...]) -> Numbers:
        """Read a box: one slice without a step for each of the first axes."""
        extents = [range(*part.indices(n)) for part, n in zip(box, self.shape, strict=False)]
        extents += [range(n) for n in self.shape[len(extents) :]]
        shape = self.shape
        if self._reversed:
            extents, shape = extents[::-1], shape[::-1]
        found = np.empty([len(extent) for extent in extents], self._dtype)
        with Path(self._path).open("rb") as file:
            self._read(file, self._begin, shape, extents, found)
        return found.T if self._reversed else found

    def _read(
        self,
        file: IO[bytes],
        begin: int,
        shape: tuple[int, ...],
        extents: list[range],
        found: Numbers,
    ) -> None:
        """Read a box of an array in C order that begins at this byte of the file."""
        if not found.size:
            return
        rows = math.prod(shape[1:]) * self._dtype.itemsize
        if extents[1:] == [range(n) for n in shape[1:]]:
            file.seek(begin + (extents[0].start * rows if extents else 0))
            numbers = np.fromfile(file, self._dtype, found.size)
            if len(numbers) < found.size:
                raise CommandError(
                    f"{self._path} has become shorter while it was read. Use a file that no other "
                    f"program writes."
                )
            found[...] = numbers.reshape(found.shape)
            return
        for row, part in zip(extents[0], found, strict=True):
            self._read(file, begin + row * rows, shape[1:], extents[1:], part)


def read_npy(file: str | IO[bytes]) -> Numbers:
    """Return the array of an .npy file.

    Parameters
    ----------
    file : str or binary file
        The path, or a file in memory.

    Returns
    -------
    ndarray
    """
    if isinstance(file, str):
        return NpyFile(file)[()]
    with _explained():
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
    with _explained():
        with zipfile.ZipFile(file) as archive:
            check_archive(archive)
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


@contextmanager
def _explained() -> Iterator[None]:
    """Turn all that readers raise for damaged files into a ValueError."""
    try:
        yield
    except (*DAMAGED, OSError) as error:
        if isinstance(error, OSError) and error.errno != errno.EINVAL:  # a place before the file
            raise
        raise ValueError(str(error) or type(error).__name__) from error
