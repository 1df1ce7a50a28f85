"""The default clusters: one per significant mode, found with the help of the cluster tree.

::

    Estimate, ParentGraph --automatic tau--> cut --> link --> assess --> keep the significant modes
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from quickshift.arrays import Floats
from quickshift.bundles import Bundle, counted, number, span
from quickshift.checks.clustering import (
    check_cut,
    check_min_cluster_size,
    check_min_significance,
)
from quickshift.checks.points import check_finite_density
from quickshift.checks.results import check_same_samples, require_result
from quickshift.memory import find_clusters_bytes, require_memory
from quickshift.progress import Progress
from quickshift.stages.density import Estimate
from quickshift.stages.forest import Forest, cut_at, cut_into
from quickshift.stages.parent_graph import ParentGraph
from quickshift.stages.rules import automatic_tau
from quickshift.stages.tree.chance import chance_significance
from quickshift.stages.tree.cluster_tree import ClusterTree, link_forest
from quickshift.stages.tree.pruning import contract, small_leaves
from quickshift.stages.tree.significance import (
    assess_by_estimate,
    keep_most_significant,
    least_kept,
    without_chance,
)

__all__ = ["Clusters", "find_clusters"]

SHORTEST = float(np.finfo(np.float64).tiny)  # replaces a tau of 0: linking needs a positive one


@dataclass(frozen=True, repr=False, eq=False)
class Clusters(Bundle):
    """Clusters of samples, before and after insignificant modes were merged.

    Attributes
    ----------
    forest : Forest
        The clusters: labels, roots and the tau of the cut.
    unmerged : Forest
        The cut at that tau, before modes were merged. If tau was given, the same object as
        ``forest``.
    tree : ClusterTree or None
        Cluster tree of the unmerged forest, with the significance of each mode. Its levels are sums
        of kernel profiles; its `log_unit` is the logarithm of the factor that turns them into
        densities. None if tau was given and ``link`` was false.
    min_significance : float
        Least finite significance of the modes that were kept. If only one mode was kept, the
        significance that others would have needed; 0 if tau was given, NaN if it is not known
        before the tree is built.
    """

    forest: Forest
    unmerged: Forest
    tree: ClusterTree | None
    min_significance: float

    def __len__(self) -> int:
        """Return the number of clusters."""
        return len(self.forest)

    def _facts(self) -> Iterable[str]:
        yield counted(len(self.forest.labels), "sample")
        yield f"{counted(len(self), 'cluster')} from {counted(len(self.unmerged), 'mode')}"
        yield f"tau {span(self.forest.tau)}"
        yield f"min_significance {number(self.min_significance)}"


def find_clusters(
    estimate: Estimate,
    graph: ParentGraph,
    *,
    tau: float | str = "auto",
    n_clusters: int | None = None,
    min_significance: float | str = "auto",
    min_cluster_size: float = 1,
    link: bool = False,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Clusters:
    """Find the clusters that `QuickShift` finds for a given bandwidth.

    If tau is given, the graph is cut at tau and nothing is merged: this is Algorithm 1. Otherwise
    the graph is cut at the tau that `choose_tau` chooses. Then insignificant modes are merged into
    higher ones: modes that chance may have produced, and modes far less significant than the others
    (see `keep_significant`).

    Parameters
    ----------
    estimate : Estimate
        From `fit_estimate`.
    graph : ParentGraph
        From `climb`, over ``estimate.sums()``.
    tau : float or "auto"
        Longest edge kept.
    n_clusters : int, optional
        Number of clusters, instead of tau: this many modes are kept, the most significant ones. If
        the cut has fewer modes, the longest edges are removed instead until there are enough.
    min_significance : float or "auto"
        Least significance of a mode. With "auto", `chance_significance` and the gap rule of
        `keep_significant` decide.
    min_cluster_size : float
        Least total weight of a cluster; smaller ones are merged into those that they meet first.
    link : bool
        Whether to build the cluster tree even if tau is given and the clusters do not need it.
    n_jobs : int, optional
        Number of threads; None for all cores.
    progress : callable, optional
        Called as ``progress(stage, done)`` about ten times per second and when a stage is complete;
        ``done`` rises to 1. An exception that it raises stops the computation.

    Returns
    -------
    Clusters

    Examples
    --------
    >>> from quickshift.stages import climb, fit_estimate, prepare
    >>> samples = prepare(np.array([[0, 1, 2, 3, 4, 5, 6, 7, 30, 31, 32, 33, 34, 35, 36]]).T)
    >>> estimate = fit_estimate(samples, 3.0)
    >>> graph = climb(samples, estimate.sums(), significant_bits=estimate.significant_bits)
    >>> find_clusters(estimate, graph).forest.labels
    array([0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1])
    """
    require_result(estimate, Estimate, "estimate", "fit_estimate")
    require_result(graph, ParentGraph, "graph", "climb")
    samples = graph.samples
    shape = samples.n_samples, samples.n_features
    check_same_samples((estimate.samples.n_samples, estimate.samples.n_features), shape)
    check_finite_density(graph.heights, samples.n_samples, samples.tree.absent_rows())
    length = check_cut(tau, n_clusters, samples.n_samples)
    least = check_min_significance(min_significance, tau, n_clusters)
    size = check_min_cluster_size(min_cluster_size)
    links = link or length is None or size > 1
    require_memory(find_clusters_bytes(*shape, links=links), "find_clusters", shape)
    return clusters_of(
        estimate,
        graph,
        tau=length,
        n_clusters=n_clusters,
        min_significance=least,
        min_cluster_size=size,
        link=link,
        n_jobs=n_jobs,
        progress=progress,
    )


def clusters_of(
    estimate: Estimate,
    graph: ParentGraph,
    *,
    tau: float | None,
    n_clusters: int | None,
    min_significance: float | None,
    min_cluster_size: float = 1.0,
    link: bool = False,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Clusters:
    """Find clusters as `find_clusters` does, from checked arguments; None stands for "auto"."""
    if tau is not None:
        forest = cut_at(graph, tau, n_jobs=n_jobs, progress=progress)
        tree = None
        if link or min_cluster_size > 1:
            tree = assessed_tree(estimate, forest, n_jobs=n_jobs, progress=progress)
        return merge_small(Clusters(forest, forest, tree, 0.0), min_cluster_size)
    h, kernel = estimate.bandwidth, estimate.kernel
    length = automatic_tau(graph.samples, h, kernel, n_jobs=n_jobs, progress=progress)
    forest = cut_at(graph, length, n_jobs=n_jobs, progress=progress)
    if n_clusters is not None and n_clusters > forest.roots.size:
        forest = cut_into(graph, n_clusters, n_jobs=n_jobs)
    tree = assessed_tree(estimate, forest, n_jobs=n_jobs, progress=progress)
    samples = graph.samples
    chance = chance_significance(samples.total_weight, samples.dimension, kernel=kernel.name)
    return merge_modes(
        forest, tree, n_clusters, min_significance, chance, min_cluster_size=min_cluster_size
    )


def merge_modes(
    forest: Forest,
    tree: ClusterTree,
    n_clusters: int | None,
    min_significance: float | None,
    chance: float,
    *,
    gap: str = "largest",
    min_cluster_size: float = 1.0,
) -> Clusters:
    """Keep a number of modes, those of at least a given significance, or those above chance.

    Parameters
    ----------
    forest : Forest
        The cut.
    tree : ClusterTree
        The cluster tree of the forest, with the significance of each mode.
    n_clusters : int or None
        Number of modes to keep.
    min_significance : float or None
        Least significance of a mode.
    chance : float
        Used if neither is given: the significance that chance rarely exceeds.
    gap : {"largest", "last"}
        Used if neither is given: the rule of `keep_significant`.
    min_cluster_size : float
        Afterwards, clusters of a smaller total weight are merged, see `merge_small`.

    Returns
    -------
    Clusters
    """
    least = chance if min_significance is None else min_significance
    if n_clusters is not None:
        kept = keep_most_significant(tree, n_clusters)
    else:
        kept = without_chance(tree, least, gap if min_significance is None else "none")
    merged = replace(forest, labels=kept.leaf_labels, roots=kept.leaf_indices)
    return merge_small(Clusters(merged, forest, tree, least_kept(kept, least)), min_cluster_size)


def merge_small(clusters: Clusters, min_cluster_size: float) -> Clusters:
    """Merge clusters whose total weight is too small into those that they meet first.

    Parameters
    ----------
    clusters : Clusters
        With their cluster tree, unless every cluster is large enough.
    min_cluster_size : float
        Least total weight of a cluster. The cluster of the highest mode always stays.

    Returns
    -------
    Clusters
        Their ``min_significance`` is that of the given ones.
    """
    if min_cluster_size <= 1 or clusters.tree is None:
        return clusters
    gone = ~np.isin(clusters.tree.leaf_indices, clusters.forest.roots)
    kept = contract(clusters.tree, gone)
    kept = contract(kept, small_leaves(kept, min_cluster_size))
    merged = replace(clusters.forest, labels=kept.leaf_labels, roots=kept.leaf_indices)
    return replace(clusters, forest=merged)


def assessed_tree(
    estimate: Estimate,
    forest: Forest,
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> ClusterTree:
    """Return the cluster tree of a forest, with the significance of each mode.

    Its levels are sums of kernel profiles, which never overflow.
    """
    graph = forest.graph
    assert isinstance(forest.tau, float)  # a kernel density has one tau for all samples
    tau = max(forest.tau, SHORTEST)
    tree = link_forest(graph.samples, graph.heights, forest, tau, n_jobs=n_jobs, progress=progress)
    tree = replace(tree, log_unit=estimate.log_constant)
    return assess_by_estimate(tree, estimate, graph)


def in_densities(tree: ClusterTree, to_density: Callable[[Floats], Floats]) -> ClusterTree:
    """Return the tree with densities in place of other levels.

    If some densities would overflow or underflow, the tree is returned as it is. Every level is
    that of a sample, and the conversion preserves their order, so the tree stays exact.

    Parameters
    ----------
    tree : ClusterTree
        Its levels are sums of kernel profiles, or 1/r.
    to_density : callable
        Turns an array of levels into densities.

    Returns
    -------
    ClusterTree
    """
    density = to_density(tree.density)
    present = density[tree.leaf_labels >= 0]
    if not (present >= np.finfo(np.float64).tiny).all() or np.isinf(present).any():
        return tree
    merges, piece_merges = tree.merges.copy(), tree.piece_merges.copy()
    merges[:, 2] = to_density(merges[:, 2])
    piece_merges[:, 2] = to_density(piece_merges[:, 2])
    tree = replace(tree, density=density, merges=merges, piece_merges=piece_merges)
    return replace(tree, log_unit=0.0, power=1.0)
