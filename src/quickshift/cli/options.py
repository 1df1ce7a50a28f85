"""Options that several commands share: their names, their help and the choices they offer."""

from enum import StrEnum
from typing import Annotated

import typer

from quickshift.cli.outcome import show_traceback

__all__ = [
    "Bandwidth",
    "Columns",
    "Debug",
    "Delimiter",
    "DropMissing",
    "Force",
    "From",
    "HeaderLine",
    "Identifier",
    "Input",
    "Json",
    "Kernel",
    "Memory",
    "Metric",
    "MinSignificance",
    "NClusters",
    "NJobs",
    "NNeighbors",
    "Output",
    "Period",
    "Quiet",
    "Scale",
    "Tau",
    "To",
    "Unused",
    "Weights",
]

_FILES, _DATA, _METHOD, _RUN = "Files", "Columns and rows", "Method", "Output and resources"


class Format(StrEnum):
    """The formats of tables."""

    csv = "csv"
    tsv = "tsv"
    parquet = "parquet"
    arrow = "arrow"
    npy = "npy"
    npz = "npz"


class KernelChoice(StrEnum):
    """The kernels of `quickshift.kernels`, which would take long to import."""

    gaussian = "gaussian"
    exponential = "exponential"
    silverman = "silverman"
    uniform = "uniform"
    triangular = "triangular"
    tricube = "tricube"
    cosine = "cosine"
    epanechnikov = "epanechnikov"


class MetricChoice(StrEnum):
    """The metrics of `quickshift.QuickShift`."""

    euclidean = "euclidean"
    periodic = "periodic"
    haversine = "haversine"
    cosine = "cosine"


class ScaleChoice(StrEnum):
    """The units that features may be divided by."""

    none = "none"
    std = "std"
    iqr = "iqr"


# Files

Input = Annotated[
    str,
    typer.Argument(
        help="Table: .csv, .tsv, .parquet, .arrow, .feather, .npy or .npz; - is standard input.",
        metavar="FILE",
        show_default=False,
    ),
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        help="Where to write; the suffix is the format, - is standard output.",
        metavar="FILE",
        rich_help_panel=_FILES,
        show_default=False,
    ),
]
From = Annotated[
    Format | None,
    typer.Option(
        "--from",
        help="Format of the input, in place of its suffix: csv, tsv, parquet, arrow, npy or npz.",
        metavar="FORMAT",
        rich_help_panel=_FILES,
        show_default=False,
    ),
]
To = Annotated[
    Format | None,
    typer.Option(
        "--to",
        help="Format of the output, in place of its suffix.",
        metavar="FORMAT",
        rich_help_panel=_FILES,
        show_default=False,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        help="What separates the cells of a CSV input, such as ';' or '\\t'; a comma by default.",
        metavar="CHARACTER",
        rich_help_panel=_FILES,
        show_default=False,
    ),
]
HeaderLine = Annotated[
    bool,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of a CSV input has names.",
        rich_help_panel=_FILES,
    ),
]
Force = Annotated[
    bool,
    typer.Option("--force", "-f", help="Overwrite existing outputs.", rich_help_panel=_FILES),
]

# Columns and rows

Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        "-c",
        help="The features: names, or numbers from 0 on, separated by commas. By default, all "
        "columns of numbers that have no other role.",
        metavar="NAMES",
        rich_help_panel=_DATA,
        show_default=False,
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        help="Column of weights, which count as repetitions of the row.",
        metavar="NAME",
        rich_help_panel=_DATA,
        show_default=False,
    ),
]
Identifier = Annotated[
    str | None,
    typer.Option(
        "--id",
        help="Column of identifiers: no feature, but written next to the results.",
        metavar="NAME",
        rich_help_panel=_DATA,
        show_default=False,
    ),
]
Unused = Annotated[
    str | None,
    typer.Option(
        "--id",
        help="Column of identifiers, which is no feature.",
        metavar="NAME",
        rich_help_panel=_DATA,
        show_default=False,
    ),
]
DropMissing = Annotated[
    bool,
    typer.Option(
        "--drop-missing",
        help="Leave out rows with missing values, which are an error otherwise.",
        rich_help_panel=_DATA,
    ),
]

# Method

Bandwidth = Annotated[
    str,
    typer.Option(
        "--bandwidth",
        help="A length, or a rule: local (a scale per row), auto, paper, scott, silverman or cv.",
        metavar="LENGTH",
        rich_help_panel=_METHOD,
    ),
]
Tau = Annotated[
    str,
    typer.Option(
        "--tau",
        help="Longest move: a length, or auto.",
        metavar="LENGTH",
        rich_help_panel=_METHOD,
    ),
]
Kernel = Annotated[
    KernelChoice,
    typer.Option(
        help="Kernel, if a bandwidth is given: gaussian, exponential, silverman, uniform, "
        "triangular, tricube, cosine or epanechnikov.",
        metavar="NAME",
        rich_help_panel=_METHOD,
    ),
]
NNeighbors = Annotated[
    str,
    typer.Option(
        help="Number of nearest rows that determine a local scale, or auto.",
        metavar="NUMBER",
        rich_help_panel=_METHOD,
    ),
]
NClusters = Annotated[
    int | None,
    typer.Option(
        "--n-clusters",
        "-k",
        help="Number of clusters, in place of tau.",
        metavar="NUMBER",
        rich_help_panel=_METHOD,
        show_default=False,
    ),
]
MinSignificance = Annotated[
    str,
    typer.Option(
        help="Least significance of a mode that stays a cluster, or auto.",
        metavar="NUMBER",
        rich_help_panel=_METHOD,
    ),
]
Metric = Annotated[
    MetricChoice,
    typer.Option(
        help="euclidean, periodic, haversine (latitude and longitude in radians) or cosine.",
        metavar="NAME",
        rich_help_panel=_METHOD,
    ),
]
Period = Annotated[
    str | None,
    typer.Option(
        help="Period of each feature, such as 360,inf.",
        metavar="LENGTHS",
        rich_help_panel=_METHOD,
        show_default=False,
    ),
]
Scale = Annotated[
    ScaleChoice,
    typer.Option(
        help="Divide each feature by its standard deviation (std), its interquartile range (iqr) "
        "or nothing (none).",
        metavar="NAME",
        rich_help_panel=_METHOD,
    ),
]

# Output and resources

NJobs = Annotated[
    int | None,
    typer.Option(
        help="Number of threads; by default all cores.",
        metavar="NUMBER",
        rich_help_panel=_RUN,
        show_default=False,
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        help="Work on parts of the data that fit into this size, such as 2GB. An input that does "
        "not fit into memory is treated in the same way.",
        metavar="SIZE",
        rich_help_panel=_RUN,
        show_default=False,
    ),
]
Json = Annotated[
    bool,
    typer.Option("--json", help="Print the summary as JSON.", rich_help_panel=_RUN),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Print no summary and no progress.", rich_help_panel=_RUN),
]
Debug = Annotated[
    bool,
    typer.Option(
        "--debug",
        help="Show the traceback of an error.",
        rich_help_panel=_RUN,
        callback=show_traceback,
        is_eager=True,
    ),
]
