"""Results of a fit that grow with the data: read from files when they are asked for."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from quickshift.arrays import Floats, Indices
from quickshift.distributed.plan.fits import Fit
from quickshift.distributed.stitch import Leaves, pieces_of

__all__ = ["labels_by_row", "lengths_by_row", "write_labels"]


def _labels_of_box(
    fit: Fit, box: int, leaves: Leaves, groups: Indices | None, name: str = "top"
) -> Indices:
    """Return the label of each row of a box."""
    store = fit.passes.store
    piece = store.read(box, pieces_of(name))[store.read(box, name)]
    leaf: Indices = leaves.leaf_of_piece[piece]
    return leaf if groups is None else groups[leaf]


def labels_by_row(
    fit: Fit, n_rows: int, leaves: Leaves, groups: Indices | None, name: str = "top"
) -> Indices:
    """Return the label of every row, in the order of the user's data; -1 for weight zero.

    Parameters
    ----------
    fit : Fit
        The fit.
    n_rows : int
        Number of rows of the input.
    leaves : Leaves
        The forest.
    groups : ndarray of shape (n_leaves,) or None
        The cluster of each leaf; None if every leaf is a cluster.
    name : str
        The array with the tops of the rows.

    Returns
    -------
    ndarray of shape (n_rows,), int64
    """
    labels = np.full(n_rows, -1, dtype=np.int64)
    store = fit.passes.store
    for box in range(len(store.counts)):
        labels[store.read(box, "rows")] = _labels_of_box(fit, box, leaves, groups, name)
    return labels


def lengths_by_row(fit: Fit, n_rows: int, name: str) -> Floats:
    """Return heights or tau of every row, in the order of the user's data; NaN for weight zero."""
    values = np.full(n_rows, np.nan)
    store = fit.passes.store
    for box in range(len(store.counts)):
        values[store.read(box, "rows")] = store.read(box, name)
    return values


def write_labels(fit: Fit, path: str | Path) -> None:
    """Write id, label and density of every row to a Parquet file, box by box."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    target = Path(path)
    temporary = target.with_name(f".{target.name}.partial")
    writer = None
    try:
        for table in _tables(fit):
            batch = pa.table(table)
            writer = writer or pq.ParquetWriter(temporary, batch.schema)
            writer.write_table(batch)
    except BaseException:
        if writer is not None:
            writer.close()
        temporary.unlink(missing_ok=True)
        raise
    assert writer is not None  # there is at least one box
    writer.close()
    temporary.replace(target)


def _tables(fit: Fit) -> Iterator[dict[str, Any]]:
    """Yield the columns of one box after the other."""
    store = fit.passes.store
    for box in range(len(store.counts)):
        name = "ids" if store.has(box, "ids") else "rows"
        yield {
            "id": np.asarray(store.read(box, name)),
            "label": _labels_of_box(fit, box, fit.leaves, fit.clusters.labels),
            "density": fit.kind.densities(np.array(store.read(box, "heights"))),
        }
