"""Sampling from a mixture, and arrays that cannot be changed."""

from collections.abc import Callable

import numpy as np

from quickshift.arrays import Floats, Indices
from quickshift.checks.datasets import Seed, check_seed
from quickshift.checks.numbers import check_whole

__all__ = ["draw", "frozen"]


def frozen(array: Floats) -> Floats:
    """Return a read-only copy of ``array``."""
    copy = np.array(array, dtype=np.float64)
    copy.setflags(write=False)
    return copy


def draw(
    weights: Floats,
    draw_component: Callable[[int, int, np.random.Generator], Floats],
    n: int,
    d: int,
    seed: Seed,
) -> tuple[Floats, Indices]:
    """Draw ``n`` points from a mixture; return them and the index of each point's component.

    ``draw_component(c, m, rng)`` draws m points from component c, of shape (m, d).
    """
    n = check_whole(n, "n", 0)
    rng = check_seed(seed)
    labels = rng.choice(len(weights), size=n, p=weights)
    X = np.empty((n, d))
    for c in range(len(weights)):
        mine = labels == c
        X[mine] = draw_component(c, int(mine.sum()), rng)
    return X, labels.astype(np.int64)
