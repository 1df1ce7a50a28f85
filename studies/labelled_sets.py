"""Data sets with known clusters, on which clusterings are scored.

The list was fixed before anything was measured on it and must not be changed, because a rule that
is tuned to its test data proves nothing. Simulated sets are drawn again for each seed; of a real
data set, each seed selects four fifths of the rows. Label -1 is noise: these points are clustered
with the others, but are left out of the score.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets as sklearn_datasets
from sklearn.preprocessing import StandardScaler

__all__ = ["SETS"]

LabeledData = tuple[NDArray[np.float64], NDArray[np.int64]]


def _concatenated(parts: list[NDArray[np.float64]]) -> LabeledData:
    """Concatenate the parts, with one label per part."""
    labels = [np.full(len(part), label) for label, part in enumerate(parts)]
    return np.concatenate(parts), np.concatenate(labels)


def _with_noise(data: LabeledData, n: int, rng: np.random.Generator) -> LabeledData:
    """Add n uniform points in the bounding box, extended by a tenth on each side."""
    X, y = data
    low, high = X.min(axis=0), X.max(axis=0)
    noise = rng.uniform(low - 0.1 * (high - low), high + 0.1 * (high - low), size=(n, X.shape[1]))
    return np.concatenate([X, noise]), np.concatenate([y, np.full(n, -1)])


def _blobs(n: int, centers: int, d: int, spread: float, seed: int) -> LabeledData:
    X, y = sklearn_datasets.make_blobs(n, d, centers=centers, cluster_std=spread, random_state=seed)
    return X, y.astype(np.int64)


def _gaussians(
    centers: list[list[float]], sizes: list[int], spreads: list[float], seed: int
) -> LabeledData:
    rng = np.random.default_rng(seed)
    parts = zip(centers, sizes, spreads, strict=True)
    return _concatenated([rng.normal(c, s, size=(n, len(c))) for c, n, s in parts])


def _unequal_sizes(seed: int) -> LabeledData:
    return _gaussians([[0, 0], [6, 0], [0, 6], [6, 6]], [1000, 300, 100, 50], [1, 1, 1, 1], seed)


def _unequal_spreads(seed: int) -> LabeledData:
    return _gaussians([[-8, -5], [0, 4], [6, -4]], [400, 400, 400], [1.0, 2.5, 0.5], seed)


def _different_densities(seed: int) -> LabeledData:
    centers = [[0, 0], [4, 0], [0, 12], [14, 10]]
    return _gaussians(centers, [500, 500, 250, 250], [0.4, 0.6, 1.5, 3.0], seed)


def _overlapping(seed: int) -> LabeledData:
    return _gaussians([[0, 0], [3.5, 0], [1.75, 3]], [400, 400, 400], [1, 1, 1], seed)


def _outliers(seed: int) -> LabeledData:
    rng = np.random.default_rng(seed)
    X, y = _gaussians([[0, 0], [7, 0]], [300, 300], [1, 1], seed)
    far = rng.normal(size=(6, 2)) * 40
    return np.concatenate([X, far]), np.concatenate([y, np.full(6, -1)])


def _anisotropic(seed: int) -> LabeledData:
    X, y = _blobs(900, 3, 2, 1.0, seed)
    return X @ np.array([[0.6, -0.6], [-0.4, 0.8]]), y


def _moons(noise: float, seed: int) -> LabeledData:
    X, y = sklearn_datasets.make_moons(800, noise=noise, random_state=seed)
    return X, y.astype(np.int64)


def _circles(seed: int) -> LabeledData:
    X, y = sklearn_datasets.make_circles(1000, noise=0.05, factor=0.5, random_state=seed)
    return X, y.astype(np.int64)


def _nested(seed: int) -> LabeledData:
    """Draw a blob inside a ring inside another ring."""
    rng = np.random.default_rng(seed)
    parts = [rng.normal(0, 0.3, size=(200, 2))]
    for radius, n in ((2.0, 400), (4.0, 800)):
        angle = rng.uniform(0, 2 * np.pi, n)
        ring = radius * np.column_stack([np.cos(angle), np.sin(angle)])
        parts.append(ring + rng.normal(0, 0.15, size=(n, 2)))
    return _concatenated(parts)


def _filaments(seed: int) -> LabeledData:
    """Draw samples along three thin curves: a line, an arc and a wave."""
    rng = np.random.default_rng(seed)
    t = [rng.uniform(0, 1, 400) for _ in range(3)]
    curves = [
        np.column_stack([10 * t[0], 4 + 0 * t[0]]),
        np.column_stack([3 * np.cos(np.pi * t[1]), 3 * np.sin(np.pi * t[1])]),
        np.column_stack([5 + 8 * t[2], np.sin(2 * np.pi * t[2]) - 1]),
    ]
    return _concatenated([curve + rng.normal(0, 0.08, curve.shape) for curve in curves])


def _spirals(seed: int) -> LabeledData:
    rng = np.random.default_rng(seed)
    parts = []
    for turn in (0.0, 2 * np.pi / 3, 4 * np.pi / 3):
        t = np.sqrt(rng.uniform(0.05, 1, 400)) * 2 * np.pi
        arm = np.column_stack([t * np.cos(t + turn), t * np.sin(t + turn)])
        parts.append(arm + rng.normal(0, 0.2, arm.shape))
    return _concatenated(parts)


def _noisy_blobs(seed: int) -> LabeledData:
    return _with_noise(_blobs(1000, 5, 2, 0.6, seed), 200, np.random.default_rng([seed, 1]))


def _noisy_moons(seed: int) -> LabeledData:
    return _with_noise(_moons(0.05, seed), 120, np.random.default_rng([seed, 1]))


def _torus_and_ball(seed: int) -> LabeledData:
    """Draw a ring with a ball in its hole, in three dimensions."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, 800)
    ring = 3 * np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])
    return _concatenated([ring + rng.normal(0, 0.3, ring.shape), rng.normal(0, 0.4, size=(300, 3))])


def _real(load: Callable[..., LabeledData], *, scale: bool) -> Callable[[int], LabeledData]:
    """Return a function that selects four fifths of the rows of a real data set by seed."""

    def draw(seed: int) -> LabeledData:
        X, y = load(return_X_y=True)
        rows = np.random.default_rng(seed).permutation(len(X))[: 4 * len(X) // 5]
        X = StandardScaler().fit_transform(X[rows]) if scale else X[rows]
        return np.asarray(X, dtype=np.float64), y[rows].astype(np.int64)

    return draw


SETS: dict[str, Callable[[int], LabeledData]] = {
    "blobs": lambda seed: _blobs(1000, 5, 2, 1.0, seed),
    "many blobs": lambda seed: _blobs(3000, 15, 2, 0.5, seed),
    "blobs in 3": lambda seed: _blobs(1000, 6, 3, 1.0, seed),
    "blobs in 10": lambda seed: _blobs(1000, 5, 10, 2.0, seed),
    "small blobs": lambda seed: _blobs(150, 3, 2, 1.0, seed),
    "unequal sizes": _unequal_sizes,
    "unequal spreads": _unequal_spreads,
    "different densities": _different_densities,
    "overlapping": _overlapping,
    "outliers": _outliers,
    "anisotropic": _anisotropic,
    "moons": lambda seed: _moons(0.05, seed),
    "blurred moons": lambda seed: _moons(0.12, seed),
    "circles": _circles,
    "nested": _nested,
    "filaments": _filaments,
    "spirals": _spirals,
    "noisy blobs": _noisy_blobs,
    "noisy moons": _noisy_moons,
    "torus and ball": _torus_and_ball,
    "digits": _real(sklearn_datasets.load_digits, scale=False),
    "iris": _real(sklearn_datasets.load_iris, scale=True),
    "wine": _real(sklearn_datasets.load_wine, scale=True),
    "breast cancer": _real(sklearn_datasets.load_breast_cancer, scale=True),
}
