"""Cluster trees in the formats of other libraries."""

from typing import TYPE_CHECKING, Any

import numpy as np

from quickshift import _core
from quickshift.arrays import Floats
from quickshift.extras import optional_import
from quickshift.stages.tree.merges import joined_leaves, lone_leaves

if TYPE_CHECKING:
    import networkx
    import pandas

    from quickshift.stages.tree.cluster_tree import ClusterTree

__all__ = ["leaf_columns", "to_linkage", "to_networkx", "to_pandas"]


def to_linkage(tree: "ClusterTree") -> Floats:
    """Return the merges as a SciPy linkage matrix of the leaves."""
    n_leaves = tree.leaf_indices.size
    highest = float(tree.births.max())
    parent = np.zeros(n_leaves, dtype=np.int64)
    distance = np.full(n_leaves, highest)  # leaves that never meet are joined at level 0
    survivor, absorbed = joined_leaves(tree.merges).T
    parent[absorbed] = survivor
    distance[absorbed] = highest - tree.merges[:, 2]
    alone = np.flatnonzero(lone_leaves(tree.merges, n_leaves))[1:]  # the first is the highest
    return _core.linkage(parent, distance, np.concatenate([absorbed, alone]))


def leaf_columns(tree: "ClusterTree") -> dict[str, Any]:
    """Return the columns of the table of leaves."""
    survivors = np.full(tree.leaf_indices.size, -1, dtype=np.int64)
    survivor, absorbed = joined_leaves(tree.merges).T
    survivors[absorbed] = survivor
    birth, death = tree.persistence().T
    return {
        "row": tree.leaf_indices,
        "birth": birth,
        "death": death,
        "absorbed_by": survivors,
        "towards": tree.towards,
        "size": tree.sizes,
        "significance": (
            np.full(survivors.size, np.nan) if tree.significance is None else tree.significance
        ),
    }


def to_pandas(tree: "ClusterTree") -> "pandas.DataFrame":
    """Return the leaves as a table, one row per leaf."""
    with optional_import("pandas", "io", "to_pandas()"):
        import pandas

    index = pandas.RangeIndex(tree.leaf_indices.size, name="leaf")
    return pandas.DataFrame(leaf_columns(tree), index=index)


def to_networkx(tree: "ClusterTree") -> "networkx.DiGraph":
    """Return leaves and merges as a directed graph."""
    with optional_import("networkx", "io", "to_networkx()"):
        import networkx

    graph = networkx.DiGraph(**({"tau": tree.tau} if isinstance(tree.tau, float) else {}))
    leaves = zip(tree.leaf_indices.tolist(), tree.births.tolist(), tree.sizes.tolist(), strict=True)
    for leaf, (row, birth, size) in enumerate(leaves):
        graph.add_node(leaf, row=row, birth=birth, size=size)
    for survivor, absorbed, level in tree.merges.tolist():
        graph.add_edge(int(absorbed), int(survivor), level=level)
    return graph
