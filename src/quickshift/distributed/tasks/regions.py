"""Regions: the rows of a box, followed by its halo, the rows of other boxes near it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from quickshift.arrays import Floats, Indices
from quickshift.distributed.partition import boxes_apart, inside
from quickshift.distributed.store import BLOCK, Store
from quickshift.stages.samples import Samples, build_samples

__all__ = ["Region", "fitting_region", "read_region", "rows_of_blocks", "rows_within"]


@dataclass(frozen=True)
class Region:
    """The rows of a box, followed by those of its halo.

    Rows of one location are always in the same box, in the order of the user's data. They keep that
    order in a region, so the first of them is the same as in a fit of all data.

    Attributes
    ----------
    store : Store
        The files.
    parts : list of tuple
        Boxes, and the places of the region's rows in them. The first one is the whole box.
    """

    store: Store
    parts: list[tuple[int, Indices | slice]]

    @property
    def box(self) -> int:
        """The box that the region surrounds."""
        return self.parts[0][0]

    @property
    def n_owned(self) -> int:
        """Number of rows of the box itself, which come first."""
        return int(self.store.counts[self.box])

    @property
    def n_rows(self) -> int:
        """Number of rows, including the halo."""
        return self.n_owned + sum(len(at) for _, at in self.parts[1:] if not isinstance(at, slice))

    def read(self, name: str) -> Any:
        """Return an array of all rows."""
        return np.concatenate([self.store.read(box, name)[at] for box, at in self.parts])

    def positions(self) -> Indices:
        """Return the position of each row."""
        offsets = self.store.offsets
        places = [
            offsets[box] + (np.arange(self.store.counts[box]) if isinstance(at, slice) else at)
            for box, at in self.parts
        ]
        return np.concatenate(places)

    def pieces(self) -> Indices:
        """Return the piece of each row."""
        store = self.store
        return np.concatenate(
            [store.read(box, "piece")[store.read(box, "top")[at]] for box, at in self.parts]
        )

    def samples(self) -> Samples:
        """Build the k-d tree of the rows."""
        weights = self.read("weights") if self.store.has(self.box, "weights") else None
        return build_samples(self.read("points"), weights, self.store.partition.period, n_jobs=1)

    def with_extra(self, positions: Indices) -> "Region":
        """Add rows to the halo, given by their positions, unless the region has them."""
        halo = {box: at for box, at in self.parts[1:] if not isinstance(at, slice)}
        owners = np.searchsorted(self.store.offsets, positions, side="right") - 1
        for box in np.unique(owners[owners != self.box]).tolist():
            at = positions[owners == box] - self.store.offsets[box]
            halo[box] = np.union1d(halo.get(box, at), at)
        return Region(self.store, [self.parts[0], *halo.items()])


def read_region(store: Store, box: int, reach: float) -> Region:
    """Find the rows within a distance of a box.

    Parameters
    ----------
    store : Store
        The files.
    box : int
        Number of the box.
    reach : float
        Rows of other boxes that are at most this far from the box are in the halo.

    Returns
    -------
    Region
    """
    parts: list[tuple[int, Indices | slice]] = [(box, slice(None))]
    partition, bounds = store.partition, store.bounds
    cell = partition.lower[box], partition.upper[box]
    apart = boxes_apart(*cell, (bounds[:, 0], bounds[:, 1]), partition.period)
    for other in np.flatnonzero(inside(apart, reach)).tolist():
        if other != box and store.counts[other]:
            at = _places_within(store, other, cell, reach)
            if at.size:
                parts.append((other, at))
    return Region(store, parts)


def fitting_region(store: Store, box: int, reach: float) -> Region:
    """Find the rows within a distance of a box, as `read_region` does, if they fit into memory."""
    region = read_region(store, box, reach)
    if store.most_rows is not None and region.n_rows > store.most_rows:
        raise MemoryError(
            f"the partition has {region.n_owned} rows and its halo of width {reach:.4g} has "
            f"{region.n_rows - region.n_owned}, expected at most {store.most_rows} together. Raise "
            f"memory_limit, or use a smaller bandwidth or tau"
        )
    return region


def rows_within(store: Store, box: int, reach: float) -> int:
    """Return the number of rows of all blocks of other boxes that are within a distance of a box.

    At most as many rows are in the halo. Their points are not read.
    """
    partition, bounds = store.partition, store.bounds
    cell = partition.lower[box], partition.upper[box]
    apart = boxes_apart(*cell, (bounds[:, 0], bounds[:, 1]), partition.period)
    rows = 0
    for other in np.flatnonzero(inside(apart, reach)).tolist():
        if other != box:
            blocks = store.read(other, "blocks")
            near = boxes_apart(*cell, (blocks[:, 0], blocks[:, 1]), partition.period)
            rows += BLOCK * int(inside(near, reach).sum())
    return rows


def _places_within(store: Store, other: int, cell: tuple[Floats, Floats], reach: float) -> Indices:
    """Return the places of the rows of another box that are within reach of a cell."""
    period = store.partition.period
    blocks = store.read(other, "blocks")
    near = inside(boxes_apart(*cell, (blocks[:, 0], blocks[:, 1]), period), reach)
    places = rows_of_blocks(np.flatnonzero(near), int(store.counts[other]))
    points = store.read(other, "points")[places]
    return places[inside(boxes_apart(*cell, (points, points), period), reach)]


def rows_of_blocks(blocks: Indices, n_rows: int) -> Indices:
    """Return the places of the rows of some blocks."""
    rows = (blocks[:, None] * BLOCK + np.arange(BLOCK)).ravel()
    return rows[rows < n_rows]
