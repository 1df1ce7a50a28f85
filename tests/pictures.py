"""Pictures for the tests, and plain NumPy versions of the quantities computed from them."""

import math

import numpy as np

KINDS = ("noise", "steps", "constant", "lattice")
INTEGERS = [np.dtype(code) for code in "bBhHiIlLqQ"]
FLOATS = [np.float32, np.float64]


def picture(kind, shape, n_channels, seed=0):
    """Return random colors: all distinct, few distinct, all equal, or with tied distances."""
    rng = np.random.default_rng([seed, len(shape), n_channels])
    values = rng.normal(size=(*shape, n_channels))
    if kind == "steps":
        return np.round(3.0 * values)
    if kind == "constant":
        return np.zeros_like(values)
    if kind == "lattice":
        return rng.integers(0, 2, size=values.shape).astype(float)
    return 4.0 * values


def points_of(image, spacing=1.0):
    """Return the point (coordinates, colors) of every pixel; the last axis holds the channels."""
    shape = image.shape[:-1]
    indices = np.indices(shape).reshape(len(shape), -1).T
    return np.column_stack([indices * spacing, image.reshape(len(indices), -1)])


def sums_over_boxes(image, bandwidth, reach, spacing=1.0, mask=None):
    """Sum Gaussian kernels over the pixels at most `reach` away along each axis, pair by pair."""
    shape = image.shape[:-1]
    indices = np.indices(shape).reshape(len(shape), -1).T
    inside = np.ones(len(indices), bool) if mask is None else mask.ravel()
    points = points_of(image, spacing)
    sums = np.full(len(points), np.nan)
    for i in np.flatnonzero(inside):
        near = inside & (np.abs(indices - indices[i]) <= reach).all(axis=1)
        squares = ((points[near] - points[i]) ** 2).sum(axis=1)
        sums[i] = math.fsum(np.exp(-squares / (2.0 * bandwidth**2)))
    return sums.reshape(shape)


def boundaries(labels):
    """Flag pixels that have a neighbor of another label along some axis.

    Label -1 is outside the mask and never differs.
    """
    on_border = np.zeros(labels.shape, bool)
    for axis in range(labels.ndim):
        here, there = np.moveaxis(labels, axis, 0)[1:], np.moveaxis(labels, axis, 0)[:-1]
        differ = (here != there) & (here >= 0) & (there >= 0)
        np.moveaxis(on_border, axis, 0)[1:] |= differ
        np.moveaxis(on_border, axis, 0)[:-1] |= differ
    return on_border


def fresh():
    return np.random.default_rng(6)


def rgb_of(shape, dtype=np.float64, seed=0):
    """Return dark and bright colors, including black and white."""
    rng = np.random.default_rng(seed)
    image = rng.random(shape) * rng.choice([0.01, 0.1, 1.0], size=shape)
    image.flat[:: max(1, image.size // 7)] = 0.0
    image.flat[1 :: max(1, image.size // 5)] = 1.0
    return image.astype(dtype)


def assert_same_bits(actual, expected):
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    np.testing.assert_array_equal(actual, expected)
    np.testing.assert_array_equal(np.signbit(actual), np.signbit(expected))
