"""Judge clusterings by data whose clusters are known, and write docs/labelled.md.

    python benchmarks/labelled.py             about ten minutes

The sets are those of labelled_sets.py, ten seeds each. Peers run at their defaults, KMeans and one
column of ours are told the number of clusters. The number is the adjusted Rand index over the
points that have a label; what a method calls noise is a cluster of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.cluster import DBSCAN, HDBSCAN, OPTICS, KMeans, MeanShift
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from labelled_sets import SEEDS, SETS
from quickshift import QuickShift

PAGE = Path(__file__).resolve().parent.parent / "docs" / "labelled.md"


def one_percent(n: int, _: int) -> HDBSCAN:
    """HDBSCAN with clusters of at least one sample in a hundred."""
    return HDBSCAN(min_cluster_size=max(2, n // 100), copy=True)


# By name: an estimator for n samples in k clusters.
METHODS: dict[str, Callable[[int, int], object]] = {
    "QuickShift()": lambda n, k: QuickShift(n_jobs=1),  # noqa: ARG005
    "HDBSCAN()": lambda n, k: HDBSCAN(copy=True),  # noqa: ARG005
    "HDBSCAN, 1 %": one_percent,
    "MeanShift()": lambda n, k: MeanShift(),  # noqa: ARG005
    "DBSCAN()": lambda n, k: DBSCAN(),  # noqa: ARG005
    "OPTICS()": lambda n, k: OPTICS(),  # noqa: ARG005
    "QuickShift, k": lambda n, k: QuickShift(n_clusters=k, n_jobs=1),  # noqa: ARG005
    "KMeans, k": lambda n, k: KMeans(k, n_init=10, random_state=0),  # noqa: ARG005
}


def judge(name: str, seed: int) -> list[float]:
    """Give the adjusted Rand index of every method on one drawing of a set."""
    X, y = SETS[name](seed)
    known = y >= 0
    k = len(np.unique(y[known]))
    with threadpool_limits(1):  # every process has a core
        found = [make(len(X), k).fit_predict(X) for make in METHODS.values()]
    return [adjusted_rand_score(y[known], labels[known]) for labels in found]


def table(scores: dict[str, np.ndarray]) -> str:
    """Markdown: a row a set, then the mean and the worst of all sets."""
    rows = {name: score.mean(axis=0) for name, score in scores.items()}
    all_sets = np.array(list(rows.values()))
    everything = {**rows, "**mean**": all_sets.mean(axis=0), "**worst**": all_sets.min(axis=0)}
    head = ["set", *METHODS]
    lines = [head, ["---"] * len(head)]
    lines += [[name, *(f"{value:.2f}" for value in row)] for name, row in everything.items()]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    """Judge every method on every set, print the table and put it into the page."""
    with ProcessPoolExecutor() as pool:
        scores = {}
        for name in SETS:
            scores[name] = np.array(list(pool.map(partial(judge, name), SEEDS)))
            print(
                f"{name:20}", *(f"{value:5.2f}" for value in scores[name].mean(axis=0)), flush=True
            )
    start, end = "<!-- table -->", "<!-- end of table -->"
    before, rest = PAGE.read_text(encoding="utf-8").split(start)
    after = rest.split(end)[1]
    PAGE.write_text(f"{before}{start}\n{table(scores)}\n{end}{after}", encoding="utf-8")
    print(table(scores).splitlines()[-2])


if __name__ == "__main__":
    main()
