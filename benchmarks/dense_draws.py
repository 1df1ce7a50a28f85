"""The significance of modes by chance under local scale, from the distances of all samples.

With many features, a fit spends nearly all its time on distances, and it needs them again for
each scale. Here they are computed once for all scales. `calibrate.py` uses this for its cells with
many features and few enough samples; tests/test_chance.py compares it with the stages.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["largest_by_chance"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

ON_SEGMENT = np.append(0.5 ** np.arange(10, 3, -1), np.arange(1, 8) / 8)
ROWS_AT_ONCE = 100  # so that their distances to all samples fit into the cache
REACHED = 8  # tau is the distance to this neighbor, given at least 64 samples


class Links(NamedTuple):
    """The pairs of samples of which the second is within the tau of the first."""

    source: Indices
    target: Indices
    square: Floats  # squared distance


def largest_by_chance(X: Floats, neighbors: Sequence[int]) -> tuple[float, ...]:
    """Return the largest significance of the modes except the highest, for each K in `neighbors`.

    X has at least 64 rows, which differ, and no constant feature.
    """
    distances, links = _surroundings(X, max(*neighbors, REACHED))
    return tuple(_largest(X, links, distances[:, :k].mean(axis=1), k) for k in neighbors)


def _surroundings(X: Floats, most: int) -> tuple[Floats, Links]:
    """Return the distances to the nearest samples, in rising order, and all links."""
    distances = np.empty((len(X), most))
    found = []
    for first in range(0, len(X), ROWS_AT_ONCE):
        rows = np.arange(first, min(first + ROWS_AT_ONCE, len(X)))
        squares = squared_distances(X[rows], X)
        squares[rows - first, rows] = 0.0
        nearest = np.sort(np.partition(squares, most, axis=1)[:, : most + 1], axis=1)
        distances[rows] = np.sqrt(nearest[:, 1:])
        source, target = np.nonzero(squares <= nearest[:, REACHED, None])
        found.append(Links(first + source, target, squares[source, target]))
    return distances, Links(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def squared_distances(a: Floats, b: Floats) -> Floats:
    """Return the squared distances between the rows of two arrays, with small rounding errors."""
    squares = a @ b.T
    squares *= -2.0
    squares += np.einsum("ij,ij->i", a, a)[:, None]
    squares += np.einsum("ij,ij->i", b, b)
    return np.maximum(squares, 0.0, out=squares)


def _largest(X: Floats, links: Links, r: Floats, k: int) -> float:
    """Return the largest significance for one K, of which `r` are the mean distances."""
    errors = X.shape[1] * math.sqrt(k / 2)
    mode_of = _climb(links, r)
    top = int(np.argmin(r))
    largest = 0.0
    for mode, saddle in _absorb(mode_of, links, r).items():
        if mode == top:
            continue
        lowest = saddle or _farthest_on_segment(X, r, mode, k)
        largest = max(largest, errors * math.log(max(lowest, r[mode]) / r[mode]))
    return largest


def _climb(links: Links, r: Floats) -> Indices:
    """Return the mode that each sample climbs to, by moves to the nearest higher linked sample."""
    higher = r[links.target] < r[links.source]
    source, target = links.source[higher], links.target[higher]
    order = np.lexsort((links.square[higher], source))
    source, target = source[order], target[order]
    movers, first = np.unique(source, return_index=True)
    parent = np.arange(len(r))
    parent[movers] = target[first]
    while not np.array_equal(parent, parent[parent]):
        parent = parent[parent]
    return parent


def _absorb(mode_of: Indices, links: tuple[Indices, Indices], r: Floats) -> dict[int, float | None]:
    """Return the mean distance at the saddle where each mode is absorbed; None if it never is."""
    across = mode_of[links.source] != mode_of[links.target]
    source, target = links.source[across], links.target[across]
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


def _farthest_on_segment(X: Floats, r: Floats, mode: int, k: int) -> float:
    """Return the largest mean distance on the segment from a mode to its nearest higher sample."""
    squares = squared_distances(X[mode : mode + 1], X)[0]
    parent = int(np.argmin(np.where(r < r[mode], squares, np.inf)))
    points = X[mode] + ON_SEGMENT[:, None] * (X[parent] - X[mode])
    nearest = np.partition(squared_distances(points, X), k - 1, axis=1)[:, :k]
    return float(np.sqrt(nearest).mean(axis=1).max())
