"""What the paper's definitions say of the modes of an estimate.

The paper states its definitions of the true density f; here they are read for the estimate f̂ at
the samples. A ball B(x, r) holds the samples no further than r, rows of weight zero left out.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from quickshift.arrays import Flags, Floats, Indices
from quickshift.checks import check_least, check_length, check_rows, check_tau
from quickshift.stages.diagnosis.neighborhoods import Space, StepFunction, space_of
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
    """One mode in the paper's words.

    Attributes
    ----------
    row : int
        Its row.
    height : float
        f̂ there.
    parent_distance : float
        Distance to the nearest higher sample, infinite where none is.
    prominence : float
        Height over the level where a higher leaf of the cluster tree absorbs it; all of the height
        where none does.
    significance : float
        Standard errors that it stands out by; NaN where that is not known.
    rise : StepFunction
        δ⁻(r), how far the highest sample within r is above the mode; 0 before the first step.
    drop : StepFunction
        δ⁺(r), how far the highest sample within r but outside r_M is below the mode (negative: it
        is above); infinite before the first step.
    """

    row: int
    height: float
    parent_distance: float
    prominence: float
    significance: float
    rise: StepFunction
    drop: StepFunction

    def is_plus(self, r: float, delta: float) -> bool:
        """Whether it is an (r, δ)⁺-mode: above all samples between r_M and r by more than δ."""
        return self.drop.at(r, math.inf) > check_least(delta, "delta")

    def is_minus(self, r: float, delta: float) -> bool:
        """Whether it is an (r, δ)⁻-mode: some sample within r is higher by more than δ."""
        return self.rise.at(r, 0.0) > check_least(delta, "delta")

    @property
    def sentence(self) -> str:
        """The numbers in words."""
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
    """Find δ⁻ and δ⁺ of a mode at every radius.

    Parameters
    ----------
    graph : ParentGraph
        From `climb`.
    row : int
        x₀, of positive weight.
    mode_radius : float
        r_M; estimators take the bandwidth.

    Returns
    -------
    rise, drop : StepFunction
        As in `ModeDiagnosis`: the positive steps of δ⁻, the first of them at the parent unless that
        is equally high, and all steps of δ⁺.

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
    length = check_length(mode_radius, "mode_radius")
    space = space_of(graph.samples, graph.heights)
    rows = check_rows(row, "row", graph.samples.n_samples).reshape(1)
    return _steps(space, space.places(rows, "row"), length)


def _steps(space: Space, place: Indices, mode_radius: float) -> tuple[StepFunction, StepFunction]:
    height = space.density[place]
    distance = np.ldexp(space.distances(place, space.falling), space.exponent)
    radii, highest = _running_highest(distance, space.density[space.falling])
    up = highest > height
    rise = StepFunction(radii[up], (highest - height)[up])
    distance[distance <= mode_radius] = np.inf
    radii, highest = _running_highest(distance, space.density[space.falling])
    return rise, StepFunction(radii, height - highest)


def _running_highest(distance: Floats, falling: Floats) -> tuple[Floats, Floats]:
    """Where the highest density within a radius steps up, and to what, from falling densities."""
    nearest = np.concatenate([[np.inf], np.minimum.accumulate(distance)[:-1]])
    steps = np.flatnonzero(distance < nearest)[::-1]  # those with no higher one as near
    highest = falling[steps]
    kept = np.ones(steps.size, dtype=bool)
    kept[1:] = highest[1:] > highest[:-1]  # the nearest of equally high ones
    return distance[steps[kept]], highest[kept]


def diagnose_modes(
    graph: ParentGraph, tree: ClusterTree, rows: ArrayLike, mode_radius: float
) -> list[ModeDiagnosis]:
    """Diagnose leaves of a cluster tree.

    Parameters
    ----------
    graph : ParentGraph
        From `climb`.
    tree : ClusterTree
        From `link`, in the same units of density.
    rows : array-like of int
        Modes, each the root of a leaf.
    mode_radius : float
        r_M.

    Returns
    -------
    list of ModeDiagnosis

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
    length = check_length(mode_radius, "mode_radius")
    modes = check_rows(rows, "rows", graph.samples.n_samples).ravel()
    space = space_of(graph.samples, graph.heights)
    places = space.places(modes, "rows")
    leaves = tree.leaf_labels[modes]
    if not np.array_equal(tree.leaf_indices[leaves], modes):
        raise ValueError("rows has some that are no leaf's root, expected some of leaf_indices.")
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
        for k, (rise, drop) in enumerate(_steps(space, place, length) for place in places[:, None])
    ]


@dataclass(frozen=True)
class ModeRecovery:
    """Theorem 2 for an estimate, see `mode_recovery`.

    Attributes
    ----------
    n_modes : int
        Size of M, the modes of the estimate at the scale r_M.
    n_minus : int
        How many are (τ - ε, δ)⁻-modes.
    n_plus : int
        How many are (τ + ε, δ)⁺-modes.
    n_found : int
        How many roots the cut at τ has.
    bound : int
        Size of M less that of M⁻.
    recovered : ndarray of shape (n_recovered,), int64
        Rows of M⁺ without M⁻, highest first.
    sentence : str
        The numbers in words.
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
    """Count what Theorem 2 counts, of the modes M = roots of the cut at r_M.

    The theorem speaks of the modes of f and of large samples. For those of f̂ two of its statements
    hold exactly if r_M ≤ τ, for every ε and δ: the cut at τ has at most as many roots as M without
    M⁻ has modes, just as many at ε = δ = 0 where densities differ; and every mode of M⁺ without M⁻
    is itself one of them. Larger ε and δ only loosen this. If r_M > τ the cut may have more roots
    than M.

    Parameters
    ----------
    graph : ParentGraph
        From `climb`. Differences in bits that it ignored are for `rounded` to remove.
    tau : float
        τ.
    mode_radius : float
        r_M.
    epsilon, delta : float
        ε and δ, at least 0.
    n_jobs : int, optional
        Threads; None for all cores.

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
    length, radius = check_tau(tau), check_length(mode_radius, "mode_radius")
    slack, margin = check_least(epsilon, "epsilon"), check_least(delta, "delta")
    modes = cut(graph, radius, n_jobs=n_jobs).roots
    n_found = cut(graph, length, n_jobs=n_jobs).roots.size
    space = space_of(graph.samples, graph.heights)
    inner = max(length - slack, 0.0)
    minus = _minus_modes(space, graph, modes, inner, margin)
    plus = _plus_modes(space, graph, modes, (radius, length + slack), margin)
    bound = modes.size - int(minus.sum())
    recovered = modes[plus & ~minus]
    reach = "" if radius <= length else "; as r_M is longer than τ, more may be found"
    sentence = (
        f"Of {modes.size} modes at the scale {radius:.4g}, {minus.sum()} have a sample within "
        f"{inner:.4g} that is higher by more than {margin:.4g}, so at most {bound} can be "
        f"found, and {n_found} are{reach}; {recovered.size} stand above all others within "
        f"{length + slack:.4g} by more than that, and each is found."
    )
    return ModeRecovery(
        modes.size, int(minus.sum()), int(plus.sum()), n_found, bound, recovered, sentence
    )


def _minus_modes(space: Space, graph: ParentGraph, modes: Indices, r: float, delta: float) -> Flags:
    """Which modes have a sample within r that is higher by more than δ."""
    height = graph.heights[modes]
    near = graph.distance[modes] <= r
    minus: Flags = near & (graph.heights[graph.parent[modes]] - height > delta)
    rest = np.flatnonzero(near & ~minus)  # the parent is too low; another one may not be
    minus[rest] = _highest(space, modes[rest], (-1.0, r)) - height[rest] > delta
    return minus


def _plus_modes(
    space: Space, graph: ParentGraph, modes: Indices, radii: tuple[float, float], delta: float
) -> Flags:
    """Which modes are above all samples between two radii by more than δ."""
    height = graph.heights[modes]
    parent = graph.distance[modes]
    beaten = (parent > radii[0]) & (parent <= radii[1]) & (graph.parent[modes] != modes)
    beaten &= graph.heights[graph.parent[modes]] >= height
    plus = np.zeros(modes.size, dtype=bool)
    rest = np.flatnonzero(~beaten)
    plus[rest] = height[rest] - _highest(space, modes[rest], radii) > delta
    return plus


def _highest(space: Space, rows: Indices, radii: tuple[float, float]) -> Floats:
    """Highest density further than one radius and within another, minus infinity for none."""
    inner = space.scaled(radii[0])
    highest = np.full(rows.size, -np.inf)
    for i, j, distance in space.pairs_within(space.places(rows, "rows"), radii[1]):
        outside = distance > inner
        np.maximum.at(highest, i[outside], space.density[j[outside]])
    return highest
