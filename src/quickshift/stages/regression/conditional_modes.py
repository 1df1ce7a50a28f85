"""Algorithm 3: the modes of f(y given x), at many x at once.

Responses of one column are searched by branch and bound in the core (decision 26), those of several
columns by Quick Shift among the responses (`response_space`).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from quickshift import _core
from quickshift.arrays import Floats, Numbers
from quickshift.bundles import counted, span
from quickshift.checks.numbers import check_tau
from quickshift.checks.points import check_n_features, check_points
from quickshift.checks.regression import check_min_density_ratio
from quickshift.checks.results import require_result
from quickshift.extras import optional_import
from quickshift.progress import Progress, reporting
from quickshift.stages.regression.basins import probabilities_on_line
from quickshift.stages.regression.joint import Joint, Responses, scale_queries, sort_responses
from quickshift.stages.regression.ragged import Ragged
from quickshift.stages.regression.response_space import ModeOptions, modes_in_space
from quickshift.threads import resolve_threads

if TYPE_CHECKING:
    import pandas

__all__ = ["ConditionalModes", "conditional_modes"]


@dataclass(frozen=True, repr=False, eq=False)
class ConditionalModes(Ragged):
    """The conditional modes at each of m queries, k modes in total.

    ``modes[i]`` are the modes at query i, the highest first; there may be none.

    Attributes
    ----------
    offsets : ndarray of shape (m + 1,)
        CSR offsets: the modes of query i are the elements from ``offsets[i]`` to before
        ``offsets[i + 1]`` of all arrays of length k.
    values : ndarray of shape (k,) or (k, n_outputs)
        The responses that are modes.
    densities : ndarray of shape (k,)
        f̂(x, value), the joint density. It underflows to 0 at queries far from the samples.
    heights : ndarray of shape (k,)
        Height of each mode above its valley: the density of the mode minus the density of the
        valley between it and the neighboring mode at the same x, the higher valley if there are
        neighbors on both sides. The density itself if there is no other mode. With several outputs,
        all other modes at the same x are neighbors.
    support : ndarray of shape (m,)
        Logarithm of f̂(x), the density of the features alone; minus infinity if no sample is within
        the support of a compact kernel.
    conditional_densities : ndarray of shape (k,)
        f̂(value | x) = f̂(x, value) / f̂(x), the joint density divided by that of the features alone.
        It does not underflow, however far the query is from the samples; with several outputs it
        loses digits there (its relative error is about 10⁻¹⁵ times the support). It integrates to
        one over y for the Gaussian kernel. For the other kernels this holds only approximately,
        because their f̂(x) is not the integral of f̂(x, y): it has the same kernel, but in fewer
        dimensions.
    probabilities : ndarray of shape (k,)
        Estimated probability that a response at x lies in the basin of each mode: the share of the
        samples in the basin, weighted by their kernels in x. The probabilities of one query sum to
        1. With one output, a basin reaches from the valley on one side of its mode to the valley on
        the other side. With several outputs it consists of the responses that climb to the mode,
        and of those that are too faint or climb to no mode, but are nearest to this one.

    Examples
    --------
    >>> modes = ConditionalModes(
    ...     offsets=np.array([0, 2, 2]),
    ...     values=np.array([1.0, 4.0]),
    ...     densities=np.array([0.3, 0.2]),
    ...     heights=np.array([0.2, 0.1]),
    ...     support=np.array([-1.0, -np.inf]),
    ...     conditional_densities=np.array([0.8, 0.5]),
    ...     probabilities=np.array([0.7, 0.3]),
    ... )
    >>> modes[0], modes[1]
    (array([1., 4.]), array([], dtype=float64))
    >>> modes.highest()
    array([ 1., nan])
    """

    values: Floats
    densities: Floats
    heights: Floats
    support: Floats
    conditional_densities: Floats
    probabilities: Floats

    def _facts(self) -> Iterable[str]:
        yield counted(len(self), "query", "queries")
        yield counted(len(self.values), "mode")
        yield f"{span(self.counts)} per query"
        if self.values.ndim > 1:
            yield counted(self.values.shape[1], "output")
        yield f"values {span(self.values)}"

    def __getitem__(self, query: int) -> Floats:
        """Return the modes at one query, the highest first."""
        return self.values[self._slice_of(query)]

    def __iter__(self) -> Iterator[Floats]:
        """Iterate over the modes of each query in turn."""
        return (self[i] for i in range(len(self)))

    def highest(self) -> Floats:
        """Return the highest mode at each query, NaN for a query without modes.

        Returns
        -------
        ndarray of shape (m,) or (m, n_outputs)
        """
        found = np.full((len(self), *self.values.shape[1:]), np.nan)
        some = self.counts > 0
        found[some] = self.values[self.offsets[:-1][some]]
        return found

    def to_pandas(self) -> "pandas.DataFrame":
        """Return a table with one row per mode.

        Returns
        -------
        pandas.DataFrame
            Columns ``query``, ``mode`` (0 for the highest at its query), ``value`` (or ``value_0``,
            ``value_1`` … for several outputs), ``density``, ``height``, ``support``,
            ``conditional_density`` and ``probability``. Queries without a mode have no row.
        """
        with optional_import("pandas", "io", "to_pandas()"):
            import pandas

        return pandas.DataFrame(mode_columns(self))


def mode_columns(modes: ConditionalModes) -> dict[str, Numbers]:
    """Return the columns of the table of modes, see `ConditionalModes.to_pandas`."""
    queries = modes.queries
    if modes.values.ndim == 1:
        values = {"value": modes.values}
    else:
        values = {f"value_{k}": column for k, column in enumerate(modes.values.T)}
    return {
        "query": queries,
        "mode": np.arange(len(queries)) - modes.offsets[queries],
        **values,
        "density": modes.densities,
        "height": modes.heights,
        "support": modes.support[queries],
        "conditional_density": modes.conditional_densities,
        "probability": modes.probabilities,
    }


def conditional_modes(
    joint: Joint,
    queries: ArrayLike,
    tau: float,
    *,
    min_density_ratio: float = 0.01,
    keep_flat: bool = True,
    responses: Responses | None = None,
    progress: Progress | None = None,
) -> ConditionalModes:
    """Find the modes of f(y given x) at every query: Algorithm 3.

    Parameters
    ----------
    joint : Joint
        From `prepare_joint`.
    queries : array-like of shape (n_queries, n_features)
        The x at which the modes are wanted.
    tau : float
        Longest edge kept between responses, in the units of y.
    min_density_ratio : float
        Modes whose density is below this share of the highest mode's density are dropped; 0 keeps
        all. For a kernel of infinite support and rtol above 0, densities below a millionth of the
        highest are not accurate to rtol, and such modes may be missed altogether.
    keep_flat : bool
        Whether to keep flat modes, those that do not rise above the valley to the next mode: a
        response on the slope of another mode, but more than tau away from the next response
        uphill. The algorithm of the paper keeps them.
    responses : Responses, optional
        The responses as `sort_responses` returns them, to save sorting them again.
    progress : callable, optional
        Called as ``progress(stage, done)`` about ten times per second and when a stage is complete;
        ``done`` rises to 1. An exception that it raises stops the computation.

    Returns
    -------
    ConditionalModes

    Examples
    --------
    >>> from quickshift.stages import prepare_joint
    >>> X, y = [[0.0], [0.0], [0.0], [9.0]], [1.0, 1.5, 6.0, 3.0]
    >>> joint = prepare_joint(X, y, 1.0, kernel="triangular")
    >>> modes = conditional_modes(joint, [[0.0], [5.0]], tau=2.0)
    >>> modes[0], modes[1]
    (array([1.5, 6. ]), array([], dtype=float64))
    >>> modes.probabilities
    array([0.666..., 0.333...])
    """
    require_result(joint, Joint, "joint", "prepare_joint")
    points = check_points(queries, "queries")
    check_n_features(points, joint.features.samples.n_features, "queries")
    options = ModeOptions(
        check_tau(tau), check_min_density_ratio(min_density_ratio), bool(keep_flat)
    )
    return find_modes(joint, points, options, responses, progress, probabilities=True)


def find_modes(
    joint: Joint,
    queries: Numbers,
    options: ModeOptions,
    responses: Responses | None = None,
    progress: Progress | None = None,
    *,
    probabilities: bool = False,
) -> ConditionalModes:
    """Find the modes as `conditional_modes` does, from checked arguments.

    The probabilities are NaN unless they are asked for: they may take longer than the search, and
    most callers need only the values.
    """
    points = scale_queries(joint, queries)
    if joint.n_outputs > 1:
        return _modes_of_several_outputs(joint, points, options, progress, probabilities)
    if responses is None:
        responses = sort_responses(joint, options.tau)
    modes = _modes_of_one_output(joint, responses, points, options, progress)
    if not probabilities:
        return modes
    found = probabilities_on_line(joint, points, modes.queries, modes.values)
    return replace(modes, probabilities=found)


def _modes_of_one_output(
    joint: Joint,
    responses: Responses,
    queries: Floats,
    options: ModeOptions,
    progress: Progress | None,
) -> ConditionalModes:
    """Find the modes of one column, without their probabilities."""
    estimate = joint.features
    with reporting(progress, "conditional_modes") as report:
        offsets, ranks, sums, valleys, marginals, log_scales = _core.conditional_modes(
            estimate.samples.tree,
            responses.values,
            responses.places,
            responses.rungs,
            responses.begin,
            responses.place_of_sample,
            responses.rung_of_sample,
            responses.weights,
            queries,
            estimate.kernel.code,
            estimate.bandwidth,
            estimate.rtol,
            options.tau,
            options.min_density_ratio,
            estimate.significant_bits,
            options.keep_flat,
            threads=resolve_threads(estimate.n_jobs),
            report=report,
        )
    log_units = log_scales + estimate.samples.tree.weight_exponent * np.log(2.0)
    counts = np.diff(offsets)
    with np.errstate(divide="ignore"):
        logs = np.log(sums) + joint.log_constant
    densities = _exp(logs + np.repeat(log_units, counts))
    # Joint density and marginal are relative to the same unit, which cancels.
    log_marginals = joint.log_support(marginals, np.zeros_like(log_units))
    return ConditionalModes(
        offsets,
        responses.values[ranks],
        densities,
        heights=_heights(densities, (sums - valleys) / sums),
        support=joint.log_support(marginals, log_units),
        conditional_densities=_exp(logs - np.repeat(log_marginals, counts)),
        probabilities=np.full(len(sums), np.nan),
    )


def _modes_of_several_outputs(
    joint: Joint,
    queries: Floats,
    options: ModeOptions,
    progress: Progress | None,
    probabilities: bool,
) -> ConditionalModes:
    """Find the modes of several columns."""
    found = modes_in_space(joint, queries, options, progress, probabilities=probabilities)
    counts = [len(here.values) for here in found]
    logs = np.concatenate([here.log_densities for here in found])
    log_valleys = np.concatenate([here.log_valleys for here in found])
    densities = _exp(logs)
    support = joint.log_support(*joint.features.sums_at(queries))
    return ConditionalModes(
        np.concatenate([[0], np.cumsum(counts)]),
        np.concatenate([here.values for here in found]),
        densities,
        heights=_heights(densities, -np.expm1(log_valleys - logs)),
        support=support,
        conditional_densities=_exp(logs - np.repeat(support, counts)),
        probabilities=np.concatenate([here.probabilities for here in found]),
    )


def _heights(densities: Floats, rise: Floats) -> Floats:
    """Return the part of each density above its valley; ``rise`` is that part as a share."""
    return np.multiply(densities, rise, where=rise > 0, out=np.zeros_like(densities))


def _exp(log_density: Floats) -> Floats:
    """Return densities, which may underflow to 0 or overflow to infinity."""
    with np.errstate(over="ignore", under="ignore"):
        return np.exp(log_density)
