"""Estimates, queries and tolerances that the tests of densities share."""

import math

import numpy as np
import pytest

from cases import COMPACT, DIMENSIONS, INFINITE, KERNELS, KINDS, Case, Floats, distances
from quickshift import _core, reference
from quickshift.kernels import get_kernel
from quickshift.stages import Estimate, fit_estimate, prepare

EPSILON = np.finfo(float).eps
MODERATE = tuple(kind for kind in KINDS if not kind.startswith("scaled"))
every_kernel = pytest.mark.parametrize("kernel", KERNELS)
every_compact_kernel = pytest.mark.parametrize("kernel", COMPACT)
every_infinite_kernel = pytest.mark.parametrize("kernel", INFINITE)
every_dimension = pytest.mark.parametrize("d", DIMENSIONS)


def fit(case: Case, kernel: str, rtol: float = 1e-9, h: float | None = None) -> Estimate:
    samples = prepare(case.X, sample_weight=case.sample_weight, period=case.period)
    return fit_estimate(samples, h or case.bandwidth(kernel), kernel=kernel, rtol=rtol)


def tree_of(X: Floats, weights: Floats | None = None, period: Floats | None = None) -> _core.Tree:
    return prepare(X, sample_weight=weights, period=period).tree


def blobs(n: int, d: int, seed: int = 0) -> Floats:
    """Draw blobs of two densities, a sparse background and points far from all others."""
    rng = np.random.default_rng(seed)
    centers = rng.uniform(-8, 8, size=(5, d))
    X = centers[rng.integers(5, size=n)] + rng.normal(size=(n, d)) * rng.choice([0.1, 1], (n, 1))
    X[: n // 20] = rng.uniform(-12, 12, size=(n // 20, d))
    X[:3] = 40.0 + 25.0 * np.arange(3)[:, None]
    return X


def queries_near(case: Case, seed: int = 1) -> Floats:
    """Draw queries among the samples, about half of them equal to a sample."""
    rng = np.random.default_rng(seed)
    chosen = case.X[rng.integers(case.n, size=40)]
    return chosen + case.h * rng.normal(size=chosen.shape) * rng.integers(0, 2, size=(40, 1))


def expected_log(case: Case, kernel: str, queries: Floats | None = None) -> Floats:
    h = case.bandwidth(kernel)
    return reference.log_kernel_density(case.X, h, queries=queries, kernel=kernel, **case.given)


def rounding(case: Case, kernel: str, queries: Floats) -> Floats:
    """Allow each term a few units in the last place of k(0), because k is tiny near its edge."""
    h, support = case.bandwidth(kernel), get_kernel(kernel).support
    if math.isinf(support):
        return np.zeros(len(queries))
    weights = np.ones(case.n) if case.sample_weight is None else case.sample_weight
    near = distances(queries, case.X, case.period) <= h * support * (1 + 1e-6)
    return 8 * EPSILON * (near @ weights)


def assert_logs_agree(found: Floats, expected: Floats, rtol: float, name: str) -> None:
    """Compare log densities up to rtol, plus the rounding error of the logarithms."""
    assert not np.isnan(found).any(), name
    np.testing.assert_array_equal(np.isneginf(found), np.isneginf(expected), err_msg=name)
    finite = ~np.isneginf(expected)
    error = np.abs(found[finite] - expected[finite])
    allowed = rtol + 1e-12 + 8 * EPSILON * np.abs(expected[finite])
    assert (error <= allowed).all(), f"{name}: off by {error.max()}"


def assert_sums_agree(
    estimate: Estimate, sums: Floats, expected: Floats, slack: Floats, name: str
) -> None:
    """Compare sums of kernel profiles with the log densities of the reference."""
    expected_sums = np.exp(expected - estimate.log_constant)
    error = np.abs(sums - expected_sums)
    allowed = 1e-12 * expected_sums + slack
    assert (error <= allowed).all(), f"{name}: off by {(error / expected_sums).max()}"
