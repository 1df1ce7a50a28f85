"""`quickshift cluster`: a table in, labels out."""

from typing import Annotated, Any

import typer

from quickshift.cli import options
from quickshift.cli.commands.steps import (
    checked_format,
    estimator_parameters,
    fit_quick_shift,
    written,
)
from quickshift.cli.files.outputs import STANDARD
from quickshift.cli.outcome import CommandError, UsageError
from quickshift.cli.report import Report, shows_progress

__all__ = ["EXAMPLE", "cluster"]

EXAMPLE = """\
$ quickshift cluster points.csv -o labels.csv
points.csv: x,y / 0.4336,-17.686 / …
labels.csv: x,y,label / 0.4336,-17.686,3 / …
$ zcat big.csv.gz | quickshift cluster - -c x,y -o - | head"""

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
    alone = labels_only or kind in ("npy", "npz")
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
    from quickshift.cli.files.features import pick_features, split_columns
    from quickshift.cli.files.tables import Source, read_table, write_table

    with report.timed("read"):
        table = read_table(Source(file, source_format, delimiter, header))
        if output is not None and not alone:
            _refuse_label_name(label_name, table.column_names)
        others = [] if identifier is None else [identifier]
        features = pick_features(
            table, columns=columns, weights=weights, others=others, drop_missing=drop_missing
        )
        del table  # its rows are those of features.table
    with report.timed("fit"):
        model = fit_quick_shift(features, parameters, n_jobs, progress=shows_progress(quiet))
    if output is not None:
        with report.timed("write"):
            kept = features.table
            if alone:
                kept = kept.select(split_columns(kept.schema, others))
            write_table(kept.append_column(label_name, [model.labels_]), output, kind, force=force)
    if not quiet:
        _show(report, model, features, output)


def _refuse_label_name(label: str, names: list[str]) -> None:
    if label in names:
        raise CommandError(
            f"the table already has a column {label!r}. Choose another name by --label-name, or "
            f"use --labels-only."
        )


def _show(report: Report, model: Any, features: Any, output: str | None) -> None:
    from dataclasses import replace

    from quickshift.cli.clusters import cluster_facts, cluster_lines

    with report.timed("summary"):
        summary = replace(model.summary(), feature_names=features.names)
    more = [*features.remarks, *written(output, f"{features.table.num_rows} rows")]
    facts = {**cluster_facts(summary), "n_dropped": features.n_dropped, "output": output}
    report.show(facts, cluster_lines(summary, report.width, more))
