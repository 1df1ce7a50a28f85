"""Measure reliably on a noisy machine: alternating rounds, ratios, medians and quartiles.

This module does not depend on what is measured. A time alone says more about the machine than about
the code, so the things to compare run alternately, round by round, and the ratio is taken within
each round.
"""

from __future__ import annotations

import math
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Timer = Callable[[], float]


@dataclass(frozen=True)
class Spread:
    """Median and quartiles of some numbers."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        if self.low == self.high:
            return f"{self.median:.3g}"
        return f"{self.median:.3g} ({self.low:.3g} to {self.high:.3g})"


@dataclass(frozen=True)
class Bound:
    """The limit that a measured number should keep, and optionally a more ambitious aim."""

    limit: float
    aim: float | None = None
    at_least: bool = False

    def met(self, value: float) -> bool:
        """Return whether ``value`` keeps the limit."""
        return value >= self.limit if self.at_least else value <= self.limit

    def __str__(self) -> str:
        aim = "" if self.aim is None else f", aim {self.aim:g}"
        return f"{'≥' if self.at_least else '≤'} {self.limit:g}{aim}"


def spread(values: Sequence[float]) -> Spread:
    """Return the median and the quartiles; for a single value all three are equal to it."""
    if len(values) == 1:
        return Spread(values[0], values[0], values[0])
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return Spread(median, low, high)


def in_turn(timers: Sequence[Timer], *, repeats: int, limit: float) -> list[list[float]]:
    """Call the timers alternately, for ``repeats`` rounds or until ``limit`` seconds have passed.

    Returns
    -------
    list of list of float
        One list per timer, with the seconds of each round; never empty.
    """
    times: list[list[float]] = [[] for _ in timers]
    start = time.perf_counter()
    for _ in range(repeats):
        for timer, mine in zip(timers, times, strict=True):
            mine.append(timer())
        if time.perf_counter() - start > limit:
            break
    return times


def ratios(numerators: Sequence[float], denominators: Sequence[float]) -> Spread:
    """Return the spread of the ratios, each taken within one round."""
    return spread([a / b for a, b in zip(numerators, denominators, strict=True)])


def exponents(
    small: Sequence[float], large: Sequence[float], *, small_n: int, large_n: int
) -> Spread:
    """Return the spread of the exponent p of a time that grows as n to the power of p."""
    growth = math.log(large_n / small_n)
    return spread([math.log(b / a) / growth for a, b in zip(small, large, strict=True)])


def seconds_in_fresh_process(setup: str, run: str) -> float:
    """Time the Python source ``run`` in a fresh process, after the source ``setup``."""
    source = (
        f"import time\n{setup}\nstart = time.perf_counter()\n{run}\n"
        "print(time.perf_counter() - start)"
    )
    done = subprocess.run(
        [sys.executable, "-c", source], check=False, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return float(done.stdout.strip().splitlines()[-1])
