"""Data and helpers for the tests of quickshift.distributed, which run tasks without any engine."""

import itertools
import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np

from quickshift.distributed.executors import DaskWorkers, Inline, Processes
from quickshift.distributed.inputs import list_chunks
from quickshift.distributed.plan.boxes import make_boxes, scan_chunks
from quickshift.distributed.plan.passes import Passes
from quickshift.distributed.store import Store
from quickshift.spaces import Flat


def blobs(n=1200, d=2, seed=0):
    rng = np.random.default_rng(seed)
    centers = rng.uniform(-6, 6, (5, d))
    widths = rng.uniform(0.3, 1.2, 5)
    which = rng.integers(5, size=n)
    return centers[which] + rng.normal(size=(n, d)) * widths[which, None]


def lattice(d=2):
    """Points at distances of exactly 1, in a random order."""
    side = {1: 400, 2: 20, 3: 8, 5: 4}[d]
    grid = np.stack(np.meshgrid(*[np.arange(side)] * d, indexing="ij"), axis=-1)
    return np.random.default_rng(1).permutation(grid.reshape(-1, d).astype(float))


def duplicates(n=900, d=2):
    """Points that are rounded so much that most of them are repeated."""
    return np.round(blobs(n, d, seed=2) * 2) / 2


def outlier(n=800, d=2):
    X = blobs(n, d, seed=3)
    X[n // 2] = 1e4
    return X


def seed_spreader(n=1000, d=2):
    """A random walk that leaves clouds of different density behind."""
    rng = np.random.default_rng(4)
    steps = rng.normal(size=(n, d)) * np.where(rng.random(n) < 0.01, 8.0, 0.02)[:, None]
    return np.cumsum(steps, axis=0) + rng.normal(size=(n, d)) * 0.3


SHAPES = {
    "blobs": blobs,
    "lattice": lattice,
    "duplicates": duplicates,
    "outlier": outlier,
    "seed spreader": seed_spreader,
}


MATRIX = bool(os.environ.get("QUICKSHIFT_MATRIX"))  # whether `make matrix` runs


def sizes(d=3):
    """Return dimensions and numbers of boxes: one of each, or all with `make matrix`."""
    return list(itertools.product((1, 2, 3, 5), (2, 7, 32))) if MATRIX else [(d, 7)]


def cases():
    """Return dimensions, numbers of boxes and shapes: some of them, or all with `make matrix`."""
    if MATRIX:
        return list(itertools.product((1, 2, 3, 5), (2, 7, 32), SHAPES))
    by_dimension = itertools.product((1, 2, 3, 5), (7,), SHAPES)
    return [*by_dimension, (2, 2, "lattice"), (2, 2, "blobs"), (2, 32, "duplicates")]


def record(record_property, **values):
    """Record what a test has compared, for the tables that `make matrix` writes."""
    for name, value in values.items():
        record_property(name.replace("_", " "), value)


def divided(X, n_boxes, folder, *, weights=None, period=None, most_rows=None):
    """Write points into boxes, and return the passes over them and the facts of the scan."""
    table = X if weights is None else np.column_stack([X, weights])
    column = None if weights is None else X.shape[1]
    chunks = [
        replace(chunk, number=i, start=a, stop=b, row=a, first_row=a, n_rows=b - a)
        for chunk in list_chunks(table, None, column, None, folder / "input")
        for i, (a, b) in enumerate(ranges(len(X), 7))
    ]
    passes = Passes(Store(str(folder)), Inline(), keeps=False)
    facts = scan_chunks(passes, chunks, Flat(period, None))
    make_boxes(passes, chunks, facts, n_boxes, most_rows)
    return passes, facts


def ranges(n, parts):
    ends = np.linspace(0, n, parts + 1).astype(int).tolist()
    return [(a, b) for a, b in itertools.pairwise(ends) if a < b]


def boxes(store):
    return range(len(store.counts))


def by_row(store, name, n):
    """Return an array of all boxes in the order of the user's rows."""
    values = np.concatenate([store.read(box, name) for box in boxes(store)])
    result = np.full(n, np.nan, dtype=values.dtype if values.dtype.kind == "f" else float)
    result[rows_of(store)] = values
    return result


def rows_of(store):
    return np.concatenate([store.read(box, "rows") for box in boxes(store)])


def parents_by_row(store, n):
    """Return the parent of each row as a row."""
    rows = rows_of(store)
    parent = np.empty(n, dtype=np.int64)
    parent[rows] = rows[np.concatenate([store.read(box, "parent") for box in boxes(store)])]
    return parent


def labels_by_row(store, leaves, n):
    labels = np.full(n, -1, dtype=np.int64)
    for box in boxes(store):
        piece = store.read(box, "piece")[store.read(box, "top")]
        labels[store.read(box, "rows")] = leaves.leaf_of_piece[piece]
    return labels


def write_heights(store, heights):
    """Give all rows the heights of another fit."""
    for box in boxes(store):
        store.write(box, "heights", heights[store.read(box, "rows")])


def assert_same_tree(mine, tree):
    """Compare a leaf-level tree with that of a fit in memory."""
    np.testing.assert_array_equal(mine.births, tree.births)
    np.testing.assert_array_equal(mine.merges, tree.merges)
    np.testing.assert_array_equal(mine.towards, tree.towards)
    np.testing.assert_allclose(mine.sizes, tree.sizes, rtol=1e-12)


def killed_once(flag, function, *arguments):
    """Kill the own process in the first call, and call the function in all later ones."""
    if not Path(flag).exists():
        Path(flag).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return function(*arguments)


class KillingDask(DaskWorkers):
    """Kills one worker in each pass."""

    def __init__(self, client, folder):
        super().__init__(client)
        self._folder = Path(folder)

    def submit(self, function, *arguments, name):
        flag = self._folder / name.rpartition("-")[0]
        return super().submit(killed_once, str(flag), function, *arguments, name=name)


class Killing(Processes):
    """Kills one process in each pass."""

    def __init__(self, folder):
        super().__init__(2)
        self._folder = Path(folder)

    def submit(self, function, *arguments, name):
        flag = self._folder / name.rpartition("-")[0]
        return super().submit(killed_once, str(flag), function, *arguments, name=name)


class Passing(Inline):
    """Remembers the names of the passes that it runs, in their order."""

    def __init__(self):
        self.names = []

    def submit(self, function, *arguments, name):
        name, _, number = name.rpartition("-")
        if number == "0":
            self.names.append(name)
        return super().submit(function, *arguments, name=name)
