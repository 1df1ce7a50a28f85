"""Array types for annotations, and the form in which the core takes arrays."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

__all__ = ["Flags", "Floats", "Indices", "Numbers", "packed"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]
Numbers = NDArray[Any]  # float64 or float32 for points, any numeric type for colors


def packed(values: ArrayLike, dtype: DTypeLike | None = None) -> NDArray[Any]:
    """Return an array in C order and aligned in memory; a copy only if the values are not yet.

    Fields of structured arrays and views of bytes may be unaligned, and C++ must not read them.
    """
    return np.require(np.ascontiguousarray(values, dtype=dtype), requirements="A")
