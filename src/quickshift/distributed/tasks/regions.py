"""Regions: the rows of a box, followed by its halo, the rows of other boxes near it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from quickshift.arrays import Floats, Indices
from quickshift.distributed.partition import boxes_apart, inside
from quickshift.distributed.store import BLOCK, Store
from quickshift.stages.samples import Samples, build_samples

__all__ = [
    "Region",
    "fitting_region",
    "halo_fits",
    "narrowed",
    "read_region",
    "rows_beside",
    "rows_of_blocks",
]


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
    halo = [(other, places) for other, places, _ in _rows_near(store, box, reach)]
    return Region(store, [(box, slice(None)), *halo])


def fitting_region(store: Store, box: int, reach: float) -> Region:
    """Find the rows within a distance of a box, as `read_region` does, if they fit into memory."""
    region = read_region(store, box, reach)
    if store.most_rows is not None and region.n_rows > store.most_rows:
        advice = "Raise memory_limit" + ("" if store.is_local else ", or use a smaller tau")
        raise MemoryError(
            f"the partition has {region.n_owned} rows and its halo of width {reach:.4g} has "
            f"{region.n_rows - region.n_owned}, expected at most {store.most_rows} together. "
            f"{advice}"
        )
    return region


def halo_fits(store: Store, box: int, reach: float) -> bool:
    """Return whether the rows within a distance of a box fit into memory together with the box."""
    most = store.most_rows
    rows = int(store.counts[box])
    if most is None or rows + _rows_in_blocks(store, box, reach) <= most:
        return True
    for _, places, _ in _rows_near(store, box, reach):
        rows += len(places)
        if rows > most:
            return False
    return True


def rows_beside(store: Store, box: int, reach: float) -> Iterator[Region]:
    """Yield the rows within a distance of a box as one region per other box, without the box."""
    for other, places, _ in _rows_near(store, box, reach):
        yield Region(store, [(other, places)])


def narrowed(store: Store, box: int, reach: float, most_rows: int) -> float:
    """Return the largest distance, up to a given one, within which a box has not too many rows.

    Only bounding boxes of blocks are read until there are not too many rows to be read.
    """
    reach = _narrowed_by_blocks(store, box, reach, _READ * (most_rows + BLOCK))
    apart = [distances for _, _, distances in _rows_near(store, box, reach)]
    found = np.concatenate([np.empty(0), *apart])
    if found.size <= most_rows:
        return reach
    return float(np.partition(found, most_rows)[most_rows]) * (1 - 1e-6)


_READ = 8  # times as many rows as the halo may have are read to find out how wide it may be


def _narrowed_by_blocks(store: Store, box: int, reach: float, most_rows: int) -> float:
    """Return the largest distance within which blocks of other boxes have not too many rows.

    It is 0 if there are too many in blocks that touch the box.
    """
    partition = store.partition
    cell = partition.lower[box], partition.upper[box]
    apart, rows = [np.empty(0)], [np.empty(0)]
    for other in _boxes_near(store, box, reach):
        blocks = store.read(other, "blocks")
        apart.append(boxes_apart(*cell, (blocks[:, 0], blocks[:, 1]), partition.period))
        rows.append(np.full(len(blocks), BLOCK))
        rows[-1][-1] = store.counts[other] - BLOCK * (len(blocks) - 1)
    distance = np.concatenate(apart)
    order = np.argsort(distance)
    beyond = np.flatnonzero(np.cumsum(np.concatenate(rows)[order]) > most_rows)
    if not beyond.size:
        return reach
    return min(reach, float(distance[order[beyond[0]]]) * (1 - 1e-6))


def _boxes_near(store: Store, box: int, reach: float) -> list[int]:
    """Return the other boxes that have rows within a distance of a box."""
    partition, bounds = store.partition, store.bounds
    cell = partition.lower[box], partition.upper[box]
    apart = boxes_apart(*cell, (bounds[:, 0], bounds[:, 1]), partition.period)
    near = np.flatnonzero(inside(apart, reach) & (store.counts > 0))
    return [other for other in near.tolist() if other != box]


def _rows_in_blocks(store: Store, box: int, reach: float) -> int:
    """Return the number of rows of all blocks of other boxes that are within reach of a box."""
    return sum(
        BLOCK * int(_blocks_near(store, box, other, reach).size)
        for other in _boxes_near(store, box, reach)
    )


def _blocks_near(store: Store, box: int, other: int, reach: float) -> Indices:
    """Return the blocks of another box that are within reach of a box."""
    partition, blocks = store.partition, store.read(other, "blocks")
    cell = partition.lower[box], partition.upper[box]
    apart = boxes_apart(*cell, (blocks[:, 0], blocks[:, 1]), partition.period)
    return np.flatnonzero(inside(apart, reach))


def _rows_near(store: Store, box: int, reach: float) -> Iterator[tuple[int, Indices, Floats]]:
    """Yield other boxes, the places of their rows within reach of a box, and the distances."""
    partition = store.partition
    cell = partition.lower[box], partition.upper[box]
    for other in _boxes_near(store, box, reach):
        blocks = _blocks_near(store, box, other, reach)
        places = rows_of_blocks(blocks, int(store.counts[other]))
        points = store.read(other, "points")[places]
        apart = boxes_apart(*cell, (points, points), partition.period)
        near = inside(apart, reach)
        if near.any():
            yield other, places[near], apart[near]


def rows_of_blocks(blocks: Indices, n_rows: int) -> Indices:
    """Return the places of the rows of some blocks."""
    rows = (blocks[:, None] * BLOCK + np.arange(BLOCK)).ravel()
    return rows[rows < n_rows]
