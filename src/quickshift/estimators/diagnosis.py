"""What a fit says and what to do about it; the paper's definitions behind ``theory=True``."""

import math
from dataclasses import dataclass, replace

import numpy as np
from sklearn.pipeline import Pipeline

from quickshift.arrays import Floats
from quickshift.checks.numbers import check_length, check_nonnegative
from quickshift.checks.results import check_row_pair
from quickshift.estimators.pipelines import quick_shift_of
from quickshift.estimators.quick_shift import QuickShift
from quickshift.stages.diagnosis.conditions import Condition, conditions
from quickshift.stages.diagnosis.modes import (
    ModeDiagnosis,
    ModeRecovery,
    RecoveryRadii,
    diagnose_modes,
    recovered_modes,
)
from quickshift.stages.diagnosis.separation import Separation, describe_separation, separation
from quickshift.stages.local_scale import LocalScale, levels_of
from quickshift.stages.parent_graph import ParentGraph, rounded
from quickshift.stages.rules import spread_of
from quickshift.stages.tree.cluster_tree import ClusterTree

__all__ = ["Diagnosis", "diagnose"]

_MODES_IN_WORDS = 20
_LARGEST = float(np.finfo(np.float64).max)
_LOCAL = (
    "The paper's theorems assume a kernel density with one bandwidth and one tau for all samples. "
    "Fit with a bandwidth, for example bandwidth='auto', to evaluate their conditions."
)


@dataclass(frozen=True)
class Diagnosis:
    """What a fit says, in words; with theory, the paper's quantities as well.

    Attributes
    ----------
    findings : list of str
        The lines of `QuickShift.summary` below its table, each with what to do.
    theory : bool
        Whether the sentences include the paper's quantities.
    modes : list of ModeDiagnosis
        One diagnosis per mode, highest first; empty without theory.
    theorem_2 : ModeRecovery or None
        The number of modes that tau can find according to Theorem 2. None without theory, and with
        local scale, because the theorem assumes one bandwidth and one tau.
    n_unmerged : int
        Number of modes at tau, before insignificant ones were merged.
    conditions : list of Condition
        The paper's conditions on h and tau. Empty without theory and with local scale, for the same
        reason.
    separation : Separation or None
        How well the fit separates the given pair of rows; None if no pair was given.
    log_unit : float
        Logarithm of the unit of all densities. It is 0, unless densities would overflow or
        underflow; in that case sums of kernel profiles, or 1/r, stand in their place.
    """

    findings: list[str]
    theory: bool
    modes: list[ModeDiagnosis]
    theorem_2: ModeRecovery | None
    n_unmerged: int
    conditions: list[Condition]
    separation: Separation | None
    log_unit: float

    @property
    def sentences(self) -> list[str]:
        """The diagnosis in words; of more than 20 modes, the highest 20 and a summary."""
        words = self.findings + (self._theory_in_words() if self.theory else [])
        if self.separation is not None:
            words.append(self.separation.sentence)
        if self.log_unit and (self.theory or self.separation is not None):
            words.append(f"Densities are multiples of exp({self.log_unit:.4g}).")
        return words

    def _theory_in_words(self) -> list[str]:
        words = [mode.sentence for mode in self.modes[:_MODES_IN_WORDS]]
        if rest := self.modes[_MODES_IN_WORDS:]:
            words.append(
                f"There are {len(rest)} more modes, with densities from {rest[0].height:.4g} to "
                f"{rest[-1].height:.4g} and a significance of at most "
                f"{max(mode.significance for mode in rest):.3g}."
            )
        if self.theorem_2 is None:
            words.append(_LOCAL)
        else:
            words.append(self.theorem_2.sentence)
        if len(self.modes) < self.n_unmerged:
            words.append(
                f"Of the {self.n_unmerged} modes at tau, "
                f"{'one is' if len(self.modes) == 1 else f'{len(self.modes)} are'} kept; the "
                f"others are less significant and are merged."
            )
        return words + [condition.sentence for condition in self.conditions]

    def __str__(self) -> str:
        return "\n".join(self.sentences)


def diagnose(
    fitted: "QuickShift | Pipeline",
    *,
    theory: bool = False,
    mode_radius: float | None = None,
    epsilon: float = 0.0,
    delta: float = 0.0,
    pair: tuple[int, int] | None = None,
    separation_radius: float | None = None,
) -> Diagnosis:
    """Say in sentences what a fit found, why, and what to do for another result.

    With ``theory=True``, the paper's definitions are evaluated as well. Densities are those of
    ``density_``, rounded as they are for deciding which sample is higher.

    Parameters
    ----------
    fitted : QuickShift or Pipeline
        After `fit`. Of a pipeline, the last step is diagnosed, in the features that reach it.
    theory : bool, default=False
        Whether to evaluate Theorem 2 and the paper's conditions on the bandwidth and tau, and to
        include the paper's quantities in the sentences.
    mode_radius : float, optional
        r_M: samples within this radius of a mode are not compared with it. The bandwidth if not
        given; with local scale, the median of ``bandwidth_``.
    epsilon, delta : float, default=0.0
        ε and δ of Theorem 2, δ in units of the density.
    pair : tuple of two int, optional
        Two rows; the diagnosis then includes how well the fit separates them.
    separation_radius : float, optional
        r_s; if not given, 2.1 times ``tau_`` (its median with local scale), because the paper
        requires tau < r_s / 2, or the bandwidth if ``tau_`` is 0. This condition is evaluated if a
        pair or this radius is given.

    Returns
    -------
    Diagnosis
        ``print`` shows it as sentences.

    Examples
    --------
    >>> import numpy as np
    >>> from quickshift import QuickShift
    >>> X = np.array([[0.0], [0.2], [0.3], [5.0], [5.1]])
    >>> model = QuickShift(bandwidth=0.5, tau=2.0).fit(X)
    >>> found = diagnose(model, theory=True, pair=(0, 4))
    >>> found.modes[1].row, round(found.modes[1].parent_distance, 6)
    (4, 4.8)
    >>> found.theorem_2.bound, found.theorem_2.recovered
    (2, array([1, 4]))
    >>> print(diagnose(model).sentences[0])
    Density: gaussian kernel, bandwidth 0.5.
    """
    fitted = quick_shift_of(fitted)
    estimate, samples = fitted._estimate, fitted._graph.samples
    # Under local scale, the medians stand for one bandwidth and one tau.
    h, tau = float(np.median(fitted.bandwidth_)), float(np.median(fitted.tau_))
    r_m = h if mode_radius is None else check_length(mode_radius, "mode_radius")
    r_s = _limited(fitted, 2.1 * tau) or h
    if separation_radius is not None:
        r_s = check_length(separation_radius, "separation_radius")
    slack, margin = check_nonnegative(epsilon, "epsilon"), check_nonnegative(delta, "delta")
    tree = fitted._tree_in_densities()
    density = rounded(fitted._graph.heights, fitted._graph.significant_bits)
    if not tree.log_unit:
        density = estimate.density(density)
    elif isinstance(estimate, LocalScale):
        density = levels_of(-density)
    graph = replace(fitted._graph, heights=density)
    theorem_2, on_parameters = None, []
    if theory and not isinstance(estimate, LocalScale):
        radii = RecoveryRadii(tau, r_m, max(tau - slack, 0.0), _limited(fitted, tau + slack))
        theorem_2 = _recovery(fitted, graph, radii, margin)
        on_parameters = conditions(
            samples.total_weight,
            samples.dimension,
            h=h,
            tau=tau,
            spread=fitted._space.to_user(spread_of(samples)),
            kernel=estimate.kernel.name,
            r_s=None if pair is None and separation_radius is None else r_s,
        )
    return Diagnosis(
        findings=fitted.summary().remarks,
        theory=theory,
        modes=_modes(fitted, graph, tree, r_m) if theory else [],
        theorem_2=theorem_2,
        n_unmerged=fitted._clusters.unmerged.roots.size,
        conditions=on_parameters,
        separation=None if pair is None else _separation(fitted, graph.heights, pair, r_s, tau),
        log_unit=tree.log_unit,
    )


def _limited(fitted: QuickShift, length: float) -> float:
    """Return a length, but not one that is longer than all lengths of the fit's metric."""
    longest: float = fitted._space.to_user(_LARGEST)
    return min(length, longest) if math.isfinite(length) else length


def _recovery(
    fitted: QuickShift, graph: ParentGraph, radii: RecoveryRadii, delta: float
) -> ModeRecovery:
    names = ("tau", "mode_radius", "tau", "epsilon")
    inside = map(fitted._space.from_user, radii, names)
    n_jobs = fitted.n_jobs
    return recovered_modes(graph, RecoveryRadii(*inside), delta, shown=radii, n_jobs=n_jobs)


def _modes(
    fitted: QuickShift, graph: ParentGraph, tree: ClusterTree, mode_radius: float
) -> list[ModeDiagnosis]:
    """Diagnose the modes, with lengths in the user's units."""
    to_user = fitted._space.to_user
    radius = fitted._space.from_user(mode_radius, "mode_radius")
    return [
        replace(
            mode,
            parent_distance=to_user(mode.parent_distance),
            rise=mode.rise._replace(radii=to_user(mode.rise.radii)),
            drop=mode.drop._replace(radii=to_user(mode.drop.radii)),
        )
        for mode in diagnose_modes(graph, tree, fitted.mode_indices_, radius)
    ]


def _separation(
    fitted: QuickShift, density: Floats, pair: tuple[int, int], r_s: float, tau: float
) -> Separation:
    check_row_pair(pair)
    samples, from_user = fitted._graph.samples, fitted._space.from_user
    radius, length = from_user(r_s, "separation_radius"), from_user(tau, "tau")
    found = separation(samples, density, *pair, r_s=radius, tau=length, n_jobs=fitted.n_jobs)
    return describe_separation(pair, r_s, found.level, found.delta, found.weak_delta)
