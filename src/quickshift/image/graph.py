"""The parent graph of a picture: densities over a window of pixels, and nearest higher pixels.

The functions expect parameters that have been checked.
"""

import math
from dataclasses import dataclass

import numpy as np

from quickshift import _core
from quickshift.arrays import Flags, Floats, Indices
from quickshift.image.pixels import Pixels
from quickshift.progress import Progress, reporting
from quickshift.stages.density import SIGNIFICANT_BITS
from quickshift.stages.parent_graph import rounded
from quickshift.threads import resolve_threads

__all__ = ["PixelGraph", "climb_pixels", "sum_kernels", "window_reach"]

_RTOL = 1e-9  # if window is None, the share of any sum that may lie outside the window


@dataclass(frozen=True)
class PixelGraph:
    """The nearest higher pixel of every pixel of a picture, up to some distance.

    Attributes
    ----------
    parent : ndarray of shape (n_pixels,), int64
        Index of each pixel's nearest higher pixel, in C order of the picture; the pixel's own index
        if no pixel is higher.
    distance : ndarray of shape (n_pixels,)
        Distance to the parent: infinite if there is none, NaN outside the mask.
    heights : ndarray of shape (n_pixels,)
        Heights of the pixels: sums of kernels.
    """

    parent: Indices
    distance: Floats
    heights: Floats

    def highest_first(self, rows: Indices) -> Indices:
        """Sort pixels in descending order of height; of equal heights, the larger index first."""
        return rows[highest_pixels_first(rows, self.heights[rows])]


def highest_pixels_first(numbers: Indices, heights: Floats) -> Indices:
    """Return the order of pixels of some heights: the highest first, then the larger number."""
    rising = np.lexsort((numbers, rounded(heights, SIGNIFICANT_BITS)))
    return rising[::-1]


def window_reach(
    shape: tuple[int, ...], spacing: Floats, bandwidth: float, window: float | None
) -> Indices:
    """Return by how many pixels the window of the density extends to each side.

    Parameters
    ----------
    shape : tuple of int
        Shape of the picture.
    spacing : ndarray of shape (n_axes,)
        Distance between neighboring pixels along each axis.
    bandwidth : float
        The bandwidth.
    window : float or None
        Half the width of the window in bandwidths. None chooses a window such that the kernels
        outside it add up to less than 1e-9 of any sum.

    Returns
    -------
    ndarray of shape (n_axes,)
        Number of pixels to each side, by axis; less than the extent of the picture.

    Examples
    --------
    >>> window_reach((100, 20), np.ones(2), 5.0, 3.0)
    array([15, 15])
    >>> window_reach((100, 20), np.ones(2), 5.0, None)
    array([37, 19])
    """
    if window is None:
        # The kernels at all pixels of a line sum to at most 1 + sqrt(2 pi) h / spacing. The kernels
        # beyond a distance sum to at most that number times the kernel at that distance.
        lines = 1.0 + math.sqrt(2.0 * math.pi) * bandwidth / spacing
        log_all = math.log(len(lines)) + float(np.log(lines).sum())
        length = bandwidth * math.sqrt(2.0 * (log_all - math.log(_RTOL)))
    else:
        length = window * bandwidth
    with np.errstate(over="ignore"):
        pixels = np.ceil(length / spacing)
    reach: Indices = np.minimum(pixels, np.array(shape) - 1).astype(np.int64)
    return reach


def sum_kernels(
    pixels: Pixels,
    bandwidth: float,
    window: float | None = 3.0,
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Floats:
    """Sum Gaussian kernels over the pixels in a window around each pixel.

    Parameters
    ----------
    pixels : Pixels
        The picture.
    bandwidth : float
        Scale of the kernel, for pixel coordinates and scaled colors alike.
    window : float or None
        Half the width of the window in bandwidths.
    n_jobs : int, optional
        Threads; None for all cores.
    progress : callable, optional
        Called as ``progress("estimate_density", done)``.

    Returns
    -------
    ndarray of shape (n_pixels,)
        Sums that include the pixel itself and are not normalized: roughly the number of similar
        pixels nearby. NaN outside the mask.

    Examples
    --------
    >>> from quickshift.image.pixels import read_image
    >>> sum_kernels(read_image([[0.0, 0.0, 1.0]]), 1.0).round(3)
    array([1.607, 1.607, 1.   ])
    """
    reach = window_reach(pixels.shape, pixels.spacing, bandwidth, window)
    with reporting(progress, "estimate_density") as report:
        return _core.pixel_sums(
            pixels.values,
            np.array(pixels.shape, dtype=np.int64),
            pixels.spacing,
            _flat(pixels.mask),
            bandwidth,
            reach,
            threads=resolve_threads(n_jobs),
            report=report,
        )


def climb_pixels(
    pixels: Pixels,
    density: Floats,
    tau: float = math.inf,
    *,
    origin: tuple[int, ...] | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> PixelGraph:
    """Find every pixel's nearest higher pixel, as `quickshift.stages.climb` does for points.

    Parameters
    ----------
    pixels : Pixels
        The picture.
    density : ndarray of shape (n_pixels,)
        Densities, from `sum_kernels`.
    tau : float
        Largest distance at which parents are searched.
    origin : tuple of int, optional
        Position of the first pixel in a larger picture, of which `pixels` is a part. Coordinates
        are counted from the corner of that picture, so that distances have the same bits as there.
    n_jobs : int, optional
        Threads; None for all cores.
    progress : callable, optional
        Called as ``progress("climb", done)``.

    Returns
    -------
    PixelGraph

    Examples
    --------
    >>> from quickshift.image.pixels import read_image
    >>> climb_pixels(read_image([[0.0, 0.0, 1.0]]), np.array([1.0, 2.0, 3.0])).parent
    array([1, 2, 2])
    """
    with reporting(progress, "climb") as report:
        parent, distance = _core.pixel_parents(
            pixels.values,
            np.array(pixels.shape, dtype=np.int64),
            pixels.spacing,
            np.array(origin or (0,) * len(pixels.shape), dtype=np.int64),
            _flat(pixels.mask),
            density,
            SIGNIFICANT_BITS,
            tau,
            threads=resolve_threads(n_jobs),
            report=report,
        )
    return PixelGraph(parent.view(np.int64), distance, density)


def _flat(mask: Flags | None) -> Flags | None:
    return None if mask is None else mask.reshape(-1)
