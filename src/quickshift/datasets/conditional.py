"""Joint distributions of (x, y) whose conditional modes are known.

Given x, the response y follows a mixture of Gaussians whose weights, means and standard deviations
are functions of x; each component is a branch. The modes of f(y | x) are not the means of the
branches: two branches closer than about two standard deviations share one mode, and neighboring
branches pull each other's modes away from their means. The modes are therefore computed from the
mixture, and an estimate can be compared with them directly.

Chen, Genovese, Tibshirani & Wasserman (2016), Nonparametric modal regression, Annals of
Statistics 44(2), 489–514, study the estimation of such modes; the curves here are our own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from quickshift.arrays import Floats
from quickshift.bundles import Bundle, number
from quickshift.checks.datasets import Seed, check_pairs, check_seed, check_single_x, check_x_inside
from quickshift.checks.numbers import check_positive, check_whole
from quickshift.datasets.gaussian_mixture import modes_on_line

__all__ = [
    "ConditionalMixture",
    "circle",
    "heteroscedastic",
    "three_branches_merging",
    "two_branches",
]

Branches = Callable[[Floats], tuple[Floats, Floats, Floats]]


@dataclass(frozen=True, repr=False, eq=False)
class ConditionalMixture(Bundle):
    """A distribution of (x, y) where x lies in an interval and y given x is a Gaussian mixture.

    Parameters
    ----------
    branches : callable
        Takes x of shape (m, 1) and returns weights, means and standard deviations of the k
        branches, each of a shape that broadcasts to (m, k). The weights sum to one.
    low, high : float
        Ends of the interval of x.
    marginal : {"uniform", "arcsine"}
        Distribution of x on the interval; "arcsine" is the distribution of the first coordinate of
        a uniform point on a circle.

    Examples
    --------
    >>> from quickshift.datasets import three_branches_merging
    >>> data = three_branches_merging()
    >>> data.conditional_modes(0.0).round(3) + 0.0
    array([-2.,  0.,  2.])
    >>> data.conditional_modes(1.0).round(3) + 0.0
    array([0.])
    >>> X, y = data.sample(100, seed=0)
    >>> X.shape, y.shape
    ((100, 1), (100,))
    """

    branches: Branches
    low: float = 0.0
    high: float = 1.0
    marginal: Literal["uniform", "arcsine"] = "uniform"

    def __hash__(self) -> int:
        return hash((self.low, self.high, self.marginal))

    def _compared(self) -> tuple[Any, ...]:
        return *_function_and_arguments(self.branches), self.low, self.high, self.marginal

    def _facts(self) -> Iterable[str]:
        function, arguments = _function_and_arguments(self.branches)
        name = getattr(function, "__name__", type(function).__name__).lstrip("_")
        given = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
        yield f"{name}({given})" if given else name
        yield f"x {self.marginal} from {number(self.low)} to {number(self.high)}"

    def sample(self, n: int, seed: Seed = 0) -> tuple[Floats, Floats]:
        """Draw ``n`` pairs.

        Parameters
        ----------
        n : int
        seed : int or numpy.random.Generator, default=0

        Returns
        -------
        X : ndarray of shape (n, 1)
        y : ndarray of shape (n,)
        """
        n = check_whole(n, "n", 0)
        rng = check_seed(seed)
        share = rng.random(n)
        if self.marginal == "arcsine":
            share = 0.5 - 0.5 * np.cos(np.pi * share)
        x = self.low + (self.high - self.low) * share
        weights, means, scales = self._at(x)
        # The branch is drawn by inverting the cumulative weights. Their last column is left out,
        # because it may round to less than 1, and a draw above it would point past the last branch.
        chosen = (rng.random(n)[:, None] > np.cumsum(weights, axis=1)[:, :-1]).sum(axis=1)
        rows = np.arange(n)
        y = means[rows, chosen] + scales[rows, chosen] * rng.standard_normal(n)
        return x[:, None], y

    def conditional_density(self, x: ArrayLike, y: ArrayLike) -> Floats:
        """Return f(y | x) for arrays ``x`` and ``y`` that broadcast.

        Raises
        ------
        ValueError
            If some x lies outside the interval, where f(y | x) is not defined.
        """
        x, y = check_pairs(x, y)
        check_x_inside(x, self.low, self.high)
        weights, means, scales = self._at(x.ravel())
        z = (y.ravel()[:, None] - means) / scales
        parts = weights * np.exp(-0.5 * z * z) / (scales * np.sqrt(2 * np.pi))
        density: Floats = parts.sum(axis=1).reshape(y.shape)
        return density

    def density(self, x: ArrayLike, y: ArrayLike) -> Floats:
        """Return the joint density f(x, y); zero outside the interval of x."""
        x, y = check_pairs(x, y)
        inside = (x >= self.low) & (x <= self.high)
        density = np.zeros(y.shape)
        density[inside] = self._marginal_density(x[inside])
        density[inside] *= self.conditional_density(x[inside], y[inside])
        return density

    def conditional_modes(self, x: float) -> Floats:
        """Return the local maxima of f(y | x) in y for a single ``x``, in ascending order."""
        at = check_single_x(x)
        check_x_inside(at, self.low, self.high)
        weights, means, scales = self._at(at.ravel())
        return modes_on_line(weights[0], means[0], scales[0])

    def _at(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """Return weights, means and standard deviations at each x, each of shape (m, k)."""
        weights, means, scales = np.broadcast_arrays(*self.branches(x[:, None]))
        shape = (len(x), weights.shape[-1])
        return (
            np.broadcast_to(weights, shape),
            np.broadcast_to(means, shape),
            np.broadcast_to(scales, shape),
        )

    def _marginal_density(self, x: Floats) -> Floats:
        width = self.high - self.low
        if self.marginal == "uniform":
            return np.full(x.shape, 1 / width)
        with np.errstate(divide="ignore"):
            density: Floats = 1 / (np.pi * np.sqrt((x - self.low) * (self.high - x)))
        return density


def _function_and_arguments(branches: Branches) -> tuple[Any, dict[str, Any]]:
    """Split a function whose keyword arguments were fixed by `partial`."""
    if isinstance(branches, partial) and not branches.args:
        return branches.func, branches.keywords
    return branches, {}


def two_branches(noise: float = 0.2) -> ConditionalMixture:
    """Return two wavy branches, an upper one with 60 % of the samples and a lower one with 40 %.

    Parameters
    ----------
    noise : float, default=0.2
        Standard deviation about each branch.

    Examples
    --------
    >>> from quickshift.datasets import two_branches
    >>> two_branches().conditional_modes(0.25).round(3)
    array([-1. ,  1.5])
    """
    return ConditionalMixture(partial(_two_branches, noise=check_positive(noise, "noise")))


def _two_branches(x: Floats, noise: float) -> tuple[Floats, Floats, Floats]:
    upper = 1 + 0.5 * np.sin(2 * np.pi * x)
    lower = -1 + 0.5 * np.cos(2 * np.pi * x)
    return np.array([[0.4, 0.6]]), np.hstack([lower, upper]), np.full((1, 2), noise)


def three_branches_merging(noise: float = 0.25) -> ConditionalMixture:
    """Return three straight branches that merge: three modes at x = 0, one mode at x = 1.

    Parameters
    ----------
    noise : float, default=0.25
        Standard deviation about each branch.

    Examples
    --------
    >>> from quickshift.datasets import three_branches_merging
    >>> [len(three_branches_merging().conditional_modes(x)) for x in (0.0, 0.5, 0.9)]
    [3, 3, 1]
    """
    noise = check_positive(noise, "noise")
    return ConditionalMixture(partial(_three_branches_merging, noise=noise))


def _three_branches_merging(x: Floats, noise: float) -> tuple[Floats, Floats, Floats]:
    means = 2 * (1 - x) * np.array([-1.0, 0.0, 1.0])
    return np.array([[0.3, 0.4, 0.3]]), means, np.full((1, 3), noise)


def heteroscedastic(noise: float = 0.1, growth: float = 1.4) -> ConditionalMixture:
    """Return two horizontal branches at ±1 whose noise grows with x until they share one mode.

    Parameters
    ----------
    noise : float, default=0.1
        Standard deviation at x = 0.
    growth : float, default=1.4
        Increase of the standard deviation from x = 0 to x = 1.

    Examples
    --------
    >>> from quickshift.datasets import heteroscedastic
    >>> heteroscedastic().conditional_modes(0.1).round(3)
    array([-1.,  1.])
    >>> heteroscedastic().conditional_modes(1.0).round(3)
    array([0.34])
    """
    noise, growth = check_positive(noise, "noise"), check_positive(growth, "growth")
    return ConditionalMixture(partial(_heteroscedastic, noise=noise, growth=growth))


def _heteroscedastic(x: Floats, noise: float, growth: float) -> tuple[Floats, Floats, Floats]:
    return np.array([[0.4, 0.6]]), np.array([[-1.0, 1.0]]), noise + growth * x


def circle(noise: float = 0.1, radius: float = 1.0) -> ConditionalMixture:
    """Return a noisy circle around 0: two modes in the middle, one at the left and right ends.

    Parameters
    ----------
    noise : float, default=0.1
        Standard deviation of the noise, which is added to y.
    radius : float, default=1.0
        Radius of the circle; x ranges from -radius to radius.

    Examples
    --------
    >>> from quickshift.datasets import circle
    >>> circle().conditional_modes(0.6).round(3)
    array([-0.8,  0.8])
    >>> circle().conditional_modes(1.0).round(3) + 0.0
    array([0.])
    """
    noise, radius = check_positive(noise, "noise"), check_positive(radius, "radius")
    branches = partial(_circle, noise=noise, radius=radius)
    return ConditionalMixture(branches, -radius, radius, "arcsine")


def _circle(x: Floats, noise: float, radius: float) -> tuple[Floats, Floats, Floats]:
    height = np.sqrt(np.maximum(radius**2 - x**2, 0))
    return np.full((1, 2), 0.5), np.hstack([-height, height]), np.full((1, 2), noise)
