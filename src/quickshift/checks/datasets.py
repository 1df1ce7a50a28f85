"""Checks of the arguments of `quickshift.datasets`: seeds, mixtures, shapes and intervals."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from quickshift.arrays import Floats
from quickshift.checks.numbers import check_least

__all__ = [
    "Seed",
    "check_component_means",
    "check_component_weights",
    "check_corners",
    "check_covariances",
    "check_inside",
    "check_locations",
    "check_noise",
    "check_same_dimension",
    "check_seed",
    "check_single",
    "check_vector",
]

Seed = int | np.random.Generator


def check_seed(seed: Seed) -> np.random.Generator:
    """Return a random generator: the given one, or a new one seeded with the given integer."""
    if isinstance(seed, np.random.Generator):
        return seed
    if not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(
            f"seed is {seed!r}, expected a whole number of at least 0 or a numpy.random.Generator. "
            f"Use seed=0, or numpy.random.default_rng() for different data in every call."
        )
    return np.random.default_rng(int(seed))


def check_noise(noise: float) -> float:
    """Return the standard deviation of noise: a finite number of at least 0."""
    expected = "a finite number of at least 0"
    deviation = check_least(noise, "noise", expected)
    if np.isinf(deviation):
        raise ValueError(f"noise is {noise!r}, expected {expected}.")
    return deviation


def check_vector(values: Sequence[float], name: str) -> tuple[float, ...]:
    """Return the coordinates of one point as a tuple of finite floats."""
    vector = np.asarray(values, dtype=np.float64)
    if vector.ndim != 1 or vector.size == 0 or not np.isfinite(vector).all():
        raise ValueError(
            f"{name} is {values!r}, expected one finite number per coordinate. Write (0.0, 1.0) "
            f"for a point in the plane, or (0.0,) for a point on the line."
        )
    return tuple(vector.tolist())


def check_corners(
    low: Sequence[float], high: Sequence[float]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the opposite corners of a box, where ``low`` is below ``high`` in every coordinate."""
    a, b = check_vector(low, "low"), check_vector(high, "high")
    if len(a) != len(b) or any(x >= y for x, y in zip(a, b, strict=True)):
        raise ValueError(
            f"low is {a} and high is {b}, expected low below high in every coordinate. Swap the "
            f"coordinates where it is not."
        )
    return a, b


def check_same_dimension(centers: Sequence[Sequence[float]]) -> None:
    """Raise unless there is at least one shape and all shapes have the same dimension."""
    dimensions = sorted({len(center) for center in centers})
    if len(dimensions) != 1:
        raise ValueError(
            f"shapes have dimensions {dimensions}, expected at least one shape and the same "
            f"dimension for all. Give every center and corner the same number of coordinates."
        )


def check_locations(X: ArrayLike, n_features: int) -> Floats:
    """Return the points where a density is evaluated, shape (m, n_features).

    With one feature, a flat array holds one point per entry.
    """
    points = np.asarray(X, dtype=np.float64)
    if points.ndim == 1 and n_features == 1:
        points = points[:, None]
    if points.ndim != 2 or points.shape[1] != n_features:
        raise ValueError(
            f"X has shape {np.shape(X)}, expected (m, {n_features}): one row per point. Wrap a "
            f"single point in a list."
        )
    return points


def check_component_means(means: ArrayLike) -> Floats:
    """Return the means of a mixture, shape (k, d); a flat array is a mixture on the line."""
    centers = np.asarray(means, dtype=np.float64)
    centers = centers[:, None] if centers.ndim == 1 else centers
    if centers.ndim != 2 or centers.size == 0 or not np.isfinite(centers).all():
        raise ValueError(
            f"means has shape {np.shape(means)}, expected finite numbers of shape (k, d): one row "
            f"per component. Use shape (k,) for a mixture on the line."
        )
    return centers


def check_covariances(covariances: ArrayLike, k: int, d: int) -> Floats:
    """Return numbers, diagonals or matrices as positive definite matrices, shape (k, d, d)."""
    given = np.asarray(covariances, dtype=np.float64)
    if given.ndim <= 1 and given.shape in {(), (k,)}:
        full = np.broadcast_to(given, (k,))[:, None, None] * np.eye(d)
    elif given.shape == (k, d):
        full = given[:, :, None] * np.eye(d)
    elif given.shape == (k, d, d):
        full = given
    else:
        raise ValueError(
            f"covariances has shape {given.shape}, expected one number, ({k},), ({k}, {d}) or "
            f"({k}, {d}, {d}) for {k} components in {d} dimensions. Give one entry per component."
        )
    try:
        np.linalg.cholesky(full)
    except np.linalg.LinAlgError:
        good = False
    else:
        good = bool(np.isfinite(full).all()) and np.allclose(full, full.swapaxes(1, 2))
    if not good:
        raise ValueError(
            "covariances has entries that are not symmetric and positive definite, expected "
            "variances above zero. Square standard deviations, and drop constant coordinates."
        )
    return full


def check_component_weights(weights: ArrayLike | None, n_components: int) -> Floats:
    """Return one share per component, scaled to sum to one; None makes them equal."""
    raw = np.ones(n_components) if weights is None else np.asarray(weights, dtype=np.float64)
    if raw.shape != (n_components,) or not (np.isfinite(raw).all() and (raw > 0).all()):
        raise ValueError(
            f"weights is {weights!r}, expected {n_components} positive numbers: one per component. "
            f"Remove a component instead of giving it weight zero."
        )
    normalized: Floats = raw / raw.sum()
    return normalized


def check_inside(x: Floats, low: float, high: float) -> None:
    """Raise where x lies outside the interval on which a conditional density is defined."""
    outside = ~((x >= low) & (x <= high))
    if outside.any():
        raise ValueError(
            f"x is {x[outside].flat[0]}, expected a number in [{low}, {high}]: elsewhere f(y | x) "
            f"is not defined. Keep x in the interval."
        )


def check_single(x: ArrayLike) -> Floats:
    """Return a single number as an array of one entry."""
    array = np.asarray(x, dtype=np.float64)
    if array.size != 1:
        raise ValueError(
            f"x has shape {array.shape}, expected a single number: the number of modes depends on "
            f"x. Call this once for each x."
        )
    return array
