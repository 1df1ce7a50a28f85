"""`quickshift cluster`: a table in, labels out."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any

import typer

from quickshift.cli import options
from quickshift.cli.commands.steps import (
    checked_format,
    estimator_parameters,
    fit_quick_shift,
    numbered,
    written,
)
from quickshift.cli.files.outputs import STANDARD, scratch_folder
from quickshift.cli.outcome import CommandError, UsageError
from quickshift.cli.report import Report, shows_progress
from quickshift.cli.values import bytes_of

__all__ = ["EXAMPLE", "cluster"]

EXAMPLE = """\
$ quickshift cluster points.csv -o labels.csv
points.csv: x,y / 0.4336,-17.686 / …
labels.csv: x,y,label / 0.4336,-17.686,3 / …
$ zcat big.csv.gz | quickshift cluster - -c x,y -o - | head"""

_ROWS = 1 << 17  # that are written at once

LabelsOnly = Annotated[
    bool,
    typer.Option(
        "--labels-only",
        help="Write the labels, with --id the identifiers, and no other column.",
        rich_help_panel="Files",
    ),
]
LabelName = Annotated[
    str,
    typer.Option(help="Name of the column of labels.", metavar="NAME", rich_help_panel="Files"),
]


def cluster(
    file: options.Input,
    *,
    output: options.Output = None,
    source_format: options.From = None,
    target_format: options.To = None,
    delimiter: options.Delimiter = None,
    header: options.HeaderLine = True,
    labels_only: LabelsOnly = False,
    label_name: LabelName = "label",
    force: options.Force = False,
    columns: options.Columns = None,
    weights: options.Weights = None,
    identifier: options.Identifier = None,
    drop_missing: options.DropMissing = False,
    bandwidth: options.Bandwidth = "local",
    tau: options.Tau = "auto",
    kernel: options.Kernel = options.KernelChoice.gaussian,
    n_neighbors: options.NNeighbors = "auto",
    n_clusters: options.NClusters = None,
    min_significance: options.MinSignificance = "auto",
    metric: options.Metric = options.MetricChoice.euclidean,
    period: options.Period = None,
    scale: options.Scale = options.ScaleChoice.none,
    n_jobs: options.NJobs = None,
    memory: options.Memory = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,  # noqa: ARG001 (acts when it is parsed)
) -> None:
    """Cluster the rows of a table, and write it with a column of labels.

    Without --output, only the summary is printed. An .npy or .npz file gets the labels alone.
    """
    report = Report(as_json=as_json, quiet=quiet, to_stderr=output == STANDARD)
    if output is None and (labels_only or target_format is not None):
        raise UsageError("--labels-only and --to need an --output, such as -o labels.csv.")
    kind = checked_format(output, target_format, force=force)
    limit = None if memory is None else bytes_of(memory)
    parameters = estimator_parameters(
        bandwidth=bandwidth,
        tau=tau,
        kernel=kernel,
        n_neighbors=n_neighbors,
        n_clusters=n_clusters,
        min_significance=min_significance,
        metric=metric,
        period=period,
        scale=scale,
    )
    from quickshift.cli.files.tables import Source
    from quickshift.cli.partitions import does_not_fit

    request = _Request(
        source=Source(file, source_format, delimiter, header),
        rows={
            "columns": columns,
            "weights": weights,
            "others": [] if identifier is None else [identifier],
            "drop_missing": drop_missing,
        },
        parameters={**parameters, "n_jobs": n_jobs},
        output=output,
        kind=kind,
        label=label_name,
        alone=labels_only or kind in ("npy", "npz"),
        force=force,
    )
    if limit is not None or does_not_fit(request.source):
        _cluster_in_parts(request, limit, report)
    else:
        _cluster_in_memory(request, report)


@dataclass(frozen=True)
class _Request:
    """What was asked for: the table, its columns, the parameters of the fit, and the output."""

    source: Any
    rows: dict[str, Any]
    parameters: dict[str, Any]
    output: str | None
    kind: str | None
    label: str
    alone: bool
    force: bool

    def check_output(self, schema: Any, identifiers: list[str]) -> None:
        """Raise if the output cannot hold a column, or would have two of the name of the labels."""
        from quickshift.cli.files.tables import check_holds

        kept = identifiers if self.alone else schema.names
        if self.output is not None and self.label in kept:
            what = "column of identifiers" if self.alone else "column"
            other = "" if self.label in identifiers else ", or use --labels-only"
            raise CommandError(
                f"the table already has a {what} {self.label!r}. Choose another name by "
                f"--label-name{other}."
            )
        if self.output is not None:
            check_holds([field for field in schema if field.name in kept], self.kind)


def _cluster_in_memory(request: _Request, report: Report) -> None:
    from quickshift.cli.clusters import cluster_facts, cluster_lines, option_remarks
    from quickshift.cli.files.features import pick_features, split_columns
    from quickshift.cli.files.tables import read_table, release_memory, write_parts

    with report.timed("read"):
        table = read_table(request.source, request.rows)
        identifiers = split_columns(table.schema, request.rows["others"])
        request.check_output(table.schema, identifiers)
        features = pick_features(table, **request.rows)
        del table  # the columns that take no part are in features
    with report.timed("fit"):
        progress = shows_progress(report.quiet)
        model = fit_quick_shift(features, request.parameters, progress=progress)
    names, remarks, n_dropped = features.names, features.remarks, features.n_dropped
    n_rows = len(features.X)
    if request.output is not None:
        with report.timed("write"):
            parts = _labeled(features, model.labels_, request)
            write_parts(parts, request.output, request.kind, force=request.force)
    del features  # the summary needs memory, too
    release_memory()
    if report.quiet:
        return
    with report.timed("summary"):
        summary = replace(model.summary(), feature_names=names)
    advice = option_remarks(summary, model)
    facts = cluster_facts(summary, n_rows, advice)
    facts |= {"n_dropped": n_dropped, "output": request.output}
    more = [*remarks, *numbered(n_dropped), *written(request.output, f"{n_rows} rows")]
    report.show(facts, cluster_lines(summary, n_rows, report.width, [*advice, *more]))


def _labeled(features: Any, labels: Any, request: _Request) -> Iterator[Any]:
    """Yield the table with its labels in parts, because the features are copied for it."""
    from quickshift.cli.files.features import split_columns

    kept = split_columns(features.schema, request.rows["others"])
    for start in range(0, len(labels), _ROWS):
        stop = start + _ROWS
        part = features.part(start, stop)
        part = part.select(kept) if request.alone else part
        yield part.append_column(request.label, [labels[start:stop]])


def _cluster_in_parts(request: _Request, limit: int | None, report: Report) -> None:
    from quickshift.cli.clusters import plain_lines
    from quickshift.cli.files.batches import labeled_parts, spool
    from quickshift.cli.files.tables import write_parts
    from quickshift.cli.partitions import fit_partitions, partition_facts, partition_remarks

    with scratch_folder() as scratch:
        with report.timed("read"):
            spooled = spool(request.source, scratch, **request.rows)
            request.check_output(spooled.schema, spooled.others)
        with report.timed("fit"):
            model = fit_partitions(spooled, request.parameters, limit, scratch, quiet=report.quiet)
        if request.output is not None:
            with report.timed("write"):
                kept = spooled.others if request.alone else None
                parts = labeled_parts(spooled, request.label, model.labels_, kept)
                write_parts(parts, request.output, request.kind, force=request.force)
        if report.quiet:
            return
        facts = {**partition_facts(model, spooled), "output": request.output}
        remarks = partition_remarks(model, spooled)
    remarks += numbered(spooled.n_dropped) + written(request.output, f"{spooled.n_rows} rows")
    report.show(facts, plain_lines(facts, remarks))
