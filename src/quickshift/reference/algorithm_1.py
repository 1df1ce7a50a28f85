"""Algorithm 1, Quick Shift, and the labels that its graph gives to new points."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from quickshift.reference.order import assign, climb, cut, rounded, trees
from quickshift.reference.samples import checked_density, checked_tau
from quickshift.reference.scaled_distances import Floats, Indices
from quickshift.reference.settings import Settings, prepare

__all__ = ["QuickShiftResult", "predict", "quick_shift"]


class QuickShiftResult(NamedTuple):
    """The result of Algorithm 1.

    Attributes
    ----------
    labels : (n,) int array
        Number of each point's tree; tree 0 has the highest root.
    roots : (k,) int array
        Row index of each tree's root, in the order of the labels.
    parent : (n,) int array
        Nearest higher point before the cut at `tau`; the point itself if there is none.
    parent_distance : (n,) float array
        Distance to the parent; inf if no point is higher, NaN for a row of weight zero.
    density : (n,) float array
        The unrounded density: the one that was given, or the normalized kernel density.
    """

    labels: Indices
    roots: Indices
    parent: Indices
    parent_distance: Floats
    density: Floats


def quick_shift(
    X: ArrayLike,
    bandwidth: float | None = None,
    tau: ArrayLike = np.inf,
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
    tau : float or (n,) array
        Longest edge kept: one length, or one per sample for the edge to its parent.
    kernel : str
        Name of a kernel, or the alias "tophat" or "linear".
    sample_weight : (n,) array, optional
        Frequencies. A row of weight zero is not in the forest and is labeled as by `predict`.
    period : (d,) array, optional
        Period of each feature, inf for a feature that is not periodic.
    ties : {"total", "strict"}
        "strict" is the paper's >: points of equal density are never linked.
    rtol : float
        Determines how coarsely the sums of the gaussian and the exponential kernel are rounded
        before they are compared. Every pair is summed, whatever `rtol` is.
    density : (n,) array, optional
        Used in place of the kernel density. It is only compared, so -r of `local_scale` may be
        given as well; but not numbers of both signs.
    significant_bits : int, optional
        Number of bits to which densities are rounded before they are compared, instead of the
        default (36, or fewer because of `rtol`).

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
    label_of, roots = trees(cut(up, distance, run.tau[rows]))
    # From positions in the order back to rows of X; rows of weight zero are their own parents.
    parent, parent_distance = np.arange(n), np.full(n, np.nan)
    parent[rows] = rows[up]
    parent_distance[rows] = ordered.scale.unscaled(distance)
    labels, outside = np.empty(n, dtype=np.int64), np.setdiff1d(np.arange(n), rows)
    labels[rows] = label_of
    points, heights = run.samples.points[outside], run.heights[outside]
    labels[outside] = assign(ordered, label_of, run.tau[outside], points, heights)
    return QuickShiftResult(labels, rows[roots], parent, parent_distance, run.density)


def predict(
    X: ArrayLike,
    queries: ArrayLike,
    bandwidth: float | None = None,
    tau: ArrayLike = np.inf,
    *,
    kernel: str = "gaussian",
    sample_weight: ArrayLike | None = None,
    period: ArrayLike | None = None,
    ties: str = "total",
    rtol: float = 1e-9,
    density: ArrayLike | None = None,
    query_density: ArrayLike | None = None,
    query_tau: ArrayLike | None = None,
    significant_bits: int | None = None,
) -> Indices:
    """Label new points by the forest of `quick_shift` on `X`.

    A query equal to a sample takes that sample's label. Any other query takes the label of the
    nearest higher sample within `tau`, or of the nearest sample if there is none. Of equally near
    samples, the highest counts.

    Parameters
    ----------
    X, bandwidth, tau, kernel, sample_weight, period, ties, rtol, density, significant_bits
        As in `quick_shift`.
    queries : (m, d) array
        The new points.
    query_density : (m,) array, optional
        Densities of the queries; required if `density` is given, and not allowed otherwise.
    query_tau : (m,) array, optional
        tau of the queries; required if `tau` is an array, and not allowed otherwise.

    Returns
    -------
    (m,) int array

    Examples
    --------
    The first query lies nearer to 4.0, but the nearest higher sample is 1.0.

    >>> X, queries = [[0.0], [1.0], [4.0], [5.0]], [[2.75], [9.0]]
    >>> predict(X, queries, tau=2.0, density=[1, 4, 1, 3], query_density=[2, 0])
    array([0, 1])
    """
    if (density is None) != (query_density is None):
        raise ValueError("density and query_density must be given both or neither")
    if (np.ndim(tau) == 0) != (query_tau is None):
        raise ValueError("query_tau must be given if tau is an array, and only then")
    settings = Settings(
        X, bandwidth, tau, kernel, sample_weight, period, ties, rtol, density, significant_bits
    )
    run = prepare(settings)
    at = run.samples.checked_queries(queries, "queries")
    if run.kde is not None:
        sums = run.kde.sums(at)
    else:
        sums = checked_density(query_density, len(at), "query_density")
    within = checked_tau(tau if query_tau is None else query_tau, len(at), "query_tau")
    reach = run.ordered.scale.scaled(within)
    label_of, _ = trees(cut(*climb(run.ordered), run.tau[run.ordered.rows]))
    return assign(run.ordered, label_of, reach, at, rounded(sums, run.bits))
