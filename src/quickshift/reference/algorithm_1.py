"""Algorithm 1, Quick Shift, and the labels that its graph gives to new points."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from quickshift.reference.order import assign, climb, cut, rounded, trees
from quickshift.reference.samples import checked_column
from quickshift.reference.settings import Settings, prepare
from quickshift.reference.space import Floats, Indices

__all__ = ["QuickShiftResult", "predict", "quick_shift"]


class QuickShiftResult(NamedTuple):
    """What Algorithm 1 found.

    Attributes
    ----------
    labels : (n,) int array
        Number of each point's tree; tree 0 has the highest root.
    roots : (k,) int array
        Row index of each tree's root, in the order of the labels.
    parent : (n,) int array
        Nearest higher point before the cut at `tau`; the point itself if there is none.
    parent_distance : (n,) float array
        Distance to the parent, inf without a higher point, NaN for a row of weight zero.
    density : (n,) float array
        The unrounded density: the caller's, or the normalised kernel density.
    """

    labels: Indices
    roots: Indices
    parent: Indices
    parent_distance: Floats
    density: Floats


def quick_shift(
    X: ArrayLike,
    bandwidth: float | None = None,
    tau: float = np.inf,
    *,
    kernel: str = "gaussian",
    sample_weight: ArrayLike | None = None,
    period: ArrayLike | None = None,
    ties: str = "total",
    rtol: float = 1e-9,
    density: ArrayLike | None = None,
    significant_bits: int | None = None,
) -> QuickShiftResult:
    """Run Algorithm 1 and read its graph as a forest.

    Parameters
    ----------
    X : (n, d) array
        The samples.
    bandwidth : float, optional
        The paper's h. May be left out if `density` is given.
    tau : float
        Longest edge kept.
    kernel : str
        One of the eight kernels of the paper, or the alias "tophat" or "linear".
    sample_weight : (n,) array, optional
        Frequencies. A row of weight zero is outside the forest and labelled as by `predict`.
    period : (d,) array, optional
        Length after which each feature repeats, inf for an open one.
    ties : {"total", "strict"}
        "strict" is the paper's >: points of equal density are never linked.
    rtol : float
        Every pair is summed whatever this is; it only sets how coarsely the sums of the gaussian
        and the exponential kernel are rounded before they are compared.
    density : (n,) array, optional
        Used in place of the kernel density.
    significant_bits : int, optional
        Bits left by that rounding, in place of the rule (36, or fewer because of `rtol`).

    Returns
    -------
    QuickShiftResult

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [7.0], [8.0]]
    >>> found = quick_shift(X, tau=3.0, density=[1, 3, 2, 1, 2])
    >>> found.labels
    array([0, 0, 0, 1, 1])
    >>> found.roots
    array([1, 4])
    >>> found.parent_distance
    array([ 1., inf,  1.,  1.,  7.])
    """
    settings = Settings(
        X, bandwidth, tau, kernel, sample_weight, period, ties, rtol, density, significant_bits
    )
    run = prepare(settings)
    ordered, rows, n = run.ordered, run.ordered.rows, len(run.density)
    up, distance = climb(ordered)  # lines 2 to 5
    label_of, roots = trees(cut(up, distance, run.tau))
    # From places in the order back to rows of X, where those of weight zero stand by themselves.
    parent, parent_distance = np.arange(n), np.full(n, np.nan)
    parent[rows] = rows[up]
    parent_distance[rows] = ordered.space.unscaled(distance)
    labels, outside = np.empty(n, dtype=np.int64), np.setdiff1d(np.arange(n), rows)
    labels[rows] = label_of
    points, heights = run.samples.points[outside], run.heights[outside]
    labels[outside] = assign(ordered, label_of, run.tau, points, heights)
    return QuickShiftResult(labels, rows[roots], parent, parent_distance, run.density)


def predict(
    X: ArrayLike,
    queries: ArrayLike,
    bandwidth: float | None = None,
    tau: float = np.inf,
    *,
    kernel: str = "gaussian",
    sample_weight: ArrayLike | None = None,
    period: ArrayLike | None = None,
    ties: str = "total",
    rtol: float = 1e-9,
    density: ArrayLike | None = None,
    query_density: ArrayLike | None = None,
    significant_bits: int | None = None,
) -> Indices:
    """Label new points by the forest of `quick_shift` on `X`.

    A query equal to a sample takes that sample's label. Any other takes the label of the nearest
    sample above it in the order if one lies within `tau`, else of the nearest sample; between
    equally near samples the highest counts.

    Parameters
    ----------
    X, bandwidth, tau, kernel, sample_weight, period, ties, rtol, density, significant_bits
        As in `quick_shift`.
    queries : (m, d) array
        The new points.
    query_density : (m,) array, optional
        Their densities. To be given if, and only if, `density` is.

    Returns
    -------
    (m,) int array

    Examples
    --------
    The first query lies nearer to 4.0, but the nearest sample above it is 1.0.

    >>> X, queries = [[0.0], [1.0], [4.0], [5.0]], [[2.75], [9.0]]
    >>> predict(X, queries, tau=2.0, density=[1, 4, 1, 3], query_density=[2, 0])
    array([0, 1])
    """
    if (density is None) != (query_density is None):
        raise ValueError("density and query_density must be given both or neither")
    settings = Settings(
        X, bandwidth, tau, kernel, sample_weight, period, ties, rtol, density, significant_bits
    )
    run = prepare(settings)
    at = run.samples.checked_queries(queries, "queries")
    if run.kde is not None:
        sums = run.kde.sums(at)
    else:
        sums = checked_column(query_density, len(at), "query_density", low=0.0)
    label_of, _ = trees(cut(*climb(run.ordered), run.tau))
    return assign(run.ordered, label_of, run.tau, at, rounded(sums, run.bits))
