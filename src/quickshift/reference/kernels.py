"""The kernels as radial profiles k(t), t = |u|, and their normalizers."""

import math
from collections.abc import Callable

import numpy as np

from quickshift.reference.scaled_distances import Floats

__all__ = ["INFINITE", "checked_kernel", "log_normaliser", "log_profile", "profile", "reach"]


def _silverman(t: Floats) -> Floats:
    turn = t / math.sqrt(2)
    return np.exp(-turn) * np.sin(turn + math.pi / 4)


ALIASES = {"tophat": "uniform", "linear": "triangular"}
INFINITE = ("gaussian", "exponential")
COMPACT: dict[str, tuple[float, Callable[[Floats], Floats]]] = {  # support, k(t) inside it
    "silverman": (3 * math.pi / (2 * math.sqrt(2)), _silverman),  # up to its first zero
    "uniform": (1.0, np.ones_like),
    "triangular": (1.0, lambda t: 1 - t),
    "tricube": (1.0, lambda t: (1 - t**3) ** 3),
    "cosine": (1.0, lambda t: np.cos(math.pi * t / 2)),
    "epanechnikov": (1.0, lambda t: 1 - t * t),
}


def checked_kernel(name: str) -> str:
    """Return the name that an alias stands for."""
    kernel = ALIASES.get(name, name)
    if kernel not in COMPACT and kernel not in INFINITE:
        known = ", ".join([*INFINITE, *COMPACT])
        raise ValueError(f"kernel must be one of {known}, got {name!r}")
    return kernel


def reach(kernel: str) -> float:
    """Return the least half period in bandwidths: the support, or 2 for an infinite kernel."""
    return 2.0 if kernel in INFINITE else COMPACT[kernel][0]


def profile(kernel: str, distance: Floats, h: float, origin: Floats) -> Floats:
    """Return k(distance / h); for an infinite kernel, divided by k(origin).

    An origin is in bandwidths and no larger than any of its distances. An origin of 0 divides by 1.
    """
    t = distance / h
    if kernel in INFINITE:
        beyond = np.subtract(t, origin, out=np.full_like(t, np.inf), where=np.isfinite(t))
        if kernel == "gaussian":  # (t² - origin²) / 2 without cancellation
            return np.exp(-beyond * (0.5 * t + 0.5 * origin))
        return np.exp(-beyond)
    end, k = COMPACT[kernel]
    # The uniform kernel includes its edge, and the quotient may round past it.
    inside = distance <= h if kernel == "uniform" else t < end
    # Rounding may make silverman's sine slightly negative near its zero.
    return np.where(inside, np.maximum(k(np.minimum(t, end)), 0.0), 0.0)


def log_profile(kernel: str, t: Floats) -> Floats:
    """Return the log of the number that `profile` divides by for an origin of t: 0 if compact."""
    with np.errstate(over="ignore"):
        if kernel == "gaussian":
            return -0.5 * t * t
        return -t if kernel == "exponential" else np.zeros_like(t)


def log_normaliser(kernel: str, d: int) -> float:
    """Return log c with c ∫ k(|u|) du = 1 over R^d."""
    if kernel == "gaussian":
        return -0.5 * d * math.log(2 * math.pi)
    log_sphere = math.log(2) + 0.5 * d * math.log(math.pi) - math.lgamma(0.5 * d)
    if kernel == "exponential":
        return -(log_sphere + math.lgamma(d))
    # ∫ k(t) t^(d-1) dt with t = end exp(-s/d), by Gauss-Legendre on unit pieces of s.
    end, _ = COMPACT[kernel]
    nodes, weights = np.polynomial.legendre.leggauss(20)
    s = (np.arange(60)[:, None] + 0.5 * (nodes + 1)).ravel()
    terms = np.tile(0.5 * weights, 60) * np.exp(-s)
    radial = math.fsum(terms * profile(kernel, end * np.exp(-s / d), 1.0, np.zeros(1))) / d
    return -(log_sphere + math.log(radial) + d * math.log(end))
