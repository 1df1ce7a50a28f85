"""Every check of an argument: what came, what was expected, and the change that fixes it.

A check returns the argument in the form that the code below works with, or raises. Whoever calls a
function below this line with checked arguments need not check them again.
"""

from quickshift.checks.clustering import (
    check_above_rounding,
    check_cut,
    check_metric,
    check_n_trees,
    check_rtol,
    check_ties,
)
from quickshift.checks.numbers import (
    check_bandwidth,
    check_choice,
    check_count,
    check_least,
    check_length,
    check_real,
    check_tau,
    check_whole,
)
from quickshift.checks.points import (
    check_density,
    check_heights,
    check_n_features,
    check_period,
    check_points,
    check_responses,
    check_rows,
    check_weights,
    refuse_lossy,
)
from quickshift.checks.regression import (
    check_coverage,
    check_grid,
    check_one_output,
    check_outputs,
    check_pair,
    check_ratio,
)

__all__ = [
    "check_above_rounding",
    "check_bandwidth",
    "check_choice",
    "check_count",
    "check_coverage",
    "check_cut",
    "check_density",
    "check_grid",
    "check_heights",
    "check_least",
    "check_length",
    "check_metric",
    "check_n_features",
    "check_n_trees",
    "check_one_output",
    "check_outputs",
    "check_pair",
    "check_period",
    "check_points",
    "check_ratio",
    "check_real",
    "check_responses",
    "check_rows",
    "check_rtol",
    "check_tau",
    "check_ties",
    "check_weights",
    "check_whole",
    "refuse_lossy",
]
