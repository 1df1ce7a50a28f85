"""Data and comparisons of results that the tests of ModalRegressor share."""

import numpy as np
import pytest

from quickshift import kernels
from quickshift.datasets import two_branches

KERNELS = tuple(kernels.KERNELS)
INFINITE = tuple(name for name in KERNELS if kernels.KERNELS[name].infinite)
COMPACT = tuple(name for name in KERNELS if not kernels.KERNELS[name].infinite)
RULES = ("auto", "cv", "prediction_set")
BANDWIDTHS = (0.25, (0.1, 0.3), *RULES)
FIELDS = (
    "offsets",
    "values",
    "densities",
    "heights",
    "support",
    "conditional_densities",
    "probabilities",
)
QUERIES = np.linspace(0.0, 1.0, 11)[:, None]
DEFAULTS = {
    "bandwidth": "auto",
    "tau": "auto",
    "kernel": "gaussian",
    "min_density_ratio": 0.01,
    "period": None,
    "verbose": 0,
    "rtol": 1e-9,
    "n_jobs": None,
}

EVERY_KERNEL = pytest.mark.parametrize("kernel", KERNELS)
EVERY_RULE = pytest.mark.parametrize("rule", RULES)
EVERY_BANDWIDTH = pytest.mark.parametrize("bandwidth", BANDWIDTHS, ids=str)


def branches(n=120, seed=0):
    return two_branches().sample(n, seed)


def two_columns(n=120, seed=0):
    """Draw responses with two columns, around two centers that move with x."""
    X, y = branches(n, seed)
    noise = np.random.default_rng(seed).normal(size=n)
    return X, np.column_stack([y, np.cos(y) + 0.2 * noise])


def repeated(seed=0, n=80):
    """Draw integer weights from 0 to 3."""
    return np.random.default_rng(seed).integers(0, 4, size=n)


def assert_same_modes(a, b, fields=FIELDS):
    for name in fields:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


def assert_close_modes(a, b, rtol=1e-8):
    assert_same_modes(a, b, ("offsets", "values"))
    np.testing.assert_allclose(a.densities, b.densities, rtol=rtol)
    np.testing.assert_allclose(a.heights, b.heights, rtol=rtol, atol=rtol * a.densities.max())
    np.testing.assert_allclose(a.support, b.support, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(a.conditional_densities, b.conditional_densities, rtol=rtol)
    np.testing.assert_allclose(a.probabilities, b.probabilities, rtol=rtol, atol=rtol)


def assert_same_model(a, b, queries=QUERIES):
    assert a.bandwidth_ == b.bandwidth_
    assert a.tau_ == b.tau_
    assert_same_modes(a.predict_modes(queries), b.predict_modes(queries))


def assert_same_set(a, b):
    for name in ("offsets", "lower", "upper"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
