"""Preparation of pictures: checks, color conversion, blur, and one row of colors per pixel."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from quickshift.arrays import Flags, Floats, Numbers, packed
from quickshift.checks.images import (
    check_blur,
    check_channel_axis,
    check_color_channels,
    check_color_range,
    check_color_ratio,
    check_convert2lab,
    check_image,
    check_mask,
    check_scaled_colors,
    check_spacing,
)
from quickshift.image.color import gray_to_lightness, rgb_to_lab, to_float

__all__ = ["PixelSettings", "Pixels", "pixel_settings", "pixels_of", "read_image"]


@dataclass(frozen=True)
class Pixels:
    """A picture in the form that the algorithm works with.

    Attributes
    ----------
    values : ndarray of shape (n_pixels, n_channels), float64 or float32
        Scaled colors, one row per pixel in C order of the grid. The array may share memory with the
        picture that was read, so it must not be written to.
    shape : tuple of int
        Shape of the grid.
    spacing : ndarray of shape (n_axes,), float64
        Distance between neighboring pixels along each axis.
    mask : ndarray of that shape, bool, or None
        True for pixels inside the mask; None if all pixels are inside.
    """

    values: Numbers
    shape: tuple[int, ...]
    spacing: Floats
    mask: Flags | None

    @property
    def n_pixels(self) -> int:
        """Number of pixels of the grid, including those outside the mask."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class PixelSettings:
    """Checked parameters of the conversion of a picture to `Pixels`.

    Attributes
    ----------
    shape : tuple of int
        Shape of the grid, without the channels.
    channel_axis : int or None
        Axis of the channels, counted from 0; None if all axes are spatial.
    ratio : float
        Factor by which colors are multiplied.
    blur : list of float
        Standard deviation of the blur along each spatial axis, in pixels.
    convert2lab : bool
        Whether colors are converted to Lab, and gray to lightness.
    spacing : ndarray of shape (n_axes,), float64
        Distance between neighboring pixels along each axis.
    """

    shape: tuple[int, ...]
    channel_axis: int | None
    ratio: float
    blur: list[float]
    convert2lab: bool
    spacing: Floats


def read_image(
    image: ArrayLike,
    *,
    ratio: float = 1.0,
    sigma: ArrayLike = 0.0,
    convert2lab: bool = True,
    channel_axis: int | None = -1,
    mask: ArrayLike | None = None,
    spacing: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> Pixels:
    """Check a picture and its parameters, and scale its colors.

    Parameters
    ----------
    image : array-like
        Picture or volume of bools, integers or floats. Integers are scaled to [0, 1], signed ones
        to [-1, 1], as in scikit-image; floats keep their values, and float32 stays float32.
    ratio : float
        Factor by which colors are multiplied; 0 ignores them.
    sigma : float or sequence of float
        Standard deviation of a Gaussian blur, in pixels, for all spatial axes or one for each. The
        blur follows the conversion to Lab and precedes the multiplication by `ratio`. It gives
        pixels outside the mask weight 0.
    convert2lab : bool
        Whether 3 channels are converted from sRGB to Lab, and 1 channel to L*.
    channel_axis : int or None
        Axis of the channels; None if all axes are spatial. By default it is the last axis, except
        that a picture with 2 axes is gray.
    mask : array-like of the grid's shape, optional
        True (or 1) for the pixels that belong to the picture. The colors of the other pixels are
        ignored.
    spacing : float or sequence of float, optional
        Distance between neighboring pixels, for all spatial axes or one for each; 1 by default.
    n_jobs : int, optional
        Threads; None for all cores.

    Returns
    -------
    Pixels

    Examples
    --------
    >>> import numpy as np
    >>> image = np.array([[0, 128, 255]], dtype=np.uint8)
    >>> read_image(image, ratio=0.5).values.round(1)
    array([[ 0. ],
           [26.8],
           [50. ]])
    >>> read_image(image, mask=[[1, 1, 0]], spacing=(2, 1)).mask
    array([[ True,  True, False]])
    """
    picture = check_image(image)
    settings = pixel_settings(
        picture.shape,
        ratio=ratio,
        sigma=sigma,
        convert2lab=convert2lab,
        channel_axis=channel_axis,
        spacing=spacing,
    )
    return pixels_of(picture, settings, check_mask(mask, settings.shape), n_jobs)


def pixel_settings(
    shape: tuple[int, ...],
    *,
    ratio: Any,
    sigma: Any,
    convert2lab: Any,
    channel_axis: Any,
    spacing: Any,
) -> PixelSettings:
    """Check the parameters of `read_image` for a picture whose shape includes the channels."""
    axis = check_channel_axis(channel_axis, shape)
    grid = shape if axis is None else shape[:axis] + shape[axis + 1 :]
    to_lab = check_convert2lab(convert2lab)
    if to_lab:
        check_color_channels(1 if axis is None else shape[axis], shape, channel_axis)
    return PixelSettings(
        grid,
        axis,
        check_color_ratio(ratio),
        check_blur(sigma, len(grid)),
        to_lab,
        check_spacing(spacing, len(grid)),
    )


def pixels_of(
    image: Numbers,
    settings: PixelSettings,
    mask: Flags | None,
    n_jobs: int | None,
    origin: tuple[int, ...] | None = None,
) -> Pixels:
    """Convert and scale the colors of a picture, or of a part of one, with checked settings.

    The result has the grid of ``image``, which may be smaller than the grid of the settings. The
    values of floats are checked here, after the mask has been applied: pixels outside the mask may
    have any values. ``origin`` is the first pixel of a part, for messages.
    """
    axis = settings.channel_axis
    picture = image[..., np.newaxis] if axis is None else np.moveaxis(image, axis, -1)
    grid = picture.shape[:-1]
    if mask is not None:
        picture = np.where(mask[..., np.newaxis], picture, np.zeros((), picture.dtype))
    if picture.dtype.kind == "f":
        picture = to_float(picture)
        check_color_range(picture, mask, settings.convert2lab, origin)
    values = _colors(picture, settings.convert2lab, n_jobs)
    if any(settings.blur):
        values = _blurred(values, settings.blur, mask)
    values = _scaled(values, settings.ratio)
    rows = packed(values).reshape(math.prod(grid), -1)
    return Pixels(rows, grid, settings.spacing, mask)


def _colors(picture: Numbers, convert2lab: bool, n_jobs: int | None) -> Numbers:
    if not convert2lab:
        return to_float(picture)
    convert = rgb_to_lab if picture.shape[-1] == 3 else gray_to_lightness
    return convert(picture, n_jobs=n_jobs)


def _blurred(values: Numbers, widths: list[float], mask: Flags | None) -> Numbers:
    """Blur along the spatial axes; pixels outside the mask have weight 0."""
    from scipy.ndimage import gaussian_filter

    if mask is None:
        return gaussian_filter(values, (*widths, 0.0), mode="reflect")
    within = mask[..., np.newaxis]
    weight = gaussian_filter(within.astype(np.float64), (*widths, 0.0), mode="reflect")
    total = gaussian_filter(
        np.where(within, values, 0.0), (*widths, 0.0), output=np.float64, mode="reflect"
    )
    mean = np.divide(total, weight, out=np.zeros_like(total), where=within)
    return mean.astype(values.dtype)


def _scaled(values: Numbers, ratio: float) -> Numbers:
    """Multiply colors by the ratio, and refuse results that are too large."""
    if ratio != 1.0:
        with np.errstate(over="ignore", invalid="ignore"):  # check_scaled_colors refuses overflow
            values = values * values.dtype.type(ratio)
    check_scaled_colors(values, ratio)
    return values
