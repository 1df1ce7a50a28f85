"""The data that rows are measured on, as functions of the number of points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import choices
from quickshift import datasets

Points = NDArray[np.float64]


def blobs(n: int, d: int) -> Points:
    """Draw from twenty Gaussians of deviation one, with centers in [-20, 20]^d; most rows do."""
    return datasets.blobs(n, d, seed=0)[0]


def seeded_blobs(n: int, seed: int) -> Points:
    """Draw blobs in the plane from a seed."""
    return datasets.blobs(n, 2, seed=seed)[0]


def boxed_blobs(n: int, seed: int) -> Points:
    """Draw blobs in three dimensions from a seed, as scikit-learn does."""
    from sklearn.datasets import make_blobs

    drawn = make_blobs(n, 3, centers=20, center_box=(-20, 20), random_state=seed)
    return np.ascontiguousarray(drawn[0])


def student(n: int, d: int, seed: int) -> Points:
    """Draw from a Student t distribution with 2.5 degrees of freedom."""
    return np.random.default_rng(seed).standard_t(2.5, size=(n, d))


def curve(n: int, seed: int) -> Points:
    """Draw from a curve in three dimensions, with noise."""
    return choices.curve(np.random.default_rng(seed), n, 3)


def one_gaussian(n: int, d: int) -> Points:
    """Draw from one Gaussian of deviation one."""
    return np.random.default_rng(0).normal(size=(n, d))


def spread_seeds(n: int, variant: Any) -> Points:
    """Draw from a random walk with restarts (seed spreader), in units of the smallest radius."""
    return datasets.seed_spreader(n, 3, variant=variant, seed=0)[0] / 100


def square(n: int) -> Points:
    """Draw uniformly in a square, with about one point per unit of area."""
    return np.random.default_rng(4).uniform(0, n**0.5, size=(n, 2))


def moons(n: int) -> Points:
    """Draw from two interleaved half circles."""
    return datasets.moons(n, seed=0)[0]


def circles(n: int) -> Points:
    """Draw from two concentric circles."""
    return datasets.circles(n, seed=0)[0]


# --- adversarial: each has made some tree or some search fail or become very slow ----------------


def equal(n: int) -> Points:
    """Return n equal points."""
    return np.ones((n, 2))


def few_distinct(n: int) -> Points:
    """Draw n points from one thousand distinct ones."""
    return blobs(1000, 2)[np.random.default_rng(1).integers(1000, size=n)]


def constant_column(n: int) -> Points:
    """Return blobs with a third, constant coordinate."""
    return np.column_stack([blobs(n, 2), np.full(n, 3.0)])


def square_lattice(n: int) -> Points:
    """Return a lattice: densities are tied, and neighbors are at distance exactly one."""
    return datasets.lattice(round(n**0.5), 2)


def offset(n: int) -> Points:
    """Return blobs far from the origin: the offset uses half the digits of each coordinate."""
    return blobs(n, 2) + 1e8


def far_outlier(n: int) -> Points:
    """Return blobs with one far outlier, which stretches every bounding box around it."""
    X = blobs(n, 2)
    X[0] = 1e9
    return X


def collinear(n: int) -> Points:
    """Draw points on a line in ten dimensions that is oblique to every axis."""
    rng = np.random.default_rng(2)
    return rng.uniform(0, 100, n)[:, None] * rng.standard_normal(10)


def exponential_spacing(n: int) -> Points:
    """Draw clusters whose widths and distances from the origin grow by factors of ten."""
    rng = np.random.default_rng(3)
    scale = 10.0 ** rng.integers(-6, 6, size=n)
    return scale[:, None] * (1 + 0.1 * rng.standard_normal((n, 2)))


def nested_shells(n: int) -> Points:
    """Draw from ten nested spheres, the outer ones sparser: parents are far away, across a gap."""
    rng = np.random.default_rng(5)
    radius = rng.integers(1, 11, size=n)[:, None]
    directions = rng.standard_normal((n, 3))
    return 3.0 * radius * directions / np.linalg.norm(directions, axis=1)[:, None]


def tied_plateaus(n: int) -> Points:
    """Return squares of lattice points: each is a plateau of ties whose parent is far away."""
    side = 32
    cell = datasets.lattice(side, 2)
    corners = datasets.lattice(max(1, round((n / len(cell)) ** 0.5)), 2)
    return (corners[:, None, :] * (4.0 * side) + cell[None, :, :]).reshape(-1, 2)


MODAL_SHARE = 0.01  # area of the window of a query, as a fraction of the unit square


def modal_radius() -> float:
    """Return the radius of a disc of that area, which has 1000 of 100 000 samples."""
    return float(np.sqrt(MODAL_SHARE / np.pi))


def modal_queries(count: int) -> NDArray[np.float64]:
    """Draw queries uniformly in the unit square."""
    return np.random.default_rng(1).random((count, 2))


def branches(n: int) -> NDArray[np.float64]:
    """Draw two features in the unit square and a response near one of two waves; (n, 3)."""
    rng = np.random.default_rng(0)
    X = rng.random((n, 2))
    upper = 1 + 0.5 * np.sin(2 * np.pi * X[:, 0])
    lower = -1 + 0.5 * np.cos(2 * np.pi * X[:, 1])
    y = np.where(rng.random(n) < 0.6, upper, lower) + 0.2 * rng.standard_normal(n)
    return np.column_stack([X, y])


def photo(n: int) -> NDArray[np.float64]:
    """Return scikit-image's astronaut, 512 x 512 pixels, or an image of n pixels tiled with it.

    The larger image has the aspect ratio 16:9. Its tiles are the astronaut and its mirror images;
    the tile in the first corner is the astronaut itself.
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


def photo_single(n: int) -> NDArray[np.float32]:
    """Return the same picture in single precision."""
    return photo(n).astype(np.float32)
