"""Point sets with labels: blobs, moons, circles, the seed spreader; and an integer lattice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from quickshift.arrays import Floats, Indices
from quickshift.checks.datasets import Seed, check_seed
from quickshift.checks.numbers import (
    check_choice,
    check_nonnegative,
    check_positive,
    check_real,
    check_whole,
)

__all__ = ["blobs", "circles", "lattice", "moons", "seed_spreader"]


def blobs(
    n: int,
    d: int = 2,
    *,
    centers: int = 20,
    box: float = 20.0,
    spread: float = 1.0,
    seed: Seed = 0,
) -> tuple[Floats, Indices]:
    """Draw from round Gaussians of equal weight whose centers are uniform in a cube.

    Parameters
    ----------
    n : int
        Number of points.
    d : int, default=2
        Dimension.
    centers : int, default=20
        Number of Gaussians.
    box : float, default=20.0
        Centers lie in [−box, box]ᵈ.
    spread : float, default=1.0
        Standard deviation of each Gaussian.
    seed : int or numpy.random.Generator, default=0

    Returns
    -------
    X : ndarray of shape (n, d)
    labels : ndarray of shape (n,)
        The Gaussian that each point was drawn from.

    Examples
    --------
    >>> from quickshift.datasets import blobs
    >>> X, labels = blobs(1000, 3, centers=5)
    >>> X.shape, set(labels.tolist())
    ((1000, 3), {0, 1, 2, 3, 4})
    """
    n, d = check_whole(n, "n", 0), check_whole(d, "d", 1)
    centers = check_whole(centers, "centers", 1)
    box, spread = check_positive(box, "box"), check_positive(spread, "spread")
    rng = check_seed(seed)
    means = rng.uniform(-box, box, size=(centers, d))
    labels = rng.integers(centers, size=n)
    X = rng.standard_normal((n, d))
    X *= spread
    X += means[labels]
    return X, labels


def moons(n: int, noise: float = 0.05, seed: Seed = 0) -> tuple[Floats, Indices]:
    """Draw from two interleaving half circles, with Gaussian noise.

    Parameters
    ----------
    n : int
        Number of points.
    noise : float, default=0.05
        Standard deviation in each coordinate; the half circles have radius 1.
    seed : int or numpy.random.Generator, default=0

    Returns
    -------
    X : ndarray of shape (n, 2)
    labels : ndarray of shape (n,)
        0 for the upper half circle, 1 for the lower one.

    Examples
    --------
    >>> from quickshift.datasets import moons
    >>> X, labels = moons(6, noise=0.0)
    >>> bool((X[labels == 0, 1] >= 0).all())
    True
    """
    rng = check_seed(seed)
    labels = rng.integers(2, size=check_whole(n, "n", 0))
    angle = np.pi * (rng.random(n) + labels)
    X = np.column_stack([np.cos(angle) + labels, np.sin(angle) + 0.5 * labels])
    return _blur(X, noise, rng), labels


def circles(
    n: int, noise: float = 0.05, factor: float = 0.5, seed: Seed = 0
) -> tuple[Floats, Indices]:
    """Draw from two circles around the origin, with Gaussian noise.

    Parameters
    ----------
    n : int
        Number of points, about half of them on each circle.
    noise : float, default=0.05
        Standard deviation in each coordinate.
    factor : float, default=0.5
        Radius of the inner circle, between 0 and 1; the outer one has radius 1.
    seed : int or numpy.random.Generator, default=0

    Returns
    -------
    X : ndarray of shape (n, 2)
    labels : ndarray of shape (n,)
        0 for the outer circle, 1 for the inner one.

    Examples
    --------
    >>> import numpy as np
    >>> from quickshift.datasets import circles
    >>> X, labels = circles(4, noise=0.0, factor=0.25)
    >>> labels, np.hypot(*X.T)
    (array([1, 1, 1, 0]), array([0.25, 0.25, 0.25, 1.  ]))
    """
    factor = check_positive(factor, "factor", below=1.0)
    rng = check_seed(seed)
    labels = rng.integers(2, size=check_whole(n, "n", 0))
    angle = 2 * np.pi * rng.random(n)
    radius = np.where(labels == 1, factor, 1.0)
    X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return _blur(X, noise, rng), labels


def _blur(X: Floats, noise: float, rng: np.random.Generator) -> Floats:
    expected = "a finite number of at least 0"
    deviation = check_real(noise, "noise", expected, 0, math.inf, closed="left")
    return X + deviation * rng.standard_normal(X.shape)


def lattice(shape: int | Sequence[int], d: int = 2) -> Floats:
    """Return the points of an integer lattice, where most distances and densities are tied.

    Parameters
    ----------
    shape : int or sequence of int
        Number of points along each axis; a single number is the side of a cube in ``d`` dimensions.
    d : int, default=2
        Dimension if ``shape`` is a single number; otherwise ignored.

    Returns
    -------
    X : ndarray of shape (n, d)
        Integer coordinates from 0; the last coordinate changes fastest.

    Examples
    --------
    >>> from quickshift.datasets import lattice
    >>> lattice((2, 3)).tolist()
    [[0.0, 0.0], [0.0, 1.0], [0.0, 2.0], [1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]
    >>> lattice(4, d=3).shape
    (64, 3)
    """
    if isinstance(shape, Sequence) and not isinstance(shape, str | bytes) and len(shape):
        sides = [check_whole(side, "shape", 0) for side in shape]
    else:
        sides = [check_whole(shape, "shape", 0)] * check_whole(d, "d", 1)
    return np.indices(sides).reshape(len(sides), -1).T.astype(np.float64, order="C")


def seed_spreader(
    n: int,
    d: int = 2,
    *,
    variant: Literal["simden", "varden"] = "simden",
    noise: float = 1e-4,
    restarts: float = 10.0,
    stay: int = 100,
    box: float = 1e5,
    seed: Seed = 0,
) -> tuple[Floats, Indices]:
    """Draw points along a random walk that occasionally restarts elsewhere, plus uniform noise.

    The spreader draws points uniformly in a ball around its position. After every ``stay`` points
    it moves in a random direction. Before every point it may restart at a random position in the
    box, which begins a new cluster. The walk may leave the box.

    Parameters
    ----------
    n : int
        Number of points.
    d : int, default=2
        Dimension.
    variant : {"simden", "varden"}, default="simden"
        "simden" makes clusters of similar density: every ball has radius 100. "varden" makes
        clusters of varying density: the radius grows from one restart to the next, 100, 200, …
        1000, and then starts again at 100. The length of a move is d/2 times the radius.
    noise : float, default=1e-4
        Share of the points that are drawn uniformly from the box and not along the walk; at least
        0 and below 1.
    restarts : float, default=10.0
        Expected number of restarts, not counting the start of the first walk.
    stay : int, default=100
        Number of points drawn before each move.
    box : float, default=1e5
        Side of the cube [0, box]ᵈ in which walks begin.
    seed : int or numpy.random.Generator, default=0

    Returns
    -------
    X : ndarray of shape (n, d)
        Points in the order of the walk, followed by the noise.
    labels : ndarray of shape (n,)
        Number of restarts before each point, from 0; −1 for noise.

    References
    ----------
    Gan, J. & Tao, Y. (2015). DBSCAN revisited: mis-claim, un-fixability, and approximation.
    SIGMOD, 519–530.

    Gan, J. & Tao, Y. (2017). On the hardness and approximation of Euclidean DBSCAN. ACM
    Transactions on Database Systems 42(3), 14:1–14:45. The two variants are defined there.

    Examples
    --------
    >>> from quickshift.datasets import seed_spreader
    >>> X, labels = seed_spreader(100_000, 3, variant="varden")
    >>> X.shape, int((labels == -1).sum())
    ((100000, 3), 10)
    """
    n, d, stay = check_whole(n, "n", 0), check_whole(d, "d", 1), check_whole(stay, "stay", 1)
    box = check_positive(box, "box")
    noise = check_real(noise, "noise", "a share of at least 0 and below 1", 0, 1, closed="left")
    restarts = check_nonnegative(restarts, "restarts")
    varying = check_choice(variant, "variant", ("simden", "varden")) == "varden"
    rng = check_seed(seed)
    X = np.empty((n, d))
    labels = np.full(n, -1, dtype=np.int64)
    walked = n - round(n * noise)
    walk = _walk_labels(walked, restarts, rng)
    radius = 100.0 * (1 + walk % 10) if varying else np.full(walked, 100.0)
    X[:walked] = _in_unit_ball(walked, d, rng) * radius[:, None]
    X[:walked] += _positions(walk, radius * d / 2, rng, stay=stay, box=box, d=d)
    labels[:walked] = walk
    X[walked:] = rng.uniform(0, box, size=(n - walked, d))
    return X, labels


def _walk_labels(n: int, restarts: float, rng: np.random.Generator) -> Indices:
    """Return the number of restarts before each of ``n`` points; 0 for the first point."""
    restart = rng.random(n) < restarts / max(n, 1)
    restart[:1] = False
    return np.cumsum(restart, dtype=np.int64)


def _positions(
    walk: Indices, move: Floats, rng: np.random.Generator, *, stay: int, box: float, d: int
) -> Floats:
    """Return the position of the spreader at each point, shape (n, d)."""
    steps = np.arange(len(walk))
    begins = np.flatnonzero(np.diff(walk, prepend=-1))
    since = steps - begins[walk]
    is_stop = since % stay == 0
    is_begin = since[is_stop] == 0
    moves = _directions(int(is_stop.sum()), d, rng) * move[is_stop, None]
    moves[is_begin] = 0
    # The moves are summed over all walks at once; subtract the sum at the beginning of each walk.
    path = np.cumsum(moves, axis=0)
    path -= path[is_begin][walk[is_stop]]
    path += rng.uniform(0, box, size=(len(begins), d))[walk[is_stop]]
    positions: Floats = path[np.cumsum(is_stop) - 1]
    return positions


def _directions(n: int, d: int, rng: np.random.Generator) -> Floats:
    """Draw ``n`` unit vectors, uniform on the sphere."""
    directions = rng.standard_normal((n, d))
    directions /= np.sqrt(np.einsum("nd,nd->n", directions, directions))[:, None]
    return directions


def _in_unit_ball(n: int, d: int, rng: np.random.Generator) -> Floats:
    """Draw ``n`` points, uniform in the unit ball."""
    points = _directions(n, d, rng)
    points *= (rng.random(n) ** (1 / d))[:, None]
    return points
