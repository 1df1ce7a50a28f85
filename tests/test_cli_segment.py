"""`quickshift segment`: pictures in and out give what `segment` gives."""

import json
import struct
import sys
import zlib

import numpy as np
import pytest
from PIL import Image

import quickshift as qs
from cli_cases import run
from quickshift.cli.files.pictures import read_picture

RNG = np.random.default_rng(0)
PHOTO = np.repeat(np.repeat(RNG.integers(0, 256, (5, 6, 3), np.uint8), 8, axis=0), 8, axis=1)


@pytest.fixture
def command(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: run(monkeypatch, "segment", *arguments)


def save(array, name, **options):
    Image.fromarray(array).save(name, **options)


@pytest.mark.parametrize("name", ["in.png", "in.tif", "in.npy"])
def test_labels_are_those_of_segment(name, command):
    if name.endswith("npy"):
        np.save(name, PHOTO)
    else:
        save(PHOTO, name)
    result = command(name, "-o", "out.npy", "--bandwidth", "2", "--tau", "6", "--sigma", "0.5")
    assert result.code == 0, result.err
    expected = qs.segment(PHOTO, bandwidth=2.0, tau=6.0, sigma=0.5)
    np.testing.assert_array_equal(np.load("out.npy"), expected)
    assert f"{expected.max() + 1}, of 1920 pixels" in result.out


def test_jpeg_is_segmented_as_decoded(command):
    save(PHOTO, "in.jpg")
    assert command("in.jpg", "-o", "out.npy", "-q").code == 0
    expected = qs.segment(np.asarray(Image.open("in.jpg")))
    np.testing.assert_array_equal(np.load("out.npy"), expected)


@pytest.mark.parametrize("tau", [10.0, 0.5])  # with 8 bits and with 16 bits
def test_png_labels_start_at_one(tau, command):
    save(PHOTO, "in.png")
    assert command("in.png", "-o", "out.png", "--tau", tau, "-q").code == 0
    expected = qs.segment(PHOTO, tau=tau, start_label=1)
    np.testing.assert_array_equal(np.asarray(Image.open("out.png")), expected)


def test_number_of_segments(command):
    save(PHOTO, "in.png")
    facts = json.loads(command("in.png", "--n-segments", "7", "--json").out)
    assert facts["n_segments"] == 7
    assert facts["n_pixels"] == 1920


def test_transparent_pixels_are_outside(command):
    alpha = np.full(PHOTO.shape[:2], 255, np.uint8)
    alpha[:10, :12] = 0
    save(np.dstack([PHOTO, alpha]), "in.png")
    assert command("in.png", "-o", "out.npy", "-q").code == 0
    expected = qs.segment(PHOTO, mask=alpha > 0)
    np.testing.assert_array_equal(np.load("out.npy"), expected)


def test_gray_pictures_of_8_and_16_bits(command):
    for dtype, factor in ((np.uint8, 1), (np.uint16, 257)):
        gray = PHOTO[..., 0].astype(dtype) * dtype(factor)
        save(gray, "in.png")
        assert command("in.png", "-o", "out.npy", "-q", "--force").code == 0
        np.testing.assert_array_equal(np.load("out.npy"), qs.segment(gray))


def test_palettes_are_converted(command):
    Image.fromarray(PHOTO).quantize(8).save("in.png")
    assert command("in.png", "-o", "out.npy", "-q").code == 0
    expected = qs.segment(np.asarray(Image.open("in.png").convert("RGB")))
    np.testing.assert_array_equal(np.load("out.npy"), expected)


def test_a_picture_that_does_not_fit_is_segmented_by_tiles(command, monkeypatch):
    from quickshift.cli.files import pictures

    monkeypatch.setattr(pictures, "available_memory", lambda: 1000)
    np.save("in.npy", PHOTO)
    assert command("in.npy", "-o", "out.npy", "-q").code == 0
    np.testing.assert_array_equal(np.load("out.npy"), qs.segment(PHOTO))
    save(PHOTO, "in.png")
    assert "more than the available memory" in command("in.png").err


def test_bad_pictures_end_in_one_line(command, tmp_path):
    np.save("table.npy", np.zeros(4))
    save(PHOTO, "in.png")
    save(PHOTO, "in.tif")
    (tmp_path / "junk.png").write_bytes(b"junk" * 100)
    (tmp_path / "junk.tif").write_bytes(b"junk" * 100)
    (tmp_path / "cut.png").write_bytes((tmp_path / "in.png").read_bytes()[:-200])
    for arguments, code, text in (
        ("nowhere.png", 1, "nowhere.png does not exist"),
        ("junk.png", 1, "junk.png cannot be read as a picture"),
        ("junk.tif", 1, "junk.tif cannot be read as a"),
        ("cut.png", 1, "cut.png cannot be read as a picture"),
        ("table.npy", 1, "it has shape (4,), expected rows, columns, channels"),
        ("in.gif", 2, "in.gif has the suffix '.gif'"),
        ("in.png -o out.jpg", 2, "would blur the labels"),
        ("in.png -o in.tif", 1, "in.tif exists"),
        ("in.png --tau -1", 1, "tau is -1.0"),
        ("in.png --tau 5 --n-segments 3", 1, "n_segments"),
        ("in.png --bands 1", 2, "--bands chooses bands of a .tif file"),
        ("in.png --polygons out.shp", 2, "expected .gpkg or .geojson"),
    ):
        result = command(*arguments.split())
        assert (result.code, text in result.err) == (code, True), result
        assert result.err.count("\n") == 1
    assert not list(tmp_path.glob("out.*"))


def test_a_missing_package_is_noticed_before_the_work(command, monkeypatch):
    save(PHOTO, "in.png")
    monkeypatch.setitem(sys.modules, "rasterio", None)
    monkeypatch.setattr("quickshift.cli.segments.labels_of", None)
    result = command("in.png", "-o", "out.tif")
    assert result.code == 1
    assert "rasterio cannot be imported, but a .tif file needs it" in result.err


def deep_png(array, transparent):
    """A PNG file of 16 bits per channel with one transparent color, which Pillow does not write."""

    def chunk(kind, content):
        check = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + check

    rows = b"".join(b"\0" + row.tobytes() for row in array.astype(">u2"))
    kind = 0 if array.ndim == 2 else 2
    header = struct.pack(">IIBBBBB", array.shape[1], array.shape[0], 16, kind, 0, 0, 0)
    chunks = {
        b"IHDR": header,
        b"tRNS": np.asarray(transparent, ">u2").tobytes(),
        b"IDAT": zlib.compress(rows),
        b"IEND": b"",
    }
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*item) for item in chunks.items())


def test_a_transparent_gray_of_16_bits_leaves_the_others_as_they_are(tmp_path):
    gray = np.arange(12).reshape(3, 4) * 5000
    (tmp_path / "in.png").write_bytes(deep_png(gray, 15000))
    picture = read_picture(str(tmp_path / "in.png"), 100)
    np.testing.assert_array_equal(picture.image, gray)
    assert picture.image.dtype == np.uint16
    np.testing.assert_array_equal(picture.mask, gray != 15000)


def test_a_transparent_color_of_16_bits_is_compared_in_all_of_them(tmp_path):
    colors = np.stack([np.full((3, 4), 5000), np.full((3, 4), 300), np.arange(12).reshape(3, 4)], 2)
    (tmp_path / "in.png").write_bytes(deep_png(colors, (5000, 300, 7)))
    picture = read_picture(str(tmp_path / "in.png"), 100)
    np.testing.assert_array_equal(picture.image, colors >> 8)  # as Pillow reads them
    np.testing.assert_array_equal(picture.mask, colors[:, :, 2] != 7)
