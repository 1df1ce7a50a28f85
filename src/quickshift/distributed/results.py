"""Results of a fit; those that grow with the data are read from files when they are asked for."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from quickshift.arrays import Floats, Indices
from quickshift.checks.numbers import check_path
from quickshift.distributed.absent import Absent
from quickshift.distributed.plan.fits import Fit
from quickshift.distributed.plan.passes import Passes
from quickshift.distributed.stitch import Leaves, pieces_of
from quickshift.distributed.store import TemporaryFolder, joined_ids
from quickshift.files import published
from quickshift.spaces import Space

__all__ = [
    "Cut",
    "Fitted",
    "heights_by_row",
    "labels_by_row",
    "modes_of",
    "taus_by_row",
    "write_labels",
]


@dataclass(frozen=True)
class Fitted:
    """A fit, with what is needed to show it to the user.

    Attributes
    ----------
    fit : Fit
        What the passes have found.
    space : Space
        The coordinates of the fit.
    given : dict
        The lengths that the user gave, by the name of the parameter and the distance.
    modes : ndarray of shape (n_clusters, n_features)
        The modes, in the features of the user.
    files : TemporaryFolder or None
        Keeps the files of the fit; None if they are in a folder of the user.
    """

    fit: Fit
    space: Space
    given: dict[tuple[str, float], float]
    modes: Floats
    files: TemporaryFolder | None = None

    def to_user(self, distance: float, name: str) -> float:
        """Return a length as users see it: exactly as they gave it, if they did."""
        given = self.given.get((name, distance))
        return float(self.space.to_user(distance)) if given is None else float(given)


def modes_of(fit: Fit, space: Space) -> Floats:
    """Return the modes of the clusters, in the features of the user."""
    modes = fit.clusters.modes
    if space.keeps_points:
        points: Floats = fit.leaves.point[modes]
    else:
        points = fit.passes.store.read_at("given", fit.leaves.position[modes])
    return points


class Cut:
    """A cut of a fit: the labels of all rows.

    Parameters
    ----------
    fit : Fit
        The fit.
    tau : float or None
        The tau of the cut; None for the tau of each row.
    leaves : Leaves
        The forest.
    groups : ndarray of shape (n_leaves,) or None
        The cluster of each leaf; None if every leaf is a cluster.
    name : str
        The array with the tops of the rows.
    """

    def __init__(
        self,
        fit: Fit,
        tau: float | None,
        leaves: Leaves,
        groups: Indices | None = None,
        *,
        name: str = "top",
    ) -> None:
        self.fit, self.tau, self.leaves, self.groups, self.name = fit, tau, leaves, groups, name

    def of_box(self, box: int) -> Indices:
        """Return the label of each row of a box."""
        store = self.fit.passes.store
        piece = store.read(box, pieces_of(self.name))[store.read(box, self.name)]
        return self._labels(self.leaves.leaf_of_piece[piece])

    def of_absent(self, absent: Absent, passes: Passes) -> Indices:
        """Return the labels of the rows of weight zero."""
        return self._labels(absent.leaves(self.fit, passes, self.tau, self.leaves, self.name))

    def _labels(self, leaf: Indices) -> Indices:
        return leaf if self.groups is None else self.groups[leaf]


def labels_by_row(cut: Cut, n_rows: int, absent: Absent | None, passes: Passes) -> Indices:
    """Return the label of every row, in the order of the user's data."""
    labels = np.empty(n_rows, dtype=np.int64)
    store = cut.fit.passes.store
    for box in range(len(store.counts)):
        labels[store.read(box, "rows")] = cut.of_box(box)
    if absent is not None:
        labels[absent.row] = cut.of_absent(absent, passes)
    return labels


def heights_by_row(fit: Fit, n_rows: int, absent: Absent | None) -> Floats:
    """Return the height of every row, in the order of the user's data."""
    return _by_row(fit, n_rows, "heights", None if absent is None else (absent.row, absent.height))


def taus_by_row(fit: Fit, n_rows: int, absent: Absent | None) -> Floats:
    """Return the tau of every row, in the order of the user's data."""
    name = "tau" if fit.removed is None else "kept-tau"
    return _by_row(fit, n_rows, name, None if absent is None else (absent.row, absent.taus(fit)))


def _by_row(fit: Fit, n_rows: int, name: str, others: tuple[Indices, Floats] | None) -> Floats:
    values = np.empty(n_rows)
    store = fit.passes.store
    for box in range(len(store.counts)):
        values[store.read(box, "rows")] = store.read(box, name)
    if others is not None:
        values[others[0]] = others[1]
    return values


def write_labels(cut: Cut, path: str | Path, absent: Absent | None, passes: Passes) -> None:
    """Write id, label and density of every row to a Parquet file, box by box."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    target = _checked_target(path)
    tables = (pa.table(columns) for columns in _tables(cut, absent, passes))
    first = next(tables)  # there is at least one box
    with published(target) as file, pq.ParquetWriter(file, first.schema) as writer:
        for table in chain([first], tables):
            writer.write_table(table)


def _checked_target(path: str | Path) -> Path:
    """Return the path of a file that can be written."""
    target = check_path(path)
    if target.is_dir():
        raise IsADirectoryError(
            f"path is {str(path)!r}, which is a folder; expected the path of a file. Add a name, "
            f"such as {str(target / 'labels.parquet')!r}."
        )
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"path is {str(path)!r}, but there is no folder {str(target.parent)!r}; expected a "
            f"file in a folder that exists. Create the folder, or choose another."
        )
    return target


def _tables(cut: Cut, absent: Absent | None, passes: Passes) -> Iterator[dict[str, Any]]:
    """Yield the columns of one box after the other, and of the rows of weight zero."""
    store, densities = cut.fit.passes.store, cut.fit.kind.densities
    for box in range(len(store.counts)):
        ids = joined_ids([(store.folder(box), slice(None))])
        heights = np.array(store.read(box, "heights"))
        yield {
            "id": np.asarray(store.read(box, "rows")) if ids is None else _narrow(ids),
            "label": cut.of_box(box),
            "density": densities(heights),
        }
    if absent is not None:
        yield {
            "id": absent.row if absent.ids is None else _narrow(absent.ids),
            "label": cut.of_absent(absent, passes),
            "density": densities(absent.height),
        }


def _narrow(ids: Any) -> Any:
    """Return texts with 32 bits per offset, as most tables have them, in parts that allow it."""
    import pyarrow as pa

    narrow = {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}
    if ids.type not in narrow:
        return ids
    parts = [ids]
    while any(part.nbytes > _NARROW_BYTES and len(part) > 1 for part in parts):
        halves = [(part[: len(part) // 2], part[len(part) // 2 :]) for part in parts]
        parts = [half for pair in halves for half in pair if len(half)]
    return pa.chunked_array([part.cast(narrow[ids.type]) for part in parts])


_NARROW_BYTES = 1 << 30
