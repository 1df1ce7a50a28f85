"""Densities: the kernel density estimate at the samples and at other points."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from quickshift import _core
from quickshift.arrays import Floats, Numbers
from quickshift.checks import (
    check_bandwidth,
    check_n_features,
    check_points,
    check_real,
)
from quickshift.kernels import Kernel, get_kernel
from quickshift.memory import density_bytes, prepare_bytes, require_memory
from quickshift.progress import Progress, Report, reporting
from quickshift.stages.samples import Samples, prepare
from quickshift.threads import resolve_threads

__all__ = ["Estimate", "estimate_density", "fit_estimate"]


# What the sums agree on for any order of summation; see docs/decisions on who is higher.
SIGNIFICANT_BITS = 36


@dataclass(frozen=True)
class Estimate:
    """A kernel density estimate over samples.

    Attributes
    ----------
    samples : Samples
        Where the estimate comes from.
    kernel : Kernel
        K.
    bandwidth : float
        h.
    rtol : float
        Relative error allowed to infinite kernels.
    n_jobs : int or None
        Threads a call may use; None for all cores.
    """

    samples: Samples
    kernel: Kernel
    bandwidth: float
    rtol: float
    n_jobs: int | None

    @property
    def log_constant(self) -> float:
        """Logarithm of the factor c / (W h^d) from a sum of profiles to a density."""
        d = self.samples.n_features
        return (
            self.kernel.log_normaliser(d)
            - math.log(self.samples.total_weight)
            - d * math.log(self.bandwidth)
        )

    @property
    def significant_bits(self) -> int:
        """Bits of a sum that decide who is higher: no finer than the sums are exact."""
        if not self.kernel.infinite or self.rtol == 0:
            return SIGNIFICANT_BITS
        return max(1, min(SIGNIFICANT_BITS, math.floor(-math.log2(4 * self.rtol))))

    def sums(self, progress: Progress | None = None) -> Floats:
        """Sum profiles at the samples, each including itself; NaN at rows of weight zero."""
        shape = self.samples.n_samples, self.samples.n_features
        require_memory(density_bytes(*shape, self.kernel.name), "estimate_density", shape)
        with reporting(progress, "estimate_density") as report:
            return _core.kernel_sums(
                self.samples.tree,
                self.kernel.code,
                self.bandwidth,
                self.rtol,
                threads=resolve_threads(self.n_jobs),
                report=report,
            )

    def sums_at(self, queries: ArrayLike) -> tuple[Floats, Floats]:
        """Sum profiles at other points: values, and logarithms of their scales."""
        points = check_points(queries, "queries")
        check_n_features(points, self.samples.n_features, "queries")
        require_memory(prepare_bytes(*points.shape), "the density at queries", points.shape)
        return self._sums_at(self.samples.tree.query_tree(points, resolve_threads(self.n_jobs)))

    def sums_left_out(self, report: Report | None = None) -> tuple[Floats, Floats]:
        """Sum profiles at the samples, leaving out each one's own location; as `sums_at`."""
        return self._sums_at(self.samples.tree, leave_out=True, report=report)

    def log_density_at(self, queries: ArrayLike) -> Floats:
        """Log density at other points."""
        points = check_points(queries, "queries")
        result = self.log_density(*self.sums_at(points))
        if self.kernel.infinite:
            self._correct_remote(points, result)
        return result

    def density_at(self, queries: ArrayLike) -> Floats:
        """Density at other points."""
        with np.errstate(over="ignore", under="ignore"):
            return np.exp(self.log_density_at(queries))

    def _correct_remote(self, points: Numbers, log_density: Floats) -> None:
        """Write densities so far away that every sample is equally far, to rounding.

        The core holds coordinates up to 2^500 times the largest of the samples.
        """
        if self.samples.period is not None:
            points = points[:, np.isinf(self.samples.period)]
        size = np.abs(points).max(axis=1, initial=0.0).astype(np.float64)
        remote = (size > 0) & (np.frexp(size)[1] > self.samples.tree.exponent + 490)
        if not remote.any():
            return
        directions = points[remote] / size[remote, None]
        ratio = size[remote] / self.bandwidth * np.sqrt((directions**2).sum(axis=1))
        with np.errstate(over="ignore"):
            decay = 0.5 * ratio**2 if self.kernel.name == "gaussian" else ratio
        log_density[remote] = math.log(self.samples.total_weight) + self.log_constant - decay

    def heights_at(self, queries: ArrayLike) -> Floats:
        """Sum profiles at other points, comparable with those of `sums`."""
        values, log_scales = self.sums_at(queries)
        heights: Floats = values * np.exp(log_scales)
        return heights

    def density(self, sums: Floats) -> Floats:
        """Normalise sums; in high dimension the result may overflow or underflow."""
        if abs(self.log_constant) < 600:
            scaled: Floats = sums * math.exp(self.log_constant)
            return scaled
        with np.errstate(over="ignore", under="ignore"):
            return np.exp(self.log_density(sums))

    def log_density(self, sums: Floats, log_scales: Floats | float = 0.0) -> Floats:
        """Normalise sums in log space, where nothing overflows or underflows."""
        with np.errstate(divide="ignore"):
            result: Floats = np.log(sums)
        result += log_scales + self.log_constant
        return result

    def _sums_at(
        self, queries: _core.Tree, leave_out: bool = False, report: Report | None = None
    ) -> tuple[Floats, Floats]:
        return _core.kernel_sums_at(
            queries,
            self.samples.tree,
            self.kernel.code,
            self.bandwidth,
            self.rtol,
            leave_out,
            threads=resolve_threads(self.n_jobs),
            report=report,
        )


def fit_estimate(
    samples: Samples,
    bandwidth: float,
    *,
    kernel: str = "gaussian",
    rtol: float = 1e-9,
    n_jobs: int | None = None,
) -> Estimate:
    """Check the parameters of an estimate over prepared samples."""
    chosen = get_kernel(kernel)
    h = check_bandwidth(bandwidth, chosen, samples.period)
    _check_range(h, samples)
    tolerance = check_real(rtol, "rtol", "a relative error from 0 to below 1")
    if not 0 <= tolerance < 1:
        raise ValueError(f"rtol is {rtol!r}, expected a relative error from 0 to below 1.")
    resolve_threads(n_jobs)  # raises at once if it is not one
    return Estimate(samples, chosen, h, tolerance, n_jobs)


def _check_range(bandwidth: float, samples: Samples) -> None:
    """Refuse bandwidths whose square would underflow beside the largest coordinate."""
    if math.frexp(bandwidth)[1] < samples.tree.exponent - 400:
        raise ValueError(
            f"bandwidth is {bandwidth!r}, expected at least {math.ldexp(1.0, -400)!r} of the "
            f"largest coordinate: squares of distances would vanish. Use a larger bandwidth, or "
            f"rescale the features."
        )


def estimate_density(
    X: ArrayLike | Samples,
    bandwidth: float,
    *,
    kernel: str = "gaussian",
    sample_weight: ArrayLike | None = None,
    period: ArrayLike | None = None,
    rtol: float = 1e-9,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Floats:
    """Estimate the density at every sample.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or Samples
        The points.
    bandwidth : float
        h, the scale that divides distances.
    kernel : str
        Name of the kernel; see `quickshift.kernels`.
    sample_weight : array-like of shape (n_samples,), optional
        Frequencies.
    period : array-like of shape (n_features,), optional
        Length of each feature's period, ``numpy.inf`` for an open one.
    rtol : float
        For kernels of infinite support: the relative error allowed to each density. 0 sums every
        pair. Other kernels are exact.
    n_jobs : int, optional
        Threads; None for all cores.
    progress : callable, optional
        Called as ``progress(stage, done)``, about ten times a second and when a stage is complete;
        ``done`` rises to 1. An exception that it raises stops the computation.

    Returns
    -------
    ndarray of shape (n_samples,)
        The normalised density, each sample's own kernel included. NaN at rows of weight zero of
        Samples, whose coordinates are not kept.

    Examples
    --------
    >>> estimate_density([[0.0], [0.5], [9.0]], 1.0, kernel="uniform")
    array([0.333..., 0.333..., 0.166...])
    """
    samples = prepare(
        X, sample_weight=sample_weight, period=period, n_jobs=n_jobs, progress=progress
    )
    estimate = fit_estimate(samples, bandwidth, kernel=kernel, rtol=rtol, n_jobs=n_jobs)
    density = estimate.density(estimate.sums(progress))
    absent = np.isnan(density)
    if absent.any() and not isinstance(X, Samples):
        density[absent] = estimate.density_at(check_points(X)[absent])
    return density
