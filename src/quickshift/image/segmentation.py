"""Segments of pictures and volumes: pixels are points of their coordinates and colors."""

import math
import warnings

import numpy as np
from numpy.typing import ArrayLike

from quickshift.arrays import Indices
from quickshift.checks import check_least, check_tau
from quickshift.image.forest import SegmentForest, check_start
from quickshift.image.graph import climb_pixels, sum_kernels
from quickshift.image.pixels import read_image, spatial_shape
from quickshift.memory import require_memory, segment_bytes

__all__ = ["segment", "segment_forest"]


def segment(
    image: ArrayLike,
    *,
    bandwidth: float = 5.0,
    tau: float = 10.0,
    ratio: float = 1.0,
    sigma: ArrayLike = 0.0,
    convert2lab: bool = True,
    channel_axis: int | None = -1,
    window: float | None = 3.0,
    mask: ArrayLike | None = None,
    spacing: ArrayLike | None = None,
    n_segments: int | None = None,
    start_label: int = 0,
    n_jobs: int | None = None,
) -> Indices:
    """Segment a picture or a volume by Quick Shift.

    Every pixel is the point (coordinates, colors) and moves to its nearest pixel of higher density
    within tau; pixels that end at the same mode are a segment. Exact, without random numbers: the
    same picture gives the same segments on any number of threads. A segment may consist of several
    pieces, and some segments are specks: `enforce_connectivity` mends both.

    Parameters
    ----------
    image : array-like
        Picture or volume, gray or with channels. Integers are scaled as in scikit-image (uint8 by
        1/255), floats are taken as they are.
    bandwidth : float
        Width of the Gaussian kernel, in pixels and in scaled colors alike; a larger one gives fewer
        segments. ``kernel_size`` of scikit-image.
    tau : float
        Longest move, in the same units; a larger one gives fewer segments. ``max_dist`` of
        scikit-image.
    ratio : float
        What colors are multiplied by, that is how much they count beside the distance in pixels.
    sigma : float or sequence of float
        Blur before, in pixels.
    convert2lab : bool
        Whether 3 channels are RGB and converted to Lab, and gray to lightness L*, both from 0 to
        100. False takes the channels as they are: `ratio` should then bring them to the scale of
        pixels.
    channel_axis : int or None
        Axis of the channels; None if all axes are spatial, as in a gray volume. A picture with 2
        axes is gray by default.
    window : float or None
        The density sums over the pixels up to ``ceil(window * bandwidth)`` away along each axis;
        None for all that count (a relative 1e-9).
    mask : array-like of bool, optional
        Pixels that belong to the picture; the others are never read.
    spacing : float or sequence of float, optional
        Distance of neighbouring pixels along each axis, 1 by default; `bandwidth` and `tau` are in
        its unit.
    n_segments : int, optional
        Number of segments: the cut that has so many, whatever `tau` is.
    start_label : int
        First label; pixels outside the mask get one less.
    n_jobs : int, optional
        Threads; None for all cores that the process may use.

    Returns
    -------
    ndarray of the picture's shape without channels, int64
        Labels from `start_label` on, by falling density of the segments' modes.

    See Also
    --------
    segment_forest : The segments of every tau at once.
    quickshift.compat.skimage.quickshift : The results of scikit-image's function.

    Notes
    -----
    Three things differ from scikit-image's function. Equal densities are ordered by position, not
    by random noise, and of equally near parents the highest is taken, not the first: colors of 8
    bits have many such ties. Parents are looked for as far as tau reaches, there only in the window
    of the density: settings with a long ``max_dist``, such as LIME's, give far fewer segments here,
    so use `n_segments`. And labels are numbered by density, not by position.

    Examples
    --------
    >>> import quickshift as qs
    >>> image = np.zeros((6, 8))
    >>> image[:, 4:] = 1.0
    >>> qs.segment(image, tau=20.0)[0]
    array([1, 1, 1, 1, 0, 0, 0, 0])
    """
    check_start(start_label)
    forest = segment_forest(
        image,
        bandwidth=bandwidth,
        ratio=ratio,
        sigma=sigma,
        convert2lab=convert2lab,
        channel_axis=channel_axis,
        window=window,
        mask=mask,
        spacing=spacing,
        max_tau=check_tau(tau) if n_segments is None else math.inf,
        n_jobs=n_jobs,
    )
    if n_segments is not None:
        return forest.labels_for(n_segments, start_label=start_label, n_jobs=n_jobs)
    return forest.labels_at(tau, start_label=start_label, n_jobs=n_jobs)


def segment_forest(
    image: ArrayLike,
    *,
    bandwidth: float = 5.0,
    ratio: float = 1.0,
    sigma: ArrayLike = 0.0,
    convert2lab: bool = True,
    channel_axis: int | None = -1,
    window: float | None = 3.0,
    mask: ArrayLike | None = None,
    spacing: ArrayLike | None = None,
    max_tau: float = math.inf,
    n_jobs: int | None = None,
) -> SegmentForest:
    """Find the parents of a picture's pixels: the segments of every tau follow from them.

    Parameters
    ----------
    image : array-like
        Picture or volume, gray or with channels; this and the next ones as in `segment`.
    bandwidth : float
        Width of the Gaussian kernel.
    ratio : float
        What colors are multiplied by.
    sigma : float or sequence of float
        Blur before.
    convert2lab : bool
        Whether RGB is converted to Lab, and gray to lightness.
    channel_axis : int or None
        Axis of the channels.
    window : float or None
        Half the width of the box that the density sums over, in bandwidths.
    mask : array-like of bool, optional
        Pixels that belong to the picture.
    spacing : float or sequence of float, optional
        Distance of neighbouring pixels along each axis.
    max_tau : float
        How far to look for parents. Infinity finds all; a finite one is faster.
    n_jobs : int, optional
        Threads; None for all cores.

    Returns
    -------
    SegmentForest

    Examples
    --------
    >>> import quickshift as qs
    >>> image = np.zeros((6, 8))
    >>> image[:, 4:] = 1.0
    >>> forest = qs.segment_forest(image)
    >>> [int(forest.labels_at(tau).max()) + 1 for tau in (0.5, 20.0, 200.0)]
    [48, 2, 1]
    """
    farthest = check_least(max_tau, "max_tau", "a length of at least 0")
    _refuse_wide(image)
    _refuse_large(np.shape(image), channel_axis)
    pixels = read_image(
        image,
        ratio=ratio,
        sigma=sigma,
        convert2lab=convert2lab,
        channel_axis=channel_axis,
        mask=mask,
        spacing=spacing,
        n_jobs=n_jobs,
    )
    density = sum_kernels(pixels, bandwidth, window, n_jobs=n_jobs)
    graph = climb_pixels(pixels, density, farthest, n_jobs=n_jobs)
    return SegmentForest(
        graph.parent.reshape(pixels.shape),
        graph.distance.reshape(pixels.shape),
        density.reshape(pixels.shape),
        farthest,
    )


def _refuse_wide(image: ArrayLike) -> None:
    """Raise where integers would be divided by far more than the largest of them."""
    array = np.asarray(image)
    if array.dtype.kind not in "iu" or array.dtype.itemsize == 1 or array.size == 0:
        return
    largest = max(int(array.max()), -int(array.min()))
    came = f"image is of type {array.dtype} with values up to {largest}"
    if array.dtype.itemsize > 2 and largest <= np.iinfo(np.uint16).max:
        fit = "uint8" if largest <= np.iinfo(np.uint8).max else "uint16"
        raise ValueError(
            f"{came}, expected integers of their type's whole range, by which they are divided. "
            f"Use image.astype(numpy.{fit})."
        )
    if 0 < largest <= np.iinfo(np.uint8).max:
        warnings.warn(
            f"{came}, which is all but black: colors are divided by {np.iinfo(array.dtype).max}. "
            f"Use image.astype(numpy.uint8) if its values are bytes.",
            stacklevel=4,
        )


def _refuse_large(shape: tuple[int, ...], channel_axis: int | None) -> None:
    """Raise where a picture of that shape would not fit into memory."""
    grid = spatial_shape(shape, channel_axis)
    n_pixels = math.prod(grid)
    needed = segment_bytes(n_pixels, math.prod(shape) // n_pixels)
    require_memory(needed, "segment_forest", grid, "use segment_tiles for pictures of any size")
