"""Array types for annotations."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Flags", "Floats", "Indices", "Numbers"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]
Numbers = NDArray[Any]  # float64 or float32 for points, any numeric type for colors
