"""Turn the arguments that Algorithms 1 and 2 share into points sorted by height."""

from dataclasses import dataclass

from numpy.typing import ArrayLike

from quickshift.reference.density import Kde, exp, fit
from quickshift.reference.order import Ordered, checked_bits, put_in_order, rounded
from quickshift.reference.samples import Samples, checked_column, checked_samples
from quickshift.reference.scaled_distances import Floats

__all__ = ["Prepared", "Settings", "prepare"]


@dataclass(frozen=True)
class Settings:
    """The arguments of `quick_shift`, not yet checked."""

    X: ArrayLike
    bandwidth: float | None
    tau: float
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
    tau: float  # in the scale of `ordered.scale`


def prepare(given: Settings) -> Prepared:
    """Check the settings, compute the density unless it is given, and sort the points."""
    samples = checked_samples(given.X, given.sample_weight, given.period)
    if not given.tau >= 0:
        raise ValueError(f"tau must not be negative, got {given.tau!r}")
    if given.ties not in ("total", "strict"):
        raise ValueError(f'ties must be "total" or "strict", got {given.ties!r}')
    kde = None
    if given.density is None:
        kde = fit(samples, given.bandwidth, given.kernel)
        sums, density = kde.sums(samples.points), exp(kde.log_density(samples.points))
    else:
        sums = density = checked_column(given.density, len(samples.points), "density", low=0.0)
    bits = checked_bits(given.significant_bits, given.rtol, kde)
    heights = rounded(sums, bits)
    ordered = put_in_order(samples, heights, strict=given.ties == "strict")
    tau = ordered.scale.scaled(given.tau)
    return Prepared(samples, kde, density, heights, bits, ordered, tau)
