"""`quickshift cluster`: a table in, labels out."""

from typing import Annotated, Any

import typer

from quickshift.cli import options
from quickshift.cli.files.formats import format_of
from quickshift.cli.files.outputs import STANDARD, check_target
from quickshift.cli.outcome import CommandError, UsageError
from quickshift.cli.report import Report, shows_progress
from quickshift.cli.values import lengths, number_or_word, whole_or_word

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
    target = _target(output, target_format, labels_only, force=force)
    parameters = {
        "bandwidth": number_or_word(bandwidth),
        "tau": number_or_word(tau),
        "kernel": kernel.value,
        "n_neighbors": whole_or_word(n_neighbors),
        "n_clusters": n_clusters,
        "min_significance": number_or_word(min_significance),
        "metric": metric.value,
        "period": lengths(period),
        "scale": None if scale.value == "none" else scale.value,
    }
    from quickshift.cli.files.features import pick_features, resolve_column
    from quickshift.cli.files.tables import Source, read_table, write_table

    with report.timed("read"):
        table = read_table(Source(file, source_format, delimiter, header))
        _check_label_name(table.schema.names, label_name, output, labels_only=target[1])
        others = [] if identifier is None else [identifier]
        features = pick_features(
            table, columns=columns, weights=weights, others=others, drop_missing=drop_missing
        )
        del table
    with report.timed("fit"):
        model = _fitted(features, parameters, n_jobs, verbose=shows_progress(quiet))
    if output is not None:
        with report.timed("write"):
            kept = features.table if not target[1] else None
            names = [resolve_column(features.table.schema, name) for name in others]
            labeled = _with_labels(features.table, kept, names, label_name, model.labels_)
            write_table(labeled, output, target[0], force=force)
    if not quiet:
        _show(report, model, features, output)


def _target(
    output: str | None, given: Any, labels_only: bool, *, force: bool
) -> tuple[str | None, bool]:
    """Return the format of the output and whether it has the labels alone, after checking it."""
    if output is None:
        if labels_only or given is not None:
            raise UsageError("--labels-only and --to need an --output, such as -o labels.csv.")
        return None, False
    check_target(output, force=force)
    kind = format_of(output, given, "--to")
    return kind, labels_only or kind in ("npy", "npz")


def _check_label_name(
    names: list[str], label: str, output: str | None, *, labels_only: bool
) -> None:
    if output is not None and not labels_only and label in names:
        raise CommandError(
            f"the table already has a column {label!r}. Choose another name by --label-name, or "
            f"use --labels-only."
        )


def _fitted(features: Any, parameters: dict[str, Any], n_jobs: int | None, *, verbose: bool) -> Any:
    """Fit the estimator of the library."""
    import quickshift

    model = quickshift.QuickShift(**parameters, n_jobs=n_jobs, verbose=int(verbose))
    return model.fit(features.X, sample_weight=features.weights)


def _with_labels(table: Any, kept: Any, names: list[str], label: str, labels: Any) -> Any:
    """Return the table with the labels, or only the columns of these names with the labels."""
    return (table.select(names) if kept is None else kept).append_column(label, [labels])


def _show(report: Report, model: Any, features: Any, output: str | None) -> None:
    from dataclasses import replace

    from quickshift.cli.clusters import cluster_facts, cluster_lines

    with report.timed("summary"):
        summary = replace(model.summary(), feature_names=features.names)
    more = list(features.remarks)
    if output not in (None, STANDARD):
        more.append(f"Written: {output}, {features.table.num_rows} rows")
    facts = {**cluster_facts(summary), "n_dropped": features.n_dropped, "output": output}
    report.show(facts, cluster_lines(summary, report.width, more))
