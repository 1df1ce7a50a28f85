"""Random input of every kind, compared with the reference until the time is over.

`make fuzz` runs this script. Every case is drawn from its own seed, which is printed if the results
differ from those of the reference or if one side raises an error and the other does not;
``--seed N --cases 1`` repeats it. A difference that was found becomes a test in test_fuzz.py.
"""

import argparse
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cases import KERNELS, same_partition
from quickshift import QuickShift, reference, stages

Check = Callable[["Draw"], None]
CHECKS: dict[str, Check] = {}


def check(function: Check) -> Check:
    CHECKS[function.__name__] = function
    return function


@dataclass
class Draw:
    """Points, weights and lengths of one case, drawn from a seed."""

    seed: int

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)
        self.n = int(self.rng.choice([1, 2, 3, 5, 8, 17, 21, 33, 45]))
        self.d = int(self.rng.choice([1, 1, 2, 3, 5, 20]))
        self.unit = 2.0 ** self.choose([0, 0, 0, 1, -3, 100, -100, 500, -500, 960, -960, -1040])
        self.X = self.points(self.n)
        self.sample_weight = self.choose([None, self.weights()])

    def choose(self, options: list[Any]) -> Any:
        return options[self.rng.integers(len(options))]

    def points(self, n: int) -> np.ndarray:
        shape = (n, self.d)
        kind = self.choose(["normal", "normal", "lattice", "duplicates", "wide", "line"])
        if kind == "lattice":
            X = self.rng.integers(0, 4, size=shape).astype(float)
        elif kind == "duplicates":
            X = self.rng.normal(size=shape)[self.rng.integers(max(1, n // 3), size=n)]
        elif kind == "wide":  # from subnormal to huge numbers
            X = self.rng.normal(size=shape) * 2.0 ** self.rng.integers(-1070, 20, size=shape)
        elif kind == "line":
            X = np.outer(self.rng.integers(0, 9, size=n), self.rng.integers(-1, 2, size=self.d))
        else:
            X = self.rng.normal(size=shape)
        with np.errstate(under="ignore"):
            return X * self.unit

    def weights(self) -> np.ndarray:
        weights = self.choose(
            [
                self.rng.integers(0, 4, size=self.n).astype(float),
                self.rng.uniform(0.1, 3.0, size=self.n),
                10.0 ** self.rng.integers(-12, 13, size=self.n),
            ]
        )
        weights[self.rng.integers(self.n)] = 1.0
        return weights

    def length(self) -> float:
        """Draw a bandwidth or tau: mostly of the size of the points, sometimes of any size."""
        exponent = self.rng.uniform(-2.0, 1.5)
        if self.rng.uniform() < 0.15:
            return float(10.0 ** self.rng.uniform(-307, 308))
        with np.errstate(over="ignore", under="ignore"):
            length = float(self.unit * 10.0**exponent)
        return length if 0 < length < np.inf else 1.0

    def tau(self, distance: np.ndarray) -> float:
        edges = distance[np.isfinite(distance)].tolist()
        return float(self.choose([0.0, np.inf, self.length(), *edges[:3]]))

    def disguised(self, values: np.ndarray) -> np.ndarray:
        """Return the same numbers with another byte order, strides, alignment or flags."""
        kind = self.choose(["same", "swapped", "fortran", "strided", "reversed", "unaligned", "ro"])
        if kind == "swapped":
            return values.astype(values.dtype.newbyteorder())
        if kind == "fortran":
            return np.asfortranarray(values)
        if kind == "strided":
            return np.repeat(values, 2, axis=0)[::2]
        if kind == "reversed":
            return values[::-1].copy()[::-1]
        if kind == "unaligned":
            raw = np.empty(values.nbytes + 1, dtype=np.uint8)[1:].view(values.dtype)
            raw = raw.reshape(values.shape)
            raw[...] = values
            return raw
        copy = values.copy()
        copy.flags.writeable = kind != "ro"
        return copy

    @property
    def given(self) -> dict[str, Any]:
        """The points and weights as the package gets them; the reference gets the plain arrays."""
        weight = None if self.sample_weight is None else self.disguised(self.sample_weight)
        return {"X": self.disguised(self.X), "sample_weight": weight}

    @property
    def plain(self) -> dict[str, Any]:
        return {"X": self.X, "sample_weight": self.sample_weight}

    @property
    def present(self) -> np.ndarray:
        if self.sample_weight is None:
            return np.ones(self.n, dtype=bool)
        return self.sample_weight > 0


def either(ours: Callable[[], Any], theirs: Callable[[], Any]) -> tuple[Any, Any]:
    """Return both results; if both raise ValueError, end the case."""
    results = []
    for compute in (ours, theirs):
        try:
            results.append(compute())
        except ValueError as error:
            results.append(error)
    refused = [isinstance(result, ValueError) for result in results]
    if all(refused) or (refused[0] and any(limit in str(results[0]) for limit in LIMITS)):
        raise RefusedError
    assert not any(refused), f"only one side refuses: {results}"
    return results[0], results[1]


# The package refuses ranges of numbers that the reference copes with; from its messages.
LIMITS = ("underflow", "too large relative to the features")


class RefusedError(Exception):
    """Both sides refused the input."""


def refuse_far(queries: np.ndarray, draw: Draw) -> None:
    """End the case if squares would overflow in the reference, or bandwidths in the package."""
    if np.abs(queries).max() > 2.0**436 * np.abs(draw.X[draw.present]).max():
        raise RefusedError


def assert_same(ours: Any, theirs: Any, what: str) -> None:
    np.testing.assert_array_equal(ours, theirs, err_msg=what, strict=False)


def assert_near_logs(ours: np.ndarray, theirs: np.ndarray, tolerance: float) -> None:
    """Compare logarithms: infinite at the same places, near elsewhere, also relative to size."""
    assert_same(np.isfinite(ours), np.isfinite(theirs), "finite")
    finite = np.isfinite(theirs)
    np.testing.assert_allclose(ours[finite], theirs[finite], rtol=1e-13, atol=tolerance)


@check
def densities(draw: Draw) -> None:
    """Log densities at samples and queries are within rtol, and infinite at the same places."""
    kernel, h, rtol = draw.choose(list(KERNELS)), draw.length(), draw.choose([0.0, 1e-9, 1e-4])
    queries = draw.choose([draw.X, draw.points(7)])
    refuse_far(queries, draw)

    def ours() -> np.ndarray:
        samples = stages.prepare(**draw.given)
        estimate = stages.fit_estimate(samples, h, kernel=kernel, rtol=rtol)
        return estimate.log_density_at(draw.disguised(queries))

    def theirs() -> np.ndarray:
        return reference.log_kernel_density(
            **draw.plain, bandwidth=h, kernel=kernel, queries=queries
        )

    mine, expected = either(ours, theirs)
    assert_near_logs(mine, expected, 2 * rtol + 1e-10)


@check
def kernel_clusters(draw: Draw) -> None:
    """An estimator with a bandwidth and a tau is Algorithm 1."""
    kernel, h, ties = draw.choose(list(KERNELS)), draw.length(), draw.choose(["total", "strict"])
    tau = draw.choose([np.inf, 0.0, draw.length()])
    refuse_far(draw.X, draw)
    given, plain = draw.given, {**draw.plain, "kernel": kernel, "bandwidth": h}
    model = QuickShift(h, tau, kernel=kernel, ties=ties, rtol=0.0)

    def theirs() -> Any:
        return reference.quick_shift(**plain, tau=tau, ties=ties, rtol=0.0)

    fitted, expected = either(lambda: model.fit(given["X"], None, given["sample_weight"]), theirs)
    assert_same(fitted.parent_distance_, expected.parent_distance, "parent_distance")
    assert_same(fitted.parent_[draw.present], expected.parent[draw.present], "parent")
    assert_same(fitted.labels_, expected.labels, "labels")
    assert_same(fitted.mode_indices_, expected.roots, "roots")
    assert_near_logs(fitted.log_density_, reference.log_kernel_density(**plain), 1e-10)


@check
def given_densities(draw: Draw) -> None:
    """Parents, labels and the cluster tree for given densities are those of the reference."""
    density = draw.choose(
        [
            draw.rng.uniform(size=draw.n),
            draw.rng.integers(0, 4, size=draw.n).astype(float),
            1.0 + draw.rng.integers(0, 6, size=draw.n) * 2.0**-38,
            np.ldexp(draw.rng.uniform(0.5, 1.0, draw.n), draw.rng.integers(-1070, 1000, draw.n)),
        ]
    )
    if draw.rng.uniform() < 0.05:
        bad = draw.choose(np.flatnonzero(draw.present).tolist())
        density[bad] = draw.choose([np.inf, -np.inf, np.nan])
    ties, tau = draw.choose(["total", "strict"]), draw.choose([np.inf, 0.0, draw.length()])
    given, plain = draw.given, {**draw.plain, "tau": tau, "ties": ties, "density": density}

    def ours() -> Any:
        graph = stages.climb(stages.prepare(**given), draw.disguised(density), ties=ties)
        return graph, stages.cut(graph, tau)

    (graph, forest), expected = either(ours, lambda: reference.quick_shift(**plain))
    assert_same(graph.distance, expected.parent_distance, "parent_distance")
    assert_same(graph.parent[draw.present], expected.parent[draw.present], "parent")
    assert_same(forest.labels[draw.present], expected.labels[draw.present], "labels")
    if tau == 0:
        return
    tree = stages.link(graph.samples, density, forest, tau)
    levels = np.unique(np.append(density, 0.0))
    for level, row in zip(levels, reference.cluster_tree(**plain, levels=levels), strict=True):
        assert same_partition(tree.components_at(level)[draw.present], row[draw.present]), level


@check
def local_clusters(draw: Draw) -> None:
    """The local scale, and the clusters that it gives, are those of the reference."""
    ties, threshold = draw.choose(["total", "strict"]), draw.choose([0.0, 0.5, 2.0])
    given, total = draw.given, draw.n if draw.sample_weight is None else draw.sample_weight.sum()
    neighbors = int(draw.rng.integers(1, min(max(2, total), 100)))
    if total < 2:  # a single sample is fitted with any K
        raise RefusedError
    refuse_far(draw.X, draw)
    model = QuickShift(n_neighbors=neighbors, min_significance=threshold, ties=ties)

    def theirs() -> Any:
        return reference.local_clusters(
            **draw.plain, threshold=threshold, n_neighbors=neighbors, ties=ties
        )

    fitted, expected = either(lambda: model.fit(given["X"], None, given["sample_weight"]), theirs)
    scale = reference.local_scale(**draw.plain, n_neighbors=neighbors)
    np.testing.assert_allclose(fitted.bandwidth_, scale.r, rtol=1e-12, atol=1e-307)
    assert_same(fitted.tau_, scale.tau, "tau")
    assert np.isfinite(fitted.log_density_).all()
    assert_near_logs(fitted.log_density_, scale.log_density, 1e-9)
    assert_same(fitted.labels_, expected.labels, "labels")
    assert_same(fitted.mode_indices_, expected.roots, "roots")


@check
def modes_of_responses(draw: Draw) -> None:
    """Conditional modes are those of the reference, without its rounding at ties."""
    y = draw.choose([draw.rng.normal(size=draw.n), draw.rng.integers(0, 5, draw.n).astype(float)])
    y = y * draw.unit
    kernel, h, tau = draw.choose(list(KERNELS)), draw.length(), draw.choose([np.inf, draw.length()])
    ratio, x = draw.choose([0.0, 0.01, 1.0]), draw.points(1)
    refuse_far(x, draw)

    def ours() -> Any:
        joint = stages.prepare_joint(
            draw.disguised(draw.X), y, h, kernel=kernel, sample_weight=draw.sample_weight, rtol=0.0
        )
        return stages.conditional_modes(joint, x, tau, min_density_ratio=ratio)

    def theirs() -> Any:
        return reference.modal_regression(
            **draw.plain,
            y=y,
            x=x[0],
            bandwidth=h,
            tau=tau,
            kernel=kernel,
            rtol=0.0,
            min_density_ratio=ratio,
        )

    mine, (values, densities) = either(ours, theirs)
    assert_same(mine[0], values, "values")
    np.testing.assert_allclose(mine.densities, densities, rtol=1e-9)


def run(seed: int, only: str | None) -> tuple[str, str]:
    """Run one case and return the name of its check and what happened."""
    name = only or list(CHECKS)[seed % len(CHECKS)]
    try:
        CHECKS[name](Draw(seed))
    except RefusedError:
        return name, "refused"
    except Exception:
        print(f"seed {seed}, {name}: {traceback.format_exc(limit=-2)}")
        return name, "different"
    return name, "equal"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="when to stop")
    parser.add_argument("--cases", type=int, default=sys.maxsize, help="how many cases at most")
    parser.add_argument("--seed", type=int, default=None, help="first seed; random if left out")
    parser.add_argument("--only", choices=list(CHECKS), help="one check instead of all")
    options = parser.parse_args()
    first = options.seed
    if first is None:
        first = int(np.random.default_rng().integers(2**32))
    print(f"seeds from {first}")
    end, counts, seed = time.monotonic() + options.seconds, Counter[tuple[str, str]](), first
    while time.monotonic() < end and seed - first < options.cases:
        counts[run(seed, options.only)] += 1
        seed += 1
    for (name, outcome), count in sorted(counts.items()):
        print(f"{name:20} {outcome:10} {count}")
    return int(any(outcome == "different" for _, outcome in counts))


if __name__ == "__main__":
    sys.exit(main())
