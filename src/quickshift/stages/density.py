"""Densities: the kernel density estimate at the samples and at other points."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from quickshift import _core
from quickshift.arrays import Floats, Numbers
from quickshift.bundles import Bundle, counted, number
from quickshift.checks.clustering import check_bandwidth_underflow, check_rtol
from quickshift.checks.numbers import check_bandwidth
from quickshift.checks.points import check_n_features, check_points
from quickshift.checks.results import require_result
from quickshift.kernels import Kernel, get_kernel
from quickshift.memory import density_bytes, prepare_bytes, require_memory
from quickshift.progress import Progress, Report, reporting
from quickshift.stages.samples import Samples, prepare
from quickshift.threads import resolve_threads

__all__ = ["Estimate", "estimate_density", "fit_estimate"]

# Sums of the same terms in different orders agree to this many bits (docs/decisions/05-order.md).
SIGNIFICANT_BITS = 36


@dataclass(frozen=True, repr=False, eq=False)
class Estimate(Bundle):
    """A kernel density estimate over samples.

    The compiled core computes sums of kernel profiles, Σ wᵢ k(‖x - xᵢ‖ / h). A sum is the height
    that samples are compared by; multiplied by a constant it is a density.

    Attributes
    ----------
    samples : Samples
        The samples.
    kernel : Kernel
        The kernel K.
    bandwidth : float
        The bandwidth h.
    rtol : float
        Relative error allowed in the sums of a kernel with infinite support.
    n_jobs : int or None
        Number of threads that a call may use; None for all cores.
    """

    samples: Samples
    kernel: Kernel
    bandwidth: float
    rtol: float
    n_jobs: int | None

    def _facts(self) -> Iterable[str]:
        yield counted(self.samples.n_samples, "sample")
        yield counted(self.samples.n_features, "feature")
        yield f"{self.kernel.name} kernel"
        yield f"bandwidth {number(self.bandwidth)}"

    @property
    def log_constant(self) -> float:
        """Logarithm of c / (W h^d), the factor that turns a sum of profiles into a density."""
        d = self.samples.dimension
        return (
            self.kernel.log_normaliser(d)
            - math.log(self.samples.total_weight)
            - d * math.log(self.bandwidth)
            - self.samples.log_volume
        )

    @property
    def significant_bits(self) -> int:
        """Number of bits of a sum that decide which sample is higher: no more than are exact."""
        if not self.kernel.infinite or self.rtol == 0:
            return SIGNIFICANT_BITS
        return max(1, min(SIGNIFICANT_BITS, math.floor(-math.log2(4 * self.rtol))))

    def sums(self, progress: Progress | None = None) -> Floats:
        """Sum profiles at the samples, each sample's own included; NaN at rows of weight zero."""
        shape = self.samples.n_samples, self.samples.n_features
        require_memory(density_bytes(*shape, self.kernel.name), "estimate_density", shape)
        return sums_at_samples(self, progress)

    def sums_at(self, queries: ArrayLike) -> tuple[Floats, Floats]:
        """Sum profiles at other points.

        Returns ``values`` and ``log_scales``; each sum is ``values * exp(log_scales)``.
        """
        return sums_at_points(self, self._checked(queries))

    def sums_left_out(self, report: Report | None = None) -> tuple[Floats, Floats]:
        """Sum profiles at the samples, without those of the sample itself and of its duplicates.

        Returns ``values`` and ``log_scales`` as `sums_at` does.
        """
        return _sums_at_tree(self, self.samples.tree, leave_out=True, report=report)

    def log_density_at(self, queries: ArrayLike) -> Floats:
        """Return the log density at other points."""
        return log_density_at_points(self, self._checked(queries))

    def density_at(self, queries: ArrayLike) -> Floats:
        """Return the density at other points."""
        with np.errstate(over="ignore", under="ignore"):
            return np.exp(self.log_density_at(queries))

    def heights_at(self, queries: ArrayLike) -> Floats:
        """Sum profiles at other points as plain numbers, comparable with those of `sums`."""
        return heights_at_points(self, self._checked(queries))

    def density(self, sums: Floats) -> Floats:
        """Turn sums of profiles into densities, which may over- or underflow in high dimension."""
        if abs(self.log_constant) < 600:
            scaled: Floats = sums * math.exp(self.log_constant)
            return scaled
        with np.errstate(over="ignore", under="ignore"):
            return np.exp(self.log_density(sums))

    def log_density(self, sums: Floats, log_scales: Floats | float = 0.0) -> Floats:
        """Turn sums of profiles into log densities, which neither overflow nor underflow."""
        with np.errstate(divide="ignore"):
            result: Floats = np.log(sums)
        result += log_scales + self.log_constant
        return result

    def _checked(self, queries: ArrayLike) -> Numbers:
        points = check_points(queries, "queries")
        check_n_features(points, self.samples.n_features, "queries")
        require_memory(prepare_bytes(*points.shape), "the density at queries", points.shape)
        return points


# The methods of `Estimate` without their checks, for points that were checked before.


def sums_at_samples(estimate: Estimate, progress: Progress | None = None) -> Floats:
    """Sum profiles at the samples, see `Estimate.sums`."""
    with reporting(progress, "estimate_density") as report:
        return _core.kernel_sums(
            estimate.samples.tree,
            estimate.kernel.code,
            estimate.bandwidth,
            estimate.rtol,
            threads=resolve_threads(estimate.n_jobs),
            report=report,
        )


def sums_at_points(estimate: Estimate, points: Numbers) -> tuple[Floats, Floats]:
    """Sum profiles at other points, see `Estimate.sums_at`."""
    threads = resolve_threads(estimate.n_jobs)
    return _sums_at_tree(estimate, estimate.samples.tree.query_tree(points, threads))


def heights_at_points(estimate: Estimate, points: Numbers) -> Floats:
    """Sum profiles at other points as plain numbers, see `Estimate.heights_at`."""
    values, log_scales = sums_at_points(estimate, points)
    with np.errstate(under="ignore"):
        heights: Floats = values * np.exp(log_scales)
    return heights


def log_density_at_points(estimate: Estimate, points: Numbers) -> Floats:
    """Log density at other points, see `Estimate.log_density_at`."""
    result = estimate.log_density(*sums_at_points(estimate, points))
    if estimate.kernel.infinite:
        _correct_remote(estimate, points, result)
    return result


def _sums_at_tree(
    estimate: Estimate, queries: _core.Tree, leave_out: bool = False, report: Report | None = None
) -> tuple[Floats, Floats]:
    return _core.kernel_sums_at(
        queries,
        estimate.samples.tree,
        estimate.kernel.code,
        estimate.bandwidth,
        estimate.rtol,
        leave_out,
        threads=resolve_threads(estimate.n_jobs),
        report=report,
    )


def _correct_remote(estimate: Estimate, points: Numbers, log_density: Floats) -> None:
    """Overwrite the log density at points so far away that all samples are equally far from them.

    The core clamps coordinates beyond 2^500 times the largest coordinate of the samples. From a
    point that far away, all samples have the same distance in double precision.
    """
    samples = estimate.samples
    if samples.period is not None:
        points = points[:, np.isinf(samples.period)]
    size = np.abs(points).max(axis=1, initial=0.0).astype(np.float64)
    remote = (size > 0) & (np.frexp(size)[1] > samples.tree.exponent + 490)
    if not remote.any():
        return
    directions = points[remote] / size[remote, None]
    with np.errstate(over="ignore"):
        ratio = size[remote] / estimate.bandwidth * np.sqrt((directions**2).sum(axis=1))
        decay = 0.5 * ratio**2 if estimate.kernel.name == "gaussian" else ratio
    log_density[remote] = math.log(samples.total_weight) + estimate.log_constant - decay


def fit_estimate(
    samples: Samples,
    bandwidth: float,
    *,
    kernel: str = "gaussian",
    rtol: float = 1e-9,
    n_jobs: int | None = None,
) -> Estimate:
    """Make a density estimate over prepared samples; its methods compute sums and densities.

    Parameters
    ----------
    samples : Samples
        From `prepare`.
    bandwidth : float
        h, the scale that divides distances.
    kernel : str
        Name of the kernel; see `quickshift.kernels`.
    rtol : float
        For kernels of infinite support: the relative error allowed in each density; with 0, every
        pair is summed. Sums of other kernels are exact.
    n_jobs : int, optional
        Number of threads; None for all cores.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> estimate = fit_estimate(prepare([[0.0], [0.5], [9.0]]), 1.0, kernel="uniform")
    >>> estimate.sums()
    array([2., 2., 1.])
    """
    require_result(samples, Samples, "samples", "prepare")
    return make_estimate(samples, bandwidth, get_kernel(kernel), check_rtol(rtol), n_jobs)


def make_estimate(
    samples: Samples, bandwidth: float, kernel: Kernel, rtol: float, n_jobs: int | None
) -> Estimate:
    """Make an estimate whose kernel and tolerance were checked; the bandwidth is checked here."""
    h = check_bandwidth(bandwidth, kernel, samples.period)
    check_bandwidth_underflow(h, samples.tree.exponent)
    resolve_threads(n_jobs)  # raises if it is not a number of threads
    return Estimate(samples, kernel, h, rtol, n_jobs)


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
        Length of each feature's period, ``numpy.inf`` for a feature that is not periodic.
    rtol : float
        For kernels of infinite support: the relative error allowed in each density; with 0, every
        pair is summed. Sums of other kernels are exact.
    n_jobs : int, optional
        Number of threads; None for all cores.
    progress : callable, optional
        Called as ``progress(stage, done)`` about ten times per second and when a stage is complete;
        ``done`` rises to 1. An exception that it raises stops the computation.

    Returns
    -------
    ndarray of shape (n_samples,)
        The normalized density, each sample's own kernel included. It is NaN at the rows of Samples
        that have weight zero, because Samples do not keep their coordinates.

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
        density[absent] = estimate.density_at(np.asarray(X)[absent])
    return density
