"""Point sets with the labels of their making: benchmarks' blobs and walks, moons, a lattice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from quickshift.arrays import Floats, Indices
from quickshift.datasets.arguments import Seed, as_count, as_generator, as_number

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
    """Draw from round Gaussians of equal weight with centres uniform in a cube.

    Parameters
    ----------
    n : int
        Number of points.
    d : int, default=2
        Dimension.
    centers : int, default=20
        Number of Gaussians.
    box : float, default=20.0
        Centres lie in [−box, box]ᵈ.
    spread : float, default=1.0
        Standard deviation of each Gaussian.
    seed : int or numpy.random.Generator, default=0

    Returns
    -------
    X : ndarray of shape (n, d)
    labels : ndarray of shape (n,)

    Examples
    --------
    >>> from quickshift.datasets import blobs
    >>> X, labels = blobs(1000, 3, centers=5)
    >>> X.shape, set(labels.tolist())
    ((1000, 3), {0, 1, 2, 3, 4})
    """
    n, d, centers = as_count(n), as_count(d, "d", least=1), as_count(centers, "centers", least=1)
    box, spread = as_number(box, "box", above=0), as_number(spread, "spread", above=0)
    rng = as_generator(seed)
    places = rng.uniform(-box, box, size=(centers, d))
    labels = rng.integers(centers, size=n)
    X = rng.standard_normal((n, d))
    X *= spread
    X += places[labels]
    return X, labels


def moons(n: int, noise: float = 0.05, seed: Seed = 0) -> tuple[Floats, Indices]:
    """Draw from two half circles that reach into each other, with Gaussian noise.

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
        0 for the upper, 1 for the lower half circle.

    Examples
    --------
    >>> from quickshift.datasets import moons
    >>> X, labels = moons(6, noise=0.0)
    >>> bool((X[labels == 0, 1] >= 0).all())
    True
    """
    rng = as_generator(seed)
    labels = rng.integers(2, size=as_count(n))
    angle = np.pi * (rng.random(n) + labels)
    X = np.column_stack([np.cos(angle) + labels, np.sin(angle) + 0.5 * labels])
    return _blur(X, noise, rng), labels


def circles(
    n: int, noise: float = 0.05, factor: float = 0.5, seed: Seed = 0
) -> tuple[Floats, Indices]:
    """Draw from two circles about the origin, with Gaussian noise.

    Parameters
    ----------
    n : int
        Number of points, about half of them on either circle.
    noise : float, default=0.05
        Standard deviation in each coordinate.
    factor : float, default=0.5
        Radius of the inner circle; the outer one has radius 1.
    seed : int or numpy.random.Generator, default=0

    Returns
    -------
    X : ndarray of shape (n, 2)
    labels : ndarray of shape (n,)
        0 for the outer, 1 for the inner circle.

    Examples
    --------
    >>> import numpy as np
    >>> from quickshift.datasets import circles
    >>> X, labels = circles(4, noise=0.0, factor=0.25)
    >>> labels, np.hypot(*X.T)
    (array([1, 1, 1, 0]), array([0.25, 0.25, 0.25, 1.  ]))
    """
    factor = as_number(factor, "factor", above=0, below=1)
    rng = as_generator(seed)
    labels = rng.integers(2, size=as_count(n))
    angle = 2 * np.pi * rng.random(n)
    radius = np.where(labels == 1, factor, 1.0)
    X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return _blur(X, noise, rng), labels


def _blur(X: Floats, noise: float, rng: np.random.Generator) -> Floats:
    if not (np.isfinite(noise) and noise >= 0):
        raise ValueError(f"noise is {noise!r}; expected a finite number of zero or more")
    return X + noise * rng.standard_normal(X.shape)


def lattice(shape: int | Sequence[int], d: int = 2) -> Floats:
    """Return the points of an integer lattice: the hardest ties there are.

    Parameters
    ----------
    shape : int or sequence of int
        Points along each axis; one number is the side of a cube in ``d`` dimensions.
    d : int, default=2
        Dimension where ``shape`` is one number; otherwise not used.

    Returns
    -------
    X : ndarray of shape (n, d)
        Integer coordinates from 0, the last one running fastest.

    Examples
    --------
    >>> from quickshift.datasets import lattice
    >>> lattice((2, 3)).tolist()
    [[0.0, 0.0], [0.0, 1.0], [0.0, 2.0], [1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]
    >>> lattice(4, d=3).shape
    (64, 3)
    """
    if isinstance(shape, Sequence):
        sides = [as_count(side, "shape") for side in shape]
    else:
        sides = [as_count(shape, "shape")] * as_count(d, "d", least=1)
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
    """Draw the trails of a random walk that now and then restarts elsewhere, plus noise.

    The spreader drops points uniformly in a ball about where it stands. After every ``stay``
    points it moves in a random direction, and before every point it may jump to a random
    place and so begin a new cluster. The walk may leave the box.

    Parameters
    ----------
    n : int
        Number of points.
    d : int, default=2
        Dimension.
    variant : {"simden", "varden"}, default="simden"
        Clusters of similar density: balls of radius 100. Or of varying density: the radius is
        100, 200, … 1000 and 100 again from one restart to the next. A move is as long as d/2
        radii.
    noise : float, default=1e-4
        Share of the points that is uniform in the box, in [0, 1).
    restarts : float, default=10.0
        Expected number of restarts after the first placing.
    stay : int, default=100
        Points dropped before each move.
    box : float, default=1e5
        Side of the cube [0, box]ᵈ where walks begin.
    seed : int or numpy.random.Generator, default=0

    Returns
    -------
    X : ndarray of shape (n, d)
        In the order of the walk, noise last.
    labels : ndarray of shape (n,)
        Number of the restart, from 0; −1 for noise.

    References
    ----------
    Gan, J. & Tao, Y. (2015). DBSCAN revisited: mis-claim, un-fixability, and approximation.
    SIGMOD, 519–530. The two variants are those of Gan, J. & Tao, Y. (2017). On the hardness and
    approximation of Euclidean DBSCAN. ACM Transactions on Database Systems 42(3), 14:1–14:45.

    Examples
    --------
    >>> from quickshift.datasets import seed_spreader
    >>> X, labels = seed_spreader(100_000, 3, variant="varden")
    >>> X.shape, int((labels == -1).sum())
    ((100000, 3), 10)
    """
    n, d, stay = as_count(n), as_count(d, "d", least=1), as_count(stay, "stay", least=1)
    box = as_number(box, "box", above=0)
    if variant not in ("simden", "varden"):
        raise ValueError(f"variant is {variant!r}; expected 'simden' or 'varden'")
    if not (0 <= noise < 1 and restarts >= 0):
        raise ValueError(
            f"noise is {noise!r} and restarts is {restarts!r}; expected noise, a share of the "
            "points, in [0, 1) and restarts of zero or more"
        )
    rng = as_generator(seed)
    X = np.empty((n, d))
    labels = np.full(n, -1, dtype=np.int64)
    dropped = n - round(n * noise)
    walk = _walk_labels(dropped, restarts, rng)
    radius = 100.0 * (1 + walk % 10) if variant == "varden" else np.full(dropped, 100.0)
    X[:dropped] = _in_unit_ball(dropped, d, rng) * radius[:, None]
    X[:dropped] += _stands(walk, radius * d / 2, rng, stay=stay, box=box, d=d)
    labels[:dropped] = walk
    X[dropped:] = rng.uniform(0, box, size=(n - dropped, d))
    return X, labels


def _walk_labels(n: int, restarts: float, rng: np.random.Generator) -> Indices:
    """Give each of ``n`` steps the number of its restart; the first step is number 0."""
    restart = rng.random(n) < restarts / max(n, 1)
    restart[:1] = False
    return np.cumsum(restart, dtype=np.int64)


def _stands(
    walk: Indices, move: Floats, rng: np.random.Generator, *, stay: int, box: float, d: int
) -> Floats:
    """Where the spreader stands at each step, shape (n, d)."""
    steps = np.arange(len(walk))
    begins = np.flatnonzero(np.diff(walk, prepend=-1))
    since = steps - begins[walk]
    is_stand = since % stay == 0
    is_begin = since[is_stand] == 0
    moves = _directions(int(is_stand.sum()), d, rng) * move[is_stand, None]
    moves[is_begin] = 0
    # Moves add up within a walk only: take off what had added up where the walk began.
    path = np.cumsum(moves, axis=0)
    path -= path[is_begin][walk[is_stand]]
    path += rng.uniform(0, box, size=(len(begins), d))[walk[is_stand]]
    stands: Floats = path[np.cumsum(is_stand) - 1]
    return stands


def _directions(n: int, d: int, rng: np.random.Generator) -> Floats:
    """``n`` unit vectors, uniform on the sphere."""
    directions = rng.standard_normal((n, d))
    directions /= np.sqrt(np.einsum("nd,nd->n", directions, directions))[:, None]
    return directions


def _in_unit_ball(n: int, d: int, rng: np.random.Generator) -> Floats:
    """``n`` points uniform in the unit ball."""
    points = _directions(n, d, rng)
    points *= (rng.random(n) ** (1 / d))[:, None]
    return points
