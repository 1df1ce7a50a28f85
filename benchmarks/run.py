"""Measure quickshift against its peers in this process and print ratios with their spread.

    python benchmarks/run.py                         every row, about a quarter of an hour
    python benchmarks/run.py --quick                 small data: does everything still run?
    python benchmarks/run.py --only adversarial      rows whose name has the word
    python benchmarks/run.py --compare benchmarks/results/2026-01-31.json

A ratio is our time over the peer's, so below one is faster; in brackets the quartiles.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

import measure
from peers import PEERS
from workloads import GROWTH, IMPORTS, MEMORY, WORKLOADS, Workload

HERE = Path(__file__).resolve().parent
PACKAGES = ("quickshift", "numpy", "scipy", "scikit-learn", "gudhi", "skmatter")
QUICK = 20  # how many times smaller the data of --quick are

Row = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the rows that were asked for, print them, save them, compare them."""
    options = parse(arguments)
    table = {name: shrink(w) if options.quick else w for name, w in WORKLOADS.items()}
    if options.quick:
        print(f"quick: {QUICK} times fewer points than the names say")
    results: Row = {**facts(), "quick": options.quick, "rows": []}
    options.save.parent.mkdir(parents=True, exist_ok=True)
    for row in measured(table, only=options.only, repeats=options.repeats):
        print(line(row), flush=True)
        results["rows"].append(row)
        options.save.write_text(json.dumps(results, indent=1) + "\n")
    if not results["rows"]:
        names = "\n  ".join([*table, *GROWTH, *MEMORY, *IMPORTS])
        raise SystemExit(f"no row has {options.only!r} in its name; there are\n  {names}")
    if options.compare:
        print(f"\nagainst {options.compare.name}")
        print("\n".join(changes(json.loads(options.compare.read_text()), results)))


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    summary, *rest = (__doc__ or "").split("\n", 1)
    parser = argparse.ArgumentParser(
        description=summary,
        epilog="\n".join(rest),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    today = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}.json"
    parser.add_argument("--only", default="", metavar="PATTERN", help="part of a row's name")
    parser.add_argument("--repeats", type=int, default=5, help="rounds a row (default 5)")
    parser.add_argument("--quick", action="store_true", help=f"data {QUICK} times smaller")
    parser.add_argument("--save", type=Path, default=HERE / "results" / today, metavar="FILE")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="print old → new ratios")
    options = parser.parse_args(arguments)
    if options.repeats < 1:
        parser.error(f"--repeats is {options.repeats}; expected at least 1")
    return options


def shrink(workload: Workload) -> Workload:
    """Return the same workload on fewer points."""
    return replace(workload, n=max(workload.n // QUICK, 500))


def measured(table: dict[str, Workload], *, only: str, repeats: int) -> Iterator[Row]:
    """Yield one row after the other as it is measured."""
    for name, workload in table.items():
        if only in name:
            yield time_row(workload, repeats=repeats)
    for name, (small, large) in GROWTH.items():
        if only in name:
            yield growth_row(name, table[small], table[large], repeats=repeats)
    for name, workload_name in MEMORY.items():
        if only in name:
            yield memory_row(name, table[workload_name])
    for name, module in IMPORTS.items():
        if only in name:
            yield import_row(name, module, repeats=repeats)


def time_row(workload: Workload, *, repeats: int) -> Row:
    """Time our call, in turn with every peer."""
    X = workload.data(workload.n)
    ours = partial(workload.ours, X)
    workload.ours(X[:500])  # imports and lazy set-up are not what this row measures
    row: Row = {"name": workload.name, "kind": "time", "n": len(X), "d": X.shape[1], "peers": {}}
    our_times: list[float] = []
    for name in workload.peers:
        peer = PEERS[name]
        try:
            call = peer.load()
        except ImportError as missing:
            row["peers"][name] = {"skipped": str(missing)}
            continue
        if len(X) > peer.largest:
            row["peers"][name] = {"skipped": f"takes over a minute above {peer.largest} points"}
            continue
        mine, theirs = measure.in_turn([ours, partial(call, X)], repeats=repeats)
        our_times += mine
        row["peers"][name] = {
            "seconds": asdict(measure.spread(theirs)),
            "ratio": asdict(measure.ratios(mine, theirs)),
            "rounds": len(mine),
        }
    our_times = our_times or measure.in_turn([ours], repeats=repeats)[0]
    return {**row, "seconds": asdict(measure.spread(our_times))}


def growth_row(name: str, small: Workload, large: Workload, *, repeats: int) -> Row:
    """Time two sizes in turn; an exponent of one is linear."""
    few, many = small.data(small.n), large.data(large.n)
    jobs = [partial(small.ours, few), partial(large.ours, many)]
    times = measure.in_turn(jobs, repeats=repeats)
    exponent = measure.exponents(*times, small_n=len(few), large_n=len(many))
    return {"name": name, "kind": "growth", "exponent": asdict(exponent)}


def memory_row(name: str, workload: Workload) -> Row:
    """Measure the peak of a fresh process that fits, beyond the data themselves."""
    X = workload.data(workload.n)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "points.npy"
        np.save(file, X)
        setup = (
            f"import sys; sys.path.insert(0, {str(HERE)!r})\n"
            "import numpy, workloads\n"
            f"X = numpy.load({str(file)!r})\n"
            f"ours = workloads.WORKLOADS[{workload.name!r}].ours\n"
            "ours(X[:500])"
        )
        peak = measure.peak_bytes_of(setup, "fitted = ours(X)")
    return {"name": name, "kind": "memory", "n": len(X), "bytes_a_point": peak / len(X)}


def import_row(name: str, module: str, *, repeats: int) -> Row:
    """Time an import in fresh processes that have NumPy already."""
    measure.import_seconds(module)  # fills the caches of files and byte code
    times = [measure.import_seconds(module) for _ in range(repeats)]
    return {"name": name, "kind": "import", "seconds": asdict(measure.spread(times))}


def line(row: Row) -> str:
    """Return a row as a person would read it."""
    start = f"{row['name']:40}"
    if row["kind"] == "growth":
        return f"{start} time grows as n^{measure.Spread(**row['exponent'])}"
    if row["kind"] == "memory":
        return f"{start} {row['bytes_a_point']:.0f} bytes a point beyond the data"
    if row["kind"] == "import":
        return f"{start} {1e3 * row['seconds']['median']:.0f} ms beyond NumPy"
    parts = [f"{start} {row['seconds']['median']:9.3f} s"]
    for name, peer in row["peers"].items():
        if "skipped" in peer:
            parts.append(f"{name} skipped: {peer['skipped']}")
        else:
            ratio = measure.Spread(**peer["ratio"])
            parts.append(f"{ratio} of {name}'s {peer['seconds']['median']:.3g} s")
    return f"\n{'':42}".join(parts) if len(parts) > 2 else "   ".join(parts)


def facts() -> Row:
    """Return what a reader must know to read the numbers, nothing that names the machine."""
    versions: dict[str, str | None] = {}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = None
    usable = getattr(os, "sched_getaffinity", None)
    return {
        "date": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}",
        "python": platform.python_version(),
        "system": platform.system(),
        "architecture": platform.machine(),
        "cpus": len(usable(0)) if usable else os.cpu_count(),
        "versions": versions,
    }


def numbers(results: Row) -> dict[str, float]:
    """Return what can be compared between two runs, by name."""
    found = {}
    for row in results["rows"]:
        for name, peer in row.get("peers", {}).items():
            if "ratio" in peer:
                found[f"{row['name']} / {name}"] = peer["ratio"]["median"]
        if row["kind"] == "growth":
            found[row["name"]] = row["exponent"]["median"]
        elif row["kind"] == "memory":
            found[f"{row['name']} (bytes a point)"] = row["bytes_a_point"]
        elif row["kind"] == "import" or not row["peers"]:
            found[f"{row['name']} (seconds)"] = row["seconds"]["median"]
    return found


def changes(old: Row, new: Row) -> list[str]:
    """Return one line for each number that both results have."""
    before, after = numbers(old), numbers(new)
    if old["quick"] != new["quick"]:
        return ["nothing to compare: one was run with --quick, the other without"]
    return [
        f"{name:60} {before[name]:9.3g} → {after[name]:9.3g}   {after[name] / before[name]:.2f}x"
        for name in after
        if name in before
    ]


if __name__ == "__main__":
    main()
