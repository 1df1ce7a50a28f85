"""`quickshift info`: the installation, or what a file contains."""

from typing import Annotated, Any

import typer

from quickshift.cli import options
from quickshift.cli.report import Report, bold, keyed, table_of

__all__ = ["EXAMPLE", "info"]

EXAMPLE = """\
$ quickshift info points.parquet
$ quickshift info"""

File = Annotated[
    str | None,
    typer.Argument(help="A table; - is standard input.", metavar="FILE", show_default=False),
]


def info(
    file: File = None,
    *,
    source_format: options.From = None,
    delimiter: options.Delimiter = None,
    header: options.HeaderLine = True,
    as_json: options.Json = False,
    debug: options.Debug = False,  # noqa: ARG001 (acts when it is parsed)
) -> None:
    """Show the columns of a table or, without a file, the installation.

    The columns of numbers are the features unless --columns says otherwise.
    """
    report = Report(as_json=as_json, quiet=False)
    if file is None:
        _show_installation(report)
        return
    from quickshift.cli.files.features import describe_columns
    from quickshift.cli.files.tables import Source, read_table

    with report.timed("read"):
        table = read_table(Source(file, source_format, delimiter, header))
    columns = describe_columns(table)
    cells: dict[str, list[str]] = {"number": [str(i) for i in range(len(columns))]}
    for name in ("type", "missing", "least", "median", "largest", "name"):
        cells[name] = [_cell(column.get(name)) for column in columns]
    title = f"{file}: {table.num_rows} rows, {table.num_columns} columns"
    facts = {"n_rows": table.num_rows, "columns": columns}
    report.show(facts, [bold(title), "", table_of(cells), ""])


def _show_installation(report: Report) -> None:
    from quickshift.config import get_config

    config = get_config()
    texts = {
        name: ", ".join(value) if isinstance(value, list) else value
        for name, value in config.items()
    }
    short = {name: name.removeprefix("available_").replace("_", " ") for name in texts}
    lines = [f"{short[name]}: {text}" for name, text in texts.items()]
    report.show(dict(config), [keyed(lines)])


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
