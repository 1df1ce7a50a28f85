"""The one place where the arguments of `quickshift.datasets` are checked."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from quickshift.arrays import Floats, Indices

Seed = int | np.random.Generator


def as_generator(seed: Seed) -> np.random.Generator:
    """Return the generator that ``seed`` stands for."""
    if isinstance(seed, np.random.Generator):
        return seed
    if not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(
            f"seed is {seed!r}; expected a non-negative integer or a numpy.random.Generator: "
            "pass seed=0, or numpy.random.default_rng() for other data at every call"
        )
    return np.random.default_rng(int(seed))


def as_count(value: int, name: str = "n", *, least: int = 0) -> int:
    """Return ``value`` as an int that is at least ``least``."""
    try:
        count = operator.index(value)
    except TypeError:
        raise TypeError(
            f"{name} is {value!r}; expected an integer: write int({name}) if it is a whole number"
        ) from None
    if count < least:
        raise ValueError(f"{name} is {count}; expected at least {least}")
    return count


def as_number(value: float, name: str, *, above: float = -np.inf, below: float = np.inf) -> float:
    """Return ``value`` as a finite float strictly between ``above`` and ``below``."""
    number = float(value)
    if not (np.isfinite(number) and above < number < below):
        raise ValueError(f"{name} is {value!r}; expected a finite number in ({above}, {below})")
    return number


def as_vector(values: Sequence[float], name: str) -> tuple[float, ...]:
    """Return ``values`` as a tuple of finite floats, one for each coordinate."""
    vector = np.asarray(values, dtype=np.float64)
    if vector.ndim != 1 or vector.size == 0 or not np.isfinite(vector).all():
        raise ValueError(
            f"{name} is {values!r}; expected one finite number for each coordinate, "
            "such as (0.0, 1.0) in the plane or (0.0,) on the line"
        )
    return tuple(vector.tolist())


def as_points(X: ArrayLike, d: int) -> Floats:
    """Return ``X`` as (m, d) floats; a flat array is m points where d = 1."""
    points = np.asarray(X, dtype=np.float64)
    if points.ndim == 1 and d == 1:
        points = points[:, None]
    if points.ndim != 2 or points.shape[1] != d:
        raise ValueError(
            f"X has shape {np.shape(X)}; expected (m, {d}): "
            "one row a point, so wrap a single point in a list"
        )
    return points


def as_weights(weights: ArrayLike | None, k: int) -> Floats:
    """Return ``k`` read-only weights that sum to one; None makes them equal."""
    raw = np.ones(k) if weights is None else np.asarray(weights, dtype=np.float64)
    if raw.shape != (k,) or not (np.isfinite(raw).all() and (raw > 0).all()):
        raise ValueError(
            f"weights are {weights!r}; expected {k} positive numbers, one a component: "
            "leave out a component to give it weight zero"
        )
    return frozen(raw / raw.sum())


def frozen(array: Floats) -> Floats:
    """Return a copy of ``array`` that cannot be written to."""
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
    """Draw ``n`` points of a mixture; ``draw_component(c, m, rng)`` gives m of component c."""
    n = as_count(n)
    rng = as_generator(seed)
    labels = rng.choice(len(weights), size=n, p=weights)
    X = np.empty((n, d))
    for c in range(len(weights)):
        mine = labels == c
        X[mine] = draw_component(c, int(mine.sum()), rng)
    return X, labels.astype(np.int64)
