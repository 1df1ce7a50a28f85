"""Pictures in files: arrays that tasks can open on their own, and arrays with one file per tile."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from quickshift.arrays import Numbers
from quickshift.distributed.inputs import check_stamp, is_plain, offset_of, stamp_of
from quickshift.distributed.store import publish
from quickshift.image.tile_steps import Box

__all__ = ["FileArray", "TiledArray", "as_file"]

_EXPECTED = "the path of a .npy file, a NumPy array or memory map, or a dask array"


@dataclass(frozen=True)
class FileArray:
    """An array in a file.

    Attributes
    ----------
    path : str
        The file.
    layout : tuple
        Type, shape and offset of the array; empty for a .npy file, which says so itself.
    stamp : tuple of int
        Size and time of the last change of the file, to notice changes between passes.
    """

    path: str
    layout: tuple[Any, ...]
    stamp: tuple[int, int]

    def check_unchanged(self) -> None:
        """Refuse a file that was changed."""
        check_stamp(self.path, self.stamp)

    def opened(self) -> Numbers:
        """Open the array without loading it."""
        self.check_unchanged()
        if not self.layout:
            array: Numbers = np.load(self.path, mmap_mode="r", allow_pickle=False)
            return array
        dtype, shape, offset = self.layout
        return np.memmap(self.path, dtype=dtype, mode="r", shape=shape, offset=offset)


def as_file(data: Any, path: Path, name: str) -> FileArray:
    """Return an array as one in a file; those that are not in files are written block by block.

    Parameters
    ----------
    data : str, Path, ndarray or dask array
        The array.
    path : Path
        Where an array is written that is not in a file.
    name : str
        Name of the parameter, for messages.

    Returns
    -------
    FileArray
    """
    if isinstance(data, str | Path):
        if Path(data).suffix != ".npy":
            raise ValueError(f"{name} is {str(data)!r}, expected {_EXPECTED}.")
        return _in_file(Path(data).resolve(), name)
    if isinstance(data, np.memmap) and is_plain(data):
        layout = data.dtype.str, data.shape, offset_of(data)
        found = str(Path(str(data.filename)).resolve())
        return FileArray(found, layout, stamp_of(found))
    if not isinstance(data, np.ndarray) and not hasattr(data, "dask"):
        raise TypeError(f"{name} is of type {type(data).__name__}, expected {_EXPECTED}.")
    if np.dtype(data.dtype).hasobject:
        raise TypeError(
            f"{name} has entries of type {data.dtype}, expected numbers, because it is written to "
            f"a file. Convert it, for example with {name}.astype(float)."
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    copy = np.lib.format.open_memmap(path, mode="w+", dtype=data.dtype, shape=data.shape)
    for box, block in _blocks(data):
        _refuse_masked(block, name)
        copy[box] = block
    copy.flush()
    return _in_file(path.resolve(), name)


def _in_file(path: Path, name: str) -> FileArray:
    """Return the array of a .npy file, if it can be opened."""
    found = FileArray(str(path), (), stamp_of(str(path)))
    try:
        found.opened()
    except (ValueError, EOFError) as error:
        raise ValueError(f"{name} is {str(path)!r}, which cannot be opened: {error}") from error
    return found


def _blocks(data: Any) -> Iterator[tuple[Any, Numbers]]:
    """Yield the blocks of an array, and where they are in it."""
    if isinstance(data, np.ndarray):
        yield ..., data
        return
    ends = [np.cumsum([0, *sizes]).tolist() for sizes in data.chunks]
    for at in itertools.product(*(range(n) for n in data.numblocks)):
        box = tuple(slice(e[i], e[i + 1]) for e, i in zip(ends, at, strict=True))
        yield box, data.blocks[at].compute()


def _refuse_masked(block: Any, name: str) -> None:
    """Refuse masked entries, which would be written as if they were data."""
    if np.ma.is_masked(block):
        raise TypeError(
            f"{name} has masked entries, expected none. Fill them, and leave pixels out of the "
            f"segmentation by `mask`, which is False for them."
        )


@dataclass(frozen=True)
class TiledArray:
    """An array of the shape of a picture, with one file per tile.

    A tile is written as a whole, under a temporary name until it is complete. Boxes of any size can
    be read.

    Attributes
    ----------
    directory : str
        The folder of the files.
    name : str
        Name of the array.
    shape : tuple of int
        Shape of the array.
    sides : tuple of int
        Side lengths of a tile.
    """

    directory: str
    name: str
    shape: tuple[int, ...]
    sides: tuple[int, ...]

    def __setitem__(self, box: Box, values: Any) -> None:
        """Write a tile."""
        extent = tuple(each.stop - each.start for each in box)
        publish(self._path(self.tile_of(box)), np.broadcast_to(values, extent))

    def __getitem__(self, box: Box) -> Numbers:
        """Read a box."""
        ranges = [
            range(each.start // side, -(-each.stop // side))
            for each, side in zip(box, self.sides, strict=True)
        ]
        parts: Numbers | None = None
        for at in itertools.product(*ranges):
            tile = np.load(self._path(at), mmap_mode="r")
            if parts is None:
                extent = [each.stop - each.start for each in box]
                parts = np.empty(extent, dtype=tile.dtype)
            low = [
                max(each.start, i * side) for each, i, side in zip(box, at, self.sides, strict=True)
            ]
            high = [
                min(each.stop, i * side + n)
                for each, i, side, n in zip(box, at, self.sides, tile.shape, strict=True)
            ]
            to = tuple(
                slice(a - each.start, b - each.start)
                for a, b, each in zip(low, high, box, strict=True)
            )
            of = tuple(
                slice(a - i * side, b - i * side)
                for a, b, i, side in zip(low, high, at, self.sides, strict=True)
            )
            parts[to] = tile[of]
        assert parts is not None  # boxes are not empty
        return parts

    def tile_of(self, box: Box) -> tuple[int, ...]:
        """Return the place of a tile in the grid of tiles."""
        return tuple(each.start // side for each, side in zip(box, self.sides, strict=True))

    @property
    def grid(self) -> tuple[int, ...]:
        """Number of tiles along each axis."""
        return tuple(math.ceil(n / side) for n, side in zip(self.shape, self.sides, strict=True))

    def _path(self, at: tuple[int, ...]) -> Path:
        return Path(self.directory) / self.name / ("-".join(map(str, at)) + ".npy")
