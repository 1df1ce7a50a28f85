"""The rules that choose the bandwidth and tau, from sums and order statistics of all boxes."""

import math
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
    weighted_quantile,
)
from quickshift.checks.numbers import check_choice
from quickshift.distributed.plan.heights import measure_scales
from quickshift.distributed.plan.passes import Passes
from quickshift.distributed.tasks.boxes import Facts
from quickshift.distributed.tasks.queries import Neighbors
from quickshift.distributed.tasks.statistics import (
    angle_sums,
    moments,
    some_values,
    values_between,
)
from quickshift.kernels import Kernel
from quickshift.stages.rules import MOST_WITHOUT_FLOOR

__all__ = ["RULES", "bandwidth_by_rule", "tau_by_rule"]

RULES = ("auto", "paper", "scott", "silverman")


def bandwidth_by_rule(
    passes: Passes, facts: Facts, rule: str, kernel: Kernel, most_rows: int
) -> float:
    """Choose the bandwidth as `quickshift.stages.choose_bandwidth` does.

    Parameters
    ----------
    passes : Passes
        Runs the tasks. The boxes are made.
    facts : Facts
        From the scan.
    rule : {"auto", "paper", "scott", "silverman"}
        The rule.
    kernel : Kernel
        The kernel.
    most_rows : int
        Most rows of a halo whose width can be chosen.

    Returns
    -------
    float
    """
    check_choice(rule, "bandwidth", ("local", *RULES), "a positive number or ")
    period = passes.store.partition.period
    spread, widest = _spread(passes, facts, period), period_limit(kernel, period)
    d = facts.least.size
    h = rule_bandwidth(
        rule, spread=spread, total_weight=facts.total_weight, n_features=d, kernel=kernel
    )
    h = min(h, widest)
    if rule == "auto" and d > MOST_WITHOUT_FLOOR and spread > 0:
        median = nearest_quantile(passes, most_rows, 0.5)
        floor = neighbour_floor(np.array([median]), np.ones(1))
        h = min(max(h, floor / gaussian_equivalent(1.0, kernel, d)), widest)
    return h


def tau_by_rule(
    passes: Passes, facts: Facts, bandwidth: float, kernel: Kernel, most_rows: int
) -> float:
    """Choose tau as `quickshift.stages.choose_tau` does; see `bandwidth_by_rule`."""
    h_gaussian = gaussian_equivalent(bandwidth, kernel, facts.least.size)
    farthest = nearest_quantile(passes, most_rows, 0.99)
    return tau_rule(h_gaussian, np.array([farthest]), np.ones(1))


def nearest_quantile(passes: Passes, most_rows: int, q: float) -> float:
    """Return a quantile of the distances from distinct rows to the nearest others, 0 if none."""
    layer = replace(passes, store=replace(passes.store, layer="-nearest"))
    least, most = passes.store.bounds.min(axis=0)[0], passes.store.bounds.max(axis=0)[1]
    if (least == most).all():
        return 0.0
    if "nearest" not in passes.done:
        measure_scales(layer, Neighbors(1, 1, 1), most_rows)
        passes.done.add("nearest")
    return quantile(layer, None, q)


def quantile(passes: Passes, feature: int | None, q: float) -> float:
    """Return a weighted quantile of a feature, or of tau: that of `weighted_quantile` to the bit.

    A sample gives two bounds that the order statistics are probably between. The values between the
    bounds are collected, and the bounds are moved apart until both order statistics are among them.
    """
    sample = np.sort(np.concatenate(passes.each_box("sample", some_values, feature)))
    margin = 8 / math.sqrt(len(sample))
    while True:
        low, high = _bounds(sample, q, margin)
        parts = passes.each_box("quantile", values_between, feature, low, high)
        below, above = (float(sum(getattr(p, side) for p in parts)) for side in ("below", "above"))
        weights = np.concatenate([[below], *(p.weights for p in parts), [above]])
        position = max(q * (weights.sum() - 1.0), 0.0)
        whole = margin >= 1
        if whole or below <= math.floor(position) < weights.sum() - above - 1:
            inner = np.concatenate([p.values for p in parts])
            values = np.concatenate([[inner.min()], inner, [inner.max()]])
            return weighted_quantile(values, weights, q)
        margin = min(4 * margin, 1.0)


def _bounds(sample: Floats, q: float, margin: float) -> tuple[float, float]:
    if margin >= 1:
        return -math.inf, math.inf
    low, high = np.quantile(sample, [max(q - margin, 0.0), min(q + margin, 1.0)], method="nearest")
    return float(low), float(high)


def _spread(passes: Passes, facts: Facts, period: Floats | None) -> float:
    """Return σ̄, see `quickshift.bandwidth.spread`."""
    d = facts.least.size
    lengths = np.full(d, np.inf) if period is None else period
    scales = [
        _circular(passes, k, float(p)) if math.isfinite(p) else _robust(passes, facts, k)
        for k, p in enumerate(lengths)
    ]
    return mean_scale(np.array(scales))


def _robust(passes: Passes, facts: Facts, feature: int) -> float:
    """Return the smaller of the standard deviation and the scaled IQR of one feature."""
    if facts.least[feature] == facts.most[feature]:
        return 0.0
    largest = max(abs(facts.least[feature]), abs(facts.most[feature]))
    exponent = math.frexp(largest)[1]
    lower, upper = (quantile(passes, feature, q) for q in (0.25, 0.75))
    total, first, second = np.sum(
        passes.each_box("moments", moments, feature, lower, exponent), axis=0
    )
    deviation = math.sqrt(max(second / total - (first / total) ** 2, 0.0))
    iqr = math.ldexp(upper, -exponent) - math.ldexp(lower, -exponent)
    return math.ldexp(robust_scale(iqr, deviation), exponent)


def _circular(passes: Passes, feature: int, period: float) -> float:
    """Return the circular standard deviation of one feature."""
    _, sine, cosine, _ = np.sum(passes.each_box("angles", angle_sums, feature, period, 0.0), axis=0)
    shift = math.atan2(sine, cosine)
    total, _, _, halves = np.sum(
        passes.each_box("angles", angle_sums, feature, period, shift), axis=0
    )
    return circular_scale(2.0 * halves / total, period)
