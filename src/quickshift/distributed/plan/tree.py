"""The passes that link the forest, and the leaf-level tree with the significance of each mode.

The tree has one row per leaf in place of one per sample, so everything that `ClusterTree` offers
works on it, and so do the rules that merge modes. None of its arrays grows with the data.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from quickshift.arrays import Floats, Indices, Numbers
from quickshift.distributed.plan.forest import parents_beyond
from quickshift.distributed.plan.passes import Passes
from quickshift.distributed.stitch import Leaves, leaves_of
from quickshift.distributed.tasks.climbing import Order
from quickshift.distributed.tasks.linking import Saddles, link_box
from quickshift.stages.forest import Forest
from quickshift.stages.parent_graph import ParentGraph
from quickshift.stages.samples import build_samples
from quickshift.stages.tree.cluster_tree import ClusterTree
from quickshift.stages.tree.merges import lone_leaves, merges_of_leaves

__all__ = ["LinkedLeaves", "link"]


@dataclass(frozen=True)
class LinkedLeaves:
    """The cluster tree of the leaves, and the parts of other stages that its rules need.

    Attributes
    ----------
    tree : ClusterTree
        One row per leaf.
    graph : ParentGraph
        The parents of the leaves that meet no other leaf, however far away. The first rows are the
        leaves, the others their parents.
    forest : Forest
        Every leaf as a tree of its own.
    """

    tree: ClusterTree
    graph: ParentGraph
    forest: Forest


def link(
    passes: Passes,
    leaves: Leaves,
    tau: float | None,
    order: Order,
    to_levels: Callable[[Floats], Floats],
    *,
    on_sphere: bool = False,
) -> LinkedLeaves:
    """Link the pieces of the forest across all boxes.

    Parameters
    ----------
    passes : Passes
        Runs the tasks.
    leaves : Leaves
        From `cut`.
    tau : float or None
        Rows nearer than this are linked; None for the tau of each row.
    order : Order
        Which of two rows is higher.
    to_levels : callable
        Turns heights into the levels of the tree.
    on_sphere : bool
        Whether all points are on the unit sphere, see `Samples.on_sphere`.

    Returns
    -------
    LinkedLeaves
    """
    saddles = _sorted(passes.each_box("link", link_box, tau))
    m = len(leaves)
    merges, beside = merges_of_leaves(saddles.pieces, saddles.level, m, leaves.leaf_of_piece)
    graph, leaf_of_parent = _parents(passes, leaves, lone_leaves(merges, m), order)
    graph = replace(graph, samples=replace(graph.samples, on_sphere=on_sphere))
    own = np.arange(m)
    taus: float | Floats = tau if tau is not None else passes.store.read_at("tau", leaves.position)
    tree = ClusterTree(
        leaf_labels=own,
        leaf_indices=own,
        density=to_levels(leaves.height),
        merges=merges,
        tau=taus,
        sizes=leaves.size,
        towards=np.where(beside == own, leaf_of_parent, beside),
        pieces=own,
        piece_merges=merges,
    )
    return LinkedLeaves(tree, graph, Forest(own, own, taus, graph))


def _sorted(parts: list[Saddles]) -> Saddles:
    """Return the saddles of all boxes in the order in which they join pieces."""
    pieces = np.sort(np.concatenate([part.pieces for part in parts]), axis=1)
    level = np.concatenate([part.level for part in parts])
    square = np.concatenate([part.square for part in parts])
    order = np.lexsort([pieces[:, 1], pieces[:, 0], square, -level])
    return Saddles(np.ascontiguousarray(pieces[order]), level[order], square[order])


def _parents(
    passes: Passes, leaves: Leaves, alone: Numbers, order: Order
) -> tuple[ParentGraph, Indices]:
    """Find the parents of lone leaves, and the leaves of these parents (-1 if there is none)."""
    store, m = passes.store, len(leaves)
    lone = np.flatnonzero(alone)
    found, distance = parents_beyond(passes, leaves.position[lone], order)
    none = found == leaves.position[lone]
    parent = np.arange(m)
    parent[lone] = np.where(none, lone, m + np.arange(lone.size))
    lengths = np.full(m, np.inf)
    lengths[lone] = distance
    points = np.concatenate([leaves.point, store.read_at("points", found)])
    samples = build_samples(points, None, store.partition.period, n_jobs=1)
    heights = np.concatenate([leaves.height, store.read_at("heights", found)])
    graph = ParentGraph(
        np.concatenate([parent, m + np.arange(lone.size)]),
        np.concatenate([lengths, np.full(lone.size, np.inf)]),
        samples,
        heights,
        order.ties,
        order.bits,
    )
    leaf = np.full(m, -1, dtype=np.int64)
    leaf[lone] = np.where(none, -1, leaves_of(store, leaves, found))
    return graph, leaf
