"""Tables in files: CSV, TSV, Parquet, Arrow, NPY and NPZ, by pyarrow and NumPy."""

import csv as plain_csv
import io
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np

from quickshift.arrays import Numbers
from quickshift.cli.files.arrays import read_npy, read_npz
from quickshift.cli.files.features import is_numeric, text_columns
from quickshift.cli.files.formats import check_input, format_of
from quickshift.cli.files.outputs import STANDARD, opened_output
from quickshift.cli.outcome import CommandError, UsageError
from quickshift.extras import optional_import

__all__ = [
    "Source",
    "check_holds",
    "csv_options",
    "csv_schema",
    "explained",
    "extended",
    "first_line",
    "parquet_writer",
    "read_table",
    "release_memory",
    "table_from",
    "write_parts",
    "write_table",
]


_DOUBLE = 8  # bytes of the longest floats of pyarrow
_BLOCK = 1 << 24  # bytes; small blocks leave pyarrow's memory fragmented


@dataclass(frozen=True)
class Source:
    """A table to be read.

    Attributes
    ----------
    path : str
        Path of the file, or "-" for standard input.
    format : str or None
        Its format; None for that of the suffix.
    delimiter : str or None
        What separates the cells of a CSV file; None for a comma.
    header : bool
        Whether the first line of a CSV file has the names of the columns.
    """

    path: str
    format: str | None = None
    delimiter: str | None = None
    header: bool = True

    @property
    def kind(self) -> str:
        """The format, as `quickshift.cli.files.formats.format_of` names it."""
        return format_of(self.path, self.format, "--from")

    @property
    def name(self) -> str:
        """How messages call it."""
        return "standard input" if self.path == STANDARD else self.path

    @property
    def has_names(self) -> bool:
        """Whether the file names its columns; those of arrays have numbers."""
        return self.header if self.kind in ("csv", "tsv") else self.kind in ("parquet", "arrow")

    @property
    def is_stream(self) -> bool:
        """Whether it can be read only once: standard input, or a pipe."""
        return self.path == STANDARD or not Path(self.path).is_file()

    @contextmanager
    def opened(self) -> Iterator[IO[bytes]]:
        """Yield a binary file to read from."""
        if self.path == STANDARD:
            if sys.stdin is None:
                raise CommandError("standard input is closed. Give a file, or use a pipe.")
            yield sys.stdin.buffer
        else:
            with Path(self.path).open("rb") as file:
                yield file

    @property
    def separator(self) -> str:
        """The character between the cells of a CSV file."""
        if self.delimiter is None:
            return "\t" if self.kind == "tsv" else ","
        separator = "\t" if self.delimiter == r"\t" else self.delimiter
        if len(separator) != 1 or not separator.isascii():
            raise UsageError(
                f"--delimiter is {self.delimiter!r}, expected one ASCII character such as ';', or "
                f"'\\t' for a tab."
            )
        return separator


def read_table(source: Source, rows: Mapping[str, Any] | None = None) -> Any:
    """Read a whole table.

    Parameters
    ----------
    source : Source
        The file.
    rows : mapping, optional
        Arguments of `quickshift.cli.files.features.pick_features`, which tell the columns of a CSV
        file that are read as text, so that they are written unchanged.

    Returns
    -------
    pyarrow.Table
        Columns of an array are named by their numbers.
    """
    with optional_import("pyarrow", "cli", "the command line"):
        import pyarrow  # noqa: F401 (only whether it is there)

    check_input(source.path)
    with explained(source):
        if source.kind in ("csv", "tsv"):
            table = _read_csv(source, rows)
        else:
            table = _READERS[source.kind](source)
        len(table.schema.names)  # decodes them
    if not table.num_rows or not table.num_columns:
        raise CommandError(f"{source.name} has no rows, expected at least one. Check the file.")
    return table


def release_memory() -> None:
    """Return memory to the system that tables have needed and do not need any more."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()


def write_table(table: Any, target: str, kind: str | None = None, *, force: bool = False) -> None:
    """Write a table in the format of the target's suffix.

    Parameters
    ----------
    table : pyarrow.Table
        The table.
    target : str
        Path of the file, or "-" for standard output.
    kind : str, optional
        The format, in place of that of the suffix.
    force : bool
        Whether an existing file may be overwritten.
    """
    write_parts([table], target, kind, force=force)


def write_parts(
    parts: Iterable[Any], target: str, kind: str | None = None, *, force: bool = False
) -> None:
    """Write a table whose rows come in parts, one after the other.

    Parameters
    ----------
    parts : iterable of pyarrow.Table
        The parts, at least one.
    target : str
        Path of the file, or "-" for standard output.
    kind : str, optional
        The format, in place of that of the suffix.
    force : bool
        Whether an existing file may be overwritten.
    """
    write = _WRITERS[format_of(target, kind, "--to")]
    with opened_output(target, force=force) as file:
        write(iter(parts), file)


def check_holds(fields: Iterable[Any], kind: str | None) -> None:
    """Raise if a file of this format cannot hold some column, before any work is done.

    Parameters
    ----------
    fields : iterable of pyarrow.Field
        The columns of an output.
    kind : str or None
        Its format; None if nothing is written.
    """
    import pyarrow as pa

    for field in fields if kind in ("csv", "tsv") else ():
        try:
            _write_csv(iter([pa.schema([field]).empty_table()]), io.BytesIO())
        except pa.ArrowException as error:
            raise CommandError(
                f"column {field.name!r} has the type {field.type}, which a .{kind} file cannot "
                f"hold. Write another format, such as .parquet."
            ) from error


def table_from(columns: dict[str, Numbers]) -> Any:
    """Return a table of arrays.

    Parameters
    ----------
    columns : dict of ndarray
        The columns by their names.

    Returns
    -------
    pyarrow.Table
    """
    import pyarrow as pa

    return pa.table({name: _plain(column) for name, column in columns.items()})


def _plain(column: Numbers) -> Numbers:
    """Return an array as pyarrow takes it: contiguous, and in the byte order of the machine."""
    kind = column.dtype
    if kind.kind in "cOV":
        raise ValueError(f"it has values of the type {kind}, expected real numbers")
    wide = kind.kind == "f" and kind.itemsize > _DOUBLE
    return np.ascontiguousarray(column, np.float64 if wide else kind.newbyteorder("="))


def extended(table: Any, columns: dict[str, Numbers]) -> Any:
    """Return a table with further columns, which must have new names.

    Parameters
    ----------
    table : pyarrow.Table
        The table.
    columns : dict of ndarray
        The columns by their names.

    Returns
    -------
    pyarrow.Table
    """
    for name, column in columns.items():
        if name in table.column_names:
            raise CommandError(f"the table already has a column {name!r}. Rename that column.")
        table = table.append_column(name, [column])
    return table


# Reading


def csv_options(
    source: Source, *, threads: bool = True, blank_from: int | None = None
) -> dict[str, Any]:
    """Return the arguments of pyarrow's readers of CSV files.

    Blank lines are skipped, unless `blank_from` is the line from which on they are rows: see
    `first_line`.
    """
    from pyarrow import csv

    return {
        "read_options": csv.ReadOptions(
            autogenerate_column_names=not source.header,
            block_size=_BLOCK,
            use_threads=threads,
            skip_rows=blank_from or 0,
        ),
        "parse_options": csv.ParseOptions(
            delimiter=source.separator,
            newlines_in_values=True,
            ignore_empty_lines=blank_from is None,
        ),
    }


def first_line(source: Source, schema: Any, file: Any) -> int | None:
    """Return the first line of a CSV file in which blank lines are rows, otherwise None.

    A blank line is a missing value if there is one column. Blank lines before the name of the
    column are no rows.

    Parameters
    ----------
    source : Source
        The table.
    schema : pyarrow.Schema
        Its columns.
    file : callable
        Returns the path, or a new reader of the content.

    Returns
    -------
    int or None
    """
    from pyarrow import csv

    if len(schema.names) != 1:
        return None
    line = 0
    while source.header:
        options = csv_options(source, threads=False, blank_from=line)
        with csv.open_csv(file(), **options) as reader:
            if reader.schema.names == schema.names:
                break
        line += 1
    return line


def _read_csv(source: Source, rows: Mapping[str, Any] | None) -> Any:
    import pyarrow as pa
    from pyarrow import csv

    file: Any = source.path
    if source.is_stream:
        with source.opened() as stream:
            file = pa.py_buffer(stream.read())
    else:
        _refuse_utf16(source)
    schema = csv_schema(source, _again(file))
    texts = [] if rows is None else text_columns(schema, rows)
    kinds = csv.ConvertOptions(column_types=dict.fromkeys(texts, pa.string()))
    blank_from = first_line(source, schema, lambda: _again(file))
    options = csv_options(source, blank_from=blank_from)
    try:
        table = csv.read_csv(_again(file), convert_options=kinds, **options)
    except pa.ArrowInvalid:
        # Only a single thread knows in which line it is.
        options = csv_options(source, threads=False, blank_from=blank_from)
        table = csv.read_csv(_again(file), convert_options=kinds, **options)
    nulls = [field.name for field in table.schema if pa.types.is_null(field.type)]
    if rows is None or rows.get("columns") is not None or not nulls:
        return table
    kinds = csv.ConvertOptions(
        include_columns=nulls, column_types=dict.fromkeys(nulls, pa.string())
    )
    return _with_words(table, csv.read_csv(_again(file), convert_options=kinds, **options))


def _with_words(table: Any, texts: Any) -> Any:
    """Return a table in which columns without a type are text, unless all cells are empty.

    A column whose cells are all NA would otherwise be written without them.
    """
    import pyarrow.compute as pc

    for name in texts.column_names:
        i = table.schema.get_field_index(name)  # -1 if there are several, which are refused later
        if i >= 0 and pc.any(pc.not_equal(texts[name], "")).as_py():
            table = table.set_column(i, name, texts[name])
    return table


def csv_schema(source: Source, file: Any) -> Any:
    """Return the columns of a CSV file, with the types that its first block suggests."""
    from pyarrow import csv

    with csv.open_csv(file, **csv_options(source, threads=False)) as reader:
        return reader.schema


def _refuse_utf16(source: Source) -> None:
    with Path(source.path).open("rb") as file:
        if file.read(2) in (b"\xff\xfe", b"\xfe\xff"):
            raise CommandError(f"{source.name} is in UTF-16, expected UTF-8. Convert it.")


def _again(file: Any) -> Any:
    """Return a path, or a new reader of a buffer."""
    import pyarrow as pa

    return pa.BufferReader(file) if isinstance(file, pa.Buffer) else file


def _read_parquet(source: Source) -> Any:
    import pyarrow.parquet as pq

    with pq.ParquetFile(_seekable(source)) as file:
        return file.read()


def _read_arrow(source: Source) -> Any:
    """Read an Arrow file or, from standard input, possibly a stream."""
    import pyarrow as pa
    from pyarrow import feather

    file = _seekable(source)
    try:
        return feather.read_table(file)
    except pa.ArrowInvalid:
        if not isinstance(file, io.BytesIO):
            raise
        file.seek(0)
        with pa.ipc.open_stream(file) as stream:
            return stream.read_all()


def _read_npy(source: Source) -> Any:
    return _as_table(read_npy(_seekable(source)))


def _read_npz(source: Source) -> Any:
    arrays = read_npz(_seekable(source))
    if len(arrays) == 1:
        return _as_table(*arrays.values())
    columns: dict[str, Numbers] = {}
    for name, array in arrays.items():
        wide = array.reshape(len(array), -1)
        names = [name] if array.ndim == 1 else [f"{name}{i}" for i in range(wide.shape[1])]
        twice = [column for column in names if column in columns]
        if twice:
            raise CommandError(
                f"{source.name} has two columns {twice[0]!r}, expected different names. One of "
                f"them comes from the array {name!r}; columns of a wide array have its name and a "
                f"number. Rename one of the arrays."
            )
        columns |= dict(zip(names, wide.T, strict=True))
    return table_from(columns)


def _as_table(array: Numbers) -> Any:
    if array.ndim not in (1, 2):
        raise ValueError(f"it has shape {array.shape}, expected (n_samples, n_features)")
    wide = array.reshape(len(array), -1) if array.size else array.reshape(0, 1)
    return table_from({str(i): column for i, column in enumerate(wide.T)})


def _seekable(source: Source) -> Any:
    if not source.is_stream:
        return source.path
    with source.opened() as stream:
        return io.BytesIO(stream.read())


_READERS = {
    "parquet": _read_parquet,
    "arrow": _read_arrow,
    "npy": _read_npy,
    "npz": _read_npz,
}


@contextmanager
def explained(source: Source) -> Iterator[None]:
    """Turn errors of readers into one that says which file cannot be read, and why.

    pyarrow raises OSError without a number for damaged files; those of the system have one.
    """
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, ValueError, EOFError, KeyError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise CommandError(_unreadable(source, error)) from error


def _unreadable(source: Source, error: Exception) -> str:
    """Return a message that says why a file cannot be read, and what to do."""
    hint = "Check that it is complete, or say by --from which format it has."
    text = str(error).split("\n", 1)[0].rstrip(".")
    if text == "Empty CSV file":
        return f"{source.name} is empty, expected data. Check where it comes from."
    if isinstance(error, UnicodeEncodeError):  # the path, of which Python keeps any byte
        return f"{source.name} cannot be read, because its name is not UTF-8. Rename it."
    if isinstance(error, UnicodeDecodeError):
        hint = "Convert the file to UTF-8."
    elif source.kind in ("csv", "tsv"):
        text = re.sub(r"^CSV parse error: (?:Row #(\d+): )?", _at_line, text)
        hint = "Correct the file, or say by --delimiter what separates the cells."
        if "\ufffd" in text or not text.replace("\t", "").isprintable():
            text = re.sub(r"(got \d+): .*", r"\1", text)
            hint = "It is not UTF-8 text: convert it, or say by --from which format it has."
    return f"{source.name} cannot be read as {source.kind}: {text}. {hint}"


def _at_line(match: re.Match[str]) -> str:
    return f"line {match[1]}: " if match[1] else ""


# Writing


def _write_csv(parts: Iterator[Any], file: IO[bytes], delimiter: str = ",") -> None:
    from pyarrow import csv

    for i, part in enumerate(parts):
        if i == 0:  # pyarrow would put every name into quotes
            header = io.StringIO()
            lines = plain_csv.writer(header, delimiter=delimiter, lineterminator="\n")
            lines.writerow(part.column_names)
            file.write(header.getvalue().encode())
        quotes = (
            "needed" if any(_has_marks(column, delimiter) for column in part.columns) else "none"
        )
        options = csv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style=quotes)
        csv.write_csv(part, file, options)


def _has_marks(column: Any, delimiter: str) -> bool:
    """Return whether cells have to be in quotes; if asked to, pyarrow puts all text into them."""
    import pyarrow.compute as pc
    from pyarrow import types

    if not (types.is_string(column.type) or types.is_large_string(column.type)):
        return not (is_numeric(column.type) or types.is_temporal(column.type))
    found = pc.any(pc.match_substring_regex(column, f'["\r\n{delimiter}]'))
    return bool(found.as_py())


def _write_tsv(parts: Iterator[Any], file: IO[bytes]) -> None:
    _write_csv(parts, file, "\t")


def parquet_writer(file: IO[bytes] | Path, schema: Any) -> Any:
    """Return a writer of Parquet files that looks for repeated values in all columns but floats.

    They seldom repeat, and the search for them needs about 25 MB per column.
    """
    import pyarrow.parquet as pq
    from pyarrow import types

    repeated = [field.name for field in schema if not types.is_floating(field.type)]
    return pq.ParquetWriter(file, schema, use_dictionary=repeated)


def _write_parquet(parts: Iterator[Any], file: IO[bytes]) -> None:
    first = next(parts)
    with parquet_writer(file, first.schema) as writer:
        for part in chain([first], parts):
            writer.write_table(part)


def _write_arrow(parts: Iterator[Any], file: IO[bytes]) -> None:
    import pyarrow as pa

    first = next(parts)
    with pa.ipc.new_file(file, first.schema) as writer:
        for part in chain([first], parts):
            writer.write_table(part)


def _write_npy(parts: Iterator[Any], file: IO[bytes]) -> None:
    columns = {name: _as_numbers(array) for name, array in _arrays_of(parts).items()}
    first = next(iter(columns.values()))
    array = first if len(columns) == 1 else np.column_stack(list(columns.values()))
    if array.dtype.kind not in "biuf":
        raise CommandError(
            "the table has columns that are not numbers, which an .npy file cannot hold. Write "
            "another format, such as .parquet."
        )
    np.lib.format.write_array(file, array, allow_pickle=False)


def _as_numbers(array: Numbers) -> Numbers:
    """Return identifiers that were read as text as numbers, if they are."""
    for kind in (np.int64, np.float64) if array.dtype == object else ():
        try:
            return array.astype(kind)
        except (ValueError, TypeError, OverflowError):
            continue
    return array


def _write_npz(parts: Iterator[Any], file: IO[bytes]) -> None:
    columns = _arrays_of(parts)
    text = {name: array.astype(str) for name, array in columns.items() if array.dtype == object}
    np.savez(file, **{**columns, **text})  # type: ignore[arg-type]


def _arrays_of(parts: Iterator[Any]) -> dict[str, Numbers]:
    import pyarrow as pa

    table = pa.concat_tables(parts)
    return {name: table[name].to_numpy() for name in table.column_names}


_WRITERS = {
    "csv": _write_csv,
    "tsv": _write_tsv,
    "parquet": _write_parquet,
    "arrow": _write_arrow,
    "npy": _write_npy,
    "npz": _write_npz,
}
