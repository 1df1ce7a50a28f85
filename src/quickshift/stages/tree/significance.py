"""Significance: which modes are too prominent to be estimation noise."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from quickshift.arrays import Flags, Floats, Indices, Numbers
from quickshift.checks.clustering import check_n_trees
from quickshift.checks.numbers import check_choice, check_count, check_nonnegative
from quickshift.checks.results import check_same_samples, check_tree_of_graph, require_result
from quickshift.stages.density import Estimate, heights_at_points
from quickshift.stages.local_scale import LocalScale, levels_of, n_varying, scales_at_points
from quickshift.stages.parent_graph import ParentGraph
from quickshift.stages.samples import Samples
from quickshift.stages.tree.chance import per_drop
from quickshift.stages.tree.cluster_tree import ClusterTree
from quickshift.stages.tree.merges import lone_leaves
from quickshift.stages.tree.pruning import contract

__all__ = ["assess", "keep_most_significant", "keep_significant"]


# For a mode that meets no other mode, the density is evaluated on the straight segment to its
# parent, at these shares of the segment's length. The points near the mode are there because the
# segment may lead through other clusters, all of them as far from each other as from the mode.
_ON_SEGMENT = np.append(0.5 ** np.arange(10, 3, -1), np.arange(1, 8) / 8)
# log(b/s) / √(1/b + 1/s) is largest at this s/b: for lower s, the uncertainty of s outweighs the
# drop.
LOWEST_DEATH = 0.10886
_BLOCK = 1 << 22  # number of coordinates on segments that are held in memory at once
_LONE_POINT = 1.0  # sum of kernel profiles at a point without neighbors
_ROUNDING = 1e-9  # relative; sums that differ by less are equal
# Share of the chance level. Ratios of significances have at least this share in their denominator,
# because a ratio to a smaller number carries no information.
_NEGLIGIBLE = 0.25
# The rule "last" of `keep_significant`. Leaves above twice the chance level are never separated by
# a gap. A gap after a leaf that is somewhat below the chance level has to be wider.
_GAP = 1.5
_BEYOND_DOUBT = 2.0
_WEAKEST = 0.8
_WEAK_GAP = 2.0
_LEAST_GAP = 1.1  # a ratio below this is no gap
_SMALLEST_PART = 0.25  # of the significant leaves that a gap of less than _GAP may leave


def assess(tree: ClusterTree, estimate: Estimate, graph: ParentGraph) -> ClusterTree:
    """Compute the significance of each leaf: its prominence in standard errors of the estimate.

    The logarithm of an estimated density f has approximately the variance v(f) = ∫K² / (W hᵈ f). A
    leaf of density b that is absorbed at level s has the significance log(b/s) / √(v(b) + v(s)) or,
    if it is larger, the same for a level between b and s.
    A leaf that meets no other leaf is compared with its parent, the nearest higher sample: s is the
    lowest density on the straight segment between them, but at least the density of a point without
    neighbors; otherwise every outlier would be infinitely significant. The significance is 0 if the
    density at the leaf without the contribution of one sample, the leaf itself, is not higher than
    the lowest density on the segment: such a leaf is a mode only because it is a sample. The
    highest leaf has infinite significance.

    Parameters
    ----------
    tree : ClusterTree
        From `link`, with the densities of the estimate.
    estimate : Estimate
        The estimate that the densities were computed from.
    graph : ParentGraph
        From `climb`.

    Returns
    -------
    ClusterTree
        The same tree with its ``significance``.

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
    require_result(tree, ClusterTree, "tree", "link")
    require_result(estimate, Estimate, "estimate", "fit_estimate")
    require_result(graph, ParentGraph, "graph", "climb")
    check_same_samples(_shape(estimate.samples), _shape(graph.samples))
    check_tree_of_graph(tree.leaf_labels.size, graph.samples.n_samples)
    return assess_by_estimate(tree, estimate, graph)


def assess_by_estimate(tree: ClusterTree, estimate: Estimate, graph: ParentGraph) -> ClusterTree:
    """Compute the significance of each leaf as `assess` does, from checked arguments."""
    _, weights = estimate.samples.tree.first_rows()
    least = float(weights.min())
    return assess_by_sums(tree, estimate, graph, lambda x: heights_at_points(estimate, x), least)


def assess_by_sums(
    tree: ClusterTree,
    estimate: Estimate,
    graph: ParentGraph,
    sums_at: Callable[[Numbers], Floats],
    least_weight: float,
) -> ClusterTree:
    """Compute the significance of each leaf as `assess` does, with given sums and weights.

    Parameters
    ----------
    tree : ClusterTree
        The tree; it may have one row per leaf in place of one per sample.
    estimate : Estimate
        Its kernel, bandwidth and number of features are used, and the factor of its densities.
    graph : ParentGraph
        The parents of the leaves that meet no other leaf.
    sums_at : callable
        Returns the sums of kernel profiles at an array of points.
    least_weight : float
        Smallest weight of a location.

    Returns
    -------
    ClusterTree
    """
    to_sums = math.exp(tree.log_unit - estimate.log_constant)
    birth, death = to_sums * tree.persistence().T
    alone = lone_leaves(tree.merges, birth.size)
    rows = tree.leaf_indices
    top = alone & (graph.parent[rows] == rows)
    alone &= ~top
    candidates = np.flatnonzero(alone)[
        _may_drop(birth[alone], rows[alone], estimate, graph, least_weight)
    ]
    lowest = _lowest_on_segment(sums_at, graph, rows[candidates])
    drops = lowest * (1 + _ROUNDING) < birth[candidates] - _LONE_POINT
    death[alone] = birth[alone]
    death[candidates[drops]] = np.maximum(lowest[drops], _LONE_POINT)
    np.minimum(death, birth, out=death)  # sums equal when rounded may be in the other order
    significance = np.full(birth.size, np.inf)
    rest = ~top
    significance[rest] = standard_errors(birth[rest], death[rest], estimate)
    return replace(tree, significance=significance)


def _may_drop(
    birth: Floats, rows: Indices, estimate: Estimate, graph: ParentGraph, least_weight: float
) -> Flags:
    """Return which leaves can be higher than some point of the segment to their parent.

    Every point of the segment is within half its length of one of its ends, a sample, whose kernel
    alone contributes at least the profile at that distance, if no weight is less than 1. With many
    features this excludes nearly all leaves, and evaluating densities there takes long.
    """
    if least_weight < 1:
        return np.ones(rows.size, dtype=bool)
    half = graph.distance[rows] / (2 * estimate.bandwidth)
    return estimate.kernel.profile(half) * (1 - _ROUNDING) < birth - _LONE_POINT


def standard_errors(birth: Floats, death: Floats, estimate: Estimate) -> Floats:
    """Return the difference of the logarithms of two sums, divided by its standard deviation.

    It is the largest such quotient over all levels from the birth down to the death, since a leaf
    that is separate at a low level is separate at all levels above it. So a lower death never makes
    a leaf less significant.
    """
    d = estimate.samples.dimension
    log_unit = estimate.kernel.log_roughness(d) - estimate.kernel.log_normaliser(d)
    death = np.maximum(death, LOWEST_DEATH * birth)
    return np.log(birth / death) / np.sqrt(1 / birth + 1 / death) * per_drop(log_unit)


def assess_by_scale(tree: ClusterTree, scale: LocalScale, graph: ParentGraph) -> ClusterTree:
    """Compute the significance of each leaf under local scale.

    The logarithm of r has a standard deviation of about 1 / (d √K), up to 1.4 times that. A leaf
    whose root has the mean distance r, and that is absorbed at a sample whose mean distance is s,
    has the significance d √(K/2) log(s / r). A leaf that meets no other leaf is compared with its
    parent, the nearest higher sample: s is the largest mean distance on the straight segment
    between them. The highest leaf has infinite significance.

    Parameters
    ----------
    tree : ClusterTree
        From `link`, with ``scale.levels`` as densities.
    scale : LocalScale
        From `local_scale`.
    graph : ParentGraph
        From `climb`, over ``scale.heights``.

    Returns
    -------
    ClusterTree
        The same tree with its ``significance``.
    """
    require_result(tree, ClusterTree, "tree", "link")
    require_result(scale, LocalScale, "scale", "local_scale")
    require_result(graph, ParentGraph, "graph", "climb")
    check_same_samples(_shape(scale.samples), _shape(graph.samples), "scale")
    check_tree_of_graph(tree.leaf_labels.size, graph.samples.n_samples)
    return assess_locally(tree, scale, graph)


def assess_locally(tree: ClusterTree, scale: LocalScale, graph: ParentGraph) -> ClusterTree:
    """Compute the significance of each leaf as `assess_by_scale` does, from checked arguments."""
    errors = n_varying(scale.samples) * math.sqrt(scale.n_neighbors / 2)
    return assess_by_levels(tree, graph, lambda x: levels_of(scales_at_points(scale, x)[0]), errors)


def assess_by_levels(
    tree: ClusterTree,
    graph: ParentGraph,
    levels_at: Callable[[Numbers], Floats],
    errors: float,
) -> ClusterTree:
    """Compute the significance of each leaf as `assess_by_scale` does, with given levels.

    Parameters
    ----------
    tree : ClusterTree
        The tree; it may have one row per leaf in place of one per sample.
    graph : ParentGraph
        The parents of the leaves that meet no other leaf.
    levels_at : callable
        Returns the levels 1/r at an array of points.
    errors : float
        Number of standard errors per unit of log r, d √(K/2).

    Returns
    -------
    ClusterTree
    """
    birth, death = tree.persistence().T
    alone = lone_leaves(tree.merges, birth.size)
    rows = tree.leaf_indices
    top = alone & (graph.parent[rows] == rows)
    alone &= ~top
    death[alone] = _lowest_on_segment(levels_at, graph, rows[alone])
    np.minimum(death, birth, out=death)  # r that are equal when rounded may be in the other order
    significance = np.full(birth.size, np.inf)
    significance[~top] = errors * np.log(birth[~top] / death[~top])
    return replace(tree, significance=significance)


def _shape(samples: Samples) -> tuple[int, int]:
    return samples.n_samples, samples.n_features


def _lowest_on_segment(
    evaluate: Callable[[Numbers], Floats], graph: ParentGraph, rows: Indices
) -> Floats:
    """Return the lowest value of a function on the straight segment from each row to its parent.

    On a sphere, the segment is the shorter arc of the great circle through the two.
    """
    lowest = np.empty(rows.size)
    block = max(_BLOCK // (_ON_SEGMENT.size * graph.samples.n_features), 1)
    for first in range(0, rows.size, block):
        some = rows[first : first + block]
        start = graph.samples.tree.coordinates(some)
        end = graph.samples.tree.coordinates(graph.parent[some])
        half = _nearest_image(end / 2 - start / 2, graph.samples)  # the whole might overflow
        points = start[:, None, :] + half[:, None, :] * (2 * _ON_SEGMENT[:, None])
        points = _on_surface(points.reshape(-1, start.shape[1]), graph.samples)
        values = evaluate(points)
        lowest[first : first + block] = values.reshape(some.size, -1).min(axis=1)
    return lowest


def _on_surface(points: Floats, samples: Samples) -> Floats:
    """Move points between samples on a sphere to the sphere, except its center, in place."""
    if samples.on_sphere:
        length = np.sqrt((points**2).sum(axis=1, keepdims=True))
        np.divide(points, length, out=points, where=length > 0)
    return points


def _nearest_image(half: Floats, samples: Samples) -> Floats:
    """Shorten halves of differences to those of the nearest periodic image, in place."""
    if samples.period is None:
        return half
    closed = np.isfinite(samples.period)
    period = samples.period[closed] / 2
    half[:, closed] -= period * np.rint(half[:, closed] / period)
    return half


def keep_significant(tree: ClusterTree, least: float, *, gap: str = "largest") -> ClusterTree:
    """Remove leaves that chance may have produced, and leaves far less significant than the others.

    If there are clusters, there is a gap between the least significant of them and the bumps on
    their slopes: a ratio of one significance to the next one, in descending order, that is large.

    Parameters
    ----------
    tree : ClusterTree
        From `assess` or `assess_by_scale`.
    least : float
        Least significance of a leaf, usually from `chance_significance`.
    gap : {"largest", "last", "none"}
        What else is removed. "largest": the leaves after the largest ratio among the leaves of at
        least that significance; the rule for one bandwidth. "last": the leaves after the last ratio
        of at least 1.5, see Notes; the rule for local scale. "none": nothing.

    Returns
    -------
    ClusterTree

    Notes
    -----
    With "last", if one leaf is significant, the leaf before the gap may be less so: at least 0.8
    times ``least``, if the ratio is at least 2. The leaf after the gap has less than twice the
    least significance, since there is no doubt about leaves above that. If there is no such gap,
    the largest ratio counts among the leaves that may come before a gap, unless less than a quarter
    of those of at least ``least`` would stay. If it is below 1.1, as is common with very many
    clusters, all of these stay.

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
    require_result(tree, ClusterTree, "tree", "link")
    threshold = check_nonnegative(least, "least")
    return without_chance(tree, threshold, check_choice(gap, "gap", ("largest", "last", "none")))


def without_chance(tree: ClusterTree, least: float, gap: str) -> ClusterTree:
    """Remove leaves as `keep_significant` does, from checked arguments."""
    significance = tree.known_significance()
    if gap == "none":
        return contract(tree, significance < least)
    descending = -np.sort(-significance)
    finite = descending[np.isfinite(descending)]
    if not finite.size or finite[0] < least:
        return contract(tree, significance < np.inf)
    following = np.append(finite[1:], 0.0)
    ratios = finite / np.maximum(following, _NEGLIGIBLE * least)
    ends = finite >= least
    if gap == "last":
        ends = (finite >= _WEAKEST * least) & (following < _BEYOND_DOUBT * least)
        wide = ends & (ratios >= np.where(finite >= least, _GAP, _WEAK_GAP))
        fewest = _SMALLEST_PART * np.count_nonzero(finite >= least)
        ends = _last_of(wide) if wide.any() else ends & (np.arange(1, finite.size + 1) >= fewest)
        if not (ratios[ends] >= _LEAST_GAP).any():
            return contract(tree, significance < least)
    return contract(tree, significance < finite[np.argmax(np.where(ends, ratios, 0.0))])


def _last_of(flags: Flags) -> Flags:
    """Keep only the last flag that is set."""
    last = np.zeros_like(flags)
    last[np.flatnonzero(flags)[-1]] = True
    return last


def least_kept(tree: ClusterTree, otherwise: float) -> float:
    """Return the least finite significance of a tree's leaves, or another number if there is none.

    Parameters
    ----------
    tree : ClusterTree
        With the leaves that were kept.
    otherwise : float
        The number to return if only leaves of infinite significance were kept.

    Returns
    -------
    float
    """
    finite = tree.known_significance()[np.isfinite(tree.known_significance())]
    return float(finite.min()) if finite.size else otherwise


def keep_most_significant(tree: ClusterTree, n_leaves: int) -> ClusterTree:
    """Keep a given number of leaves, the most significant ones; ties go to the higher leaf.

    Parameters
    ----------
    tree : ClusterTree
        From `assess`.
    n_leaves : int
        Number of leaves to keep, from 1 to the number of leaves.

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
    require_result(tree, ClusterTree, "tree", "link")
    significance = tree.known_significance()
    wanted = check_count(n_leaves, "n_clusters", significance.size, "the number of modes")
    unconnected = int((tree.towards < 0).sum())
    check_n_trees(wanted, unconnected)
    gone = np.ones(significance.size, dtype=bool)
    gone[np.argsort(-significance, kind="stable")[:wanted]] = False
    return contract(tree, gone)
