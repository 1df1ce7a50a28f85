"""Georeferenced rasters, read and written by windows through rasterio."""

import os
import shutil
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from quickshift.arrays import Flags, Numbers
from quickshift.cli.files.formats import check_input
from quickshift.cli.files.outputs import replaced_file
from quickshift.cli.files.pictures import Georeference, Picture
from quickshift.cli.outcome import CommandError
from quickshift.extras import optional_import

__all__ = ["can_read_rasters", "check_rasters", "check_scratch", "opened_raster", "write_raster"]

_STRIP = 256  # rows that are written at once, as many as a block of the file has
_STDERR = 2  # its file descriptor
_SCRATCH = 20  # bytes per pixel: densities and parents of segment_tiles, and labels


def can_read_rasters() -> bool:
    """Return whether rasterio is installed."""
    return find_spec("rasterio") is not None


def check_rasters() -> None:
    """Raise if rasters cannot be written, before any work is done."""
    with optional_import("rasterio", "geo", "a .tif file"):
        import rasterio  # noqa: F401 (only whether it is there)


@contextmanager
def opened_raster(path: str, bands: Sequence[int] | None = None) -> Iterator[Picture]:
    """Yield a raster whose windows are read when they are needed.

    A pixel belongs to the picture if all its bands are valid: not the nodata value, not masked, not
    transparent and not NaN.

    Parameters
    ----------
    path : str
        The file.
    bands : sequence of int, optional
        Numbers of the bands, from 1 on; by default all of them except transparency.

    Yields
    ------
    Picture
    """
    with optional_import("rasterio", "geo", "a raster"):
        import rasterio

    check_input(path)
    try:
        with _without_remarks(), rasterio.open(path) as dataset:
            chosen = _chosen(dataset, bands)
            wkt = dataset.crs.to_wkt() if dataset.crs else None
            place = Georeference(wkt, dataset.transform)
            valid = _Valid(dataset, chosen)
            yield Picture(_Bands(dataset, chosen), valid if valid.needed else None, False, place)
    except rasterio.errors.RasterioIOError as error:
        hint = "Check that it is complete, or convert it."
        raise CommandError(f"{path} cannot be read as a raster: {error} {hint}") from error


def check_scratch(shape: tuple[int, ...], folder: Path) -> None:
    """Raise if the temporary files of a raster do not fit on their disk."""
    needed, free = _SCRATCH * shape[0] * shape[1], shutil.disk_usage(folder).free
    if needed > free:
        raise CommandError(
            f"a raster of {shape[1]} x {shape[0]} pixels needs {needed / 1e9:.3g} GB for temporary "
            f"files, but {folder.parent} has {free / 1e9:.3g} GB. Set TMPDIR to a larger disk."
        )


def write_raster(labels: Numbers, target: str, place: Georeference | None, *, force: bool) -> None:
    """Write labels as a GeoTIFF of uint32, in which 0 is nodata.

    Parameters
    ----------
    labels : ndarray of shape (n_rows, n_columns)
        The labels, from 1 on; 0 outside the mask.
    target : str
        Path of the file.
    place : Georeference or None
        Where the raster lies.
    force : bool
        Whether an existing file may be overwritten.
    """
    with optional_import("rasterio", "geo", "a .tif file"):
        import rasterio

    height, width = labels.shape
    known = {} if place is None else {"crs": place.crs, "transform": place.transform}
    profile = {"driver": "GTiff", "height": height, "width": width, "count": 1, **known}
    profile |= {"dtype": "uint32", "nodata": 0, "tiled": True, "blockxsize": _STRIP}
    profile |= {"blockysize": _STRIP, "compress": "deflate", "BIGTIFF": "IF_SAFER"}
    with replaced_file(target, force=force) as partial, _without_remarks(), _without_messages():
        with rasterio.open(partial, "w", **profile) as dataset:
            for window, strip in _strips(labels):
                dataset.write(strip, 1, window=window)
        # Some versions of rasterio do not report that a file could not be completed.
        with rasterio.open(partial) as dataset:
            for window, strip in _strips(labels):
                if not np.array_equal(dataset.read(1, window=window), strip):
                    raise OSError("it differs from what was written")


def _strips(labels: Numbers) -> Iterator[tuple[Any, Numbers]]:
    """Yield labels in strips of the file's blocks, each with its window."""
    from rasterio.windows import Window

    height, width = labels.shape
    for row in range(0, height, _STRIP):
        strip = np.asarray(labels[row : row + _STRIP]).astype(np.uint32)
        yield Window(0, row, width, len(strip)), strip


class _Bands:
    """The bands of a dataset as an array with the channels last; one band has no channels."""

    def __init__(self, dataset: Any, bands: list[int]) -> None:
        self._dataset, self._bands = dataset, bands
        channels = (len(bands),) if len(bands) > 1 else ()
        self.shape = (dataset.height, dataset.width, *channels)

    def __getitem__(self, box: tuple[slice, ...]) -> Numbers:
        read: Numbers = self._dataset.read(self._bands, window=_window(box))
        return read[0] if len(self._bands) == 1 else np.ascontiguousarray(np.moveaxis(read, 0, -1))


class _Valid:
    """Where all bands of a dataset are valid, as an array of truth values."""

    def __init__(self, dataset: Any, bands: list[int]) -> None:
        from rasterio.enums import MaskFlags

        self._dataset, self._bands = dataset, bands
        self.shape = (dataset.height, dataset.width)
        self._floats = any(np.dtype(dataset.dtypes[band - 1]).kind == "f" for band in bands)
        flags = [dataset.mask_flag_enums[band - 1] for band in bands]
        self.needed = self._floats or any(flag != [MaskFlags.all_valid] for flag in flags)

    def __getitem__(self, box: tuple[slice, ...]) -> Flags:
        window = _window(box)
        valid: Flags = (self._dataset.read_masks(self._bands, window=window) > 0).all(axis=0)
        if self._floats:
            valid &= np.isfinite(self._dataset.read(self._bands, window=window)).all(axis=0)
        return valid


def _window(box: tuple[slice, ...]) -> Any:
    from rasterio.windows import Window

    rows, columns = box[:2]
    return Window(columns.start, rows.start, columns.stop - columns.start, rows.stop - rows.start)


def _chosen(dataset: Any, bands: Sequence[int] | None) -> list[int]:
    from rasterio.enums import ColorInterp

    if bands is not None:
        wrong = [band for band in bands if not 1 <= band <= dataset.count]
        if wrong:
            raise CommandError(
                f"there is no band {wrong[0]}, expected numbers from 1 to {dataset.count}."
            )
        return list(bands)
    kinds = zip(dataset.indexes, dataset.colorinterp, strict=True)
    return [band for band, kind in kinds if kind != ColorInterp.alpha]


@contextmanager
def _without_messages() -> Iterator[None]:
    """Silence what libraries in C print to standard error, such as that the disk is full.

    rasterio raises an exception, too, and the file is read again.
    """
    if sys.stderr is None:  # it was closed by 2>&-
        yield
        return
    sys.stderr.flush()
    kept, nowhere = os.dup(_STDERR), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, _STDERR)
        yield
    finally:
        os.dup2(kept, _STDERR)
        os.close(kept)
        os.close(nowhere)


@contextmanager
def _without_remarks() -> Iterator[None]:
    """Silence the warning that a raster has no coordinate system, which is nothing to mend."""
    from rasterio.errors import NotGeoreferencedWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotGeoreferencedWarning)
        yield
