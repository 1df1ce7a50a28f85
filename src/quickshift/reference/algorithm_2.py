"""Algorithm 2, the Quick Shift cluster tree estimator."""

import numpy as np
from numpy.typing import ArrayLike

from quickshift.reference.order import climb, cut
from quickshift.reference.scaled_distances import Flags, Indices
from quickshift.reference.settings import Settings, prepare

__all__ = ["cluster_tree"]


def cluster_tree(
    X: ArrayLike,
    bandwidth: float | None = None,
    tau: ArrayLike = np.inf,
    *,
    levels: ArrayLike,
    kernel: str = "gaussian",
    sample_weight: ArrayLike | None = None,
    period: ArrayLike | None = None,
    ties: str = "total",
    rtol: float = 1e-9,
    density: ArrayLike | None = None,
    significant_bits: int | None = None,
) -> Indices:
    """Run Algorithm 2 at given levels.

    Link joins sets that are less than `tau` apart. With one tau per sample, it joins sets with a
    pair of samples that are at most max(tau(x), tau(y)) apart.

    Parameters
    ----------
    X, bandwidth, tau, kernel, sample_weight, period, ties, rtol, density, significant_bits
        As in `quick_shift`.
    levels : (m,) array
        The paper's λ. They are compared with the unrounded density, or with -r if that is given
        as the density.

    Returns
    -------
    (m, n) int array
        Component number of each point at each level, -1 outside the level set (density <= level,
        or weight zero). Component 0 of a level holds the highest point of that level, component 1
        the highest of the remaining points, and so on.

    Examples
    --------
    Two hills meet at the middle point once the level is below its density.

    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0]]
    >>> cluster_tree(X, tau=1.5, density=[3, 5, 1, 4, 2], levels=[0.5, 1, 4.5])
    array([[ 0,  0,  0,  0,  0],
           [ 0,  0, -1,  1,  1],
           [-1,  0, -1, -1, -1]])
    """
    settings = Settings(
        X, bandwidth, tau, kernel, sample_weight, period, ties, rtol, density, significant_bits
    )
    run = prepare(settings)
    thresholds = np.atleast_1d(np.asarray(levels, dtype=np.float64))
    if thresholds.ndim != 1 or np.isnan(thresholds).any():
        raise ValueError(f"levels must be a list of numbers, got {levels!r}")
    ordered, near = run.ordered, run.near()  # indices are positions in the order
    graph = cut(*climb(ordered), run.tau[ordered.rows])  # line 2
    components = np.full((len(thresholds), len(run.density)), -1, dtype=np.int64)
    for row, level in zip(components, thresholds, strict=True):  # line 3
        vertices = np.flatnonzero(run.density[ordered.rows] > level)
        linked = _link(_components(vertices.tolist(), graph), near)
        for number, members in enumerate(linked):
            row[ordered.rows[members]] = number
    return components


def _components(vertices: list[int], graph: Indices) -> list[list[int]]:
    """Return the connected components of G(λ), found by climbing from each vertex.

    A climb stops before it leaves G(λ). It can leave, because a parent is higher by its rounded
    density, but the level is compared with the unrounded density, which may be lower.
    """
    inside = set(vertices)
    members: dict[int, list[int]] = {}
    for i in vertices:
        top = i
        while (up := int(graph[top])) != top and up in inside:
            top = up
        members.setdefault(top, []).append(i)
    return list(members.values())


def _link(sets: list[list[int]], near: Flags) -> list[list[int]]:
    """Unite sets that have a near pair until there are none, in the order of their first sets."""
    pending, linked = list(sets), []
    while pending:
        union, size = pending.pop(0), 0
        while len(union) > size:
            size = len(union)
            close = [bool(near[np.ix_(union, s)].any()) for s in pending]
            union = union + [i for s, joins in zip(pending, close, strict=True) if joins for i in s]
            pending = [s for s, joins in zip(pending, close, strict=True) if not joins]
        linked.append(union)
    return linked
