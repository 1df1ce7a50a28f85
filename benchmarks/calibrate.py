"""Simulate the significance of modes that are due to chance: the table of `chance_significance`.

    python benchmarks/calibrate.py            about half an hour

Draws samples from one Gaussian. It has one mode, so every other mode of the estimate is due to
chance. For each number of features and of samples, prints the 97th percentile of the largest
significance of these other modes, at the default bandwidth and tau.
"""

from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np

from quickshift import stages

FEATURES = (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20)
SAMPLES = (30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)
# Number of draws for each entry of SAMPLES, with up to three features and with more.
FEW_FEATURES = (300, 300, 300, 200, 400, 400, 300, 200)
MORE_FEATURES = (300, 300, 300, 200, 150, 80, 40, 30)
QUANTILE = 0.97


def largest_by_chance(n: int, d: int, seed: int) -> float:
    """Return the largest significance of the modes of one sample, except the highest mode."""
    X = np.random.default_rng([n, d, seed]).normal(size=(n, d))
    samples = stages.prepare(X, n_jobs=1)
    h = stages.choose_bandwidth(samples, n_jobs=1)
    estimate = stages.fit_estimate(samples, h, n_jobs=1)
    sums = estimate.sums()
    bits = estimate.significant_bits
    graph = stages.climb(samples, sums, significant_bits=bits, n_jobs=1)
    tau = stages.choose_tau(samples, h, n_jobs=1)
    tree = stages.link(samples, sums, stages.cut(graph, tau, n_jobs=1), tau, n_jobs=1)
    tree = stages.assess(replace(tree, log_unit=estimate.log_constant), estimate, graph)
    return float(tree.known_significance()[1:].max(initial=0.0))


def main() -> None:
    """Print the table."""
    with ProcessPoolExecutor() as pool:
        for d in FEATURES:
            row = []
            for n, draws in zip(SAMPLES, FEW_FEATURES if d <= 3 else MORE_FEATURES, strict=True):
                if n <= (100_000 if d <= 5 else 30_000 if d <= 8 else 10_000):
                    found = pool.map(partial(largest_by_chance, n, d), range(draws))
                    row.append(round(float(np.quantile(list(found), QUANTILE)), 2))
            print(f"    {d}: {tuple(row)},", flush=True)


if __name__ == "__main__":
    main()
