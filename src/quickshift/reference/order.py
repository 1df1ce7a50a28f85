"""The order of points by height, and what follows from it: parents, the graph G, trees, labels.

In this file the points of positive weight are sorted from the highest to the lowest, and indices
are positions in that order.
"""

import math
from dataclasses import dataclass

import numpy as np

from quickshift.reference.density import Kde
from quickshift.reference.kernels import INFINITE
from quickshift.reference.samples import Samples
from quickshift.reference.scaled_distances import Floats, Indices, ScaledDistances

__all__ = [
    "Ordered",
    "assign",
    "checked_bits",
    "climb",
    "cut",
    "put_in_order",
    "rounded",
    "trees",
]


def checked_bits(significant_bits: int | None, rtol: float, kde: Kde | None) -> int:
    """Return how many bits of a density are compared: the caller's number, or the default rule."""
    if not 0 <= rtol < 1:
        raise ValueError(f"rtol must lie in [0, 1), got {rtol!r}")
    bits = 36
    if kde is not None and kde.kernel in INFINITE and rtol > 0:
        bits = max(1, min(36, math.floor(-math.log2(4 * rtol))))
    if significant_bits is not None:
        bits = significant_bits
    if not 1 <= bits <= 53:
        raise ValueError(f"significant_bits must lie in 1..53, got {significant_bits!r}")
    return bits


def rounded(sums: Floats, bits: int) -> Floats:
    """Round to `bits` significant bits, half to even, on the IEEE bit pattern."""
    shift = 53 - bits
    if shift == 0:
        return sums
    u = sums.view(np.uint64)
    odd = (u >> np.uint64(shift)) & np.uint64(1)
    u = u + (np.uint64((1 << (shift - 1)) - 1) + odd)
    return (u & ~np.uint64((1 << shift) - 1)).view(np.float64)


@dataclass(frozen=True)
class Ordered:
    """Points of positive weight, the highest first."""

    rows: Indices  # (m,), their rows in X
    points: Floats  # (m, d)
    heights: Floats  # (m,), rounded densities
    scale: ScaledDistances
    strict: bool  # whether points of equal height are never higher than each other

    def higher(self, place: int) -> Indices:
        """Return the positions of all points higher than the given one, highest first."""
        if self.strict:
            return np.flatnonzero(self.heights > self.heights[place])
        return np.arange(place)


def put_in_order(samples: Samples, heights: Floats, *, strict: bool) -> Ordered:
    """Sort by height, then the lexicographically larger point, then the smaller index."""
    kept = samples.kept
    points = samples.points[kept]
    order = np.lexsort((kept, *-points.T[::-1], -heights[kept]))  # the last key counts first
    rows = kept[order]
    return Ordered(rows, points[order], heights[rows], samples.scale, strict)


def climb(ordered: Ordered) -> tuple[Indices, Floats]:
    """Return each point's parent (the point itself if none is higher) and the scaled distance."""
    distances_sq = ordered.scale.distances_sq(ordered.points, ordered.points)
    parent = np.arange(len(ordered.rows))  # Algorithm 1, line 2: no edges
    parent_sq = np.full(len(parent), np.inf)
    for i in range(len(parent)):  # line 3
        higher = ordered.higher(i)
        if higher.size > 0:  # line 4 without the bound tau, which `cut` applies
            # Line 5. The candidates are sorted, so the first minimum is the highest of them.
            parent[i] = higher[np.argmin(distances_sq[i, higher])]
            parent_sq[i] = distances_sq[i, parent[i]]
    return parent, np.sqrt(parent_sq)


def cut(parent: Indices, distance: Floats, tau: Floats) -> Indices:
    """Return G, with the bound of line 4: the parent if it is within tau, or the point itself.

    Each point has its own tau.
    """
    return np.where(distance <= tau, parent, np.arange(len(parent)))


def trees(graph: Indices) -> tuple[Indices, Indices]:
    """Return the number of each point's tree in G, and the roots, highest first."""
    roots = graph == np.arange(len(graph))
    top = graph
    while (top != graph[top]).any():
        top = graph[top]
    return (np.cumsum(roots) - 1)[top], np.flatnonzero(roots)


def assign(
    ordered: Ordered, labels: Indices, tau: Floats, queries: Floats, heights: Floats
) -> Indices:
    """Label (m, d) queries of given tau and rounded densities, by the rule of `predict`."""
    distances_sq = ordered.scale.distances_sq(queries, ordered.points)
    found = np.empty(len(queries), dtype=np.int64)
    for i, query in enumerate(queries):
        allowed = (ordered.points == query).all(axis=1)
        if not allowed.any():
            allowed = ordered.heights > heights[i]
            if not ordered.strict:
                larger = [point > query.tolist() for point in ordered.points.tolist()]
                allowed |= (ordered.heights == heights[i]) & larger
            allowed &= np.sqrt(distances_sq[i]) <= tau[i]
        if not allowed.any():
            allowed[:] = True
        choice = np.flatnonzero(allowed)  # sorted: the first minimum is the highest
        found[i] = labels[choice[np.argmin(distances_sq[i, choice])]]
    return found
