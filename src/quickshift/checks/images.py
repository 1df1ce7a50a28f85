"""Checks of pictures, of their label images, and of the parameters that segment them."""

import math
import warnings
from operator import index
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from quickshift.arrays import Flags, Floats, Numbers
from quickshift.checks.numbers import check_count, check_real, check_tau, check_whole, described
from quickshift.checks.points import refuse_masked_or_dates

__all__ = [
    "check_blur",
    "check_channel_axis",
    "check_color_channels",
    "check_color_range",
    "check_color_ratio",
    "check_connectivity",
    "check_convert2lab",
    "check_finite_tau",
    "check_image",
    "check_integer_range",
    "check_kernel_size",
    "check_label_dtype",
    "check_label_image",
    "check_labeled_image",
    "check_mask",
    "check_mask_not_empty",
    "check_mask_shape",
    "check_mask_values",
    "check_n_segments",
    "check_one_cut",
    "check_out",
    "check_pixel_bandwidth",
    "check_scaled_colors",
    "check_skimage_image",
    "check_spacing",
    "check_start_label",
    "check_tau_within",
    "check_tile",
    "check_window",
]

_SMALLEST, _LARGEST = 1e-100, 1e100  # squares of lengths in this range are finite and not 0
_MOST_AXES = 8  # a pixel and its neighbors are 3^axes pixels, so the cost grows quickly
_WIDEST_BLUR = 1e4  # SciPy's filter computes 8 * sigma products per pixel and axis
_RGB_RANGE = (-1.0, 2.0)  # colors may lie slightly outside [0, 1], for example after sharpening


# The picture


def check_image(image: ArrayLike) -> Numbers:
    """Return a picture as an array of bools, integers or floats."""
    if isinstance(image, np.ma.MaskedArray):
        masked = int(np.ma.getmaskarray(image).sum())
        raise TypeError(
            f"image is a masked array with {masked} masked entries, expected a plain array. Pass "
            f"image.data, and, to leave pixels out of a segmentation, "
            f"mask=~numpy.ma.getmaskarray(image) (for one channel)."
        )
    array = _as_array(image, "image")
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


def _as_array(values: Any, name: str) -> Numbers:
    """Return a picture, a mask or labels as an array, whatever its type."""
    try:
        return np.asarray(values)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} cannot be converted to an array ({error}), expected numbers on a grid. Pad or "
            f"crop its rows to the same length."
        ) from error


def check_integer_range(image: Numbers) -> None:
    """Refuse integers that would all become nearly 0 when divided by the maximum of their type.

    Integers of 32 or 64 bits that would fit into 16 bits are an error. Integers of 16 bits that
    would fit into 8 bits only cause a warning, because a picture may indeed be that dark.
    """
    if image.dtype.kind not in "iu" or image.dtype.itemsize == 1 or image.size == 0:
        return
    largest = max(int(image.max()), -int(image.min()))
    came = f"image is of type {image.dtype} with values up to {largest}"
    if image.dtype.itemsize > 2 and largest <= np.iinfo(np.uint16).max:
        fit = "uint8" if largest <= np.iinfo(np.uint8).max else "uint16"
        raise ValueError(
            f"{came}, expected integers that use the range of their type, because they are divided "
            f"by its maximum. Use image.astype(numpy.{fit})."
        )
    if 0 < largest <= np.iinfo(np.uint8).max:
        warnings.warn(
            f"{came}, which is nearly black: colors are divided by {np.iinfo(image.dtype).max}. "
            f"Use image.astype(numpy.uint8) if white is 255.",
            stacklevel=4,  # points to the caller of segment or segment_forest
        )


def check_skimage_image(image: ArrayLike, channel_axis: int, *, to_lab: bool) -> Numbers:
    """Return a picture that scikit-image's quickshift accepts, with the channels as last axis.

    It has two spatial axes. If it is to be converted to Lab, it must have three channels; the error
    for another number begins with scikit-image's own words, because existing code may match them.
    """
    picture = np.atleast_3d(check_image(image))
    if picture.ndim > 3:
        raise ValueError(
            f"image has shape {picture.shape}, expected two spatial axes and at most one axis of "
            f"channels. Use quickshift.segment for volumes."
        )
    if picture.size == 0:
        raise ValueError(f"image has shape {picture.shape}, expected at least one pixel.")
    picture = np.moveaxis(picture, channel_axis, -1)
    if to_lab and picture.shape[-1] != 3:
        raise ValueError(
            f"Only RGB images can be converted to Lab space: image has shape {np.shape(image)} and "
            f"channel_axis is {channel_axis}, which makes {picture.shape[-1]} channels, expected "
            f"3. Pass convert2lab=False, or use quickshift.segment, which accepts gray pictures "
            f"too."
        )
    return picture


# Axes and channels


def check_channel_axis(channel_axis: Any, shape: tuple[int, ...]) -> int | None:
    """Return the axis of the channels, counted from 0, or None if all axes are spatial."""
    if math.prod(shape) == 0:
        raise ValueError(f"image has shape {shape}, expected at least one pixel and one channel.")
    axis = _axis_number(channel_axis)
    n_axes = len(shape)
    if n_axes - (axis is not None) > _MOST_AXES:
        raise ValueError(
            f"image has {n_axes} axes, expected at most {_MOST_AXES} spatial axes and one axis of "
            f"channels. Segment the picture in parts with fewer axes."
        )
    if axis is None and n_axes == 0:
        raise ValueError("image has shape (), expected at least one axis of pixels.")
    if axis is None or (n_axes == 2 and axis == -1):
        return None
    if n_axes < 2:
        raise ValueError(
            f"image has shape {shape} and channel_axis is {axis}, expected at least one axis of "
            f"pixels in addition to that of the channels. Pass channel_axis=None if there are no "
            f"channels."
        )
    if n_axes == 2:
        raise ValueError(
            f"image has shape {shape} and channel_axis is {axis}, expected None (or the default, "
            f"-1): an image with 2 axes is gray. Pass image[numpy.newaxis] if it is a single line "
            f"of pixels with channels."
        )
    if not -n_axes <= axis < n_axes:
        raise ValueError(
            f"channel_axis is {axis}, expected {-n_axes} to {n_axes - 1} for an image of shape "
            f"{shape}. Pass the axis that holds the channels, or None if all axes are spatial."
        )
    return axis % n_axes


def _axis_number(channel_axis: Any) -> int | None:
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


def check_color_channels(n_channels: int, shape: tuple[int, ...], channel_axis: Any) -> None:
    """Refuse a number of channels that cannot be converted to Lab or lightness."""
    if n_channels in (1, 3):
        return
    if 3 in shape:
        hint = f"Pass channel_axis={shape.index(3)} if that axis holds red, green and blue"
    elif n_channels in (2, 4):
        hint = "Drop alpha, the last channel"
    else:
        hint = "Pass channel_axis=None if all axes are spatial"
    raise ValueError(
        f"image has shape {shape} and channel_axis is {channel_axis}, which makes {n_channels} "
        f"channels; expected 3 (red, green, blue) or 1 (gray) to convert to Lab. {hint}, or pass "
        f"convert2lab=False to use the channels unconverted."
    )


def check_convert2lab(convert2lab: Any) -> bool:
    """Return the flag; other types are refused, because they suggest a misplaced argument."""
    if not isinstance(convert2lab, bool | np.bool_):
        raise TypeError(f"convert2lab is {convert2lab!r}, expected True or False.")
    return bool(convert2lab)


# Colors


def check_color_ratio(ratio: Any) -> float:
    """Return the factor by which colors are multiplied, finite and not negative."""
    expected = "a finite number of at least 0 (0 ignores colors)"
    return check_real(ratio, "ratio", expected, 0, math.inf, closed="left")


def check_color_range(
    values: Numbers,
    mask: Flags | None,
    convert2lab: bool,
    origin: tuple[int, ...] | None = None,
) -> None:
    """Refuse floats that are not finite, or too far outside [0, 1] to be converted to Lab.

    ``origin`` is the first pixel of a tile, so that a message names a pixel of the whole picture.
    """
    low, high = values.min(), values.max()
    if not (np.isfinite(low) and np.isfinite(high)):
        bad = ~np.isfinite(values).all(axis=-1)
        start = (0,) * bad.ndim if origin is None else origin
        first = tuple(int(i) + a for i, a in zip(np.argwhere(bad)[0], start, strict=True))
        seen_in = "" if origin is None else f" of the tile that begins at {origin}"
        fix = "Fill them, or leave those pixels out with mask."
        if mask is not None:
            fix = "Fill them, or set the mask to False there."
        raise ValueError(
            f"image has NaN or infinity in {bad.sum()} of {bad.size} pixels{seen_in}, the first at "
            f"{first}; expected finite numbers. {fix}"
        )
    if convert2lab and not _RGB_RANGE[0] <= low <= high <= _RGB_RANGE[1]:
        seen = values if mask is None else values[mask]
        raise ValueError(
            f"image ranges from {seen.min():g} to {seen.max():g}; expected floats from 0 to 1 to "
            f"convert to Lab. Divide by 255 (or by the value of white), or pass convert2lab=False."
        )


def check_scaled_colors(values: Numbers, ratio: float) -> None:
    """Refuse colors, already multiplied by the ratio, whose squared differences could overflow."""
    largest = max(abs(float(values.min())), abs(float(values.max())))
    if not largest <= _LARGEST:
        raise ValueError(
            f"image times ratio reaches {largest:g}, expected at most {_LARGEST:g}. Use a smaller "
            f"ratio than {ratio:g}, or divide the image by a constant."
        )


# Lengths


def check_blur(sigma: Any, n_axes: int) -> list[float]:
    """Return the standard deviation of the blur along each spatial axis."""
    return _per_axis(sigma, "sigma", n_axes, 0.0, _WIDEST_BLUR)


def check_spacing(spacing: Any, n_axes: int) -> Floats:
    """Return the distance between neighboring pixels along each spatial axis, 1 for None."""
    given = 1.0 if spacing is None else spacing
    return np.array(_per_axis(given, "spacing", n_axes, _SMALLEST, _LARGEST))


def _per_axis(value: Any, name: str, n_axes: int, least: float, most: float) -> list[float]:
    """Return one number per axis; a single number stands for all axes."""
    expected = (
        f"a number from {least:g} to {most:g}, or {n_axes} of them, one for each spatial axis"
    )
    entries = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(entries, list | tuple):
        entries = [entries] * n_axes
    if len(entries) != n_axes:
        raise ValueError(f"{name} has {len(entries)} entries, expected {expected}.")
    return [check_real(entry, name, expected, least, most) for entry in entries]


def check_pixel_bandwidth(bandwidth: Any) -> float:
    """Return a bandwidth whose square neither overflows nor underflows."""
    expected = "a length from 1e-100 to 1e100"
    return check_real(bandwidth, "bandwidth", expected, _SMALLEST, _LARGEST)


def check_kernel_size(kernel_size: Any) -> float:
    """Return ``kernel_size``, scikit-image's name for the bandwidth: a number of at least 1."""
    if not 1 <= kernel_size < 1e18:
        raise ValueError(f"kernel_size is {kernel_size!r}, expected a number from 1 to below 1e18.")
    return float(kernel_size)


def check_window(window: Any, bandwidth: float) -> float | None:
    """Return half the width of the window in bandwidths; None, an automatic width, stays None."""
    if window is None:
        return None
    expected = "a positive number of bandwidths, or None"
    factor = check_real(window, "window", expected)
    if not 0.0 < factor * bandwidth < math.inf:
        raise ValueError(f"window is {window!r}, expected {expected}.")
    return factor


def check_tau_within(tau: Any, max_tau: float) -> float:
    """Return a tau of at most max_tau, up to which the forest knows all parents."""
    length = check_tau(tau)
    if length > max_tau:
        raise ValueError(
            f"tau is {tau!r}, expected at most max_tau, which is {max_tau!r}. Compute the forest "
            f"with a larger max_tau."
        )
    return length


def check_finite_tau(tau: Any) -> float:
    """Return a finite tau. Tiles are read with a border of that width."""
    length = check_tau(tau)
    if math.isinf(length):
        raise ValueError(
            "tau is infinite, expected a finite length: a tile is read with a border of width tau. "
            "Use a tau below the picture's size, or segment_forest for pictures that fit into "
            "memory."
        )
    return length


def check_one_cut(tau: Any, n_segments: Any, default_tau: float) -> None:
    """Raise if both tau and a number of segments are given, because each decides the cut.

    A tau that is equal to the default does not count as given.
    """
    is_default = isinstance(tau, int | float | np.number) and tau == default_tau
    if n_segments is not None and not is_default:
        raise ValueError(
            f"n_segments is {n_segments!r} and tau is {tau!r}, expected at most one of them, "
            f"because each decides the cut. Leave one of them out."
        )


def check_n_segments(n_segments: Any, least: int, most: int, max_tau: float) -> int:
    """Return a number of segments into which a forest can be cut."""
    wanted = check_count(n_segments, "n_segments", most, "the number of pixels")
    if wanted < least:
        raise ValueError(
            f"n_segments is {n_segments}, expected at least {least}: the number of pixels "
            f"without a higher pixel within max_tau={max_tau!r}. Compute the forest with a larger "
            f"max_tau."
        )
    return wanted


# Masks


def check_mask(mask: ArrayLike | None, shape: tuple[int, ...]) -> Flags | None:
    """Return a copy of the mask, or None if all pixels are inside."""
    if mask is None:
        return None
    array = check_mask_values(mask)
    check_mask_shape(array.shape, shape)
    check_mask_not_empty(bool(array.any()))
    return None if array.all() else np.array(array, order="C")


def check_mask_not_empty(has_inside: bool) -> None:
    """Refuse a mask that leaves all pixels out."""
    if not has_inside:
        raise ValueError("mask is False everywhere, expected at least one pixel inside (True).")


def check_mask_values(mask: ArrayLike) -> Flags:
    """Return a mask, or a tile of one, as bools; integers must be 0 or 1."""
    if isinstance(mask, np.ma.MaskedArray):
        raise ValueError("mask is a masked array, expected bools. Use mask.filled(False).")
    array = _as_array(mask, "mask")
    if array.dtype.kind not in "biu" or (array.dtype.kind != "b" and ((array >> 1) != 0).any()):
        raise ValueError(
            f"mask is of type {array.dtype}, expected bools or integers that are 0 or 1. Use a "
            f"comparison such as mask > 0."
        )
    return array.astype(np.bool_, copy=False)


def check_mask_shape(mask_shape: tuple[int, ...], shape: tuple[int, ...]) -> None:
    """Refuse a mask that does not have the shape of the picture without its channels."""
    if mask_shape != shape:
        raise ValueError(
            f"mask has shape {mask_shape}, expected {shape}: one entry per pixel, whatever the "
            f"number of channels."
        )


# Tiles


def check_tile(tile: Any, n_axes: int, default: int) -> tuple[int, ...]:
    """Return the side lengths of a tile in pixels; None stands for the default on every axis."""
    if tile is None:
        return (default,) * n_axes
    sides = tuple(tile) if isinstance(tile, tuple | list) else (tile,) * n_axes
    expected = f"a whole number of pixels, or {n_axes} of them"
    whole = tuple(check_whole(side, "tile", expected=expected) for side in sides)
    if len(whole) != n_axes or min(whole) < 1:
        raise ValueError(f"tile is {tile!r}, expected {expected}, at least 1.")
    return whole


def check_out(out: Numbers | None, shape: tuple[int, ...]) -> Numbers:
    """Return the array to which labels are written: the given one, or a new one."""
    if out is None:
        return np.empty(shape, dtype=np.int64)
    if not hasattr(out, "shape") or not hasattr(out, "dtype"):
        raise TypeError(
            f"out is {described(out)}, expected an array of integers of shape {shape}. Pass for "
            f"example numpy.empty({shape}, dtype=numpy.int64)."
        )
    if tuple(out.shape) != shape or np.dtype(out.dtype).kind not in "iu":
        raise ValueError(
            f"out has shape {tuple(out.shape)} and type {out.dtype}, expected integers of shape "
            f"{shape}."
        )
    if isinstance(out, np.ndarray) and not out.flags.writeable:
        raise ValueError(
            "out is read-only, expected an array that can be written. Open a memory map by "
            "mode='r+' or 'w+', or pass a copy."
        )
    return out


# Label images


def check_start_label(start_label: Any) -> int:
    """Return the first label; all labels that follow it must fit into int64."""
    first = check_whole(start_label, "start_label")
    if abs(first) > 1 << 62:
        raise ValueError(
            f"start_label is {first}, expected at most 2**62 in absolute value, so that all labels "
            f"fit into int64."
        )
    return first


def check_label_image(labels: ArrayLike) -> Numbers:
    """Return a label image as an array of integers with at least one pixel."""
    if hasattr(labels, "labels_at"):
        raise TypeError(
            f"labels is a {type(labels).__name__}, expected whole numbers, one per segment. Pass "
            f"forest.labels_at(tau) or forest.labels_for(n_segments)."
        )
    refuse_masked_or_dates(labels, "labels")
    array = _as_array(labels, "labels")
    if array.size == 0 or array.ndim == 0:
        raise ValueError(
            f"labels has shape {array.shape}, expected at least one axis and one pixel. Pass the "
            f"label image that a segmentation returned."
        )
    if array.dtype.kind == "b":
        raise TypeError(
            "labels is of type bool, expected whole numbers, one per segment. Number the parts of "
            "a mask first, with scipy.ndimage.label(labels)[0] and start_label=1."
        )
    if array.dtype.kind not in "iu":
        raise TypeError(
            f"labels is of type {array.dtype}, expected whole numbers, one per segment. If its "
            f"values are whole, use labels.astype(numpy.int64)."
        )
    return array


def check_connectivity(connectivity: Any, n_axes: int) -> int:
    """Return a whole number from 1 to the number of axes."""
    return check_count(connectivity, "connectivity", n_axes, "the number of axes of labels")


def check_labeled_image(
    image: ArrayLike, shape: tuple[int, ...], channel_axis: Any
) -> tuple[Numbers, int | None]:
    """Return the picture that belongs to a label image, and its channel axis if it has one.

    Bools are refused, because the mean of bools is not a bool.
    """
    refuse_masked_or_dates(image, "image")
    array = _as_array(image, "image")
    if array.dtype.kind not in "iuf":
        raise TypeError(
            f"image is of type {array.dtype}, expected integers or real numbers. Use "
            f"image.astype(float) for bools, and image.real for complex numbers."
        )
    if array.shape == shape:
        return array, None
    axis = None if channel_axis is None else check_whole(channel_axis, "channel_axis")
    if axis is not None and array.ndim == len(shape) + 1 and -array.ndim <= axis < array.ndim:
        axis %= array.ndim
        if array.shape[:axis] + array.shape[axis + 1 :] == shape:
            return array, axis
    raise ValueError(
        f"image has shape {array.shape} with channel_axis={channel_axis!r} and labels has shape "
        f"{shape}, expected the same shape except for the channels. Pass the image that was "
        f"segmented, and the channel_axis that it was segmented with."
    )


def check_label_dtype(dtype: np.dtype[Any], first: int, last: int, name: str, fix: str) -> None:
    """Refuse an integer type that cannot hold the labels from ``first`` to ``last``."""
    limits = np.iinfo(dtype)
    if first < limits.min or last > limits.max:
        raise ValueError(
            f"{name} is of type {dtype}, which ranges from {limits.min} to {limits.max}; expected "
            f"a type that holds labels from {first} to {last}. {fix}"
        )
