"""What the page needs of a cluster tree, drawn at given points."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from quickshift.checks.exploring import check_tree_has_points
from quickshift.explorer.clusters import density_section, ids_section, palettes, positions_of
from quickshift.explorer.columns import choose_columns, pack_columns, read_table
from quickshift.explorer.ladders import score_ladder
from quickshift.explorer.leaves import leaf_sections, scores_of
from quickshift.explorer.packing import Section, pack
from quickshift.plot.fitted import log10_levels
from quickshift.stages.tree.cluster_tree import ClusterTree

__all__ = ["pack_tree"]


def pack_tree(tree: ClusterTree, X: Any, names: Sequence[str] | None) -> bytes:
    """Pack a cluster tree.

    Parameters
    ----------
    tree : ClusterTree
        From `link` or a fit, pruned or not.
    X : array-like of shape (n_samples, n_columns)
        Where its samples are drawn.
    names : sequence of str, optional
        Names of the columns.

    Returns
    -------
    bytes
        From `pack`.
    """
    check_tree_has_points(X)
    table = read_table(X, tree.leaf_labels.size)
    order = np.argsort(-np.nan_to_num(tree.density), kind="stable")
    log10_density = log10_levels(tree, np.maximum(np.nan_to_num(tree.density), 1e-300))
    columns = choose_columns(table, names, log10_density)
    rows, described, sections = pack_columns(columns)
    rank = positions_of(order)
    score, by = scores_of(tree)
    ladder, steps = score_ladder(score, by, tree.towards)
    sections |= {
        **leaf_sections(tree, np.arange(len(tree)), positions_of(rows)),
        **steps,
        "leaves": Section(tree.leaf_labels[rows], "i32"),
        "rank": Section(rank[rows], "i32", delta=True),
        "density": density_section(log10_density, order, rows),
        **ids_section(columns, rows),
    }
    header = {
        "kind": "clusters",
        "n": rows.size,
        "columns": described,
        "axes": columns.axes,
        "equal": columns.values[1] is not log10_density,
        "note": columns.note,
        "relative": False,
        "chosen": -1,
        "mode": "score",
        "n_clusters": len(tree),
        "reset": "Whole tree",
        "title": f"Cluster tree of {rows.size:,} samples",
        "python": {
            "fit": "",
            "model": "tree",
            "fitted": "tree.labels()",
            "score": f"tree.prune({by}={{}}).labels()",
        },
        "ladders": [ladder],
        **palettes(),
    }
    return pack(header, sections)
