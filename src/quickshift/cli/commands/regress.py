"""`quickshift regress`: modal regression from table to table."""

from typing import Annotated, Any

import typer

from quickshift.cli import options
from quickshift.cli.commands.steps import checked_format, read_features, written
from quickshift.cli.files.outputs import STANDARD
from quickshift.cli.outcome import CommandError, UsageError, raise_if_interrupted
from quickshift.cli.report import Report, keyed, shows_progress
from quickshift.cli.values import lengths, number_or_word

__all__ = ["EXAMPLE", "regress"]

EXAMPLE = """\
$ quickshift regress train.csv --response y --queries new.csv -o predicted.csv
train.csv: x,y / 0.25,1.4 / …    new.csv: x / 0.3 / …
predicted.csv: x,prediction / 0.3,1.38 / …
$ quickshift regress train.csv --response y --queries new.csv --modes -o modes.csv
modes.csv: query,mode,value,density,height,support,conditional_density,probability / …"""

Response = Annotated[
    list[str],
    typer.Option(
        "--response",
        "-y",
        help="Column of the response; several are the coordinates of one response.",
        metavar="NAMES",
        rich_help_panel="Columns and rows",
        show_default=False,
    ),
]
Queries = Annotated[
    str | None,
    typer.Option(
        help="Table with the features of the rows to predict; by default the input itself.",
        metavar="FILE",
        rich_help_panel="Files",
        show_default=False,
    ),
]
Modes = Annotated[
    bool,
    typer.Option(
        "--modes",
        help="Write one row per mode of each query, with its probability.",
        rich_help_panel="Files",
    ),
]
Coverage = Annotated[
    float | None,
    typer.Option(
        help="Write one row per interval that contains a new response with this probability.",
        metavar="SHARE",
        rich_help_panel="Files",
        show_default=False,
    ),
]
JointBandwidth = Annotated[
    str,
    typer.Option(
        help="A length, one for x and one for y as in 0.1,0.2, or auto, cv or prediction_set.",
        metavar="LENGTHS",
        rich_help_panel="Method",
    ),
]
MinDensityRatio = Annotated[
    float,
    typer.Option(
        help="Least density of a mode, as a share of the highest one's.",
        metavar="SHARE",
        rich_help_panel="Method",
    ),
]


def regress(
    file: options.Input,
    *,
    response: Response,
    queries: Queries = None,
    output: options.Output = None,
    modes: Modes = False,
    coverage: Coverage = None,
    source_format: options.From = None,
    target_format: options.To = None,
    delimiter: options.Delimiter = None,
    header: options.HeaderLine = True,
    force: options.Force = False,
    columns: options.Columns = None,
    weights: options.Weights = None,
    identifier: options.Identifier = None,
    drop_missing: options.DropMissing = False,
    bandwidth: JointBandwidth = "auto",
    tau: options.Tau = "auto",
    kernel: options.Kernel = options.KernelChoice.gaussian,
    min_density_ratio: MinDensityRatio = 0.01,
    period: options.Period = None,
    n_jobs: options.NJobs = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,  # noqa: ARG001 (acts when it is parsed)
) -> None:
    """Predict a response by the modes of its distribution, which may be several.

    The highest mode is added to the queries as the column "prediction".
    With --modes or --coverage, a table of all modes or of intervals is written.
    """
    report = Report(as_json=as_json, quiet=quiet, to_stderr=output == STANDARD)
    if modes and coverage is not None:
        raise UsageError("--modes and --coverage write different tables. Give one of them.")
    kind = checked_format(output, target_format, force=force)
    parameters = {
        "bandwidth": _bandwidth(bandwidth),
        "tau": number_or_word(tau),
        "kernel": kernel.value,
        "min_density_ratio": min_density_ratio,
        "period": lengths(period),
        "n_jobs": n_jobs,
        "verbose": int(shows_progress(quiet)),
    }
    from quickshift.cli.files.formats import suffix_format
    from quickshift.cli.files.tables import Source, check_holds, write_table

    source = Source(file, source_format, delimiter, header)
    with report.timed("read"):
        features = read_features(
            source,
            columns=columns,
            weights=weights,
            others=[] if identifier is None else [identifier],
            responses=response,
            drop_missing=drop_missing,
        )
        asked = features
        if queries is not None:
            like = source_format if suffix_format(queries) is None else None
            query_source = Source(queries, like, delimiter, header)
            asked = read_features(
                query_source,
                columns=[*features.names],
                drop_missing=drop_missing,
                exact=source.has_names and query_source.has_names,
            )
        if not modes and coverage is None:
            _check_names(asked.schema.names, features.y.ndim)
            check_holds(asked.schema, kind)
    with report.timed("fit"):
        import quickshift

        model = quickshift.ModalRegressor(**parameters)
        raise_if_interrupted()
        model.fit(features.X, features.y, sample_weight=features.weights)
    with report.timed("predict"):
        found, facts = _predicted(model, asked, modes, coverage)
    if output is not None:
        with report.timed("write"):
            write_table(found, output, kind, force=force)
    facts |= {"n_samples": len(features.X), "n_queries": len(asked.X), "features": features.names}
    facts |= {"bandwidth": model.bandwidth_, "tau": model.tau_, "n_dropped": features.n_dropped}
    facts |= {"n_queries_dropped": asked.n_dropped, "output": output}
    more = written(output, f"{found.num_rows} rows")
    if asked is not features and asked.n_dropped:
        more.insert(0, f"Queries dropped: {asked.n_dropped} rows with missing values.")
    _show(report, facts, features, more)


def _check_names(names: list[str], n_axes: int) -> None:
    """Raise if a column of predictions would have the name of another column."""
    taken = [name for name in names if _is_prediction(name, n_axes)]
    if taken:
        raise CommandError(f"the queries already have a column {taken[0]!r}. Rename that column.")


def _is_prediction(name: str, n_axes: int) -> bool:
    """Return whether a name is one that `_coordinates` gives to predictions."""
    return name == "prediction" if n_axes == 1 else name.startswith("prediction_")


def _bandwidth(text: str) -> Any:
    """Return a length, a pair of lengths, or the name of a rule."""
    pair = lengths(text) if "," in text else None
    return number_or_word(text) if pair is None else tuple(pair)


def _predicted(
    model: Any, asked: Any, modes: bool, coverage: float | None
) -> tuple[Any, dict[str, Any]]:
    """Return the table that was asked for, and facts about it."""
    from quickshift.cli.files.tables import extended, table_from
    from quickshift.stages.regression.conditional_modes import mode_columns

    if coverage is not None:
        found = model.predict_set(asked.X, coverage)
        columns = {"query": asked.rows[found.queries], **_coordinates("lower", found.lower)}
        columns |= _coordinates("upper", found.upper)
        return table_from(columns), {"n_intervals": len(found.lower), "coverage": coverage}
    if modes:
        found = model.predict_modes(asked.X)
        columns = mode_columns(found)
        columns["query"] = asked.rows[columns["query"]]
        return table_from(columns), {"n_modes": len(found.values)}
    return extended(asked.table, _coordinates("prediction", model.predict(asked.X))), {}


def _coordinates(name: str, values: Any) -> dict[str, Any]:
    """Return one column, or one per output."""
    if values.ndim == 1:
        return {name: values}
    return {f"{name}_{k}": column for k, column in enumerate(values.T)}


def _show(report: Report, facts: dict[str, Any], features: Any, more: list[str]) -> None:
    h_x, h_y = facts["bandwidth"]
    counts = [f"{facts['n_queries']} queries"]
    if "n_modes" in facts:
        counts.append(f"{facts['n_modes']} modes")
    if "n_intervals" in facts:
        counts.append(f"{facts['n_intervals']} intervals of coverage {facts['coverage']:g}")
    lines = [
        f"Samples: {facts['n_samples']}, by {', '.join(features.names)}",
        f"Bandwidth: {h_x:.4g} of the features, {h_y:.4g} of the response",
        f"Tau: {facts['tau']:.4g}",
        f"Predicted: {', '.join(counts)}",
        *features.remarks,
        *more,
    ]
    report.show(facts, [keyed(lines)])
