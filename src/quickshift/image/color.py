"""Colors as the algorithm wants them: floats with scikit-image's ranges, then CIE L*a*b*.

Everything equals `skimage.util.img_as_float` and `skimage.color.rgb2lab` bit for bit, so that
segments can be compared pixel by pixel; but the work is done in chunks, on all cores.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from quickshift.arrays import Numbers
from quickshift.threads import resolve_threads

__all__ = ["check_image", "gray_to_lightness", "rgb_to_lab", "to_float"]

Write = Callable[[Numbers, Numbers, Numbers, Numbers], None]

_XYZ_FROM_RGB = np.array(  # the sRGB standard
    [
        [0.412453, 0.357580, 0.180423],
        [0.212671, 0.715160, 0.072169],
        [0.019334, 0.119193, 0.950227],
    ]
)
_WHITE = (0.95047, 1.0, 1.08883)  # D65 seen under 2 degrees
_LINEAR_UP_TO = 0.04045
_LEAST_BASE = 0.09  # below (0.04045 + 0.055) / 1.055, the least base whose power is used
_DARK_UP_TO = 0.008856
_CHUNK = 1 << 16  # pixels a thread takes at a time: they stay in the cache, and calls are few


def check_image(image: ArrayLike) -> Numbers:
    """Return a picture as an array of bools, integers or floats; nothing else can be scaled.

    Examples
    --------
    >>> check_image([[0.0, 1.0]]).shape
    (1, 2)
    """
    if isinstance(image, np.ma.MaskedArray):
        masked = int(np.ma.getmaskarray(image).sum())
        raise TypeError(
            f"image is a masked array with {masked} masked entries, expected a plain array. Pass "
            f"image.data, and mask=~numpy.ma.getmaskarray(image) (of one channel) if you segment."
        )
    try:
        array = np.asarray(image)
    except (TypeError, ValueError) as error:
        message = f"image is no array ({error}), expected numbers on a grid. Pad or crop its rows."
        raise ValueError(message) from error
    if array.dtype.kind == "c":
        raise TypeError(
            f"image is complex ({array.dtype}), expected real numbers. Pass abs(image), or stack "
            f"image.real and image.imag as channels and use convert2lab=False."
        )
    if array.dtype.kind not in "biuf":
        raise TypeError(
            f"image is of type {array.dtype}, expected bools, integers or floats. Convert it, for "
            f"example with image.astype(float)."
        )
    return array


def to_float(image: ArrayLike) -> Numbers:
    """Return a picture as floats, integers scaled by the largest of their type.

    Parameters
    ----------
    image : array-like
        Bools, integers or floats of any shape.

    Returns
    -------
    ndarray of the same shape, float32 or float64
        Unsigned integers become 0 to 1, signed ones -1 to 1, bools 0 or 1. Floats keep their range:
        float32 and float64 come back as they are, not copied, float16 as float32 and longer ones as
        float64.

    Examples
    --------
    >>> import numpy as np
    >>> to_float(np.array([0, 51, 255], dtype=np.uint8))
    array([0. , 0.2, 1. ])
    >>> to_float(np.array([-128, 127], dtype=np.int8))
    array([-1.,  1.])
    """
    array = check_image(image)
    if array.dtype.kind == "f":
        narrow = array.dtype.itemsize <= 4
        with np.errstate(over="ignore"):  # of a long double: it becomes infinite
            return array.astype(np.float32 if narrow else np.float64, copy=False)
    if array.dtype.kind == "b":
        return array.astype(np.float64)
    # A product, not a quotient: scikit-image's last bit.
    scaled = np.asarray(np.multiply(array, 1.0 / np.iinfo(array.dtype).max, dtype=np.float64))
    if array.dtype.kind == "i":
        np.maximum(scaled, -1.0, out=scaled)
    return scaled


def rgb_to_lab(image: ArrayLike, *, n_jobs: int | None = None) -> Numbers:
    """Convert sRGB to CIE L*a*b* for the white D65 under 2 degrees.

    Parameters
    ----------
    image : array-like of shape (..., 3)
        Red, green and blue, scaled as `to_float` does it.
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
    if rgb.ndim == 0 or rgb.shape[-1] != 3:
        raise ValueError(
            f"image has shape {rgb.shape}, expected (..., 3): red, green and blue on the last "
            f"axis. Use numpy.moveaxis if they are on another one."
        )
    lab = np.empty(rgb.shape, dtype=_float_type(rgb))
    if lab.size:
        # Whole rows, because scikit-image multiplies row by row and BLAS may round otherwise where
        # it is given another number of pixels: it does for one.
        width = rgb.shape[-2] if rgb.ndim > 1 else 1
        rows, lab_rows = rgb.reshape(-1, width, 3), lab.reshape(-1, width, 3)
        _in_chunks(_write_lab, rows, lab_rows, width, n_jobs)
    return lab


def gray_to_lightness(image: ArrayLike, *, n_jobs: int | None = None) -> Numbers:
    """Convert gray values to L*: what `rgb_to_lab` gives for three equal channels, to rounding.

    Parameters
    ----------
    image : array-like
        Gray values of any shape, scaled as `to_float` does it.
    n_jobs : int, optional
        Threads; None for all cores.

    Returns
    -------
    ndarray of the same shape, float32 or float64
        From 0 to 100.

    Examples
    --------
    >>> import numpy as np
    >>> gray_to_lightness(np.array([0.0, 0.5, 1.0])).round(1)
    array([  0. ,  53.4, 100. ])
    """
    gray = _bytes_or_floats(image)
    lightness = np.empty(gray.shape, dtype=_float_type(gray))
    _in_chunks(_write_lightness, gray.reshape(-1), lightness.reshape(-1), 1, n_jobs)
    return lightness


def _bytes_or_floats(image: ArrayLike) -> Numbers:
    """Return bytes as they are, since a table knows their light, and all else as floats."""
    array = check_image(image)
    return array if array.dtype == np.uint8 else to_float(array)


def _float_type(array: Numbers) -> type[np.floating[Any]]:
    return np.float32 if array.dtype == np.float32 else np.float64


def _in_chunks(
    write: Write, source: Numbers, target: Numbers, width: int, n_jobs: int | None
) -> None:
    """Write the target from the source, some rows of ``width`` pixels at a time."""
    threads = max(1, min(resolve_threads(n_jobs), len(source) * width // _CHUNK))
    step = max(1, _CHUNK // width)
    starts = range(0, len(source), step)

    def work(first: int) -> None:
        # Two arrays for all chunks of a thread: to get new ones costs more than to fill them. In
        # one block they would touch: NumPy 1 takes that for an overlap and gives other bits.
        shape = (min(step, len(source)), *source.shape[1:])
        one, two = np.empty(shape, dtype=target.dtype), np.empty(shape, dtype=target.dtype)
        for start in starts[first::threads]:
            part = target[start : start + step]
            write(source[start : start + step], part, one[: len(part)], two[: len(part)])

    if threads == 1:
        work(0)
        return
    with ThreadPoolExecutor(threads - 1) as pool:
        others = [pool.submit(work, first) for first in range(1, threads)]
        work(0)
    for other in others:
        other.result()  # raises what it raised


def _write_lab(rgb: Numbers, lab: Numbers, xyz: Numbers, planes: Numbers) -> None:
    _to_light(rgb, lab, xyz)
    # `.T.astype` keeps the order in memory that scikit-image hands to BLAS.
    np.matmul(lab, _XYZ_FROM_RGB.T.astype(lab.dtype), out=xyz)
    planes = planes.reshape(3, *lab.shape[:-1])  # loops over 3 channels would be slow
    for channel, white in enumerate(_WHITE):
        np.divide(xyz[..., channel], lab.dtype.type(white), out=planes[channel])
    x, y, z = _to_perceived(planes, xyz.reshape(planes.shape))
    free = planes[0]
    np.subtract(np.multiply(116.0, y, out=free), 16.0, out=lab[..., 0])
    np.multiply(500.0, np.subtract(x, y, out=free), out=lab[..., 1])
    np.multiply(200.0, np.subtract(y, z, out=free), out=lab[..., 2])


def _write_lightness(gray: Numbers, lightness: Numbers, light: Numbers, free: Numbers) -> None:
    _to_light(gray, light, free)  # Y itself: its row of the matrix sums to 1, and white has Y = 1
    np.subtract(np.multiply(116.0, _to_perceived(light, free), out=free), 16.0, out=lightness)


def _to_light(stored: Numbers, light: Numbers, base: Numbers) -> None:
    """Undo the gamma of sRGB; ``base`` is overwritten."""
    if stored.dtype == np.uint8:
        np.take(_light_of_bytes(), stored, out=light, mode="clip")  # other modes copy the output
        return
    dark = stored <= _LINEAR_UP_TO
    any_dark = dark.any()
    np.divide(np.add(stored, 0.055, out=base), 1.055, out=base)
    if any_dark:
        np.maximum(base, _LEAST_BASE, out=base)  # a power of less is slow, below 0 it is NaN
    np.power(base, 2.4, out=light)
    if any_dark:
        np.divide(stored, 12.92, out=light, where=dark)


@cache
def _light_of_bytes() -> Numbers:
    values = to_float(np.arange(256, dtype=np.uint8))
    light = np.empty_like(values)
    _to_light(values, light, np.empty_like(values))
    return light


def _to_perceived(light: Numbers, root: Numbers) -> Numbers:
    """Fill and return the cube root, or the line that replaces it; ``light`` is overwritten."""
    np.cbrt(light, out=root)
    dark = light <= _DARK_UP_TO
    if dark.any():
        np.add(np.multiply(7.787, light, out=light), 16.0 / 116.0, out=light)
        np.copyto(root, light, where=dark)
    return root
