"""Algorithm 3: the modes of f(y given x), at many x at once."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from quickshift import _core
from quickshift.arrays import Floats
from quickshift.checks import check_real, check_tau
from quickshift.progress import Progress, reporting
from quickshift.stages.regression.joint import Joint, Responses, sort_responses
from quickshift.stages.regression.ragged import Ragged
from quickshift.stages.regression.response_space import Search, modes_in_space
from quickshift.threads import resolve_threads

if TYPE_CHECKING:
    import pandas

__all__ = ["ConditionalModes", "conditional_modes"]


@dataclass(frozen=True)
class ConditionalModes(Ragged):
    """The conditional modes at each of m queries, k in all, those of one query side by side.

    ``modes[i]`` are the modes at query i, the highest first; there may be none.

    Attributes
    ----------
    offsets : ndarray of shape (m + 1,)
        Those of query i are the elements from ``offsets[i]`` to before ``offsets[i + 1]``.
    values : ndarray of shape (k,) or (k, n_outputs)
        The responses that are modes.
    densities : ndarray of shape (k,)
        f̂(x, value), the joint density.
    heights : ndarray of shape (k,)
        How far each density is above the valley to the next mode on the same x, of two valleys the
        higher one; the density itself where there is no other mode.
    support : ndarray of shape (m,)
        Logarithm of the density of the samples at x, whatever their response; minus infinity where
        no sample's kernel reaches.

    Examples
    --------
    >>> modes = ConditionalModes(
    ...     offsets=np.array([0, 2, 2]),
    ...     values=np.array([1.0, 4.0]),
    ...     densities=np.array([0.3, 0.2]),
    ...     heights=np.array([0.2, 0.1]),
    ...     support=np.array([-1.0, -np.inf]),
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

    def __getitem__(self, query: int) -> Floats:
        """Return the modes at one query, the highest first."""
        return self.values[self._own(query)]

    def __iter__(self) -> Iterator[Floats]:
        """Return the modes of query after query."""
        return (self[i] for i in range(len(self)))

    def highest(self) -> Floats:
        """Return the highest mode at each query, NaN where there is none.

        Returns
        -------
        ndarray of shape (m,) or (m, n_outputs)
        """
        found = np.full((len(self), *self.values.shape[1:]), np.nan)
        some = self.counts > 0
        found[some] = self.values[self.offsets[:-1][some]]
        return found

    def to_pandas(self) -> "pandas.DataFrame":
        """Return a table with a row for each mode.

        Returns
        -------
        pandas.DataFrame
            Columns ``query``, ``mode`` (0 for the highest at its query), ``value`` (or ``value_0``,
            ``value_1`` … for several outputs), ``density``, ``height`` and ``support``. Queries
            without a mode have no row.
        """
        import pandas

        queries = self.queries
        if self.values.ndim == 1:
            values = {"value": self.values}
        else:
            values = {f"value_{k}": column for k, column in enumerate(self.values.T)}
        return pandas.DataFrame(
            {
                "query": queries,
                "mode": np.arange(len(queries)) - self.offsets[queries],
                **values,
                "density": self.densities,
                "height": self.heights,
                "support": self.support[queries],
            }
        )


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
        The x.
    tau : float
        Longest move, in the units of y.
    min_density_ratio : float
        Modes below this share of the highest one's density are dropped; 0 keeps all. With a
        kernel of infinite support and rtol above 0, densities below a millionth of the highest are
        not within rtol, and may be missed altogether.
    keep_flat : bool
        Whether to keep modes that do not rise above the way to the next one: responses beyond a gap
        of more than tau, on the slope of another mode. The algorithm keeps them.
    responses : Responses, optional
        From `sort_responses`, to save sorting them again.
    progress : callable, optional
        Called as ``progress(stage, done)``, about ten times a second and when the stage is
        complete; ``done`` rises to 1. An exception that it raises stops the computation.

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
    """
    points = joint.scaled_queries(queries)
    search = Search(check_tau(tau), check_ratio(min_density_ratio), bool(keep_flat))
    if joint.n_outputs > 1:
        return _in_space(joint, points, search, progress)
    line = sort_responses(joint, search.tau) if responses is None else responses
    return _on_line(joint, line, points, search, progress)


def _on_line(
    joint: Joint, line: Responses, queries: Floats, search: Search, progress: Progress | None
) -> ConditionalModes:
    estimate = joint.features
    with reporting(progress, "conditional_modes") as report:
        offsets, ranks, sums, valleys, marginals, log_scales = _core.conditional_modes(
            estimate.samples.tree,
            line.values,
            line.places,
            line.rungs,
            line.begin,
            line.place_of_sample,
            line.rung_of_sample,
            line.weights,
            queries,
            estimate.kernel.code,
            estimate.bandwidth,
            estimate.rtol,
            search.tau,
            search.min_density_ratio,
            estimate.significant_bits,
            search.keep_flat,
            threads=resolve_threads(estimate.n_jobs),
            report=report,
        )
    log_units = log_scales + estimate.samples.tree.weight_exponent * np.log(2.0)
    of_mode = np.repeat(log_units, np.diff(offsets)) + joint.log_constant
    with np.errstate(divide="ignore"):
        densities = _exp(np.log(sums) + of_mode)
    heights = _heights(densities, (sums - valleys) / sums)
    support = joint.log_support(marginals, log_units)
    return ConditionalModes(offsets, line.values[ranks], densities, heights, support)


def _in_space(
    joint: Joint, queries: Floats, search: Search, progress: Progress | None
) -> ConditionalModes:
    values, log_densities, log_valleys = modes_in_space(joint, queries, search, progress)
    offsets = np.concatenate([[0], np.cumsum([len(here) for here in values])])
    logs = np.concatenate(log_densities)
    densities = _exp(logs)
    heights = _heights(densities, -np.expm1(np.concatenate(log_valleys) - logs))
    support = joint.log_support(*joint.features.sums_at(queries))
    return ConditionalModes(offsets, np.concatenate(values), densities, heights, support)


def _heights(densities: Floats, rise: Floats) -> Floats:
    """Return the share of a density above its valley, also of one that is infinite."""
    return np.multiply(densities, rise, where=rise > 0, out=np.zeros_like(densities))


def _exp(log_density: Floats) -> Floats:
    """Return densities, which may round to 0 or infinity."""
    with np.errstate(over="ignore", under="ignore"):
        return np.exp(log_density)


def check_ratio(min_density_ratio: float) -> float:
    """Return a share from 0 to 1."""
    expected = "a share of the highest mode's density, from 0 to 1"
    ratio = check_real(min_density_ratio, "min_density_ratio", expected)
    if not 0 <= ratio <= 1:
        raise ValueError(f"min_density_ratio is {min_density_ratio!r}, expected {expected}.")
    return ratio
