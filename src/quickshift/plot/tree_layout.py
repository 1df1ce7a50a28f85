"""Where the branches of a cluster tree are drawn.

A branch is a component of the level sets between two merges. Its width at a level is the number of
its samples above that level, and the branches that meet in a merge stand side by side on the branch
below. Nothing here recurses, so trees may be as deep as they like.
"""

from dataclasses import dataclass

import numpy as np

from quickshift.arrays import Floats, Indices
from quickshift.plot.fitted import log10_levels
from quickshift.stages.tree.cluster_tree import ClusterTree
from quickshift.stages.tree.merges import joined_leaves

__all__ = ["Branches", "branches_of", "outlines", "place"]

_MOST_LEVELS = 40  # points on each side of the outline of a branch


@dataclass(frozen=True)
class Branches:
    """The branches of a tree; the first ones are the leaves, in their order.

    Attributes
    ----------
    above : ndarray of shape (n_branches, 2), int64
        The two branches that merge into each branch; -1 for leaves.
    below : ndarray of shape (n_branches,), int64
        The branch that each branch merges into; -1 for the last ones.
    top, bottom : ndarray of shape (n_branches,)
        Decimal logarithm of the levels at which each branch begins and ends; ``bottom`` of the last
        ones is minus infinity.
    """

    above: Indices
    below: Indices
    top: Floats
    bottom: Floats


def branches_of(tree: ClusterTree) -> Branches:
    """Return the branches of a tree."""
    n_leaves, n_merges = len(tree), len(tree.merges)
    count = n_leaves + n_merges
    levels = log10_levels(tree, tree.merges[:, 2])
    above, below = np.full((count, 2), -1), np.full(count, -1)
    top = np.concatenate([log10_levels(tree, tree.births), levels])
    bottom = np.full(count, -np.inf)
    newest = list(range(n_leaves))  # the lowest branch of the component that each leaf leads
    for i, (survivor, absorbed) in enumerate(joined_leaves(tree.merges).tolist()):
        branch, pair = n_leaves + i, [newest[survivor], newest[absorbed]]
        above[branch], below[pair], bottom[pair] = pair, branch, levels[i]
        newest[survivor] = branch
    return Branches(above, below, top, bottom)


def branch_of_samples(branches: Branches, leaves: Indices, log10: Floats) -> Indices:
    """Return the branch that each sample lies in, from its leaf and its density."""
    found = np.empty(leaves.size, dtype=np.int64)
    order = np.argsort(leaves, kind="stable")
    ends = np.cumsum(np.bincount(leaves, minlength=1)).tolist()
    for leaf, (first, last) in enumerate(zip([0, *ends], ends, strict=False)):
        path = [leaf]
        while branches.below[path[-1]] >= 0:
            path.append(branches.below[path[-1]])
        rows = order[first:last]
        # A sample is in the first branch of the path that ends below its density.
        step = np.searchsorted(-branches.bottom[path], -log10[rows], side="right")
        found[rows] = np.array(path)[np.minimum(step, len(path) - 1)]
    return found


def outlines(
    branches: Branches, leaves: Indices, log10: Floats, weights: Floats, floor: float
) -> tuple[list[Floats], list[Floats]]:
    """Return the levels of the outline of each branch from top to bottom, and its widths there."""
    drawn = log10 > floor
    log10, weights = log10[drawn], weights[drawn]
    branch = branch_of_samples(branches, leaves[drawn], log10)
    order = np.lexsort((-log10, branch))
    log10, cumulative = log10[order], np.concatenate([[0.0], np.cumsum(weights[order])])
    ends = np.cumsum(np.bincount(branch, minlength=branches.top.size))
    starts = np.concatenate([[0], ends[:-1]])
    levels, widths = [], []
    base = np.zeros(branches.top.size)  # width of each branch at its bottom
    for i, (first, last) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        above = branches.above[i]
        carried = base[above].sum() if above[0] >= 0 else 0.0
        steps = np.linspace(first, last, min(last - first, _MOST_LEVELS) + 1)
        inner = np.unique(steps[1:].astype(np.int64))
        width = carried + cumulative[inner] - cumulative[first]
        base[i] = carried + cumulative[last] - cumulative[first]
        bottom = max(branches.bottom[i], floor)
        levels.append(np.concatenate([[branches.top[i]], log10[inner - 1], [bottom]]))
        widths.append(np.concatenate([[carried], width, [base[i]]]))
    return levels, widths


def place(branches: Branches, widths: list[Floats]) -> Floats:
    """Return the center of each branch, so that no two overlap; the highest mode is on the left."""
    base = np.array([width[-1] for width in widths])
    leader = np.arange(base.size)  # the highest leaf of each branch
    for i in np.flatnonzero(branches.above[:, 0] >= 0).tolist():
        leader[i] = leader[branches.above[i]].min()
    last = np.flatnonzero(branches.below < 0)
    last = last[np.argsort(leader[last])]
    center = np.zeros(base.size)
    center[last] = np.cumsum(base[last]) - base[last] / 2
    for i in range(base.size - 1, -1, -1):  # a branch has a larger number than those above it
        left, right = branches.above[i]
        if left >= 0:
            start = center[i] - (base[left] + base[right]) / 2
            center[left] = start + base[left] / 2
            center[right] = start + base[left] + base[right] / 2
    return center
