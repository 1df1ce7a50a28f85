"""The parent graph of a picture: densities over a window of pixels, and nearest higher pixels."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from quickshift import _core
from quickshift.arrays import Flags, Floats, Indices
from quickshift.checks import check_length, check_real
from quickshift.image.pixels import Pixels
from quickshift.stages.density import SIGNIFICANT_BITS
from quickshift.stages.parent_graph import rounded
from quickshift.threads import resolve_threads

__all__ = ["PixelGraph", "climb_pixels", "sum_kernels", "window_reach"]


_RTOL = 1e-9  # of the sum, for what lies beyond a window of None


@dataclass(frozen=True)
class PixelGraph:
    """All parents of a picture, up to some distance.

    Attributes
    ----------
    parent : ndarray of shape (n_pixels,), int64
        Number of each pixel's nearest higher pixel; its own where none is higher.
    distance : ndarray of shape (n_pixels,)
        Length of that edge: infinite where there is none, NaN outside the mask.
    heights : ndarray of shape (n_pixels,)
        The numbers that were climbed: sums of kernels.
    """

    parent: Indices
    distance: Floats
    heights: Floats

    def highest_first(self, rows: Indices) -> Indices:
        """Sort pixels by falling height: the larger number is the higher of equal densities."""
        rising = np.lexsort((rows, rounded(self.heights[rows], SIGNIFICANT_BITS)))
        return rows[rising[::-1]]


def window_reach(shape: tuple[int, ...], spacing: Floats, bandwidth: Any, window: Any) -> Indices:
    """Say how many pixels to each side the density sums over.

    Parameters
    ----------
    shape : tuple of int
        Shape of the picture.
    spacing : ndarray of shape (n_axes,)
        Distance of neighbours along each axis.
    bandwidth : float
        The bandwidth.
    window : float or None
        Half the width in bandwidths; None for so many that the rest is below a relative 1e-9.

    Returns
    -------
    ndarray of shape (n_axes,)
        Whole numbers, not more than the picture has.

    Examples
    --------
    >>> window_reach((100, 20), np.ones(2), 5.0, 3.0)
    array([15, 15])
    >>> window_reach((100, 20), np.ones(2), 5.0, None)
    array([37, 19])
    """
    width = check_length(bandwidth, "bandwidth")
    if not 1e-100 <= width <= 1e100:
        raise ValueError(f"bandwidth is {bandwidth!r}, expected a length from 1e-100 to 1e100.")
    if window is None:
        # Kernels at all pixels of a line add up to no more than this, and those beyond a distance
        # to no more than it times the kernel at that distance.
        lines = 1.0 + math.sqrt(2.0 * math.pi) * width / spacing
        log_all = math.log(len(lines)) + float(np.log(lines).sum())
        length = width * math.sqrt(2.0 * (log_all - math.log(_RTOL)))
    else:
        expected = "a positive number of bandwidths, or None"
        length = check_real(window, "window", expected) * width
        if not 0.0 < length < math.inf:
            raise ValueError(f"window is {window!r}, expected {expected}.")
    with np.errstate(over="ignore"):
        pixels = np.ceil(length / spacing)
    reach: Indices = np.minimum(pixels, np.array(shape) - 1).astype(np.int64)
    return reach


def sum_kernels(
    pixels: Pixels, bandwidth: float, window: float | None = 3.0, *, n_jobs: int | None = None
) -> Floats:
    """Sum Gaussian kernels over the pixels around each pixel.

    Parameters
    ----------
    pixels : Pixels
        The picture.
    bandwidth : float
        Scale of the kernel in pixels and scaled colors alike.
    window : float or None
        Half the width of the box of pixels, in bandwidths.
    n_jobs : int, optional
        Threads; None for all cores.

    Returns
    -------
    ndarray of shape (n_pixels,)
        Sums with the pixel itself, not normalised: about how many pixels around are like it. NaN
        outside the mask.

    Examples
    --------
    >>> from quickshift.image.pixels import read_image
    >>> sum_kernels(read_image([[0.0, 0.0, 1.0]]), 1.0).round(3)
    array([1.607, 1.607, 1.   ])
    """
    reach = window_reach(pixels.shape, pixels.spacing, bandwidth, window)
    return _core.pixel_sums(
        pixels.values,
        np.array(pixels.shape, dtype=np.int64),
        pixels.spacing,
        _flat(pixels.mask),
        bandwidth,
        reach,
        threads=resolve_threads(n_jobs),
    )


def climb_pixels(
    pixels: Pixels,
    density: Floats,
    tau: float = math.inf,
    *,
    origin: tuple[int, ...] | None = None,
    n_jobs: int | None = None,
) -> PixelGraph:
    """Find every pixel's nearest higher pixel, as `quickshift.stages.climb` does for points.

    Parameters
    ----------
    pixels : Pixels
        The picture.
    density : ndarray of shape (n_pixels,)
        Densities, from `sum_kernels`.
    tau : float
        How far to look, at most.
    origin : tuple of int, optional
        Position of the first pixel in a larger picture: the coordinates, and so the last bits of
        distances, are those of that picture.
    n_jobs : int, optional
        Threads; None for all cores.

    Returns
    -------
    PixelGraph

    Examples
    --------
    >>> from quickshift.image.pixels import read_image
    >>> climb_pixels(read_image([[0.0, 0.0, 1.0]]), np.array([1.0, 2.0, 3.0])).parent
    array([1, 2, 2])
    """
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
    )
    return PixelGraph(parent.view(np.int64), distance, density)


def _flat(mask: Flags | None) -> Flags | None:
    return None if mask is None else mask.reshape(-1)
