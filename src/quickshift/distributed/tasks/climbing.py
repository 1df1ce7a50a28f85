"""Heights and parents of the rows of one box, and the paths between its rows."""

from dataclasses import dataclass

import numpy as np

from quickshift import _core
from quickshift.arrays import Flags, Floats, Indices
from quickshift.distributed.store import Store
from quickshift.distributed.tasks.regions import (
    Region,
    fitting_region,
    halo_fits,
    read_region,
    rows_beside,
)
from quickshift.kernels import Kernel, get_kernel
from quickshift.stages.density import (
    Estimate,
    heights_at_points,
    make_estimate,
    sums_at_points,
    sums_at_samples,
)
from quickshift.stages.parent_graph import find_parents
from quickshift.stages.samples import build_samples

__all__ = [
    "Density",
    "Order",
    "Tops",
    "climb_box",
    "cut_box",
    "highest_first",
    "left_out_likelihood",
    "sum_kernels",
]

_LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class Density:
    """A kernel density estimate, as tasks evaluate it.

    Attributes
    ----------
    kernel : str
        Name of the kernel.
    bandwidth : float
        The bandwidth h.
    rtol : float
        Relative error allowed in the sums of a kernel with infinite support.
    reach : float
        Samples farther away than this contribute less than `rtol` to any sum, all together.
    """

    kernel: str
    bandwidth: float
    rtol: float
    reach: float


def sum_kernels(store: Store, box: int, density: Density) -> None:
    """Sum kernel profiles at the rows of a box, and write the sums as their heights.

    If the halo does not fit into memory, the sums over other boxes are added one after the other.
    """
    kernel = get_kernel(density.kernel)

    def estimate_of(region: Region) -> Estimate:
        return make_estimate(region.samples(), density.bandwidth, kernel, density.rtol, 1)

    if halo_fits(store, box, density.reach):
        region = read_region(store, box, density.reach)
        sums = sums_at_samples(estimate_of(region))[: region.n_owned]
    else:
        sums = sums_at_samples(estimate_of(Region(store, [(box, slice(None))])))
        points = np.ascontiguousarray(store.read(box, "points"))
        for region in rows_beside(store, box, density.reach):
            sums += heights_at_points(estimate_of(region), points)
    store.write(box, "heights", sums)


def left_out_likelihood(store: Store, box: int, density: Density) -> tuple[float, float]:
    """Return the sum of the leave-one-out log sums of the locations of a box, and their weight.

    Each log sum is that of the kernel profiles at a location, without those at the location itself.
    Other boxes are read one after the other, because a wide bandwidth has a wide halo.

    Parameters
    ----------
    store : Store
        The files. Its ``tau`` is the distance from each row to the nearest other location.
    box : int
        Number of the box.
    density : Density
        The kernel. Its reach is that of the sums at samples, which contain their own profiles.

    Returns
    -------
    total : float
        The weighted sum of the log sums.
    weight : float
        Sum of the weights.
    """
    kernel = get_kernel(density.kernel)
    samples = Region(store, [(box, slice(None))]).samples()
    first, weights = samples.tree.first_rows()
    points = np.ascontiguousarray(store.read(box, "points")[first])
    estimate = make_estimate(samples, density.bandwidth, kernel, density.rtol, 1)
    values, log_scales = estimate.sums_left_out()
    farthest = float(np.max(store.read(box, "tau")))
    with np.errstate(divide="ignore"):
        log_sums = np.log(values[first]) + log_scales[first]
        for region in rows_beside(store, box, _reach_left_out(density, kernel, farthest)):
            beside = make_estimate(region.samples(), density.bandwidth, kernel, density.rtol, 1)
            values, log_scales = sums_at_points(beside, points)
            np.logaddexp(log_sums, np.log(values) + log_scales, out=log_sums)
    return float(weights @ log_sums), float(weights.sum())


def _reach_left_out(density: Density, kernel: Kernel, farthest: float) -> float:
    """Return the distance beyond which samples contribute less than `rtol` to a left-out sum.

    Such a sum is at least the profile at the distance to the nearest other location, which is at
    most ``farthest``. The ratio of the profile at the reach to this one is that of the profile at
    the reach of other sums to the profile at 0.
    """
    if not kernel.infinite:
        return density.reach
    if kernel.name == "gaussian":
        return float(np.hypot(farthest, density.reach))
    return farthest + density.reach


@dataclass(frozen=True)
class Order:
    """Which of two rows is higher; see `quickshift.stages.climb`.

    Attributes
    ----------
    ties : {"total", "strict"}
        Which of two rows of equal height is higher.
    bits : int
        Heights are compared after rounding to this many bits.
    """

    ties: str
    bits: int


def highest_first(
    store: Store, points: Floats, heights: Floats, rows: Indices, bits: int
) -> Indices:
    """Return the order of some rows, the highest first; the first of duplicate rows is higher."""
    by_row = np.argsort(rows)
    if not by_row.size:
        return by_row  # a tree needs at least one row
    samples = build_samples(
        np.ascontiguousarray(points[by_row]), None, store.partition.period, n_jobs=1
    )
    heights = np.ascontiguousarray(heights[by_row])
    order = _core.sort_by_height(samples.tree, heights, bits, np.arange(by_row.size))
    return by_row[order.view(np.int64)]


def climb_box(
    store: Store, box: int, reach: float | None, order: Order, longest: float | None = None
) -> None:
    """Find the parents of the rows of a box, and write them with their distances.

    Parameters
    ----------
    store : Store
        The files, with the heights of all rows.
    box : int
        Number of the box.
    reach : float or None
        Longest distance to a parent; rows that have none within it keep an infinite distance. None
        stands for the tau of each row.
    order : Order
        Which of two rows is higher.
    longest : float, optional
        Longer distances than the reach are kept up to this one if no row outside the halo can be
        nearer. So even if all rows are isolated, only rows near the faces of the box are left to be
        searched for in other boxes.
    """
    region = surroundings(store, box, reach)
    heights = region.read("heights")
    graph = find_parents(region.samples(), heights, order.ties, order.bits, n_jobs=1)
    n = region.n_owned
    parent, distance = graph.parent[:n], graph.distance[:n].copy()
    far = distance > (store.read(box, "tau") if reach is None else reach)
    if reach is not None and longest is not None:
        far &= ~_settled(region, reach, distance) | (distance > longest)
    positions = region.positions()
    known = np.flatnonzero(far & np.isfinite(distance))
    store.write(box, "beyond", np.stack([known, positions[parent[known]]]))
    distance[far] = np.inf
    store.write(box, "parent", np.where(far, positions[:n], positions[parent]))
    store.write(box, "distance", distance)
    store.write(box, "dips", ~far & (heights[parent] < heights[:n]))


def _settled(region: Region, reach: float, distance: Floats) -> Flags:
    """Return which rows of a box have no higher row outside the region that is as near.

    A row outside the region is farther away from the box than the reach, and the way to it leads
    through a face of the box.
    """
    store = region.store
    if region.n_rows == store.offsets[-1]:
        return np.isfinite(distance)
    room = store.partition.room(region.box, np.asarray(store.read(region.box, "points")))
    settled: Flags = distance <= (reach + room) * (1 - 1e-9)
    return settled & np.isfinite(distance)


def surroundings(store: Store, box: int, reach: float | None) -> Region:
    """Return the rows of a box and all rows within reach of one of them.

    ``reach`` is a length, or None for the tau of each row.
    """
    if reach is not None:
        return fitting_region(store, box, reach)
    halo = float(store.read(box, "halo")[0])
    return fitting_region(store, box, halo).with_extra(np.asarray(store.read(box, "extra")))


@dataclass(frozen=True)
class Tops:
    """The rows of a box at which paths along parents end or leave the box.

    Every row of the box leads to one of its tops along edges of the cut inside the box. A top is a
    root of the forest, or a row whose parent is in another box, or a row whose parent has a lower
    height (a dip; see `ClusterTree.pieces`).

    Attributes
    ----------
    position : ndarray of shape (n_tops,)
        Position of each top, in rising order.
    target : ndarray of shape (n_tops,)
        Position of its parent if the edge to it is kept, otherwise its own.
    dip : ndarray of shape (n_tops,), bool
        Whether the parent has a lower height.
    height : ndarray of shape (n_tops,)
        Height of each top.
    row : ndarray of shape (n_tops,)
        Number of each top in the user's data.
    point : ndarray of shape (n_tops, n_features)
        Coordinates of the tops.
    weight : ndarray of shape (n_tops,)
        Total weight of the rows that lead to each top.
    """

    position: Indices
    target: Indices
    dip: Flags
    height: Floats
    row: Indices
    point: Floats
    weight: Floats


def removed_from(store: Store, box: int) -> Indices:
    """Return the places of the rows of a box whose edges were removed to get more clusters."""
    if not store.has(box, "removed"):
        return np.empty(0, dtype=np.int64)
    return np.asarray(store.read(box, "removed"))


def cut_box(store: Store, box: int, tau: float | None, name: str = "top") -> Tops:
    """Cut the parent graph of a box at tau, and follow the paths that are left inside the box.

    Parameters
    ----------
    store : Store
        The files, with the parents of all rows.
    box : int
        Number of the box.
    tau : float or None
        Longest edge kept; None for the tau of each row.
    name : str
        The array in which the number of each row's top is written. If it is "top", the forest of
        the fit, edges are left out that were removed to get more clusters.

    Returns
    -------
    Tops
    """
    parent, distance = store.read(box, "parent"), store.read(box, "distance")
    first, n = store.offsets[box], len(parent)
    limit = store.read(box, "tau") if tau is None else min(tau, _LARGEST)
    kept = np.asarray(distance <= limit)
    if name == "top":
        kept[removed_from(store, box)] = False
    target = np.where(kept, parent, first + np.arange(n))
    dip = kept & store.read(box, "dips")
    stays = kept & ~dip & (target >= first) & (target < first + n)
    inner = np.where(stays, target - first, np.arange(n))
    root, tops = _core.find_roots(inner, np.where(stays, 0.0, np.inf), 0.0)
    tops = np.sort(tops.view(np.int64))
    top = _core.number_trees(root, tops).view(np.int64)
    store.write(box, name, top)
    weights = store.read(box, "weights") if store.has(box, "weights") else None
    return Tops(
        position=first + tops,
        target=target[tops],
        dip=dip[tops],
        height=store.read(box, "heights")[tops],
        row=store.read(box, "rows")[tops],
        point=store.read(box, "points")[tops],
        weight=np.bincount(top, weights, minlength=tops.size).astype(np.float64),
    )
