"""Checks of files of arrays before they are read: whether they can be as large as they declare."""

import math
import tokenize
import zipfile
import zlib
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from quickshift.memory import available_memory

__all__ = ["DAMAGED", "Declared", "check_archive", "check_declared"]

# What the readers of zip files and of NumPy's headers raise if a file is damaged or hostile.
DAMAGED = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    RuntimeError,  # with RecursionError and NotImplementedError
    SyntaxError,
    TypeError,
    ValueError,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)

_MAGIC = b"\x93NUMPY"
_LARGEST_RATIO = 1032  # deflate cannot compress by a larger factor
_COMPRESSIONS = {zipfile.ZIP_STORED: 1, zipfile.ZIP_DEFLATED: _LARGEST_RATIO}


@dataclass(frozen=True)
class Declared:
    """What the header of an array says about it.

    Attributes
    ----------
    shape : tuple of int
        Length of each axis.
    dtype : numpy.dtype
        Type of the entries.
    begin : int
        Byte of the file at which the first entry begins.
    fortran : bool
        Whether the first axis is the one whose entries are next to each other.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    begin: int
    fortran: bool

    @property
    def n_bytes(self) -> int:
        """Bytes of all entries."""
        return math.prod(self.shape) * self.dtype.itemsize


def check_archive(archive: zipfile.ZipFile) -> dict[str, Declared]:
    """Return what the arrays of an .npz file declare, by name, without reading any of them.

    Raise if an array cannot be as large as it declares, or if all together need more than the
    available memory.
    """
    declared = {}
    for member in archive.infolist():
        name = member.filename.removesuffix(".npy")
        if name in declared:
            raise ValueError(f"it has two arrays of the name {name!r}")
        if member.file_size > member.compress_size * _COMPRESSIONS.get(member.compress_type, 0):
            raise ValueError(
                f"{member.filename} declares {member.file_size} bytes, compressed to "
                f"{member.compress_size}, which is not possible"
            )
        with archive.open(member) as file:
            declared[name] = check_declared(file, member.file_size, member.filename)
    total = sum(array.n_bytes for array in declared.values())
    if total > available_memory():
        raise ValueError(f"its arrays need {total / 1e9:.1f} GB, more than the available memory")
    return declared


def check_declared(file: IO[bytes], size: int, name: str) -> Declared:
    """Return what the header of an array declares, and leave the file at its beginning.

    Raise if the array needs more bytes than the file has. ``name`` is the subject of messages.
    """
    file.seek(0)
    if file.read(len(_MAGIC)) != _MAGIC:
        raise ValueError(f"{name} does not begin as an .npy file does")
    file.seek(0)
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
    else:
        shape, fortran, dtype = np.lib.format.read_array_header_2_0(file)
    declared = Declared(shape, dtype, file.tell(), fortran)
    if min(shape, default=0) < 0 or dtype.hasobject:
        raise ValueError(f"{name} declares {dtype} entries in the shape {shape}")
    if declared.n_bytes > size - declared.begin:
        raise ValueError(
            f"{name} declares {declared.n_bytes} bytes of data, but has {size} bytes only"
        )
    file.seek(0)
    return declared
