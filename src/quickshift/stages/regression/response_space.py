"""Algorithm 3 for responses of several columns: Quick Shift among the responses, by tree search."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from quickshift.arrays import Floats
from quickshift.memory import prepare_bytes, require_memory
from quickshift.progress import Progress, reporting
from quickshift.stages.density import Estimate, fit_estimate
from quickshift.stages.forest import cut
from quickshift.stages.parent_graph import climb
from quickshift.stages.regression.joint import Joint, divided
from quickshift.stages.samples import build_samples

__all__ = ["ModeOptions", "modes_in_space"]


# Number of points on the segment between two modes at which the density is evaluated.
_POINTS_PER_SEGMENT = 7


class ModeOptions(NamedTuple):
    """The checked options of `conditional_modes` that decide what counts as a mode."""

    tau: float
    min_density_ratio: float
    keep_flat: bool


def modes_in_space(
    joint: Joint, queries: Floats, options: ModeOptions, progress: Progress | None
) -> tuple[list[Floats], list[Floats], list[Floats]]:
    """Find the modes at each query, with the log joint densities of the modes and of their valleys.

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

    Returns
    -------
    values, log_densities, log_valleys : lists of ndarrays, one per query
    """
    section = _Section(joint, _joint_estimate(joint), options)
    responses = np.unique(joint.y[joint.weights > 0] + 0.0, axis=0)
    found = []
    with reporting(progress, "conditional_modes") as report:
        for i, query in enumerate(queries):
            found.append(section.modes_at(query, responses))
            if report is not None:
                report((i + 1) / len(queries))
    values, log_densities, log_valleys = zip(*found, strict=True)
    return list(values), list(log_densities), list(log_valleys)


def _joint_estimate(joint: Joint) -> Estimate:
    """Return the estimate over rows (x, y), both divided by their divisors."""
    features = joint.features
    rows = np.flatnonzero(joint.weights > 0)
    coordinates = features.samples.tree.coordinates(rows)
    period = features.samples.period
    if period is not None:
        period = np.append(period, np.full(joint.n_outputs, np.inf))
    shape = rows.size, features.samples.n_features + joint.n_outputs
    require_memory(prepare_bytes(*shape), "conditional_modes", shape)
    samples = build_samples(
        np.hstack([coordinates, divided(joint.y[rows], joint.divisor[1], "y", "h_y")]),
        joint.weights[rows],
        period,
        n_jobs=features.n_jobs,
    )
    return fit_estimate(
        samples,
        features.bandwidth,
        kernel=features.kernel.name,
        rtol=features.rtol,
        n_jobs=features.n_jobs,
    )


@dataclass(frozen=True)
class _Section:
    """The joint density as a function of the response, at a fixed x that each method takes."""

    joint: Joint
    estimate: Estimate
    options: ModeOptions

    def modes_at(self, query: Floats, responses: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the modes, highest first, and the log densities of the modes and their valleys."""
        sums, log_scales = self._sums(query, responses)
        log_sums = _log(sums) + log_scales
        highest = int(np.argmax(log_sums))
        if sums[highest] == 0:
            return responses[:0], sums[:0], sums[:0]
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
        roots = vertices[cut(graph, self.options.tau).roots]
        roots = roots[heights[roots] >= ratio * heights[roots[0]]]
        saddles = self._lowest_between(query, responses[roots], log_sums[roots])
        valleys = saddles.max(axis=1)
        while not self.options.keep_flat and (flat := valleys >= log_sums[roots]).any():
            last = np.flatnonzero(flat)[-1]
            roots = np.delete(roots, last)
            saddles = np.delete(np.delete(saddles, last, axis=0), last, axis=1)
            valleys = saddles.max(axis=1)
        constant = self.joint.log_constant
        return responses[roots], log_sums[roots] + constant, valleys + constant

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


def _log(sums: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.log(sums)
