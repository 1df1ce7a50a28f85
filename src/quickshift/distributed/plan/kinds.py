"""The two kinds of heights: sums of kernels for one bandwidth, and local scales."""

import math
from dataclasses import dataclass, replace

from quickshift.arrays import Floats
from quickshift.distributed.plan.heights import scales_at, sum_at_points
from quickshift.distributed.plan.passes import Passes
from quickshift.distributed.plan.tree import LinkedLeaves, link
from quickshift.distributed.stitch import Leaves
from quickshift.distributed.tasks.boxes import wrapped
from quickshift.distributed.tasks.climbing import Density, Order
from quickshift.distributed.tasks.queries import Neighbors
from quickshift.stages.clusters import SHORTEST
from quickshift.stages.density import Estimate
from quickshift.stages.local_scale import LocalScale, levels_of
from quickshift.stages.tree.significance import assess_by_levels, assess_by_sums

__all__ = ["KernelHeights", "ScaleHeights"]


@dataclass(frozen=True)
class KernelHeights:
    """Sums of kernels for one bandwidth.

    Attributes
    ----------
    estimate : Estimate
        Turns sums into densities. Its samples only stand for the data: they have the same total
        weight and the same ranges of features.
    density : Density
        What tasks need to evaluate sums.
    least_weight : float
        Smallest weight of a row.
    """

    estimate: Estimate
    density: Density
    least_weight: float

    def at(self, passes: Passes, points: Floats) -> tuple[Floats, None]:
        """Return the heights of points that need not be rows; they have no tau of their own."""
        inside = wrapped(points, passes.store.partition.period)
        return sum_at_points(passes, inside, self.density), None

    def linked(
        self, passes: Passes, leaves: Leaves, tau: float | None, order: Order
    ) -> LinkedLeaves:
        """Return the cluster tree of the leaves, with their significance."""
        assert tau is not None  # a kernel density has one tau for all rows
        on_sphere = self.estimate.samples.on_sphere
        linked = link(
            passes, leaves, max(tau, SHORTEST), order, lambda sums: sums, on_sphere=on_sphere
        )
        tree = assess_by_sums(
            replace(linked.tree, log_unit=self.estimate.log_constant),
            self.estimate,
            linked.graph,
            lambda points: self.at(passes, points)[0],
            self.least_weight,
        )
        return replace(linked, tree=tree)

    def densities(self, heights: Floats) -> Floats:
        """Turn heights into densities."""
        return self.estimate.density(heights)

    def densities_of_levels(self, levels: Floats) -> Floats:
        """Turn levels of the tree, which are heights, into densities."""
        return self.estimate.density(levels)


@dataclass(frozen=True)
class ScaleHeights:
    """Negative local scales, -r.

    Attributes
    ----------
    scale : LocalScale
        Turns -r into densities. It has no heights of its own, and its samples only stand for the
        data: they have the same total weight and the same ranges of features.
    neighbors : Neighbors
        What determines r and tau.
    """

    scale: LocalScale
    neighbors: Neighbors

    def at(self, passes: Passes, points: Floats) -> tuple[Floats, Floats]:
        """Return the heights and the tau of points that need not be rows."""
        inside = wrapped(points, passes.store.partition.period)
        r, tau = scales_at(passes, inside, self.neighbors)
        return -r, tau

    def linked(
        self, passes: Passes, leaves: Leaves, tau: float | None, order: Order
    ) -> LinkedLeaves:
        """Return the cluster tree of the leaves, with their significance."""
        length = None if tau is None else max(tau, SHORTEST)
        linked = link(
            passes,
            leaves,
            length,
            order,
            lambda heights: levels_of(-heights),
            on_sphere=self.scale.samples.on_sphere,
        )
        d, k = self.neighbors.dimension, self.neighbors.k
        tree = assess_by_levels(
            replace(linked.tree, log_unit=self.scale.log_constant, power=float(d)),
            linked.graph,
            lambda points: levels_of(-self.at(passes, points)[0]),
            d * math.sqrt(k / 2),
        )
        return replace(linked, tree=tree)

    def densities(self, heights: Floats) -> Floats:
        """Turn heights into densities."""
        return self.scale.density(heights)

    def densities_of_levels(self, levels: Floats) -> Floats:
        """Turn levels of the tree, which are 1/r, into densities."""
        return self.scale.density_of_levels(levels)
