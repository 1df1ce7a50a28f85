"""f̂_h(x) = (1 / (W h^d)) Σ w_j K((x - x_j) / h), W = Σ w_j, over every pair."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from quickshift.reference import kernels
from quickshift.reference.samples import Samples, checked_bandwidth, checked_samples
from quickshift.reference.scaled_distances import Floats, ScaledDistances

__all__ = ["Kde", "exp", "fit", "kernel_density", "log_kernel_density"]


def kernel_density(
    X: ArrayLike,
    bandwidth: float,
    *,
    queries: ArrayLike | None = None,
    kernel: str = "gaussian",
    sample_weight: ArrayLike | None = None,
    period: ArrayLike | None = None,
) -> Floats:
    """Evaluate f̂_h by a sum over all samples for every query.

    Parameters
    ----------
    X : (n, d) array
        The samples.
    bandwidth : float
        The paper's h.
    queries : (m, d) array, optional
        Where to evaluate; at the samples if left out.
    kernel, sample_weight, period
        As in `quick_shift`.

    Returns
    -------
    (m,) float array

    Examples
    --------
    >>> kernel_density([[0.0], [1.0]], 2.0, queries=[[0.0], [2.5]], kernel="uniform")
    array([0.25 , 0.125])
    """
    log_density = log_kernel_density(
        X, bandwidth, queries=queries, kernel=kernel, sample_weight=sample_weight, period=period
    )
    return exp(log_density)


def log_kernel_density(
    X: ArrayLike,
    bandwidth: float,
    *,
    queries: ArrayLike | None = None,
    kernel: str = "gaussian",
    sample_weight: ArrayLike | None = None,
    period: ArrayLike | None = None,
) -> Floats:
    """Evaluate log f̂_h by a sum over all samples for every query.

    The nearest sample's term is factored out of each sum, so that the sum does not underflow.

    Parameters
    ----------
    X, bandwidth, queries, kernel, sample_weight, period
        As in `kernel_density`.

    Returns
    -------
    (m,) float array
        -inf if no sample is within the support of a compact kernel.

    Examples
    --------
    >>> log_kernel_density([[0.0]], 1.0, queries=[[0.0], [40.0]]).round(3)
    array([  -0.919, -800.919])
    """
    samples = checked_samples(X, sample_weight, period)
    at = samples.points if queries is None else samples.checked_queries(queries, "queries")
    return fit(samples, bandwidth, kernel).log_density(at)


@dataclass(frozen=True)
class Kde:
    """f̂_h of the samples of positive weight.

    An origin is a distance t in bandwidths; sums of an infinite kernel are divided by its k(t), so
    that they do not underflow far from the samples.
    """

    points: Floats
    weights: Floats
    scale: ScaledDistances
    kernel: str
    h: float  # scaled as in `scale`
    log_volume: float  # log h^d in the caller's units

    def sums(self, queries: Floats, origin: Floats | None = None) -> Floats:
        """Return Σ w_j k(t_j), shape (m,); for an infinite kernel, divided by k(origin)."""
        origin = np.zeros(len(queries)) if origin is None else origin
        # fsum rounds only once, so the result does not depend on the order of the rows.
        return np.array([math.fsum(terms) for terms in self.terms(queries, origin).tolist()])

    def terms(self, queries: Floats, origin: Floats) -> Floats:
        """Return w_j k(t_j), shape (m, n); for an infinite kernel, divided by k(origin)."""
        distance = np.sqrt(self.scale.distances_sq(queries, self.points))
        with np.errstate(over="ignore", under="ignore"):
            return self.weights * kernels.profile(self.kernel, distance, self.h, origin[:, None])

    def log_normalised(self, sums: Floats, origin: Floats) -> Floats:
        """Return log(sums k(origin) c / (W h^d)); shape (m,)."""
        log_c = kernels.log_normaliser(self.kernel, self.points.shape[1])
        constant = log_c - math.log(math.fsum(self.weights)) - self.log_volume
        with np.errstate(divide="ignore"):
            return np.log(sums) + kernels.log_profile(self.kernel, origin) + constant

    def nearest(self, queries: Floats) -> Floats:
        """Return the distance t to the nearest sample, in bandwidths.

        Queries may have only the leading features; then the distance is over these alone.
        """
        nearest_sq: Floats = self.scale.distances_sq(queries, self.points).min(axis=1)
        with np.errstate(over="ignore"):
            return np.sqrt(nearest_sq) / self.h

    def log_density(self, queries: Floats) -> Floats:
        """Return log f̂_h, with each query's nearest sample as origin; shape (m,)."""
        origin = self.nearest(queries)
        return self.log_normalised(self.sums(queries, origin), origin)


def fit(samples: Samples, bandwidth: float | None, kernel: str) -> Kde:
    """Check the arguments of the density, and drop the samples of weight zero."""
    kernel = kernels.checked_kernel(kernel)
    bandwidth = checked_bandwidth(bandwidth)
    if (kernels.reach(kernel) * bandwidth > samples.period / 2).any():
        raise ValueError(
            f"bandwidth {bandwidth!r} is too large for period {samples.period}: a compact support "
            "may reach period / 2, an infinite kernel's bandwidth period / 4"
        )
    scale, kept = samples.scale, samples.kept
    h = float(scale.scaled(bandwidth))
    if h == 0:
        raise ValueError(
            f"bandwidth {bandwidth!r} is negligible relative to the largest coordinate"
        )
    log_volume = samples.points.shape[1] * math.log(bandwidth)
    return Kde(samples.points[kept], samples.weights[kept], scale, kernel, h, log_volume)


def exp(log_density: Floats) -> Floats:
    """Return densities, which may round to 0 or inf."""
    with np.errstate(over="ignore", under="ignore"):
        return np.exp(log_density)
