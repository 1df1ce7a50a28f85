"""Probabilities of conditional modes: the share of the samples near x in each mode's basin.

With one output, the basin of a mode reaches from the valley below it to the valley above it
(decision 28). With several outputs it consists of the responses that climb to the mode, see
`response_space`.
"""

import numpy as np

from quickshift.arrays import Floats, Indices
from quickshift.stages.density import sums_at_points
from quickshift.stages.regression.joint import Joint
from quickshift.stages.regression.kernel_weights import KernelWeights

__all__ = ["probabilities_on_line", "shares"]

# The points between two modes at which the density is evaluated, and how often the search for the
# valley is repeated in the surroundings of the lowest of them.
_EIGHTHS = np.arange(1.0, 8.0)
_ROUNDS = 2
# Logarithms of densities that differ by less than this count as equal, whatever `rtol` is.
_EQUAL = 1e-6
# Numbers of elements that are worked on at once: pairs of modes, and pairs of query and sample.
# The latter fit into the cache of a core.
_MODES_AT_ONCE = 2**15
_WEIGHTS_AT_ONCE = 2**17
# Share of the samples near a query below which they are listed.
_FEW_NEAR = 0.2


def probabilities_on_line(
    joint: Joint, queries: Floats, query_of_mode: Indices, values: Floats
) -> Floats:
    """Return the probability of each mode, for responses of one column.

    Parameters
    ----------
    joint : Joint
        With responses of shape (n_samples,).
    queries : ndarray of shape (m, n_features)
        Divided as X was.
    query_of_mode : ndarray of shape (k,)
        The query of each mode, not decreasing.
    values : ndarray of shape (k,)
        The modes, the highest of each query first.

    Returns
    -------
    ndarray of shape (k,)
        The probabilities of one query sum to 1.
    """
    rising = np.lexsort((values, query_of_mode))
    below, above = rising[:-1], rising[1:]
    neighbors = query_of_mode[below] == query_of_mode[above]
    below, above = below[neighbors], above[neighbors]
    probabilities = np.ones(len(values))
    if not below.size:
        return probabilities
    valleys = np.empty(len(below))
    for start in range(0, len(below), _MODES_AT_ONCE):
        some = slice(start, start + _MODES_AT_ONCE)
        at = queries[query_of_mode[below[some]]]
        valleys[some] = _valleys(joint, at, values[below[some]], values[above[some]])
    begins = np.zeros(len(values), dtype=np.int64)  # first sample of each basin
    begins[above] = _first_above(joint.by_response, valleys, values, below, above)
    # All of this leaves out the queries that have a single mode.
    counts = np.bincount(query_of_mode)
    rising = rising[counts[query_of_mode[rising]] > 1]
    masses = _masses(joint.by_response, queries, query_of_mode[rising], begins[rising])
    probabilities[rising] = shares(masses, query_of_mode[rising])
    return probabilities


def shares(masses: Floats, query_of_mode: Indices) -> Floats:
    """Divide masses by the total at their query, where there are modes of several queries.

    If rounding at the edge of a compact kernel makes a total 0, all modes get the same share.

    Examples
    --------
    >>> shares(np.array([1.0, 3.0, 0.0, 0.0]), np.array([0, 0, 2, 2]))
    array([0.25, 0.75, 0.5 , 0.5 ])
    """
    counts = np.bincount(query_of_mode)[query_of_mode]
    totals = np.bincount(query_of_mode, weights=masses)[query_of_mode]
    return np.divide(masses, totals, out=1.0 / counts, where=totals > 0)


def _valleys(joint: Joint, queries: Floats, low: Floats, high: Floats) -> Floats:
    """Return the y of the valley between two neighboring modes, for many such pairs."""
    valleys = low
    for _ in range(_ROUNDS):
        width = high - low
        heights = _log_sums(joint, queries, low[:, None] + width[:, None] * (_EIGHTHS / 8))
        lowest = heights <= heights.min(axis=1, keepdims=True) + _EQUAL
        valleys = low + width * (lowest @ _EIGHTHS / lowest.sum(axis=1) / 8)
        low, high = valleys - width / 8, valleys + width / 8
    return valleys


def _log_sums(joint: Joint, queries: Floats, y: Floats) -> Floats:
    """Return the logarithm of the sum of kernels at (x, y), for several y per query x."""
    points = np.empty((*y.shape, queries.shape[1] + 1))
    points[..., :-1] = queries[:, None]
    points[..., -1] = y / joint.divisor[1]
    sums, log_scales = sums_at_points(joint.together, points.reshape(y.size, -1))
    with np.errstate(divide="ignore"):
        return (np.log(sums) + log_scales).reshape(y.shape)


def _first_above(
    samples: KernelWeights, valleys: Floats, values: Floats, below: Indices, above: Indices
) -> Indices:
    """Return the first sample above each valley; one on the valley belongs to the higher mode."""
    y = samples.responses
    ranks = np.where(  # of two modes of a query, the one that comes first is higher
        below < above,
        np.searchsorted(y, valleys, side="right"),
        np.searchsorted(y, valleys, side="left"),
    )
    # A mode belongs to its own basin, even if the valley was rounded to it.
    ranks = np.clip(ranks, np.searchsorted(y, values[below]) + 1, np.searchsorted(y, values[above]))
    return np.searchsorted(samples.response_of_sample, ranks)


def _masses(
    samples: KernelWeights, queries: Floats, query_of_mode: Indices, begins: Indices
) -> Floats:
    """Return the weight of the samples in each basin.

    Modes are sorted by query, then by y; ``begins`` is 0 for the first mode of a query.
    """
    starts = np.flatnonzero(begins == 0)  # one per query, in the order of the queries
    points = queries[query_of_mode[starts]]
    counts = samples.count_near(points)
    # Listing the samples near a query takes longer per sample than computing the weights of all.
    few = counts < _FEW_NEAR * len(samples.weights)
    masses = np.empty(len(begins))
    for chosen, cost, sums in (
        (few, counts, _sums_of_near),
        (~few, np.full(len(counts), len(samples.weights)), _sums_of_all),
    ):
        rows = np.flatnonzero(chosen)
        part = np.cumsum(cost[rows]) // _WEIGHTS_AT_ONCE
        for block in np.split(rows, np.flatnonzero(np.diff(part)) + 1):
            if block.size:
                modes, row = _modes_of(block, starts, len(begins))
                masses[modes] = sums(samples, points[block], row, begins[modes])
    return masses


def _modes_of(rows: Indices, starts: Indices, n_modes: int) -> tuple[Indices, Indices]:
    """Return the modes of some queries, and the position in ``rows`` of each mode's query."""
    counts = np.diff(starts, append=n_modes)[rows]
    row = np.repeat(np.arange(len(rows)), counts)
    first = np.cumsum(counts) - counts
    return starts[rows][row] + np.arange(len(row)) - first[row], row


def _sums_of_all(samples: KernelWeights, queries: Floats, row: Indices, begins: Indices) -> Floats:
    """Add up the weights of each basin, which begins at a sample and ends where the next begins."""
    weights = samples.at(queries)
    return np.add.reduceat(weights.reshape(-1), row * weights.shape[1] + begins)


def _sums_of_near(samples: KernelWeights, queries: Floats, row: Indices, begins: Indices) -> Floats:
    """Return the same as `_sums_of_all`, from the samples near each query alone."""
    offsets, near, weights = samples.near(queries)
    n = len(samples.weights)
    rows = np.repeat(np.arange(len(queries)), np.diff(offsets))
    at = np.searchsorted(rows * n + near, row * n + begins)
    sums = np.add.reduceat(np.append(weights, 0.0), at)
    return np.where(np.diff(at, append=len(near)) > 0, sums, 0.0)  # no sample near x: no weight
