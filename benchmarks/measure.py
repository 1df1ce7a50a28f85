"""Numbers that can be trusted on a noisy machine: rounds in turn, ratios, medians and quartiles.

Nothing here knows what is measured. A time alone says more about the machine than about the code,
so whatever is compared runs in turn, round by round, and the ratio is taken within each round.
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
    """What a number should keep to, and better still if it can."""

    limit: float
    aim: float | None = None
    at_least: bool = False

    def met(self, value: float) -> bool:
        """Say whether ``value`` keeps to the limit."""
        return value >= self.limit if self.at_least else value <= self.limit

    def __str__(self) -> str:
        aim = "" if self.aim is None else f", aim {self.aim:g}"
        return f"{'≥' if self.at_least else '≤'} {self.limit:g}{aim}"


def spread(values: Sequence[float]) -> Spread:
    """Return the median and the quartiles; one value is its own quartiles."""
    if len(values) == 1:
        return Spread(values[0], values[0], values[0])
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return Spread(median, low, high)


def in_turn(timers: Sequence[Timer], *, repeats: int, limit: float) -> list[list[float]]:
    """Ask the timers in turn, ``repeats`` rounds or until ``limit`` seconds are over.

    Returns
    -------
    list of list of float
        One list a timer, with the seconds of each round; never empty.
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
    """Return the spread of the ratios within each round."""
    return spread([a / b for a, b in zip(numerators, denominators, strict=True)])


def exponents(
    small: Sequence[float], large: Sequence[float], *, small_n: int, large_n: int
) -> Spread:
    """Return the spread of p where time grows as n to the power of p."""
    growth = math.log(large_n / small_n)
    return spread([math.log(b / a) / growth for a, b in zip(small, large, strict=True)])


def seconds_in_fresh_process(setup: str, run: str) -> float:
    """Return how long ``run`` takes in a fresh process after ``setup``; both are Python source."""
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
