"""What `skimage.segmentation.quickshift` returns, computed faster."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quickshift import _core
from quickshift.arrays import Floats, Numbers
from quickshift.image.color import rgb_to_lab, to_float
from quickshift.threads import resolve_threads

__all__ = ["quickshift"]

_NOISE = 1e-5  # standard deviation
_WINDOW = 3  # half its width in kernel sizes

Labels = NDArray[np.intp]


def quickshift(  # noqa: PLR0917 (scikit-image's signature)
    image: ArrayLike,
    ratio: float = 1.0,
    kernel_size: float = 5,
    max_dist: float = 10,
    return_tree: bool = False,
    sigma: float = 0,
    convert2lab: bool = True,
    rng: Any = 42,
    *,
    channel_axis: int = -1,
) -> Labels | tuple[Labels, Labels, Numbers]:
    """Segment a picture exactly as ``skimage.segmentation.quickshift`` does.

    For code that has to give the same segments as before. `quickshift.segment` has no random
    numbers, masks, volumes, gray pictures and every tau at once.

    Parameters
    ----------
    image : array-like of shape (M, N, 3) or (M, N)
        Picture; with ``convert2lab=False`` of any number of channels.
    ratio : float
        What colors are multiplied by.
    kernel_size : float
        Width of the Gaussian kernel, at least 1.
    max_dist : float
        Longest move. Parents are looked for in the window of the density alone, up to three kernel
        sizes away along each axis, however long this is.
    return_tree : bool
        Whether parents and distances are returned too.
    sigma : float
        Blur before, in pixels.
    convert2lab : bool
        Whether RGB is converted to Lab.
    rng : {None, int, numpy.random.Generator}
        Where the noise on the density comes from that breaks ties.
    channel_axis : int
        Axis of the channels.

    Returns
    -------
    labels : ndarray of shape (M, N), intp
        Segments, numbered by the position of their modes.
    parent : ndarray of shape (M, N), intp
        With `return_tree`: each pixel's parent before the cut, as its position in C order.
    distance : ndarray of shape (M, N), float64 or float32
        With `return_tree`: the distance to it; huge (float64) or infinite (float32) where none is
        higher.

    Examples
    --------
    >>> image = np.zeros((4, 6, 3))
    >>> image[:, 3:] = 1.0
    >>> quickshift(image, kernel_size=2, max_dist=50)[0]
    array([1, 1, 1, 0, 0, 0])
    """
    pixels = _prepare(image, sigma, convert2lab, kernel_size, channel_axis) * ratio
    pixels = np.ascontiguousarray(pixels)
    if not np.isfinite(pixels).all():
        raise ValueError("image has NaN or infinity, expected finite numbers. Fill them.")
    rows, columns = pixels.shape[:2]
    width = pixels.dtype.type(kernel_size)  # numbers are of the picture's type there
    reach = math.ceil(min(_WINDOW * float(width), max(rows, columns)))
    threads = resolve_threads(None)
    density = _densities(pixels, width, reach, np.random.default_rng(rng), threads)
    single = pixels.dtype == np.float32
    colors = pixels.reshape(rows * columns, -1)
    parent, distance = _core.raster_parents(colors, rows, columns, density, reach, single, threads)
    distance = distance.astype(pixels.dtype, copy=False)
    labels = _cut(parent, distance, pixels.dtype.type(max_dist), threads).reshape(rows, columns)
    if not return_tree:
        return labels
    if not single:
        distance[np.isinf(distance)] = math.sqrt(np.finfo(np.float64).max)
    return labels, parent.view(np.intp).reshape(rows, columns), distance.reshape(rows, columns)


def _prepare(
    image: ArrayLike, sigma: float, convert2lab: bool, kernel_size: float, channel_axis: int
) -> Numbers:
    picture = to_float(np.atleast_3d(np.asanyarray(image)))
    if picture.ndim > 3:
        raise ValueError(
            f"image has shape {picture.shape}, expected 2 axes of pixels and at most one of "
            f"channels. Use quickshift.segment for volumes."
        )
    picture = np.moveaxis(picture, channel_axis, -1)
    if picture.size == 0:
        raise ValueError(f"image has shape {picture.shape}, expected at least one pixel.")
    if convert2lab:
        if picture.shape[-1] != 3:
            raise ValueError(
                f"image has {picture.shape[-1]} channels, expected 3 to convert to Lab. Pass "
                f"convert2lab=False, or use quickshift.segment, which takes gray pictures too."
            )
        picture = rgb_to_lab(picture)
    if not 1 <= kernel_size < 1e18:
        raise ValueError(f"kernel_size is {kernel_size!r}, expected at least 1, and below 1e18.")
    if sigma < 0:
        raise ValueError(f"sigma is {sigma!r}, expected a width of at least 0.")
    if sigma:
        from scipy.ndimage import gaussian_filter

        picture = gaussian_filter(picture, (sigma, sigma, 0), mode="reflect")
    return picture


def _densities(
    pixels: Numbers,
    width: np.floating[Any],
    reach: int,
    rng: np.random.Generator,
    threads: int,
) -> Floats:
    """Sum kernels on top of noise, in the arithmetic of the picture's type."""
    rows, columns, channels = pixels.shape
    noise = rng.normal(scale=_NOISE, size=rows * columns)
    colors = pixels.reshape(rows * columns, channels)
    if pixels.dtype == np.float32:
        # One unit in the last place is more than the noise: every addition is rounded as there.
        start = noise.astype(np.float32).astype(np.float64)
        factor = -0.5 / float(width * width)
        return _core.raster_sums_single(colors, rows, columns, start, factor, reach, threads)
    shape = np.array([rows, columns], dtype=np.int64)
    window = np.full(2, reach, dtype=np.int64)
    sums = _core.pixel_sums(colors, shape, np.ones(2), None, float(width), window, threads)
    sums += noise
    return sums


def _cut(parent: NDArray[np.intp], distance: Numbers, max_dist: float, threads: int) -> Labels:
    """Give trees numbers by the positions of their roots."""
    kept = np.where(distance > max_dist, math.inf, distance.astype(np.float64, copy=False))
    root, roots = _core.find_roots(parent, kept, np.finfo(np.float64).max, threads)
    return _core.number_trees(root, roots, threads).view(np.intp)
