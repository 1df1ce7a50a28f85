"""Segmentation of pictures and volumes: each pixel is the point of its coordinates and colors."""

import math
from typing import Any

from numpy.typing import ArrayLike

from quickshift.arrays import Indices
from quickshift.checks.images import (
    check_image,
    check_integer_range,
    check_mask,
    check_one_cut,
    check_pixel_bandwidth,
    check_start_label,
    check_window,
)
from quickshift.checks.numbers import check_nonnegative, check_tau
from quickshift.image.forest import SegmentForest, cut_forest, cut_forest_into
from quickshift.image.graph import climb_pixels, sum_kernels
from quickshift.image.pixels import pixel_settings, pixels_of
from quickshift.memory import require_memory, segment_bytes
from quickshift.progress import Progress

__all__ = ["segment", "segment_forest"]

_TAU = 10.0  # the default of `segment`


def segment(
    image: ArrayLike,
    *,
    bandwidth: float = 5.0,
    tau: float = _TAU,
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
    progress: Progress | None = None,
) -> Indices:
    """Segment a picture or a volume by Quick Shift.

    Every pixel is the point (coordinates, colors). It moves to the nearest pixel of higher density
    within tau, and the pixels that end at the same mode form a segment. The result is exact and
    deterministic: the same picture gives the same segments for any number of threads. A segment
    may consist of several connected pieces, and some segments have only a few pixels. Apply
    `enforce_connectivity` to the labels if every segment should be connected and of a minimum size.

    Parameters
    ----------
    image : array-like
        Picture or volume, gray or with channels. Integers are scaled as in scikit-image (uint8 is
        divided by 255), floats are used unchanged.
    bandwidth : float
        Scale of the Gaussian kernel, for pixel coordinates and scaled colors alike; a larger
        bandwidth gives fewer segments. Corresponds to scikit-image's ``kernel_size``.
    tau : float
        Longest move, in the units of `bandwidth`; a larger tau gives fewer segments. Corresponds to
        scikit-image's ``max_dist``.
    ratio : float
        Factor by which colors are multiplied: how much color differences count relative to
        distances in pixels.
    sigma : float or sequence of float
        Standard deviation, in pixels, of a Gaussian blur that is applied first.
    convert2lab : bool
        Whether 3 channels are converted from RGB to Lab, and gray to lightness L*; L* ranges from 0
        to 100. With False the channels are used unconverted, and `ratio` should bring them to the
        scale of pixels.
    channel_axis : int or None
        Axis of the channels; None if all axes are spatial, as in a gray volume. By default, a
        picture with 2 axes is gray.
    window : float or None
        The density sums over the pixels up to ``ceil(window * bandwidth / spacing)`` away along
        each axis. None chooses a window outside of which less than 1e-9 of any sum is lost.
    mask : array-like of bool, optional
        True for the pixels that belong to the picture. The colors of the other pixels are ignored.
    spacing : float or sequence of float, optional
        Distance between neighboring pixels along each axis, 1 by default; `bandwidth` and `tau` are
        measured in its unit.
    n_segments : int, optional
        Number of segments, instead of `tau`: the longest moves are cut until the picture has that
        many segments. An error if `tau` is given as well, unless that is the default.
    start_label : int
        First label; pixels outside the mask get ``start_label - 1``.
    n_jobs : int, optional
        Threads; None for all cores that the process may use.
    progress : callable, optional
        Called as ``progress(stage, done)``, about ten times a second and when a stage is complete;
        ``done`` rises to 1. An exception that it raises stops the computation. The stages are
        "estimate_density", "climb" and "cut".

    Returns
    -------
    ndarray of the picture's shape without channels, int64
        Labels from `start_label` on, in descending order of the density at the segments' modes.

    See Also
    --------
    segment_forest : The segments of every tau at once.
    quickshift.compat.skimage.quickshift : The results of scikit-image's function.

    Notes
    -----
    The result differs from scikit-image's in three respects. First, pixels of equal density are
    ordered by position instead of by random noise, and of equally near parents the highest is
    chosen instead of the first; pictures with 8 bits per channel have many such ties. Second,
    parents are searched up to tau, whereas scikit-image searches only the window of the density.
    Settings with a long ``max_dist``, such as LIME's, therefore give far fewer segments here; use
    `n_segments` instead. Third, labels are numbered by density instead of by position.

    Examples
    --------
    >>> import numpy as np
    >>> import quickshift as qs
    >>> image = np.zeros((6, 8))
    >>> image[:, 4:] = 1.0
    >>> qs.segment(image, tau=20.0)[0]
    array([1, 1, 1, 1, 0, 0, 0, 0])
    """
    first = check_start_label(start_label)
    check_one_cut(tau, n_segments, _TAU)
    longest = check_tau(tau) if n_segments is None else math.inf
    forest = _find_forest(
        image,
        bandwidth=bandwidth,
        window=window,
        mask=mask,
        max_tau=longest,
        n_jobs=n_jobs,
        progress=progress,
        ratio=ratio,
        sigma=sigma,
        convert2lab=convert2lab,
        channel_axis=channel_axis,
        spacing=spacing,
    )
    if n_segments is not None:
        return cut_forest_into(forest, n_segments, first, n_jobs, progress)
    return cut_forest(forest, longest, first, n_jobs, progress)


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
    progress: Progress | None = None,
) -> SegmentForest:
    """Find the parents of a picture's pixels, from which the segments of every tau follow.

    Parameters
    ----------
    image : array-like
        Picture or volume, gray or with channels. This and the parameters up to `spacing` have the
        same meaning as in `segment`.
    bandwidth : float
        Scale of the Gaussian kernel.
    ratio : float
        Factor by which colors are multiplied.
    sigma : float or sequence of float
        Standard deviation, in pixels, of a Gaussian blur that is applied first.
    convert2lab : bool
        Whether RGB is converted to Lab, and gray to lightness.
    channel_axis : int or None
        Axis of the channels.
    window : float or None
        Half the width of the window that the density sums over, in bandwidths.
    mask : array-like of bool, optional
        True for the pixels that belong to the picture.
    spacing : float or sequence of float, optional
        Distance between neighboring pixels along each axis.
    max_tau : float
        Largest distance at which parents are searched. Infinity finds all parents; a finite
        distance is faster, and limits the tau of later cuts.
    n_jobs : int, optional
        Threads; None for all cores.
    progress : callable, optional
        Called as ``progress(stage, done)``, about ten times a second and when a stage is complete;
        ``done`` rises to 1. An exception that it raises stops the computation. The stages are
        "estimate_density" and "climb".

    Returns
    -------
    SegmentForest

    Examples
    --------
    >>> import numpy as np
    >>> import quickshift as qs
    >>> image = np.zeros((6, 8))
    >>> image[:, 4:] = 1.0
    >>> forest = qs.segment_forest(image)
    >>> [int(forest.labels_at(tau).max()) + 1 for tau in (0.5, 20.0, 200.0)]
    [48, 2, 1]
    """
    farthest = check_nonnegative(max_tau, "max_tau", "a length of at least 0")
    return _find_forest(
        image,
        bandwidth=bandwidth,
        window=window,
        mask=mask,
        max_tau=farthest,
        n_jobs=n_jobs,
        progress=progress,
        ratio=ratio,
        sigma=sigma,
        convert2lab=convert2lab,
        channel_axis=channel_axis,
        spacing=spacing,
    )


def _find_forest(
    image: ArrayLike,
    *,
    bandwidth: Any,
    window: Any,
    mask: ArrayLike | None,
    max_tau: float,
    n_jobs: int | None,
    progress: Progress | None,
    **reading: Any,
) -> SegmentForest:
    """Find the parents of all pixels. All arguments except ``max_tau`` are checked here.

    ``reading`` holds the parameters of `pixel_settings`.
    """
    width = check_pixel_bandwidth(bandwidth)
    half = check_window(window, width)
    picture = check_image(image)
    check_integer_range(picture)
    settings = pixel_settings(picture.shape, **reading)
    inside = check_mask(mask, settings.shape)
    _require_memory(settings.shape, picture.size)
    pixels = pixels_of(picture, settings, inside, n_jobs)
    density = sum_kernels(pixels, width, half, n_jobs=n_jobs, progress=progress)
    graph = climb_pixels(pixels, density, max_tau, n_jobs=n_jobs, progress=progress)
    return SegmentForest(
        graph.parent.reshape(pixels.shape),
        graph.distance.reshape(pixels.shape),
        density.reshape(pixels.shape),
        max_tau,
    )


def _require_memory(shape: tuple[int, ...], size: int) -> None:
    """Raise if a picture with a grid of this shape and ``size`` values does not fit into memory."""
    n_pixels = math.prod(shape)
    needed = segment_bytes(n_pixels, size // n_pixels)
    require_memory(needed, "segment_forest", shape, "use segment_tiles for pictures of any size")
