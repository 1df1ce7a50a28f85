"""Data that are not in files: they are written to files before tasks read them."""

import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from quickshift.arrays import Numbers

__all__ = ["copied_array", "copied_partitions"]


def copied_array(array: Numbers, folder: Path) -> str:
    """Write an array to a file in a folder, and return its path."""
    return _copied(folder, "input", ".npy", partial(_save, array=array))


def copied_partitions(data: Any, folder: Path) -> list[tuple[str, str]]:
    """Write the partitions of a dask array or data frame, one at a time, into files.

    Parameters
    ----------
    data : dask array or data frame
        The data.
    folder : Path
        Where the files are written.

    Returns
    -------
    list of (str, str)
        Path and format of each file.
    """
    is_array = hasattr(data, "rechunk")
    if data.ndim != 2:
        came = f"has shape {data.shape}" if is_array else f"is of type {type(data).__name__}"
        column = "reshape(-1, 1)" if is_array else "to_frame()"
        raise ValueError(
            f"data {came}, expected (n_samples, n_features). Use data.{column} for one feature."
        )
    written: list[tuple[str, str]] = []
    if not is_array:
        import pyarrow as pa
        import pyarrow.parquet as pq

        for i in range(data.npartitions):
            frame = pa.Table.from_pandas(data.get_partition(i).compute(), preserve_index=False)
            write = partial(pq.write_table, frame)
            written.append((_copied(folder, f"input-{i:06}", ".parquet", write), "parquet"))
        return written
    if np.dtype(data.dtype).kind not in "biuf":
        raise TypeError(
            f"data is a dask array of type {data.dtype}, expected real numbers. Convert it, for "
            f"example with data.astype(float)."
        )
    rows = data.rechunk({1: -1})
    for i in range(rows.numblocks[0]):
        block = rows.blocks[i].compute()
        if np.ma.is_masked(block):
            raise ValueError(
                f"partition {i} of the given dask collection has masked entries, expected none. "
                f"Drop their rows, or fill them with dask.array.ma.filled(data, value)."
            )
        write = partial(_save, array=np.asarray(block))
        written.append((_copied(folder, f"input-{i:06}", ".npy", write), "npy"))
    return written


def _copied(folder: Path, stem: str, suffix: str, write: Callable[[Path], None]) -> str:
    """Write a file whose name depends on its content, unless it exists already.

    A run that is resumed with the same data therefore finds the same file, which it takes for
    unchanged.
    """
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / f".{stem}.{uuid4().hex[:8]}{suffix}"
    try:
        write(temporary)
        with temporary.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()[:16]
        path = folder / f"{stem}-{digest}{suffix}"
        if not path.exists() or path.stat().st_size != temporary.stat().st_size:
            temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return str(path)


def _save(path: Path, array: Any) -> None:
    np.save(path, array, allow_pickle=False)
