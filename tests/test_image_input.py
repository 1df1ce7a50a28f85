"""Preparation of pictures: channels, ratio, blur, spacing, masks, and refused input."""

import re
from fractions import Fraction

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from pictures import FLOATS, INTEGERS, assert_same_bits, fresh, rgb_of
from quickshift.image.color import gray_to_lightness, rgb_to_lab, to_float
from quickshift.image.pixels import read_image


def refused(message, image=None, error=ValueError, **parameters):
    with pytest.raises(error, match=message):
        read_image(rgb_of((4, 5, 3)) if image is None else image, **parameters)


# Channels and axes


def test_pixels_are_rows_in_the_order_of_the_grid():
    image = np.arange(24.0).reshape(3, 4, 2)
    pixels = read_image(image, convert2lab=False)
    assert pixels.shape == (3, 4)
    assert pixels.n_pixels == 12
    assert pixels.mask is None
    assert pixels.spacing.dtype == np.float64
    assert pixels.spacing.tolist() == [1.0, 1.0]
    np.testing.assert_array_equal(pixels.values, image.reshape(12, 2))
    assert pixels.values.flags.c_contiguous


@pytest.mark.parametrize("convert2lab", [True, False])
@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3, np.int64(1)])
def test_channels_may_be_on_any_axis(axis, convert2lab):
    image = rgb_of((4, 5, 3))
    expected = read_image(image, convert2lab=convert2lab)
    moved = np.moveaxis(image, -1, axis)
    for given_image in (moved, np.ascontiguousarray(moved)):
        pixels = read_image(given_image, channel_axis=axis, convert2lab=convert2lab)
        assert pixels.shape == (4, 5)
        assert pixels.values.flags.c_contiguous
        np.testing.assert_array_equal(pixels.values, expected.values)


@pytest.mark.parametrize("shape", [(4, 5), (4, 3), (1, 1), (1, 7), (7, 1)])
def test_two_axes_are_gray(shape):
    gray = fresh().random(shape)
    for axis in (-1, None):
        pixels = read_image(gray, channel_axis=axis)
        assert pixels.shape == shape
        np.testing.assert_array_equal(pixels.values[:, 0], gray_to_lightness(gray).ravel())


@pytest.mark.parametrize("shape", [(6,), (4, 5, 3), (2, 3, 4, 5)])
def test_no_channel_axis_makes_every_axis_spatial(shape):
    volume = fresh().random(shape)
    pixels = read_image(volume, channel_axis=None, convert2lab=False)
    assert pixels.shape == shape
    assert pixels.values.shape == (volume.size, 1)
    np.testing.assert_array_equal(pixels.values[:, 0], volume.ravel())


def test_volumes_may_have_colors():
    volume = rgb_of((2, 3, 4, 3))
    pixels = read_image(volume)
    assert pixels.shape == (2, 3, 4)
    np.testing.assert_array_equal(pixels.values, rgb_to_lab(volume).reshape(-1, 3))


@pytest.mark.parametrize("dtype", FLOATS)
def test_gray_equals_the_same_picture_as_rgb(dtype):
    gray = fresh().random((5, 6)).astype(dtype)
    rgb = read_image(np.stack([gray] * 3, axis=-1))
    for image in (gray, gray[..., np.newaxis]):
        pixels = read_image(image)
        assert pixels.shape == (5, 6)
        tolerance = 500 * np.finfo(dtype).eps
        np.testing.assert_allclose(pixels.values[:, 0], rgb.values[:, 0], atol=tolerance)


def test_colors_are_not_converted_if_not_wanted():
    image = fresh().integers(0, 255, size=(4, 5, 6), dtype=np.uint8)
    values = read_image(image, convert2lab=False).values
    np.testing.assert_array_equal(values, to_float(image).reshape(20, 6))


@pytest.mark.parametrize("axis", [0, 1, 2, -2, 5])
def test_two_axes_have_no_channel_axis(axis):
    refused(
        rf"image has shape \(4, 5\) and channel_axis is {axis}, expected None .*is gray",
        np.zeros((4, 5)),
        channel_axis=axis,
    )


@pytest.mark.parametrize("axis", [3, -4, 10])
def test_channel_axis_must_exist(axis):
    message = rf"channel_axis is {axis}, expected -3 to 2 for an image of shape \(4, 5, 3\)\. Pass"
    refused(message, channel_axis=axis)


@pytest.mark.parametrize("axis", ["last", 1.0, (0,), True, np.False_])
def test_channel_axis_must_be_a_number_or_none(axis):
    message = r"channel_axis is .*, expected the number of an axis, or None"
    refused(message, channel_axis=axis, error=TypeError)


def test_there_must_be_an_axis_of_pixels():
    refused(r"image has shape \(5,\) and channel_axis is -1.*channel_axis=None", np.zeros(5))
    refused(r"image has shape \(\), expected at least one axis", 1.0, channel_axis=None)
    refused(r"image has shape \(\) and channel_axis is -1", 1.0)


@pytest.mark.parametrize("shape", [(0, 5, 3), (4, 0, 3), (4, 5, 0), (0, 5), (0,)])
@pytest.mark.parametrize("axis", [-1, None])
def test_empty_pictures_are_refused(shape, axis):
    message = rf"image has shape {re.escape(str(shape))}, expected at least one pixel and one chan"
    refused(message, np.zeros(shape), channel_axis=axis)


@pytest.mark.parametrize(
    ("shape", "axis", "hint"),
    [
        ((3, 40, 50), -1, "Pass channel_axis=0 if"),
        ((40, 50, 3), 0, "Pass channel_axis=2 if"),
        ((7, 3, 40, 50), -1, "Pass channel_axis=1 if"),
        ((40, 50, 4), -1, "Drop alpha, the last channel"),
        ((2, 40, 50), 0, "Drop alpha, the last channel"),
        ((20, 40, 50), -1, "Pass channel_axis=None if all axes are spatial"),
    ],
)
def test_channels_that_are_no_colors_come_with_a_hint(shape, axis, hint):
    message = rf"image has shape {re.escape(str(shape))} and channel_axis is {axis}, which makes "
    message += rf"{shape[axis]} channels; expected 3 .* or 1 .*{hint}.*, or pass convert2lab=False"
    refused(message, np.zeros(shape), channel_axis=axis)
    assert read_image(np.zeros(shape), channel_axis=axis, convert2lab=False).values.any() == 0


@pytest.mark.parametrize("flag", [1, 0, None, "False", np.array([True])])
def test_convert2lab_is_a_bool(flag):
    refused("convert2lab is .*, expected True or False", convert2lab=flag, error=TypeError)


def test_convert2lab_may_be_a_numpy_bool():
    assert read_image(np.zeros((2, 2, 5)), convert2lab=np.False_).values.shape == (4, 5)


# Range


@pytest.mark.parametrize("shape", [(4, 5, 3), (4, 5), (4, 5, 1)])
@pytest.mark.parametrize(("low", "high"), [(0.0, 255.0), (-1.5, 0.5), (-100.0, 100.0), (0.0, 2.1)])
def test_floats_that_are_no_colors_are_refused(low, high, shape):
    image = np.full(shape, low)
    image.flat[-1] = high
    message = rf"image ranges from {low:g} to {high:g}; .*Divide by 255.*convert2lab=False"
    refused(message, image)
    assert read_image(image, convert2lab=False).values.max() == high


def test_the_range_is_that_of_the_inside():
    image = np.full((4, 5, 3), 7.0)
    image[0, 0] = 1e9
    inside = np.ones((4, 5), bool)
    inside[0, 0] = False
    refused("image ranges from 7 to 7;", image, mask=inside)


def test_colors_may_leave_zero_to_one_a_little():
    image = np.array([[[-1.0, 0.5, 2.0]]])
    np.testing.assert_array_equal(read_image(image).values, rgb_to_lab(image)[0])


@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda dtype: dtype.char)
def test_integers_are_always_in_range(dtype):
    info = np.iinfo(dtype)
    image = np.array([[info.min, 0, info.max]], dtype=dtype)
    assert read_image(image).values[-1, 0] == pytest.approx(100.0)


# Ratio


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("ratio", [0, 0.25, 0.3, 1, 2, np.float32(0.5), Fraction(1, 4)])
def test_colors_are_multiplied_by_the_ratio(ratio, dtype):
    image = rgb_of((4, 5, 3), dtype)
    values = read_image(image, ratio=ratio).values
    assert_same_bits(values, (rgb_to_lab(image) * float(ratio)).reshape(-1, 3))


@pytest.mark.parametrize("ratio", [-1.0, -1e-300, np.inf, -np.inf, np.nan])
def test_ratio_is_finite_and_not_negative(ratio):
    refused(r"ratio is .*, expected a finite number of at least 0", ratio=ratio)


@pytest.mark.parametrize("ratio", [True, np.True_, "1", None, [1.0], 1j])
def test_ratio_is_a_number(ratio):
    refused(r"ratio is .*, expected a finite number", ratio=ratio, error=TypeError)


@pytest.mark.parametrize(
    ("largest", "ratio"), [(1e101, 1.0), (-1e101, 1.0), (1e60, 1e60), (1e308, 1e300), (1, 1.1e100)]
)
def test_colors_whose_squares_overflow_are_refused(largest, ratio):
    message = r"image times ratio reaches .*, expected at most 1e\+100\. Use a smaller ratio"
    refused(message, np.array([[0.0, largest]]), ratio=ratio, convert2lab=False)


@pytest.mark.parametrize(("largest", "ratio"), [(1e38, 100.0), (1.0, 1e39), (0.0, 1e50)])
def test_float32_that_overflows_is_refused(largest, ratio):
    image = np.array([[0.0, largest]], dtype=np.float32)
    refused("image times ratio reaches (inf|nan)", image, ratio=ratio, convert2lab=False)


def test_colors_are_measured_after_scaling():
    values = read_image(np.array([[1e100, 1e200]]), ratio=1e-100, convert2lab=False).values
    np.testing.assert_allclose(values[:, 0], [1.0, 1e100])


# Blur


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("sigma", [0, 0.0, 1e-20, 0.7, 1.5, 10])
def test_everything_before_the_algorithm_has_the_bits_of_scikit_image(sigma, dtype):
    skimage_color = pytest.importorskip("skimage.color")
    filters = pytest.importorskip("skimage.filters")
    image = rgb_of((13, 17, 3), dtype)
    lab = skimage_color.rgb2lab(image)
    blurred = filters.gaussian(lab, sigma=[sigma, sigma, 0], mode="reflect", channel_axis=-1)
    expected = np.ascontiguousarray(blurred * 0.3).reshape(-1, 3)
    assert_same_bits(read_image(image, sigma=sigma, ratio=0.3).values, expected)


@pytest.mark.parametrize("sigma", [(2.0, 0.0, 1.0), [2, 0, 1], np.array([2.0, 0.0, 1.0])])
def test_sigma_may_differ_between_axes(sigma):
    volume = fresh().random((5, 6, 7))
    values = read_image(volume, sigma=sigma, channel_axis=None, convert2lab=False).values
    np.testing.assert_array_equal(values[:, 0], gaussian_filter(volume, (2.0, 0.0, 1.0)).ravel())


def test_channels_are_not_blurred_into_each_other():
    image = np.zeros((4, 5, 2))
    image[..., 1] = 3.0
    values = read_image(image, sigma=2.0, convert2lab=False).values
    np.testing.assert_allclose(values, np.tile([0.0, 3.0], (20, 1)))


def mean_inside(image, mask, sigma):
    """Average the pixels inside the mask with Gaussian weights, reflecting at the borders."""
    radius = int(4 * sigma + 0.5)
    padding = [(radius, radius)] * 2
    values = np.pad(image, [*padding, (0, 0)], mode="symmetric")
    inside = np.pad(mask, padding, mode="symmetric")
    offset = np.arange(-radius, radius + 1)
    kernel = np.exp(-(offset[:, None] ** 2 + offset**2) / (2 * sigma**2))
    result = np.zeros_like(image)
    for row, column in np.argwhere(mask):
        window = np.s_[row : row + 2 * radius + 1, column : column + 2 * radius + 1]
        near = inside[window]
        result[row, column] = np.average(values[window][near], axis=0, weights=kernel[near])
    return result


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("sigma", [0.4, 1.0, 3.0])
def test_a_blur_is_an_average_inside_of_the_mask(sigma, dtype):
    image = rgb_of((9, 11, 2), dtype)
    mask = fresh().random((9, 11)) < 0.6
    pixels = read_image(image, sigma=sigma, mask=mask, convert2lab=False)
    expected = mean_inside(image.astype(np.float64), mask, sigma).reshape(-1, 2)[mask.ravel()]
    assert pixels.values.dtype == dtype
    tolerance = 10 * np.finfo(dtype).eps
    np.testing.assert_allclose(pixels.values[mask.ravel()], expected, atol=tolerance)


def test_a_blur_keeps_a_constant_picture_inside_of_the_mask():
    mask = fresh().random((8, 9)) < 0.3
    mask[0, 0] = True
    values = read_image(np.full((8, 9), 0.3), sigma=2.0, mask=mask, convert2lab=False).values
    np.testing.assert_allclose(values[mask.ravel()], 0.3, rtol=1e-14)


def test_a_mask_of_one_pixel_is_not_blurred():
    mask = np.zeros((20, 20), bool)
    mask[3, 17] = True
    image = fresh().random((20, 20))
    values = read_image(image, sigma=2.0, mask=mask, convert2lab=False).values.reshape(20, 20)
    assert values[3, 17] == pytest.approx(image[3, 17], rel=1e-14)


@pytest.mark.parametrize("sigma", [-1.0, -1e-300, np.inf, np.nan, [1.0, -1.0], (np.nan, 1), 1e5])
def test_sigma_is_a_width(sigma):
    refused(r"sigma is .*, expected a number from 0 to 10000, or 2 of them", sigma=sigma)


@pytest.mark.parametrize("sigma", [True, [True, 1.0], "1", None, ["a", 1], [[1.0], [1.0]], 1j])
def test_sigma_is_a_number(sigma):
    refused(r"sigma is .*, expected a number from 0", sigma=sigma, error=TypeError)


@pytest.mark.parametrize("sigma", [[], [1.0], [1.0, 1.0, 0.0], np.ones(3)])
def test_sigma_is_one_number_per_spatial_axis(sigma):
    refused(rf"sigma has {len(sigma)} entries, expected .* 2 of them, one for each", sigma=sigma)


# Spacing


@pytest.mark.parametrize(
    ("spacing", "expected"),
    [
        (None, [1.0, 1.0]),
        (2, [2.0, 2.0]),
        (0.5, [0.5, 0.5]),
        ((1, 3), [1.0, 3.0]),
        ([1e-100, 1e100], [1e-100, 1e100]),
        (np.array([2, 3]), [2.0, 3.0]),
        (np.float32(0.5), [0.5, 0.5]),
        (np.array(4.0), [4.0, 4.0]),
    ],
)
def test_spacing_is_one_length_per_axis(spacing, expected):
    lengths = read_image(rgb_of((4, 5, 3)), spacing=spacing).spacing
    assert lengths.dtype == np.float64
    assert lengths.tolist() == expected


@pytest.mark.parametrize("spacing", [0, -1.0, np.inf, np.nan, 9e-101, 1.1e100, [1.0, 0.0]])
def test_spacing_is_positive_and_finite(spacing):
    message = r"spacing is .*, expected a number from 1e-100 to 1e\+100, or 2 of them"
    refused(message, spacing=spacing)


@pytest.mark.parametrize("spacing", [[1.0], [1.0] * 3, ()])
def test_spacing_has_one_entry_per_spatial_axis(spacing):
    refused(rf"spacing has {len(spacing)} entries, expected", spacing=spacing)


@pytest.mark.parametrize("spacing", [True, "1", [None, 1.0], np.array([True, True])])
def test_spacing_is_a_number(spacing):
    refused(r"spacing is .*, expected a number", spacing=spacing, error=TypeError)


# Masks

HALF = np.arange(20).reshape(4, 5) % 2 == 0


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.int8])
def test_masks_are_bools_or_zeros_and_ones(dtype):
    for mask in (HALF.astype(dtype), np.asfortranarray(HALF.astype(dtype))):
        inside = read_image(rgb_of((4, 5, 3)), mask=mask).mask
        assert inside.dtype == np.bool_
        assert inside.flags.c_contiguous
        np.testing.assert_array_equal(inside, HALF)


def test_masks_may_be_lists():
    assert read_image([[0.0, 1.0]], mask=[[True, False]]).mask.tolist() == [[True, False]]


def test_a_mask_that_leaves_nothing_out_is_none():
    assert read_image(rgb_of((4, 5, 3)), mask=np.ones((4, 5), bool)).mask is None


def test_a_mask_is_copied():
    mask = HALF.copy()
    inside = read_image(rgb_of((4, 5, 3)), mask=mask).mask
    mask[:] = False
    np.testing.assert_array_equal(inside, HALF)


@pytest.mark.parametrize("fill", [np.nan, np.inf, -np.inf, 1e200, 255.0, 0.7])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("convert2lab", [True, False])
@pytest.mark.parametrize("sigma", [0.0, 1.5])
def test_the_outside_of_a_mask_is_never_read(fill, dtype, convert2lab, sigma):
    image = rgb_of((4, 5, 3), dtype)
    spoilt = image.copy()
    with np.errstate(over="ignore"):
        spoilt[~HALF] = np.float64(fill).astype(dtype)
    parameters = {"mask": HALF, "convert2lab": convert2lab, "sigma": sigma, "ratio": 0.5}
    values = read_image(spoilt, **parameters).values
    assert np.isfinite(values).all()
    assert_same_bits(values, read_image(image, **parameters).values)


def test_a_mask_without_blur_changes_no_pixel_inside():
    image = rgb_of((4, 5, 3))
    values = read_image(image, mask=HALF).values
    np.testing.assert_array_equal(values[HALF.ravel()], read_image(image).values[HALF.ravel()])


def test_integers_may_be_masked():
    image = fresh().integers(0, 255, size=(4, 5, 3), dtype=np.uint8)
    values = read_image(image, mask=HALF).values
    np.testing.assert_array_equal(values[HALF.ravel()], read_image(image).values[HALF.ravel()])


@pytest.mark.parametrize("shape", [(4,), (5, 4), (4, 5, 3), (4, 5, 1), (20,), ()])
def test_masks_have_the_shape_of_the_grid(shape):
    message = rf"mask has shape {re.escape(str(shape))}, expected \(4, 5\): one entry per pixel"
    refused(message, mask=np.ones(shape, bool))


@pytest.mark.parametrize(
    "mask",
    [HALF.astype(float), HALF * 255, HALF.astype(np.int8) - 1, HALF.astype(str), HALF * 1j, "all"],
    ids=str,
)
def test_masks_of_other_types_are_refused(mask):
    refused(r"mask is of type .*, expected bools or integers that are 0 or 1.*mask > 0", mask=mask)


def test_masked_masks_are_refused():
    refused("mask is a masked array, expected bools", mask=np.ma.array(HALF, mask=HALF))


def test_a_mask_must_leave_something():
    refused("mask is False everywhere, expected at least one pixel", mask=np.zeros((4, 5), bool))


# Values that are not finite


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [*FLOATS, np.float16, np.longdouble])
@pytest.mark.parametrize("convert2lab", [True, False])
def test_pixels_must_be_finite_and_the_first_bad_one_is_named(bad, dtype, convert2lab):
    image = rgb_of((4, 5, 3), dtype)
    image[2, 3] = bad
    image[3, 0, 1] = bad
    message = r"image has NaN or infinity in 2 of 20 pixels, the first at \(2, 3\); expected finite"
    refused(message, image, convert2lab=convert2lab)
    refused(message, np.moveaxis(image, -1, 0), convert2lab=convert2lab, channel_axis=0)


def test_pixels_inside_of_the_mask_must_be_finite():
    image = rgb_of((4, 5, 3))
    image[0, 0] = image[0, 1] = np.nan
    message = r"in 1 of 20 pixels, the first at \(0, 0\).*set the mask to False there"
    refused(message, image, mask=HALF)


# The caller's arrays


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
@pytest.mark.parametrize("convert2lab", [True, False])
def test_the_callers_arrays_are_never_written(dtype, convert2lab):
    image = (rgb_of((4, 5, 3)) * (255 if dtype is np.uint8 else 1)).astype(dtype)
    mask, spacing = HALF.copy(), np.array([1.0, 2.0])
    before = image.copy()
    for array in (image, mask, spacing):
        array.flags.writeable = False
    for sigma in (0.0, 1.0):
        for inside in (None, mask):
            pixels = read_image(
                image,
                sigma=sigma,
                ratio=0.5,
                mask=inside,
                spacing=spacing,
                convert2lab=convert2lab,
            )
            assert pixels.values.dtype == (np.float64 if dtype is np.uint8 else dtype)
    np.testing.assert_array_equal(image, before)
    np.testing.assert_array_equal(mask, HALF)


def test_pictures_may_be_mapped_from_a_file(tmp_path):
    image = fresh().integers(0, 255, size=(4, 5, 3), dtype=np.uint8)
    np.save(tmp_path / "image.npy", image)
    mapped = np.load(tmp_path / "image.npy", mmap_mode="r")
    pixels = read_image(mapped, mask=HALF)
    np.testing.assert_array_equal(pixels.values, read_image(image, mask=HALF).values)
    assert type(read_image(to_float(mapped), convert2lab=False).values) is np.ndarray


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_pictures_need_not_be_contiguous(dtype):
    large = (rgb_of((8, 15, 6)) * (255 if dtype is np.uint8 else 1)).astype(dtype)
    part = large[::-2, ::3, ::2]
    for convert2lab in (True, False):
        for mask in (None, HALF):
            parameters = {"convert2lab": convert2lab, "mask": mask, "sigma": 0.8}
            pixels = read_image(part, **parameters)
            assert pixels.values.flags.c_contiguous
            assert_same_bits(pixels.values, read_image(part.copy(), **parameters).values)


@pytest.mark.parametrize("parameters", [{}, {"sigma": 1.0}, {"mask": HALF}, {"ratio": 0.3}])
@pytest.mark.parametrize("image", [rgb_of((4, 5, 3)), rgb_of((4, 5))], ids=["rgb", "gray"])
@pytest.mark.parametrize("convert2lab", [True, False])
def test_float32_stays_float32(image, parameters, convert2lab):
    half = read_image(image.astype(np.float32), convert2lab=convert2lab, **parameters)
    full = read_image(image, convert2lab=convert2lab, **parameters)
    assert half.values.dtype == np.float32
    assert full.values.dtype == np.float64
    np.testing.assert_allclose(half.values, full.values, atol=2e-4)
