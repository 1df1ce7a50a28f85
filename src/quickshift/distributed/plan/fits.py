"""Fits: the passes in their order, for one bandwidth or for local scale."""

import math
from dataclasses import dataclass, replace

import numpy as np

from quickshift.arrays import Indices
from quickshift.distributed.plan.forest import Removed, cut, edges_beyond, remove_longest
from quickshift.distributed.plan.heights import kernel_reach, measure_scales
from quickshift.distributed.plan.kinds import KernelHeights, ScaleHeights
from quickshift.distributed.plan.passes import Passes
from quickshift.distributed.plan.rules import bandwidth_by_rule, tau_by_rule
from quickshift.distributed.plan.tree import LinkedLeaves
from quickshift.distributed.stitch import Edges, Leaves
from quickshift.distributed.tasks.boxes import Facts
from quickshift.distributed.tasks.climbing import Density, Order, climb_box, sum_kernels
from quickshift.distributed.tasks.queries import Neighbors, count_locations
from quickshift.kernels import Kernel
from quickshift.stages.clusters import merge_modes
from quickshift.stages.density import SIGNIFICANT_BITS, make_estimate
from quickshift.stages.local_clusters import LocalSettings
from quickshift.stages.local_scale import LocalScale, default_neighbors, spacing_for
from quickshift.stages.samples import Samples, build_samples
from quickshift.stages.tree.chance import chance_by_scale, chance_significance
from quickshift.stages.tree.cluster_tree import ClusterTree

__all__ = ["Fit", "Grouping", "KernelSettings", "fit_kernel", "fit_local"]

_SAMPLED = 1024  # rows of the sample that are searched for distinct ones
_CLIMBED = 4.0  # bandwidths; parents that are farther away are searched one by one


@dataclass(frozen=True)
class Grouping:
    """The clusters as groups of leaves.

    Attributes
    ----------
    labels : ndarray of shape (n_leaves,)
        Cluster of each leaf.
    modes : ndarray of shape (n_clusters,)
        The leaf that is the mode of each cluster.
    tree : ClusterTree or None
        Cluster tree with one row per leaf; None if the clusters did not need it.
    min_significance : float
        See `quickshift.stages.clusters.Clusters`.
    """

    labels: Indices
    modes: Indices
    tree: ClusterTree | None = None
    min_significance: float = 0.0

    def __len__(self) -> int:
        """Return the number of clusters."""
        return len(self.modes)


@dataclass(frozen=True)
class Fit:
    """What a fit has found; everything that grows with the data is in files.

    Attributes
    ----------
    passes : Passes
        Runs more passes on the same files.
    order : Order
        Which of two rows is higher.
    kind : KernelHeights or ScaleHeights
        What the heights are.
    tau : float or None
        Longest edge of the cut; None for the tau of each row.
    reach : float
        Longest edge that any cut may keep.
    leaves : Leaves
        The roots of the forest.
    clusters : Grouping
        Which leaf belongs to which cluster.
    edges : Edges or None
        Edges that are not in the files of the boxes. If tau is None, the cut did not need them.
    removed : Removed or None
        The removal of edges, if there are more clusters than modes.
    """

    passes: Passes
    order: Order
    kind: KernelHeights | ScaleHeights
    tau: float | None
    reach: float
    leaves: Leaves
    clusters: Grouping
    edges: Edges | None = None
    removed: Removed | None = None


@dataclass(frozen=True)
class KernelSettings:
    """The checked parameters of a fit with one bandwidth; None stands for "auto".

    Attributes
    ----------
    bandwidth : float or str
        The bandwidth, or a rule that chooses it.
    kernel : Kernel
        The kernel.
    rtol : float
        Relative error allowed in sums of a kernel with infinite support.
    tau, n_clusters, min_significance, ties
        As in `quickshift.stages.local_clusters.LocalSettings`.
    """

    bandwidth: float | str
    kernel: Kernel
    rtol: float
    tau: float | None = None
    n_clusters: int | None = None
    min_significance: float | None = None
    ties: str = "total"


def fit_kernel(passes: Passes, facts: Facts, settings: KernelSettings, most_rows: int) -> Fit:
    """Find clusters for one bandwidth.

    Parameters
    ----------
    passes : Passes
        Runs the tasks. The boxes are made.
    facts : Facts
        From the scan.
    settings : KernelSettings
        The parameters.
    most_rows : int
        Most rows of a halo whose width can be chosen.

    Returns
    -------
    Fit
    """
    kernel, h = settings.kernel, settings.bandwidth
    samples = stand_in(facts)
    if isinstance(h, str):
        h = bandwidth_by_rule(passes, facts, h, kernel, rtol=settings.rtol, most_rows=most_rows)
    estimate = make_estimate(samples, h, kernel, settings.rtol, 1)
    reach = kernel_reach(kernel, h, settings.rtol, facts.total_weight, facts.least_weight)
    density = Density(kernel.name, h, settings.rtol, reach)
    kind = KernelHeights(estimate, density, facts.least_weight)
    order = Order(settings.ties, estimate.significant_bits)
    tau = settings.tau
    if tau is None:
        tau = tau_by_rule(passes, facts, h, kernel, most_rows)
    passes.each_box("density", sum_kernels, density)
    climbed = tau if settings.tau is None else min(tau, _CLIMBED * h)
    passes.each_box("climb", climb_box, climbed, order, tau)
    edges = edges_beyond(passes, order) if tau > climbed else None
    removed = _removed(passes, settings, order)
    reach, tau = tau, tau if removed is None else removed.longest
    leaves = cut(passes, tau, order, edges)
    fit = Fit(passes, order, kind, tau, reach, leaves, _unmerged(leaves), edges, removed)
    if settings.tau is not None:
        return fit
    linked = kind.linked(passes, leaves, tau, order)
    chance = chance_significance(facts.total_weight, samples.dimension, kernel=kernel.name)
    return replace(fit, clusters=_merged(linked, settings, chance, "largest"))


def fit_local(passes: Passes, facts: Facts, settings: LocalSettings, most_rows: int) -> Fit:
    """Find clusters under local scale, with K neighbors and, if one is left, with 2 K and 4 K.

    Parameters
    ----------
    passes : Passes
        Runs the tasks. The boxes are made.
    facts : Facts
        From the scan.
    settings : LocalSettings
        The parameters.
    most_rows : int
        Most rows of a halo. Rows that need a wider one become queries.

    Returns
    -------
    Fit
    """
    first: Fit | None = None
    for k in settings.numbers_of_neighbors(facts.total_weight):
        layer = replace(passes, store=replace(passes.store, layer=f"-{k}"))
        fit = _fit_scale(layer, facts, settings, k, most_rows)
        if len(fit.clusters) > 1:
            return fit
        first = first or fit
    assert first is not None
    return first


def _fit_scale(
    passes: Passes, facts: Facts, settings: LocalSettings, k: int, most_rows: int
) -> Fit:
    """Find clusters for one K."""
    samples = stand_in(facts)
    neighbors = neighbors_of(passes, facts, k)
    measure_scales(passes, neighbors, most_rows)
    nothing = np.empty(0)
    kind = ScaleHeights(LocalScale(samples, k, nothing, nothing, 1), neighbors)
    order = Order(settings.ties, SIGNIFICANT_BITS)
    passes.each_box("climb", climb_box, None, order)
    tau = settings.tau
    if tau is not None:
        edges = edges_beyond(passes, order)
        leaves = cut(passes, tau, order, edges)
        return Fit(passes, order, kind, tau, math.inf, leaves, _unmerged(leaves), edges)
    removed = _removed(passes, settings, order)
    leaves = cut(passes, None, order)
    linked = kind.linked(passes, leaves, None, order)
    multiple = k / default_neighbors(facts.total_weight)
    chance = chance_by_scale(facts.total_weight, neighbors.dimension, multiple)
    clusters = _merged(linked, settings, chance, "last")
    return Fit(passes, order, kind, None, math.inf, leaves, clusters, removed=removed)


def stand_in(facts: Facts) -> Samples:
    """Return two samples with the total weight and the ranges of all: the corners of their box."""
    half = facts.total_weight / 2
    space = facts.space
    return build_samples(
        np.stack([facts.least, facts.most]),
        np.array([half, half]),
        space.period,
        on_sphere=space.on_sphere,
        units=space.units,
        n_jobs=1,
    )


def neighbors_of(passes: Passes, facts: Facts, k: int) -> Neighbors:
    """Return what determines local scales.

    The spacing depends on the number of distinct rows only if that is small. They are counted
    unless a part of the sample has enough of them.
    """
    dimension = facts.n_varying
    widest = spacing_for(facts.n_rows, dimension)
    distinct = len(np.unique(facts.sample[:_SAMPLED], axis=0))
    if spacing_for(distinct, dimension) < widest:
        distinct = sum(passes.each_box("locations", count_locations))
    return Neighbors(k, spacing_for(distinct, dimension), dimension)


def _removed(
    passes: Passes, settings: KernelSettings | LocalSettings, order: Order
) -> Removed | None:
    """Remove edges if there are fewer modes than clusters are wanted."""
    wanted = settings.n_clusters
    return None if wanted is None else remove_longest(passes, wanted, order)


def _unmerged(leaves: Leaves) -> Grouping:
    """Return every leaf as a cluster of its own."""
    own = np.arange(len(leaves))
    return Grouping(own, own)


def _merged(
    linked: LinkedLeaves, settings: KernelSettings | LocalSettings, chance: float, gap: str
) -> Grouping:
    """Merge insignificant leaves, as a fit in memory does."""
    tree = linked.tree
    least = settings.min_significance
    found = merge_modes(linked.forest, tree, settings.n_clusters, least, chance, gap=gap)
    return Grouping(found.forest.labels, found.forest.roots, tree, found.min_significance)
