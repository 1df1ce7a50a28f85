"""The rules that choose the bandwidth and tau, from sums and order statistics of all boxes."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from quickshift.arrays import Floats
from quickshift.bandwidth import (
    circular_scale,
    gaussian_equivalent,
    mean_scale,
    neighbour_floor,
    period_limit,
    robust_scale,
    rule_bandwidth,
    tau_rule,
)
from quickshift.distributed.plan.columns import columns_of_boxes, deviation
from quickshift.distributed.plan.heights import kernel_reach, measure_scales
from quickshift.distributed.plan.passes import Passes
from quickshift.distributed.plan.quantiles import quantiles
from quickshift.distributed.tasks.boxes import Facts
from quickshift.distributed.tasks.climbing import Density, left_out_likelihood
from quickshift.distributed.tasks.queries import Neighbors
from quickshift.distributed.tasks.statistics import angle_sums, largest_value
from quickshift.kernels import Kernel, get_kernel
from quickshift.stages.rules import best_factor, searched_factors
from quickshift.stages.samples import MOST_WITHOUT_FLOOR

__all__ = ["bandwidth_by_rule", "tau_by_rule"]


def bandwidth_by_rule(
    passes: Passes, facts: Facts, rule: str, kernel: Kernel, *, rtol: float, most_rows: int
) -> float:
    """Choose the bandwidth as `quickshift.stages.choose_bandwidth` does.

    Parameters
    ----------
    passes : Passes
        Runs the tasks. The boxes are made.
    facts : Facts
        From the scan.
    rule : {"auto", "paper", "scott", "silverman", "cv"}
        The rule.
    kernel : Kernel
        The kernel.
    rtol : float
        Relative error of the densities that "cv" compares.
    most_rows : int
        Most rows of a halo whose width can be chosen.

    Returns
    -------
    float
    """
    period, d = facts.space.period, facts.dimension
    spread = _spread(passes, facts, period)
    widest = 2.0 if facts.space.on_sphere else period_limit(kernel, period)
    h = rule_bandwidth(
        "paper" if rule == "cv" else rule,
        spread=spread,
        total_weight=facts.total_weight,
        n_features=d,
        kernel=kernel,
    )
    h = min(h, widest)
    if rule == "auto" and d > MOST_WITHOUT_FLOOR and spread > 0:
        median = nearest_quantile(passes, most_rows, 0.5)
        floor = neighbour_floor(np.array([median]), np.ones(1))
        h = min(max(h, floor / gaussian_equivalent(1.0, kernel, d)), widest)
    if rule == "cv" and spread > 0:
        nearest = _nearest(passes, most_rows)
        columns = [(column,) for column in columns_of_boxes(nearest, None)]
        farthest = max(nearest.run("farthest", largest_value, columns))
        least, most = searched_factors(h, kernel, widest, farthest)
        loss = _loss_of(nearest, facts, Density(kernel.name, h, rtol, 0.0))
        h = min(h * best_factor(least, most, loss), widest)
    return h


def _loss_of(passes: Passes, facts: Facts, start: Density) -> Callable[[float], float]:
    """Return the loss that "cv" minimizes, see `quickshift.stages.rules`."""
    kernel, weights = get_kernel(start.kernel), (facts.total_weight, facts.least_weight)

    def loss(log_factor: float) -> float:
        h = start.bandwidth * math.exp(log_factor)
        reach = kernel_reach(kernel, h, start.rtol, *weights)
        density = replace(start, bandwidth=h, reach=reach)
        parts = passes.each_box("likelihood", left_out_likelihood, density)
        total, weight = np.sum(parts, axis=0).tolist()
        return float(facts.dimension * log_factor - total / weight)

    return loss


def tau_by_rule(
    passes: Passes, facts: Facts, bandwidth: float, kernel: Kernel, most_rows: int
) -> float:
    """Choose tau as `quickshift.stages.choose_tau` does; see `bandwidth_by_rule`."""
    h_gaussian = gaussian_equivalent(bandwidth, kernel, facts.dimension)
    farthest = nearest_quantile(passes, most_rows, 0.99)
    return tau_rule(h_gaussian, np.array([farthest]), np.ones(1))


def nearest_quantile(passes: Passes, most_rows: int, q: float) -> float:
    """Return a quantile of the distances from distinct rows to the nearest others, 0 if none."""
    least, most = passes.store.bounds.min(axis=0)[0], passes.store.bounds.max(axis=0)[1]
    if (least == most).all():
        return 0.0
    nearest = _nearest(passes, most_rows)
    return quantiles(nearest, columns_of_boxes(nearest, None), [q])[0]


def _nearest(passes: Passes, most_rows: int) -> Passes:
    """Return passes over a layer whose tau is the distance to the nearest distinct row."""
    layer = replace(passes, store=replace(passes.store, layer="-nearest"))
    if "nearest" not in passes.done:
        measure_scales(layer, Neighbors(1, 1, 1), most_rows)
        passes.done.add("nearest")
    return layer


def _spread(passes: Passes, facts: Facts, period: Floats | None) -> float:
    """Return σ̄, see `quickshift.bandwidth.spread`."""
    lengths = np.full(facts.least.size, np.inf) if period is None else period
    scales = [
        _circular(passes, k, float(p)) if math.isfinite(p) else _robust(passes, facts, k)
        for k, p in enumerate(lengths)
    ]
    return mean_scale(np.array(scales), facts.dimension if facts.space.on_sphere else None)


def _robust(passes: Passes, facts: Facts, feature: int) -> float:
    """Return the smaller of the standard deviation and the scaled IQR of one feature."""
    if facts.least[feature] == facts.most[feature]:
        return 0.0
    largest = max(abs(facts.least[feature]), abs(facts.most[feature]))
    exponent = math.frexp(largest)[1]
    columns = columns_of_boxes(passes, feature)
    lower, upper = quantiles(passes, columns, [0.25, 0.75])
    iqr = math.ldexp(upper, -exponent) - math.ldexp(lower, -exponent)
    spread = deviation(passes, columns, lower, exponent)
    return math.ldexp(robust_scale(iqr, spread), exponent)


def _circular(passes: Passes, feature: int, period: float) -> float:
    """Return the circular standard deviation of one feature."""
    columns = columns_of_boxes(passes, feature)

    def sums(shift: float) -> list[float]:
        parts = passes.run("angles", angle_sums, [(c, period, shift) for c in columns])
        return [float(x) for x in np.sum(parts, axis=0)]

    _, sine, cosine, _ = sums(0.0)
    total, _, _, halves = sums(math.atan2(sine, cosine))
    return circular_scale(2.0 * halves / total, period)
