"""Data and comparisons of fits that the tests of QuickShift share."""

import numpy as np
import pytest

from quickshift import kernels

KERNELS = tuple(kernels.KERNELS)
RULES = ("auto", "paper", "scott", "silverman", "cv")
RESULTS = (
    "labels_",
    "mode_indices_",
    "modes_",
    "density_",
    "log_density_",
    "parent_",
    "parent_distance_",
    "bandwidth_",
    "tau_",
    "n_clusters_",
)


def blobs(seed=0, n=60, d=2):
    """Draw three overlapping clouds of distinct points."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + 4.0 * rng.integers(0, 3, size=(n, 1))


def with_duplicates(seed=0):
    rng = np.random.default_rng(seed)
    return rng.permutation(np.repeat(blobs(seed, 25), rng.integers(1, 5, size=25), axis=0))


def lattice(seed=0):
    """Draw integer points, with many duplicate rows and many equal distances and densities."""
    return np.random.default_rng(seed).integers(0, 9, size=(60, 2)).astype(float)


def queries_for(X):
    """Draw queries among the samples, halfway between two of them, equal to them and far away."""
    rng = np.random.default_rng(8)
    among = rng.uniform(X.min() - 2, X.max() + 2, size=(60, X.shape[1]))
    halfway = 0.5 * (rng.permutation(X)[:40] + rng.permutation(X)[:40])
    return np.concatenate([among, halfway, X[:10], rng.normal(size=(5, X.shape[1])) * 1e3])


def assert_same_fit(a, b):
    for name in RESULTS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


DATA = {
    "blobs": blobs(),
    "duplicates": with_duplicates(),
    "lattice": lattice(),
    "line": blobs(1, 60, 1),
    "five features": blobs(2, 60, 5),
}
EVERY_DATA = pytest.mark.parametrize("X", DATA.values(), ids=DATA)
EVERY_KERNEL = pytest.mark.parametrize("kernel", KERNELS)
