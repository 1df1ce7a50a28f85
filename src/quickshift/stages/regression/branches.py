"""The modes of f(y given x) along a line of x, followed into curves."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from quickshift.arrays import Floats, Indices
from quickshift.checks import check_length, check_points, refuse_lossy
from quickshift.stages.regression.conditional_modes import ConditionalModes

__all__ = ["Branch", "trace"]

Path = list[int]  # rows of the modes that a branch is made of, in order of x

# Modes are responses of samples, so they jitter. A longer line averages more of that but overshoots
# where branches bend on a coarse grid; with six, crossings go straight on and near misses do not.
_LINE_POINTS = 6
_FEWEST_LINE_POINTS = 3

# Two points that both move past each other have the same total of distances either way. This much
# of the square makes the order of the branches decide, rather than the rounding of the sums.
_SQUARE_SHARE = 1e-6


@dataclass(frozen=True)
class Branch:
    """A curve of conditional modes, one at each x from its birth to its death; see `trace`.

    Attributes
    ----------
    x : ndarray of shape (k,)
        ``grid[start:stop]``, rising.
    y : ndarray of shape (k,)
        The mode at each x.
    density : ndarray of shape (k,)
        f̂(x, y), the joint density.
    start, stop : int
        Positions in the grid: the branch has a mode at each from ``start`` to before ``stop``.
    """

    x: Floats
    y: Floats
    density: Floats
    start: int
    stop: int

    def __len__(self) -> int:
        """Return the number of points."""
        return len(self.x)


def trace(grid: ArrayLike, modes: ConditionalModes, *, longest_step: float) -> list[Branch]:
    """Follow the modes from each x to the next.

    At each x, the branches that reached the x before are matched with the modes, one to one and
    none further from the branch's last y than ``longest_step``. Of the matchings with the most
    pairs it is the one where the modes are, in total, nearest to where the branches were heading:
    the least-squares line through the last six points, the last y itself before there are three.
    So branches that cross go straight on. A mode without a partner begins a branch, and a branch
    without a partner ends.

    Parameters
    ----------
    grid : array-like of shape (m,) or (m, 1)
        The x of the modes, each larger than the one before.
    modes : ConditionalModes
        The modes at each of them, of one output.
    longest_step : float
        How far y may move from one x to the next; infinity for any distance.

    Returns
    -------
    list of Branch
        By ``start``, then by y there. Each mode belongs to exactly one branch.

    Notes
    -----
    Where two branches come nearer than the estimate resolves, there is one mode until they part:
    one branch goes on through it, the other ends, and a new one begins behind it.

    Examples
    --------
    Two branches, of which the lower one ends:

    >>> modes = ConditionalModes(
    ...     offsets=np.array([0, 2, 4, 5]),
    ...     values=np.array([1.0, 4.0, 1.5, 4.0, 4.5]),
    ...     densities=np.array([0.3, 0.2, 0.3, 0.2, 0.2]),
    ...     heights=np.array([0.3, 0.1, 0.3, 0.1, 0.2]),
    ...     support=np.zeros(3),
    ... )
    >>> for branch in trace([0.0, 0.1, 0.2], modes, longest_step=1.0):
    ...     print(branch.x, branch.y)
    [0.  0.1] [1.  1.5]
    [0.  0.1 0.2] [4.  4.  4.5]
    """
    if modes.values.ndim != 1:
        raise ValueError(
            f"modes has values of shape {modes.values.shape}, expected (k,): curves are drawn for "
            f"one output. Find the modes of each output by itself."
        )
    x = _check_grid(grid, len(modes))[modes.queries]
    longest = check_length(longest_step, "longest_step")
    paths: list[Path] = []
    alive: list[Path] = []
    for query in range(len(modes)):
        rows = _rising(modes, query)
        followed = _follow(alive, rows, x, modes.values, longest)
        alive = [followed.get(row, []) for row in rows]
        paths += [path for path in alive if not path]
        for row, path in zip(rows, alive, strict=True):
            path.append(row)
    return [_branch(path, x, modes) for path in paths]


def _check_grid(grid: ArrayLike, n_queries: int) -> Floats:
    """Return one finite x a query, rising."""
    refuse_lossy(grid, "grid")
    # As objects, ragged lists get as far as the check that says what is wrong with them.
    column = grid if hasattr(grid, "ndim") else np.array(grid, dtype=object)
    shape = np.shape(column)
    if shape not in {(n_queries,), (n_queries, 1)}:
        raise ValueError(
            f"grid has shape {shape}, expected ({n_queries},) or ({n_queries}, 1): one x for each "
            f"query of the modes. Pass the grid that the modes were found at."
        )
    x: Floats = check_points(np.reshape(column, (-1, 1)), "grid")[:, 0].astype(np.float64)
    falls = np.flatnonzero(np.diff(x) <= 0)
    if falls.size:
        i = int(falls[0])
        raise ValueError(
            f"grid has {float(x[i + 1])!r} after {float(x[i])!r} at position {i + 1}, expected "
            f"rising numbers. Find the modes at numpy.unique(grid)."
        )
    return x


def _rising(modes: ConditionalModes, query: int) -> list[int]:
    """Return the rows of the modes at one query, the lowest y first."""
    rows: Indices = modes.offsets[query] + np.argsort(modes[query], kind="stable")
    return [int(row) for row in rows]


def _follow(
    alive: list[Path], rows: list[int], x: Floats, y: Floats, longest_step: float
) -> dict[int, Path]:
    """Return the path that each row continues, without the rows that continue none."""
    if not alive or not rows:
        return {}
    last = y[[path[-1] for path in alive]]
    lines = [path[-_LINE_POINTS:] for path in alive]
    heading = np.array([_extrapolate(x[line], y[line], x[rows[0]]) for line in lines])
    # No partner is further away, so a line that points further is too steep.
    heading = np.clip(heading, last - longest_step, last + longest_step)
    before, after = _match(last, heading, y[rows], longest_step)
    return {rows[j]: alive[i] for i, j in zip(before, after, strict=True)}


def _extrapolate(x: Floats, y: Floats, at: float) -> float:
    """Return the least-squares line's value at an x beyond the last, or the last y if too few."""
    if len(x) < _FEWEST_LINE_POINTS:
        return float(y[-1])
    steps = (x - x[-1]) / (at - x[-1])  # so that squares neither overflow nor vanish
    centre = steps.mean()
    slope = (steps - centre) @ (y - y.mean()) / np.square(steps - centre).sum()
    return float(y.mean() + slope * (1.0 - centre))


def _match(
    last: Floats, heading: Floats, new: Floats, longest_step: float
) -> tuple[Indices, Indices]:
    """Return the pairs of branches and modes of the best matching."""
    from scipy.optimize import linear_sum_assignment

    allowed = np.abs(new - last[:, None]) <= longest_step
    distance = np.where(allowed, np.abs(new - heading[:, None]), 0.0)
    distance /= distance.max() or 1.0
    # The solver pairs all of the fewer side. A pair that is not allowed costs more than all that
    # are, so it takes as few of those as it can, and they are the ones without a partner.
    forbidden = 2.0 * min(allowed.shape) + 1.0
    cost = np.where(allowed, distance + _SQUARE_SHARE * distance**2, forbidden)
    before, after = linear_sum_assignment(cost)
    kept = allowed[before, after]
    return before[kept], after[kept]


def _branch(path: Path, x: Floats, modes: ConditionalModes) -> Branch:
    """Return the branch of these rows."""
    start = int(np.searchsorted(modes.offsets, path[0], side="right")) - 1
    return Branch(
        x=x[path],
        y=modes.values[path],
        density=modes.densities[path],
        start=start,
        stop=start + len(path),
    )
