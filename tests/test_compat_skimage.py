"""`quickshift.compat.skimage.quickshift` equals `skimage.segmentation.quickshift`."""

import inspect
import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from instruction_sets import SETS
from quickshift.compat.skimage import quickshift

segmentation = pytest.importorskip("skimage.segmentation")
data = pytest.importorskip("skimage.data")

SETTINGS = {
    "defaults": {},
    "fine": {"kernel_size": 3, "max_dist": 6, "ratio": 0.5},
    "lime": {"kernel_size": 4, "max_dist": 200, "ratio": 0.2},
}
COLORED = ("astronaut", "coffee", "rocket", "chelsea")
SMALL = np.random.default_rng(0).random((33, 41, 3))


def assert_same(image, **settings):
    """Check that labels, parents, distances and their types are those of scikit-image."""
    ours = quickshift(image, return_tree=True, **settings)
    theirs = segmentation.quickshift(image, return_tree=True, **settings)
    for mine, expected in zip(ours, theirs, strict=True):
        assert_array_equal(mine, expected)
        assert mine.dtype == np.asarray(expected).dtype
        assert type(mine) is np.ndarray
    assert_array_equal(quickshift(image, **settings), np.asarray(theirs[0]))


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("name", COLORED)
def test_pictures(name, dtype, settings):
    """Every second pixel of photographs; scikit-image is slow on larger ones."""
    image = getattr(data, name)()[::2, ::2]
    if dtype == np.float32:
        image = image.astype(np.float32) / 255
    assert_same(image, **settings)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
@pytest.mark.parametrize("name", ["camera", "coins"])
def test_gray_pictures(name, dtype):
    image = getattr(data, name)()[::3, ::3]
    if dtype != np.uint8:
        image = (image * 0.4).astype(dtype)
    assert_same(image, convert2lab=False, ratio=100.0 if dtype == np.uint8 else 1.0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "settings",
    [
        {"sigma": 1.5},
        {"sigma": 0.3, "ratio": 0.1},
        {"kernel_size": 1, "max_dist": 3},
        {"kernel_size": 1.7, "max_dist": 30.5},
        {"kernel_size": 2.1, "max_dist": 5, "ratio": 0.0},
        {"kernel_size": 3.3},
        {"kernel_size": 8 / 3},
        {"max_dist": np.float64(7.1)},
        {"kernel_size": 30, "max_dist": 50},
        {"rng": 7},
        {"rng": None, "max_dist": 0},
        {"max_dist": -1},
        {"max_dist": np.inf},
        {"max_dist": np.nan},
        {"ratio": 0.0},
        {"ratio": np.float64(2.0)},
        {"convert2lab": False, "ratio": 30},
    ],
)
def test_settings(settings, dtype):
    image = SMALL.astype(dtype)
    if settings.get("rng", 0) is None:  # the noise differs between calls
        assert quickshift(image, **settings).shape == image.shape[:2]
    else:
        assert_same(image, **settings)


@pytest.mark.parametrize("each", SETS)
@pytest.mark.parametrize("kernel_size", [1, 2.4, 5, 12])
@pytest.mark.parametrize("shape", [(140, 3, 3), (7, 301, 3), (21, 290, 1), (135, 263, 2)])
def test_lines_in_single_precision(shape, kernel_size, each, use_set):
    """Narrower and wider than the blocks and tiles in which their pairs are added."""
    use_set(each)
    image = np.random.default_rng(0).random(shape, dtype=np.float32)
    assert_same(image, convert2lab=False, ratio=10, kernel_size=kernel_size)


def test_generators():
    """A NumPy generator may replace the seed; scikit-image documents that but refuses it."""
    image = np.zeros((40, 50, 3))  # all densities are equal, so the noise decides
    generator = np.random.default_rng(7)
    assert_array_equal(quickshift(image, rng=generator), quickshift(image, rng=7))
    assert not np.array_equal(quickshift(image, rng=generator), quickshift(image, rng=7))


@pytest.mark.parametrize("shape", [(1, 1, 3), (1, 30, 3), (30, 1, 3), (300, 3, 3)])
def test_shapes(shape):
    assert_same(np.random.default_rng(0).random(shape))


@pytest.mark.parametrize(("dtype", "scale"), [(np.float64, 1e200), (np.float32, 1e20)])
def test_squares_that_overflow(dtype, scale):
    image = (np.random.default_rng(0).random((6, 7)) * scale).astype(dtype)
    with np.errstate(over="ignore"):
        assert_same(image, convert2lab=False)


def test_constant_pictures_are_torn_by_noise_there_too():
    image = np.full((40, 50, 3), 0.4)
    assert_same(image)
    assert quickshift(image).max() > 0


def test_axes():
    assert_same(np.moveaxis(SMALL, -1, 0), channel_axis=0)
    assert_same(np.moveaxis(SMALL, -1, 1), channel_axis=1)
    many = np.random.default_rng(0).random((20, 21, 5))
    assert_same(many, convert2lab=False, ratio=20)
    assert_same(many[..., 0], convert2lab=False, ratio=20)


@pytest.mark.parametrize(
    ("image", "settings", "message"),
    [
        (np.zeros((3, 3, 3, 3)), {}, r"image has shape \(3, 3, 3, 3\), expected two spatial axes"),
        (np.zeros((5, 5)), {}, "which makes 1 channels, expected 3"),
        (np.zeros((5, 5, 4)), {}, "which makes 4 channels, expected 3"),
        (SMALL, {"kernel_size": 0.9}, r"kernel_size is 0\.9, expected a number from 1 to below"),
        (SMALL, {"kernel_size": np.nan}, "kernel_size is nan, expected a number from 1 to below"),
        (SMALL, {"kernel_size": np.inf}, "kernel_size is inf, expected .* below 1e18"),
        (SMALL, {"sigma": -1.0}, r"sigma is -1\.0, expected a width of at least 0"),
        (np.full((5, 5, 3), np.nan), {}, "image has NaN or infinity, expected finite numbers"),
        (SMALL, {"channel_axis": 7}, "axis 7 is out of bounds for array of dimension 3"),
        (np.zeros((0, 5, 3)), {}, r"image has shape \(0, 5, 3\), expected at least one pixel"),
    ],
)
def test_errors(image, settings, message):
    with pytest.raises(ValueError, match=message):
        quickshift(image, **settings)


@pytest.mark.parametrize("shape", [(4,), (4, 5), (3, 4, 5), (4, 5, 4), (4, 5, 1)])
def test_lab_needs_three_channels(shape):
    """The message begins with scikit-image's words, then says what came and what to change."""
    message = r"^Only RGB images can be converted to Lab space"
    for function in (segmentation.quickshift, quickshift):
        with pytest.raises(ValueError, match=message):
            function(np.zeros(shape), convert2lab=True)
    ours = rf"{message}: image has shape {re.escape(str(shape))} .*expected 3\. Pass convert2lab="
    with pytest.raises(ValueError, match=ours):
        quickshift(np.zeros(shape))


def test_signature():
    ours = inspect.signature(quickshift).parameters
    theirs = inspect.signature(segmentation.quickshift).parameters
    assert list(ours) == list(theirs)
    for name, parameter in ours.items():
        assert parameter.kind == theirs[name].kind
        assert parameter.default == theirs[name].default
