"""What the paper asks of h and tau."""

import math
from dataclasses import dataclass

import numpy as np

from quickshift.checks import check_least, check_length, check_tau
from quickshift.kernels import get_kernel

__all__ = [
    "Condition",
    "conditions",
]

# ρ of the kernels that decay as exp(-t^ρ); it is infinite where they end.
_DECAY = {"gaussian": 2.0, "exponential": 1.0}


@dataclass(frozen=True)
class Condition:
    """One condition of the paper.

    Attributes
    ----------
    name : str
        Its left side.
    value : float
        What that is.
    bound : float
        What it is compared with.
    holds : bool
        Whether the condition holds.
    sentence : str
        The numbers in words.
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
    """Check the paper's conditions on h and τ, in units of the spread of the data.

    They say how h and τ should shrink as n grows; for one sample "small" is taken as below 1. The
    decay ρ is 2 for the Gaussian kernel, 1 for the exponential one, infinite for those that end.

    Parameters
    ----------
    n : float
        Number of samples, or their total weight.
    d : int
        Number of features.
    h, tau : float
        Bandwidth and longest edge, in the units of the data.
    spread : float
        σ̄, see `quickshift.bandwidth.spread`. Where it is 0, every length is infinite beside it.
    kernel : str
        Name of the kernel.
    r_s : float, optional
        Radius of a separation, which τ should be less than half of.

    Returns
    -------
    list of Condition

    Examples
    --------
    >>> found = conditions(1000, 2, h=0.1, tau=0.3, spread=1.0, kernel="gaussian", r_s=1.0)
    >>> [condition.holds for condition in found]
    [True, True, True, True, True]
    >>> print(found[1].sentence)
    log n / (n (h/σ̄)ᵈ) is 0.6908, small (below 1) as it should be.
    """
    size, scale = max(check_least(n, "n"), 1.0), check_least(spread, "spread")
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
    verdict = "small (below 1) as it should be" if holds else "but should be small (below 1)"
    return Condition(name, value, 1.0, holds, f"{name} is {value:.4g}, {verdict}.")


def _compared(name: str, value: float, sign: str, against: str, bound: float) -> Condition:
    holds = {">": value > bound, "≥": value >= bound, "<": value < bound}[sign]
    verdict = "as it should be" if holds else "but should be"
    sentence = f"{name} is {value:.4g}, {verdict} {sign} {against} = {bound:.4g}."
    return Condition(name, value, bound, holds, sentence)
