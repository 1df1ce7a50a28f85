"""Pictures made ready for the algorithm: one row of colors a pixel, on a checked grid."""

import math
from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from quickshift.arrays import Flags, Floats, Numbers
from quickshift.checks import check_least, check_real
from quickshift.image.color import check_image, gray_to_lightness, rgb_to_lab, to_float

__all__ = ["Pixels", "read_image", "spacing_of", "spatial_shape", "widths_of"]

_SMALLEST, _LARGEST = 1e-100, 1e100  # squares of what is between are finite and not 0
_MOST_AXES = 8  # a pixel has 3^axes around it, itself included
_WIDEST_BLUR = 1e4  # SciPy takes eight times as many products a pixel and axis
_RGB_RANGE = (-1.0, 2.0)  # colors may leave [0, 1] a little, as after sharpening


@dataclass(frozen=True)
class Pixels:
    """A picture as the algorithm takes it.

    Attributes
    ----------
    values : ndarray of shape (n_pixels, n_channels), float64 or float32
        Scaled colors, pixels in C order of the grid. May share memory with the picture that was
        read: not to be written.
    shape : tuple of int
        Shape of the grid.
    spacing : ndarray of shape (n_axes,), float64
        Distance of neighbours along each axis.
    mask : ndarray of that shape, bool, or None
        True inside; None where every pixel is.
    """

    values: Numbers
    shape: tuple[int, ...]
    spacing: Floats
    mask: Flags | None

    @property
    def n_pixels(self) -> int:
        """Number of pixels of the grid, those outside the mask included."""
        return math.prod(self.shape)


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
    """Check a picture and scale its colors.

    Parameters
    ----------
    image : array-like
        Picture or volume of bools, integers or floats. Integers are scaled to [0, 1], signed ones
        to [-1, 1], as in scikit-image; floats keep their range, float32 stays float32.
    ratio : float
        What colors are multiplied by; 0 ignores them.
    sigma : float or sequence of float
        Standard deviation of a Gaussian blur, in pixels, for all spatial axes or one for each. It
        comes after the conversion to Lab and before the ratio. Pixels outside the mask have no
        weight in it.
    convert2lab : bool
        Whether 3 channels are taken as sRGB and converted to Lab, 1 channel to L*.
    channel_axis : int or None
        Axis of the channels; None if all axes are spatial. A picture with 2 axes is gray by
        default.
    mask : array-like of the grid's shape, optional
        True (or 1) where pixels belong to the picture. The others are never read.
    spacing : float or sequence of float, optional
        Distance of neighbouring pixels, for all spatial axes or one for each. None is 1.
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
    if not isinstance(convert2lab, bool | np.bool_):
        raise TypeError(f"convert2lab is {convert2lab!r}, expected True or False.")
    factor = _check_ratio(ratio)
    picture = _channels_last(check_image(image), channel_axis)
    grid = picture.shape[:-1]
    widths = widths_of(sigma, len(grid))
    lengths = spacing_of(spacing, len(grid))
    inside = _check_mask(mask, grid)
    if convert2lab and picture.shape[-1] not in (1, 3):
        raise _not_rgb(np.shape(image), picture.shape[-1], channel_axis)

    if inside is not None:
        picture = np.where(inside[..., np.newaxis], picture, np.zeros((), picture.dtype))
    if picture.dtype.kind == "f":
        picture = to_float(picture)
        _check_range(picture, inside, convert2lab)
    values = _colors(picture, convert2lab, n_jobs)
    if any(widths):
        values = _blurred(values, widths, inside)
    values = _scaled(values, factor)
    rows = np.ascontiguousarray(values).reshape(math.prod(grid), -1)
    return Pixels(rows, grid, lengths, inside)


# Arguments


def spatial_shape(shape: tuple[int, ...], channel_axis: int | None) -> tuple[int, ...]:
    """Return the shape of the grid of a picture of that shape."""
    return _channels_last(np.broadcast_to(np.int8(0), shape), channel_axis).shape[:-1]


def widths_of(sigma: ArrayLike, n_axes: int) -> list[float]:
    """Return the width of the blur by axis."""
    return _per_axis(sigma, "sigma", n_axes, 0.0, _WIDEST_BLUR)


def spacing_of(spacing: ArrayLike | None, n_axes: int) -> Floats:
    """Return the distance of neighbours by axis."""
    given = 1.0 if spacing is None else spacing
    return np.array(_per_axis(given, "spacing", n_axes, _SMALLEST, _LARGEST))


def _channels_last(array: Numbers, channel_axis: int | None) -> Numbers:
    """Return a view with the channels on the last axis, a new one where all axes are spatial."""
    if array.size == 0:
        raise ValueError(
            f"image has shape {array.shape}, expected at least one pixel and one channel."
        )
    axis = _check_axis(channel_axis)
    if array.ndim - (axis is not None) > _MOST_AXES:
        raise ValueError(
            f"image has {array.ndim} axes, expected at most {_MOST_AXES} and one of channels."
        )
    if axis is None and array.ndim == 0:
        raise ValueError("image has shape (), expected at least one axis of pixels.")
    if axis is None or (array.ndim == 2 and axis == -1):
        return array[..., np.newaxis]
    if array.ndim < 2:
        raise ValueError(
            f"image has shape {array.shape} and channel_axis is {axis}, expected at least one axis "
            f"of pixels beside that of the channels. Pass channel_axis=None if there are no "
            f"channels."
        )
    if array.ndim == 2:
        raise ValueError(
            f"image has shape {array.shape} and channel_axis is {axis}, expected None (or the "
            f"default, -1) for an image with 2 axes, which is gray. Pass image[numpy.newaxis] if "
            f"it is a line of colors."
        )
    if not -array.ndim <= axis < array.ndim:
        raise ValueError(
            f"channel_axis is {axis}, expected {-array.ndim} to {array.ndim - 1} for an image of "
            f"shape {array.shape}. Pass the axis that holds the channels, or None if all axes are "
            f"spatial."
        )
    return np.moveaxis(array, axis, -1)


def _check_axis(channel_axis: Any) -> int | None:
    if channel_axis is None:
        return None
    if not isinstance(channel_axis, bool | np.bool_):
        try:
            return index(channel_axis)
        except TypeError:
            pass
    raise TypeError(
        f"channel_axis is {channel_axis!r}, expected the number of an axis, or None if all axes "
        f"are spatial."
    )


def _not_rgb(shape: tuple[int, ...], n_channels: int, channel_axis: int | None) -> ValueError:
    """Error for a number of channels that cannot be converted to Lab."""
    likely = shape.index(3) if 3 in shape else None
    if likely is not None:
        hint = f"Pass channel_axis={likely} if that axis holds red, green and blue"
    elif n_channels in (2, 4):
        hint = "Drop alpha, the last channel"
    else:
        hint = "Pass channel_axis=None if all axes are spatial"
    return ValueError(
        f"image has shape {shape} and channel_axis is {channel_axis}, which makes {n_channels} "
        f"channels; expected 3 (red, green, blue) or 1 (gray) to convert to Lab. {hint}, or pass "
        f"convert2lab=False to take the channels as they are."
    )


def _check_ratio(ratio: Any) -> float:
    expected = "a finite number of at least 0 (0 ignores colors)"
    factor = check_least(ratio, "ratio", expected)
    if math.isinf(factor):
        raise ValueError(f"ratio is {factor!r}, expected {expected}.")
    return factor


def _per_axis(value: Any, name: str, n_axes: int, least: float, most: float) -> list[float]:
    """Return one number an axis from a number for all axes or one for each."""
    expected = (
        f"a number from {least:g} to {most:g}, or {n_axes} of them, one for each spatial axis"
    )
    entries = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(entries, list | tuple):
        entries = [entries] * n_axes
    if len(entries) != n_axes:
        raise ValueError(f"{name} has {len(entries)} entries, expected {expected}.")
    numbers = [check_real(entry, name, expected) for entry in entries]
    for number in numbers:
        if not least <= number <= most:
            raise ValueError(f"{name} is {number!r}, expected {expected}.")
    return numbers


def _check_mask(mask: ArrayLike | None, grid: tuple[int, ...]) -> Flags | None:
    """Return a copy of the mask, or None where it leaves nothing out."""
    if mask is None:
        return None
    if isinstance(mask, np.ma.MaskedArray):
        raise ValueError("mask is a masked array, expected bools. Use mask.filled(False).")
    array = np.asarray(mask)
    if array.dtype.kind not in "biu" or (array.dtype.kind != "b" and ((array >> 1) != 0).any()):
        raise ValueError(
            f"mask is of type {array.dtype}, expected bools or integers that are 0 or 1. Use a "
            f"comparison such as mask > 0."
        )
    if array.shape != grid:
        raise ValueError(
            f"mask has shape {array.shape}, expected {grid}: one entry a pixel, whatever the "
            f"number of channels."
        )
    if not array.any():
        raise ValueError("mask is False everywhere, expected at least one pixel inside (True).")
    return None if array.all() else np.array(array, dtype=np.bool_, order="C")


# Colors


def _check_range(values: Numbers, mask: Flags | None, convert2lab: bool) -> None:
    """Raise if floats are not finite, or are no colors that could be converted to Lab."""
    low, high = values.min(), values.max()
    if not (np.isfinite(low) and np.isfinite(high)):
        bad = ~np.isfinite(values).all(axis=-1)
        first = tuple(int(position) for position in np.argwhere(bad)[0])
        fix = "Fill them, or leave those pixels out with mask."
        if mask is not None:
            fix = "Fill them, or set the mask to False there."
        raise ValueError(
            f"image has NaN or infinity in {bad.sum()} of {bad.size} pixels, the first at {first}; "
            f"expected finite numbers. {fix}"
        )
    if convert2lab and not _RGB_RANGE[0] <= low <= high <= _RGB_RANGE[1]:
        seen = values if mask is None else values[mask]
        raise ValueError(
            f"image ranges from {seen.min():g} to {seen.max():g}; expected floats from 0 to 1 to "
            f"convert to Lab. Divide by 255 (or whatever is white), or pass convert2lab=False."
        )


def _colors(picture: Numbers, convert2lab: bool, n_jobs: int | None) -> Numbers:
    if not convert2lab:
        return to_float(picture)
    convert = rgb_to_lab if picture.shape[-1] == 3 else gray_to_lightness
    return convert(picture, n_jobs=n_jobs)


def _blurred(values: Numbers, widths: list[float], mask: Flags | None) -> Numbers:
    """Blur the spatial axes; what is outside the mask weighs nothing."""
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
    """Multiply by the ratio, and raise if squares of the result could overflow."""
    if ratio != 1.0:
        with np.errstate(over="ignore", invalid="ignore"):  # found below
            values = values * values.dtype.type(ratio)
    largest = max(abs(float(values.min())), abs(float(values.max())))
    if not largest <= _LARGEST:
        raise ValueError(
            f"image times ratio reaches {largest:g}, expected at most {_LARGEST:g}. Use a smaller "
            f"ratio than {ratio:g}, or divide the image by a constant."
        )
    return values
