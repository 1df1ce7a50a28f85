"""The significance of modes by chance, from the distances of all samples.

With many features, a fit spends nearly all its time on distances, and it needs them again for
each stage and each scale. Here they are computed once. `calibrate.py` uses this for its cells with
many features and few enough samples; tests/test_chance.py compares it with the stages.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickshift import stages
from quickshift.bandwidth import neighbour_floor, rule_bandwidth, tau_rule
from quickshift.kernels import get_kernel
from quickshift.stages.rules import spread_of
from quickshift.stages.tree.significance import standard_errors

__all__ = ["largest_of_bandwidth", "largest_of_scales"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

ON_SEGMENT = np.append(0.5 ** np.arange(10, 3, -1), np.arange(1, 8) / 8)
ROWS_AT_ONCE = 100  # so that their distances to all samples fit into the cache
ROUNDING = 1e-9  # relative; sums that differ by less are equal
REACHED = 8  # tau is the distance to this neighbor, given at least 64 samples


class Links(NamedTuple):
    """The pairs of samples of which the second is within the tau of the first."""

    source: Indices
    target: Indices
    square: Floats  # squared distance


# Local scale


def largest_of_scales(X: Floats, neighbors: Sequence[int]) -> tuple[float, ...]:
    """Return the largest significance of the modes except the highest, for each K in `neighbors`.

    X has at least 64 rows, which differ, and no constant feature.
    """
    distances, links = _surroundings(X, max(*neighbors, REACHED))
    return tuple(_largest(X, links, distances[:, :k].mean(axis=1), k) for k in neighbors)


def _surroundings(X: Floats, most: int) -> tuple[Floats, Links]:
    """Return the distances to the nearest samples, in rising order, and all links."""
    distances = np.empty((len(X), most))
    squares_of_all = squared_distances(X, X)  # of one array with itself takes half the time
    np.fill_diagonal(squares_of_all, 0.0)
    found = []
    for rows in _blocks(len(X)):
        squares = squares_of_all[rows]
        nearest = np.sort(np.partition(squares, most, axis=1)[:, : most + 1], axis=1)
        distances[rows] = np.sqrt(nearest[:, 1:])
        source, target = np.nonzero(squares <= nearest[:, REACHED, None])
        found.append(Links(rows.start + source, target, squares[source, target]))
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
    return _last(parent)


def _last(parent: Indices) -> Indices:
    """Return the end of the path of parents that begins at each sample."""
    while not np.array_equal(parent, parent[parent]):
        parent = parent[parent]
    return parent


def _absorb(mode_of: Indices, links: Links, r: Floats) -> dict[int, float | None]:
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


# One bandwidth


def largest_of_bandwidth(X: Floats) -> float:
    """Return the largest significance of the modes except the highest, with `bandwidth="auto"`.

    The rows of X differ, and they have so many features that the rule takes the distances between
    neighbors into account.
    """
    samples = stages.prepare(X, n_jobs=1)
    squares = squared_distances(X, X)
    np.fill_diagonal(squares, np.inf)
    nearest = np.sqrt(squares.min(axis=1))
    np.fill_diagonal(squares, 0.0)
    estimate = stages.fit_estimate(samples, _bandwidth(samples, nearest), n_jobs=1)
    sums = _sums(squares, estimate.bandwidth)
    tau_sq = tau_rule(estimate.bandwidth, nearest, np.ones(len(X))) ** 2
    parent, square = _parents(squares, sums)
    # Tau may be the distance of two samples, and rounding must not decide on which side it is.
    stays = square > tau_sq * (1 + ROUNDING)
    mode_of = _last(np.where(stays, np.arange(len(X)), parent))
    links = _links_across(squares, mode_of, tau_sq * (1 - ROUNDING))
    saddles = _absorb(mode_of, links, -sums)
    del saddles[int(np.argmax(sums))]
    birth = sums[list(saddles)]
    death = np.array(
        [
            _lowest_on_segment(X, estimate.bandwidth, mode, parent[mode], sums[mode])
            if level is None
            else -level
            for mode, level in saddles.items()
        ]
    )
    return float(standard_errors(birth, death, estimate).max(initial=0.0))


def _bandwidth(samples: stages.Samples, nearest: Floats) -> float:
    """Return the bandwidth "auto"."""
    h = rule_bandwidth(
        "auto",
        spread=spread_of(samples),
        total_weight=samples.total_weight,
        n_features=samples.n_features,
        kernel=get_kernel("gaussian"),
    )
    return max(h, neighbour_floor(nearest, np.ones(len(nearest))))


def _lowest_on_segment(X: Floats, h: float, mode: int, parent: int, birth: float) -> float:
    """Return the level with which a mode that meets no other is compared."""
    points = X[mode] + ON_SEGMENT[:, None] * (X[parent] - X[mode])
    lowest = float(_sums(squared_distances(points, X), h).min())
    drops = lowest * (1 + ROUNDING) < birth - 1.0  # without the contribution of the mode itself
    return max(lowest, 1.0) if drops else birth


def _blocks(rows: int) -> Iterator[slice]:
    return (slice(first, first + ROWS_AT_ONCE) for first in range(0, rows, ROWS_AT_ONCE))


def _sums(squares: Floats, h: float) -> Floats:
    """Return the sums of Gaussian profiles of each row of squared distances."""
    parts = [np.exp(squares[rows] / (-2.0 * h * h)).sum(axis=1) for rows in _blocks(len(squares))]
    return np.concatenate(parts)


def _parents(squares: Floats, sums: Floats) -> tuple[Indices, Floats]:
    """Return the nearest higher sample of each sample, and its squared distance."""
    parent = np.empty(len(sums), dtype=np.intp)
    square = np.empty(len(sums))
    for rows in _blocks(len(sums)):
        higher = np.where(sums > sums[rows, None], squares[rows], np.inf)
        parent[rows] = higher.argmin(axis=1)
        square[rows] = higher.min(axis=1)
    return parent, square


def _links_across(squares: Floats, mode_of: Indices, tau_sq: float) -> Links:
    """Return the pairs of samples of different modes that are nearer to each other than tau."""
    found = []
    for rows in _blocks(len(mode_of)):
        across = (squares[rows] < tau_sq) & (mode_of != mode_of[rows, None])
        source, target = np.nonzero(across)
        found.append(Links(rows.start + source, target, squares[rows][source, target]))
    return Links(*(np.concatenate(parts) for parts in zip(*found, strict=True)))
