"""The paper's conditions on h and tau."""

import math
from dataclasses import dataclass

import numpy as np

from quickshift.checks.numbers import check_length, check_nonnegative, check_tau, check_whole
from quickshift.kernels import get_kernel

__all__ = [
    "Condition",
    "conditions",
]

# ρ of the kernels that decay as exp(-t^ρ); it is infinite for kernels with compact support.
_DECAY = {"gaussian": 2.0, "exponential": 1.0}


@dataclass(frozen=True)
class Condition:
    """One condition of the paper: an inequality between a quantity and a bound.

    Attributes
    ----------
    name : str
        Formula of the quantity on the left side.
    value : float
        Its value.
    bound : float
        Value of the right side.
    holds : bool
        Whether the condition holds.
    sentence : str
        The condition in words, with its numbers.
    """

    name: str
    value: float
    bound: float
    holds: bool
    sentence: str


def conditions(
    n: float,
    d: int,
    *,
    h: float,
    tau: float,
    spread: float,
    kernel: str,
    r_s: float | None = None,
) -> list[Condition]:
    """Evaluate the paper's conditions on h and τ, in units of the spread of the data.

    The paper's conditions are asymptotic: they state how h and τ should shrink as n grows. For one
    data set, "small" is taken to mean below 1. The exponent ρ of the kernel's decay is 2 for the
    Gaussian kernel, 1 for the exponential kernel, and infinite for kernels with compact support.

    Parameters
    ----------
    n : float
        Number of samples, or their total weight.
    d : int
        Number of features.
    h, tau : float
        Bandwidth and longest edge, in the units of the data.
    spread : float
        σ̄, see `quickshift.bandwidth.spread`. If it is 0, every length relative to it is infinite.
    kernel : str
        Name of the kernel.
    r_s : float, optional
        Radius of a separation; adds the condition τ < r_s / 2.

    Returns
    -------
    list of Condition

    Examples
    --------
    >>> found = conditions(1000, 2, h=0.1, tau=0.3, spread=1.0, kernel="gaussian", r_s=1.0)
    >>> [condition.holds for condition in found]
    [True, True, True, True, True]
    >>> print(found[1].sentence)
    log n / (n (h/σ̄)ᵈ) is 0.6908, which is small (below 1), as required.
    """
    d = check_whole(d, "d", 1)
    size, scale = max(check_nonnegative(n, "n"), 1.0), check_nonnegative(spread, "spread")
    bandwidth, length = check_length(h, "h"), check_tau(tau)
    h_scaled, tau_scaled = (x / scale if scale else math.inf for x in (bandwidth, length))
    log_n = math.log(size)
    factor = log_n ** (2.0 / _DECAY.get(get_kernel(kernel).name, math.inf))
    bias = factor * h_scaled if factor else 0.0
    with np.errstate(over="ignore", divide="ignore"):
        noise = float(np.exp(np.log(log_n) - np.log(size) - d * np.log(h_scaled)))
    found = [
        _small("(log n)^(2/ρ) h/σ̄", bias),
        _small("log n / (n (h/σ̄)ᵈ)", noise),
        _compared("h/σ̄", h_scaled, ">", "(log n / n)^(1/d)", (log_n / size) ** (1 / d)),
        _compared("τ/σ̄", tau_scaled, "≥", "(log² n / n)^(1/d)", (log_n**2 / size) ** (1 / d)),
    ]
    if r_s is not None:
        found.append(_compared("τ", length, "<", "r_s / 2", check_length(r_s, "r_s") / 2))
    return found


def _small(name: str, value: float) -> Condition:
    holds = value < 1.0
    verdict = "which is small (below 1), as required" if holds else "but should be small (below 1)"
    return Condition(name, value, 1.0, holds, f"{name} is {value:.4g}, {verdict}.")


def _compared(name: str, value: float, sign: str, against: str, bound: float) -> Condition:
    holds = {">": value > bound, "≥": value >= bound, "<": value < bound}[sign]
    verdict = "which is" if holds else "but should be"
    required = ", as required" if holds else ""
    sentence = f"{name} is {value:.4g}, {verdict} {sign} {against} = {bound:.4g}{required}."
    return Condition(name, value, bound, holds, sentence)
