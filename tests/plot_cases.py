"""Fits that every display has to draw, and figures that are closed after each test."""

from functools import cache

import numpy as np

from quickshift import QuickShift
from quickshift.datasets import blobs


@cache
def fits():
    """Return fits by name: ordinary, degenerate, periodic, in one and in many features."""
    rng = np.random.default_rng(0)
    groups = [rng.normal(center, 0.5, (150, 2)) for center in ([0, 0], [4, 0], [0, 5])]
    X = np.concatenate([*groups, rng.uniform(-2, 7, (40, 2))])
    around = np.concatenate([rng.normal([0, 5], 0.5, (100, 2)), rng.normal([5, 9.9], 0.5, (80, 2))])
    lattice = np.stack(np.meshgrid(np.arange(20), np.arange(10)), axis=-1).reshape(-1, 1, 2) * 6.0
    many = (lattice + rng.normal(0, 0.5, (200, 30, 2))).reshape(-1, 2)
    wide = rng.normal(size=(60, 400))
    wide[:30] += 3
    weights = np.where(np.arange(len(X)) % 7 == 0, 0.0, 2.0)
    line = np.concatenate([rng.normal(0, 1, 200), rng.normal(5, 1, 100)])[:, None]
    return {
        "local": QuickShift().fit(X),
        "kernel": QuickShift(bandwidth=0.4).fit(X),
        "paper": QuickShift(bandwidth=0.4, tau=1.5, kernel="epanechnikov").fit(X),
        "one tree": QuickShift(bandwidth=0.4, tau=np.inf).fit(X),
        "tau zero": QuickShift(bandwidth=0.4, tau=0.0).fit(X),
        "strict": QuickShift(bandwidth=1.0, tau=1.0, ties="strict").fit(np.round(X)),
        "one cluster": QuickShift().fit(rng.normal(size=(200, 2))),
        "one point": QuickShift().fit([[1.0, 2.0]]),
        "two points": QuickShift().fit([[1.0, 2.0], [1.0, 3.0]]),
        "duplicates": QuickShift().fit(np.repeat(blobs(40, centers=2, seed=0)[0], 3, axis=0)),
        "200 clusters": QuickShift().fit(many),
        "periodic": QuickShift(period=[10.0, 10.0]).fit(around),
        "weights": QuickShift().fit(X, sample_weight=weights),
        "underflow": QuickShift().fit(wide),
        "line": QuickShift(bandwidth=0.4, tau=1.0).fit(line),
        "local line": QuickShift().fit(line),
        "constant": QuickShift().fit(np.full((5, 2), 3.0)),
    }
