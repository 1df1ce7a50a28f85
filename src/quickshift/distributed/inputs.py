"""Inputs: the user's data as chunks of rows that tasks can read on their own.

Only this file, `copies`, `store`, `results` and `executors` know libraries for files and clusters.
They import them when they are needed.
"""

import glob
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from quickshift.arrays import Floats, Numbers
from quickshift.checks.tables import index_columns
from quickshift.distributed.copies import copied_array, copied_partitions

__all__ = [
    "Chunk",
    "check_stamp",
    "is_plain",
    "list_chunks",
    "offset_of",
    "read_chunk",
    "read_column",
    "read_ids",
    "stamp_of",
]

CHUNK_ROWS = 1 << 20  # most rows of a chunk, unless a row group of a Parquet file has more

_KINDS = {
    ".npy": "npy",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
_EXPECTED = (
    "a path or glob of .npy, .parquet, .arrow or .feather files, a NumPy array or memory map, a "
    "dask array or a dask data frame"
)


@dataclass(frozen=True)
class Chunk:
    """Some successive rows of the input.

    Attributes
    ----------
    number : int
        Number of the chunk.
    path : str
        The file.
    kind : {"npy", "raw", "parquet", "arrow"}
        Its format.
    start, stop : int
        Which part of the file: the first unit, and the one after the last. A unit is a row of an
        array, a row group of a Parquet file, or a record batch of an Arrow file.
    row : int
        Row of the file at which the chunk begins.
    first_row : int
        The same row, counted in the whole input.
    n_rows : int
        Number of rows.
    columns : tuple
        Names of the features, or their numbers in arrays.
    weight, id : str, int or None
        The columns of weights and of identifiers.
    stamp : tuple of int
        Size and time of the last change of the file, to notice changes between passes.
    layout : tuple
        For "raw": type, shape and offset of the array.
    source : str
        What the user gave, if the file is a copy of it; empty if the file is the user's.
    """

    number: int
    path: str
    kind: str
    start: int
    stop: int
    row: int
    first_row: int
    n_rows: int
    columns: tuple[Any, ...]
    weight: Any = None
    id: Any = None
    stamp: tuple[int, int] = (0, 0)
    layout: tuple[Any, ...] = ()
    source: str = ""

    @property
    def shown(self) -> str:
        """What messages call the input that the rows are from."""
        return self.source or self.path


def list_chunks(
    data: Any,
    columns: Sequence[Any] | None,
    weight: Any,
    identifier: Any,
    folder: Path,
) -> list[Chunk]:
    """Divide the input into chunks.

    Parameters
    ----------
    data : str, Path, ndarray, dask array or dask data frame
        The input.
    columns : sequence or None
        The features: names, or numbers of columns of an array. None takes all columns that hold
        numbers, except those of weights and identifiers.
    weight, identifier : str, int or None
        The columns of weights and of identifiers.
    folder : Path
        Where data that are not in files are written.

    Returns
    -------
    list of Chunk
    """
    if not (columns is None or isinstance(columns, list | tuple | range | np.ndarray)):
        raise TypeError(
            f"columns is of type {type(columns).__name__}, expected a list of names of columns, or "
            f"of their numbers in an array."
        )
    named = None if columns is None else tuple(columns)
    if named == ():
        raise ValueError(
            "columns is empty, expected at least one feature. Name some, or leave it out for all "
            "numeric columns."
        )
    _check_distinct(named)
    parts: list[dict[str, Any]] = []
    first: tuple[Any, ...] | None = None
    first_type: str | None = None
    for path, kind, layout, source in _files_of(data, folder):
        shown = source or path
        names, units = _opened(path, kind, layout, source)
        chosen = _chosen(names, named, weight, identifier, shown)
        if first is not None and chosen != first:
            raise ValueError(
                f"{shown} has the feature columns {list(chosen)}, expected {list(first)} as in the "
                f"first file. Give `columns` that all files have, or leave the file out."
            )
        id_type = None if identifier is None else names[identifier].type
        if first is not None and id_type != first_type:
            raise ValueError(
                f"column {identifier!r} of {shown} has the type {id_type}, expected {first_type} "
                f"as in the first file. Convert the identifiers of all files to one type."
            )
        first, first_type = chosen, id_type
        parts.extend(
            {
                "path": path,
                "kind": kind,
                "layout": layout,
                "source": source,
                "columns": chosen,
                "weight": weight,
                "id": identifier,
                "stamp": stamp_of(path),
                **unit,
            }
            for unit in _grouped(units)
        )
    chunks, row = [], 0
    for number, part in enumerate(parts):
        chunks.append(Chunk(number=number, first_row=row, **part))
        row += part["n_rows"]
    if not row:
        raise ValueError("the input has no rows, expected at least one. Check the path.")
    return chunks


def _check_distinct(columns: tuple[Any, ...] | None) -> None:
    """Refuse a feature that is named twice; names of other types are refused later."""
    names = [name for name in columns or () if isinstance(name, str | int | np.integer)]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise ValueError(
                f"columns has {name!r} twice, expected distinct columns. Remove one, or give the "
                f"feature more influence by `scale`."
            )


def read_chunk(chunk: Chunk) -> tuple[Floats, Floats | None]:
    """Return features and weights of the rows of a chunk, after checking them."""
    wanted = [*chunk.columns, *([] if chunk.weight is None else [chunk.weight])]
    table = _read(chunk, wanted)
    points = np.column_stack([_numbers(table[c], c, chunk) for c in chunk.columns])
    _check_finite(points, chunk)
    if chunk.weight is None:
        return points, None
    weights = _numbers(table[chunk.weight], chunk.weight, chunk)
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if wrong.size:
        raise ValueError(
            f"column {chunk.weight!r} of {chunk.shown} has {weights[wrong[0]]} at row "
            f"{chunk.row + wrong[0]}, expected frequencies: 0 leaves a row out, 2 counts it twice."
        )
    return points, weights


def read_column(chunk: Chunk, feature: int) -> tuple[Floats, Floats | None]:
    """Return one feature and the weights of the rows of a chunk that was checked before."""
    name = chunk.columns[feature]
    table = _read(chunk, [name, *([] if chunk.weight is None else [chunk.weight])])
    weights = None if chunk.weight is None else _numbers(table[chunk.weight], chunk.weight, chunk)
    return _numbers(table[name], name, chunk), weights


def read_ids(chunk: Chunk) -> Any:
    """Return the identifiers of the rows of a chunk as an Arrow array, one for each row.

    They may be of any type, and need not be distinct. An array of NumPy would give all strings the
    length of the longest, and has no type for time zones or bytes that end with zeros.
    """
    import pyarrow as pa

    ids = _read(chunk, [chunk.id], _present)[chunk.id]
    if isinstance(ids, np.ndarray):
        return pa.array(ids.astype(ids.dtype.newbyteorder("="), copy=False))
    return ids


def _present(values: Any, chunk: Chunk) -> Any:
    """Return a copy of a column of a table as an Arrow array, if no entry is missing.

    Categories are replaced by their values, because those of two chunks may differ. Texts have 64
    bits per offset, because those of a partition may be longer than 2 GiB together.
    """
    import pyarrow as pa

    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)  # a category may be missing, too
    if values.null_count:
        row = chunk.row + int(np.flatnonzero(values.is_null().to_numpy())[0])
        raise ValueError(
            f"column {chunk.id!r} of {chunk.shown} has no value at row {row}, expected an "
            f"identifier in every row. Fill the gaps, or leave out `id_column` to use row numbers."
        )
    kind = str(values.type).removesuffix("_view")  # old versions of pyarrow know no views
    wide = {"string": pa.large_string(), "binary": pa.large_binary()}
    values = values.cast(wide.get(kind, values.type))
    return pa.concat_arrays(values.chunks).take(pa.array(np.arange(len(values))))


def _check_finite(points: Floats, chunk: Chunk) -> None:
    finite = np.isfinite(points)
    if finite.all():
        return
    row, column = np.argwhere(~finite)[0]
    raise ValueError(
        f"{chunk.shown} has {points[row, column]} at row {chunk.row + row}, column "
        f"{chunk.columns[column]!r}; expected finite numbers. Drop such rows or impute them."
    )


def _numbers(values: Any, column: Any, chunk: Chunk) -> Floats:
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise ValueError(
            f"column {column!r} of {chunk.shown} has the type {array.dtype}, expected numbers. "
            f"Leave it out of `columns`, or convert it."
        )
    return np.asarray(array, dtype=np.float64)


# What the input consists of


def _files_of(data: Any, folder: Path) -> list[tuple[str, str, tuple[Any, ...], str]]:
    """Return path, format and layout of every file; other data are written to files first.

    The last entry is what messages call such data; it is empty for the user's own files.
    """
    if isinstance(data, str | Path):
        return [(path, _kind_of(path), (), "") for path in _paths(data)]
    if isinstance(data, np.memmap) and data.ndim == 2 and is_plain(data):
        layout = data.dtype.str, data.shape, offset_of(data)
        return [(str(Path(str(data.filename)).resolve()), "raw", layout, "")]
    if hasattr(data, "dask") and isinstance(getattr(data, "ndim", None), int):
        return [
            (path, kind, (), f"partition {i} of the given dask collection")
            for i, (path, kind) in enumerate(copied_partitions(data, folder))
        ]
    if isinstance(data, np.ndarray):
        if isinstance(data, np.ma.MaskedArray) or data.dtype.kind not in "biuf":
            raise TypeError(
                f"data is a {type(data).__name__} of type {data.dtype}, expected a plain array of "
                f"real numbers. Fill masked entries, and convert the others to float64."
            )
        return [(copied_array(data, folder), "npy", (), "the given array")]
    raise TypeError(f"data is of type {type(data).__name__}, expected {_EXPECTED}.")


def is_plain(data: Any) -> bool:
    """Return whether the file of a memory map holds its values, one after the other.

    A map of the mode "c" may have been changed in memory alone.
    """
    return bool(data.flags.c_contiguous and data.filename is not None and data.mode != "c")


def offset_of(data: Any) -> int:
    """Return the byte of the file at which a memory map, or a part of one, begins."""
    base = data
    while isinstance(base.base, np.memmap):
        base = base.base
    return int(base.offset + data.ctypes.data - base.ctypes.data)


def _paths(data: str | Path) -> list[str]:
    path = Path(data)
    if path.is_dir():
        found = [p for p in sorted(path.iterdir()) if p.suffix.lower() in _KINDS]
    elif path.exists():
        found = [path]
    else:
        found = [Path(p) for p in sorted(glob.glob(str(data)))]
    if not found:
        raise FileNotFoundError(
            f"data is {str(data)!r}, which matches no file; expected {_EXPECTED}."
        )
    return [str(p.resolve()) for p in found]


def _kind_of(path: str) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in _KINDS:
        raise ValueError(f"{path} has the suffix {suffix!r}, expected one of {', '.join(_KINDS)}.")
    return _KINDS[suffix]


def stamp_of(path: str) -> tuple[int, int]:
    """Return the size of a file and the time of its last change."""
    status = Path(path).stat()
    return status.st_size, status.st_mtime_ns


def check_stamp(path: str, stamp: tuple[int, int]) -> None:
    """Refuse a file that is not as it was when the run began."""
    try:
        unchanged = stamp_of(path) == stamp
    except FileNotFoundError:
        unchanged = False
    if not unchanged:
        raise RuntimeError(
            f"{path} was changed or removed during the run. Start again, and do not write to the "
            f"file meanwhile"
        )


# What a file contains: the types of its columns, and its smallest readable units


class _Type(NamedTuple):
    """The type of a column, whether it may be a feature, and whether others have the same name."""

    type: str
    is_feature: bool
    repeated: bool = False


_Contents = tuple[dict[Any, _Type], list[dict[str, int]]]


def _opened(path: str, kind: str, layout: tuple[Any, ...], source: str) -> _Contents:
    """Return the type of each column, and the smallest units with their rows."""
    try:
        return _OPENERS[kind](path, layout)
    except (OSError, ValueError) as error:
        what = f"{source} cannot be used" if source else f"{path} cannot be read as {kind}"
        raise ValueError(f"{what}: {error}") from error


def _open_array(path: str, layout: tuple[Any, ...]) -> _Contents:
    array = _mapped(path, layout)
    if array.ndim != 2 or array.shape[1] == 0:
        shape = f"it has shape {array.shape}, expected (n_samples, n_features)"
        column = ". Make one feature of it by reshape(-1, 1)." if array.ndim == 1 else "."
        raise ValueError(f"{shape} with at least one feature{column}")
    each = _Type(str(array.dtype), array.dtype.kind in "biuf")
    n = len(array)
    parts = [
        {"start": a, "stop": min(a + CHUNK_ROWS, n), "row": a, "n_rows": min(CHUNK_ROWS, n - a)}
        for a in range(0, n, CHUNK_ROWS)
    ]
    return dict.fromkeys(range(array.shape[1]), each), parts


def _open_parquet(path: str, _: tuple[Any, ...]) -> _Contents:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        counts = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
        return _types(file.schema_arrow), _units(counts)


def _open_arrow(path: str, _: tuple[Any, ...]) -> _Contents:
    import pyarrow as pa

    with pa.memory_map(path) as source, pa.ipc.open_file(source) as file:
        counts = [file.get_batch(i).num_rows for i in range(file.num_record_batches)]
        return _types(file.schema), _units(counts)


_OPENERS: dict[str, Callable[..., _Contents]] = {
    "npy": _open_array,
    "raw": _open_array,
    "parquet": _open_parquet,
    "arrow": _open_arrow,
}


def _mapped(path: str, layout: tuple[Any, ...]) -> Numbers:
    if not layout:
        array: Numbers = np.load(path, mmap_mode="r", allow_pickle=False)
        return array
    dtype, shape, offset = layout
    return np.memmap(path, dtype=dtype, mode="r", shape=shape, offset=offset)


def _types(schema: Any) -> dict[Any, _Type]:
    import pyarrow as pa

    tests = pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal
    names = Counter(schema.names)
    index = index_columns(schema)
    return {
        field.name: _Type(
            str(field.type),
            field.name not in index and any(test(field.type) for test in tests),
            names[field.name] > 1,
        )
        for field in schema
    }


def _units(counts: list[int]) -> list[dict[str, int]]:
    firsts = np.concatenate([[0], np.cumsum(counts)]).tolist() if counts else [0]
    return [
        {"start": i, "stop": i + 1, "row": int(firsts[i]), "n_rows": count}
        for i, count in enumerate(counts)
        if count
    ]


def _grouped(units: list[dict[str, int]]) -> list[dict[str, int]]:
    """Join successive parts of a file that are small."""
    groups: list[dict[str, int]] = []
    for unit in units:
        if groups and groups[-1]["n_rows"] + unit["n_rows"] <= CHUNK_ROWS:
            groups[-1]["stop"] = unit["stop"]
            groups[-1]["n_rows"] += unit["n_rows"]
        else:
            groups.append(dict(unit))
    return groups


def _chosen(
    names: dict[Any, _Type],
    columns: tuple[Any, ...] | None,
    weight: Any,
    identifier: Any,
    path: str,
) -> tuple[Any, ...]:
    """Return the feature columns of a file."""
    for name in (*(columns or ()), *(c for c in (weight, identifier) if c is not None)):
        named = isinstance(name, str | int | np.integer) and not isinstance(name, bool)
        if not named or name not in names:
            raise ValueError(
                f"{path} has no column {name!r}, expected one of {list(names)}. Check `columns`, "
                f"`weight_column` and `id_column`."
            )
    features = (c for c, t in names.items() if t.is_feature and c not in (weight, identifier))
    chosen = columns or tuple(features)
    if not chosen:
        raise ValueError(
            f"{path} has no numeric column besides weights and identifiers, expected at least one "
            f"feature. Its columns are {list(names)}."
        )
    _check_unique(names, (*chosen, weight, identifier), path)
    return chosen


def _check_unique(names: dict[Any, _Type], used: tuple[Any, ...], path: str) -> None:
    for name in used:
        if name is not None and names[name].repeated:
            raise ValueError(
                f"{path} has several columns of the name {name!r}, expected one. Rename the "
                f"others, or choose other columns by `columns`."
            )


# The rows of a chunk


def _read(
    chunk: Chunk, columns: list[Any], convert: Callable[[Any, Chunk], Any] | None = None
) -> dict[Any, Any]:
    """Return some columns of a chunk, if the file is unchanged before and after it is read.

    ``convert`` copies a column of a table; by default, to an array with NaN for missing numbers.
    """
    check_stamp(chunk.path, chunk.stamp)
    found = _read_unchecked(chunk, columns, convert or _filled)
    check_stamp(chunk.path, chunk.stamp)
    return found


def _read_unchecked(
    chunk: Chunk, columns: list[Any], convert: Callable[[Any, Chunk], Any]
) -> dict[Any, Any]:
    if chunk.kind in ("npy", "raw"):
        array = _mapped(chunk.path, chunk.layout)[chunk.start : chunk.stop]
        return {column: np.array(array[:, column]) for column in columns}
    if chunk.kind == "parquet":
        import pyarrow.parquet as pq

        with pq.ParquetFile(chunk.path) as file:
            table = file.read_row_groups(range(chunk.start, chunk.stop), columns=columns)
    else:
        import pyarrow as pa

        with pa.memory_map(chunk.path) as source, pa.ipc.open_file(source) as file:
            batches = [file.get_batch(i) for i in range(chunk.start, chunk.stop)]
            table = pa.Table.from_batches(batches).select(columns)
    return {column: convert(table[column], chunk) for column in columns}


def _filled(values: Any, _: Chunk) -> Any:
    """Return a column of a table as an array; missing numbers become NaN."""
    import pyarrow as pa

    if pa.types.is_decimal(values.type):
        values = values.cast(pa.float64())
    array = values.to_numpy()
    if array.dtype.kind == "O" and values.null_count and array.size:
        numbers = [math.nan if value is None else value for value in array]
        array = np.array(numbers)
    return np.array(array)
