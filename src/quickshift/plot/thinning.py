"""Which samples are drawn if there are too many to see."""

import numpy as np

from quickshift.arrays import Indices

__all__ = ["MOST_DRAWN", "RASTERIZED", "drawn_rows", "thinning_note"]

MOST_DRAWN = 50_000
RASTERIZED = 10_000  # more points than this are an image inside vector graphics


def drawn_rows(n_samples: int, always: Indices | None = None) -> Indices:
    """Return all rows in order, or a random choice of 50 000 of them that is always the same.

    Parameters
    ----------
    n_samples : int
        Number of samples.
    always : ndarray of int, optional
        Rows that are drawn in any case.

    Returns
    -------
    ndarray of int

    Examples
    --------
    >>> drawn_rows(3)
    array([0, 1, 2])
    >>> rows = drawn_rows(1_000_000, np.array([7]))
    >>> len(rows) <= 50_001, 7 in rows
    (True, True)
    """
    if n_samples <= MOST_DRAWN:
        return np.arange(n_samples)
    some = np.random.default_rng(0).choice(n_samples, MOST_DRAWN, replace=False)
    return np.union1d(some, [] if always is None else always).astype(np.int64)


def thinning_note(n_drawn: int, count: int, what: str = "samples") -> str:
    """Say how many samples are drawn, if not all of them are."""
    return "" if n_drawn == count else f"{n_drawn:,} of {count:,} {what} drawn"
