"""Segmentation by tiles gives exactly the labels of the whole picture."""

import numpy as np
import pytest

import quickshift as qs
from pictures import KINDS, picture


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tile", [1, 7, 16, 64])
def test_tiles_equal_the_whole(kind, tile):
    image = picture(kind, (13, 18) if tile == 1 else (45, 58), 3)
    for settings in (
        {"bandwidth": 1.0, "tau": 2.0},
        {"bandwidth": 2.0, "tau": 5.0, "window": 1.0, "spacing": (0.3, 1.7)},
        {"bandwidth": 1.0, "tau": 3.0, "sigma": 1.0, "start_label": 1},
    ):
        whole = qs.segment(image, convert2lab=False, **settings)
        tiles = qs.segment_tiles(image, tile=tile, convert2lab=False, **settings)
        np.testing.assert_array_equal(tiles, whole)


@pytest.mark.parametrize("sigma", [0.0, 0.8])
def test_tiles_of_a_masked_picture(sigma):
    rng = np.random.default_rng(0)
    image = rng.random((60, 50, 3)).astype(np.float32)
    mask = np.zeros((60, 50), bool)
    mask[20:55, 3:30] = rng.random((35, 27)) < 0.8
    image[~mask] = np.nan
    whole = qs.segment(image, mask=mask, sigma=sigma)
    np.testing.assert_array_equal(qs.segment_tiles(image, mask=mask, sigma=sigma, tile=9), whole)


def test_tiles_of_volumes_and_gray_pictures():
    rng = np.random.default_rng(0)
    volume = rng.random((9, 14, 11))
    settings = {"channel_axis": None, "bandwidth": 1.0, "tau": 3.0, "ratio": 0.05}
    whole = qs.segment(volume, **settings)
    np.testing.assert_array_equal(qs.segment_tiles(volume, tile=5, **settings), whole)
    gray = rng.integers(0, 256, (30, 40), dtype=np.uint8)
    np.testing.assert_array_equal(qs.segment_tiles(gray, tile=11), qs.segment(gray))
    first = rng.random((3, 20, 24))
    whole = qs.segment(first, channel_axis=0)
    np.testing.assert_array_equal(qs.segment_tiles(first, tile=9, channel_axis=0), whole)


def test_memory_mapped_pictures_and_labels(tmp_path):
    image = np.random.default_rng(0).integers(0, 256, (64, 80, 3), dtype=np.uint8)
    np.save(tmp_path / "image.npy", image)
    mapped = np.load(tmp_path / "image.npy", mmap_mode="r")
    out = np.lib.format.open_memmap(tmp_path / "labels.npy", "w+", np.int32, (64, 80))
    assert qs.segment_tiles(mapped, tile=32, out=out) is out
    out.flush()
    np.testing.assert_array_equal(np.load(tmp_path / "labels.npy"), qs.segment(image))


def test_temporary_files_are_where_they_are_wanted_and_removed(tmp_path):
    qs.segment_tiles(np.zeros((9, 9)), tile=4, scratch=tmp_path)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileNotFoundError):
        qs.segment_tiles(np.zeros((9, 9)), scratch=tmp_path / "missing")


def test_sides_of_tiles():
    image = np.random.default_rng(0).random((30, 20))
    whole = qs.segment(image)
    for tile in (None, (7, 20), [30, 3], np.int64(9)):
        np.testing.assert_array_equal(qs.segment_tiles(image, tile=tile), whole)


def test_lists_are_pictures_too():
    image = [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]
    mask = [[True, True, True], [True, True, False]]
    whole = qs.segment(image, mask=mask)
    np.testing.assert_array_equal(qs.segment_tiles(image, mask=mask, tile=2), whole)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"tile": 0}, ValueError, "tile is 0, expected a whole number of pixels, or 2 of them, at"),
        ({"tile": (8, 8, 8)}, ValueError, "tile is \\(8, 8, 8\\), expected a whole number of"),
        ({"tile": (8, True)}, TypeError, "tile is True, expected a whole number of"),
        ({"tile": 2.0}, TypeError, "tile is 2.0, expected a whole number"),
        ({"tau": np.inf}, ValueError, "tau is infinite, expected a finite length: a tile"),
        ({"bandwidth": -1.0}, ValueError, "bandwidth is -1.0"),
        ({"mask": np.ones((3, 3), bool)}, ValueError, "mask has shape \\(3, 3\\), expected"),
        ({"mask": np.zeros((20, 20), bool)}, ValueError, "mask is False everywhere"),
        ({"out": np.zeros((20, 20))}, ValueError, "type float64, expected integers of shape"),
        ({"out": np.zeros((20, 21), int)}, ValueError, "out has shape \\(20, 21\\)"),
        ({"channel_axis": 3}, ValueError, "channel_axis is 3"),
    ],
)
def test_errors(settings, error, message):
    with pytest.raises(error, match=message):
        qs.segment_tiles(np.zeros((20, 20, 3)), **settings)


def test_an_output_that_is_read_only_is_refused_before_the_work():
    out = np.empty((20, 30), dtype=np.int64)
    out.flags.writeable = False
    with pytest.raises(ValueError, match=r"out is read-only, expected .* mode='r\+'"):
        qs.segment_tiles(Unreadable(), out=out)


class Unreadable:
    """A picture of which nothing may be read."""

    shape = (20, 30)

    def __getitem__(self, box):
        raise AssertionError(box)


def test_labels_that_do_not_fit_are_an_error():
    image = np.random.default_rng(0).random((40, 40))
    with pytest.raises(
        ValueError, match="out is of type uint8, which ranges from 0 to 255; expected a type"
    ):
        qs.segment_tiles(image, tau=0.5, out=np.zeros((40, 40), np.uint8), start_label=1)


def test_masked_arrays_that_mask_nothing_are_read_as_plain_ones():
    image = np.random.default_rng(0).random((12, 9, 3))
    np.testing.assert_array_equal(
        qs.segment_tiles(np.ma.masked_array(image), tile=5), qs.segment(image)
    )


def test_progress_is_reported_tile_by_tile():
    reports = []
    image = np.random.default_rng(0).random((30, 40))
    qs.segment_tiles(image, tile=20, progress=lambda stage, done: reports.append((stage, done)))
    stages = ("estimate_density", "climb")
    steps = [(stage, done) for stage in stages for done in (0.0, 0.25, 0.5, 0.75, 1.0)]
    assert reports == [*steps, ("cut", 1.0)]


def test_an_exception_of_progress_stops_the_tiles():
    def stop(stage, done):
        raise RuntimeError(stage)

    with pytest.raises(RuntimeError, match="estimate_density"):
        qs.segment_tiles(np.zeros((9, 9)), tile=4, progress=stop)
