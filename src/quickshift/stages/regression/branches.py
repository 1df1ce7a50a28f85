"""Conditional modes at increasing x, joined into curves (branches)."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from quickshift.arrays import Floats, Indices
from quickshift.bundles import Bundle, counted, span
from quickshift.checks.numbers import check_length
from quickshift.checks.regression import check_grid, check_one_output
from quickshift.checks.results import require_result
from quickshift.stages.regression.conditional_modes import ConditionalModes

__all__ = ["Branch", "trace"]

Path = list[int]  # the modes of a branch as positions in `modes.values`, in order of x

# Number of points that a branch is extrapolated from. Modes are responses of samples, so they
# jitter. A line through more points averages out more of the jitter, but overshoots where branches
# bend on a coarse grid. With six points, branches that cross go straight on, and branches that come
# near each other and part again do not swap.
_LINE_POINTS = 6
_FEWEST_LINE_POINTS = 3

# If two modes lie beyond two branches on the same side, both ways of pairing them have the same
# total distance. Adding this share of the squared distances prefers the pairing that keeps the
# order of the branches, so that rounding does not decide.
_SQUARE_SHARE = 1e-6


@dataclass(frozen=True, repr=False, eq=False)
class Branch(Bundle):
    """A curve of conditional modes, one per x from where it begins to where it ends; see `trace`.

    Attributes
    ----------
    x : ndarray of shape (k,)
        ``grid[start:stop]``, increasing.
    y : ndarray of shape (k,)
        The mode at each x.
    density : ndarray of shape (k,)
        f̂(x, y), the joint density.
    start, stop : int
        Positions in the grid: the branch has a mode at each from ``start`` to ``stop - 1``.
    """

    x: Floats
    y: Floats
    density: Floats
    start: int
    stop: int

    def __len__(self) -> int:
        """Return the number of points."""
        return len(self.x)

    def _facts(self) -> Iterable[str]:
        yield counted(len(self), "point")
        yield f"x {span(self.x)}"
        yield f"y {span(self.y)}"
        yield f"positions {self.start} to {self.stop - 1} of the grid"


def trace(grid: ArrayLike, modes: ConditionalModes, *, longest_step: float) -> list[Branch]:
    """Join the modes at successive x into branches.

    At each x, the modes are matched one to one with the branches that have a mode at the previous
    x. A mode may be matched with a branch only if it is within ``longest_step`` of the branch's
    last y. Among the matchings with the most pairs, the one is chosen that minimizes the total
    distance from the modes to the extrapolated branches. A branch is extrapolated by the
    least-squares line through its last six points, or by its last y while it has fewer than three
    points; therefore branches that cross go straight on. A mode without a partner begins a new
    branch, and a branch without a partner ends.

    Parameters
    ----------
    grid : array-like of shape (m,) or (m, 1)
        The x at which the modes were found, strictly increasing.
    modes : ConditionalModes
        The modes at each x of the grid, of one output.
    longest_step : float
        The largest change of y from one x to the next; infinity for any.

    Returns
    -------
    list of Branch
        Sorted by ``start``, then by the y at which they begin. Each mode belongs to exactly one
        branch.

    Notes
    -----
    Where two branches are closer together than the estimate resolves, there is only one mode. One
    of the branches continues through it, the other one ends, and a new branch begins where they
    part.

    Examples
    --------
    Two branches, of which the lower one ends:

    >>> modes = ConditionalModes(
    ...     offsets=np.array([0, 2, 4, 5]),
    ...     values=np.array([1.0, 4.0, 1.5, 4.0, 4.5]),
    ...     densities=np.array([0.3, 0.2, 0.3, 0.2, 0.2]),
    ...     heights=np.array([0.3, 0.1, 0.3, 0.1, 0.2]),
    ...     support=np.zeros(3),
    ...     conditional_densities=np.array([0.3, 0.2, 0.3, 0.2, 0.2]),
    ...     probabilities=np.array([0.6, 0.4, 0.6, 0.4, 1.0]),
    ... )
    >>> for branch in trace([0.0, 0.1, 0.2], modes, longest_step=1.0):
    ...     print(branch.x, branch.y)
    [0.  0.1] [1.  1.5]
    [0.  0.1 0.2] [4.  4.  4.5]
    """
    require_result(modes, ConditionalModes, "modes", "conditional_modes")
    check_one_output(modes.values)
    return follow(check_grid(grid, len(modes)), modes, check_length(longest_step, "longest_step"))


def follow(grid: Floats, modes: ConditionalModes, longest_step: float) -> list[Branch]:
    """Join the modes as `trace` does, from checked arguments."""
    x = grid[modes.queries]
    paths: list[Path] = []
    alive: list[Path] = []
    for query in range(len(modes)):
        rows = _rising(modes, query)
        followed = _continued(alive, rows, x, modes.values, longest_step)
        alive = [followed.get(row, []) for row in rows]
        paths += [path for path in alive if not path]
        for row, path in zip(rows, alive, strict=True):
            path.append(row)
    return [_branch(path, x, modes) for path in paths]


def _rising(modes: ConditionalModes, query: int) -> list[int]:
    """Return the positions of the modes at one query, the lowest y first."""
    rows: Indices = modes.offsets[query] + np.argsort(modes[query], kind="stable")
    return [int(row) for row in rows]


def _continued(
    alive: list[Path], rows: list[int], x: Floats, y: Floats, longest_step: float
) -> dict[int, Path]:
    """Return the path that each mode continues; modes that begin a branch are left out."""
    if not alive or not rows:
        return {}
    last = y[[path[-1] for path in alive]]
    lines = [path[-_LINE_POINTS:] for path in alive]
    heading = np.array([_extrapolate(x[line], y[line], x[rows[0]]) for line in lines])
    # A partner is at most longest_step from the last y, so a line that leads farther is too steep.
    heading = np.clip(heading, last - longest_step, last + longest_step)
    before, after = _match(last, heading, y[rows], longest_step)
    return {rows[j]: alive[i] for i, j in zip(before, after, strict=True)}


def _extrapolate(x: Floats, y: Floats, at: float) -> float:
    """Extrapolate the least-squares line through points; with too few points, return the last y."""
    if len(x) < _FEWEST_LINE_POINTS:
        return float(y[-1])
    steps = (x - x[-1]) / (at - x[-1])  # so that squares neither overflow nor underflow
    center = steps.mean()
    slope = (steps - center) @ (y - y.mean()) / np.square(steps - center).sum()
    return float(y.mean() + slope * (1.0 - center))


def _match(
    last: Floats, heading: Floats, new: Floats, longest_step: float
) -> tuple[Indices, Indices]:
    """Return the pairs of the best matching: positions of branches, positions of modes."""
    from scipy.optimize import linear_sum_assignment

    allowed = np.abs(new - last[:, None]) <= longest_step
    distance = np.where(allowed, np.abs(new - heading[:, None]), 0.0)
    distance /= distance.max() or 1.0
    # The solver pairs every member of the smaller side. A forbidden pair costs more than all
    # allowed pairs together, so the solution has as few of them as possible. They are dropped.
    forbidden = 2.0 * min(allowed.shape) + 1.0
    cost = np.where(allowed, distance + _SQUARE_SHARE * distance**2, forbidden)
    before, after = linear_sum_assignment(cost)
    kept = allowed[before, after]
    return before[kept], after[kept]


def _branch(path: Path, x: Floats, modes: ConditionalModes) -> Branch:
    """Return the branch made of these modes."""
    start = int(np.searchsorted(modes.offsets, path[0], side="right")) - 1
    return Branch(
        x=x[path],
        y=modes.values[path],
        density=modes.densities[path],
        start=start,
        stop=start + len(path),
    )
