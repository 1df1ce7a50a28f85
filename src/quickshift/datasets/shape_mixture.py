"""Mixtures of shapes with compact support, whose densities and modes are known exactly.

The paper assumes a density with compact support, as these have. A `Dome` has one mode, at its
center. A `Ball` and a `Box` are plateaus: each of their points is a mode in the weak sense.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from quickshift.arrays import Floats, Indices
from quickshift.bundles import Bundle, counted, shortened, span
from quickshift.checks.datasets import (
    Seed,
    check_component_weights,
    check_corners,
    check_generator,
    check_locations,
    check_shapes,
    check_vector,
)
from quickshift.checks.numbers import check_positive, check_whole
from quickshift.datasets.sampling import draw, frozen

__all__ = ["Ball", "Box", "Dome", "ShapeMixture"]


@dataclass(frozen=True, repr=False)
class Ball:
    """The uniform distribution on a ball: an interval on the line, a disc in the plane.

    Parameters
    ----------
    center : sequence of d floats
    radius : float

    Examples
    --------
    >>> from quickshift.datasets import Ball
    >>> Ball((0.0,), radius=2.0).density([-3.0, -1.0, 2.0])
    array([0.  , 0.25, 0.25])
    """

    center: Sequence[float]
    radius: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "center", check_vector(self.center, "center"))
        object.__setattr__(self, "radius", check_positive(self.radius, "radius"))

    __repr__ = shortened

    def density(self, X: ArrayLike) -> Floats:
        """Return the density at each row of ``X``, shape (m,)."""
        return np.where(self._squared(X) <= 1, math.exp(-self._log_volume()), 0.0)

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw ``n`` points, shape (n, d)."""
        d, n, rng = len(self.center), check_whole(n, "n", 0), check_generator(rng)
        return self._around_center(rng.random(n) ** (1 / d), rng)

    def _squared(self, X: ArrayLike) -> Floats:
        """Return the squared distance of each point to the center, in units of the radius."""
        u = (check_locations(X, len(self.center)) - self.center) / self.radius
        squared: Floats = np.einsum("md,md->m", u, u)
        return squared

    def _log_volume(self) -> float:
        d = len(self.center)
        return d / 2 * math.log(math.pi) - math.lgamma(d / 2 + 1) + d * math.log(self.radius)

    def _around_center(self, radii: Floats, rng: np.random.Generator) -> Floats:
        direction = rng.standard_normal((len(radii), len(self.center)))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        around: Floats = self.center + self.radius * radii[:, None] * direction
        return around


@dataclass(frozen=True, repr=False)
class Dome(Ball):
    """A density on a ball that decreases as 1 − ‖u‖² from the center to the boundary.

    Parameters
    ----------
    center : sequence of d floats
    radius : float

    Examples
    --------
    >>> from quickshift.datasets import Dome
    >>> Dome((0.0,), radius=2.0).density([-2.0, 0.0, 1.0])
    array([0.     , 0.375  , 0.28125])
    """

    def density(self, X: ArrayLike) -> Floats:
        """Return the density at each row of ``X``, shape (m,)."""
        peak = (len(self.center) / 2 + 1) * math.exp(-self._log_volume())
        return peak * np.maximum(1 - self._squared(X), 0.0)

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw ``n`` points, shape (n, d)."""
        n, rng = check_whole(n, "n", 0), check_generator(rng)
        # s = ‖u‖² has a density proportional to s^(d/2 − 1) (1 − s), which is a beta distribution.
        return self._around_center(np.sqrt(rng.beta(len(self.center) / 2, 2.0, n)), rng)


@dataclass(frozen=True, repr=False)
class Box:
    """The uniform distribution on a box with sides along the axes.

    Parameters
    ----------
    low, high : sequence of d floats
        Opposite corners.

    Examples
    --------
    >>> from quickshift.datasets import Box
    >>> Box((0, 0), (2, 1)).density([[1, 1], [1, 2]])
    array([0.5, 0. ])
    """

    low: Sequence[float]
    high: Sequence[float]

    def __post_init__(self) -> None:
        low, high = check_corners(self.low, self.high)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    __repr__ = shortened

    @property
    def center(self) -> tuple[float, ...]:
        """Center of the box."""
        return tuple((0.5 * (np.array(self.low) + self.high)).tolist())

    def density(self, X: ArrayLike) -> Floats:
        """Return the density at each row of ``X``, shape (m,)."""
        points = check_locations(X, len(self.low))
        inside = ((points >= self.low) & (points <= self.high)).all(axis=1)
        sides = np.array(self.high) - self.low
        return np.where(inside, np.exp(-np.log(sides).sum()), 0.0)

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw ``n`` points, shape (n, d)."""
        n, rng = check_whole(n, "n", 0), check_generator(rng)
        return rng.uniform(self.low, self.high, size=(n, len(self.low)))


Shape = Ball | Box


@dataclass(frozen=True, init=False, repr=False, eq=False)
class ShapeMixture(Bundle):
    """A mixture of balls, domes and boxes in any dimension.

    Parameters
    ----------
    shapes : sequence of Ball, Dome or Box
        The shapes, all of the same dimension.
    weights : array-like, optional
        Positive shares, which are scaled to sum to one. By default all are equal.

    Examples
    --------
    Two domes on a uniform background:

    >>> from quickshift.datasets import Box, Dome, ShapeMixture
    >>> mixture = ShapeMixture(
    ...     [Dome((2, 2), radius=1), Dome((6, 3), radius=2), Box((0, 0), (10, 5))],
    ...     weights=[0.2, 0.5, 0.3],
    ... )
    >>> mixture.modes()
    array([[2., 2.], [6., 3.]])
    >>> mixture.density([[6, 3], [9, 1], [11, 1]]).round(4)
    array([0.0856, 0.006 , 0.    ])
    """

    shapes: tuple[Shape, ...]
    weights: Floats

    def __init__(self, shapes: Sequence[Shape], weights: ArrayLike | None = None) -> None:
        check_shapes(shapes)
        shares = check_component_weights(weights, len(shapes))
        object.__setattr__(self, "shapes", tuple(shapes))
        object.__setattr__(self, "weights", frozen(shares))

    def __len__(self) -> int:
        """Return the number of shapes."""
        return len(self.shapes)

    def __hash__(self) -> int:
        return hash(self.shapes)

    def _facts(self) -> Iterable[str]:
        kinds = Counter(type(shape).__name__ for shape in self.shapes)
        yield " and ".join(f"{count} {kind}" for kind, count in kinds.items())  # "2 Dome and 1 Box"
        yield counted(self.n_features, "feature")
        yield f"weights {span(self.weights)}"

    @property
    def n_features(self) -> int:
        """The dimension d."""
        return len(self.shapes[0].center)

    def sample(self, n: int, seed: Seed = 0) -> tuple[Floats, Indices]:
        """Draw points.

        Parameters
        ----------
        n : int
            Number of points.
        seed : int or numpy.random.Generator, default=0

        Returns
        -------
        X : ndarray of shape (n, d)
        labels : ndarray of shape (n,)
            The shape that each point was drawn from.
        """
        return draw(self.weights, self._draw_component, n, self.n_features, seed)

    def _draw_component(self, c: int, m: int, rng: np.random.Generator) -> Floats:
        return self.shapes[c].sample(m, rng)

    def density(self, X: ArrayLike) -> Floats:
        """Return the density at each row of ``X``, shape (m,); zero outside every shape."""
        points = check_locations(X, self.n_features)
        total = np.zeros(len(points))
        for weight, shape in zip(self.weights, self.shapes, strict=True):
            total += weight * shape.density(points)
        return total

    def log_density(self, X: ArrayLike) -> Floats:
        """Return the logarithm of the density, shape (m,); −inf outside every shape."""
        with np.errstate(divide="ignore"):
            return np.log(self.density(X))

    def modes(self) -> Floats:
        """Return one point per local maximum of the density.

        A shape that contains no other shape has its mode at its center. All points of a ball or box
        are equally high, and its center is returned for them. A ball or box that contains another
        shape is not a mode, because the density is higher on the other shape.

        Returns
        -------
        modes : ndarray of shape (n_modes, d)
            The highest mode comes first.

        Raises
        ------
        ValueError
            If two shapes touch or overlap, and neither is a ball or box that contains the other.
            Then the modes of their sum are not the modes of the two.
        """
        holds_another = [False] * len(self.shapes)
        for i, a in enumerate(self.shapes):
            for j, b in enumerate(self.shapes[:i]):
                if _apart(a, b):
                    continue
                if _inside(a, b):
                    holds_another[j] = True
                elif _inside(b, a):
                    holds_another[i] = True
                else:
                    raise ValueError(
                        f"shapes has {b} and {a}, which overlap or touch, expected shapes that are "
                        f"apart, or a Ball or Box that contains the other shape: the modes of "
                        f"other sums are not known. Move them, or use a GaussianMixture."
                    )
        found = np.array(
            [s.center for s, no in zip(self.shapes, holds_another, strict=True) if not no]
        )
        return found[np.argsort(-self.density(found), kind="stable")]


def _apart(a: Shape, b: Shape) -> bool:
    """Return whether the two supports neither touch nor overlap."""
    if isinstance(a, Box) and isinstance(b, Box):
        return bool(((np.array(a.high) < b.low) | (np.array(b.high) < a.low)).any())
    if isinstance(a, Box):
        return _apart(b, a)
    nearest = np.clip(a.center, b.low, b.high) if isinstance(b, Box) else np.array(b.center)
    reach = a.radius if isinstance(b, Box) else a.radius + b.radius
    return bool(np.linalg.norm(nearest - a.center) > reach)


def _inside(a: Shape, b: Shape) -> bool:
    """Return whether ``b`` is a ball or box and ``a`` lies inside it."""
    if isinstance(b, Dome):
        return False
    low = np.array(a.low if isinstance(a, Box) else np.array(a.center) - a.radius)
    high = np.array(a.high if isinstance(a, Box) else np.array(a.center) + a.radius)
    if isinstance(b, Box):
        return bool((low >= b.low).all() and (high <= b.high).all())
    if isinstance(a, Box):
        farthest = np.maximum(np.abs(low - b.center), np.abs(high - b.center))
        return bool(np.linalg.norm(farthest) <= b.radius)
    return bool(np.linalg.norm(np.array(a.center) - b.center) + a.radius <= b.radius)
