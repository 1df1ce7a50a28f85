"""Points made ready for every stage: checked, distinct, weighted, in a tree."""

from dataclasses import dataclass

from numpy.typing import ArrayLike

from quickshift import _core
from quickshift.arrays import Floats
from quickshift.checks import check_period, check_points, check_weights
from quickshift.memory import prepare_bytes, require_memory
from quickshift.progress import Progress, reporting
from quickshift.threads import resolve_threads

__all__ = ["Samples", "prepare"]


@dataclass(frozen=True)
class Samples:
    """Points in a tree; every stage takes these in place of an array and saves building it again.

    Attributes
    ----------
    tree : quickshift._core.Tree
        Distinct locations with their weights.
    period : ndarray of shape (n_features,) or None
        Length of each feature's period, infinite where it is open.
    """

    tree: _core.Tree
    period: Floats | None

    @property
    def n_samples(self) -> int:
        """Number of rows, those of weight zero included."""
        return self.tree.rows

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.tree.features

    @property
    def total_weight(self) -> float:
        """W, the sum of the weights."""
        return self.tree.total_weight


def prepare(
    X: ArrayLike | Samples,
    *,
    sample_weight: ArrayLike | None = None,
    period: ArrayLike | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Samples:
    """Check points and build their tree.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or Samples
        The points; Samples are returned as they are.
    sample_weight : array-like of shape (n_samples,), optional
        Frequencies: 2 counts a row twice, 0 leaves it out.
    period : array-like of shape (n_features,), optional
        Length of each feature's period, ``numpy.inf`` for an open one.
    n_jobs : int, optional
        Threads; None for all cores.
    progress : callable, optional
        Called as ``progress(stage, done)``, about ten times a second and when a stage is complete;
        ``done`` rises to 1. An exception that it raises stops the computation.

    Returns
    -------
    Samples

    Raises
    ------
    MemoryError
        If the tree would not fit; here and in every stage before anything is allocated.

    Examples
    --------
    >>> samples = prepare([[0.0], [1.0], [1.0]])
    >>> samples.n_samples, samples.total_weight
    (3, 3.0)
    """
    if isinstance(X, Samples):
        if sample_weight is not None or period is not None:
            raise ValueError(
                "X is Samples, which carry their weights and periods: pass neither beside them."
            )
        return X
    points = check_points(X)
    weights = check_weights(sample_weight, points.shape[0])
    lengths = check_period(period, points.shape[1])
    require_memory(prepare_bytes(*points.shape), "prepare", points.shape)
    with reporting(progress, "prepare") as report:
        tree = _core.Tree(points, weights, lengths, resolve_threads(n_jobs), report)
    return Samples(tree, lengths)
