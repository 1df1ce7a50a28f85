import pickle
from dataclasses import dataclass

import numpy as np
import pytest

from quickshift.bandwidth import weighted_quantile
from quickshift.distributed.executors import Inline
from quickshift.distributed.plan import quantiles as plan
from quickshift.distributed.plan.passes import Passes
from quickshift.distributed.plan.quantiles import quantiles
from quickshift.distributed.store import Store

SHARES = [0.0, 0.01, 0.25, 0.5, 0.75, 0.99, 1.0]


@dataclass(frozen=True)
class Part:
    """A part of a column in memory."""

    values: np.ndarray
    weights: np.ndarray

    def read(self):
        return self.values, self.weights


def parts_of(values, weights, n_parts):
    pairs = zip(np.array_split(values, n_parts), np.array_split(weights, n_parts), strict=True)
    return [Part(*pair) for pair in pairs]


class Counting(Inline):
    """Counts the results that reach the client, in bytes and by pass."""

    def __init__(self):
        self.bytes = 0
        self.passes = []

    def submit(self, function, *arguments, name):
        self.passes.append(name.rpartition("-")[0])
        return super().submit(function, *arguments, name=name)

    def completed(self, futures):
        for i, outcome in super().completed(futures):
            self.bytes += len(pickle.dumps(outcome))
            yield i, outcome


@pytest.fixture
def run(tmp_path):
    """Return a function that computes quantiles, and what has reached the client."""

    def computed(values, weights, n_parts, shares=SHARES):
        executor = Counting()
        passes = Passes(Store(str(tmp_path)), executor, keeps=False)
        return quantiles(passes, parts_of(values, weights, n_parts), shares), executor

    return computed


def drawn(shape, n, rng):
    """Return values: smooth, mostly equal, of very different sizes, or in two far groups."""
    if shape == "smooth":
        return rng.normal(size=n)
    if shape == "equal":
        return np.where(rng.random(n) < 0.9, 3.0, np.round(rng.normal(size=n), 1))
    if shape == "sizes":
        return rng.choice([-1.0, 1.0], n) * 10.0 ** rng.uniform(-300, 300, n)
    return np.where(rng.random(n) < 0.5, rng.random(n) * 1e-9, 1e9 + rng.random(n))


@pytest.mark.parametrize("collected", [1, 50, 10**6])
@pytest.mark.parametrize("shape", ["smooth", "equal", "sizes", "groups"])
@pytest.mark.parametrize("heavy", ["ones", "whole", "uneven"])
def test_quantiles_are_those_of_all_values(shape, heavy, collected, run, monkeypatch):
    monkeypatch.setattr(plan, "_COLLECTED", collected)
    monkeypatch.setattr(plan, "_SAMPLED", 40)
    monkeypatch.setattr(plan, "_BINS", 16)
    rng = np.random.default_rng(3)
    values = drawn(shape, 3000, rng)
    weights = {
        "ones": np.ones(3000),
        "whole": rng.integers(1, 9, 3000).astype(float),
        "uneven": np.floor(rng.lognormal(0, 4, 3000)) + 1,
    }[heavy]
    found, _ = run(values, weights, 5)
    assert found == [weighted_quantile(values, weights, q) for q in SHARES]


def test_weights_that_are_not_whole_numbers(run, monkeypatch):
    monkeypatch.setattr(plan, "_COLLECTED", 10)
    rng = np.random.default_rng(4)
    values, weights = rng.normal(size=5000), rng.lognormal(0, 3, 5000)
    found, _ = run(values, weights, 7)
    expected = [weighted_quantile(values, weights, q) for q in SHARES]
    np.testing.assert_allclose(found, expected, rtol=1e-10)  # the total weight has rounding errors


@pytest.mark.parametrize("values", [[2.5], [1.0, 1.0, 1.0], [0.0, -0.0, 5e-324]])
def test_few_values(values, run):
    values = np.array(values)
    found, _ = run(values, np.ones(values.size), 2)
    assert found == [weighted_quantile(values, np.ones(values.size), q) for q in SHARES]


def test_a_total_weight_of_at_most_one_is_one_observation(run):
    values, weights = np.array([4.0, 2.0, 3.0]), np.array([0.25, 0.25, 0.5])
    assert run(values, weights, 2)[0] == [2.0] * len(SHARES)


def test_what_reaches_the_client_does_not_grow_with_the_data(run, monkeypatch):
    monkeypatch.setattr(plan, "_COLLECTED", 64)
    monkeypatch.setattr(plan, "_SAMPLED", 256)
    monkeypatch.setattr(plan, "_BINS", 64)
    sizes = []
    for n in (10_000, 1_000_000):
        rng = np.random.default_rng(5)
        values = rng.normal(size=n)
        # Nearly all weight is where a sample of the rows has few values.
        weights = np.where(values > 3.0, 1e6, 1.0)
        found, executor = run(values, weights, 4, [0.25, 0.75])
        assert found == [weighted_quantile(values, weights, q) for q in (0.25, 0.75)]
        sizes.append(executor.bytes)
        assert len(executor.passes) <= 4 * 12
    most = 4 * 4 * 16 * 64  # ranks, parts, and the bytes of a value and its weight
    assert sizes[1] <= 1.5 * sizes[0] + most
    assert sizes[1] < 8 * 1_000_000 / 40
