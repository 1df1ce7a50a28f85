"""Distances between sets of modes, and estimates with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RESAMPLES = 1000


def hausdorff(a: Floats, b: Floats) -> float:
    """Return the longest distance from a point of either set to the nearest point of the other.

    Examples
    --------
    >>> import numpy as np
    >>> hausdorff(np.array([[0.0], [1.0]]), np.array([[0.0], [1.5], [4.0]]))
    3.0
    """
    if not (len(a) and len(b)):
        return math.inf
    apart = np.linalg.norm(a[:, None] - b[None, :], axis=2)
    return float(max(apart.min(axis=0).max(), apart.min(axis=1).max()))


def slope(sizes: Sequence[float], samples: Sequence[Floats], seed: int = 0) -> Floats:
    """Return the slope of log median against log n, and the ends of its 95 % interval.

    ``samples[i]`` has the errors at ``sizes[i]``, one per draw. Least squares weights each size by
    its number of draws, to which the variance of a median is inversely proportional. The interval
    is the bootstrap's: draws are resampled within each size, and the line is fitted again.
    """
    rng = np.random.default_rng(seed)
    x = np.log(np.array(sizes, dtype=np.float64))
    weight = np.array([len(values) for values in samples], dtype=np.float64)
    away = x - np.average(x, weights=weight)
    line = weight * away / (weight * away**2).sum()

    def fit(some: list[Floats]) -> float:
        return float(line @ np.log([np.median(values) for values in some]))

    again = [fit([rng.choice(v, len(v)) for v in samples]) for _ in range(RESAMPLES)]
    return np.array([fit(list(samples)), *np.percentile(again, [2.5, 97.5])])


def median(values: Floats, seed: int = 0) -> Floats:
    """Return the median and the ends of its 95 % bootstrap interval."""
    rng = np.random.default_rng(seed)
    again = np.median(rng.choice(values, (RESAMPLES, len(values))), axis=1)
    return np.array([np.median(values), *np.percentile(again, [2.5, 97.5])])


def share(hits: float, runs: int) -> Floats:
    """Return a share and the ends of Wilson's 95 % interval for its probability.

    Examples
    --------
    >>> share(40, 40).round(3).tolist()
    [1.0, 0.912, 1.0]
    """
    z = 1.959963984540054
    p = hits / runs
    middle = (p + z * z / (2 * runs)) / (1 + z * z / runs)
    half = z / (1 + z * z / runs) * math.sqrt(p * (1 - p) / runs + z * z / (4 * runs * runs))
    return np.array([p, max(0.0, middle - half), min(1.0, middle + half)])
