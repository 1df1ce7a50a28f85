"""`quickshift tree`: a table in, the cluster tree out."""

from typing import Annotated, Any

import typer

from quickshift.cli import options
from quickshift.cli.commands.steps import (
    checked_format,
    estimator_parameters,
    fit_quick_shift,
    numbered,
    read_features,
    written,
)
from quickshift.cli.files.outputs import STANDARD, opened_output, replaced_file, scratch_folder
from quickshift.cli.report import Report, bold, dim, keyed, shows_progress, table_of

__all__ = ["EXAMPLE", "tree"]

EXAMPLE = """\
$ quickshift tree points.csv --significance 3 -o leaves.csv
leaves.csv: leaf,row,birth,death,absorbed_by,towards,size,significance / 0,1236,…
$ quickshift tree points.csv -o tree.npz
In Python: quickshift.ClusterTree.load("tree.npz")"""

_SHOWN = 20  # leaves
_PRUNING = "Pruning"
_LEGEND = (
    "Birth: the density of the mode. Death: the density at which the leaf joins another one, which "
    "absorbs it; 0 if it joins none. Towards: the leaf that gets the samples if this one is pruned."
)

Significance = Annotated[
    float | None,
    typer.Option(
        help="Least significance of a leaf.",
        metavar="NUMBER",
        rich_help_panel=_PRUNING,
        show_default=False,
    ),
]
Prominence = Annotated[
    float | None,
    typer.Option(
        help="Least difference between the birth and the death of a leaf.",
        metavar="NUMBER",
        rich_help_panel=_PRUNING,
        show_default=False,
    ),
]
MinSize = Annotated[
    float | None,
    typer.Option(
        help="Least number of samples on each side of a merge.",
        metavar="NUMBER",
        rich_help_panel=_PRUNING,
        show_default=False,
    ),
]


def tree(
    file: options.Input,
    *,
    output: options.Output = None,
    source_format: options.From = None,
    target_format: options.To = None,
    delimiter: options.Delimiter = None,
    header: options.HeaderLine = True,
    force: options.Force = False,
    columns: options.Columns = None,
    weights: options.Weights = None,
    identifier: options.Unused = None,
    drop_missing: options.DropMissing = False,
    significance: Significance = None,
    prominence: Prominence = None,
    min_size: MinSize = None,
    bandwidth: options.Bandwidth = "local",
    tau: options.Tau = "auto",
    kernel: options.Kernel = options.KernelChoice.gaussian,
    n_neighbors: options.NNeighbors = "auto",
    metric: options.Metric = options.MetricChoice.euclidean,
    period: options.Period = None,
    scale: options.Scale = options.ScaleChoice.none,
    n_jobs: options.NJobs = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,  # noqa: ARG001 (acts when it is parsed)
) -> None:
    """Find the cluster tree of a table: every mode, and the density at which it joins another.

    A table with one row per leaf is written; an .npz file holds the whole tree, for Python.
    """
    report = Report(as_json=as_json, quiet=quiet, to_stderr=output == STANDARD)
    kind = checked_format(output, target_format, force=force)
    parameters = estimator_parameters(
        bandwidth=bandwidth,
        tau=tau,
        kernel=kernel,
        n_neighbors=n_neighbors,
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
        found = model.tree_
    found = found.prune(significance=significance, prominence=prominence, min_size=min_size)
    if output is not None:
        with report.timed("write"):
            _write(found, features, output, kind, force=force)
    _show(report, found, features, output, kind)


def _write(found: Any, features: Any, output: str, kind: str | None, *, force: bool) -> None:
    from quickshift.cli.files.tables import table_from, write_table

    if kind != "npz":
        write_table(table_from(_leaves(found, features)), output, kind, force=force)
    elif output == STANDARD:
        with scratch_folder() as scratch, opened_output(output, force=force) as file:
            found.save(scratch / "tree.npz")
            file.write((scratch / "tree.npz").read_bytes())
    else:
        with replaced_file(output, force=force) as partial:
            found.save(partial)


def _leaves(found: Any, features: Any) -> dict[str, Any]:
    """Return the columns of the table of leaves, with the rows of the file."""
    import numpy as np

    from quickshift.stages.tree.export import leaf_columns

    columns = leaf_columns(found)
    columns["row"] = features.rows[columns["row"]]
    return {"leaf": np.arange(len(found)), **columns}


def _show(report: Report, found: Any, features: Any, output: str | None, kind: str | None) -> None:
    columns = _leaves(found, features)
    shown = (-columns["significance"]).argsort(kind="stable")[:_SHOWN]
    cells = {
        name.replace("_", " "): [_cell(name, values[i]) for i in shown]
        for name, values in columns.items()
    }
    remarks = [
        *(
            [f"Not shown: {len(found) - _SHOWN} less significant leaves."]
            if len(found) > _SHOWN
            else []
        ),
        *features.remarks,
        *(numbered(features.n_dropped, f" in {output}") if kind == "npz" else []),
        *written(output, f"{len(found)} leaves"),
    ]
    title = f"Cluster tree of {len(features.X)} samples: {len(found)} leaves, "
    title += f"{len(found.merges)} merges"
    facts = {"n_leaves": len(found), "leaves": columns, "merges": found.merges}
    facts |= {"n_dropped": features.n_dropped, "output": output}
    report.show(facts, [bold(title), "", table_of(cells), "", dim(_LEGEND), "", keyed(remarks)])


def _cell(name: str, value: Any) -> str:
    if name in ("absorbed_by", "towards") and value < 0:
        return "–"
    return f"{value:.3g}" if name in ("birth", "death", "significance") else f"{value:.10g}"
