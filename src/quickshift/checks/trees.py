"""Checks of the arrays of a cluster tree that come from a file: whether they are a tree.

The messages are reasons, to which the reader of the file adds its name and what to do.
"""

from typing import Any

import numpy as np

from quickshift.arrays import Flags, Floats, Indices

__all__ = ["check_tree_arrays"]

_LARGEST = 1e100  # of logarithms of densities: none of them overflows


def check_tree_arrays(arrays: dict[str, Any]) -> None:
    """Raise if arrays of fitting types and shapes are not those of a `ClusterTree`.

    ``arrays`` has the arguments of `ClusterTree` by name.
    """
    labels: Indices = arrays["leaf_labels"]
    roots: Indices = arrays["leaf_indices"]
    n, k = labels.size, roots.size
    _require(0 < k <= n, f"it has {n} samples and {k} leaves")
    _check_range(labels, "leaf_labels", -1, k)
    _check_range(roots, "leaf_indices", 0, n)
    _require(bool((labels[roots] == np.arange(k)).all()), "a root is not in its leaf")
    _check_towards(arrays["towards"])
    inside = labels >= 0
    _check_numbers(arrays, inside)
    pieces: Indices = arrays["pieces"]
    _check_pieces(pieces, labels, inside)
    highest = float(arrays["density"][inside].max())
    _check_merges(arrays["merges"], "merges", k, highest)
    _check_merges(arrays["piece_merges"], "piece_merges", int(pieces.max()) + 1, highest)


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


def _check_range(indices: Indices, name: str, low: int, end: int) -> None:
    _require(
        bool(low <= indices.min() and indices.max() < end),
        f"{name} ranges from {indices.min()} to {indices.max()}, expected {low} to {end - 1}",
    )


def _check_towards(towards: Indices) -> None:
    """Raise unless every leaf leads to one that leads nowhere: a cycle would have no end."""
    k = towards.size
    _check_range(towards, "towards", -1, k)
    leaves = np.arange(k)
    to = np.where(towards < 0, leaves, towards)
    for _ in range(k.bit_length()):  # each round doubles the number of steps
        to = to[to]
    _require(bool((towards[to] < 0).all()), "towards leads around in a circle")


def _check_numbers(arrays: dict[str, Any], inside: Flags) -> None:
    """Raise for values that no tree has; rows outside the tree may have any."""
    density: Floats = arrays["density"][inside]
    sizes: Floats = arrays["sizes"]
    tau = arrays["tau"]
    taus: Floats = np.ravel(tau)[inside] if np.ndim(tau) else np.ravel(tau)
    significance = arrays["significance"]
    _require(_between(density, np.finfo(np.float64).max), "density has a value that is none")
    with np.errstate(over="ignore", invalid="ignore"):
        total = sizes.sum()
    _require(_between(sizes, np.inf) and bool(np.isfinite(total)), "sizes are not weights")
    _require(_between(taus, np.inf), "tau is not a length")
    _require(
        significance is None or _between(significance, np.inf), "significance has a negative or NaN"
    )
    for name in ("log_unit", "power"):
        _require(abs(arrays[name]) < _LARGEST, f"{name} is {arrays[name]!r}")


def _between(values: Floats, most: float) -> bool:
    """Return whether all values are from 0 to ``most``, and none is NaN."""
    return bool(((values >= 0) & (values <= most)).all())


def _check_pieces(pieces: Indices, labels: Indices, inside: Flags) -> None:
    """Raise unless every leaf is made of whole pieces, numbered without gaps."""
    _check_range(pieces, "pieces", -1, labels.size)
    _require(bool(((pieces >= 0) == inside).all()), "pieces and leaf_labels have different rows")
    n_pieces = int(pieces.max()) + 1
    leaf_of_piece = np.full(n_pieces, -1, dtype=np.int64)
    leaf_of_piece[pieces[inside]] = labels[inside]
    _require(bool((leaf_of_piece >= 0).all()), "a piece has no sample")
    _require(
        bool((leaf_of_piece[pieces[inside]] == labels[inside]).all()), "a piece is in two leaves"
    )


def _check_merges(merges: Floats, name: str, n_leaves: int, highest: float) -> None:
    """Raise unless each merge joins two leaves that are both there, at levels that do not rise."""
    pair, level = merges[:, :2], merges[:, 2]
    _require(bool(((pair >= 0) & (pair < n_leaves)).all()), f"{name} has no such leaf")
    joined = pair.astype(np.int64)
    _require(bool((joined == pair).all()), f"{name} has a fraction of a leaf")
    _require(
        bool(((level > 0) & (level <= highest)).all() and (np.diff(level) <= 0).all()),
        f"{name} has levels out of order or range",
    )
    survivor, absorbed = joined.T
    _require(bool((survivor < absorbed).all()), f"{name} has a survivor that is not the higher")
    _require(np.unique(absorbed).size == absorbed.size, f"{name} absorbs a leaf twice")
    end = np.full(n_leaves, len(merges), dtype=np.int64)
    end[absorbed] = np.arange(len(merges))
    _require(bool((end[survivor] > np.arange(len(merges))).all()), f"{name} has a late survivor")
