"""Timing that can be trusted on a noisy machine: rounds in turn, ratios, medians and quartiles.

Nothing here knows what is measured. A time alone says more about the machine than about the code,
so whatever is compared runs in turn, round by round, and the ratio is taken within each round.
"""

from __future__ import annotations

import gc
import math
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Job = Callable[[], object]


@dataclass(frozen=True)
class Spread:
    """Median and quartiles of some numbers."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.3g} ({self.low:.3g} to {self.high:.3g})"


def spread(values: Sequence[float]) -> Spread:
    """Return the median and the quartiles; one value is its own quartiles."""
    if len(values) == 1:
        return Spread(values[0], values[0], values[0])
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return Spread(median, low, high)


def seconds(job: Job) -> float:
    """Time one call of ``job``; what it returns is freed after the clock has stopped."""
    gc.collect()
    start = time.perf_counter()
    result = job()
    elapsed = time.perf_counter() - start
    del result
    return elapsed


def in_turn(jobs: Sequence[Job], *, repeats: int, limit: float = 90.0) -> list[list[float]]:
    """Time the jobs in turn, ``repeats`` rounds or until ``limit`` seconds are over.

    Returns
    -------
    list of list of float
        One list a job, with the seconds of each round; never empty.
    """
    times: list[list[float]] = [[] for _ in jobs]
    start = time.perf_counter()
    for _ in range(repeats):
        for job, mine in zip(jobs, times, strict=True):
            mine.append(seconds(job))
        if time.perf_counter() - start > limit:
            break
    return times


def ratios(numerators: Sequence[float], denominators: Sequence[float]) -> Spread:
    """Return the spread of the ratios within each round."""
    return spread([a / b for a, b in zip(numerators, denominators, strict=True)])


def exponents(
    small: Sequence[float], large: Sequence[float], *, small_n: int, large_n: int
) -> Spread:
    """Return the spread of p where time grows as n to the power of p."""
    growth = math.log(large_n / small_n)
    return spread([math.log(b / a) / growth for a, b in zip(small, large, strict=True)])


# A child's ru_maxrss starts at its parent's peak on Linux (exec keeps it), which would hide all
# that the child uses; the high-water mark of its own memory does not have that fault.
PEAK = """
def peak_bytes():
    import resource, sys
    try:
        with open("/proc/self/status") as status:
            return next(1024 * int(line.split()[1]) for line in status if "VmHWM" in line)
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else 1024 * peak
"""


def peak_bytes_of(setup: str, run: str) -> float:
    """Return by how many bytes ``run`` raises the peak of a fresh process after ``setup``.

    Both are Python source. ``setup`` should load data rather than make it: what it frees again
    would hide as much of what ``run`` uses.
    """
    return _number_printed_by(
        f"{PEAK}\n{setup}\nbefore = peak_bytes()\n{run}\nprint(peak_bytes() - before)"
    )


def import_seconds(module: str) -> float:
    """Return how long ``import module`` takes in a fresh process that has NumPy already."""
    return _number_printed_by(
        "import time, numpy\nstart = time.perf_counter()\n"
        f"import {module}\nprint(time.perf_counter() - start)"
    )


def _number_printed_by(source: str) -> float:
    done = subprocess.run(
        [sys.executable, "-c", source], check=False, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return float(done.stdout.strip().splitlines()[-1])
