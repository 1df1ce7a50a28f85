"""Functions of other libraries, with the same signatures, results and quirks."""

from quickshift.compat import skimage

__all__ = ["skimage"]
