"""Rules that choose the bandwidths and tau of modal regression from the data."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from quickshift.arrays import Floats, Numbers
from quickshift.bandwidth import (
    gaussian_equivalent,
    joint_rule,
    period_limit,
    spread,
    tau_rule,
)
from quickshift.checks.numbers import check_choice
from quickshift.checks.regression import check_bandwidth_pair, check_rule_serves_outputs
from quickshift.checks.results import require_result
from quickshift.kernels import get_kernel
from quickshift.memory import prepare_bytes, require_memory
from quickshift.progress import Progress, reporting
from quickshift.stages.regression.conditional_modes import ConditionalModes, find_modes
from quickshift.stages.regression.joint import (
    Joint,
    RegressionData,
    checked_data,
    divided,
    estimate_joint,
    wrapped,
)
from quickshift.stages.regression.prediction_set import (
    nonconformity_scores,
    radius_of_scores,
    set_around,
)
from quickshift.stages.regression.response_space import ModeOptions
from quickshift.stages.rules import choose_bandwidth
from quickshift.stages.samples import build_samples, nearest_distances

__all__ = [
    "JOINT_RULES",
    "choose_joint_bandwidth",
    "choose_joint_tau",
]

Modes = Callable[[Joint, Numbers], ConditionalModes]

JOINT_RULES = ("auto", "cv", "prediction_set")

# Factors of the "auto" bandwidths that "prediction_set" tries. They are ordered by their distance
# from 1, so that the nearest to 1 wins among equally good ones.
_FACTORS = 2.0 ** np.array(sorted(np.linspace(-2.0, 2.0, 17), key=abs))
_COVERAGE = 0.9  # share of held-out responses that the compared prediction sets contain
_MOST_HELD_OUT = 2000  # largest number of held-out samples that are evaluated
_MIN_DENSITY_RATIO = 0.01  # the default of `conditional_modes`


def choose_joint_tau(joint: Joint) -> float:
    """Choose tau: at least 0.3 bandwidths of y, enough to give nearly all responses a neighbor.

    For clusters, `choose_tau` takes 1.5 bandwidths. Here, modes are close to each other where two
    branches meet, and must stay apart. Modes that exist only because of a gap between responses are
    recognized by their height above the valley instead (decision 24).

    Parameters
    ----------
    joint : Joint
        The estimate.

    Returns
    -------
    float
        max(0.3 h_G, 99th percentile of the distance from a response to the nearest distinct one),
        where h_G is the bandwidth in y of the Gaussian kernel that has the same variance per axis.
    """
    require_result(joint, Joint, "joint", "prepare_joint")
    if joint.n_outputs > 1:
        require_memory(prepare_bytes(*joint.y.shape), "choose_joint_tau", joint.y.shape)
    return automatic_joint_tau(joint)


def automatic_joint_tau(joint: Joint) -> float:
    """Choose tau as `choose_joint_tau` does, without estimating its memory."""
    dimensions = joint.features.samples.n_features + joint.n_outputs
    h_gaussian = gaussian_equivalent(joint.bandwidth[1], joint.kernel, dimensions)
    nearest = _nearest_on_line if joint.n_outputs == 1 else _nearest_in_space
    return tau_rule(h_gaussian / 5, *nearest(joint))


def _nearest_on_line(joint: Joint) -> tuple[Floats, Floats]:
    """Return each distinct response's distance to the nearest other one, and its total weight."""
    present = joint.weights > 0
    order = np.argsort(joint.weights[present], kind="stable")
    values, vertex = np.unique(joint.y[present][order] + 0.0, return_inverse=True)
    # Weights are added in increasing order, so that sums do not depend on the order of the rows.
    weights = np.bincount(vertex, weights=joint.weights[present][order]).astype(np.float64)
    with np.errstate(over="ignore"):
        gaps = np.concatenate([[np.inf], np.diff(values), [np.inf]])
    return np.minimum(gaps[:-1], gaps[1:]), weights


def _nearest_in_space(joint: Joint) -> tuple[Floats, Floats]:
    """Return the same as `_nearest_on_line`, for several outputs."""
    threads = joint.features.n_jobs
    samples = build_samples(joint.y, joint.weights, None, n_jobs=threads)
    return nearest_distances(samples, threads), samples.tree.locations()[1]


def automatic_modes(joint: Joint, queries: Numbers) -> ConditionalModes:
    """Find the conditional modes that `ModalRegressor` finds with its default parameters."""
    options = ModeOptions(automatic_joint_tau(joint), _MIN_DENSITY_RATIO, keep_flat=False)
    return find_modes(joint, queries, options)


def choose_joint_bandwidth(
    data: RegressionData, rule: str = "auto", *, modes_of: Modes = automatic_modes
) -> tuple[float, float]:
    """Choose (h_x, h_y) by a rule.

    Parameters
    ----------
    data : RegressionData
        The samples.
    rule : {"auto", "cv", "prediction_set"}
        "auto" is the rate W^(-1/(d + n_outputs + 4)), times the spread of X for h_x and times the
        spread of y for h_y. The other rules multiply this pair by one factor: "cv" by the one that
        maximizes the leave-one-out likelihood, "prediction_set" by the one whose prediction sets
        of 90 % coverage are the shortest on average on held-out samples (Chen et al. 2016).
    modes_of : callable
        Function of a joint estimate and queries that returns the conditional modes; only used by
        "prediction_set".

    Returns
    -------
    (float, float)
        h_x and h_y.
    """
    require_result(data, RegressionData, "data", "RegressionData")
    check_choice(rule, "bandwidth", JOINT_RULES, "a positive number, a pair of them or ")
    checked = checked_data(
        data.X,
        data.y,
        data.weights,
        data.period,
        kernel=data.kernel,
        rtol=data.rtol,
        n_jobs=data.n_jobs,
    )
    return choose_pair(checked, rule, modes_of)


def choose_pair(
    data: RegressionData, rule: str, modes_of: Modes, progress: Progress | None = None
) -> tuple[float, float]:
    """Choose bandwidths as `choose_joint_bandwidth` does, from checked data and a checked rule."""
    data = replace(data, X=wrapped(data.X, data.period))
    pair = _by_spread(data)
    if rule == "cv":
        return _scaled(data, pair, _most_likely(data, pair, progress))
    if rule == "prediction_set":
        return _scaled(data, pair, _shortest(data, pair, modes_of, progress))
    return pair


def _by_spread(data: RegressionData) -> tuple[float, float]:
    d, columns = data.X.shape[1], data.y.reshape(len(data.y), -1)
    # The last bits of `spread` depend on the order of its points. It therefore gets the locations
    # of a tree, whose order depends only on the set of points, not on the order of the rows.
    rows = np.hstack([data.X, columns])
    tree = build_samples(rows, data.weights, None, n_jobs=data.n_jobs).tree
    points, weights = tree.locations()
    kernel = get_kernel(data.kernel)
    facts = {"total_weight": tree.total_weight, "n_dimensions": rows.shape[1], "kernel": kernel}
    h_x = joint_rule(spread=spread(points[:, :d], weights, data.period), **facts)
    h_y = joint_rule(spread=spread(points[:, d:], weights), **facts)
    return min(h_x, period_limit(kernel, data.period)), h_y


def _scaled(data: RegressionData, pair: tuple[float, float], factor: float) -> tuple[float, float]:
    limit = period_limit(get_kernel(data.kernel), data.period)  # the product may round to above it
    return min(pair[0] * factor, limit), pair[1] * factor


def _most_likely(
    data: RegressionData, pair: tuple[float, float], progress: Progress | None
) -> float:
    """Return the factor of the pair at which the leave-one-out likelihood of (x, y) is largest."""
    columns = data.y.reshape(len(data.y), -1)
    period = None
    if data.period is not None:
        period = np.append(data.period / pair[0], np.full(columns.shape[1], np.inf))
    scaled = [divided(data.X, pair[0], "X", "h_x"), divided(columns, pair[1], "y", "h_y")]
    samples = build_samples(np.hstack(scaled), data.weights, period, n_jobs=data.n_jobs)
    return choose_bandwidth(
        samples,
        "cv",
        kernel=data.kernel,
        rtol=data.rtol,
        n_jobs=data.n_jobs,
        progress=progress,
    )


def _shortest(
    data: RegressionData, pair: tuple[float, float], modes_of: Modes, progress: Progress | None
) -> float:
    """Return the factor of the pair that gives the shortest prediction sets at held-out samples.

    Samples are held out in an order that does not depend on the order of the rows.
    """
    check_rule_serves_outputs(data.y)
    order = np.lexsort((data.weights, data.y, *data.X.T[::-1]))
    # Every fourth sample is held out, a sample of weight w counting as w samples. If that is more
    # than _MOST_HELD_OUT, only some of the held-out samples are evaluated.
    weights = data.weights[order]
    held_out = _cumulative_every_kth(4.0, np.cumsum(weights))
    if held_out[-1] == 0:
        return 1.0
    step = np.ceil(held_out[-1] / _MOST_HELD_OUT)
    evaluated = np.diff(_cumulative_every_kth(step, held_out), prepend=0.0)
    left = np.maximum(weights - np.diff(held_out, prepend=0.0), 0.0)
    kept = replace(data.at(order), weights=left)
    out = replace(data.at(order), weights=evaluated).at(np.flatnonzero(evaluated))
    most = period_limit(get_kernel(data.kernel), data.period) / pair[0]
    factors = _FACTORS[most >= _FACTORS]
    lengths = []
    with reporting(progress, "choose_joint_bandwidth") as report:
        for factor in factors:
            lengths.append(_mean_length(kept, _scaled(data, pair, factor), out, modes_of))
            if report is not None:
                report(len(lengths) / len(factors))
    return float(factors[np.argmin(lengths)])


def _cumulative_every_kth(k: float, cumulative: Floats) -> Floats:
    """Return how much weight is selected up to each row if every k-th unit of weight is selected.

    ``cumulative`` is the weight up to and including each row. A unit that is not complete at a row
    counts in part.

    Examples
    --------
    >>> _cumulative_every_kth(4.0, np.array([3.0, 3.5, 4.0, 9.0]))
    array([0. , 0.5, 1. , 2. ])
    """
    whole = np.floor(cumulative / k)
    part: Floats = np.maximum(cumulative - k * whole - (k - 1.0), 0.0)
    return whole + part


def _mean_length(
    kept: RegressionData, pair: tuple[float, float], out: RegressionData, modes_of: Modes
) -> float:
    """Return the mean length of the prediction sets at held-out samples."""
    pair, divisor = check_bandwidth_pair(pair, get_kernel(kept.kernel), kept.period)
    modes = modes_of(estimate_joint(kept, pair, divisor), out.X)
    radius = radius_of_scores(nonconformity_scores(modes, out.y), out.weights, _COVERAGE)
    lengths = set_around(modes, radius).lengths
    return float(np.average(lengths, weights=out.weights)) if np.isfinite(radius) else np.inf
