"""`quickshift segment` of georeferenced rasters: by windows, without seams, in their place."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import quickshift as qs
from cli_cases import run

rasterio = pytest.importorskip("rasterio", reason="needs the extra geo")
pyogrio = pytest.importorskip("pyogrio", reason="needs the extra geo")
from rasterio.transform import Affine  # noqa: E402

SIDE = int(os.environ.get("QUICKSHIFT_RASTER", "300"))  # `make raster` takes 4000
PLACE = Affine(10.0, 0.0, 500_000.0, 0.0, -10.0, 4_600_000.0)
OPTIONS = {"bandwidth": 2.0, "tau": 6.0, "ratio": 60.0, "convert2lab": False}
NAMES = ["--bandwidth", "2", "--tau", "6", "--ratio", "60"]


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    """A raster of two bands with a mask: path, colors and where it is valid."""
    rng = np.random.default_rng(0)
    fields = rng.integers(20, 236, (SIDE // 12 + 1, SIDE // 15 + 1, 2))
    colors = np.repeat(np.repeat(fields, 12, axis=0), 15, axis=1)[:SIDE, :SIDE]
    colors = (colors + rng.integers(-9, 10, colors.shape)).astype(np.uint8)
    valid = np.ones((SIDE, SIDE), bool)
    valid[: SIDE // 5, : SIDE // 3] = False
    valid[rng.random((SIDE, SIDE)) < 0.001] = False
    path = tmp_path_factory.mktemp("scene") / "scene.tif"
    profile = {"driver": "GTiff", "width": SIDE, "height": SIDE, "count": 2, "dtype": "uint8"}
    profile |= {"crs": "EPSG:32633", "transform": PLACE, "tiled": True}
    with (
        rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True),
        rasterio.open(path, "w", **profile) as dataset,
    ):
        dataset.write(np.moveaxis(colors, -1, 0))
        dataset.write_mask(valid)
    return path, colors, valid


@pytest.fixture
def command(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: run(monkeypatch, "segment", *arguments)


def area(path):
    """Number of polygons, and the sum of their areas."""
    read = pyogrio.raw.read(path)
    total = 0.0
    for geometry in read[2]:
        n_rings, at = int(np.frombuffer(geometry, "<u4", 1, 5)[0]), 9
        for ring in range(n_rings):
            n = int(np.frombuffer(geometry, "<u4", 1, at)[0])
            x, y = np.frombuffer(geometry, "<f8", 2 * n, at + 4).reshape(n, 2).T
            x, y = x - 500_000.0, y - 4_600_000.0  # exact, and the products below are, too
            enclosed = abs(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1])) / 2
            total += enclosed if ring == 0 else -enclosed
            at += 4 + 16 * n
    return len(read[2]), total


def test_windows_equal_the_whole_and_keep_their_place(scene, command):
    path, colors, valid = scene
    result = command(path, "-o", "out.tif", "--polygons", "out.gpkg", *NAMES, "--json")
    assert result.code == 0, result.err
    facts = json.loads(result.out)
    expected = qs.segment(colors, mask=valid, start_label=1, **OPTIONS)
    with rasterio.open("out.tif") as written:
        assert written.crs.to_epsg() == 32633
        assert written.transform == PLACE
        assert written.dtypes == ("uint32",)
        assert written.nodata == 0
        np.testing.assert_array_equal(written.read(1), expected)
        np.testing.assert_array_equal(written.read_masks(1) > 0, valid)
    assert facts["n_segments"] == expected.max()
    assert facts["n_outside"] == np.count_nonzero(~valid)
    n_polygons, total = area("out.gpkg")
    assert n_polygons == facts["n_polygons"] == qs.count_pieces(expected, connectivity=1)[1:].sum()
    assert total == 100.0 * np.count_nonzero(valid)
    assert pyogrio.read_info("out.gpkg")["crs"] == "EPSG:32633"


def test_geojson_has_the_same_polygons(scene, command):
    path, _, valid = scene
    assert command(path, "--polygons", "out.geojson", *NAMES, "-q").code == 0
    _, total = area("out.geojson")
    assert total == 100.0 * np.count_nonzero(valid)
    assert list(pyogrio.read_info("out.geojson")["fields"]) == ["label"]


def small(path, values, **options):
    profile = {"driver": "GTiff", "height": values.shape[1], "width": values.shape[2]}
    profile |= {"count": len(values), "dtype": values.dtype, "transform": PLACE, **options}
    with rasterio.open(path, "w", **profile) as dataset:
        dataset.write(values)


def test_nodata_and_nan_are_outside(command):
    values = np.random.default_rng(1).random((2, 40, 50)).astype(np.float32)
    values[0, :5] = -9999.0
    values[1, 30:, 20] = np.nan
    small("in.tif", values, nodata=-9999.0)
    assert command("in.tif", "-o", "out.tif", "-q").code == 0
    valid = (values[0] != -9999.0) & np.isfinite(values[1])
    expected = qs.segment(np.moveaxis(values, 0, -1), mask=valid, start_label=1, convert2lab=False)
    with rasterio.open("out.tif") as written:
        np.testing.assert_array_equal(written.read(1), expected)


def test_bands_are_chosen_by_number(command):
    values = np.random.default_rng(1).integers(0, 256, (4, 40, 50), np.uint8)
    small("in.tif", values, photometric="MINISBLACK", alpha="NO")
    assert command("in.tif", "--bands", "4,2,1", "-o", "out.npy", "-q").code == 0
    expected = qs.segment(np.moveaxis(values[[3, 1, 0]], 0, -1))
    np.testing.assert_array_equal(np.load("out.npy"), expected)
    assert "expected numbers from 1 to 4" in command("in.tif", "--bands", "5").err


def test_one_band_is_gray(command):
    values = np.random.default_rng(1).integers(0, 256, (1, 40, 50), np.uint8)
    small("in.tif", values)
    assert command("in.tif", "-o", "out.npy", "-q").code == 0
    np.testing.assert_array_equal(np.load("out.npy"), qs.segment(values[0]))
    facts = json.loads(command("in.tif", "--n-segments", "5", "--json").out)
    assert facts["n_segments"] == 5


def test_a_raster_without_rasterio_is_refused(command, monkeypatch):
    from quickshift.cli import segments

    values = np.zeros((3, 20, 20), np.uint8)
    small("in.tif", values, crs="EPSG:32633")
    monkeypatch.setattr(segments, "can_read_rasters", lambda: False)
    assert "pip install quickshift[geo]" in command("in.tif").err


def test_rasters_that_declare_too_much_are_refused(command):
    profile = {"driver": "GTiff", "height": 3_000_000, "width": 3_000_000, "count": 1}
    profile |= {"dtype": "uint8", "SPARSE_OK": True, "tiled": True, "BIGTIFF": "YES"}
    profile |= {"blockxsize": 65536, "blockysize": 65536, "transform": PLACE}
    with rasterio.open("in.tif", "w", **profile):
        pass
    result = command("in.tif", "-o", "out.tif")
    assert result.code == 1
    assert "needs 1.8e+05 GB for temporary files" in result.err
    assert result.err.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_a_raster_that_cannot_be_completed_is_one_line_and_removed(tmp_path):
    import resource

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))

    np.save(tmp_path / "in.npy", np.random.default_rng(0).random((90, 90)))
    done = subprocess.run(
        [sys.executable, "-m", "quickshift", "segment", "in.npy", "-o", "out.tif"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=limit,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("Error: out.tif cannot be written: ")
    assert done.stderr.count("\n") == 1
    assert os.listdir(tmp_path) == ["in.npy"]


def test_polygons_of_a_picture_without_a_place(command, tmp_path, recwarn):
    np.save("in.npy", np.repeat(np.arange(4.0), 40).reshape(8, 20))
    result = command("in.npy", "--no-lab", "--polygons", "out.gpkg")
    assert (result.code, result.err) == (0, "")
    assert not [str(warning.message) for warning in recwarn if "crs" in str(warning.message)]
    assert (tmp_path / "out.gpkg").exists()
