"""Measure the error of estimated cluster trees, and write the table of docs/distortion.md.

    python benchmarks/distortion.py           about three minutes

Draws growing numbers of samples from three known densities. The error is the merge distortion
between the estimated tree and the tree of the density, as a fraction of the highest density; the
table has the median over several draws. The peer is RobustSingleLinkage of hdbscan, the estimator
of Chaudhuri and Dasgupta, with k = √n neighbors. A distance r in its linkage is converted to the
level k / (n · volume of a ball of radius r), the density at which k neighbors are within r.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from hdbscan import RobustSingleLinkage
from scipy.spatial import cKDTree

import quickshift as qs
from quickshift.datasets import Dome, GaussianMixture, ShapeMixture
from quickshift.stages.tree.known_tree import known_tree
from quickshift.stages.tree.merges import merges_of_leaves

PAGE = Path(__file__).resolve().parent.parent / "docs" / "distortion.md"
SIZES = (1000, 3000, 10_000, 30_000, 100_000)
LARGEST_OF_PEER = 30_000
DRAWS = 5
DENSITIES: dict[str, Any] = {
    "three Gaussians on the line": GaussianMixture([-3.0, 0.0, 2.5], [0.5, 0.25, 0.5], [3, 2, 2]),
    "three Gaussians in the plane": GaussianMixture(
        [[-2.0, 0.0], [2.0, 0.0], [0.0, 3.0]], weights=[3, 2, 2]
    ),
    "two domes in the plane": ShapeMixture([Dome((0.0, 0.0), 2.0), Dome((3.0, 0.0), 1.5)], [3, 2]),
}


def ours(X: np.ndarray) -> qs.ClusterTree:
    """Return the tree of QuickShift, with the paper's rate for the bandwidth."""
    return qs.QuickShift(bandwidth="paper").fit(X).tree_


def theirs(X: np.ndarray) -> qs.ClusterTree:
    """Return the tree of robust single linkage, in which every sample is a leaf of its own."""
    n, d = X.shape
    k = round(math.sqrt(n))
    linkage = RobustSingleLinkage(k=k).fit(X).cluster_hierarchy_.to_numpy()
    volume = math.pi ** (d / 2) / math.gamma(d / 2 + 1)
    core = cKDTree(X).query(X, k=k, workers=-1)[0][:, -1]
    density = k / (n * volume * core**d)
    order = np.argsort(-density, kind="stable")
    piece = np.empty(n, dtype=np.int64)
    piece[order] = np.arange(n)
    first = np.concatenate(
        [piece, np.empty(n - 1, dtype=np.int64)]
    )  # one of the pieces below each node
    joined = np.empty((n - 1, 2), dtype=np.int64)
    for step, (a, b) in enumerate(linkage[:, :2].astype(int)):
        joined[step] = first[a], first[b]
        first[n + step] = first[a]
    levels = k / (n * volume * np.maximum(linkage[:, 2], 1e-300) ** d)
    merges, towards = merges_of_leaves(joined, levels, n)
    return qs.ClusterTree(
        leaf_labels=piece,
        leaf_indices=order,
        density=density,
        merges=merges,
        tau=math.inf,
        sizes=np.ones(n),
        towards=np.where(towards == np.arange(n), -1, towards),
        pieces=piece,
        piece_merges=merges,
    )


def distortions(known: Any, n: int) -> list[float | None]:
    """Return the median distortions of ours and theirs, as fractions of the highest density."""
    found: list[list[float]] = [[], []]
    for seed in range(DRAWS):
        X = known.sample(n, seed=seed)[0]
        truth = known_tree(X, known)
        highest = truth.density.max()
        found[0].append(qs.merge_distortion(ours(X), truth) / highest)
        if n <= LARGEST_OF_PEER:
            found[1].append(qs.merge_distortion(theirs(X), truth) / highest)
    return [float(np.median(values)) if values else None for values in found]


def main() -> None:
    """Measure every density and size, print the results and put the table into the page."""
    lines = [["density", "n", "QuickShift", "RobustSingleLinkage"], ["---"] * 4]
    for name, known in DENSITIES.items():
        for n in SIZES:
            values = ["" if v is None else f"{v:.3f}" for v in distortions(known, n)]
            lines.append([name, f"{n:,}".replace(",", " "), *values])
            print(*lines[-1], sep=" | ", flush=True)
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    start, end = "<!-- table -->", "<!-- end of table -->"
    before, rest = PAGE.read_text(encoding="utf-8").split(start)
    PAGE.write_text(f"{before}{start}\n{table}\n{end}{rest.split(end)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main()
