"""The modes of an estimate, by the paper's definitions.

The paper defines (r, δ)-modes for the true density f. Here the definitions are applied to the
estimate f̂ at the samples: a ball B(x, r) is the set of samples of positive weight within distance r
of x.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from quickshift.arrays import Flags, Floats, Indices
from quickshift.checks.numbers import check_length, check_nonnegative, check_tau
from quickshift.checks.points import check_rows
from quickshift.checks.results import require_result
from quickshift.stages.diagnosis.neighborhoods import (
    NeighborIndex,
    StepFunction,
    index_neighbors,
)
from quickshift.stages.forest import cut
from quickshift.stages.parent_graph import ParentGraph
from quickshift.stages.tree.cluster_tree import ClusterTree

__all__ = [
    "ModeDiagnosis",
    "ModeRecovery",
    "diagnose_modes",
    "mode_recovery",
    "mode_steps",
]


@dataclass(frozen=True)
class ModeDiagnosis:
    """One mode and the quantities that the paper defines for it.

    Attributes
    ----------
    row : int
        Row of the mode.
    height : float
        f̂ at the mode.
    parent_distance : float
        Distance to the nearest higher sample; infinite if no sample is higher.
    prominence : float
        Difference between f̂ at the mode and the level at which a higher leaf of the cluster tree
        absorbs it; f̂ itself if no leaf does.
    significance : float
        Significance of the mode in standard errors, see `assess`; NaN if it is not known.
    rise : StepFunction
        δ⁻(r): f̂ at the highest sample within r of the mode, minus f̂ at the mode. 0 before the first
        step.
    drop : StepFunction
        δ⁺(r): f̂ at the mode, minus f̂ at the highest sample that is within r of the mode but farther
        than r_M from it. Negative if that sample is higher than the mode; infinite before the first
        step.
    """

    row: int
    height: float
    parent_distance: float
    prominence: float
    significance: float
    rise: StepFunction
    drop: StepFunction

    def is_plus(self, r: float, delta: float) -> bool:
        """Return whether the mode is an (r, δ)⁺-mode.

        That is, whether it is higher by more than δ than every sample that is within r of it but
        farther than r_M from it.
        """
        return self.drop.at(r, math.inf) > check_nonnegative(delta, "delta")

    def is_minus(self, r: float, delta: float) -> bool:
        """Return whether the mode is an (r, δ)⁻-mode.

        That is, whether some sample within r of it is higher by more than δ.
        """
        return self.rise.at(r, 0.0) > check_nonnegative(delta, "delta")

    @property
    def sentence(self) -> str:
        """The mode in words, with its numbers."""
        above = (
            "no sample is higher"
            if math.isinf(self.parent_distance)
            else f"the nearest higher sample is {self.parent_distance:.4g} away"
        )
        return (
            f"The mode at row {self.row} has density {self.height:.4g}, prominence "
            f"{self.prominence:.4g} and significance {self.significance:.3g}; {above}."
        )


def mode_steps(
    graph: ParentGraph, row: int, mode_radius: float
) -> tuple[StepFunction, StepFunction]:
    """Compute δ⁻ and δ⁺ of a mode for every radius.

    Parameters
    ----------
    graph : ParentGraph
        From `climb`.
    row : int
        Row of the mode x₀, which must have positive weight.
    mode_radius : float
        r_M; `diagnose` uses the bandwidth by default.

    Returns
    -------
    rise, drop : StepFunction
        δ⁻ and δ⁺ as in `ModeDiagnosis`. The first radius of the rise is the one at which δ⁻ becomes
        positive: the distance to the parent, unless the parent has the same height.

    Examples
    --------
    >>> from quickshift.stages import climb
    >>> graph = climb([[0.0], [1.0], [2.0], [3.0]], [2.0, 1.0, 1.5, 3.0])
    >>> rise, drop = mode_steps(graph, 0, 1.0)
    >>> rise.radii, rise.values
    (array([3.]), array([1.]))
    >>> drop.radii, drop.values
    (array([2., 3.]), array([ 0.5, -1. ]))
    """
    require_result(graph, ParentGraph, "graph", "climb")
    length = check_length(mode_radius, "mode_radius")
    neighbors = index_neighbors(graph.samples, graph.heights)
    rows = check_rows(row, "row", graph.samples.n_samples).reshape(1)
    return _rise_and_drop(neighbors, neighbors.positions_of(rows, "row"), length)


def _rise_and_drop(
    neighbors: NeighborIndex, mode: Indices, mode_radius: float
) -> tuple[StepFunction, StepFunction]:
    """Compute δ⁻ and δ⁺; ``mode`` is an array that holds one position."""
    height = neighbors.heights[mode]
    descending = neighbors.heights[neighbors.highest_first]
    distance = np.ldexp(neighbors.distances(mode, neighbors.highest_first), neighbors.exponent)
    radii, highest = _running_maximum(distance, descending)
    up = highest > height
    rise = StepFunction(radii[up], (highest - height)[up])
    distance[distance <= mode_radius] = np.inf
    radii, highest = _running_maximum(distance, descending)
    return rise, StepFunction(radii, height - highest)


def _running_maximum(distance: Floats, descending: Floats) -> tuple[Floats, Floats]:
    """Return the radii at which the maximum height within the radius increases, and the maxima.

    The arguments are the distances and the heights of samples, in descending order of height.
    """
    nearest = np.concatenate([[np.inf], np.minimum.accumulate(distance)[:-1]])
    steps = np.flatnonzero(distance < nearest)[::-1]  # samples closer than every higher one
    highest = descending[steps]
    kept = np.ones(steps.size, dtype=bool)
    kept[1:] = highest[1:] > highest[:-1]  # of equally high samples, only the closest
    return distance[steps[kept]], highest[kept]


def diagnose_modes(
    graph: ParentGraph, tree: ClusterTree, rows: ArrayLike, mode_radius: float
) -> list[ModeDiagnosis]:
    """Compute the paper's quantities for modes that are leaves of a cluster tree.

    Parameters
    ----------
    graph : ParentGraph
        From `climb`.
    tree : ClusterTree
        From `link`, with densities in the same units as the heights of the graph.
    rows : array-like of int
        Rows of the modes; each must be the root of a leaf.
    mode_radius : float
        r_M.

    Returns
    -------
    list of ModeDiagnosis
        One entry per mode, in the order of ``rows``.

    Examples
    --------
    >>> from quickshift.stages import climb, cut, link
    >>> X, density = [[0.0], [1.0], [2.0], [3.0]], [3.0, 1.0, 2.0, 1.0]
    >>> graph = climb(X, density)
    >>> tree = link(X, density, cut(graph, 1.5), 1.5)
    >>> first, second = diagnose_modes(graph, tree, [0, 2], 1.0)
    >>> second.prominence, second.is_minus(1.5, 0.0), second.is_minus(2.0, 0.0)
    (1.0, False, True)
    """
    require_result(graph, ParentGraph, "graph", "climb")
    require_result(tree, ClusterTree, "tree", "link")
    length = check_length(mode_radius, "mode_radius")
    modes = check_rows(rows, "rows", graph.samples.n_samples).ravel()
    neighbors = index_neighbors(graph.samples, graph.heights)
    positions = neighbors.positions_of(modes, "rows")
    leaves = tree.leaf_labels[modes]
    strange = modes[tree.leaf_indices[leaves] != modes]
    if strange.size:
        raise ValueError(
            f"rows has row {strange[0]}, which is not the root of a leaf, expected entries of "
            f"tree.leaf_indices. Choose rows from there."
        )
    birth, death = tree.persistence()[leaves].T
    significance = np.full(tree.leaf_indices.size, np.nan)
    if tree.significance is not None:
        significance = tree.significance
    prominence, parent_distance = birth - death, graph.distance[modes]
    return [
        ModeDiagnosis(
            row=int(modes[k]),
            height=float(birth[k]),
            parent_distance=float(parent_distance[k]),
            prominence=float(prominence[k]),
            significance=float(significance[leaves[k]]),
            rise=rise,
            drop=drop,
        )
        for k, (rise, drop) in enumerate(
            _rise_and_drop(neighbors, position, length) for position in positions[:, None]
        )
    ]


@dataclass(frozen=True)
class ModeRecovery:
    """The sizes of the sets of modes in Theorem 2, for an estimate; see `mode_recovery`.

    Attributes
    ----------
    n_modes : int
        Size of M, the modes of the estimate at the scale r_M.
    n_minus : int
        Size of M⁻, the (τ - ε, δ)⁻-modes among them.
    n_plus : int
        Size of M⁺, the (τ + ε, δ)⁺-modes among them.
    n_found : int
        Number of roots of the cut at τ.
    bound : int
        Size of M minus the size of M⁻: at most this many modes can be found if r_M ≤ τ.
    recovered : ndarray of shape (n_recovered,), int64
        Rows of the modes in M⁺ but not in M⁻, highest first. All of them are found.
    sentence : str
        The result in words, with its numbers.
    """

    n_modes: int
    n_minus: int
    n_plus: int
    n_found: int
    bound: int
    recovered: Indices
    sentence: str


def mode_recovery(
    graph: ParentGraph,
    tau: float,
    mode_radius: float,
    *,
    epsilon: float = 0.0,
    delta: float = 0.0,
    n_jobs: int | None = None,
) -> ModeRecovery:
    """Count the modes of Theorem 2, where M is the set of roots of the cut at r_M.

    The theorem is about the modes of f and holds for large samples. For the modes of f̂, two of its
    statements hold exactly if r_M ≤ τ, for every ε and δ:

    1. The cut at τ has no more roots than there are modes in M but not in M⁻. The two numbers are
       equal if ε = δ = 0 and all heights differ.
    2. Every mode in M⁺ but not in M⁻ is a root of the cut at τ.

    Larger ε and δ make these statements weaker. If r_M > τ, the cut at τ may have more roots than M
    has modes.

    Parameters
    ----------
    graph : ParentGraph
        From `climb`. Its heights are compared exactly; apply `rounded` to them if `climb` ignored
        their last bits.
    tau : float
        τ.
    mode_radius : float
        r_M.
    epsilon, delta : float
        ε and δ, at least 0.
    n_jobs : int, optional
        Number of threads; None for all cores.

    Returns
    -------
    ModeRecovery

    Examples
    --------
    >>> from quickshift.stages import climb
    >>> graph = climb([[0.0], [1.0], [2.0], [9.0]], [3.0, 1.0, 2.0, 1.0])
    >>> count = mode_recovery(graph, 2.0, 1.0)
    >>> count.n_modes, count.n_minus, count.bound, count.n_found, count.recovered
    (3, 1, 2, 2, array([0, 3]))
    """
    require_result(graph, ParentGraph, "graph", "climb")
    length, radius = check_tau(tau), check_length(mode_radius, "mode_radius")
    slack, margin = check_nonnegative(epsilon, "epsilon"), check_nonnegative(delta, "delta")
    radii = RecoveryRadii(length, radius, max(length - slack, 0.0), length + slack)
    return recovered_modes(graph, radii, margin, n_jobs=n_jobs)


class RecoveryRadii(NamedTuple):
    """The lengths of Theorem 2."""

    tau: float
    mode_radius: float  # r_M
    inner: float  # τ - ε, but at least 0
    outer: float  # τ + ε


def recovered_modes(
    graph: ParentGraph,
    radii: RecoveryRadii,
    delta: float,
    *,
    shown: RecoveryRadii | None = None,
    n_jobs: int | None = None,
) -> ModeRecovery:
    """Count the modes of Theorem 2 as `mode_recovery` does, from checked arguments.

    The sentence has the radii as ``shown``, if these are in other units.
    """
    modes = cut(graph, radii.mode_radius, n_jobs=n_jobs).roots
    n_found = cut(graph, radii.tau, n_jobs=n_jobs).roots.size
    neighbors = index_neighbors(graph.samples, graph.heights)
    minus = _minus_modes(neighbors, graph, modes, radii.inner, delta)
    plus = _plus_modes(neighbors, graph, modes, (radii.mode_radius, radii.outer), delta)
    bound = modes.size - int(minus.sum())
    recovered = modes[plus & ~minus]
    tau, radius, inner, outer = radii if shown is None else shown
    by = f" by more than {delta:.4g}" if delta else ""
    excess = "" if radius <= tau else " (more may be found, because r_M is longer than τ)"
    sentence = (
        f"The estimate has {modes.size} candidate mode{'s' * (modes.size != 1)}, samples with no "
        f"higher sample within r_M = {radius:.4g}. For {minus.sum()} of them, some sample within "
        f"{inner:.4g} is higher{by}, so at most {bound} can be found{excess}; the cut at "
        f"τ = {tau:.4g} finds {n_found}. For {recovered.size} of the other candidates, every "
        f"sample between r_M and {outer:.4g} away is lower{by}, and all of these are found."
    )
    return ModeRecovery(
        modes.size, int(minus.sum()), int(plus.sum()), n_found, bound, recovered, sentence
    )


def _minus_modes(
    neighbors: NeighborIndex, graph: ParentGraph, modes: Indices, r: float, delta: float
) -> Flags:
    """Flag the modes that have a sample within r that is higher by more than δ."""
    height = graph.heights[modes]
    near = graph.distance[modes] <= r
    minus: Flags = near & (graph.heights[graph.parent[modes]] - height > delta)
    rest = np.flatnonzero(near & ~minus)  # the parent is too low, another may be high enough
    minus[rest] = _highest(neighbors, modes[rest], (-1.0, r)) - height[rest] > delta
    return minus


def _plus_modes(
    neighbors: NeighborIndex,
    graph: ParentGraph,
    modes: Indices,
    radii: tuple[float, float],
    delta: float,
) -> Flags:
    """Flag the modes that are higher by more than δ than all samples between two radii."""
    height = graph.heights[modes]
    parent = graph.distance[modes]
    beaten = (parent > radii[0]) & (parent <= radii[1]) & (graph.parent[modes] != modes)
    beaten &= graph.heights[graph.parent[modes]] >= height
    plus = np.zeros(modes.size, dtype=bool)
    rest = np.flatnonzero(~beaten)
    plus[rest] = height[rest] - _highest(neighbors, modes[rest], radii) > delta
    return plus


def _highest(neighbors: NeighborIndex, rows: Indices, radii: tuple[float, float]) -> Floats:
    """Return the maximum height of the samples around each row, -inf if there is no sample.

    Only samples farther than the first radius and within the second one count.
    """
    inner = neighbors.scaled(radii[0])
    highest = np.full(rows.size, -np.inf)
    for i, j, distance in neighbors.pairs_within(neighbors.positions_of(rows, "rows"), radii[1]):
        outside = distance > inner
        np.maximum.at(highest, i[outside], neighbors.heights[j[outside]])
    return highest
