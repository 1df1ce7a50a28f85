"""Write the tables of docs/large_cost.md from benchmarks/large.json.

python benchmarks/large_page.py    rewrites the tables; `make large-cost` measures first
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "large.json"
PAGE = HERE.parent / "docs" / "large_cost.md"

Result = dict[str, Any]

NAMES = {
    "kernel": "Epanechnikov, {neighbors} neighbors",
    "default": "default, {neighbors} neighbors",
    "neighbors": "n_neighbors={neighbors}",
}
BASE = 10**7  # points of the fit in memory with which throughputs of large runs are compared
LEAST_RATIO = 1 / 3  # that large runs should have
SIZES = (10**9, 10**11)  # for which costs are extrapolated
LEAST = 10**7  # points of a run from which they are; starting processes dominates smaller runs
CORES = 64  # of a machine for which they are


def results() -> list[Result]:
    """Return the recorded runs, by kind and number of points."""
    found: list[Result] = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    return sorted(found, key=lambda run: (list(NAMES).index(run["kind"]), run["points"]))


def record(run: Result) -> None:
    """Add a run; it replaces an earlier one of the same kind and size."""
    kept = [each for each in results() if _case(each) != _case(run)]
    RESULTS.write_text(json.dumps([*kept, run], indent=1) + "\n")


def _case(run: Result) -> tuple[str, int, int]:
    return run["kind"], run["points"], run.get("workers", 0)


def name_of(run: Result) -> str:
    """Return what the tables call the fit of a run."""
    return NAMES[run["kind"]].format(**run)


def relative_throughput(run: Result, runs: Sequence[Result]) -> float | None:
    """Return the points per second of a run divided by those of a fit in memory of 1e7 points.

    Parameters
    ----------
    run : dict
        The run over partitions.
    runs : sequence of dict
        All runs. The last fit in memory of 1e7 points of the same kind counts.

    Returns
    -------
    float or None
        None if the run has fewer than 1e7 points, or if no such fit in memory has the same number
        of neighbors: by default, this number rises with the number of points.
    """
    same = [
        base["seconds in memory"]
        for base in runs
        if base["points"] == BASE and "seconds in memory" in base
        if (base["kind"], base["neighbors"]) == (run["kind"], run["neighbors"])
    ]
    if run["points"] < BASE or not same:
        return None
    ratio: float = run["points"] / run["seconds"] / (BASE / same[-1])
    return ratio


def write() -> None:
    """Rewrite the tables of the page."""
    runs = [run for run in results() if not run.get("workers")]
    on_cluster = [run for run in results() if run.get("workers")]
    text = PAGE.read_text()
    for name, table in (
        ("runs", table_of_runs(runs)),
        ("cluster", table_of_cluster(on_cluster)),
        ("passes", tables_of_passes(runs)),
        ("larger", table_of_larger(runs)),
    ):
        start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        before, _, rest = text.partition(start)
        text = f"{before}{start}\n{table}\n{end}{rest.partition(end)[2]}"
    PAGE.write_text(text)


def table_of_runs(runs: Sequence[Result]) -> str:
    """Return time, throughput and memory of every run."""
    header = [
        "fit",
        "points",
        "partitions",
        "time",
        "CPU time",
        "points per second",
        "in memory",
        "relative to in memory at 1e7 points",
        "ratio of CPU times",
        "client",
        "all processes",
        "limit",
        "files",
        "used by other programs",
    ]
    return table(header, [row_of_run(run, runs) for run in runs])


def row_of_run(run: Result, runs: Sequence[Result]) -> list[str]:
    """Return one row of the table of runs."""
    known = "seconds in memory" in run
    n = run["points"]
    ratio = relative_throughput(run, runs)
    return [
        name_of(run),
        power(n),
        str(run["partitions"]),
        f"{run['seconds']:.0f} s",
        f"{run['cpu']:.0f} s",
        f"{n / run['seconds']:,.0f}",
        f"{n / run['seconds in memory']:,.0f}" if known else "",
        "" if ratio is None else f"{ratio:.2f}",
        f"{run['cpu in memory'] / run['cpu']:.2f}" if known else "",
        f"{run['client'] / 1e6:.0f} MB",
        f"{run['memory'] / 1e6:.0f} MB",
        f"{run['limit'] / 1e6:.0f} MB",
        f"{run['disk'] / n:.0f} bytes per point",
        used_by_others(run),
    ]


def used_by_others(run: Result) -> str:
    """Return how many cores other programs used during a run, and during the fit in memory."""
    cores = [run["others"], run["others in memory"]] if "equal" in run else [run["others"]]
    return f"{' and '.join(f'{max(each, 0):.1f}' for each in cores)} of {run['cores']} cores"


def table_of_cluster(runs: Sequence[Result]) -> str:
    """Return times, memory and labels of runs on a local Dask cluster."""
    if not runs:
        return "No run has been recorded yet."
    header = [
        "fit",
        "points",
        "workers",
        "time",
        "in memory",
        "files",
        "ratio without files",
        "same labels",
        "client",
        "largest worker",
        "limit of a worker",
        "used by other programs",
    ]
    return table(header, [row_of_cluster(run) for run in runs])


def row_of_cluster(run: Result) -> list[str]:
    """Return one row of the table of runs on a cluster."""
    ratio = (run["seconds"] - run["files"]) / run["seconds in memory"]
    return [
        name_of(run),
        power(run["points"]),
        str(run["workers"]),
        f"{run['seconds']:.0f} s",
        f"{run['seconds in memory']:.0f} s",
        f"{run['files']:.0f} s",
        f"{ratio:.2f}",
        "yes" if run["equal"] else "no",
        f"{run['client'] / 1e6:.0f} MB",
        f"{run['largest'] / 1e6:.0f} MB",
        f"{run['limit'] / 1e6:.0f} MB",
        used_by_others(run),
    ]


def tables_of_passes(runs: Sequence[Result]) -> str:
    """Return what each pass reads, writes and moves, for the largest runs that were counted."""
    parts = []
    for kind in NAMES:
        counted = [run for run in runs if run["kind"] == kind and "passes" in run]
        if counted:
            run = counted[-1]
            title = f"{name_of(run)}, {power(run['points'])} points, {run['partitions']} partitions"
            parts += [f"**{title}**", "", table_of_passes(run), ""]
    return "\n".join(parts).rstrip()


def table_of_passes(run: Result) -> str:
    """Return what each pass of one run reads, writes and moves."""
    n, passes = run["points"], run["passes"]
    header = ["pass", "tasks", "bytes read per point", "written", "moved"]
    rows = [
        [name, str(each["tasks"]), *(f"{each[what] / n:.2f}" for what in WHAT)]
        for name, each in passes.items()
    ]
    sums = [sum(each[what] for each in passes.values()) / n for what in WHAT]
    tasks = sum(each["tasks"] for each in passes.values())
    return table(header, [*rows, ["all", str(tasks), *(f"{each:.2f}" for each in sums)]])


WHAT = ("read", "written", "moved")


def table_of_larger(runs: Sequence[Result]) -> str:
    """Return what larger fits would need, at the cost per point of the largest run of each kind."""
    rows = []
    for kind in NAMES:
        of_kind = [run for run in runs if run["kind"] == kind and run["points"] >= LEAST]
        for n in SIZES if of_kind else ():
            run = of_kind[-1]
            hours = run["cpu"] / run["points"] * n / 3600
            rows.append(
                [
                    name_of(run),
                    power(n),
                    f"{power(run['points'])} points",
                    f"{hours:,.1f}",
                    f"{max(hours / CORES, 1):,.0f}",
                    f"{run['disk'] / run['points'] * n / 1e12:,.2f} TB",
                ]
            )
    if not rows:
        return f"No run of at least {power(LEAST)} points has been recorded yet."
    header = ["fit", "points", "from the run of", "core hours", "machines for one hour", "files"]
    return table(header, rows)


def power(n: int) -> str:
    """Return a number in powers of ten.

    Examples
    --------
    >>> power(20_000_000)
    '2e7'
    """
    digits, exponent = f"{n:.0e}".split("e")
    return f"{digits}e{int(exponent)}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


if __name__ == "__main__":
    write()
