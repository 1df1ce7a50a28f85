"""A faster drop-in replacement for `skimage.segmentation.quickshift`."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quickshift import _core
from quickshift.arrays import Floats, Numbers
from quickshift.checks.images import check_kernel_size, check_skimage_image
from quickshift.checks.numbers import check_nonnegative
from quickshift.image.color import rgb_to_lab, to_float
from quickshift.threads import resolve_threads

__all__ = ["quickshift"]

_NOISE = 1e-5  # standard deviation of the noise that is added to densities
_WINDOW = 3  # half the width of the window, in kernel sizes


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
) -> NDArray[np.intp] | tuple[NDArray[np.intp], NDArray[np.intp], Numbers]:
    """Segment a picture exactly as ``skimage.segmentation.quickshift`` does.

    Use this function if existing code must keep the segments that it has today. For new code
    prefer `quickshift.segment`: it uses no random numbers, it also segments gray pictures and
    volumes, and it supports masks. `quickshift.segment_forest` computes the segments for every tau
    at once.

    Parameters
    ----------
    image : array-like of shape (M, N, 3) or (M, N)
        Picture. With ``convert2lab=False`` it may be gray or have any number of channels.
    ratio : float
        Factor by which colors are multiplied.
    kernel_size : float
        Scale of the Gaussian kernel, at least 1.
    max_dist : float
        Longest move. However large it is, parents are searched only in the window of the density,
        which extends three kernel sizes along each axis.
    return_tree : bool
        Whether parents and distances are returned too.
    sigma : float
        Standard deviation, in pixels, of a Gaussian blur that is applied first.
    convert2lab : bool
        Whether RGB is converted to Lab.
    rng : {None, int, numpy.random.Generator}
        Seed or source of the noise that is added to the densities to break ties.
    channel_axis : int
        Axis of the channels.

    Returns
    -------
    labels : ndarray of shape (M, N), intp
        Segments, numbered by the position of their modes.
    parent : ndarray of shape (M, N), intp
        Index of each pixel's parent in the flattened picture (C order), before the cut. Only with
        `return_tree`.
    distance : ndarray of shape (M, N), float64 or float32
        Distance to the parent. Pixels without a parent have the square root of the largest float64,
        or infinity if the picture is float32. Only with `return_tree`.

    Examples
    --------
    >>> image = np.zeros((4, 6, 3))
    >>> image[:, 3:] = 1.0
    >>> quickshift(image, kernel_size=2, max_dist=50)[0]
    array([1, 1, 1, 0, 0, 0])
    """
    size = check_kernel_size(kernel_size)
    blur = check_nonnegative(float(sigma), "sigma", "a width of at least 0")
    pixels = _prepare(image, blur, convert2lab, channel_axis) * ratio
    pixels = np.ascontiguousarray(pixels)
    if not np.isfinite(pixels).all():
        raise ValueError(
            "image has NaN or infinity, expected finite numbers. Fill those pixels, for example "
            "with numpy.nan_to_num(image)."
        )
    rows, columns = pixels.shape[:2]
    width = pixels.dtype.type(size)  # scikit-image computes in the picture's type
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


def _prepare(image: ArrayLike, sigma: float, convert2lab: bool, channel_axis: int) -> Numbers:
    """Return the picture as floats, channels last, converted to Lab and blurred if wanted."""
    picture = to_float(check_skimage_image(image, channel_axis, to_lab=convert2lab))
    if convert2lab:
        picture = rgb_to_lab(picture)
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
    """Return sums of kernels plus noise, in the arithmetic of the picture's type."""
    rows, columns, channels = pixels.shape
    noise = rng.normal(scale=_NOISE, size=rows * columns)
    colors = pixels.reshape(rows * columns, channels)
    if pixels.dtype == np.float32:
        # In single precision the last bit of a sum is larger than the noise, so rounding decides
        # which pixels are higher. Every addition must therefore be rounded as in scikit-image.
        start = noise.astype(np.float32).astype(np.float64)
        factor = -0.5 / float(width * width)
        return _core.raster_sums_single(colors, rows, columns, start, factor, reach, threads)
    shape = np.array([rows, columns], dtype=np.int64)
    window = np.full(2, reach, dtype=np.int64)
    sums = _core.pixel_sums(colors, shape, np.ones(2), None, float(width), window, threads)
    sums += noise
    return sums


def _cut(
    parent: NDArray[np.intp], distance: Numbers, max_dist: float, threads: int
) -> NDArray[np.intp]:
    """Cut the moves longer than ``max_dist``, and number the trees by position of their roots."""
    kept = np.where(distance > max_dist, math.inf, distance.astype(np.float64, copy=False))
    root, roots = _core.find_roots(parent, kept, np.finfo(np.float64).max, threads)
    return _core.number_trees(root, roots, threads).view(np.intp)
