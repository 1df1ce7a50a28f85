"""Checks of arguments that are results of other stages: whether they fit together."""

from typing import Any

import numpy as np

from quickshift.arrays import Floats, Indices
from quickshift.checks.numbers import described, shown

__all__ = [
    "check_bare_samples",
    "check_common_samples",
    "check_comparable_trees",
    "check_heights_of_graph",
    "check_known_density",
    "check_known_features",
    "check_model",
    "check_parents_have_weight",
    "check_row_pair",
    "check_same_rows",
    "check_same_samples",
    "check_tree_of_graph",
    "require_result",
]


def check_model(model: Any, kind: type) -> None:
    """Raise if a model is not an estimator of the given class."""
    if not isinstance(model, kind):
        raise TypeError(
            f"model is of type {type(model).__name__}, expected a fitted {kind.__name__}. Pass the "
            f"last step of a Pipeline, with data in the units that this step receives."
        )


def require_result(value: Any, kind: type, name: str, source: str) -> None:
    """Raise if an argument is not the result of the stage that it should come from.

    This costs next to nothing, so that stages which call each other may repeat it.
    """
    if not isinstance(value, kind):
        raise TypeError(
            f"{name} is {described(value)}, expected a {kind.__name__}. Pass the result of "
            f"`{source}`."
        )


def check_known_density(known: Any, name: str) -> None:
    """Raise if an argument is not a density whose tree can be computed."""
    if not callable(getattr(known, "density", None)) or not hasattr(known, "n_features"):
        raise TypeError(
            f"{name} is {described(known)}, expected a ClusterTree or a density with a known "
            f"truth. Pass a mixture of quickshift.datasets, for example a GaussianMixture."
        )


def check_bare_samples(sample_weight: Any, period: Any) -> None:
    """Raise if weights or periods are given along with Samples, which already have theirs."""
    if sample_weight is not None or period is not None:
        raise ValueError(
            "X is Samples, which carry their weights and periods. Leave out sample_weight and "
            "period."
        )


def check_same_samples(
    estimate: tuple[int, int], graph: tuple[int, int], name: str = "estimate"
) -> None:
    """Raise if an estimate and a parent graph have samples of different shapes."""
    if estimate != graph:
        raise ValueError(
            f"{name} has samples of shape {estimate} and graph of shape {graph}, expected the "
            f"same samples. Pass the graph that `climb` returns for {name}.samples."
        )


def check_tree_of_graph(n_tree: int, n_graph: int) -> None:
    """Raise if a cluster tree and a parent graph have different numbers of samples."""
    if n_tree != n_graph:
        raise ValueError(
            f"tree has {n_tree} samples and graph {n_graph}, expected the same samples. Pass the "
            f"tree that `link` returns for the forest that was cut from this graph."
        )


def check_same_rows(labels: Indices, n_samples: int, absent: Indices) -> None:
    """Raise if a forest was not built from the given samples; ``absent`` rows have weight zero."""
    if labels.size != n_samples:
        raise ValueError(
            f"forest has {labels.size} samples and X has {n_samples}, expected the same number. "
            f"Pass the points that the forest was built from."
        )
    if not np.array_equal(np.flatnonzero(labels < 0), absent):
        raise ValueError(
            "forest and X have different rows of weight zero, expected the same rows. Pass the "
            "Samples that the forest was built from."
        )


def check_heights_of_graph(heights: Floats, distance: Floats) -> None:
    """Raise if a parent graph has heights that are not finite, except at rows of weight zero."""
    if (~np.isfinite(heights) & ~np.isnan(distance)).any():
        raise ValueError(
            "graph.heights has NaN or infinite entries, expected finite numbers. Pass the graph "
            "that `climb` returns."
        )


def check_parents_have_weight(parent: Indices) -> None:
    """Raise if a parent is -1, which stands for a row of weight zero."""
    if (parent < 0).any():
        raise ValueError(
            "parent must name rows of positive weight, because rows of weight zero are outside the "
            "forest. Use the graph that `climb` returns."
        )


def check_comparable_trees(
    log_units: tuple[float, float], densities: tuple[Floats, Floats]
) -> None:
    """Raise if two cluster trees have different units or numbers of samples."""
    if log_units[0] != log_units[1]:
        raise ValueError(
            f"tree_a and tree_b have densities in different units (log_unit {log_units[0]!r} and "
            f"{log_units[1]!r}), expected the same unit. Build both from the same densities."
        )
    if densities[0].size != densities[1].size:
        raise ValueError(
            f"tree_a has {densities[0].size} samples and tree_b {densities[1].size}, expected "
            f"trees of the same samples."
        )


def check_common_samples(some: bool) -> None:
    """Raise if two cluster trees have no sample in common."""
    if not some:
        raise ValueError("tree_a and tree_b have no sample in common, expected the same samples.")


def check_known_features(n_features: int, X: Any) -> None:
    """Raise if a known density is compared without samples, or has too many features for a grid."""
    if X is None:
        raise ValueError(
            "X is None, expected the samples: the tree of a known density is computed over them. "
            "Pass X=..."
        )
    if n_features not in {1, 2}:
        raise ValueError(
            f"known has {n_features} features, expected 1 or 2: a grid over more features is too "
            f"large. Use a density on the line or in the plane."
        )


def check_row_pair(pair: Any) -> Any:
    """Return a pair, or raise if an argument is none."""
    if not (isinstance(pair, list | tuple | np.ndarray) and len(np.array(pair, object)) == 2):
        raise ValueError(f"pair is {shown(pair)}, expected two rows, as in pair=(0, 1).")
    return pair
