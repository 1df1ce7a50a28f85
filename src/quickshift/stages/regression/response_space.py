"""Algorithm 3 for responses of several columns: Quick Shift among the responses, by tree search."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from quickshift.arrays import Floats, Indices
from quickshift.progress import Progress, reporting
from quickshift.stages.density import Estimate
from quickshift.stages.forest import cut
from quickshift.stages.parent_graph import climb, rounded
from quickshift.stages.regression.basins import shares
from quickshift.stages.regression.joint import Joint

__all__ = ["ModeOptions", "SpaceModes", "modes_in_space"]


# Number of points on the segment between two modes at which the density is evaluated.
_POINTS_PER_SEGMENT = 7


class ModeOptions(NamedTuple):
    """The checked options of `conditional_modes` that decide what counts as a mode."""

    tau: float
    min_density_ratio: float
    keep_flat: bool


class SpaceModes(NamedTuple):
    """The modes at one query, highest first.

    Attributes
    ----------
    values : ndarray of shape (k, n_outputs)
        The responses that are modes.
    log_densities, log_valleys : ndarray of shape (k,)
        Logarithms of the joint density at each mode and at its valley.
    probabilities : ndarray of shape (k,)
        Share of the samples near the query in the basin of each mode.
    """

    values: Floats
    log_densities: Floats
    log_valleys: Floats
    probabilities: Floats


def modes_in_space(
    joint: Joint,
    queries: Floats,
    options: ModeOptions,
    progress: Progress | None,
    *,
    probabilities: bool,
) -> list[SpaceModes]:
    """Find the modes at each query.

    Parameters
    ----------
    joint : Joint
        With responses of shape (n_samples, n_outputs).
    queries : ndarray of shape (n_queries, n_features)
        Divided as X was.
    options : ModeOptions
        What counts as a mode.
    progress : callable or None
        Called as ``progress(stage, done)`` about ten times per second and when a stage is complete;
        ``done`` rises to 1. An exception that it raises stops the computation.
    probabilities : bool
        Whether to compute the probabilities, which are NaN otherwise.

    Returns
    -------
    list of SpaceModes, one per query
    """
    section = _Section(joint, joint.together, options, probabilities)
    responses = joint.by_response.responses
    found = []
    with reporting(progress, "conditional_modes") as report:
        for i, query in enumerate(queries):
            found.append(section.modes_at(query, responses))
            if report is not None:
                report((i + 1) / len(queries))
    return found


@dataclass(frozen=True)
class _Section:
    """The joint density as a function of the response, at a fixed x that each method takes."""

    joint: Joint
    estimate: Estimate
    options: ModeOptions
    probabilities: bool

    def modes_at(self, query: Floats, responses: Floats) -> SpaceModes:
        """Return the modes at a query among all distinct responses."""
        sums, log_scales = self._sums(query, responses)
        log_sums = _log(sums) + log_scales
        highest = int(np.argmax(log_sums))
        if sums[highest] == 0:
            return SpaceModes(responses[:0], sums[:0], sums[:0], sums[:0])
        with np.errstate(under="ignore"):  # relative to the highest, which does not underflow
            heights = sums * np.exp(log_scales - log_scales[highest])
        # A vertex below the minimum ratio cannot be higher than one that will be kept. The factor
        # 0.999 leaves room for vertices that differ by no more than rounding.
        ratio = self.options.min_density_ratio
        vertices = np.flatnonzero((heights > 0) & (heights >= 0.999 * ratio * heights[highest]))
        graph = climb(
            responses[vertices],
            heights[vertices],
            n_jobs=self.estimate.n_jobs,
            significant_bits=self.estimate.significant_bits,
        )
        forest = cut(graph, self.options.tau)
        levels = rounded(heights, self.estimate.significant_bits)
        roots = vertices[forest.roots]
        roots = roots[levels[roots] >= ratio * levels[roots[0]]]
        saddles = self._lowest_between(query, responses[roots], log_sums[roots])
        valleys = saddles.max(axis=1)
        while not self.options.keep_flat and (flat := valleys >= log_sums[roots]).any():
            last = np.flatnonzero(flat)[-1]
            roots = np.delete(roots, last)
            saddles = np.delete(np.delete(saddles, last, axis=0), last, axis=1)
            valleys = saddles.max(axis=1)
        masses = np.full(len(roots), np.nan)
        if self.probabilities:
            faint = levels[vertices] < ratio * levels[highest]
            root_of_vertex = np.where(faint, -1, vertices[forest.roots][forest.labels])
            basins = _basins(responses, roots, vertices, root_of_vertex)
            masses = self._masses(query, basins, len(roots))
        constant = self.joint.log_constant
        return SpaceModes(responses[roots], log_sums[roots] + constant, valleys + constant, masses)

    def _masses(self, query: Floats, basins: Indices, n_modes: int) -> Floats:
        """Return the share of the samples near x whose responses are in each basin."""
        samples = self.joint.by_response
        weights = samples.at(query[None])[0]
        masses = np.zeros(n_modes)
        np.add.at(masses, basins[samples.response_of_sample], weights)
        return shares(masses, np.zeros(n_modes, dtype=np.int64))

    def _sums(self, query: Floats, responses: Floats) -> tuple[Floats, Floats]:
        """Return the sums at (query, response) and the logarithms of their scales."""
        at = np.hstack([np.tile(query, (len(responses), 1)), responses / self.joint.divisor[1]])
        return self.estimate.sums_at(at)

    def _lowest_between(self, query: Floats, values: Floats, log_sums: Floats) -> Floats:
        """Return the lowest log sum on the segment between each two modes; shape (k, k)."""
        lowest = np.full((len(values), len(values)), -np.inf)
        shares = np.linspace(0, 1, _POINTS_PER_SEGMENT + 2)[1:-1, None]
        for i in range(len(values) - 1):  # from one mode to all lower ones at once
            others = slice(i + 1, None)
            points = (1 - shares) * values[i] + shares * values[others, None]
            sums, log_scales = self._sums(query, points.reshape(-1, values.shape[1]))
            along = (_log(sums) + log_scales).reshape(points.shape[:2]).min(axis=1)
            lowest[i, others] = np.minimum(along, np.minimum(log_sums[i], log_sums[others]))
            lowest[others, i] = lowest[i, others]
        return lowest


def _basins(
    responses: Floats, roots: Indices, vertices: Indices, root_of_vertex: Indices
) -> Indices:
    """Return for each response the mode, as a position in ``roots``, whose basin it is in.

    A vertex belongs to the root that it climbs to. Other responses, and those that climb to a root
    that was dropped, belong to the nearest mode.
    """
    from scipy.spatial import KDTree

    position = np.full(len(responses), -1)
    position[roots] = np.arange(len(roots))
    basins = np.full(len(responses), -1)
    climbed = root_of_vertex >= 0
    basins[vertices[climbed]] = position[root_of_vertex[climbed]]
    rest = np.flatnonzero(basins < 0)
    if rest.size:
        basins[rest] = KDTree(responses[roots]).query(responses[rest])[1]
    return basins


def _log(sums: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.log(sums)
