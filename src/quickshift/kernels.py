"""The kernels, with their supports, normalizers and moments in every dimension.

A kernel is radial: K(u) = c·k(‖u‖), where k is its profile and c normalizes the integral of K over
Rᵈ to one. An entry of the table at the end of this file holds the integrals of its kernel in closed
form if that is numerically stable. Otherwise `_integrated` computes them, for any compact profile
that is smooth inside its support. CONTRIBUTING.md tells how to add a kernel.
"""

import difflib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from quickshift.arrays import Floats

__all__ = ["KERNELS", "Integrals", "Kernel", "get_kernel"]

Profile = Callable[[Floats], Floats]


class Integrals(NamedTuple):
    """Integrals of a profile k in every dimension d.

    Attributes
    ----------
    log_power : callable
        ``log_power(d, p)`` is log ∫ k(‖u‖)^p du over Rᵈ, for p = 1 and 2.
    variance : callable
        ``variance(d)`` is ∫ u₀² k(‖u‖) du / ∫ k(‖u‖) du.
    """

    log_power: Callable[[int, int], float]
    variance: Callable[[int], float]


@dataclass(frozen=True)
class Kernel:
    """A radial kernel and its constants in every dimension.

    Attributes
    ----------
    name : str
        The name of the kernel in arguments.
    code : int
        The number of the kernel in the C++ core.
    support : float
        Radius of the support in bandwidths; inf for an infinite kernel.
    inside : callable
        k(t) inside the support, for arrays. Call `profile` instead, which is 0 outside the support.
    integrals : Integrals
        Integrals from which the methods below compute their results.
    closed : bool
        Whether k is positive on the boundary of its support.

    Examples
    --------
    >>> epanechnikov = get_kernel("epanechnikov")
    >>> epanechnikov.profile([0.0, 0.5, 1.0])
    array([1.  , 0.75, 0.  ])
    >>> round(math.exp(epanechnikov.log_normaliser(1)), 12)
    0.75
    """

    name: str
    code: int
    support: float
    inside: Profile = field(repr=False)
    integrals: Integrals = field(repr=False)
    closed: bool = field(default=False, repr=False)

    @property
    def infinite(self) -> bool:
        """Whether the kernel is positive everywhere.

        Examples
        --------
        >>> get_kernel("gaussian").infinite, get_kernel("cosine").infinite
        (True, False)
        """
        return math.isinf(self.support)

    def profile(self, t: ArrayLike) -> Floats:
        """Evaluate the profile k(t), which is not normalized.

        Parameters
        ----------
        t : array_like
            Distances in bandwidths, not negative.

        Returns
        -------
        ndarray, the shape of `t`
            k(t), never negative, exactly zero outside the support.

        Examples
        --------
        >>> get_kernel("uniform").profile([0.5, 1.0, 1.5])
        array([1., 1., 0.])
        """
        t = np.asarray(t, dtype=np.float64)
        outside = t > self.support if self.closed else t >= self.support
        # t² overflows for very distant points, and exp(-t²) underflows to 0.
        with np.errstate(over="ignore", under="ignore"):
            k = self.inside(np.minimum(t, self.support))
        return np.where(outside, 0.0, np.maximum(k, 0.0))

    def log_normaliser(self, d: int) -> float:
        """Return log c, where c·k(‖u‖) integrates to one over Rᵈ.

        Parameters
        ----------
        d : int
            Dimension, at least 1.

        Returns
        -------
        float
            log c. In high dimensions c itself is outside the range of floats.

        Examples
        --------
        >>> round(math.exp(-get_kernel("uniform").log_normaliser(2)), 12)  # area of the unit disc
        3.14159265359
        """
        return -self.integrals.log_power(d, 1)

    def log_roughness(self, d: int) -> float:
        """Return the logarithm of ∫K² over Rᵈ, where K is normalized.

        Parameters
        ----------
        d : int
            Dimension, at least 1.

        Returns
        -------
        float
            log ∫K².

        Examples
        --------
        >>> round(math.exp(get_kernel("epanechnikov").log_roughness(1)), 12)
        0.6
        """
        return self.integrals.log_power(d, 2) - 2.0 * self.integrals.log_power(d, 1)

    def variance(self, d: int) -> float:
        """Return the variance of K along each axis, at bandwidth 1.

        Parameters
        ----------
        d : int
            Dimension, at least 1.

        Returns
        -------
        float
            ∫u₀²K(u) du.

        Examples
        --------
        >>> get_kernel("gaussian").variance(3), get_kernel("exponential").variance(3)
        (1.0, 4.0)
        """
        return self.integrals.variance(d)

    def __reduce__(self) -> tuple[Any, ...]:
        # Lambdas cannot be pickled, so a kernel is pickled by its name.
        return get_kernel, (self.name,)


def get_kernel(name: str) -> Kernel:
    """Look up a kernel by its name or alias.

    Parameters
    ----------
    name : str
        A key of `KERNELS`, or "tophat" (uniform) or "linear" (triangular).

    Returns
    -------
    Kernel

    Examples
    --------
    >>> get_kernel("tophat")
    Kernel(name='uniform', code=3, support=1.0)
    >>> get_kernel("gausian")
    Traceback (most recent call last):
        ...
    ValueError: unknown kernel 'gausian'; did you mean 'gaussian'? The kernels are 'gaussian', ...
    """
    known = [*KERNELS, *_ALIASES]
    names = ", ".join(map(repr, known))
    if not isinstance(name, str):
        raise TypeError(
            f"kernel must be a name, got {name!r} of type {type(name).__name__}. "
            f"The kernels are {names}."
        )
    if name not in known:
        close = difflib.get_close_matches(name.lower(), known, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else "."
        raise ValueError(f"unknown kernel {name!r}{hint} The kernels are {names}.")
    return KERNELS[_ALIASES.get(name, name)]


def _log_sphere(d: int, radius: float = 1.0) -> float:
    """Return log(S·radiusᵈ), where S is the area of the unit sphere in Rᵈ.

    Going from dimension d to d + 2 multiplies the value by 2π·radius²/d, so the logarithm is a sum
    of small terms. The formula with lgamma(d/2) would subtract large terms that nearly cancel in
    dimensions where the result is close to zero.
    """
    step = 2.0 * math.pi * radius**2
    first = step if d % 2 == 0 else 2.0 * radius
    return math.fsum([math.log(first), *(math.log(step / j) for j in range(d - 2, 0, -2))])


def _power(m: int, q: int) -> Integrals:
    """Return the integrals of k(t) = (1 - tᵐ)^q on t < 1: beta functions, as finite products."""

    def product(a: int, n: int) -> float:
        return math.prod((a + m * j for j in range(n + 1)), start=1.0)

    def log_power(d: int, p: int) -> float:
        n = p * q
        return _log_sphere(d) + math.log(math.factorial(n) * m**n / product(d, n))

    return Integrals(log_power, lambda d: product(d, q) / (product(d + 2, q) * d))


@cache
def _gauss_legendre() -> tuple[Floats, Floats]:
    """Return the nodes and weights of Gauss-Legendre quadrature on the unit interval."""
    nodes, weights = np.polynomial.legendre.leggauss(80)
    return 0.5 * (1.0 + nodes), 0.5 * weights


def _integrated(inside: Profile, support: float) -> Integrals:
    """Return the integrals of a compact profile, by Gauss-Legendre quadrature."""

    def radial(d: int, p: int) -> tuple[Floats, Floats]:
        # x is the radius in units of the support. x^(d-1) is negligible below 1 - 60/d, so all
        # nodes are placed above that.
        nodes, weights = _gauss_legendre()
        width = min(1.0, 60.0 / d)
        x = 1.0 - width * nodes
        return x, width * weights * x ** (d - 1) * inside(support * x) ** p

    def log_power(d: int, p: int) -> float:
        return _log_sphere(d, support) + math.log(radial(d, p)[1].sum())

    def variance(d: int) -> float:
        x, mass = radial(d, 1)
        return float(support**2 * (mass @ x**2) / (mass.sum() * d))

    return Integrals(log_power, variance)


def _silverman(t: Floats) -> Floats:
    s = math.sqrt(0.5) * t
    return np.exp(-s) * np.sin(s + 0.25 * math.pi)


def _cosine(t: Floats) -> Floats:
    return np.cos(0.5 * math.pi * t)


# Silverman's function becomes negative; only the part up to its first zero is a density.
_SILVERMAN_SUPPORT = 0.75 * math.pi * math.sqrt(2.0)

_TABLE = (
    Kernel(
        "gaussian",
        0,
        math.inf,
        lambda t: np.exp(-0.5 * t * t),
        Integrals(lambda d, p: 0.5 * d * math.log(2.0 * math.pi / p), lambda _: 1.0),
    ),
    Kernel(
        "exponential",
        1,
        math.inf,
        lambda t: np.exp(-t),
        Integrals(
            lambda d, p: _log_sphere(d, 1.0 / p) + math.lgamma(d),
            lambda d: d + 1.0,
        ),
    ),
    Kernel(
        "silverman",
        2,
        _SILVERMAN_SUPPORT,
        _silverman,
        _integrated(_silverman, _SILVERMAN_SUPPORT),
    ),
    Kernel("uniform", 3, 1.0, np.ones_like, _power(1, 0), closed=True),
    Kernel("triangular", 4, 1.0, lambda t: 1.0 - t, _power(1, 1)),
    Kernel("tricube", 5, 1.0, lambda t: (1.0 - t**3) ** 3, _power(3, 3)),
    Kernel("cosine", 6, 1.0, _cosine, _integrated(_cosine, 1.0)),
    Kernel("epanechnikov", 7, 1.0, lambda t: 1.0 - t * t, _power(2, 1)),
)

KERNELS: Mapping[str, Kernel] = MappingProxyType({kernel.name: kernel for kernel in _TABLE})
_ALIASES = {"tophat": "uniform", "linear": "triangular"}
