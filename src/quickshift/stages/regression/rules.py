"""Rules that choose the bandwidths and tau of modal regression from the data."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quickshift import _core
from quickshift.arrays import Floats, Indices
from quickshift.bandwidth import (
    gaussian_equivalent,
    joint_rule,
    period_limit,
    spread,
    tau_rule,
)
from quickshift.checks import check_choice
from quickshift.kernels import get_kernel
from quickshift.stages.regression.conditional_modes import ConditionalModes, conditional_modes
from quickshift.stages.regression.joint import Joint, prepare_joint, wrapped
from quickshift.stages.regression.prediction_set import (
    conformal_radius,
    nonconformity_scores,
    set_around,
)
from quickshift.stages.rules import choose_bandwidth
from quickshift.stages.samples import prepare
from quickshift.threads import resolve_threads

__all__ = ["JOINT_RULES", "RegressionData", "choose_joint_bandwidth", "choose_joint_tau"]

Modes = Callable[[Joint, ArrayLike], ConditionalModes]

JOINT_RULES = ("auto", "cv", "prediction_set")

# Of the bandwidths of "auto", tried by prediction_set: of equally good ones the nearest to 1.
_FACTORS = 2.0 ** np.array(sorted(np.linspace(-2.0, 2.0, 17), key=abs))
_COVERAGE = 0.9
_MOST_HELD_OUT = 2000


@dataclass(frozen=True)
class RegressionData:
    """Samples of (x, y) as they came, checked, with what every estimate from them shares.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        Where the samples were taken.
    y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Their responses.
    weights : ndarray of shape (n_samples,)
        Frequencies.
    period : ndarray of shape (n_features,) or None
        Of the features.
    kernel : str
        Name of the kernel.
    rtol : float
        Relative error allowed to infinite kernels.
    n_jobs : int or None
        Threads; None for all cores.
    """

    X: NDArray[np.floating]
    y: Floats
    weights: Floats
    period: Floats | None
    kernel: str
    rtol: float
    n_jobs: int | None

    def joint(self, bandwidth: float | tuple[float, float]) -> Joint:
        """Return the estimate with given bandwidths."""
        return prepare_joint(
            self.X,
            self.y,
            bandwidth,
            kernel=self.kernel,
            sample_weight=self.weights,
            period=self.period,
            rtol=self.rtol,
            n_jobs=self.n_jobs,
        )

    def at(self, rows: Indices) -> "RegressionData":
        """Return some of the samples."""
        return replace(self, X=self.X[rows], y=self.y[rows], weights=self.weights[rows])


def choose_joint_tau(joint: Joint) -> float:
    """Choose tau: 0.3 Gaussian bandwidths of y, but enough for nearly all to reach a neighbour.

    A fifth of what clusters take: two branches that meet have modes near each other, and modes that
    only a gap makes are told by their height.

    Parameters
    ----------
    joint : Joint
        The estimate.

    Returns
    -------
    float
        max(0.3 h, 99th percentile of the distance between neighbouring distinct responses).
    """
    dimensions = joint.features.samples.n_features + joint.n_outputs
    h_gaussian = gaussian_equivalent(joint.bandwidth[1], joint.kernel, dimensions)
    columns = joint.y.reshape(len(joint.y), -1)
    samples = prepare(columns, sample_weight=joint.weights, n_jobs=joint.features.n_jobs)
    threads = resolve_threads(joint.features.n_jobs)
    nearest = _core.nearest_distances(samples.tree, threads)
    return tau_rule(h_gaussian / 5, nearest, samples.tree.locations()[1])


def automatic_modes(joint: Joint, queries: ArrayLike) -> ConditionalModes:
    """Find the conditional modes that a `ModalRegressor` with its defaults finds."""
    return conditional_modes(joint, queries, choose_joint_tau(joint), keep_flat=False)


def choose_joint_bandwidth(
    drawn: RegressionData, rule: str = "auto", *, modes_of: Modes = automatic_modes
) -> tuple[float, float]:
    """Choose (h_x, h_y) by a rule.

    Parameters
    ----------
    drawn : RegressionData
        The samples.
    rule : {"auto", "cv", "prediction_set"}
        "auto" is the rate W^(-1/(d + n_outputs + 4)) times the spread of X, and of y. The others
        scale this pair by one factor: "cv" by the most likely one, leaving out each sample,
        "prediction_set" by the one whose prediction sets of 90 % are the shortest on average, by
        responses held out (Chen et al. 2016).
    modes_of : callable
        Gives the modes of an estimate at queries, for "prediction_set".

    Returns
    -------
    (float, float)
    """
    check_choice(rule, "bandwidth", JOINT_RULES, "a positive number, a pair of them or ")
    drawn = replace(drawn, X=wrapped(drawn.X, drawn.period))
    pair = _by_spread(drawn)
    if rule == "cv":
        return _scaled(drawn, pair, _most_likely(drawn, pair))
    if rule == "prediction_set":
        return _scaled(drawn, pair, _shortest(drawn, pair, modes_of))
    return pair


def _by_spread(drawn: RegressionData) -> tuple[float, float]:
    d, columns = drawn.X.shape[1], drawn.y.reshape(len(drawn.y), -1)
    # The locations of a tree stand in an order that does not depend on the rows'.
    rows = np.hstack([drawn.X, columns])
    tree = prepare(rows, sample_weight=drawn.weights, n_jobs=drawn.n_jobs).tree
    points, weights = tree.locations()
    kernel = get_kernel(drawn.kernel)
    facts = {"total_weight": tree.total_weight, "n_dimensions": rows.shape[1], "kernel": kernel}
    h_x = joint_rule(spread=spread(points[:, :d], weights, drawn.period), **facts)
    h_y = joint_rule(spread=spread(points[:, d:], weights), **facts)
    return min(h_x, period_limit(kernel, drawn.period)), h_y


def _scaled(drawn: RegressionData, pair: tuple[float, float], factor: float) -> tuple[float, float]:
    limit = period_limit(get_kernel(drawn.kernel), drawn.period)  # the product may round past it
    return min(pair[0] * factor, limit), pair[1] * factor


def _most_likely(drawn: RegressionData, pair: tuple[float, float]) -> float:
    columns = drawn.y.reshape(len(drawn.y), -1)
    period = None
    if drawn.period is not None:
        period = np.append(drawn.period / pair[0], np.full(columns.shape[1], np.inf))
    samples = prepare(
        np.hstack([drawn.X.astype(np.float64) / pair[0], columns / pair[1]]),
        sample_weight=drawn.weights,
        period=period,
        n_jobs=drawn.n_jobs,
    )
    return choose_bandwidth(
        samples, "cv", kernel=drawn.kernel, rtol=drawn.rtol, n_jobs=drawn.n_jobs
    )


def _shortest(drawn: RegressionData, pair: tuple[float, float], modes_of: Modes) -> float:
    """Try factors on every fourth sample, in an order that does not depend on the rows'."""
    if drawn.y.ndim > 1:
        raise ValueError(
            f"bandwidth is 'prediction_set', which compares lengths of intervals, but y has "
            f"{drawn.y.shape[1]} columns. Use 'auto' or 'cv', or regress one column at a time."
        )
    order = np.lexsort((drawn.weights, drawn.y, *drawn.X.T[::-1]))
    # Every fourth sample is held out, a weight counting as so many; of many, only some are asked.
    weights = drawn.weights[order]
    held_out = _every(4.0, np.cumsum(weights))
    if held_out[-1] == 0:
        return 1.0
    asked = np.diff(_every(np.ceil(held_out[-1] / _MOST_HELD_OUT), held_out), prepend=0.0)
    left = np.maximum(weights - np.diff(held_out, prepend=0.0), 0.0)
    kept = replace(drawn.at(order), weights=left)
    out = replace(drawn.at(order), weights=asked).at(np.flatnonzero(asked))
    most = period_limit(get_kernel(drawn.kernel), drawn.period) / pair[0]
    factors = _FACTORS[most >= _FACTORS]
    lengths = [
        _mean_length(kept.joint(_scaled(drawn, pair, factor)), out, modes_of) for factor in factors
    ]
    return float(factors[np.argmin(lengths)])


def _every(k: float, reached: Floats) -> Floats:
    """Count every k-th of units laid end to end up to each place, the last one in part."""
    whole = np.floor(reached / k)
    part: Floats = np.maximum(reached - k * whole - (k - 1.0), 0.0)
    return whole + part


def _mean_length(joint: Joint, out: RegressionData, modes_of: Modes) -> float:
    modes = modes_of(joint, out.X)
    radius = conformal_radius(nonconformity_scores(modes, out.y), out.weights, _COVERAGE)
    lengths = set_around(modes, radius).lengths
    return float(np.average(lengths, weights=out.weights)) if np.isfinite(radius) else np.inf
