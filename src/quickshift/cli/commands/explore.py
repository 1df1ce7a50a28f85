"""`quickshift explore`: a table in, a page for the browser out."""

from pathlib import Path
from typing import Annotated

import typer

from quickshift.cli import options
from quickshift.cli.commands.steps import (
    estimator_parameters,
    fit_quick_shift,
    numbered,
    read_features,
    written,
)
from quickshift.cli.files.outputs import check_target, replaced_file
from quickshift.cli.outcome import UsageError
from quickshift.cli.report import Report, keyed, shows_progress

__all__ = ["EXAMPLE", "explore"]

EXAMPLE = """\
$ quickshift explore points.csv -o points.html
points.html: one page that works offline; move its slider to see other clusters"""

Page = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        help="The page to write: .html.",
        metavar="FILE",
        rich_help_panel="Files",
        show_default=False,
    ),
]


def explore(
    file: options.Input,
    *,
    output: Page,
    source_format: options.From = None,
    delimiter: options.Delimiter = None,
    header: options.HeaderLine = True,
    force: options.Force = False,
    columns: options.Columns = None,
    weights: options.Weights = None,
    identifier: options.Unused = None,
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
    """Cluster the rows of a table, and write a page on which the clusters of every cut are seen.

    The page is one HTML file that needs neither Python nor a network.
    """
    report = Report(as_json=as_json, quiet=quiet)
    if Path(output).suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"{output} does not end in .html. Choose a path such as points.html.")
    check_target(output, force=force)
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

    with report.timed("read"):
        features = read_features(
            Source(file, source_format, delimiter, header),
            columns=columns,
            weights=weights,
            others=[] if identifier is None else [identifier],
            drop_missing=drop_missing,
        )
    with report.timed("fit"):
        parameters["n_jobs"] = n_jobs
        model = fit_quick_shift(features, parameters, progress=shows_progress(quiet))
    with report.timed("write"):
        import quickshift

        with replaced_file(output, force=force) as partial:
            quickshift.explore(model, partial, names=features.names)
    n_rows = len(features.X)
    lines = [
        f"Clusters: {model.n_clusters_}, of {n_rows} samples by {', '.join(features.names)}",
        *features.remarks,
        *numbered(features.n_dropped),
        *written(output, "open it in a browser"),
    ]
    facts = {"n_clusters": model.n_clusters_, "n_samples": n_rows}
    facts |= {"n_dropped": features.n_dropped, "output": output}
    report.show(facts, [keyed(lines)])
