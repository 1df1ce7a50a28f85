"""The significance of modes by chance under local scale, from one matrix of distances.

With many features, a fit spends nearly all its time on distances, and it needs them again for
each scale. Here they are computed once for all scales. `calibrate.py` uses this for its cells with
many features and few enough samples; tests/test_chance.py compares it with the stages.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["largest_by_chance"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

ON_SEGMENT = np.arange(1, 8) / 8
REACHED = 8  # tau is the distance to this neighbor, given at least 64 samples


def largest_by_chance(X: Floats, neighbors: Sequence[int]) -> tuple[float, ...]:
    """Return the largest significance of the modes except the highest, for each K in `neighbors`.

    X has at least 64 rows, which differ, and no constant feature.
    """
    squares = squared_distances(X, X)
    np.fill_diagonal(squares, 0.0)
    most = max(*neighbors, REACHED)
    nearest = np.sort(np.partition(squares, most, axis=1)[:, : most + 1], axis=1)
    # Each row is within its own reach.
    links = np.nonzero(squares <= nearest[:, REACHED, None])
    distances = np.sqrt(nearest[:, 1:])
    return tuple(_largest(X, squares, links, distances[:, :k].mean(axis=1), k) for k in neighbors)


def squared_distances(a: Floats, b: Floats) -> Floats:
    """Return the squared distances between the rows of two arrays, with small rounding errors."""
    squares = a @ b.T
    squares *= -2.0
    squares += np.einsum("ij,ij->i", a, a)[:, None]
    squares += np.einsum("ij,ij->i", b, b)
    return np.maximum(squares, 0.0, out=squares)


def _largest(
    X: Floats, squares: Floats, links: tuple[Indices, Indices], r: Floats, k: int
) -> float:
    """Return the largest significance for one K, of which `r` are the mean distances."""
    errors = X.shape[1] * math.sqrt(k / 2)
    mode_of = _climb(squares, links, r)
    top = int(np.argmin(r))
    largest = 0.0
    for mode, saddle in _absorb(mode_of, links, r).items():
        if mode == top:
            continue
        lowest = saddle or _farthest_on_segment(X, squares[mode], r, mode, k)
        largest = max(largest, errors * math.log(max(lowest, r[mode]) / r[mode]))
    return largest


def _climb(squares: Floats, links: tuple[Indices, Indices], r: Floats) -> Indices:
    """Return the mode that each sample climbs to, by moves to the nearest higher linked sample."""
    source, target = links
    higher = r[target] < r[source]
    source, target = source[higher], target[higher]
    order = np.lexsort((squares[source, target], source))
    source, target = source[order], target[order]
    movers, first = np.unique(source, return_index=True)
    parent = np.arange(len(r))
    parent[movers] = target[first]
    while not np.array_equal(parent, parent[parent]):
        parent = parent[parent]
    return parent


def _absorb(mode_of: Indices, links: tuple[Indices, Indices], r: Floats) -> dict[int, float | None]:
    """Return the mean distance at the saddle where each mode is absorbed; None if it never is."""
    source, target = links
    across = mode_of[source] != mode_of[target]
    source, target = source[across], target[across]
    level = np.maximum(r[source], r[target])
    order = np.argsort(level, kind="stable")
    saddles: dict[int, float | None] = dict.fromkeys(np.unique(mode_of).tolist())
    component = {mode: mode for mode in saddles}

    def highest(mode: int) -> int:
        while component[mode] != mode:
            mode = component[mode]
        return mode

    for at, one, other in zip(
        level[order].tolist(),
        mode_of[source[order]].tolist(),
        mode_of[target[order]].tolist(),
        strict=True,
    ):
        a, b = highest(one), highest(other)
        if a != b:
            kept, absorbed = (a, b) if r[a] < r[b] else (b, a)
            component[absorbed] = kept
            saddles[absorbed] = at
    return saddles


def _farthest_on_segment(X: Floats, squares: Floats, r: Floats, mode: int, k: int) -> float:
    """Return the largest mean distance on the segment from a mode to its nearest higher sample."""
    parent = int(np.argmin(np.where(r < r[mode], squares, np.inf)))
    points = X[mode] + ON_SEGMENT[:, None] * (X[parent] - X[mode])
    nearest = np.partition(squared_distances(points, X), k - 1, axis=1)[:, :k]
    return float(np.sqrt(nearest).mean(axis=1).max())
