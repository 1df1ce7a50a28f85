"""Compare constants c of the automatic bandwidths c·σ·n^(-1/6) of ModalRegressor.

    python -m benchmarks.modal_constant       about two minutes

The data have known conditional modes. The table has the Hausdorff distance between the modes found
and the true ones, averaged over x. `studies/regression.py` measures the constant that was chosen.
"""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from numpy.typing import NDArray

import quickshift as qs
from studies.conditional_data import DATA, SHEET, WAVES, modes_of, queries_of
from studies.regression import distances

NAMES = [name for name in DATA if name not in (SHEET, WAVES)]
CONSTANTS = (0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.2)
SIZES = (1000, 10_000)
DRAWINGS = 11
QUERIES = 60

Floats = NDArray[np.float64]


def main() -> None:
    """Print our distance for several constants c of the bandwidths c·σ·n^(-1/6).

    There is one row per data set and one column per c; the numbers are medians over the samples.
    σ is the smaller of the standard deviation and the interquartile range divided by 1.349. The
    last two rows are means over the data sets: of the distances, and of the distances divided by
    the smallest of their row.
    """
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for n in SIZES:
            print(f"n = {n}; columns are c")
            print(f"{'':24}", *(f"{c:7g}" for c in CONSTANTS))
            table = []
            for name in NAMES:
                jobs = [(name, n, seed) for seed in range(DRAWINGS)]
                table.append(np.median(list(pool.map(distances_by_constant, jobs)), axis=0))
                print(f"{name:24}", *(f"{value:7.4f}" for value in table[-1]), flush=True)
            everything = np.array(table)
            to_least = everything / everything.min(axis=1, keepdims=True)
            for label, values in (("mean", everything), ("mean ratio to smallest", to_least)):
                print(f"{label:24}", *(f"{value:7.4f}" for value in values.mean(axis=0)))
            print(flush=True)


def distances_by_constant(job: tuple[str, int, int]) -> list[float]:
    """Return our mean distance for each of CONSTANTS, on one sample."""
    name, n, seed = job
    data = DATA[name]
    X, y = data.sample(n, seed=seed)
    queries = queries_of(data, QUERIES)
    true = [data.conditional_modes(float(x)) for x in queries[:, 0]]
    unit_x, unit_y = (scale(values) * n ** (-1 / 6) for values in (X[:, 0], y))
    found = []
    for c in CONSTANTS:
        bandwidth = (c * unit_x, c * unit_y)
        model = qs.ModalRegressor(bandwidth, n_jobs=1)
        model.fit(X, y)
        found.append(float(distances(modes_of(model, queries), true).mean()))
    return found


def scale(values: Floats) -> float:
    """Return the smaller of the standard deviation and the interquartile range / 1.349."""
    low, high = np.percentile(values, [25, 75])
    return float(min(values.std(), (high - low) / 1.349))


if __name__ == "__main__":
    main()
