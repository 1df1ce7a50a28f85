"""Fit data larger than memory over partitions, and print time, throughput and memory.

    python benchmarks/large.py                     1e8 points, hours, 20 GB of disk
    python benchmarks/large.py --points 1e7        minutes, and compared with a fit in memory
    python benchmarks/large.py --kind default      only the default in place of both kinds

The points are twenty Gaussian clusters in the plane, in Parquet files. One fit has an Epanechnikov
kernel whose bandwidth holds about 500 neighbors; the other one is the default. The memory is the
proportional set size of all processes together, sampled four times per second.
"""

from __future__ import annotations

import argparse
import os
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import quickshift as qs
from quickshift.distributed import QuickShift

CENTERS = np.random.default_rng(0).uniform(0, 100, (20, 2))
WIDTH = 2.0
ROWS_PER_FILE = 1_000_000
NEIGHBORS = 500
MOST_IN_MEMORY = 20_000_000  # with more points, there is no fit in memory to compare with


def main() -> None:
    """Write points, and measure the fits that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=float, default=1e8)
    parser.add_argument("--memory", type=float, default=4e9, help="bytes for all processes")
    parser.add_argument("--kind", choices=["kernel", "default", "both"], default="both")
    parser.add_argument("--folder", type=Path, help="for all files; a temporary one if not given")
    given = parser.parse_args()
    n = int(given.points)
    area = 4 * np.pi * WIDTH**2 * len(CENTERS)  # in which the points would be evenly spread
    h = float(np.sqrt(NEIGHBORS / (n / area) / np.pi))
    kinds: dict[str, dict[str, Any]] = {
        "kernel": {"bandwidth": h, "tau": h, "kernel": "epanechnikov"},
        "default": {},
    }
    with TemporaryDirectory(dir=given.folder) as folder:
        write_points(Path(folder), n)
        for kind, parameters in kinds.items():
            if given.kind in (kind, "both"):
                measure(kind, Path(folder), n, given.memory, parameters)


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


def measure(kind: str, folder: Path, n: int, memory: float, parameters: dict[str, Any]) -> None:
    """Fit over partitions and, if there are not too many points, in memory; print both."""
    seconds_by_pass: dict[str, float] = {}
    last = time.perf_counter()

    def progress(name: str, _: float) -> None:
        nonlocal last
        now = time.perf_counter()
        seconds_by_pass[name] = seconds_by_pass.get(name, 0.0) + now - last
        last = now

    begin = time.perf_counter()
    with PeakMemory() as peak:
        model = QuickShift(
            memory_limit=memory, directory=folder / "runs", progress=progress, **parameters
        )
        model.fit(str(folder / "points-*.parquet"))
    seconds = time.perf_counter() - begin
    print(
        f"{kind}: {n} points, {model.n_partitions_} partitions, {model.n_clusters_} clusters, "
        f"{seconds:.1f} s, {n / seconds:.0f} points/s, client {peak.own / 1e6:.0f} MB, all "
        f"processes {peak.all / 1e6:.0f} MB"
    )
    print("  " + ", ".join(f"{name} {spent:.1f} s" for name, spent in seconds_by_pass.items()))
    if n <= MOST_IN_MEMORY:
        compare(model, n, parameters)


def compare(model: QuickShift, n: int, parameters: dict[str, Any]) -> None:
    """Fit the same points in memory, and print the time and whether labels are equal."""
    files = range(-(-n // ROWS_PER_FILE))
    X = np.concatenate([drawn(i, min(ROWS_PER_FILE, n - i * ROWS_PER_FILE)) for i in files])
    begin = time.perf_counter()
    labels = qs.QuickShift(**parameters).fit(X).labels_
    seconds = time.perf_counter() - begin
    equal = bool((labels == model.labels_).all())
    print(f"  in memory: {seconds:.1f} s, {n / seconds:.0f} points/s, labels are equal: {equal}")


class PeakMemory:
    """Samples the memory of this process and its children; attributes own and all, in bytes."""

    def __init__(self) -> None:
        self.own = self.all = 0
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
            self.own = max(self.own, sizes[os.getpid()])
            self.all = max(self.all, sum(sizes.values()))


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
