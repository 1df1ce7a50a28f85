"""The passes that compute heights: sums of kernels, or local scales."""

import math
from dataclasses import replace

import numpy as np

from quickshift.arrays import Flags, Floats
from quickshift.distributed.partition import boxes_apart, inside
from quickshift.distributed.plan.passes import Passes
from quickshift.distributed.tasks.climbing import Density
from quickshift.distributed.tasks.queries import (
    Answers,
    Neighbors,
    Questions,
    nearest_locations,
    sums_at,
)
from quickshift.distributed.tasks.scaling import (
    measure_box,
    measure_open,
    scales_among,
    scales_in_box,
)
from quickshift.kernels import Kernel

__all__ = ["kernel_reach", "measure_scales", "scales_at", "sum_at_points"]

_EXACT = 2.0**-53  # tolerance in place of 0, which no finite halo can meet


def kernel_reach(
    kernel: Kernel, bandwidth: float, rtol: float, total_weight: float, least_weight: float
) -> float:
    """Return the distance beyond which samples contribute less than `rtol` to any sum.

    Each sum is at least the weight of the sample itself, and all samples beyond the distance t h
    contribute less than the total weight times the profile at t.

    Examples
    --------
    >>> from quickshift.kernels import get_kernel
    >>> kernel_reach(get_kernel("epanechnikov"), 2.0, 1e-9, 100.0, 1.0)
    2.0
    >>> round(kernel_reach(get_kernel("gaussian"), 1.0, 1e-9, 1e6, 1.0), 2)
    8.31
    """
    if not kernel.infinite:
        return bandwidth * kernel.support
    decay = math.log(total_weight / least_weight) - math.log(max(rtol, _EXACT))
    return bandwidth * (math.sqrt(2 * decay) if kernel.name == "gaussian" else decay)


def sum_at_points(passes: Passes, points: Floats, density: Density) -> Floats:
    """Sum kernel profiles at points: the sum over the boxes within reach."""
    store = passes.store
    asked = [np.flatnonzero(near) for near in _boxes_near(passes, points, density.reach)]
    boxes = [box for box, some in enumerate(asked) if some.size]
    found = passes.run(
        "sums", sums_at, [(store, box, points[asked[box]], density) for box in boxes]
    )
    total = np.zeros(len(points))
    for box, part in zip(boxes, found, strict=True):
        total[asked[box]] += part
    return total


def _boxes_near(passes: Passes, points: Floats, reach: float | Floats) -> list[Flags]:
    """Return, for every box, which points are within reach of the bounds of its rows."""
    store = passes.store
    bounds, period = store.bounds, store.partition.period
    return [inside(boxes_apart(low, high, (points, points), period), reach) for low, high in bounds]


def measure_scales(passes: Passes, neighbors: Neighbors, most_rows: int) -> None:
    """Measure r and tau of all rows.

    Parameters
    ----------
    passes : Passes
        Runs the tasks.
    neighbors : Neighbors
        What determines r and tau.
    most_rows : int
        Most rows of a halo. Rows that need more become queries to other boxes.
    """
    store = passes.store
    found = passes.each_box("scales", measure_box, neighbors, most_rows)
    ends = np.cumsum([len(rows.place) for rows in found])
    if not ends[-1]:
        return
    files = _ask(
        passes,
        np.concatenate([rows.point for rows in found]),
        np.concatenate([rows.bound for rows in found]),
        neighbors,
    )
    tasks = [
        (store, box, rows, Answers(files, int(end - len(rows.place))), neighbors)
        for box, (rows, end) in enumerate(zip(found, ends, strict=True))
        if len(rows.place)
    ]
    passes.run("open-scales", measure_open, tasks)


def scales_at(passes: Passes, points: Floats, neighbors: Neighbors) -> tuple[Floats, Floats]:
    """Return r and tau of other points.

    Most of them are known from the rows of the box that the point is in. The others are measured
    among the locations near them in all boxes.
    """
    store = passes.store
    r, tau, bounds = (np.empty(len(points)) for _ in range(3))
    complete = np.zeros(len(points), dtype=bool)
    own = store.partition.boxes_of(points)
    boxes = np.unique(own).tolist()
    parts = [np.flatnonzero(own == box) for box in boxes]
    found = passes.run(
        "scales-in",
        scales_in_box,
        [(store, box, points[q], neighbors) for box, q in zip(boxes, parts, strict=True)],
    )
    for q, answer in zip(parts, found, strict=True):
        r[q], tau[q], bounds[q], complete[q] = answer
    rest = np.flatnonzero(~complete)
    if rest.size:
        r[rest], tau[rest] = _scales_at(passes, points[rest], bounds[rest], neighbors)
    return r, tau


def _scales_at(
    passes: Passes, points: Floats, bounds: Floats, neighbors: Neighbors
) -> tuple[Floats, Floats]:
    """Return r and tau of points, among the locations near them in all boxes."""
    files = _ask(passes, points, bounds, neighbors)
    parts = [
        (passes.store, points[first : first + _QUERIES], Answers(files, first), neighbors)
        for first in range(0, len(points), _QUERIES)
    ]
    found = passes.run("scales-at", scales_among, parts)
    return np.concatenate([r for r, _ in found]), np.concatenate([tau for _, tau in found])


_QUERIES = 4096  # points per task


def _ask(
    passes: Passes, points: Floats, bounds: Floats, neighbors: Neighbors
) -> tuple[tuple[int, str], ...]:
    """Ask boxes for the locations that are nearest to points: first their own, then all in reach.

    Returns the files with the answers, as boxes and names of arrays.
    """
    store = passes.store
    own = store.partition.boxes_of(points)
    first = [own == box for box in range(len(store.counts))]
    questions = Questions("near-own", np.arange(len(points)), points, bounds)
    files, bounds = _ask_boxes(passes, questions, first, neighbors)
    others = [near & (own != box) for box, near in enumerate(_boxes_near(passes, points, bounds))]
    questions = replace(questions, name="near", bound=bounds)
    return files + _ask_boxes(passes, questions, others, neighbors)[0]


def _ask_boxes(
    passes: Passes, questions: Questions, asked: list[Flags], neighbors: Neighbors
) -> tuple[tuple[tuple[int, str], ...], Floats]:
    """Ask each box about some of the points, and lower the bounds by what is found."""
    chosen = [(box, np.flatnonzero(some)) for box, some in enumerate(asked) if some.any()]
    parts = [
        Questions(questions.name, q, questions.point[q], questions.bound[q]) for _, q in chosen
    ]
    found = passes.run(
        questions.name,
        nearest_locations,
        [
            (passes.store, box, part, neighbors)
            for (box, _), part in zip(chosen, parts, strict=True)
        ],
    )
    bounds = questions.bound.copy()
    for (_, q), part in zip(chosen, found, strict=True):
        bounds[q] = np.minimum(bounds[q], part)
    return tuple((box, questions.name) for box, _ in chosen), bounds
