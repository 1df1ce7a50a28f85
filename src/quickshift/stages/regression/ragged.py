"""Results with a different number of elements per query, stored flat with CSR offsets."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from quickshift.arrays import Indices
from quickshift.bundles import Bundle, counted
from quickshift.checks.numbers import check_position

__all__ = ["Ragged"]


@dataclass(frozen=True, repr=False, eq=False)
class Ragged(Bundle):
    """Base of results that hold k elements in total for m queries.

    The elements of all queries are stored one query after the other in flat arrays of length k;
    CSR offsets mark where each query begins, as ``indptr`` does in `scipy.sparse.csr_array`.

    Attributes
    ----------
    offsets : ndarray of shape (m + 1,)
        Query i has the elements from ``offsets[i]`` to before ``offsets[i + 1]``.

    Examples
    --------
    >>> Ragged(np.array([0, 2, 2])).counts
    array([2, 0])
    """

    offsets: Indices

    def __len__(self) -> int:
        """Return the number of queries."""
        return len(self.offsets) - 1

    @property
    def counts(self) -> Indices:
        """Number of elements of each query; shape (m,)."""
        return np.diff(self.offsets)

    @property
    def queries(self) -> Indices:
        """Query of each element; shape (k,)."""
        return np.repeat(np.arange(len(self)), self.counts)

    def _facts(self) -> Iterable[str]:
        yield counted(len(self), "query", "queries")
        yield f"{int(self.offsets[-1])} elements"

    def _slice_of(self, query: int) -> slice:
        """Return where the elements of one query are in the flat arrays."""
        i = check_position(query, "query", len(self))
        return slice(self.offsets[i], self.offsets[i + 1])
