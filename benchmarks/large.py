"""Fit data larger than memory over partitions, and print time, throughput and memory.

    python benchmarks/large.py                     1e8 points, hours, 20 GB of disk
    python benchmarks/large.py --points 1e6 1e7    minutes, and compared with fits in memory
    python benchmarks/large.py --kind default      only the default in place of all kinds
    python benchmarks/large.py --points 1e7 1e8 --kind kernel neighbors
                                                   throughput compared with that in memory at 1e7
    python benchmarks/large.py --points 2e7 --workers 2 --worker-memory 1.5e9
                                                   on a local Dask cluster
    python benchmarks/large.py --write             also writes the tables of docs/large_cost.md

The points are twenty Gaussian clusters in the plane, in Parquet files. There are three kinds of
fits. "kernel" has an Epanechnikov kernel whose bandwidth holds about 500 neighbors. "default" has
default parameters, so its number of neighbors rises with the number of points. "neighbors" is the
default at equal n_neighbors: that of 1e7 points for any number of points, so the time per point can
be compared with that of a fit in memory of 1e7 points.

With at least 1e7 points, the throughput should be at least one third of the throughput in memory at
1e7 points. This compares wall times, so it needs a machine that is idle otherwise; the CPU time
that other programs took meanwhile is reported as a number of cores. The memory is the proportional
set size of all processes together, sampled four times per second.

On a cluster, the fit should have the labels of a fit in memory, and take at most three times as
long, besides the time to read the input and to read and write the files of the run once.
"""

from __future__ import annotations

import argparse
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import large_page
import quickshift as qs
from large_account import account_for
from large_cluster import MOST_TIMES, local_cluster, seconds_for_files
from quickshift.distributed import QuickShift
from quickshift.stages.local_scale import default_neighbors

CENTERS = np.random.default_rng(0).uniform(0, 100, (20, 2))
WIDTH = 2.0
ROWS_PER_FILE = 1_000_000
NEIGHBORS = 500
MOST_IN_MEMORY = 20_000_000  # with more points, there is no fit in memory to compare with
MOST_CLIENT = 500_000_000  # bytes by which the memory of the client should grow, at most
MOST_COUNTED = 10_000_000  # with more points, bytes are not counted, which takes another fit


def main() -> None:
    """Write points, and measure the fits that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=float, nargs="+", default=[1e8])
    parser.add_argument("--memory", type=float, default=4e9, help="bytes for all processes")
    parser.add_argument("--workers", type=int, default=0, help="of a Dask cluster; 0 for processes")
    parser.add_argument("--worker-memory", type=float, default=1.5e9, help="bytes for each worker")
    kinds = list(large_page.NAMES)
    parser.add_argument("--kind", choices=kinds, nargs="+", default=kinds, help="of the fits")
    parser.add_argument("--folder", type=Path, help="for all files; a temporary one if not given")
    parser.add_argument("--write", action="store_true", help="write tables of docs/large_cost.md")
    given = parser.parse_args()
    measured: list[dict[str, Any]] = []
    for n in map(int, given.points):
        with TemporaryDirectory(dir=given.folder) as folder:
            write_points(Path(folder), n)
            for kind in given.kind:
                limits = Limits(given.memory, given.workers, given.worker_memory)
                found = measure(kind, Path(folder), n, limits)
                measured.append(found)
                report_throughput(found, [*large_page.results(), *measured])
                if given.write:
                    large_page.record(found)
                    large_page.write()


def parameters_of(kind: str, n: int) -> dict[str, Any]:
    """Return the parameters of a fit."""
    if kind == "default":
        return {}
    if kind == "neighbors":
        return {"n_neighbors": default_neighbors(large_page.BASE)}
    area = 4 * np.pi * WIDTH**2 * len(CENTERS)  # in which the points would be evenly spread
    h = float(np.sqrt(NEIGHBORS / (n / area) / np.pi))
    return {"bandwidth": h, "tau": h, "kernel": "epanechnikov"}


def write_points(folder: Path, n: int) -> None:
    """Write points to Parquet files."""
    for i, first in enumerate(range(0, n, ROWS_PER_FILE)):
        points = drawn(i, min(ROWS_PER_FILE, n - first))
        table = pa.table({"x": points[:, 0], "y": points[:, 1]})
        pq.write_table(table, folder / f"points-{i:05}.parquet", row_group_size=1 << 18)


def drawn(seed: int, n: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Draw the points of one file."""
    rng = np.random.default_rng([1, seed])
    centers = CENTERS[rng.integers(len(CENTERS), size=n)]
    return centers + rng.normal(scale=WIDTH, size=(n, 2))


@dataclass(frozen=True)
class Limits:
    """Bytes that all processes may use or, if there are workers, that each of them may use."""

    memory: float
    workers: int = 0
    worker_memory: float = 0.0


def measure(kind: str, folder: Path, n: int, limits: Limits) -> dict[str, Any]:
    """Fit over partitions and, if there are not too many points, in memory; print both."""
    parameters = parameters_of(kind, n)
    runs = folder / f"runs-{kind}"
    model, found = fitted(folder, runs, limits, parameters)
    found |= {"kind": kind, "points": n}
    report(found)
    if n <= MOST_IN_MEMORY:
        found |= compare(model, n, parameters)
    if n <= MOST_IN_MEMORY and limits.workers:
        found["files"] = time_for_files(folder, runs)
        allowed = MOST_TIMES * found["seconds in memory"] + found["files"]
        print(
            f"  files: {found['files']:.1f} s; {verdict(found['seconds'] <= allowed)}: at most "
            f"{MOST_TIMES} times the fit in memory and the files, {allowed:.1f} s"
        )
    if n <= MOST_COUNTED and not limits.workers:
        data = str(folder / "points-*.parquet")
        found["passes"] = account_for(data, memory_limit=limits.memory, **parameters)
    return found


def fitted(
    folder: Path, runs: Path, limits: Limits, parameters: dict[str, Any]
) -> tuple[QuickShift, dict[str, Any]]:
    """Fit over partitions, and return the model, with what the fit has taken."""
    by_pass: dict[str, float] = {}
    spent, busy, last = cpu_seconds(), busy_seconds(), 0.0

    def progress(name: str, _: float) -> None:
        nonlocal last
        now = time.perf_counter()
        by_pass[name] = by_pass.get(name, 0.0) + now - last
        last = now

    workers = limits.workers
    start = time.perf_counter()
    with local_cluster(workers, limits.worker_memory) as client, PeakMemory() as peak:
        last = begin = time.perf_counter()  # the cluster has been started
        model = QuickShift(
            client=client,
            memory_limit="auto" if workers else limits.memory,
            directory=runs,
            progress=progress,
            **parameters,
        )
        model.fit(str(folder / "points-*.parquet"))
        seconds = time.perf_counter() - begin
    cpu = cpu_seconds() - spent  # of workers that have ended, too
    others = (busy_seconds() - busy - cpu) / (time.perf_counter() - start)
    model.client = None  # labels are read in this process
    return model, {
        "workers": workers,
        "limit": limits.worker_memory if workers else limits.memory,
        "partitions": model.n_partitions_,
        "clusters": model.n_clusters_,
        "neighbors": getattr(model, "n_neighbors_", NEIGHBORS),
        "cores": len(os.sched_getaffinity(0)),
        "others": others,
        "seconds": seconds,
        "seconds by pass": by_pass,
        "cpu": cpu,
        "client": peak.own - peak.start,
        "memory": peak.all,
        "largest": peak.other,
        "disk": sum(path.stat().st_size for path in runs.rglob("*") if path.is_file()),
    }


def report(found: dict[str, Any]) -> None:
    """Print time and memory of a fit over partitions."""
    print(
        "{kind}: {points} points, {partitions} partitions, {clusters} clusters, {seconds:.1f} s, "
        "{cpu:.1f} s of CPU time, {others:.1f} of {cores} cores used by other programs".format(
            **found
        )
    )
    print("  " + ", ".join(f"{name} {s:.1f} s" for name, s in found["seconds by pass"].items()))
    client, most = found["client"] / 1e6, MOST_CLIENT / 1e6
    print(f"  client {client:.0f} MB; {verdict(client < most)}: less than {most:.0f} MB")
    limit, what = found["limit"] / 1e6, "largest" if found["workers"] else "memory"
    used = found[what] / 1e6
    processes = "largest worker" if found["workers"] else "all processes"
    print(f"  {processes} {used:.0f} MB; {verdict(used < limit)}: less than {limit:.0f} MB")


def report_throughput(found: dict[str, Any], runs: list[dict[str, Any]]) -> None:
    """Print the throughput of a large fit relative to that of a fit in memory of 1e7 points."""
    ratio = large_page.relative_throughput(found, runs)
    if ratio is not None:
        least = large_page.LEAST_RATIO
        print(
            f"  {ratio:.2f} times the throughput in memory at {large_page.power(large_page.BASE)} "
            f"points; {verdict(ratio >= least)}: at least {least:.2f}"
        )


def verdict(holds: bool) -> str:
    """Return whether a limit is kept, as it is printed."""
    return "kept" if holds else "NOT kept"


def time_for_files(folder: Path, runs: Path) -> float:
    """Return the seconds to read the input, and to read and write the files of a run."""
    written = [path for path in runs.rglob("*") if path.is_file()]
    return seconds_for_files(folder.glob("points-*.parquet"), written, folder / "copy")


def cpu_seconds() -> float:
    """Return the CPU time of this process and of those that it has waited for."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def busy_seconds() -> float:
    """Return the CPU time that all programs of this machine have taken since it was started."""
    user, nice, system, _, _, *more = map(int, Path("/proc/stat").read_text().split()[1:9])
    return (user + nice + system + sum(more)) / os.sysconf("SC_CLK_TCK")


def compare(model: QuickShift, n: int, parameters: dict[str, Any]) -> dict[str, Any]:
    """Fit the same points in memory, and print the time and whether labels are equal."""
    files = range(-(-n // ROWS_PER_FILE))
    X = np.concatenate([drawn(i, min(ROWS_PER_FILE, n - i * ROWS_PER_FILE)) for i in files])
    begin, spent, busy = time.perf_counter(), cpu_seconds(), busy_seconds()
    labels = qs.QuickShift(**parameters).fit(X).labels_
    seconds, cpu = time.perf_counter() - begin, cpu_seconds() - spent
    others = (busy_seconds() - busy - cpu) / seconds
    equal = bool((labels == model.labels_).all())
    print(
        f"  in memory: {seconds:.1f} s, {cpu:.1f} s of CPU time, {others:.1f} cores used by other "
        f"programs, labels are equal: {equal}"
    )
    return {
        "seconds in memory": seconds,
        "cpu in memory": cpu,
        "others in memory": others,
        "equal": equal,
    }


class PeakMemory:
    """Samples the memory of this process and its children.

    Attributes, in bytes: ``start``, this process before; ``own``, its peak; ``other``, that of the
    largest other process; ``all``, that of all together.
    """

    def __init__(self) -> None:
        self.own = self.other = self.all = 0
        self.start = proportional_size(os.getpid())
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._stop.wait(0.25):
            sizes = {pid: proportional_size(pid) for pid in family(os.getpid())}
            own = sizes.pop(os.getpid())
            self.own = max(self.own, own)
            self.other = max([self.other, *sizes.values()])
            self.all = max(self.all, own + sum(sizes.values()))


def family(pid: int) -> list[int]:
    """Return a process and all its descendants."""
    found = [pid]
    for parent in found:
        for thread in Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                found.extend(int(child) for child in thread.read_text().split())
            except OSError:  # the process has ended
                continue
    return found


def proportional_size(pid: int) -> int:
    """Return the memory of a process, in which shared pages count in part; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))


if __name__ == "__main__":
    main()
