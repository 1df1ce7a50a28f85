"""The points that rows are measured on, each a function of their number."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickshift import datasets

Points = NDArray[np.float64]


def blobs(n: int, d: int) -> Points:
    """Twenty Gaussians of deviation one, centres in [-20, 20]^d: what most rows use."""
    return datasets.blobs(n, d, seed=0)[0]


def spread_seeds(n: int, variant: Any) -> Points:
    """Walk with restarts, in units of the smallest radius."""
    return datasets.seed_spreader(n, 3, variant=variant, seed=0)[0] / 100


def square(n: int) -> Points:
    """Uniform in a square, about one point a unit of area."""
    return np.random.default_rng(4).uniform(0, n**0.5, size=(n, 2))


def moons(n: int) -> Points:
    """Two interleaved half circles."""
    return datasets.moons(n, seed=0)[0]


def circles(n: int) -> Points:
    """Put a circle inside another."""
    return datasets.circles(n, seed=0)[0]


# --- adversarial: each has stopped or spoiled some tree or some search ---------------------------


def equal(n: int) -> Points:
    """All points in one place."""
    return np.ones((n, 2))


def few_distinct(n: int) -> Points:
    """One thousand places, taken again and again."""
    return blobs(1000, 2)[np.random.default_rng(1).integers(1000, size=n)]


def constant_column(n: int) -> Points:
    """Blobs with a coordinate that says nothing."""
    return np.column_stack([blobs(n, 2), np.full(n, 3.0)])


def square_lattice(n: int) -> Points:
    """Every density tied, every distance exactly one."""
    return datasets.lattice(round(n**0.5), 2)


def offset(n: int) -> Points:
    """Far from the origin: half of every coordinate's digits are the offset."""
    return blobs(n, 2) + 1e8


def far_outlier(n: int) -> Points:
    """One point stretches every bounding box."""
    X = blobs(n, 2)
    X[0] = 1e9
    return X


def collinear(n: int) -> Points:
    """One line in ten dimensions, askew to every axis."""
    rng = np.random.default_rng(2)
    return rng.uniform(0, 100, n)[:, None] * rng.standard_normal(10)


def exponential_spacing(n: int) -> Points:
    """Clusters at distances and of widths that grow by a factor of ten."""
    rng = np.random.default_rng(3)
    scale = 10.0 ** rng.integers(-6, 6, size=n)
    return scale[:, None] * (1 + 0.1 * rng.standard_normal((n, 2)))


def nested_shells(n: int) -> Points:
    """Ten spheres in one another, the outer ones thinner: parents lie across the gap, far away."""
    rng = np.random.default_rng(5)
    radius = rng.integers(1, 11, size=n)[:, None]
    directions = rng.standard_normal((n, 3))
    return 3.0 * radius * directions / np.linalg.norm(directions, axis=1)[:, None]


def tied_plateaus(n: int) -> Points:
    """Squares of lattice points: each one plateau of equal densities whose parent is far away."""
    side = 32
    cell = datasets.lattice(side, 2)
    corners = datasets.lattice(max(1, round((n / len(cell)) ** 0.5)), 2)
    return (corners[:, None, :] * (4.0 * side) + cell[None, :, :]).reshape(-1, 2)


MODAL_SHARE = 0.01  # of the square, in which samples reach a query


def modal_radius() -> float:
    """Radius of the disc that has that share: a thousand samples of a hundred thousand."""
    return float(np.sqrt(MODAL_SHARE / np.pi))


def modal_queries(count: int) -> NDArray[np.float64]:
    """Draw queries in the unit square."""
    return np.random.default_rng(1).random((count, 2))


def branches(n: int) -> NDArray[np.float64]:
    """Two features in the unit square and a response on one of two waves over them; (n, 3)."""
    rng = np.random.default_rng(0)
    X = rng.random((n, 2))
    upper = 1 + 0.5 * np.sin(2 * np.pi * X[:, 0])
    lower = -1 + 0.5 * np.cos(2 * np.pi * X[:, 1])
    y = np.where(rng.random(n) < 0.6, upper, lower) + 0.2 * rng.standard_normal(n)
    return np.column_stack([X, y])


def photo(n: int) -> NDArray[np.float64]:
    """Take scikit-image's astronaut, 512 x 512 colors, or mirror images of it on n pixels of 16:9.

    Of these the first, in the corner, is the astronaut itself.
    """
    from skimage.data import astronaut

    image = astronaut() / 255.0
    if n <= image.shape[0] * image.shape[1]:
        return image
    rows = round((n * 9 / 16) ** 0.5)
    columns = round(n / rows)
    pair = np.hstack([image, image[:, ::-1]])
    mirrored = np.vstack([pair, pair[::-1]])
    times = -(-rows // mirrored.shape[0]), -(-columns // mirrored.shape[1]), 1
    return np.ascontiguousarray(np.tile(mirrored, times)[:rows, :columns])
