"""Densities with known modes that meet every assumption of the paper, and exact samples of them.

The density is proportional to the highest of several bumps,

    g(x) = max_j (a_j - s |x - c_j|^p)    where this is at least the floor b, and 0 elsewhere.

The centers c_j are on the first axis. With p = 2:

- The support is a union of balls, hence compact, and the density is Lipschitz on it (Assumption 1
  with α = 1). With b > 0 it is bounded away from zero there and jumps to zero at the edge; with
  b = 0 it is Lipschitz on all of R^d.
- Away from the centers the gradient of every bump is nonzero, and the maximum of bumps rises
  wherever one of them does. So there are no flat regions (Assumption 2).
- Every local maximum is a center, where the Hessian is -2 s I (Assumption 4), provided that no
  other bump covers it, which the constructor checks.
- Level sets are unions of balls, whose boundary points have a share of a ball next to them
  (Assumption 5).

With p = 2, two bumps meet in a plane, so saddles and r_M (Lemma 2) have closed forms. With p < 2
the modes are sharp, without a Hessian: that is outside the assumptions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Peaks:
    """The highest of several bumps, normalized.

    Parameters
    ----------
    centers : tuple of floats
        First coordinates of the modes, increasing; the other coordinates are zero.
    heights : tuple of floats
        The a_j, before normalization.
    d : int
        Dimension.
    curvature : float
        The s of the formula.
    floor : float
        The b of the formula.
    power : float
        The p of the formula.

    Examples
    --------
    >>> two = Peaks((0.0, 1.0), (1.0, 1.0), d=1)
    >>> two.r_m, two.modes().tolist()
    (0.5, [[0.0], [1.0]])
    """

    centers: tuple[float, ...] = (0.0, 1.0, 2.0)
    heights: tuple[float, ...] = (1.0, 1.0, 1.0)
    d: int = 2
    curvature: float = 2.4
    floor: float = 0.1
    power: float = 2.0

    def __post_init__(self) -> None:
        covered = self._bumps(self.modes()).argmax(axis=1) != np.arange(len(self.centers))
        if covered.any():
            raise ValueError(f"expected centers that no other bump covers, got {self}")

    @property
    def n_features(self) -> int:
        """The dimension, under the name that `quickshift.stages.known_tree` needs."""
        return self.d

    @cached_property
    def walls(self) -> Floats:
        """First coordinate of the plane in which each pair of neighboring bumps meets (p = 2)."""
        c, a = np.array(self.centers), np.array(self.heights)
        return (c[:-1] + c[1:]) / 2 + (a[:-1] - a[1:]) / (2 * self.curvature * np.diff(c))

    @property
    def r_m(self) -> float:
        """Upper bound of the r_M of Lemma 2: the least distance from a mode to a wall."""
        centers = np.array(self.centers)
        return float(min((self.walls - centers[:-1]).min(), (centers[1:] - self.walls).min()))

    @cached_property
    def constant(self) -> float:
        """Integral of g, by which it is divided.

        At first coordinate t, the cross-section is a ball of dimension d - 1, over which g is
        integrated along the radius; both integrals are by Gauss–Legendre, between the walls.
        """
        reach = self._radii
        c = np.array(self.centers)
        ends = np.concatenate([[c[0] - reach[0]], self.walls, [c[-1] + reach[-1]]])
        cuts = np.sort(np.concatenate([ends, c]))
        u, w = np.polynomial.legendre.leggauss(200)
        total = 0.0
        for low, high in pairwise(cuts):
            t = low + (high - low) * (1 - np.cos(np.pi * (u + 1) / 2)) / 2  # edges are square roots
            dt = (high - low) * np.pi / 4 * np.sin(np.pi * (u + 1) / 2) * w
            total += float((dt * self._slices(t)).sum())
        return total

    def _slices(self, t: Floats) -> Floats:
        """Return the integral of g over the cross-section at each first coordinate."""
        on_axis = np.column_stack([t, np.zeros((len(t), self.d - 1))])
        if self.d == 1:
            return self._raw(on_axis)
        away = (t[:, None] - np.array(self.centers)) ** 2
        radius = np.sqrt(np.maximum(self._radii**2 - away, 0).max(axis=1))
        u, w = np.polynomial.legendre.leggauss(60)
        r = radius[:, None] * (u + 1) / 2
        points = np.zeros((r.size, self.d))
        points[:, 0], points[:, 1] = np.repeat(t, len(u)), r.ravel()
        values = self._bumps(points).max(axis=1).reshape(r.shape)
        sphere = 2 * math.pi ** ((self.d - 1) / 2) / math.gamma((self.d - 1) / 2)
        return sphere * (values * r ** (self.d - 2) * w).sum(axis=1) * radius / 2

    @property
    def _radii(self) -> Floats:
        """Radius of the ball on which each bump is at least the floor."""
        above = np.array(self.heights) - self.floor
        radii: Floats = (above / self.curvature) ** (1 / self.power)
        return radii

    def _bumps(self, X: Floats) -> Floats:
        """Return every bump at every point, (m, k)."""
        rest = (X[:, 1:] ** 2).sum(axis=1)
        squared = (X[:, :1] - np.array(self.centers)) ** 2 + rest[:, None]
        bumps: Floats = np.array(self.heights) - self.curvature * squared ** (self.power / 2)
        return bumps

    def _raw(self, X: Floats) -> Floats:
        highest = self._bumps(X).max(axis=1)
        return np.where(highest >= self.floor, highest, 0.0)

    def density(self, X: Floats) -> Floats:
        """Return the density at each row of ``X``, shape (m,)."""
        return self._raw(np.asarray(X, dtype=np.float64).reshape(-1, self.d)) / self.constant

    def modes(self) -> Floats:
        """Return the modes, one row per center."""
        modes = np.zeros((len(self.centers), self.d))
        modes[:, 0] = self.centers
        return modes

    def sample(self, n: int, seed: int | np.random.Generator = 0) -> Floats:
        """Draw ``n`` points, shape (n, d).

        A point of the sum of the bumps is kept with probability maximum / sum, which is exact.
        """
        rng = np.random.default_rng(seed)
        kept: list[Floats] = []
        missing = n
        while missing > 0:
            points = self._of_sum(int(1.5 * missing) + 50, rng)
            bumps = self._bumps(points)
            bumps[bumps < self.floor] = 0.0
            kept.append(points[rng.random(len(points)) * bumps.sum(axis=1) < bumps.max(axis=1)])
            missing -= len(kept[-1])
        return np.concatenate(kept)[:n]

    def _of_sum(self, m: int, rng: np.random.Generator) -> Floats:
        """Draw about ``m`` points from the sum of the bumps, by rejection from uniform balls."""
        heights, radii = np.array(self.heights), self._radii
        volumes = heights * radii**self.d  # of the cylinders over the balls, up to a constant
        which = rng.choice(len(heights), size=3 * m, p=volumes / volumes.sum())
        radius = radii[which] * rng.random(3 * m) ** (1 / self.d)
        bump = heights[which] - self.curvature * radius**self.power
        keep = rng.random(3 * m) * heights[which] < bump
        which, radius = which[keep][:m], radius[keep][:m]
        direction = rng.standard_normal((len(which), self.d))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        points = radius[:, None] * direction
        points[:, 0] += np.array(self.centers)[which]
        return points


def equal(d: int) -> Peaks:
    """Return three modes of the same height."""
    return Peaks(d=d)


def unequal(d: int) -> Peaks:
    """Return three modes of heights 1, 0.8 and 0.9."""
    return Peaks(heights=(1.0, 0.8, 0.9), d=d)
