"""Standard deviations and scales of columns that are in many parts."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from quickshift.arrays import Floats
from quickshift.bandwidth import iqr_scale
from quickshift.checks.spaces import check_scaled
from quickshift.distributed.inputs import Chunk
from quickshift.distributed.plan.passes import Passes
from quickshift.distributed.plan.quantiles import quantiles
from quickshift.distributed.tasks.boxes import Facts
from quickshift.distributed.tasks.statistics import (
    BoxColumn,
    ChunkColumn,
    Column,
    moments,
)
from quickshift.spaces import Flat

__all__ = ["columns_of_boxes", "deviation", "with_scale"]


def columns_of_boxes(passes: Passes, feature: int | None) -> list[Column]:
    """Return a coordinate of all boxes or, if there is no coordinate, tau."""
    return [BoxColumn(passes.store, box, feature) for box in range(len(passes.store.counts))]


def deviation(passes: Passes, columns: Sequence[Column], shift: float, exponent: int) -> float:
    """Return the standard deviation, divided by 2^exponent.

    Parameters
    ----------
    passes : Passes
        Runs the tasks.
    columns : sequence of Column
        The parts of the column.
    shift : float
        A number among the values, which is subtracted from them before they are squared.
    exponent : int
        Values times 2^-exponent are at most 1, so that squares neither overflow nor vanish.

    Returns
    -------
    float
    """
    parts = passes.run("moments", moments, [(c, shift, exponent) for c in columns])
    total, first, second = np.sum(parts, axis=0)
    return math.sqrt(max(second / total - (first / total) ** 2, 0.0))


def with_scale(
    passes: Passes, chunks: list[Chunk], facts: Facts, scale: str | Floats | None
) -> Facts:
    """Divide the features of a scan by their scales, as `quickshift.spaces.space_of` does.

    Parameters
    ----------
    passes : Passes
        Runs the tasks.
    chunks : list of Chunk
        The input.
    facts : Facts
        From the scan, in the user's units.
    scale : {"std", "iqr"}, ndarray of shape (n_features,) or None
        By what to divide the features.

    Returns
    -------
    Facts
        In the units of the scales.
    """
    if scale is None:
        return facts
    period = facts.space.period
    units = scale
    if isinstance(units, str):
        varying = facts.least < facts.most
        if period is not None:
            varying &= np.isinf(period)
        units = np.ones(varying.size)
        for feature in np.flatnonzero(varying).tolist():
            columns = [ChunkColumn(chunk, feature) for chunk in chunks]
            units[feature] = _measured(passes, columns, facts, feature, str(scale)) or 1.0
    check_scaled(np.stack([facts.least, facts.most]), units)
    space = Flat(period, units)
    return replace(
        facts,
        least=space.embed(facts.least),
        most=space.embed(facts.most),
        sample=space.embed(facts.sample),
        space=space,
    )


def _measured(
    passes: Passes, columns: Sequence[Column], facts: Facts, feature: int, rule: str
) -> float:
    """Return the scale of one feature, see `quickshift.bandwidth.feature_scale`."""
    exponent = math.frexp(max(abs(facts.least[feature]), abs(facts.most[feature])))[1]
    shift, iqr = float(np.quantile(facts.sample[:, feature], 0.5, method="nearest")), 0.0
    if rule == "iqr":
        shift, upper = quantiles(passes, columns, [0.25, 0.75])
        iqr = math.ldexp(upper, -exponent) - math.ldexp(shift, -exponent)
    spread = 0.0 if iqr > 0 else deviation(passes, columns, shift, exponent)
    return math.ldexp(iqr_scale(iqr, spread) if rule == "iqr" else spread, exponent)
