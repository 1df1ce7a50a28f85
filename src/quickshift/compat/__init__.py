"""Functions of other libraries, with their signatures, results and quirks."""

from quickshift.compat import skimage

__all__ = ["skimage"]
