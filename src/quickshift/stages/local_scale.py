"""Local scale: a density without a bandwidth, from the distances to the nearest samples."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quickshift import _core
from quickshift.arrays import Floats, Numbers
from quickshift.bundles import Bundle, counted, span
from quickshift.checks.clustering import check_frequencies, check_n_neighbors
from quickshift.checks.points import check_n_features, check_points
from quickshift.memory import local_scale_bytes, prepare_bytes, require_memory
from quickshift.progress import Progress, reporting
from quickshift.stages.density import SIGNIFICANT_BITS
from quickshift.stages.samples import Samples, prepare
from quickshift.threads import resolve_threads

__all__ = ["LocalScale", "local_scale"]

SCALES = (1, 2, 4)  # multiples of K that the default rule tries in turn

# K = max(4, 1.6 W^(1/3)): more samples, less noise, and still a vanishing share of them.
_FEWEST_NEIGHBORS = 4
_NEIGHBORS_PER_ROOT = 1.6
_SMALLEST = float(np.finfo(np.float64).tiny)  # replaces an r of 0, which only underflow can give


@dataclass(frozen=True, repr=False, eq=False)
class LocalScale(Bundle):
    """The mean distance r of every sample to its K nearest others, and the density that it gives.

    The density is f(x) = c / (W r(x)^d), where W is the number of samples or the sum of their
    weights, and d is the number of features that are not constant (one less on a sphere). It is
    high where r is small, so samples are compared by the height -r, which is stored in place of r.

    Attributes
    ----------
    samples : Samples
        The samples.
    n_neighbors : int
        K, the number of nearest other samples, counted by weight.
    heights : ndarray of shape (n_samples,)
        -r, the negative mean distance to them; NaN at rows of weight zero.
    tau : ndarray of shape (n_samples,)
        Distance to the g-th nearest distinct sample, which is the longest move of Quick Shift that
        a cut keeps; NaN at rows of weight zero.
    n_jobs : int or None
        Number of threads that a call may use; None for all cores.
    near : ndarray of shape (n_slots, g) or None
        By slot of the tree, the slots of the distinct samples within tau, if they were found
        together with r; -1 stands for none. `tree_by_scale` then needs no search.
    """

    samples: Samples
    n_neighbors: int
    heights: Floats
    tau: Floats
    n_jobs: int | None
    near: NDArray[np.int32] | None = None

    significant_bits = SIGNIFICANT_BITS

    def _facts(self) -> Iterable[str]:
        yield counted(self.samples.n_samples, "sample")
        yield counted(self.samples.n_features, "feature")
        yield counted(self.n_neighbors, "neighbor")
        yield f"r {span(self.r)}"
        yield f"tau {span(self.tau)}"

    @property
    def r(self) -> Floats:
        """Mean distance of each sample to its K nearest others; NaN at rows of weight zero."""
        return -self.heights

    @property
    def levels(self) -> Floats:
        """The levels of a cluster tree: 1/r, which is positive and does not over- or underflow."""
        return levels_of(self.r)

    @property
    def log_constant(self) -> float:
        """Logarithm of c / W, so that the log density is this minus d log r."""
        d, k = n_varying(self.samples), self.n_neighbors
        log_ball = 0.5 * d * math.log(math.pi) - math.lgamma(0.5 * d + 1)
        growth = math.lgamma(k + 1 + 1 / d) - math.lgamma(k + 1) - math.log1p(1 / d)
        log_share = math.log(self.samples.total_weight) + self.samples.log_varying_volume
        return d * growth - log_ball - log_share

    def log_density(self, heights: Floats) -> Floats:
        """Turn heights, which are -r, into log densities."""
        return self._log_density_of_levels(levels_of(-heights))

    def density(self, heights: Floats) -> Floats:
        """Turn heights into densities, which may over- or underflow in high dimension."""
        with np.errstate(over="ignore", under="ignore"):
            return np.exp(self.log_density(heights))

    def density_of_levels(self, levels: Floats) -> Floats:
        """Turn levels, which are 1/r, into the same densities."""
        with np.errstate(over="ignore", under="ignore"):
            return np.exp(self._log_density_of_levels(levels))

    def _log_density_of_levels(self, levels: Floats) -> Floats:
        result: Floats = self.log_constant + n_varying(self.samples) * np.log(levels)
        return result

    def scales_at(self, queries: ArrayLike) -> tuple[Floats, Floats]:
        """Return r and tau of other points.

        A point that equals a sample has that sample's r and tau. For any other point, they are
        taken over all samples.
        """
        points = check_points(queries, "queries")
        check_n_features(points, self.samples.n_features, "queries")
        require_memory(prepare_bytes(*points.shape), "the local scale at queries", points.shape)
        return scales_at_points(self, points)

    def log_density_at(self, queries: ArrayLike) -> Floats:
        """Return the log density at other points."""
        return self.log_density(-self.scales_at(queries)[0])


def clipped(r: Floats) -> Floats:
    """Replace an r that underflows by the smallest normal number, in place; all those are equal."""
    return np.maximum(r, _SMALLEST, out=r)


def levels_of(r: Floats) -> Floats:
    """Return 1/r, in the memory of r."""
    return np.divide(1.0, clipped(r), out=r)


def scales_at_points(scale: LocalScale, points: Numbers) -> tuple[Floats, Floats]:
    """Return r and tau of points as `LocalScale.scales_at` does, from checked arguments."""
    r, tau = _core.local_scales_at(
        scale.samples.tree,
        np.ascontiguousarray(points),
        float(scale.n_neighbors),
        n_spacing(scale.samples),
        n_varying(scale.samples),
        resolve_threads(scale.n_jobs),
    )
    return clipped(r), tau


def n_varying(samples: Samples) -> int:
    """Return d, the number of features that are not constant; on a sphere one less, at least 1."""
    return max(samples.tree.n_varying - samples.on_sphere, 1)


def n_spacing(samples: Samples) -> int:
    """Return g: tau is the distance to the g-th nearest distinct sample."""
    return spacing_for(samples.tree.n_locations, n_varying(samples))


def spacing_for(n_locations: int, dimension: int) -> int:
    """Return g for a number of distinct samples and of features that are not constant."""
    most = 16 if dimension == 1 else 8
    return min(max(math.ceil(n_locations / 8), 2), most)


def default_neighbors(total_weight: float, scale: int = 1) -> int:
    """Return the default K for a total weight W: about 1.6 W^(1/3), at most a third of W.

    Examples
    --------
    >>> default_neighbors(1000), default_neighbors(1000, scale=4), default_neighbors(6)
    (16, 64, 2)
    """
    wanted = scale * max(_FEWEST_NEIGHBORS, round(_NEIGHBORS_PER_ROOT * math.cbrt(total_weight)))
    return min(wanted, max(1, math.floor(total_weight / 3)))


def checked_neighbors(n_neighbors: int | str, samples: Samples) -> int | None:
    """Check a number of neighbors, and that the weights of the samples can be frequencies."""
    if samples.total_weight < samples.n_samples:
        n_rows = samples.n_samples - samples.tree.absent_rows().size
        check_frequencies(samples.total_weight, n_rows)
    return check_n_neighbors(n_neighbors, samples.total_weight)


def local_scale(
    X: ArrayLike | Samples,
    n_neighbors: int | str = "auto",
    *,
    sample_weight: ArrayLike | None = None,
    period: ArrayLike | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> LocalScale:
    """Measure the mean distance r of every sample to its K nearest others, and its tau.

    tau is the distance to the g-th nearest distinct sample, where g is an eighth of the number of
    distinct samples, but at least 2 and at most 8 (16 if only one feature varies).

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or Samples
        The points.
    n_neighbors : int or "auto"
        K. "auto" is 1.6 W^(1/3), where W is the number of samples or the sum of their weights, but
        at least 4 and at most W/3.
    sample_weight : array-like of shape (n_samples,), optional
        Frequencies: a sample of weight 2 counts as two of the K.
    period : array-like of shape (n_features,), optional
        Length of each feature's period, ``numpy.inf`` for a feature that is not periodic.
    n_jobs : int, optional
        Number of threads; None for all cores.
    progress : callable, optional
        Called as ``progress(stage, done)`` about ten times per second and when a stage is complete;
        ``done`` rises to 1. An exception that it raises stops the computation.

    Returns
    -------
    LocalScale

    Notes
    -----
    Duplicates of a sample are not at distance zero from it. They count as if they were spread
    evenly over the space around it, up to half the distance to the nearest distinct sample, because
    rounding is the usual reason for duplicates. If all samples are equal, r and tau are 1.

    Examples
    --------
    >>> scale = local_scale([[0.0], [1.0], [2.0], [3.0], [9.0]], 2)
    >>> scale.r
    array([1.5, 1. , 1. , 1.5, 6.5])
    >>> scale.tau
    array([2., 1., 1., 2., 7.])
    """
    samples = prepare(
        X, sample_weight=sample_weight, period=period, n_jobs=n_jobs, progress=progress
    )
    given = checked_neighbors(n_neighbors, samples)
    shape = samples.n_samples, samples.n_features
    k = default_neighbors(samples.total_weight) if given is None else given
    require_memory(local_scale_bytes(*shape, k, n_jobs), "local_scale", shape)
    return measure_scale(samples, k, n_jobs=n_jobs, progress=progress)


def measure_scale(
    samples: Samples,
    n_neighbors: int,
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> LocalScale:
    """Measure local scales as `local_scale` does, from checked arguments."""
    return measure_scales(samples, [n_neighbors], n_jobs=n_jobs, progress=progress)[0]


def measure_scales(
    samples: Samples,
    numbers: Sequence[int],
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> list[LocalScale]:
    """Measure local scales for several K, in rising order, by one search for the largest."""
    with reporting(progress, "local_scale") as report:
        found, tau, near = _core.local_scales(
            samples.tree,
            [float(k) for k in numbers],
            n_spacing(samples),
            n_varying(samples),
            resolve_threads(n_jobs),
            report,
        )
    return [
        LocalScale(samples, k, np.negative(clipped(r), out=r), tau, n_jobs, near)
        for k, r in zip(numbers, found, strict=True)
    ]
