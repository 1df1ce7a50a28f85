"""Tables that are read in parts, because they may be larger than memory."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from quickshift.arrays import Flags, Floats, Numbers
from quickshift.cli.files.arrays import NpyFile
from quickshift.cli.files.features import (
    check_finite,
    choose_columns,
    is_numeric,
    resolve_column,
    split_columns,
)
from quickshift.cli.files.formats import check_input
from quickshift.cli.files.outputs import STANDARD, check_length
from quickshift.cli.files.tables import (
    Source,
    csv_options,
    csv_schema,
    explained,
    first_line,
    parquet_writer,
    read_table,
    table_from,
)
from quickshift.cli.outcome import CommandError
from quickshift.extras import optional_import

__all__ = ["Spooled", "cluster_sizes", "labeled_parts", "rough_size", "spool"]

_ROWS = 1 << 18  # per part
_SAMPLE = 1 << 20  # bytes of a CSV file from which its number of rows is estimated


@dataclass(frozen=True)
class Spooled:
    """A table that was copied, part by part, to a Parquet file whose features are floats.

    Attributes
    ----------
    path : Path
        The Parquet file.
    source : str
        How messages call it.
    names : list of str
        The columns of the features.
    weights : str or None
        The column of weights.
    others : list of str
        The columns of identifiers.
    schema : pyarrow.Schema
        All columns of the table.
    n_rows, n_dropped : int
        Number of rows that were kept, and of those that were dropped.
    """

    path: Path
    source: str
    names: list[str]
    weights: str | None
    others: list[str]
    schema: Any
    n_rows: int
    n_dropped: int


def spool(
    source: Source,
    folder: Path,
    *,
    columns: Sequence[str] | None,
    weights: str | None,
    others: Sequence[str],
    drop_missing: bool,
) -> Spooled:
    """Copy a table, part by part, to a Parquet file that is ready for a fit in parts.

    Parameters
    ----------
    source : Source
        The table.
    folder : Path
        Where the file is written.
    columns, weights, others, drop_missing
        See `quickshift.cli.files.features.pick_features`.

    Returns
    -------
    Spooled
    """
    with optional_import("pyarrow", "cli", "the command line"):
        import pyarrow as pa

    check_input(source.path)
    path, n_rows, n_missing, first_missing = folder / "table.parquet", 0, 0, -1
    with ExitStack() as stack:
        with explained(source):
            schema, parts = stack.enter_context(_opened(source, folder))
            names = choose_columns(schema, columns, weights=weights, others=others)
            weight = None if weights is None else resolve_column(schema, weights)
            used = [*names, *([] if weight is None else [weight])]
            if source.kind in ("csv", "tsv"):
                schema = _with_texts(schema, used)
            written = _with_floats(schema, used)
        writer = stack.enter_context(parquet_writer(path, written))
        for part in _named(parts(used), source):
            with explained(source):
                missing = _missing(part, used, n_rows + n_missing)
                _check_weights(part, weight, missing, n_rows + n_missing)
                kept = part.filter(pa.array(~missing)) if missing.any() else part
                kept = kept.cast(written, safe=False)
            if missing.any() and not n_missing:
                first_missing = n_rows + int(np.flatnonzero(missing)[0])
            n_missing += int(np.count_nonzero(missing))
            n_rows += kept.num_rows
            writer.write_table(kept)
    if n_missing and not drop_missing:
        raise CommandError(
            f"{n_missing} of {n_rows + n_missing} rows have missing values, the first is row "
            f"{first_missing}. Use --drop-missing to leave them out."
        )
    if not n_rows:
        raise CommandError(f"{source.name} has no rows without missing values. Check the file.")
    ids = split_columns(schema, others)
    shown = f"{source.name}, without the rows that were dropped" if n_missing else source.name
    return Spooled(path, shown, names, weight, ids, schema, n_rows, n_missing)


def labeled_parts(
    spooled: Spooled, label: str, labels: Numbers, kept: list[str] | None
) -> Iterator[Any]:
    """Yield the table part by part with its labels.

    Parameters
    ----------
    spooled : Spooled
        The table.
    label : str
        Name of the column of labels.
    labels : ndarray of shape (n_rows,)
        The labels.
    kept : list of str or None
        The other columns; None for all.

    Yields
    ------
    pyarrow.Table
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if kept == []:
        yield table_from({label: labels})
        return
    row = 0
    with pq.ParquetFile(spooled.path) as file:
        for batch in file.iter_batches(batch_size=_ROWS, columns=kept):
            part = pa.Table.from_batches([batch])
            yield part.append_column(label, [labels[row : row + part.num_rows]])
            row += part.num_rows


def cluster_sizes(spooled: Spooled, labels: Numbers, n_clusters: int) -> Floats:
    """Return the sum of the weights of each cluster; rows without weights count once.

    Parameters
    ----------
    spooled : Spooled
        The table.
    labels : ndarray of shape (n_rows,)
        The labels.
    n_clusters : int
        Number of clusters.

    Returns
    -------
    ndarray of shape (n_clusters,)
    """
    import pyarrow.parquet as pq

    if spooled.weights is None:
        return np.bincount(labels, minlength=n_clusters).astype(np.float64)
    sizes, row = np.zeros(n_clusters), 0
    with pq.ParquetFile(spooled.path) as file:
        for batch in file.iter_batches(batch_size=_ROWS, columns=[spooled.weights]):
            part = labels[row : row + batch.num_rows]
            sizes += np.bincount(part, batch.column(0).to_numpy(), minlength=n_clusters)
            row += batch.num_rows
    return sizes


def rough_size(source: Source) -> tuple[int, int] | None:
    """Return about how many rows and columns a file has, or None if that is unknown.

    Parameters
    ----------
    source : Source
        The table; that of standard input is unknown.

    Returns
    -------
    (int, int) or None
    """
    check_length(source.path)
    path = Path(source.path)
    if source.path == STANDARD or not path.is_file() or source.kind == "npz":
        return None
    with optional_import("pyarrow", "cli", "the command line"):
        import pyarrow  # noqa: F401 (only whether it is there)
    try:
        return _SIZES[source.kind](source, path)
    except (OSError, ValueError, IndexError, NotImplementedError):
        return None  # the file cannot be read, which is reported when it is


def _csv_size(source: Source, path: Path) -> tuple[int, int]:
    with path.open("rb") as file:
        text = file.read(_SAMPLE)
    lines = max(text.count(b"\n"), 1)
    rows = path.stat().st_size * lines // max(len(text), 1)
    return rows, text.split(b"\n", 1)[0].count(source.separator.encode()) + 1


def _npy_size(source: Source, _: Path) -> tuple[int, int]:
    shape = NpyFile(source.path).shape
    return shape[0], int(np.prod(shape[1:]))


def _parquet_size(_: Source, path: Path) -> tuple[int, int]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        return file.metadata.num_rows, file.metadata.num_columns


def _arrow_size(source: Source, _: Path) -> tuple[int, int]:
    import pyarrow as pa

    with pa.OSFile(source.path) as opened, pa.ipc.open_file(opened) as file:
        n_rows = sum(file.get_batch(i).num_rows for i in range(file.num_record_batches))
        return n_rows, len(file.schema)


_SIZES = {
    "csv": _csv_size,
    "tsv": _csv_size,
    "npy": _npy_size,
    "parquet": _parquet_size,
    "arrow": _arrow_size,
}


# Reading in parts: the schema, and a function that yields tables, given the columns to be numbers


@contextmanager
def _opened(source: Source, folder: Path) -> Iterator[tuple[Any, Any]]:
    if source.is_stream and source.kind != "npz":
        source = _on_disk(source, folder)
    if source.kind in ("csv", "tsv"):
        schema = csv_schema(source, source.path)
        yield schema, lambda used: _csv_parts(source, used, schema)
    elif source.kind == "npz":
        table = read_table(source)
        yield table.schema, lambda _: (table.slice(i, _ROWS) for i in range(0, len(table), _ROWS))
    elif source.kind == "npy":
        yield from _npy_parts(source)
    elif source.kind == "parquet":
        yield from _parquet_parts(source)
    else:
        yield from _arrow_parts(source)


def _on_disk(source: Source, folder: Path) -> Source:
    """Copy standard input or a pipe to a file."""
    path = folder / f"input.{source.kind}"
    with path.open("wb") as file, source.opened() as stream:
        shutil.copyfileobj(stream, file)
    return replace(source, path=str(path), format=source.kind)


def _csv_parts(source: Source, used: list[str], schema: Any) -> Iterator[Any]:
    """Read a CSV file; the types of its first part do not bind the others.

    The features are floats, even if they begin with integers, unless they begin with truth values.
    The other columns are text.
    """
    import pyarrow as pa
    from pyarrow import csv

    kinds = dict.fromkeys(schema.names, pa.string())
    for field in schema:
        if field.name in used:
            kinds[field.name] = field.type if pa.types.is_boolean(field.type) else pa.float64()
    blank_from = first_line(source, schema, lambda: source.path)
    # With a single thread, an error names the line.
    options = csv_options(source, threads=False, blank_from=blank_from)
    convert = csv.ConvertOptions(column_types=kinds)
    with csv.open_csv(source.path, convert_options=convert, **options) as reader:
        for batch in reader:
            yield pa.Table.from_batches([batch])


def _npy_parts(source: Source) -> Iterator[tuple[Any, Any]]:
    array = NpyFile(source.path)
    if len(array.shape) not in (1, 2):
        raise ValueError(f"it has shape {array.shape}, expected (n_samples, n_features)")
    if not np.prod(array.shape):
        raise ValueError("it has no values, expected at least one row and one column")
    n_rows = array.shape[0]

    def part(row: int) -> Any:
        rows = array[slice(row, min(row + _ROWS, n_rows)),]
        return table_from({str(i): c for i, c in enumerate(rows.reshape(len(rows), -1).T)})

    yield part(0).schema, lambda _: (part(row) for row in range(0, n_rows, _ROWS))


def _parquet_parts(source: Source) -> Iterator[tuple[Any, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(source.path) as file:
        batches = (pa.Table.from_batches([b]) for b in file.iter_batches(batch_size=_ROWS))
        yield file.schema_arrow, lambda _: batches


def _arrow_parts(source: Source) -> Iterator[tuple[Any, Any]]:
    import pyarrow as pa

    with pa.OSFile(source.path) as opened, pa.ipc.open_file(opened) as file:
        numbers = range(file.num_record_batches)
        parts = (pa.Table.from_batches([file.get_batch(i)]) for i in numbers)
        yield file.schema, lambda _: parts


def _named(parts: Iterator[Any], source: Source) -> Iterator[Any]:
    """Yield parts of a table; errors of its reader name the file."""
    with explained(source):
        yield from parts


def _with_texts(schema: Any, used: list[str]) -> Any:
    """Return the schema of a CSV file in which columns that are not used are text."""
    import pyarrow as pa

    return pa.schema([f if f.name in used else pa.field(f.name, pa.string()) for f in schema])


def _with_floats(schema: Any, used: list[str]) -> Any:
    """Return the schema of the copy, in which the features and weights are floats."""
    import pyarrow as pa

    for name in used:
        i = schema.get_field_index(name)
        if not is_numeric(schema.field(i).type):
            raise CommandError(
                f"column {name!r} has the type {schema.field(i).type}, expected numbers. Leave it "
                f"out of --columns, or correct the file."
            )
        schema = schema.set(i, pa.field(name, pa.float64()))
    return schema


def _missing(part: Any, used: list[str], first: int) -> Flags:
    """Return the rows of a part with missing values, and refuse infinite ones in the others."""
    import pyarrow as pa

    arrays = {name: part[name].cast(pa.float64(), safe=False).to_numpy() for name in used}
    missing = np.zeros(part.num_rows, dtype=bool)
    for array in arrays.values():
        missing |= np.isnan(array)
    for name, array in arrays.items():
        check_finite(array, ~missing, name, first)
    return missing


def _check_weights(part: Any, weight: str | None, missing: Flags, first: int) -> None:
    """Refuse negative weights here, because the fit would name the copy of the table."""
    import pyarrow as pa

    if weight is None:
        return
    values = part[weight].cast(pa.float64(), safe=False).to_numpy()
    negative = np.flatnonzero((values < 0) & ~missing)
    if negative.size:
        raise CommandError(
            f"column {weight!r} has {values[negative[0]]} in row {first + negative[0]}, expected "
            f"weights: 0 leaves a row out, 2 counts it twice. Correct the file."
        )
