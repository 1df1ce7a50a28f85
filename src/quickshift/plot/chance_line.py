"""Which births and deaths of modes have a given significance.

All densities here are decimal logarithms. Under local scale, the significance is proportional to
the difference of the logarithms of birth and death. With one bandwidth, it is a function of both
that is inverted by bisection: it increases with the birth, and it decreases with the death until
the death is about a ninth of the birth, below which it is constant.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from quickshift.arrays import Floats
from quickshift.stages.density import Estimate
from quickshift.stages.local_scale import LocalScale
from quickshift.stages.tree.significance import LOWEST_DEATH, standard_errors

if TYPE_CHECKING:
    from quickshift.estimators.quick_shift import QuickShift

__all__ = ["births_at", "deaths_at"]

_HALVINGS = 60
_LARGEST_EXPONENT = 300.0
_LARGEST_DROP = -math.log10(LOWEST_DEATH)  # from birth to death, that adds to the significance
_ROUNDING = 1e-6  # relative, of significances


def births_at(fitted: QuickShift, death: Floats, significance: float) -> Floats:
    """Return the births of modes that have a given significance and are absorbed at a density."""
    estimate = fitted._estimate
    if isinstance(estimate, LocalScale):
        return death + _drop_per_error(estimate) * significance
    below, above = death.copy(), death + _LARGEST_EXPONENT
    for _ in range(_HALVINGS):
        middle = (below + above) / 2
        too_low = _errors(estimate, middle, death) < significance
        below, above = np.where(too_low, middle, below), np.where(too_low, above, middle)
    return above


def deaths_at(fitted: QuickShift, birth: Floats, significance: Floats) -> Floats:
    """Return the deaths of modes that have given births and significances.

    They are minus infinity if no death gives that significance.
    """
    estimate = fitted._estimate
    if isinstance(estimate, LocalScale):
        return birth - _drop_per_error(estimate) * significance
    below, above = birth - _LARGEST_DROP, birth.copy()
    reached = significance <= _errors(estimate, birth, below) * (1 + _ROUNDING)
    for _ in range(_HALVINGS):
        middle = (below + above) / 2
        too_high = _errors(estimate, birth, middle) < significance
        below, above = np.where(too_high, below, middle), np.where(too_high, middle, above)
    return np.where(reached, below, -np.inf)


def _drop_per_error(scale: LocalScale) -> float:
    """Return the decimal logarithm of birth / death of modes of significance 1.

    The significance is d √(K/2) log(s / r), and the density is proportional to r^-d.
    """
    return 1 / (math.sqrt(scale.n_neighbors / 2) * math.log(10))


def _errors(estimate: Estimate, birth: Floats, death: Floats) -> Floats:
    """Return the significance of modes under one bandwidth."""
    to_sums = estimate.log_constant / math.log(10)
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        birth_sums, death_sums = (
            np.power(10.0, np.minimum(levels - to_sums, _LARGEST_EXPONENT))
            for levels in (birth, death)
        )
        return standard_errors(birth_sums, death_sums, estimate)
