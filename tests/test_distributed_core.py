"""Results of the compiled core that only tasks over partitions use."""

import numpy as np
import pytest

from distributed_cases import blobs, duplicates
from quickshift import _core
from quickshift.distributed.distances import squared_distances
from quickshift.stages import climb, cut, fit_estimate, local_scale, prepare


def distances(points, others, period):
    return np.sqrt(squared_distances(points[:, None], others, period, 0))


def farthest_that_counts(queries, samples, k, g, period):
    """Return how far away the last of the K samples and of the g locations is."""
    locations, weights = samples.tree.locations()
    apart = distances(queries, locations, period)
    order = np.argsort(apart, axis=1)
    sorted_apart = np.take_along_axis(apart, order, axis=1)
    mass = np.where(sorted_apart > 0, weights[order], np.maximum(weights[order] - 1, 0))
    last = (np.cumsum(mass, axis=1) >= k).argmax(axis=1)
    own = (sorted_apart == 0).sum(axis=1)
    at = np.arange(len(queries))
    return np.maximum(sorted_apart[at, last], sorted_apart[at, own + g - 1])


@pytest.mark.parametrize("shape", [blobs, duplicates])
@pytest.mark.parametrize("d", [1, 3, 12])
@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_bounds_are_the_distances_of_the_last_neighbors(shape, d, periodic, weighted):
    X, k, g = shape(400, d), 11, 5
    period = np.where(np.arange(d) == 0, 20.0, np.inf) if periodic else None
    weights = np.random.default_rng(0).integers(0, 4, 400).astype(float) if weighted else None
    samples = prepare(X, sample_weight=weights, period=period)
    present = np.arange(400) if weights is None else np.flatnonzero(weights)
    (r,), tau, _ = _core.local_scales(samples.tree, [float(k)], g, d)
    found = _core.bounded_scales(samples.tree, float(k), g, d)
    np.testing.assert_array_equal(found[0], r)
    np.testing.assert_array_equal(found[1], tau)
    wrapped = samples.tree.coordinates(present)
    expected = farthest_that_counts(wrapped, samples, k, g, period)
    np.testing.assert_allclose(found[2][present], expected, rtol=1e-14)

    queries = np.ascontiguousarray(np.concatenate([wrapped[:50], wrapped[:200] + 0.01]))
    r, tau = _core.local_scales_at(samples.tree, queries, float(k), g, d)
    found = _core.bounded_scales_at(samples.tree, queries, float(k), g, d)
    np.testing.assert_array_equal(found[0], r)
    np.testing.assert_array_equal(found[1], tau)
    expected = farthest_that_counts(queries, samples, k, g, period)
    np.testing.assert_allclose(found[2], expected, rtol=1e-12)


@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize("d", [2, 9])
def test_saddles_have_the_length_of_their_shortest_link(local, d):
    X = blobs(500, d) * 16
    samples = prepare(X)
    if local:
        scale = local_scale(samples, 5)
        heights, tau = scale.levels, scale.tau
    else:
        heights = fit_estimate(samples, 20.0, kernel="epanechnikov").sums()
        tau = 8.0 * d
    forest = cut(climb(samples, heights), tau if local else 0.7 * tau)
    none = np.empty(0, dtype=np.int64)
    joined, levels, squares = _core.saddles(
        samples.tree, heights, forest.labels, len(forest), tau, none, none
    )
    assert len(joined) > 3
    apart = distances(X, X, None)
    linked = apart <= np.maximum(tau[:, None], tau) if local else apart < tau
    level = np.minimum(heights[:, None], heights)
    for (a, b), at, square in zip(joined, levels, squares, strict=True):
        between = (forest.labels[:, None] == a) & (forest.labels == b)
        shortest = apart[linked & between & (level == at)].min()
        length = np.ldexp(np.sqrt(square), samples.tree.exponent)
        np.testing.assert_allclose(length, shortest, rtol=1e-14)
