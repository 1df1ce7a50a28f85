"""Quantiles of columns that are in many parts, of which only few values reach the client.

::

    columns --sample--> edges --weights in bins--> brackets --values in brackets--> quantiles

A quantile is between two order statistics. Each of them is in one bin of a histogram of the
weights. The first bins are between values of a sample; a bin that holds too many values is divided
again, until few are left or all that are left are equal.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from quickshift.arrays import Floats
from quickshift.bandwidth import weighted_quantile
from quickshift.distributed.plan.passes import Passes
from quickshift.distributed.tasks.statistics import (
    Column,
    some_values,
    sums_in_bins,
    values_between,
)

__all__ = ["quantiles"]

_SAMPLED = 1 << 18  # values of the sample, of all columns together
_SUMMED = 1 << 21  # bins, of all columns together
_BINS = 4096  # most bins of a column
_FEWEST_BINS = 16
_COLLECTED = 1 << 16  # most values of a bracket that are collected
_LARGEST = float(np.finfo(np.float64).max)


def quantiles(passes: Passes, columns: Sequence[Column], shares: Sequence[float]) -> list[float]:
    """Return weighted quantiles, those of `weighted_quantile`: to the bit, if weights are whole.

    Parameters
    ----------
    passes : Passes
        Runs the tasks.
    columns : sequence of Column
        The parts of the column.
    shares : sequence of float
        Between 0 and 1.

    Returns
    -------
    list of float
    """
    most = max(_SAMPLED // len(columns), 1)
    found = passes.run("sample", some_values, [(column, most) for column in columns])
    total = math.fsum(weight for _, weight in found)
    sample = np.sort(np.concatenate([values for values, _ in found]))
    whole = _Bracket(-_LARGEST, _LARGEST, sample.size)
    ranks = [math.floor(max(q * (total - 1.0), 0.0)) for q in shares]
    wanted = sorted({rank + more for rank in ranks for more in (0, 1)})
    n_bins = min(max(_SUMMED // len(columns), _FEWEST_BINS), _BINS)
    places = np.linspace(0, sample.size - 1, min(n_bins, sample.size)).astype(np.int64)
    edges = np.unique(sample[places])
    brackets = _narrowed(passes, columns, edges, dict.fromkeys(wanted, whole))
    while wide := {rank: each for rank, each in brackets.items() if each.is_wide}:
        edges = np.unique([_divided(each, n_bins) for each in wide.values()])
        brackets |= _narrowed(passes, columns, edges, wide)
    value = _values(passes, columns, brackets)
    return [
        weighted_quantile(
            np.array([value[rank], value[rank + 1]]),
            np.array([rank + 1.0, max(total - rank - 1.0, 0.0)]),
            q,
        )
        for q, rank in zip(shares, ranks, strict=True)
    ]


@dataclass(frozen=True)
class _Bracket:
    """An interval, including both ends, that contains an order statistic.

    Attributes
    ----------
    low, high : float
        The ends.
    count : int
        Number of rows whose values are in the interval.
    """

    low: float
    high: float
    count: int

    @property
    def is_wide(self) -> bool:
        """Whether the interval has to be divided before its values are collected."""
        return self.count > _COLLECTED and self.low < self.high


def _narrowed(
    passes: Passes, columns: Sequence[Column], edges: Floats, brackets: dict[int, _Bracket]
) -> dict[int, _Bracket]:
    """Return the bin that contains each order statistic; their keys are ranks."""
    parts = passes.run("bins", sums_in_bins, [(column, edges) for column in columns])
    counts, weights = np.sum(parts, axis=0)
    reached = np.cumsum(weights)
    full = np.flatnonzero(counts)
    with np.errstate(over="ignore"):  # below the smallest float
        ends = np.nextafter(np.append(edges, np.inf), -np.inf)
    starts = np.append(-_LARGEST, edges)
    found = {}
    for rank, outer in brackets.items():
        # Sums of weights that are not whole numbers depend on the bins in their last digits, so a
        # rank might be just outside the interval that it was in before.
        within = full[(starts[full] >= outer.low) & (ends[full] <= outer.high)]
        bin_ = within[_first_above(reached[within], rank)]
        found[rank] = _Bracket(float(starts[bin_]), float(ends[bin_]), int(counts[bin_]))
    return found


def _first_above(reached: Floats, rank: int) -> int:
    """Return the index of the first sum that is larger than a rank, or the last index."""
    return min(int(np.searchsorted(reached, rank, side="right")), reached.size - 1)


def _divided(bracket: _Bracket, n_bins: int) -> Floats:
    """Return the edges of bins that divide a bracket.

    Floats are divided by their bits, so that every division has the same effect, however much the
    ends differ in size.
    """
    first, last = _ordered(bracket.low), _ordered(bracket.high)
    inner = (first + (last - first) * i // n_bins for i in range(n_bins + 1))
    return _floats([*inner, last + 1])


def _ordered(value: float) -> int:
    """Return a whole number for each float, such that larger floats have larger numbers."""
    magnitude = int(np.abs(np.float64(value)).view(np.int64))
    return -magnitude if value < 0 else magnitude


def _floats(numbers: Iterable[int]) -> Floats:
    """Return the floats of whole numbers from `_ordered`."""
    whole = np.array(list(numbers), dtype=np.int64)
    return np.copysign(np.abs(whole).view(np.float64), whole)


def _values(
    passes: Passes, columns: Sequence[Column], brackets: dict[int, _Bracket]
) -> dict[int, float]:
    """Return the order statistics, from all values in their brackets."""
    bounds = sorted({(each.low, each.high) for each in brackets.values() if each.low < each.high})
    parts = []
    if bounds:
        parts = passes.run("quantile", values_between, [(column, bounds) for column in columns])
    by_bounds = {each: [part[i] for part in parts] for i, each in enumerate(bounds)}
    found = {}
    for rank, each in brackets.items():
        found[rank] = each.low
        if each.low < each.high:
            some = by_bounds[each.low, each.high]
            values = np.concatenate([part.values for part in some])
            weights = np.concatenate([part.weights for part in some])
            order = np.argsort(values, kind="stable")
            reached = math.fsum(part.below for part in some) + np.cumsum(weights[order])
            found[rank] = float(values[order[_first_above(reached, rank)]])
    return found
