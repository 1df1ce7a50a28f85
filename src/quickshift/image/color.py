"""Conversion of colors: from integers to floats, and from sRGB to CIE L*a*b*.

The results equal those of `skimage.util.img_as_float` and `skimage.color.rgb2lab` bit for bit, so
that the segments of both libraries can be compared pixel by pixel. Unlike scikit-image, these
functions convert a picture in chunks, on all cores. They expect arrays that have passed
`quickshift.checks.images.check_image`.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np

from quickshift.arrays import Numbers
from quickshift.threads import resolve_threads

__all__ = ["gray_to_lightness", "rgb_to_lab", "to_float"]

_XYZ_FROM_RGB = np.array(  # the sRGB standard
    [
        [0.412453, 0.357580, 0.180423],
        [0.212671, 0.715160, 0.072169],
        [0.019334, 0.119193, 0.950227],
    ]
)
_WHITE = (0.95047, 1.0, 1.08883)  # illuminant D65, observer of 2 degrees
_LINEAR_UP_TO = 0.04045
_LEAST_BASE = 0.09  # less than (0.04045 + 0.055) / 1.055, the smallest base whose power is used
_DARK_UP_TO = 0.008856
_CHUNK = 1 << 14  # pixels converted at a time, so that intermediate arrays stay in the cache


def to_float(image: Numbers) -> Numbers:
    """Convert a picture to floats; integers are divided by the maximum of their type.

    Parameters
    ----------
    image : ndarray
        Bools, integers or floats of any shape.

    Returns
    -------
    ndarray of the same shape, float32 or float64
        Unsigned integers are scaled to [0, 1], signed ones to [-1, 1]; bools become 0 or 1. Floats
        keep their values: float32 and float64 are returned without a copy, float16 becomes float32,
        and longer types become float64.

    Examples
    --------
    >>> import numpy as np
    >>> to_float(np.array([0, 51, 255], dtype=np.uint8))
    array([0. , 0.2, 1. ])
    >>> to_float(np.array([-128, 127], dtype=np.int8))
    array([-1.,  1.])
    """
    if image.dtype.kind == "f":
        narrow = image.dtype.itemsize <= 4
        with np.errstate(over="ignore"):  # a long double beyond float64 becomes infinite
            return image.astype(np.float32 if narrow else np.float64, copy=False)
    if image.dtype.kind == "b":
        return image.astype(np.float64)
    # scikit-image multiplies by the reciprocal; a quotient would differ in the last bit.
    scaled = np.asarray(np.multiply(image, 1.0 / np.iinfo(image.dtype).max, dtype=np.float64))
    if image.dtype.kind == "i":
        np.maximum(scaled, -1.0, out=scaled)
    return scaled


def rgb_to_lab(image: Numbers, *, n_jobs: int | None = None) -> Numbers:
    """Convert sRGB to CIE L*a*b* for the illuminant D65 and the observer of 2 degrees.

    Parameters
    ----------
    image : ndarray of shape (..., 3)
        Red, green and blue, which are scaled as in `to_float`.
    n_jobs : int, optional
        Threads; None for all cores.

    Returns
    -------
    ndarray of shape (..., 3), float32 or float64
        L from 0 to 100, a and b from about -110 to 110. The same bits as `skimage.color.rgb2lab`
        for any number of threads.

    Examples
    --------
    >>> import numpy as np
    >>> rgb_to_lab(np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 1.0]])).round(1) + 0.0
    array([[ 53.2,  80.1,  67.2],
           [100. ,   0. ,   0. ]])
    """
    rgb = _bytes_or_floats(image)
    lab = np.empty(rgb.shape, dtype=_float_type(rgb))
    if lab.size:
        # Chunks consist of whole rows. scikit-image calls BLAS once per row of pixels, and the
        # rounding of BLAS may depend on the number of pixels (it does for a single pixel).
        width = rgb.shape[-2] if rgb.ndim > 1 else 1
        rows, lab_rows = rgb.reshape(-1, width, 3), lab.reshape(-1, width, 3)
        _in_chunks(_lab, rows, lab_rows, width, n_jobs)
    return lab


def gray_to_lightness(image: Numbers, *, n_jobs: int | None = None) -> Numbers:
    """Convert gray values to L*, the first channel of Lab for three equal channels.

    Parameters
    ----------
    image : ndarray
        Gray values of any shape, which are scaled as in `to_float`.
    n_jobs : int, optional
        Threads; None for all cores.

    Returns
    -------
    ndarray of the same shape, float32 or float64
        Lightness from 0 to 100. It equals the first channel of `rgb_to_lab` up to rounding.

    Examples
    --------
    >>> import numpy as np
    >>> gray_to_lightness(np.array([0.0, 0.5, 1.0])).round(1)
    array([  0. ,  53.4, 100. ])
    """
    gray = _bytes_or_floats(image)
    lightness = np.empty(gray.shape, dtype=_float_type(gray))
    _in_chunks(_lightness, gray.reshape(-1), lightness.reshape(-1), 1, n_jobs)
    return lightness


def _bytes_or_floats(image: Numbers) -> Numbers:
    """Convert a picture to floats, except bytes, whose linear intensities are in a table."""
    return image if image.dtype == np.uint8 else to_float(image)


def _float_type(array: Numbers) -> type[np.floating[Any]]:
    return np.float32 if array.dtype == np.float32 else np.float64


def _in_chunks(
    convert: Callable[[Numbers], Numbers],
    source: Numbers,
    target: Numbers,
    width: int,
    n_jobs: int | None,
) -> None:
    """Convert the source, whose rows have ``width`` pixels, into the target on several threads."""
    step = max(1, _CHUNK // width)
    starts = range(0, len(source), step)
    threads = min(resolve_threads(n_jobs), len(starts))

    def work(start: int) -> None:
        target[start : start + step] = convert(source[start : start + step])

    if threads > 1:
        try:
            with ThreadPoolExecutor(threads) as pool:
                for _ in pool.map(work, starts):
                    pass  # iterating raises the exceptions of the threads
            return
        except RuntimeError:  # the system starts no more threads: convert on this one
            pass
    for start in starts:
        work(start)


def _lab(rgb: Numbers) -> Numbers:
    linear = _linear(rgb)
    # `.T.astype` gives the matrix the memory order in which scikit-image hands it to BLAS.
    xyz = linear @ _XYZ_FROM_RGB.T.astype(linear.dtype)
    x, y, z = (
        _perceived(xyz[..., channel] / linear.dtype.type(white))
        for channel, white in enumerate(_WHITE)
    )
    return np.stack([116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)], axis=-1)


def _lightness(gray: Numbers) -> Numbers:
    # The linear intensity is Y itself: Y's row of the matrix sums to 1, and white has Y = 1.
    return 116.0 * _perceived(_linear(gray)) - 16.0


def _linear(stored: Numbers) -> Numbers:
    """Undo the gamma curve of sRGB."""
    if stored.dtype == np.uint8:
        return _linear_of_bytes().take(stored)
    # The powers of smaller bases are not used. They would be slow to compute, or NaN for negative
    # bases, so the base is replaced.
    base = np.maximum((stored + 0.055) / 1.055, _LEAST_BASE)
    return np.where(stored <= _LINEAR_UP_TO, stored / 12.92, base**2.4)


@cache
def _linear_of_bytes() -> Numbers:
    return _linear(to_float(np.arange(256, dtype=np.uint8)))


def _perceived(linear: Numbers) -> Numbers:
    """Return the cube root, or a linear function for dark colors, as CIE L*a*b* defines."""
    return np.where(linear <= _DARK_UP_TO, 7.787 * linear + 16.0 / 116.0, np.cbrt(linear))
