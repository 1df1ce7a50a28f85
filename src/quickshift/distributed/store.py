"""Files of a run: one folder per box, one array per file.

Every file is written under a temporary name and renamed when it is complete, so a file that can be
seen is whole. A task that runs twice writes the same bytes twice.

====================  ==============================================================================
``points``            coordinates, (n, d); periodic features are wrapped into [0, period)
``rows``              number of each row in the user's data
``weights``           weights, if there are any
``ids``               identifiers, if there are any, as an Arrow file
``given``             the user's features, if these are not the coordinates themselves
``blocks``            bounding boxes of successive runs of `BLOCK` rows, (n_blocks, 2, d)
``locations``         first rows of the distinct rows, and the weights of these, (2, n_locations)
``heights``           sums of kernel profiles, or -r
``tau``               longest move of each row under local scale
``parent``            position of the parent of each row, its own if there is none within reach
``distance``          distance to the parent, infinite if there is none within reach
``dips``              whether the parent has a lower height, see `ClusterTree.pieces`
``beyond``            the nearest higher row of rows whose parent is out of reach, if one is known
``removed``           places of the rows whose edges were removed to get more clusters than modes
``kept-tau``          under local scale, the tau of each row that removes the same edges
``top``               number of the row's local top, see `quickshift.distributed.stitch`
``piece``             piece of each local top
``halo``, ``extra``   under local scale, which rows of other boxes are near a row of this one
====================  ==============================================================================

The position of a row is its place in the sequence of all boxes: the number of rows in the boxes
before its own, plus its place in its own box.
"""

import math
import re
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from pickle import PicklingError
from typing import Any, BinaryIO, NoReturn, Self
from urllib.parse import unquote

import numpy as np

from quickshift.arrays import Floats, Indices
from quickshift.checks.numbers import check_path
from quickshift.distributed.partition import Partition
from quickshift.files import published

__all__ = [
    "BLOCK",
    "Store",
    "TemporaryFolder",
    "check_kept",
    "joined_ids",
    "local_folder",
    "publish",
    "publish_bytes",
    "publish_ids",
]

BLOCK = 2048  # rows per block; a halo reads whole blocks


def local_folder(directory: str | Path) -> Path:
    """Return the folder of a run as an absolute path.

    Tasks open arrays without loading them, read scattered parts of them, and rename files, so the
    folder has to be part of a file system. The only URLs with such a folder are those of files.

    Examples
    --------
    >>> local_folder("file:///scratch/runs").as_posix()
    '/scratch/runs'
    >>> local_folder("s3://bucket/runs")
    Traceback (most recent call last):
        ...
    ValueError: directory is 's3://bucket/runs', expected the path of a folder or a file:// URL. ...
    """
    path = check_path(directory, "directory")
    given = str(directory)
    scheme = re.match("([a-z][a-z0-9+.-]+):/", given)
    if scheme is not None:
        local = given.partition("://")[2]
        if scheme[1] not in ("file", "local") or not local.startswith("/"):
            raise ValueError(
                f"directory is {given!r}, expected the path of a folder or a file:// URL. Mount "
                f"the remote storage, and pass the path under which all workers see it."
            )
        path = Path(unquote(local) if scheme[1] == "file" else local)
    if path.is_file():
        raise NotADirectoryError(
            f"directory is {given!r}, which is a file; expected a folder for the files of the run. "
            f"Choose another name, or leave it out for a temporary folder."
        )
    return path.resolve()


class TemporaryFolder:
    """A new folder, which is removed when nothing refers to this object any more.

    Copies of an estimator share the object, and thus the files. A pickle cannot: it may outlive the
    files, or be loaded on another machine.

    Attributes
    ----------
    path : Path
        The folder.
    """

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="quickshift-"))
        self._finalizer = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def remove(self) -> None:
        """Remove the folder now."""
        self._finalizer()

    def __deepcopy__(self, _: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        raise PicklingError(
            f"the files of this fit are in the temporary folder {self.path}, which is removed with "
            f"the estimator, so the fit cannot be pickled; expected files that stay. Fit with "
            f"directory=..., and keep that folder as long as the pickle."
        )


def publish(path: Path, array: Any) -> None:
    """Write an array to a file that appears under its name only when it is complete."""
    with _published(path) as file:
        np.save(file, np.ascontiguousarray(array), allow_pickle=False)


def publish_bytes(path: Path, content: bytes) -> None:
    """Write bytes to a file in the same way."""
    with _published(path) as file:
        file.write(content)


def publish_ids(folder: Path, ids: Any) -> None:
    """Write an Arrow array of identifiers to a folder in the same way."""
    import pyarrow as pa

    batch = pa.RecordBatch.from_arrays([ids], names=["ids"])
    with (
        _published(folder / _IDS) as file,
        pa.ipc.new_file(file, batch.schema) as writer,
    ):
        writer.write_batch(batch)


def joined_ids(parts: list[tuple[Path, slice]]) -> Any:
    """Return some identifiers of each of some folders as one array; None if there are none."""
    if not (parts[0][0] / _IDS).exists():
        return None
    import pyarrow as pa

    arrays = []
    for folder, rows in parts:
        with pa.memory_map(str(folder / _IDS)) as source, pa.ipc.open_file(source) as file:
            arrays.append(file.get_batch(0).column(0)[rows])
    return pa.concat_arrays(arrays)


_IDS = "ids.arrow"


@contextmanager
def _published(path: Path) -> Iterator[BinaryIO]:
    """Open a file of a run for writing; no other process writes to it before it has its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with published(path) as file:
        yield file


@dataclass(frozen=True)
class Store:
    """The folder of a run, as tasks see it.

    Attributes
    ----------
    directory : str
        The folder.
    layer : str
        Distinguishes the results of several numbers of neighbors: all arrays except the data are
        written once per layer. It is empty for a fit with one bandwidth.
    most_rows : int or None
        Most rows that a task may hold in memory; None if there is no limit.
    """

    directory: str
    layer: str = ""
    most_rows: int | None = None

    @property
    def is_local(self) -> bool:
        """Whether heights are negative local scales, and not sums of kernels."""
        return bool(self.layer)

    def path(self, box: int, name: str) -> Path:
        """Return the file of an array of a box."""
        layer = "" if name in _DATA else self.layer
        return self.folder(box) / f"{name}{layer}.npy"

    def write(self, box: int, name: str, array: Any) -> None:
        """Write an array of a box."""
        publish(self.path(box, name), array)

    def read(self, box: int, name: str) -> Any:
        """Open an array of a box without loading it."""
        path = self.path(box, name)
        return np.load(path, mmap_mode="r" if path.stat().st_size > 4096 else None)

    def has(self, box: int, name: str) -> bool:
        """Return whether an array of a box has been written."""
        return self.path(box, name).exists()

    def folder(self, box: int) -> Path:
        """Return the folder of a box."""
        return Path(self.directory) / f"box-{box:05}"

    def read_at(self, name: str, positions: Indices) -> Any:
        """Return the entries of an array at some positions, whichever box they are in."""
        offsets = self.offsets
        owners = np.searchsorted(offsets, positions, side="right") - 1
        order = np.argsort(owners, kind="stable")
        ends = np.searchsorted(owners[order], np.arange(len(self.counts) + 1))
        parts = [
            self.read(box, name)[positions[order[ends[box] : ends[box + 1]]] - offsets[box]]
            for box in range(len(self.counts))
            if ends[box] < ends[box + 1] or box == 0
        ]
        found = np.concatenate(parts)
        result = np.empty_like(found)
        result[order] = found
        return result

    def absent_folder(self, chunk: int) -> Path:
        """Return the folder of the rows of weight zero of a chunk."""
        return Path(self.directory) / "absent" / f"{chunk:06}"

    def absent_folders(self) -> list[Path]:
        """Return the folders of all rows of weight zero."""
        return sorted((Path(self.directory) / "absent").glob("*"))

    def write_partition(self, partition: Partition) -> None:
        """Write the partition of space."""
        for name in _PARTITION:
            array = getattr(partition, name)
            if array is not None:
                publish(self._shared(name), array)

    @property
    def partition(self) -> Partition:
        """The partition of space."""
        arrays: dict[str, Any] = {name: _loaded(self._shared(name)) for name in _PARTITION}
        return Partition(**arrays)

    def write_layout(self, counts: Indices, bounds: Floats) -> None:
        """Write the number of rows of each box, and the bounding boxes of their points."""
        publish(self._shared("counts"), counts)
        publish(self._shared("bounds"), bounds)

    @property
    def counts(self) -> Indices:
        """Number of rows of each box."""
        counts: Indices = _loaded(self._shared("counts"))
        return counts

    @property
    def bounds(self) -> Floats:
        """Bounding boxes of the points of each box, shape (n_boxes, 2, n_features)."""
        bounds: Floats = _loaded(self._shared("bounds"))
        return bounds

    @property
    def offsets(self) -> Indices:
        """Position of the first row of each box, and the number of all rows."""
        return np.concatenate([[0], np.cumsum(self.counts)]).astype(np.int64)

    @property
    def exponent(self) -> int:
        """The exponent e for which the largest coordinate times 2^-e is in [1, 2)."""
        largest = float(np.abs(self.bounds).max())
        return math.frexp(largest)[1] - 1 if largest > 0 else 0

    def _shared(self, name: str) -> Path:
        return Path(self.directory) / f"{name}.npy"


def check_kept(store: Store) -> None:
    """Raise if the folder of a run is gone, such as on a machine that has only the pickle."""
    if not Path(store.directory).is_dir():
        raise FileNotFoundError(
            f"the folder {store.directory} of this fit does not exist, expected the files of the "
            f"run: labels and all other results per row are read from them. Restore the folder, or "
            f"fit again."
        )


_DATA = {"points", "rows", "weights", "given", "blocks", "locations"}
_PARTITION = ("lower", "upper", "feature", "value", "children", "period")


def _loaded(path: Path) -> Any:
    """Return the array of a small file, or None if there is no such file."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return _array(path, status.st_mtime_ns, status.st_ino)


@lru_cache(maxsize=32)
def _array(path: Path, changed: int, inode: int) -> Any:  # noqa: ARG001 (parts of the key)
    return np.load(path)
