"""Data with known conditional modes, for the studies of modal regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import quickshift as qs
from quickshift.datasets import circle, heteroscedastic, three_branches_merging, two_branches
from studies.peaks import Peaks

Floats = NDArray[np.float64]

WAVES, SHEET = "waves", "sheet"


@dataclass(frozen=True)
class Waves:
    """Two branches along a wave, with a support that moves with x.

    x is uniform on [0, 1] and y = sin(2πx)/2 + z with z from two peaks on the line (`Peaks`). So
    f(y | x) is a density of `peaks`, moved along y, and its modes are known exactly. Responses of
    other x may lie outside the support of f(y | x).
    """

    low: float = 0.0
    high: float = 1.0

    @property
    def _noise(self) -> Peaks:
        return Peaks((0.0, 1.0), (1.0, 0.8), d=1)

    def sample(self, n: int, seed: int = 0) -> tuple[Floats, Floats]:
        """Draw ``n`` pairs: X of shape (n, 1) and y of shape (n,)."""
        rng = np.random.default_rng(seed)
        x = rng.random(n)
        return x[:, None], np.sin(2 * np.pi * x) / 2 + self._noise.sample(n, rng)[:, 0]

    def conditional_modes(self, x: float) -> Floats:
        """Return the modes of f(y | x), increasing."""
        return np.sin(2 * np.pi * x) / 2 + np.array(self._noise.centers)


@dataclass(frozen=True)
class Sheet:
    """Two branches with one support for all x: Theorem 5 covers them as written.

    x is uniform on [0, 1], and f(y | x) is proportional to the higher of two parabolas,
    1 - 2 (y - c)² with c = sin(2πx)/7 and c = 1 + sin(2πx)/7, on [-1/2, 3/2]. It is Lipschitz,
    bounded away from zero on that interval and nowhere flat, and its modes are the two centers c.
    """

    low: float = 0.0
    high: float = 1.0

    def sample(self, n: int, seed: int = 0) -> tuple[Floats, Floats]:
        """Draw ``n`` pairs: X of shape (n, 1) and y of shape (n,), by rejection at each x."""
        rng = np.random.default_rng(seed)
        x = rng.random(n)
        y = np.empty(n)
        open_rows = np.arange(n)
        while open_rows.size:
            drawn = rng.uniform(-0.5, 1.5, open_rows.size)
            center = np.sin(2 * np.pi * x[open_rows]) / 7
            height = 1 - 2 * np.minimum((drawn - center) ** 2, (drawn - center - 1) ** 2)
            kept = rng.random(open_rows.size) < height
            y[open_rows[kept]] = drawn[kept]
            open_rows = open_rows[~kept]
        return x[:, None], y

    def conditional_modes(self, x: float) -> Floats:
        """Return the modes of f(y | x), increasing."""
        return np.sin(2 * np.pi * x) / 7 + np.array([0.0, 1.0])


DATA: dict[str, Any] = {
    SHEET: Sheet(),
    WAVES: Waves(),
    "two_branches": two_branches(),
    "three_branches_merging": three_branches_merging(),
    "heteroscedastic": heteroscedastic(),
    "circle": circle(),
}


def queries_of(data: Any, count: int) -> Floats:
    """Return equally spaced queries without 5 % of the interval at each end; shape (m, 1)."""
    margin = 0.05 * (data.high - data.low)
    return np.linspace(data.low + margin, data.high - margin, count)[:, None]


def modes_of(model: qs.ModalRegressor, queries: Floats) -> list[Floats]:
    """Return the conditional modes that a fitted model finds at each query."""
    modes = model.predict_modes(queries)
    return [modes[i] for i in range(len(queries))]
