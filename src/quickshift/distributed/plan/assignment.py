"""Assignment of points that are not in the forest to rows that are, across all boxes."""

from dataclasses import dataclass

import numpy as np

from quickshift.arrays import Flags, Floats, Indices
from quickshift.distributed.distances import compared, squared_distances
from quickshift.distributed.partition import boxes_apart, inside
from quickshift.distributed.plan.passes import Passes
from quickshift.distributed.store import Store
from quickshift.distributed.tasks.climbing import Order
from quickshift.distributed.tasks.queries import Climbers, assign_in_box
from quickshift.stages.parent_graph import rounded

__all__ = ["assign"]

_EQUAL, _HIGHER, _NEAREST, _NONE = range(4)  # what was found for a point, best first


@dataclass
class _Found:
    """The best row found for each point so far."""

    store: Store
    order: Order
    points: Climbers
    position: Indices
    kind: Indices
    square: Floats

    def offer(self, some: Indices, candidate: Indices) -> None:
        """Replace what was found for some points by better candidates."""
        store, bits = self.store, self.order.bits
        own, tau = self.points.point[some], self.points.tau[some]
        point = store.read_at("points", candidate)
        height = rounded(store.read_at("heights", candidate), bits)
        square = squared_distances(own, point, store.partition.period, store.exponent)
        near = np.ldexp(np.sqrt(square), store.exponent) <= tau
        strict = self.order.ties == "strict"
        higher = near & compared((height, self.points.height[some]), (point, own), strict)
        kind = np.where((point == own).all(axis=1), _EQUAL, np.where(higher, _HIGHER, _NEAREST))
        better = (kind < self.kind[some]) | (
            (kind == self.kind[some]) & (square < self.square[some])
        )
        tied = np.flatnonzero((kind == self.kind[some]) & (square == self.square[some]))
        rival = self.position[some[tied]]
        heights = height[tied], rounded(store.read_at("heights", rival), bits)
        points = point[tied], store.read_at("points", rival)
        better[tied] = compared(heights, points, strict=False)
        changed = some[better]
        self.position[changed], self.kind[changed] = candidate[better], kind[better]
        self.square[changed] = square[better]

    def reach(self) -> Floats:
        """Return how far away a better row may be."""
        distance = np.ldexp(np.sqrt(self.square), self.store.exponent)
        reach = np.where(self.kind == _HIGHER, distance, np.maximum(distance, self.points.tau))
        return np.where(self.kind == _EQUAL, -1.0, reach)


def assign(passes: Passes, points: Climbers, order: Order) -> Indices:
    """Find the row whose label each point takes, as `quickshift.stages.assign` does.

    Parameters
    ----------
    passes : Passes
        Runs the tasks.
    points : Climbers
        The points, with periodic features wrapped into [0, period), their heights and their tau.
    order : Order
        Which of two rows is higher.

    Returns
    -------
    ndarray of shape (n,)
        Positions of the rows.
    """
    store, n = passes.store, len(points.point)
    found = _Found(
        store,
        order,
        Climbers(points.point, rounded(points.height, order.bits), points.tau),
        np.full(n, -1, dtype=np.int64),
        np.full(n, _NONE, dtype=np.int64),
        np.full(n, np.inf),
    )
    own = store.partition.boxes_of(points.point)
    _ask(passes, found, [own == box for box in range(len(store.counts))])
    reach, period = found.reach(), store.partition.period
    others = [
        inside(boxes_apart(low, high, (points.point, points.point), period), reach) & (own != box)
        for box, (low, high) in enumerate(store.bounds)
    ]
    _ask(passes, found, others)
    return found.position


def _ask(passes: Passes, found: _Found, asked: list[Flags]) -> None:
    """Ask each box about some of the points."""
    chosen = [(box, np.flatnonzero(some)) for box, some in enumerate(asked) if some.any()]
    answers = passes.run(
        "assign",
        assign_in_box,
        [(found.store, box, found.points.some(q), found.order) for box, q in chosen],
    )
    for (_, q), candidate in zip(chosen, answers, strict=True):
        found.offer(q, candidate)
