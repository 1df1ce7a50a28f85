"""Modes under the local scale: where they meet, how significant they are, which of them stay.

Modes, like the trees of which they are the roots, are numbered from the highest to the lowest, and
all other indices are positions in the order of points.
"""

import math
from typing import NamedTuple

import numpy as np

from quickshift.reference.local_density import Locations
from quickshift.reference.scaled_distances import Flags, Floats, Indices, wrapped
from quickshift.reference.settings import Prepared

__all__ = ["Modes", "find_modes", "keep_most", "keep_significant", "merge"]


class Modes(NamedTuple):
    """The modes, all arrays of shape (k,)."""

    roots: Indices  # positions of the modes
    towards: Indices  # the higher mode that takes over the tree of a mode that goes; -1 for none
    significance: Floats  # Z


def find_modes(
    run: Prepared, locations: Locations, up: Indices, trees: tuple[Indices, Indices], K: int
) -> Modes:
    """Return the modes of a forest with their significance.

    A mode is absorbed at the highest saddle that connects it with a higher mode, and then
    Z = d √(K/2) log(r(saddle) / r(mode)). A mode that no other absorbs is compared with the lowest
    density at fourteen points on the straight segment to its parent. If it has no parent, Z is inf.

    Parameters
    ----------
    run : Prepared
        The points, with -r as density.
    locations : Locations
        The distinct rows.
    up : (m,) int array
        The parents before the cut.
    trees : (m,) int array, (k,) int array
        The number of each point's tree, and the roots.
    K : int
        The number of neighbors.
    """
    tree_of, roots = trees
    r = -run.density[run.ordered.rows]
    absorbed_at, towards = _absorb(run, r, tree_of, len(roots))
    significance = np.full(len(roots), np.inf)
    for mode, root in enumerate(roots):
        saddle = absorbed_at[mode]
        if towards[mode] < 0 and up[root] != root:  # the mode meets no higher one
            towards[mode] = tree_of[up[root]]
            saddle = locations.local_scale(_way(run, root, up[root]), K).r.max()
        if towards[mode] >= 0:
            # The comparison of rounded r may have chosen a mode whose r exceeds that of its saddle
            # in the last bits.
            drop = math.log(max(float(saddle), float(r[root])) / float(r[root]))
            significance[mode] = locations.dimension * math.sqrt(K / 2) * drop
    return Modes(roots, towards, significance)


def _absorb(run: Prepared, r: Floats, tree_of: Indices, k: int) -> tuple[Floats, Indices]:
    """Return r at the saddle where each mode is absorbed, and the mode on the other side of it.

    A saddle is a pair of points of different trees that Link joins. Its density is that of the
    lower point, so its r is the larger one. Going through all saddles from the highest to the
    lowest, two components that a saddle joins become one, whose mode is the higher of the two
    modes; the lower one is absorbed. If the tree on the other side of the saddle is lower than the
    absorbed mode, it has itself been absorbed earlier, and its own way up is followed.

    Saddles of the same density are common, because a point may be near several trees, all of them
    higher. Among them the shortest pair counts first: the saddle's lower point moves to its nearest
    higher neighbor, as in Algorithm 1. Among equally short ones, the pair of the higher trees does.
    """
    points = run.ordered.points
    distance_sq = run.ordered.scale.distances_sq(points, points)
    pairs = np.argwhere(np.triu(run.near() & (tree_of[:, None] != tree_of[None, :])))
    saddles = sorted(
        (max(r[i], r[j]), distance_sq[i, j], *sorted((tree_of[i], tree_of[j]))) for i, j in pairs
    )
    absorbed_at, towards = np.full(k, np.inf), np.full(k, -1)
    mode_of = np.arange(k)  # by tree: the highest mode of its component
    for level, _, a, b in saddles:
        if mode_of[a] == mode_of[b]:
            continue
        # The lower of the two modes, and the tree on the other side of the saddle.
        absorbed, across = max((mode_of[a], b), (mode_of[b], a))
        mode_of[mode_of == absorbed] = mode_of[across]
        while across > absorbed:
            across = towards[across]
        absorbed_at[absorbed], towards[absorbed] = level, across
    return absorbed_at, towards


def _way(run: Prepared, start: int, end: int) -> Floats:
    """Return points between two points, along the nearest image: the eighths and 2^-4 to 2^-10."""
    points, period = run.ordered.points, run.samples.period
    delta = points[end] - points[start]
    for feature, p in enumerate(period):
        if np.isfinite(p):
            delta[feature] -= p * np.rint(delta[feature] / p)
    shares = np.append(0.5 ** np.arange(10, 3, -1), np.arange(1, 8) / 8)
    return wrapped(points[start] + delta * shares[:, None], period)


def keep_significant(modes: Modes, least: float, gap: bool) -> Flags:
    """Flag the modes that chance does not explain and, with `gap`, that come before a gap.

    Without `gap`, the modes with Z >= Z0 = `least` stay. With it, let Z_1, Z_2, ... be the finite
    significances in falling order, and q_j = Z_j / max(Z_j+1 or 0, Z0 / 4). If Z_1 < Z0, none of
    them stays. Otherwise Z_1 to Z_j stay, for a j with Z_j >= 0.8 Z0 and Z_j+1 < 2 Z0: the last
    one with q_j >= 1.5 if Z_j >= Z0, or q_j >= 2 if Z_j is smaller. If there is no such j, the one
    of the largest q_j among those with j >= m / 4, where m is the number of modes with Z >= Z0 or,
    if that q_j is below 1.1, j = m. Modes of infinite Z stay in any case.
    """
    Z = modes.significance
    kept = np.isinf(Z)
    falling = [mode for mode in _falling(modes) if np.isfinite(Z[mode])]
    if not gap:
        kept[[mode for mode in falling if Z[mode] >= least]] = True
        return kept
    if not falling or Z[falling[0]] < least:
        return kept
    ends, widest, best = [], 0.0, 0
    m = sum(1 for mode in falling if Z[mode] >= least)
    for j, mode in enumerate(falling):
        following = float(Z[falling[j + 1]]) if j + 1 < len(falling) else 0.0
        ratio = float(Z[mode]) / max(following, least / 4)
        if Z[mode] < 0.8 * least or following >= 2 * least:
            continue
        if ratio > widest and j + 1 >= m / 4:
            widest, best = ratio, j
        if ratio >= (1.5 if Z[mode] >= least else 2.0):
            ends.append(j)
    if not ends and widest < 1.1:
        kept[falling[:m]] = True
        return kept
    kept[falling[: (ends[-1] if ends else best) + 1]] = True
    return kept


def keep_most(modes: Modes, n_clusters: int) -> Flags:
    """Flag the most significant modes; of equally significant ones, the higher."""
    unconnected = int((modes.towards < 0).sum())
    if n_clusters < unconnected:
        raise ValueError(f"n_clusters must be at least {unconnected}, got {n_clusters!r}")
    kept = np.zeros(len(modes.roots), dtype=bool)
    kept[_falling(modes)[:n_clusters]] = True
    return kept


def _falling(modes: Modes) -> list[int]:
    """Sort the modes by falling significance; of equally significant ones, the higher is first."""
    Z = modes.significance.tolist()
    return sorted(range(len(Z)), key=lambda mode: -Z[mode])


def merge(modes: Modes, kept: Flags) -> Indices:
    """Return the final label of each tree: that of the next kept mode on its way upwards."""
    label = np.cumsum(kept) - 1
    for mode in np.flatnonzero(~kept):  # `towards` is higher, so it has its final label already
        label[mode] = label[modes.towards[mode]]
    return label
