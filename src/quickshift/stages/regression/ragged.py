"""Results of which queries have different numbers, those of one query side by side."""

from dataclasses import dataclass
from operator import index

import numpy as np

from quickshift.arrays import Indices

__all__ = ["Ragged"]


@dataclass(frozen=True)
class Ragged:
    """What belongs to each of m queries, k in all.

    Attributes
    ----------
    offsets : ndarray of shape (m + 1,)
        Those of query i are the elements from ``offsets[i]`` to before ``offsets[i + 1]``.

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

    def _own(self, query: int) -> slice:
        i = range(len(self))[index(query)]
        return slice(self.offsets[i], self.offsets[i + 1])
