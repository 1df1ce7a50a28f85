"""Queries to one box about points that may be in others: higher rows, sums, nearest locations."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from quickshift import _core
from quickshift.arrays import Floats, Indices
from quickshift.distributed.partition import boxes_apart, inside
from quickshift.distributed.store import Store
from quickshift.distributed.tasks.climbing import Density, Order
from quickshift.distributed.tasks.regions import Region, rows_of_blocks
from quickshift.kernels import get_kernel
from quickshift.stages.density import heights_at_points, make_estimate

__all__ = [
    "Answers",
    "Climbers",
    "Near",
    "Neighbors",
    "Questions",
    "assign_in_box",
    "count_locations",
    "nearest_locations",
    "read_near",
    "sums_at",
]

_BLOCK = 1 << 22  # entries of the arrays that are held in memory at once


def count_locations(store: Store, box: int) -> int:
    """Return the number of distinct rows of a box."""
    return _box(store, box).samples().tree.n_locations


@dataclass(frozen=True)
class Climbers:
    """Points in search of a higher row.

    Attributes
    ----------
    point : ndarray of shape (n, n_features)
        The points.
    height : ndarray of shape (n,)
        Their heights.
    tau : ndarray of shape (n,)
        Longest distance to a higher row.
    """

    point: Floats
    height: Floats
    tau: Floats

    def some(self, chosen: Indices) -> "Climbers":
        """Return some of the points."""
        return Climbers(self.point[chosen], self.height[chosen], self.tau[chosen])


def assign_in_box(store: Store, box: int, points: Climbers, order: Order) -> Indices:
    """Return the position of a row of a box for each point.

    It is a row at the same location, if there is one; otherwise the nearest higher row, if it is
    within tau of the point; otherwise the nearest row.
    """
    rows = _core.assign(
        _box(store, box).samples().tree,
        np.asarray(store.read(box, "heights")),
        order.bits,
        order.ties == "strict",
        np.ascontiguousarray(points.tau),
        np.ascontiguousarray(points.point),
        np.ascontiguousarray(points.height),
        1,
    )
    positions: Indices = store.offsets[box] + rows.view(np.int64)
    return positions


def sums_at(store: Store, box: int, points: Floats, density: Density) -> Floats:
    """Sum the kernel profiles of the rows of a box at some points."""
    kernel = get_kernel(density.kernel)
    samples = _box(store, box).samples()
    estimate = make_estimate(samples, density.bandwidth, kernel, density.rtol, 1)
    return heights_at_points(estimate, np.ascontiguousarray(points))


@dataclass(frozen=True)
class Neighbors:
    """What determines a local scale; see `quickshift.stages.local_scale`.

    Attributes
    ----------
    k : int
        K, the number of nearest other samples, counted by weight.
    spacing : int
        g: tau is the distance to the g-th nearest distinct sample.
    dimension : int
        Number of features that are not constant.
    """

    k: int
    spacing: int
    dimension: int


@dataclass(frozen=True)
class Near:
    """Locations near some queries, in a flat list.

    Attributes
    ----------
    query : ndarray of shape (n,)
        The query that each entry belongs to.
    position : ndarray of shape (n,)
        Position of the first row of the location.
    weight : ndarray of shape (n,)
        Weight of the location.
    distance : ndarray of shape (n,)
        Distance from the query, up to rounding.
    """

    query: Indices
    position: Indices
    weight: Floats
    distance: Floats


@dataclass(frozen=True)
class Questions:
    """Points whose local scales are sought.

    Attributes
    ----------
    name : str
        Name of the array in which the answer is written.
    number : ndarray of shape (n,)
        Numbers of the points, in rising order.
    point : ndarray of shape (n, n_features)
        The points.
    bound : ndarray of shape (n,)
        Farther locations do not count.
    """

    name: str
    number: Indices
    point: Floats
    bound: Floats


@dataclass(frozen=True)
class Answers:
    """Where the answers to some successive questions are.

    Attributes
    ----------
    files : tuple of tuple
        Boxes that were asked, and the names of their arrays.
    first : int
        Number of the first question.
    """

    files: tuple[tuple[int, str], ...]
    first: int


def nearest_locations(store: Store, box: int, questions: Questions, neighbors: Neighbors) -> Floats:
    """Find the locations of a box that may determine the local scales of points; write them.

    For each point, these are the nearest locations within its bound. Their weight, without that of
    a location at the point itself, is at least K, and they are more than g, if the box has enough.

    Parameters
    ----------
    store : Store
        The files.
    box : int
        Number of the box.
    questions : Questions
        The points.
    neighbors : Neighbors
        K and g.

    Returns
    -------
    ndarray of shape (n,)
        New bounds: the distance within which the box has enough locations, infinite if it has not.
    """
    region = Region(store, [(box, _places_near(store, box, questions))])
    first_rows, weights = region.samples().tree.first_rows()
    positions = region.positions()[first_rows]
    tree = _tree_of(region.read("points")[first_rows], store.partition.period)
    most = neighbors.k / min(1.0, float(weights.min())) + neighbors.spacing + 2
    k = int(min(most, len(weights)))
    found, enough = [], []
    step = max(_BLOCK // k, 1)
    for first in range(0, len(questions.point), step):
        some = slice(first, first + step)
        nearest = tree.query(questions.point[some], k=np.arange(1, k + 1))
        distance, place = map(np.asarray, nearest)
        weight = weights[place]
        enough.append(_enough(distance, weight, neighbors))
        kept = inside(distance, questions.bound[some][:, None])
        query = np.broadcast_to(questions.number[some][:, None], kept.shape)[kept]
        found.append(np.stack([query, positions[place][kept], weight[kept], distance[kept]]))
    store.write(box, questions.name, np.concatenate(found, axis=1))
    return np.concatenate(enough)


def _places_near(store: Store, box: int, questions: Questions) -> Indices:
    """Return the places of the rows of all blocks that are within the bound of a question.

    These are all rows that are within a bound, with all their duplicates, and some more.
    """
    blocks, period = store.read(box, "blocks"), store.partition.period
    near = np.zeros(len(blocks), dtype=bool)
    if len(blocks) * len(questions.point) > _BLOCK or not np.isfinite(questions.bound).all():
        near[:] = True
    else:
        for i, (low, high) in enumerate(blocks):
            apart = boxes_apart(low, high, (questions.point, questions.point), period)
            near[i] = inside(apart, questions.bound).any()
    if not near.any():
        near[0] = True  # an answer without locations would be a special case
    return rows_of_blocks(np.flatnonzero(near), int(store.counts[box]))


def _tree_of(points: Floats, period: Floats | None) -> cKDTree:
    """Return SciPy's tree of points. It only selects candidates, with a margin for its rounding."""
    if period is None:
        return cKDTree(points)
    return cKDTree(points, boxsize=np.where(np.isfinite(period), period, 0.0))


def _enough(distance: Floats, weight: Floats, neighbors: Neighbors) -> Floats:
    """Return the distance within which each row of a table has enough locations, or infinity."""
    apart = distance > 0
    heavy = np.cumsum(np.where(apart, weight, 0.0), axis=1) >= neighbors.k
    many = np.cumsum(apart, axis=1) >= neighbors.spacing
    both = heavy & many
    last = both.argmax(axis=1)
    found: Floats = np.where(both.any(axis=1), distance[np.arange(len(last)), last], np.inf)
    return found


def read_near(store: Store, answers: Answers, n_questions: int) -> Near:
    """Return the locations near some points, which are counted from the first of them."""
    first = answers.first
    parts = []
    for box, name in answers.files:
        table = store.read(box, name)
        begin, end = np.searchsorted(table[0], [first, first + n_questions])
        parts.append(np.asarray(table[:, begin:end]))
    query, position, weight, distance = np.concatenate(parts, axis=1)
    return Near(query.astype(np.int64) - first, position.astype(np.int64), weight, distance)


def _box(store: Store, box: int) -> Region:
    return Region(store, [(box, slice(None))])
