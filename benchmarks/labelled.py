"""Score clusterings on data whose clusters are known, and write the table of docs/labelled.md.

    python benchmarks/labelled.py             about ten minutes

The data sets are those of labelled_sets.py, with ten seeds each. Peers run with their default
settings; KMeans and one column of ours are given the number of clusters. The score is the adjusted
Rand index over the points that have a true label. The points that a method labels as noise count as
one cluster of their own.
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
    """Return an HDBSCAN whose clusters have at least 1 % of the samples."""
    return HDBSCAN(min_cluster_size=max(2, n // 100), copy=True)


# Column of the table -> function that makes an estimator for n samples in k clusters.
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
    """Return the adjusted Rand index of every method on one draw of a data set."""
    X, y = SETS[name](seed)
    known = y >= 0
    k = len(np.unique(y[known]))
    with threadpool_limits(1):  # one process per core runs at the same time
        found = [make(len(X), k).fit_predict(X) for make in METHODS.values()]
    return [adjusted_rand_score(y[known], labels[known]) for labels in found]


def table(scores: dict[str, np.ndarray]) -> str:
    """Return a Markdown table: one row per data set, then the mean and the worst over all sets."""
    rows = {name: score.mean(axis=0) for name, score in scores.items()}
    all_sets = np.array(list(rows.values()))
    everything = {**rows, "**mean**": all_sets.mean(axis=0), "**worst**": all_sets.min(axis=0)}
    head = ["set", *METHODS]
    lines = [head, ["---"] * len(head)]
    lines += [[name, *(f"{value:.2f}" for value in row)] for name, row in everything.items()]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    """Score every method on every data set, print the scores and put the table into the page."""
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
