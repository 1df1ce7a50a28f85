"""Which modes are real: how far each stands out beside the error of the estimate."""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from quickshift.stages.checks import check_count
from quickshift.stages.cluster_tree import ClusterTree
from quickshift.stages.density import Estimate
from quickshift.stages.forest import too_few
from quickshift.stages.parent_graph import ParentGraph
from quickshift.stages.samples import Samples
from quickshift.stages.tree_merges import joined_leaves
from quickshift.stages.tree_pruning import contract

__all__ = ["assess", "keep_most_significant", "keep_significant"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

# Where the way from a lone mode to the next higher sample is looked at, as shares of its length.
_ON_THE_WAY = np.arange(1, 8) / 8
_BLOCK = 1 << 16  # ways looked at together
_LONE_POINT = 1.0  # sum of profiles at a point that has no neighbour
_NEGLIGIBLE = 0.5  # standard errors; ratios to less say nothing


def assess(tree: ClusterTree, estimate: Estimate, graph: ParentGraph) -> ClusterTree:
    """Say how many standard errors each leaf stands out by.

    The logarithm of the estimate at x has about the variance v(x) = ∫K² / (W hᵈ f(x)). A leaf of
    height b that is absorbed at the level s has the significance log(b/s) / √(v(b) + v(s)). A leaf
    that meets no other is judged against the sample above it: s is the lowest density on the
    straight way there, but no less than that of a point without neighbours, or else every outlier
    would be infinitely significant. The highest leaf's is infinite.

    Parameters
    ----------
    tree : ClusterTree
        From `link`, with the densities of the estimate.
    estimate : Estimate
        What the densities come from.
    graph : ParentGraph
        From `climb`.

    Returns
    -------
    ClusterTree
        The same tree with its `significance`.

    Examples
    --------
    >>> from quickshift.stages import climb, cut, fit_estimate, link, prepare
    >>> estimate = fit_estimate(prepare([[0.0], [0.1], [0.2], [1.0], [1.1]]), 0.2)
    >>> density = estimate.density(estimate.sums())
    >>> graph = climb(estimate.samples, density)
    >>> tree = link(estimate.samples, density, cut(graph, 0.5), 0.5)
    >>> assess(tree, estimate, graph).significance.round(2)
    array([ inf, 0.61])
    """
    to_sums = math.exp(tree.log_unit - estimate.log_constant)
    birth, death = to_sums * tree.persistence().T
    alone = np.ones(birth.size, dtype=bool)
    alone[joined_leaves(tree.merges)[:, 1]] = False
    rows = tree.leaf_indices
    top = alone & (graph.parent[rows] == rows)
    alone &= ~top
    death[alone] = np.maximum(_lowest_on_the_way(estimate, graph, rows[alone]), _LONE_POINT)
    significance = np.full(birth.size, np.inf)
    rest = ~top
    significance[rest] = _standard_errors(birth[rest], death[rest], estimate)
    return replace(tree, significance=significance)


def _standard_errors(birth: Floats, death: Floats, estimate: Estimate) -> Floats:
    """Difference of the logarithms of two sums beside its standard deviation."""
    d = estimate.samples.n_features
    unit = math.exp(estimate.kernel.log_roughness(d) - estimate.kernel.log_normaliser(d))
    return np.log(birth / death) / np.sqrt(unit / birth + unit / death)


def _lowest_on_the_way(estimate: Estimate, graph: ParentGraph, rows: Indices) -> Floats:
    """Lowest sum on the straight way from each row to its parent."""
    lowest = np.empty(rows.size)
    for first in range(0, rows.size, _BLOCK):
        some = rows[first : first + _BLOCK]
        start = graph.samples.tree.coordinates(some)
        end = graph.samples.tree.coordinates(graph.parent[some])
        way = _nearest_image(end - start, graph.samples)
        points = start[:, None, :] + way[:, None, :] * _ON_THE_WAY[:, None]
        sums = estimate.heights_at(points.reshape(-1, start.shape[1]))
        lowest[first : first + _BLOCK] = sums.reshape(some.size, -1).min(axis=1)
    return lowest


def _nearest_image(delta: Floats, samples: Samples) -> Floats:
    if samples.period is None:
        return delta
    closed = np.isfinite(samples.period)
    period = samples.period[closed]
    delta[:, closed] -= period * np.rint(delta[:, closed] / period)
    return delta


def keep_significant(tree: ClusterTree, least: float) -> ClusterTree:
    """Leave out the leaves that chance would give, and those far behind the others.

    Leaves of less than the given significance go. Of the others, in falling order, those before the
    largest ratio of one significance to the next stay: where clusters are, there is a gap between
    the least of them and the bumps on their slopes.

    Parameters
    ----------
    tree : ClusterTree
        From `assess`.
    least : float
        Significance that a leaf must have, as from `chance_significance`.

    Returns
    -------
    ClusterTree

    Examples
    --------
    >>> from quickshift.stages import climb, cut, fit_estimate, link, prepare
    >>> estimate = fit_estimate(prepare([[0.0], [0.1], [0.2], [1.0], [1.1]]), 0.2)
    >>> density = estimate.density(estimate.sums())
    >>> graph = climb(estimate.samples, density)
    >>> tree = assess(link(estimate.samples, density, cut(graph, 0.5), 0.5), estimate, graph)
    >>> keep_significant(tree, 0.5).labels(), keep_significant(tree, 1.0).labels()
    (array([0, 0, 0, 1, 1]), array([0, 0, 0, 0, 0]))
    """
    falling = -np.sort(-tree.known_significance())
    finite = falling[np.isfinite(falling)]
    candidates = finite[finite >= least]
    if not candidates.size:
        return tree.prune(significance=np.inf)
    following = np.append(finite, 0.0)[1 : candidates.size + 1]
    ratios = candidates / np.maximum(following, _NEGLIGIBLE)
    return tree.prune(significance=float(candidates[np.argmax(ratios)]))


def keep_most_significant(tree: ClusterTree, n_leaves: int) -> ClusterTree:
    """Keep the given number of leaves, the most significant ones, the higher ones of equals.

    Parameters
    ----------
    tree : ClusterTree
        From `assess`.
    n_leaves : int
        How many stay, from 1 to the number of leaves.

    Returns
    -------
    ClusterTree

    Examples
    --------
    >>> from quickshift.stages import climb, cut, fit_estimate, link, prepare
    >>> estimate = fit_estimate(prepare([[0.0], [0.1], [0.2], [1.0], [1.1], [3.0]]), 0.2)
    >>> density = estimate.density(estimate.sums())
    >>> graph = climb(estimate.samples, density)
    >>> tree = assess(link(estimate.samples, density, cut(graph, 0.5), 0.5), estimate, graph)
    >>> keep_most_significant(tree, 2).labels()
    array([0, 0, 0, 1, 1, 1])
    """
    significance = tree.known_significance()
    wanted = check_count(n_leaves, "n_clusters", significance.size, "the number of modes")
    unconnected = int((tree.towards < 0).sum())
    if wanted < unconnected:
        raise too_few(wanted, unconnected)
    gone = np.ones(significance.size, dtype=bool)
    gone[np.argsort(-significance, kind="stable")[:wanted]] = False
    return contract(tree, gone)


def chance_significance(total_weight: float, n_features: int) -> float:
    return 1.5
