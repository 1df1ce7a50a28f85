"""Turn the arguments that Algorithms 1 and 2 share into points sorted by height."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from quickshift.reference.density import Kde, exp, fit
from quickshift.reference.order import Ordered, checked_bits, put_in_order, rounded
from quickshift.reference.samples import Samples, checked_density, checked_samples, checked_tau
from quickshift.reference.scaled_distances import Flags, Floats

__all__ = ["Prepared", "Settings", "prepare"]


@dataclass(frozen=True)
class Settings:
    """The arguments of `quick_shift`, not yet checked."""

    X: ArrayLike
    bandwidth: float | None
    tau: ArrayLike
    kernel: str
    sample_weight: ArrayLike | None
    period: ArrayLike | None
    ties: str
    rtol: float
    density: ArrayLike | None
    significant_bits: int | None


@dataclass(frozen=True)
class Prepared:
    """The checked arguments, with the points sorted by height."""

    samples: Samples
    kde: Kde | None  # None if the caller gave the density
    density: Floats  # (n,), not rounded
    heights: Floats  # (n,), rounded: the unnormalized sums, or the given densities
    bits: int  # significant bits that the rounding keeps
    ordered: Ordered
    tau: Floats  # (n,), in the scale of `ordered.scale`
    local: bool  # whether the caller gave one tau per sample

    def near(self) -> Flags:
        """Return which pairs of `ordered.points` Link joins, shape (m, m).

        The paper's Link joins points less than tau apart. With one tau per sample it joins points
        at most max(tau(x), tau(y)) apart: tau(x) is itself the distance between x and another
        sample, which a strict comparison would leave out.
        """
        points, tau = self.ordered.points, self.tau[self.ordered.rows]
        distance = np.sqrt(self.ordered.scale.distances_sq(points, points))
        reach = np.maximum.outer(tau, tau)
        return distance <= reach if self.local else distance < reach


def prepare(given: Settings) -> Prepared:
    """Check the settings, compute the density unless it is given, and sort the points."""
    samples = checked_samples(given.X, given.sample_weight, given.period)
    tau = checked_tau(given.tau, len(samples.points), "tau")
    # A tau that underflows is still above a distance of 0.
    tau = np.maximum(samples.scale.scaled(tau), np.where(tau > 0, np.nextafter(0.0, 1.0), 0.0))
    if given.ties not in ("total", "strict"):
        raise ValueError(f'ties must be "total" or "strict", got {given.ties!r}')
    kde = None
    if given.density is None:
        kde = fit(samples, given.bandwidth, given.kernel)
        sums, density = kde.sums(samples.points), exp(kde.log_density(samples.points))
    else:
        sums = density = checked_density(given.density, len(samples.points), "density")
    bits = checked_bits(given.significant_bits, given.rtol, kde)
    heights = rounded(sums, bits)
    ordered = put_in_order(samples, heights, strict=given.ties == "strict")
    local = np.ndim(given.tau) == 1
    return Prepared(samples, kde, density, heights, bits, ordered, tau, local)
