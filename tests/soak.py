"""Random calls in one process for minutes: memory stays flat, and results equal the reference.

Run by ``make soak``; ``--seconds`` and ``--seed`` choose how long and which calls. The address
space is limited, so that a leak ends the run even where the machine has much memory.
"""

import argparse
import gc
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import quickshift as qs
from quickshift import reference, stages

LIMIT = 8 << 30  # bytes of address space
GROWTH = 0.05  # share of the memory after the warm-up
WARM_UP = 0.2  # share of the time in which caches and arenas fill


def resident():
    """Return the bytes of memory that the process holds."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def points(rng):
    n, d = int(rng.integers(10, 3000)), int(rng.integers(1, 6))
    X = rng.normal(size=(n, d)) + 5.0 * rng.integers(0, 4, size=(n, 1))
    if rng.random() < 0.3:
        X = X.round(int(rng.integers(0, 2)))
    return X.astype(np.float32) if rng.random() < 0.2 else X


def clusters(rng, folder):
    """Fit, predict, recut, save and load."""
    X = points(rng)
    bandwidth = ("local", "auto", float(rng.uniform(0.2, 2.0)))[rng.integers(3)]
    weights = rng.integers(0, 3, size=len(X)).astype(float) + (np.arange(len(X)) < 8)
    model = qs.QuickShift(bandwidth, n_jobs=int(rng.integers(1, 4)))
    model.fit(X, sample_weight=weights if rng.random() < 0.3 else None)
    some = X[:: max(1, len(X) // 50)]
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_allclose(model.predict_proba(some).sum(axis=1), 1.0)
    model.strength(some)
    assert model.recut(n_clusters=1).n_clusters_ == 1
    model.labels_at(float(rng.uniform(0, 3)))
    path = folder / "tree.npz"
    model.tree_.save(path)
    assert qs.ClusterTree.load(path) == model.tree_
    model.summary()


def checked(rng, _):
    """Compare a fit with the reference, line by line the paper's algorithm."""
    X = points(rng)[:150].astype(float)
    h, tau = float(rng.uniform(0.3, 1.5)), float(rng.uniform(0.5, 3.0))
    kernel = ("gaussian", "epanechnikov", "uniform", "exponential")[rng.integers(4)]
    model = qs.QuickShift(h, tau, kernel=kernel).fit(X)
    expected = reference.quick_shift(X, h, tau, kernel=kernel)
    np.testing.assert_array_equal(model.labels_, expected.labels)
    np.testing.assert_array_equal(model.parent_, expected.parent)
    found = stages.local_scale(X)
    np.testing.assert_allclose(found.r, reference.local_scale(X).r, rtol=1e-12)


def regression(rng, _):
    X = rng.uniform(size=(int(rng.integers(20, 300)), 1))
    y = np.sin(6 * X[:, 0]) + rng.choice([-1.0, 1.0], size=len(X)) + 0.1 * rng.normal(size=len(X))
    model = qs.ModalRegressor().fit(X, y)
    model.predict_modes(X[:20])
    model.predict_set(X[:20])


def pictures(rng, _):
    image = rng.random((int(rng.integers(5, 60)), int(rng.integers(5, 60)), 3))
    forest = qs.segment_forest(image, bandwidth=2.0)
    tau = float(rng.uniform(1, 20))
    labels = forest.labels_at(tau)
    np.testing.assert_array_equal(labels, qs.segment(image, bandwidth=2.0, tau=tau))
    np.testing.assert_array_equal(
        labels, qs.segment_tiles(image, bandwidth=2.0, tau=tau, tile=int(rng.integers(4, 40)))
    )
    qs.boundary_strength(forest)


def refused(rng, _):
    """Raise and catch, since errors must not leak either."""
    for wrong in ([[np.nan]], None, [[1.0], [1.0, 2.0]], np.zeros((0, 2))):
        try:
            qs.QuickShift().fit(wrong)
        except (TypeError, ValueError):
            continue
        raise AssertionError(f"{wrong!r} was accepted by the seed {rng}")


ACTIONS = (clusters, clusters, clusters, checked, regression, pictures, refused)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
    rng = np.random.default_rng(options.seed)
    start, calls, highest, base = time.monotonic(), 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        while (passed := time.monotonic() - start) < options.seconds:
            ACTIONS[rng.integers(len(ACTIONS))](rng, Path(folder))
            calls += 1
            if calls % 20:
                continue
            now = resident()
            if passed < WARM_UP * options.seconds:
                base = max(base, now)
            highest = max(highest, now)
    growth = highest / base - 1 if base else 0.0
    sys.stdout.write(
        f"seed {options.seed}: {calls} calls in {options.seconds:.0f} s, {base / 1e6:.1f} MB after "
        f"the warm-up, {highest / 1e6:.1f} MB at most ({100 * growth:+.1f} %)\n"
    )
    return int(growth > GROWTH)


if __name__ == "__main__":
    sys.exit(main())
