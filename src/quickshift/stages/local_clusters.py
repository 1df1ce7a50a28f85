"""The default clusters: local scale at up to three scales, one cluster per significant mode.

::

    Samples --local_scale(K)--> climb --> cut(tau) --> link(tau) --> assess --> keep the significant
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from quickshift.bundles import Bundle, counted
from quickshift.checks.clustering import (
    check_cut,
    check_min_cluster_size,
    check_min_significance,
    check_scale_underflow,
    check_ties,
)
from quickshift.checks.results import require_result
from quickshift.memory import local_fit_bytes, require_memory
from quickshift.progress import Progress
from quickshift.stages.clusters import SHORTEST, Clusters, merge_modes, merge_small
from quickshift.stages.forest import Forest, cut_at, cut_into
from quickshift.stages.local_scale import (
    SCALES,
    LocalScale,
    checked_neighbors,
    default_neighbors,
    measure_scale,
    measure_scales,
    n_varying,
)
from quickshift.stages.parent_graph import ParentGraph, find_parents
from quickshift.stages.samples import Samples
from quickshift.stages.tree.chance import chance_by_scale
from quickshift.stages.tree.cluster_tree import ClusterTree, link_forest
from quickshift.stages.tree.significance import assess_locally

__all__ = ["LocalClusters", "find_local_clusters"]


@dataclass(frozen=True, repr=False, eq=False)
class LocalClusters(Bundle):
    """Clusters under local scale, and what they were found from.

    Attributes
    ----------
    scale : LocalScale
        The scale of each sample.
    graph : ParentGraph
        The parent of each sample.
    clusters : Clusters
        The clusters, before and after insignificant modes were merged. The levels of their tree are
        ``scale.levels``.
    """

    scale: LocalScale
    graph: ParentGraph
    clusters: Clusters

    def __len__(self) -> int:
        """Return the number of clusters."""
        return len(self.clusters)

    def _facts(self) -> Iterable[str]:
        yield from self.clusters._facts()
        yield counted(self.scale.n_neighbors, "neighbor")


@dataclass(frozen=True)
class LocalSettings:
    """The checked parameters of `find_local_clusters`; None stands for "auto"."""

    n_neighbors: int | None = None
    tau: float | None = None
    n_clusters: int | None = None
    min_significance: float | None = None
    min_cluster_size: float = 1.0
    ties: str = "total"
    link: bool = False

    def numbers_of_neighbors(self, total_weight: float) -> list[int]:
        """List the K that are tried in turn until there is more than one cluster."""
        if self.n_neighbors is not None:
            return [self.n_neighbors]
        one = self.tau is not None or self.n_clusters is not None
        tried = [default_neighbors(total_weight, scale) for scale in SCALES[: 1 if one else None]]
        return list(dict.fromkeys(tried))  # small samples limit K, and scales may coincide


def find_local_clusters(
    samples: Samples,
    *,
    n_neighbors: int | str = "auto",
    tau: float | str = "auto",
    n_clusters: int | None = None,
    min_significance: float | str = "auto",
    min_cluster_size: float = 1,
    ties: str = "total",
    link: bool = False,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> LocalClusters:
    """Find the clusters that `QuickShift` finds by default.

    Every sample has a scale of its own, determined by its K nearest others, and a tau of its own
    (see `local_scale`). Each sample moves to its nearest higher sample; moves longer than the tau
    of the sample are cut. The modes that remain are linked to a cluster tree, and insignificant
    ones are merged into others (see `keep_significant`).

    If one cluster is left, the same is done with 2 K and then with 4 K neighbors, whose densities
    have less noise. If that does not give two clusters either, the result with K neighbors stands.

    Parameters
    ----------
    samples : Samples
        From `prepare`.
    n_neighbors : int or "auto"
        K. "auto" is the default of `local_scale`. With a number, no other K is tried.
    tau : float or "auto"
        Longest move kept. "auto" is the tau of each sample. If tau is a number, nothing is merged,
        and only one K is tried.
    n_clusters : int, optional
        Number of clusters, instead of tau: the most significant modes are kept, and only one K is
        tried. If there are fewer modes, the moves that are longest relative to the tau of their
        sample are removed.
    min_significance : float or "auto"
        Least significance of a mode. With "auto", `chance_significance` and the rule "last" of
        `keep_significant` decide.
    min_cluster_size : float
        Least total weight of a cluster; smaller ones are merged into those that they meet first.
    ties : {"total", "strict"}
        Which of two samples of equal r is higher, see `climb`.
    link : bool
        Whether to build the cluster tree even if tau is given and the clusters do not need it.
    n_jobs : int, optional
        Number of threads; None for all cores.
    progress : callable, optional
        Called as ``progress(stage, done)`` about ten times per second and when a stage is complete;
        ``done`` rises to 1. An exception that it raises stops the computation.

    Returns
    -------
    LocalClusters

    Examples
    --------
    >>> import numpy as np
    >>> from quickshift.stages import prepare
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (60, 2)), rng.normal(9, 1, (40, 2))])
    >>> found = find_local_clusters(prepare(X))
    >>> np.bincount(found.clusters.forest.labels)
    array([60, 40])
    """
    require_result(samples, Samples, "samples", "prepare")
    settings = LocalSettings(
        checked_neighbors(n_neighbors, samples),
        check_cut(tau, n_clusters, samples.n_samples),
        n_clusters,
        check_min_significance(min_significance, tau, n_clusters),
        check_min_cluster_size(min_cluster_size),
        check_ties(ties),
        link,
    )
    shape = samples.n_samples, samples.n_features
    links = link or settings.tau is None or settings.min_cluster_size > 1
    needed = local_fit_bytes(*shape, settings.n_neighbors, links=links)
    require_memory(needed, "find_local_clusters", shape)
    return local_clusters_of(samples, settings, n_jobs=n_jobs, progress=progress)


def local_clusters_of(
    samples: Samples,
    settings: LocalSettings,
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> LocalClusters:
    """Find clusters as `find_local_clusters` does, from checked arguments."""
    numbers = settings.numbers_of_neighbors(samples.total_weight)
    scale = measure_scale(samples, numbers[0], n_jobs=n_jobs, progress=progress)
    check_scale_underflow(scale.heights)
    found = _found_at(scale, settings, progress)
    if len(numbers) == 1 or len(found) > 1:
        return found
    # A cluster tree is large, and this one is soon built again.
    graph = found.graph
    del found
    wider = measure_scales(samples, numbers[1:], n_jobs=n_jobs, progress=progress)
    while wider:
        found = _found_at(wider.pop(0), settings, progress)
        if len(found) > 1:
            return found
        del found
    return LocalClusters(scale, graph, _clusters_at(scale, graph, settings, progress))


def _found_at(
    scale: LocalScale, settings: LocalSettings, progress: Progress | None
) -> LocalClusters:
    """Find parents and clusters for one K."""
    graph = find_parents(
        scale.samples,
        scale.heights,
        settings.ties,
        scale.significant_bits,
        near=scale.near,
        n_jobs=scale.n_jobs,
        progress=progress,
    )
    return LocalClusters(scale, graph, _clusters_at(scale, graph, settings, progress))


def _clusters_at(
    scale: LocalScale, graph: ParentGraph, settings: LocalSettings, progress: Progress | None
) -> Clusters:
    """Find the clusters for one K."""
    n_jobs, wanted = scale.n_jobs, settings.n_clusters
    if settings.tau is not None:
        forest = cut_at(graph, settings.tau, n_jobs=n_jobs, progress=progress)
        links = settings.link or settings.min_cluster_size > 1
        tree = tree_by_scale(scale, forest, progress) if links else None
        return merge_small(Clusters(forest, forest, tree, 0.0), settings.min_cluster_size)
    forest = cut_at(graph, scale.tau, n_jobs=n_jobs, progress=progress)
    if wanted is not None and wanted > forest.roots.size:
        forest = cut_into(graph, wanted, relative_to=scale.tau, n_jobs=n_jobs)
    tree = tree_by_scale(scale, forest, progress)
    least, size = settings.min_significance, settings.min_cluster_size
    chance = chance_at(scale)
    return merge_modes(forest, tree, wanted, least, chance, gap="last", min_cluster_size=size)


def chance_at(scale: LocalScale) -> float:
    """Return the significance that chance rarely exceeds under a local scale."""
    samples = scale.samples
    multiple = scale.n_neighbors / default_neighbors(samples.total_weight)
    return chance_by_scale(samples.total_weight, n_varying(samples), multiple)


def tree_by_scale(
    scale: LocalScale, forest: Forest, progress: Progress | None = None
) -> ClusterTree:
    """Return the cluster tree of a forest under local scale, with the significance of each mode.

    Its levels are 1/r. Samples are linked by the tau of the cut, if that is one number, otherwise
    by their own.
    """
    one = isinstance(forest.tau, float)
    tree = link_forest(
        scale.samples,
        scale.levels,
        forest,
        max(forest.tau, SHORTEST) if one else scale.tau,
        near=None if one else scale.near,
        n_jobs=scale.n_jobs,
        progress=progress,
    )
    tree = replace(tree, log_unit=scale.log_constant, power=float(n_varying(scale.samples)))
    return assess_locally(tree, scale, forest.graph)
