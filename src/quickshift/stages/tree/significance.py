"""Which modes are real: how far each stands out beside the error of the estimate."""

import math
from dataclasses import replace

import numpy as np

from quickshift.arrays import Floats, Indices
from quickshift.checks import check_count, check_n_trees
from quickshift.stages.density import Estimate, heights_at_points
from quickshift.stages.parent_graph import ParentGraph
from quickshift.stages.samples import Samples
from quickshift.stages.tree.cluster_tree import ClusterTree
from quickshift.stages.tree.merges import lone_leaves
from quickshift.stages.tree.pruning import contract

__all__ = ["assess", "chance_significance", "keep_most_significant", "keep_significant"]


# Where the way from a lone mode to the next higher sample is looked at, as shares of its length.
_ON_THE_WAY = np.arange(1, 8) / 8
_BLOCK = 1 << 22  # coordinates on ways that are looked at together
_LONE_POINT = 1.0  # sum of profiles at a point that has no neighbour
_NEGLIGIBLE = 0.25  # of what chance gives; ratios to less say nothing


def assess(tree: ClusterTree, estimate: Estimate, graph: ParentGraph) -> ClusterTree:
    """Say how many standard errors each leaf stands out by.

    The logarithm of the estimate at x has about the variance v(x) = ∫K² / (W hᵈ f(x)). A leaf of
    height b that is absorbed at the level s has the significance log(b/s) / √(v(b) + v(s)). A leaf
    that meets no other is judged against the sample above it: s is the lowest density on the
    straight way there, but no less than that of a point without neighbours, or else every outlier
    would be infinitely significant. Where the way does not dip, the significance is 0. That of the
    highest leaf is infinite.

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
    alone = lone_leaves(tree.merges, birth.size)
    rows = tree.leaf_indices
    top = alone & (graph.parent[rows] == rows)
    alone &= ~top
    lowest = np.maximum(_lowest_on_the_way(estimate, graph, rows[alone]), _LONE_POINT)
    death[alone] = np.minimum(lowest, birth[alone])
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
    block = max(_BLOCK // (_ON_THE_WAY.size * graph.samples.n_features), 1)
    for first in range(0, rows.size, block):
        some = rows[first : first + block]
        start = graph.samples.tree.coordinates(some)
        end = graph.samples.tree.coordinates(graph.parent[some])
        way = _nearest_image(end - start, graph.samples)
        points = start[:, None, :] + way[:, None, :] * _ON_THE_WAY[:, None]
        sums = heights_at_points(estimate, points.reshape(-1, start.shape[1]))
        lowest[first : first + block] = sums.reshape(some.size, -1).min(axis=1)
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
    ratios = candidates / np.maximum(following, _NEGLIGIBLE * least)
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
    check_n_trees(wanted, unconnected)
    gone = np.ones(significance.size, dtype=bool)
    gone[np.argsort(-significance, kind="stable")[:wanted]] = False
    return contract(tree, gone)


# Largest significance but for the highest mode in samples of one Gaussian at the default bandwidth
# and tau, 97th percentile: by number of features (rows) and of samples (columns).
# benchmarks/calibrate.py makes the table.
_SAMPLES = (30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)
_BY_CHANCE = {
    1: (1.28, 1.29, 1.25, 1.34, 1.28, 1.39, 1.58, 1.63),
    2: (1.13, 1.2, 1.26, 1.45, 1.7, 1.82, 1.97, 2.07),
    3: (0.69, 0.8, 0.87, 1.0, 1.12, 1.51, 1.77, 2.13),
    4: (0.35, 0.67, 0.81, 0.83, 0.96, 1.16, 1.35, 1.48),
    5: (0.13, 0.5, 0.73, 0.75, 0.92, 1.08, 1.07, 1.24),
    6: (0.38, 0.46, 0.6, 0.83, 0.89, 1.06, 1.14),
    8: (0.23, 0.44, 0.49, 0.53, 0.69, 0.94, 1.16),
    10: (0.18, 0.25, 0.27, 0.21, 0.15, 0.48),
    13: (0.21, 0.07, 0.0, 0.0, 0.01, 0.02),
    16: (0.18, 0.05, 0.03, 0.02, 0.02, 0.02),
    20: (0.37, 0.28, 0.13, 0.11, 0.12, 0.15),
}
_SPARE = 1.2  # factor above the table: samples are not Gaussian
_LEAST = 0.2  # standard errors, where chance gives next to none


def chance_significance(total_weight: float, n_features: int) -> float:
    """Significance that a mode needs, because chance gives less to samples with a single mode.

    Parameters
    ----------
    total_weight : float
        Number of samples, or the sum of their weights.
    n_features : int
        d.

    Returns
    -------
    float
        A fifth more than the 97th percentile of the largest one in samples of one Gaussian,
        interpolated from a table of simulations; beyond its edges, that of the edge. At least 0.2.

    Examples
    --------
    >>> chance_significance(1000, 2), chance_significance(1e9, 2) == chance_significance(1e5, 2)
    (1.74, True)
    """
    log_samples = np.log(_SAMPLES)
    rows = [
        np.interp(np.log(total_weight), log_samples[: len(row)], row) for row in _BY_CHANCE.values()
    ]
    chance = float(np.interp(np.log(n_features), np.log(list(_BY_CHANCE)), rows))
    return max(_SPARE * chance, _LEAST)
