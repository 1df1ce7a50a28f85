"""Samples: points that were checked, stripped of duplicates, weighted and put into a k-d tree."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from quickshift import _core
from quickshift.arrays import Floats, Numbers
from quickshift.bundles import Bundle, counted, number
from quickshift.checks.points import check_period, check_points, check_weights
from quickshift.checks.results import check_bare_samples
from quickshift.memory import prepare_bytes, require_memory
from quickshift.progress import Progress, Report, reporting
from quickshift.threads import resolve_threads

__all__ = ["Samples", "prepare"]

MOST_WITHOUT_FLOOR = 5  # features; with more, distances to neighbors limit "auto" from below


@dataclass(frozen=True, repr=False, eq=False)
class Samples(Bundle):
    """Points in a k-d tree. Stages accept them in place of an array, so the tree is built once.

    Attributes
    ----------
    tree : quickshift._core.Tree
        The distinct locations with their weights.
    period : ndarray of shape (n_features,) or None
        Length of each feature's period, infinite for a feature that is not periodic.
    on_sphere : bool
        Whether all points are on the unit sphere. They are then spread over one dimension fewer
        than they have features.
    units : ndarray of shape (n_features,) or None
        The number by which each feature was divided before. Densities are per unit volume of the
        features as they were.
    """

    tree: _core.Tree
    period: Floats | None
    on_sphere: bool = False
    units: Floats | None = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.n_samples

    def _facts(self) -> Iterable[str]:
        yield counted(self.n_samples, "row")
        yield counted(self.n_features, "feature")
        if self.period is not None:
            yield f"{int(np.isfinite(self.period).sum())} periodic"
        if self.on_sphere:
            yield "on the unit sphere"
        yield f"{self.tree.n_locations} distinct"
        yield f"total weight {number(self.total_weight)}"

    def _compared(self) -> tuple[Any, ...]:
        return (
            *self.tree.locations(),
            self.tree.slots_of_rows(),
            self.period,
            self.on_sphere,
            self.units,
        )

    @property
    def n_samples(self) -> int:
        """Number of rows, including those of weight zero."""
        return self.tree.rows

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.tree.features

    @property
    def total_weight(self) -> float:
        """W, the sum of the weights."""
        return self.tree.total_weight

    @property
    def dimension(self) -> int:
        """The d of a kernel density: the number of features; on a sphere one less, at least 1."""
        return max(self.n_features - self.on_sphere, 1)

    @property
    def log_volume(self) -> float:
        """Logarithm of the volume that a unit cube of these points has in the user's units."""
        return 0.0 if self.units is None else float(np.log(self.units).sum())

    @property
    def log_varying_volume(self) -> float:
        """The same without constant features."""
        if self.units is None or self.tree.n_varying == self.n_features:
            return self.log_volume
        points, _ = self.tree.locations()
        return float(np.log(self.units[(points != points[0]).any(axis=0)]).sum())

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle stores: the fields alone."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def prepare(
    X: ArrayLike | Samples,
    *,
    sample_weight: ArrayLike | None = None,
    period: ArrayLike | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Samples:
    """Check points and build their k-d tree.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or Samples
        The points. Samples are returned unchanged.
    sample_weight : array-like of shape (n_samples,), optional
        Frequencies: a weight of 2 counts a row twice, a weight of 0 leaves it out.
    period : array-like of shape (n_features,), optional
        Length of each feature's period, ``numpy.inf`` for a feature that is not periodic.
    n_jobs : int, optional
        Number of threads; None for all cores.
    progress : callable, optional
        Called as ``progress(stage, done)`` about ten times per second and when a stage is complete;
        ``done`` rises to 1. An exception that it raises stops the computation.

    Returns
    -------
    Samples

    Raises
    ------
    MemoryError
        If the tree would not fit into memory. This stage and all others raise it before they
        allocate anything.

    Examples
    --------
    >>> samples = prepare([[0.0], [1.0], [1.0]])
    >>> samples.n_samples, samples.total_weight
    (3, 3.0)
    """
    if isinstance(X, Samples):
        check_bare_samples(sample_weight, period)
        return X
    points = check_points(X)
    weights = check_weights(sample_weight, points.shape[0])
    lengths = check_period(period, points.shape[1])
    require_memory(prepare_bytes(*points.shape), "prepare", points.shape)
    return build_samples(points, weights, lengths, n_jobs=n_jobs, progress=progress)


def build_samples(
    points: Numbers,
    weights: Floats | None,
    period: Floats | None,
    *,
    on_sphere: bool = False,
    units: Floats | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Samples:
    """Build the k-d tree of points as `prepare` does, from checked arguments."""
    with reporting(progress, "prepare") as report:
        tree = _core.Tree(points, weights, period, resolve_threads(n_jobs), report)
    return Samples(tree, period, on_sphere, units)


def nearest_distances(samples: Samples, n_jobs: int | None, report: Report | None = None) -> Floats:
    """Return the distance from each location to the nearest other one.

    With many features, the rules for bandwidth and tau both need the result of this slow search, so
    it is kept with the samples: it takes little memory compared with the points.
    """
    known: Floats | None = samples.__dict__.get("_nearest_distances")
    if known is None:
        known = _core.nearest_distances(samples.tree, resolve_threads(n_jobs), report)
        if samples.dimension > MOST_WITHOUT_FLOOR:
            object.__setattr__(samples, "_nearest_distances", known)
    return known
