import numpy as np
import pytest

import quickshift as qs
from quickshift.distributed import segment, segmentation
from quickshift.distributed.executors import Inline
from quickshift.distributed.pictures import TiledArray
from quickshift.distributed.plan.passes import PassError

PICTURE = np.random.default_rng(0).random((70, 90, 3))


@pytest.fixture(autouse=True)
def _inline(monkeypatch):
    """Run tasks in this process."""
    monkeypatch.setattr(segmentation, "_executor", lambda *_: Inline())


@pytest.mark.parametrize("tile", [1000, 32, (17, 90)])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"tau": 3.0, "bandwidth": 1.5, "start_label": 5},
        {"sigma": 1.0, "window": None, "bandwidth": 2.0, "ratio": 0.5},
    ],
    ids=str,
)
def test_labels_are_those_of_the_whole_picture(tile, parameters):
    found = segment(PICTURE, tile=tile, **parameters)
    np.testing.assert_array_equal(found, qs.segment(PICTURE, **parameters))


def test_plateaus_volumes_and_masks(tmp_path):
    rng = np.random.default_rng(1)
    volume = np.round(rng.random((24, 26, 28)), 1)
    mask = rng.random(volume.shape) < 0.7
    mask[:9, :9, :9] = False  # a whole tile
    given = {"channel_axis": None, "bandwidth": 1.0, "tau": 3.0, "convert2lab": False}
    out = np.memmap(tmp_path / "labels", dtype=np.int32, mode="w+", shape=volume.shape)
    assert segment(volume, tile=9, mask=mask, out=out, **given) is out
    np.testing.assert_array_equal(out, qs.segment(volume, mask=mask, **given))
    flat = np.zeros((30, 40))
    given = {"channel_axis": None, "tau": 4.0}
    np.testing.assert_array_equal(segment(flat, tile=11, **given), qs.segment(flat, **given))


def test_inputs(tmp_path):
    expected = qs.segment(PICTURE)
    np.save(tmp_path / "x.npy", PICTURE)
    (tmp_path / "x.raw").write_bytes(b"header" + PICTURE.tobytes())
    raw = np.memmap(tmp_path / "x.raw", dtype=float, mode="r", shape=PICTURE.shape, offset=6)
    inputs = [tmp_path / "x.npy", str(tmp_path / "x.npy"), raw]
    inputs.append(pytest.importorskip("dask.array").from_array(PICTURE, chunks=(40, 33, 2)))
    for data in inputs:
        found = segment(data, tile=40, directory=tmp_path / "runs")
        np.testing.assert_array_equal(found, expected)
    assert not list((tmp_path / "runs").iterdir())


def test_wrong_input_says_what_is_expected(tmp_path):
    with pytest.raises(TypeError, match="image is of type list, expected the path"):
        segment([[1.0]])
    with pytest.raises(ValueError, match=r"image is 'x.png', expected the path"):
        segment("x.png")
    with pytest.raises(ValueError, match="directory is None but a client is given"):
        segment(PICTURE, client=object())
    with pytest.raises(ValueError, match=r"directory is 's3://bucket', expected the path"):
        segment(PICTURE, directory="s3://bucket")
    with pytest.raises(ValueError, match="mask"):
        segment(PICTURE, mask=np.zeros((70, 90), dtype=bool))
    with pytest.raises(ValueError, match="tau is inf"):
        segment(PICTURE, tau=np.inf)
    with pytest.raises(TypeError, match=r"image has entries of type object.*image.astype\(float\)"):
        segment(PICTURE.astype(object), directory=tmp_path)
    with pytest.raises(TypeError, match="mask has entries of type object, expected numbers"):
        segment(PICTURE, mask=np.ones((70, 90), dtype=object), directory=tmp_path)
    with pytest.raises(TypeError, match="image is complex"):
        segment(PICTURE.astype(complex), directory=tmp_path)
    assert not list(tmp_path.iterdir())


def test_masked_pictures_and_masks_are_refused(tmp_path):
    array = pytest.importorskip("dask.array")
    masked = np.ma.masked_greater(PICTURE, 0.9)
    chunks = (40, 33, PICTURE.shape[2])
    for image in (masked, array.from_array(masked, chunks=chunks)):
        with pytest.raises(TypeError, match="image has masked entries, expected none"):
            segment(image, directory=tmp_path)
    with pytest.raises(TypeError, match="mask has masked entries, expected none"):
        segment(PICTURE, mask=np.ma.masked_less(PICTURE[..., 0] > 0.1, 1), directory=tmp_path)
    assert not list(tmp_path.iterdir())


def test_unreadable_files_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"missing\.npy"):
        segment(tmp_path / "missing.npy")
    (tmp_path / "x.npy").write_bytes(b"nonsense")
    with pytest.raises(ValueError, match=r"image is '.*x.npy', which cannot be opened"):
        segment(tmp_path / "x.npy")
    np.save(tmp_path / "x.npy", PICTURE.astype(object))
    with pytest.raises(ValueError, match=r"image is '.*x.npy', which cannot be opened: .*object"):
        segment(tmp_path / "x.npy")


def test_a_pixel_that_is_not_finite_is_named_by_its_place_in_the_whole_picture(tmp_path):
    broken = PICTURE.copy()
    broken[63, 84, 1] = np.nan
    message = (
        r"infinity in 1 of \d+ pixels of the tile that begins at \(.*\), the first at \(63, 84\)"
    )
    with pytest.raises(ValueError, match=message):
        segment(broken, tile=40, directory=tmp_path)
    with pytest.raises(ValueError, match=message):
        qs.segment_tiles(broken, tile=40)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("changed", ["image", "mask"])
@pytest.mark.parametrize("kind", ["path", "map"])
def test_a_file_that_changes_between_passes_is_noticed(changed, kind, tmp_path):
    files = {"image": tmp_path / "image.npy", "mask": tmp_path / "mask.npy"}
    np.save(files["image"], PICTURE)
    np.save(files["mask"], np.ones((70, 90), dtype=bool))

    def change(name, done):
        if (name, done) == ("density", 1.0):
            np.save(files[changed], np.load(files[changed])[::-1])

    given = {name: np.load(path, mmap_mode="r") for name, path in files.items()}
    with pytest.raises(PassError, match=rf"'climb' failed .*{changed}.npy was changed or removed"):
        segment(**(files if kind == "path" else given), tile=40, progress=change)


def test_progress_names_the_passes():
    seen = []
    segment(PICTURE, tile=40, progress=lambda name, done: seen.append((name, done)))
    assert list(dict.fromkeys(name for name, _ in seen)) == ["density", "climb", "cut"]
    assert seen[-1] == ("cut", 1.0)


def test_boxes_of_any_size_are_read_from_tiles(tmp_path):
    values = np.arange(7 * 11).reshape(7, 11)
    array = TiledArray(str(tmp_path), "values", (7, 11), (3, 4))
    for i in range(0, 7, 3):
        for j in range(0, 11, 4):
            box = slice(i, min(i + 3, 7)), slice(j, min(j + 4, 11))
            array[box] = values[box]
    assert array.grid == (3, 3)
    for box in (
        (slice(0, 7), slice(0, 11)),
        (slice(2, 4), slice(5, 11)),
        (slice(6, 7), slice(0, 1)),
    ):
        np.testing.assert_array_equal(array[box], values[box])
