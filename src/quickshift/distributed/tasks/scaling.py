"""Local scales of the rows of one box, with queries to other boxes where the halo is too small.

A row is complete if all locations that determine its r and tau are in the box or its halo. The core
reports how far away the farthest of these is. A row whose ball of that radius leaves the halo is
incomplete. It is measured again among the locations near it in all boxes.
"""

from dataclasses import dataclass

import numpy as np

from quickshift import _core
from quickshift.arrays import Flags, Floats, Indices
from quickshift.distributed.store import Store
from quickshift.distributed.tasks.queries import Answers, Neighbors, read_near
from quickshift.distributed.tasks.regions import Region, narrowed, read_region
from quickshift.stages.samples import Samples, build_samples

__all__ = ["Open", "measure_box", "measure_open", "scales_among", "scales_in_box"]

_SAMPLED = 512  # rows by which the width of the halo is chosen
_THINNED = 8  # one row of this many is in the tree for that, if K is large enough


@dataclass(frozen=True)
class Open:
    """The incomplete rows of a box.

    Attributes
    ----------
    place : ndarray of shape (n,)
        Places of the rows in the box.
    point : ndarray of shape (n, n_features)
        Their coordinates.
    bound : ndarray of shape (n,)
        No location that determines their r and tau is farther away than this.
    """

    place: Indices
    point: Floats
    bound: Floats


def measure_box(store: Store, box: int, neighbors: Neighbors, most_rows: int) -> Open:
    """Measure r and tau of the rows of a box, and write them.

    Parameters
    ----------
    store : Store
        The files.
    box : int
        Number of the box.
    neighbors : Neighbors
        What determines r and tau.
    most_rows : int
        The halo is narrower than the rows need if it would otherwise have more rows than this.

    Returns
    -------
    Open
        The rows whose values are too large, because the halo is too narrow for them.
    """
    region, reach = _fitting_region(store, box, neighbors, most_rows)
    samples = region.samples()
    n = region.n_owned
    r, tau, bound = (array[:n] for array in _bounded_scales(samples, neighbors))
    points = np.asarray(store.read(box, "points"))
    room = store.partition.room(box, points)
    complete = np.ones(n, dtype=bool)
    if samples.n_samples < store.offsets[-1]:
        complete = bound <= (reach + room) * (1 - 1e-9)
    store.write(box, "heights", -r)
    store.write(box, "tau", tau)
    store.write(box, "halo", [_widest(tau, room, complete)])
    store.write(box, "extra", np.empty(0, dtype=np.int64))
    place = np.flatnonzero(~complete)
    return Open(place, points[place], bound[place])


def _bounded_scales(samples: Samples, neighbors: Neighbors) -> tuple[Floats, Floats, Floats]:
    """Return r, tau, and a distance beyond which nothing influences them, infinite if unknown."""
    r, tau, reach = _core.bounded_scales(
        samples.tree, float(neighbors.k), neighbors.spacing, neighbors.dimension
    )
    return r, tau, reach if _has_enough(samples, neighbors) else np.full(r.size, np.inf)


def _has_enough(samples: Samples, neighbors: Neighbors) -> bool:
    """Return whether every point has K samples and enough locations besides itself."""
    heaviest = max(1.0, float(samples.tree.first_rows()[1].max()))
    many = samples.total_weight - heaviest >= neighbors.k
    return many and samples.tree.n_locations > neighbors.spacing


def _fitting_region(
    store: Store, box: int, neighbors: Neighbors, most_rows: int
) -> tuple[Region, float]:
    """Return a box with a halo that is wide enough for most of its rows, and the halo's width."""
    reach = narrowed(store, box, _expected_reach(store, box, neighbors), most_rows)
    return read_region(store, box, reach), reach


def _expected_reach(store: Store, box: int, neighbors: Neighbors) -> float:
    """Return the width of a halo that is probably wide enough for nearly all rows of a box."""
    points = store.read(box, "points")
    thinned = min(_THINNED, max(neighbors.k // 16, 1))
    samples = build_samples(
        np.ascontiguousarray(points[::thinned]), None, store.partition.period, n_jobs=1
    )
    some = np.ascontiguousarray(points[:: -(-len(points) // _SAMPLED)])
    _, _, last = _core.bounded_scales_at(
        samples.tree,
        some,
        float(-(-neighbors.k // thinned)),
        neighbors.spacing,
        neighbors.dimension,
    )
    spare = 1.01 if thinned == 1 else 1.1
    room = store.partition.room(box, some)
    return float(np.maximum(spare * last - room, 0.0).max())


def _widest(tau: Floats, room: Floats, complete: Flags) -> float:
    """Return the width of the halo that contains everything within tau of the complete rows."""
    return float(np.maximum(tau - room, 0.0)[complete].max(initial=0.0))


def measure_open(
    store: Store,
    box: int,
    rows: Open,
    answers: Answers,
    neighbors: Neighbors,
) -> None:
    """Measure incomplete rows again, among the locations near them in all boxes.

    Parameters
    ----------
    store : Store
        The files.
    box : int
        Number of the box.
    rows : Open
        From `measure_box`.
    answers : Answers
        What `nearest_locations` found near these rows.
    neighbors : Neighbors
        What determines r and tau.
    """
    r, tau = scales_among(store, rows.point, answers, neighbors)
    heights, lengths = (np.array(store.read(box, name)) for name in ("heights", "tau"))
    heights[rows.place], lengths[rows.place] = -r, tau
    store.write(box, "heights", heights)
    store.write(box, "tau", lengths)
    near = read_near(store, answers, len(rows.place))
    linked = near.distance <= tau[near.query] * (1 + 1e-9)
    store.write(box, "extra", np.unique(near.position[linked]))


def scales_in_box(
    store: Store, box: int, points: Floats, neighbors: Neighbors
) -> tuple[Floats, Floats, Floats, Flags]:
    """Measure points among the rows of the box that they are in.

    Parameters
    ----------
    store : Store
        The files.
    box : int
        Number of the box.
    points : ndarray of shape (n, n_features)
        Points in the box, which need not be rows.
    neighbors : Neighbors
        What determines r and tau.

    Returns
    -------
    r, tau : ndarray of shape (n,)
        What the rows of the box give.
    bound : ndarray of shape (n,)
        No location that determines r and tau is farther away than this.
    complete : ndarray of shape (n,), bool
        Whether no other box has such a location.
    """
    samples = Region(store, [(box, slice(None))]).samples()
    points = np.ascontiguousarray(points)
    r, tau, bound = _core.bounded_scales_at(
        samples.tree, points, float(neighbors.k), neighbors.spacing, neighbors.dimension
    )
    alone = samples.n_samples == store.offsets[-1]
    if not _has_enough(samples, neighbors):
        bound = np.full(r.size, np.inf)
    complete = alone | (bound <= store.partition.room(box, points) * (1 - 1e-9))
    return r, tau, bound, complete


def scales_among(
    store: Store,
    points: Floats,
    answers: Answers,
    neighbors: Neighbors,
) -> tuple[Floats, Floats]:
    """Return r and tau of points, from the locations that were found near them."""
    near = read_near(store, answers, len(points))
    positions, where = np.unique(near.position, return_index=True)
    samples = build_samples(
        np.ascontiguousarray(store.read_at("points", positions)),
        np.ascontiguousarray(near.weight[where]),
        store.partition.period,
        n_jobs=1,
    )
    return _core.local_scales_at(
        samples.tree,
        np.ascontiguousarray(points),
        float(neighbors.k),
        neighbors.spacing,
        neighbors.dimension,
    )
