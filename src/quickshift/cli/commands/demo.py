"""`quickshift demo`: points to try the other commands on."""

from dataclasses import replace
from typing import Annotated

import typer

from quickshift.cli import options
from quickshift.cli.commands.steps import checked_format, written
from quickshift.cli.files.outputs import STANDARD
from quickshift.cli.report import Report

__all__ = ["EXAMPLE", "demo"]

EXAMPLE = """\
$ quickshift demo -o points.csv
$ quickshift cluster points.csv -o labels.csv"""

Rows = Annotated[int, typer.Option(help="Number of points.", metavar="NUMBER", min=1)]
Groups = Annotated[
    int, typer.Option(help="Number of groups that they are drawn from.", metavar="NUMBER", min=1)
]
Seed = Annotated[int, typer.Option(help="Seed of the random numbers.", metavar="NUMBER", min=0)]


def demo(
    *,
    output: options.Output = None,
    target_format: options.To = None,
    rows: Rows = 3000,
    groups: Groups = 6,
    seed: Seed = 1,
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,  # noqa: ARG001 (acts when it is parsed)
) -> None:
    """Draw points in the plane from round groups, cluster them, and show the summary.

    With --output, the points are written as a table with the columns x and y.
    """
    report = Report(as_json=as_json, quiet=quiet, to_stderr=output == STANDARD)
    kind = checked_format(output, target_format, force=force)
    from quickshift.cli.clusters import cluster_facts, cluster_lines, option_remarks
    from quickshift.cli.files.tables import table_from, write_table
    from quickshift.datasets import blobs

    points, _ = blobs(rows, centers=groups, seed=seed)
    if output is not None:
        table = table_from({"x": points[:, 0], "y": points[:, 1]})
        with report.timed("write"):
            write_table(table, output, kind, force=force)
    if quiet:
        return
    with report.timed("fit"):
        import quickshift

        model = quickshift.QuickShift().fit(points)
        summary = replace(model.summary(), feature_names=["x", "y"])
    advice = option_remarks(summary, model)
    more = written(output, f"{rows} rows")
    if more:
        more.append(f"Try: quickshift cluster {output} -o labels.csv")
    facts = {**cluster_facts(summary, rows, advice), "output": output}
    report.show(facts, cluster_lines(summary, rows, report.width, [*advice, *more]))
