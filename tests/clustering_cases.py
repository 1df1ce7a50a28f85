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

# Significances of modes in falling order, and how many of them the rule for local scale keeps if
# the significance that chance rarely exceeds is Z0 = 2.
GAPS = [
    ([np.inf], 1),
    ([np.inf, 1.9, 1.0], 1),  # none reaches Z0
    ([np.inf, 1.99, 0.1], 1),
    ([np.inf, 9, 8, 3, 2.9, 1.95, 1.35], 3),  # 8 / 3 is the last ratio of at least 1.5 ...
    ([np.inf, 9, 3, 2.2, 1.0], 4),  # ... and here 2.2 / 1.0, although 9 / 3 is larger
    ([np.inf, 9, 3, 2.2, 1.6, 1.3], 2),
    ([np.inf, 3, 2.5, 2.2, 2.0], 5),  # nothing comes after the last, whose ratio is large
    ([np.inf, 3, 2, 0.1], 3),  # 2 / 0.5, because significances below Z0 / 4 count as Z0 / 4
    ([np.inf, 4.5, 3.0, 2.1, 2.0], 5),
    ([np.inf, 4.5, 3.0, 2.1, 1.6, 1.3], 2),  # a ratio of exactly 1.5 counts
    # A mode of at least 0.8 Z0 stays if its ratio is at least 2. At the end it is 1.95 / 0.5.
    ([np.inf, 9, 8, 3, 2.9, 1.95], 6),
    ([np.inf, 9, 3, 2.2, 1.9], 5),
    ([np.inf, 3, 2.5, 2.2, 2.0, 1.9], 6),
    ([np.inf, 4.5, 3.0, 2.1, 1.9], 5),
    ([np.inf, np.inf, 3, 1.9], 4),
    ([np.inf, 9, 1.6, 0.8], 3),  # exactly 0.8 Z0, and a ratio of exactly 2
    ([np.inf, 9, 1.6, 0.81], 2),
    ([np.inf, 9, 1.59, 0.1], 2),
    # Without a ratio of at least 1.1, all from Z0 on stay; with one, those before the largest.
    ([np.inf, *(3 / 1.05**i for i in range(25))], 10),
    ([np.inf, 3, *(2.2 / 1.05**i for i in range(20))], 2),
    (
        [np.inf, 3.5, *(2.9 / 1.05**i for i in range(20))],
        10,
    ),  # one is less than a quarter
    # No gap comes before a mode of at least twice Z0.
    ([np.inf, 40, 4.0, 2.9, 2.1, 1.6, 0.7], 6),
    ([np.inf, 40, 3.9, 2.8, 2.1, 1.6, 1.2], 2),
    # If no ratio is large enough, the largest of those that may be a gap decides.
    ([np.inf, 20, 5, 3.9, 3, 2.2, 1.6, 1.2], 6),
    ([np.inf, 3, 2.5, 2.2, 2.0, 1.6, 1.3], 5),
    ([np.inf, 3, 2.5, 2.1, 1.7, 1.2], 5),
    ([np.inf, np.inf, 3, 2.2, 1.6, 1.2], 4),
]
