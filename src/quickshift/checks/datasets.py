"""Checks of the arguments of `quickshift.datasets`: seeds, mixtures, shapes and intervals."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from quickshift.arrays import Floats
from quickshift.checks.numbers import described, shown
from quickshift.checks.points import check_numbers

__all__ = [
    "Seed",
    "check_component_means",
    "check_component_weights",
    "check_corners",
    "check_covariances",
    "check_generator",
    "check_locations",
    "check_pairs",
    "check_seed",
    "check_shapes",
    "check_single_x",
    "check_vector",
    "check_x_inside",
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


def check_generator(rng: Any) -> np.random.Generator:
    """Return a random generator, and raise for anything else."""
    if not isinstance(rng, np.random.Generator):
        raise TypeError(
            f"rng is {described(rng)}, expected a numpy.random.Generator. Pass "
            f"numpy.random.default_rng(0)."
        )
    return rng


def check_vector(values: Sequence[float], name: str) -> tuple[float, ...]:
    """Return the coordinates of one point as a tuple of finite floats."""
    vector = check_numbers(values, name, "(d,)")
    if vector.ndim != 1 or vector.size == 0 or not np.isfinite(vector).all():
        raise ValueError(
            f"{name} is {values!r}, expected one finite number per coordinate. Write (0.0, 1.0) "
            f"for a point in two dimensions, or (0.0,) for a point in one."
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
            f"coordinates in which it is not."
        )
    return a, b


def check_shapes(shapes: Any) -> None:
    """Raise unless there is at least one shape and all shapes have the same dimension."""
    if not isinstance(shapes, list | tuple) or not all(hasattr(s, "center") for s in shapes):
        raise TypeError(
            f"shapes is {shown(shapes)}, expected a list of shapes. Pass for example "
            f"[Ball((0.0, 0.0)), Box((3.0, 0.0), (4.0, 1.0))]."
        )
    dimensions = sorted({len(shape.center) for shape in shapes})
    if len(dimensions) != 1:
        raise ValueError(
            f"shapes have dimensions {dimensions}, expected at least one shape and the same "
            f"dimension for all. Give every center and corner the same number of coordinates."
        )


def check_locations(X: ArrayLike, n_features: int) -> Floats:
    """Return the points at which a density is evaluated, shape (m, n_features).

    If there is only one feature, X may also have shape (m,).
    """
    points = np.asarray(check_numbers(X, "X", f"(m, {n_features})"), dtype=np.float64)
    if points.ndim == 1 and n_features == 1:
        points = points[:, None]
    if points.ndim != 2 or points.shape[1] != n_features:
        raise ValueError(
            f"X has shape {np.shape(X)}, expected (m, {n_features}): one row per point. Wrap a "
            f"single point in a list."
        )
    return points


def check_component_means(means: ArrayLike) -> Floats:
    """Return the means of a mixture, shape (k, d); shape (k,) is accepted in one dimension."""
    centers = np.asarray(check_numbers(means, "means", "(k, d)"), dtype=np.float64)
    centers = centers[:, None] if centers.ndim == 1 else centers
    if centers.ndim != 2 or centers.size == 0 or not np.isfinite(centers).all():
        raise ValueError(
            f"means has shape {np.shape(means)}, expected finite numbers of shape (k, d): one row "
            f"per component. In one dimension, shape (k,) is accepted too."
        )
    return centers


def check_covariances(covariances: ArrayLike, k: int, d: int) -> Floats:
    """Return one positive definite matrix per component, shape (k, d, d).

    Accepted are one variance for all components, one variance per component, the diagonals of the
    matrices, or the matrices themselves.
    """
    given = np.asarray(check_numbers(covariances, "covariances", "(k, d, d)"), dtype=np.float64)
    if given.ndim <= 1 and given.shape in {(), (k,)}:
        full = np.broadcast_to(given, (k,))[:, None, None] * np.eye(d)
    elif given.shape == (k, d):
        full = given[:, :, None] * np.eye(d)
    elif given.shape == (k, d, d):
        full = given
    else:
        raise ValueError(
            f"covariances has shape {given.shape}, expected (), ({k},), ({k}, {d}) or "
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
    """Return one weight per component, normalized to sum to one; None stands for equal weights."""
    raw = np.ones(n_components)
    if weights is not None:
        raw = np.asarray(check_numbers(weights, "weights", "(k,)"), dtype=np.float64)
    if raw.shape != (n_components,) or not (np.isfinite(raw).all() and (raw > 0).all()):
        raise ValueError(
            f"weights is {weights!r}, expected {n_components} positive numbers: one per component. "
            f"Remove a component instead of giving it weight zero."
        )
    normalized: Floats = raw / raw.sum()
    return normalized


def check_x_inside(x: Floats, low: float, high: float) -> None:
    """Raise if an x lies outside the interval on which the conditional density is defined."""
    outside = ~((x >= low) & (x <= high))
    if outside.any():
        raise ValueError(
            f"x is {x[outside].flat[0]}, expected a number in [{low}, {high}]: f(y | x) is "
            f"not defined elsewhere. Restrict x to this interval."
        )


def check_pairs(x: ArrayLike, y: ArrayLike) -> list[Floats]:
    """Return the x and y at which a density is evaluated, broadcast against each other."""
    pairs = [check_numbers(values, name, "(m,)") for name, values in (("x", x), ("y", y))]
    try:
        return list(np.broadcast_arrays(*(np.asarray(p, dtype=np.float64) for p in pairs)))
    except ValueError as error:
        shapes = " and ".join(f"{p.shape}" for p in pairs)
        raise ValueError(
            f"x and y have the shapes {shapes}, expected the same shape, or shapes that NumPy can "
            f"broadcast."
        ) from error


def check_single_x(x: ArrayLike) -> Floats:
    """Return a single x as an array of one entry."""
    array = np.asarray(check_numbers(x, "x", "()"), dtype=np.float64)
    if array.size != 1:
        raise ValueError(
            f"x has shape {array.shape}, expected a single number: the number of modes depends on "
            f"x. Call this once for each x."
        )
    return array
