"""Conversion of colors to floats, Lab and lightness, with the bits of scikit-image."""

import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pictures import FLOATS, INTEGERS, assert_same_bits, fresh, rgb_of
from quickshift.checks.images import check_image
from quickshift.compat.skimage import quickshift
from quickshift.image import color
from quickshift.image.color import gray_to_lightness, rgb_to_lab, to_float
from quickshift.image.pixels import read_image
from quickshift.image.segmentation import segment


@pytest.fixture
def many_chunks(monkeypatch):
    """Split small pictures into many chunks, so that several threads convert them."""
    monkeypatch.setattr(color, "_CHUNK", 16)


# Floats


@pytest.mark.parametrize(("dtype", "white"), [("u1", 255), ("u2", 65535), ("i1", 127), ("?", 1)])
def test_the_largest_integer_is_one(dtype, white):
    assert to_float(np.array([0, white], dtype=dtype)).tolist() == [0.0, 1.0]


def test_the_least_signed_integer_is_minus_one():
    assert to_float(np.array([-128, -127], dtype=np.int8)).tolist() == [-1.0, -1.0]


@pytest.mark.parametrize("dtype", FLOATS)
def test_floats_come_back_as_they_are(dtype):
    image = np.array([-3.0, 300.0], dtype=dtype)
    assert to_float(image) is image


def test_float16_becomes_float32_and_longer_ones_float64():
    assert to_float(np.ones(2, np.float16)).dtype == np.float32
    assert to_float(np.ones(2, np.longdouble)).dtype == np.float64


def test_lists_are_pictures_too():
    assert to_float(check_image([[0.0, 0.5]])).tolist() == [[0.0, 0.5]]
    assert read_image([[0.0, 0.5]], convert2lab=False).values.tolist() == [[0.0], [0.5]]


@pytest.mark.parametrize(
    "dtype",
    [*INTEGERS, *map(np.dtype, "?efdg"), *map(np.dtype, [">u2", ">i4", ">f4", ">f8", ">f2"])],
    ids=lambda dtype: dtype.str + dtype.char,
)
def test_floats_have_the_bits_of_scikit_image(dtype):
    util = pytest.importorskip("skimage.util")
    utils = pytest.importorskip("skimage._shared.utils")
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        ends = [info.min, info.min + 1, info.max // 3, info.max - 1, info.max]
        image = fresh().integers(info.min, info.max, size=(41, 7), dtype=dtype.type, endpoint=True)
        image.flat[:5] = ends
        image = image.astype(dtype)
    else:
        image = (
            fresh().normal(size=(41, 7)) > 0 if dtype.kind == "b" else fresh().normal(size=(41, 7))
        )
        image = image.astype(dtype)
    expected = util.img_as_float(image)
    expected = expected.astype(utils._supported_float_type(expected.dtype), copy=False)
    for view in (np.s_[:], np.s_[::-2], np.s_[:, ::3]):
        assert_same_bits(to_float(image[view]), expected[view])


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16])
def test_every_short_integer_has_the_bits_of_scikit_image(dtype):
    util = pytest.importorskip("skimage.util")
    info = np.iinfo(dtype)
    image = np.arange(info.min, info.max + 1).astype(dtype)
    assert_same_bits(to_float(image), util.img_as_float(image))


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (np.ones((2, 2), complex), r"image is complex \(complex128\), expected real.*abs\(image\)"),
        (np.ones((2, 2), np.complex64), r"image is complex \(complex64\)"),
        (np.ones((2, 2), object), r"image is of type object, expected bools, integers or floats"),
        (np.array([["a", "b"]]), r"image is of type <U1, expected bools, integers.*astype\(float"),
        ("picture.png", r"image is of type <U11, expected bools"),
        (b"bytes", r"image is of type \|S5, expected bools"),
        (None, r"image is of type object, expected bools"),
        (np.zeros(2, "M8[s]"), r"image is of type datetime64\[s\], expected bools"),
        (np.zeros(2, "m8[D]"), r"image is of type timedelta64\[D\], expected bools"),
        ([datetime.date(2020, 1, 1)], r"image is of type object, expected bools"),
        (np.zeros(2, "f4,f4"), r"image is of type .*, expected bools"),
        (np.ma.masked_equal([1.0, 2.0], 1.0), r"masked array with 1 masked entries.*image\.data"),
        (np.ma.array([1.0, 2.0]), r"masked array with 0 masked entries, expected a plain array"),
    ],
    ids=str,
)
def test_what_cannot_be_scaled_is_refused(image, message):
    for call in (check_image, read_image, segment, quickshift):
        with pytest.raises(TypeError, match=message):
            call(image)


def test_ragged_lists_are_refused():
    with pytest.raises(ValueError, match=r"image cannot be .*expected numbers on a grid\. Pad"):
        read_image([[1.0], [1.0, 2.0]])


def test_long_doubles_beyond_float64_become_infinite_in_silence():
    if np.finfo(np.longdouble).max == np.finfo(np.float64).max:
        pytest.skip("long doubles are doubles here")
    assert np.isinf(to_float(np.array([np.finfo(np.longdouble).max])))


# Lab


@pytest.mark.parametrize("dtype", FLOATS)
def test_lab_of_known_colors(dtype):
    colors = np.array([[0, 0, 0], [1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=dtype)
    expected = [[0, 0, 0], [100, 0, 0], [53.24, 80.09, 67.2], [87.73, -86.18, 83.18]]
    expected.append([32.3, 79.19, -107.86])
    np.testing.assert_allclose(rgb_to_lab(colors), expected, atol=0.02)


# A single color, of shape (3,), is left out: with NumPy 1, scikit-image converts it to float64.
SHAPES = [
    (1, 3),
    (2, 3),
    (7, 3),
    (1, 1, 3),
    (1, 9, 3),
    (9, 1, 3),
    (3, 3, 3),
    (40, 2, 3),
    (13, 17, 3),
    (1, 5000, 3),
    (5000, 1, 3),
    (70, 131, 3),
    (3, 5, 1, 3),
    (4, 5, 6, 3),
    (2, 3, 4, 5, 3),
    (3, 4097, 3),
]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_lab_has_the_bits_of_scikit_image(shape, dtype):
    skimage = pytest.importorskip("skimage.color")
    image = rgb_of(shape, dtype)
    for n_jobs in (1, 2):
        assert_same_bits(rgb_to_lab(image, n_jobs=n_jobs), skimage.rgb2lab(image))


@pytest.mark.usefixtures("many_chunks")
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_chunks_and_threads_change_no_bit(shape, dtype):
    skimage = pytest.importorskip("skimage.color")
    image = rgb_of(shape, dtype, seed=1)
    for n_jobs in (1, 2, 3, 1000):
        assert_same_bits(rgb_to_lab(image, n_jobs=n_jobs), skimage.rgb2lab(image))


@pytest.mark.parametrize("dtype", FLOATS)
def test_lab_of_a_large_picture_has_the_bits_of_scikit_image(dtype):
    skimage = pytest.importorskip("skimage.color")
    image = rgb_of((301, 257, 3), dtype)
    assert_same_bits(rgb_to_lab(image, n_jobs=2), skimage.rgb2lab(image))


@pytest.mark.parametrize("dtype", FLOATS)
def test_lab_has_the_bits_of_scikit_image_outside_of_zero_to_one(dtype):
    skimage = pytest.importorskip("skimage.color")
    image = np.linspace(-1.0, 2.0, 3 * 30 * 31).reshape(30, 31, 3).astype(dtype)
    assert_same_bits(rgb_to_lab(image), skimage.rgb2lab(image))


@pytest.mark.parametrize("dtype", FLOATS)
def test_lab_has_the_bits_of_scikit_image_where_its_formulas_change(dtype):
    skimage = pytest.importorskip("skimage.color")
    ends = [0.04045, 0.008856, 0.008856 * 12.92, 0.008856 * 0.95047 * 12.92]
    near = [dtype(end) for end in ends]
    near += [np.nextafter(end, dtype(1)) for end in near] + [
        np.nextafter(end, dtype(0)) for end in near
    ]
    tiny = np.finfo(dtype)
    near += [dtype(0.0), dtype(-0.0), tiny.tiny, tiny.smallest_subnormal, dtype(1.0)]
    image = np.stack(np.meshgrid(near, near, near), axis=-1).astype(dtype)
    assert_same_bits(rgb_to_lab(image), skimage.rgb2lab(image))


@pytest.mark.parametrize("dtype", FLOATS)
def test_lab_has_the_bits_of_scikit_image_for_every_byte(dtype):
    skimage = pytest.importorskip("skimage.color")
    image = fresh().permuted(np.arange(256 * 96) % 256).reshape(64, -1, 3).astype(np.uint8)
    scaled = to_float(image).astype(dtype)
    assert_same_bits(rgb_to_lab(scaled), skimage.rgb2lab(scaled))
    assert_same_bits(rgb_to_lab(image), skimage.rgb2lab(image))


@pytest.mark.parametrize("dtype", FLOATS)
def test_lab_does_not_mind_how_the_picture_lies_in_memory(dtype):
    image = rgb_of((12, 14, 15, 3), dtype)
    expected = rgb_to_lab(image)
    channels_first = np.ascontiguousarray(np.moveaxis(image, -1, 0))
    assert_same_bits(rgb_to_lab(np.moveaxis(channels_first, 0, -1)), expected)
    assert_same_bits(rgb_to_lab(np.asfortranarray(image)), expected)
    assert_same_bits(rgb_to_lab(image[::-1, ::2, ::-3]), expected[::-1, ::2, ::-3])


def test_lab_of_nothing_is_nothing():
    assert rgb_to_lab(np.empty((0, 4, 3))).shape == (0, 4, 3)
    assert rgb_to_lab(np.empty((4, 0, 3))).shape == (4, 0, 3)
    assert gray_to_lightness(np.empty((4, 0))).shape == (4, 0)


def test_lab_of_nan_is_nan():
    image = rgb_of((3, 4, 3))
    image[1, 2] = np.nan
    lab = rgb_to_lab(image)
    assert np.isnan(lab[1, 2]).all()
    assert np.isnan(lab).sum() == 3


@pytest.mark.parametrize("convert", [rgb_to_lab, gray_to_lightness])
def test_conversions_refuse_impossible_numbers_of_threads(convert):
    with pytest.raises(ValueError, match="n_jobs must not be 0"):
        convert(np.zeros((1, 2, 3)), n_jobs=0)


@pytest.mark.usefixtures("many_chunks")
def test_errors_of_threads_are_raised(monkeypatch):
    def fail(linear):
        raise MemoryError("no room")

    monkeypatch.setattr(color, "_perceived", fail)
    with pytest.raises(MemoryError, match="no room"):
        rgb_to_lab(rgb_of((40, 40, 3)), n_jobs=2)


# Lightness


@pytest.mark.parametrize("dtype", FLOATS)
def test_lightness_goes_from_zero_to_a_hundred(dtype):
    gray = np.linspace(0, 1, 1001, dtype=dtype)
    lightness = gray_to_lightness(gray)
    assert lightness.dtype == dtype
    np.testing.assert_allclose(lightness[[0, -1]], [0.0, 100.0], atol=200 * np.finfo(dtype).eps)
    assert (np.diff(lightness) > 0).all()


@pytest.mark.usefixtures("many_chunks")
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(), (1,), (50,), (9, 11), (3, 4, 5), (9, 11, 1)])
def test_lightness_is_the_first_channel_of_lab_to_rounding(shape, dtype):
    gray = fresh().uniform(-0.2, 1.2, size=shape).astype(dtype)
    lab = rgb_to_lab(np.stack([gray] * 3, axis=-1))
    for n_jobs in (1, 2):
        lightness = gray_to_lightness(gray, n_jobs=n_jobs)
        assert lightness.shape == shape
        np.testing.assert_allclose(lightness, lab[..., 0], atol=500 * np.finfo(dtype).eps)


def test_lightness_of_bytes_is_that_of_their_floats():
    gray = np.arange(256, dtype=np.uint8).reshape(8, 32)
    assert_same_bits(gray_to_lightness(gray), gray_to_lightness(to_float(gray)))
    assert_same_bits(gray_to_lightness(gray[::-2]), gray_to_lightness(gray)[::-2])


@given(st.floats(-1.0, 2.0))
def test_lightness_is_the_first_channel_of_lab_for_any_gray(gray):
    lab = rgb_to_lab(np.full((1, 2, 3), gray))
    np.testing.assert_allclose(gray_to_lightness(np.array([gray])), lab[0, 0, :1], atol=1e-12)
