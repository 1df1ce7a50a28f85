"""Segments of a picture or a raster: read it, call the library, write labels and polygons."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from quickshift.arrays import Numbers
from quickshift.cli.files.formats import picture_format_of
from quickshift.cli.files.pictures import Picture, read_picture, write_picture
from quickshift.cli.files.polygons import write_polygons
from quickshift.cli.files.rasters import (
    can_read_rasters,
    check_scratch,
    opened_raster,
    write_raster,
)
from quickshift.cli.outcome import UsageError, raise_if_interrupted
from quickshift.image import segment, segment_tiles
from quickshift.progress import Progress

__all__ = ["labels_of", "opened_picture", "size_facts", "write_segments"]

_ROWS = 256  # of labels that are counted at once


def opened_picture(
    path: str, bands: Sequence[int] | None, max_pixels: int
) -> AbstractContextManager[Picture]:
    """Open a picture: a TIFF by rasterio if that is installed, others as a whole.

    Parameters
    ----------
    path : str
        The file.
    bands : sequence of int or None
        Bands of a raster.
    max_pixels : int
        Most pixels of a picture that is decoded as a whole.

    Returns
    -------
    context manager of Picture
    """
    if picture_format_of(path) == "tiff" and can_read_rasters():
        return opened_raster(path, bands)
    if bands is not None:
        raise UsageError(f"--bands chooses bands of a .tif file with the extra geo, not of {path}.")
    return nullcontext(read_picture(path, max_pixels))


def labels_of(
    picture: Picture,
    parameters: dict[str, Any],
    n_segments: int | None,
    scratch: Path,
    *,
    progress: bool,
) -> Numbers:
    """Segment a picture as a whole or, if it is a raster or too large, tile by tile.

    Parameters
    ----------
    picture : Picture
        The picture.
    parameters : dict
        Arguments of `quickshift.segment`.
    n_segments : int or None
        Number of segments, which needs the whole picture.
    scratch : Path
        Folder for temporary files.
    progress : bool
        Whether a bar is shown if it takes long.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
    """
    with _bar(progress) as report:
        raise_if_interrupted()
        if picture.fits or n_segments is not None:
            everything = tuple(slice(0, extent) for extent in picture.shape)
            image = picture.image[everything]
            mask = None if picture.mask is None else picture.mask[everything]
            return segment(image, mask=mask, n_segments=n_segments, progress=report, **parameters)
        check_scratch(picture.shape, scratch)
        narrow = np.int32 if parameters["start_label"] == 1 else np.int64
        out = np.memmap(scratch / "labels", dtype=narrow, mode="w+", shape=picture.shape)
        return segment_tiles(
            picture.image,
            mask=picture.mask,
            out=out,
            scratch=scratch,
            progress=report,
            **parameters,
        )


def write_segments(
    labels: Numbers,
    picture: Picture,
    first: int,
    output: str | None,
    polygons: str | None,
    *,
    force: bool,
) -> int | None:
    """Write labels and polygons, and return the number of polygons.

    Parameters
    ----------
    labels : ndarray of shape (n_rows, n_columns)
        The labels.
    picture : Picture
        What they belong to.
    first : int
        The first label.
    output, polygons : str or None
        Paths of the files.
    force : bool
        Whether existing files may be overwritten.

    Returns
    -------
    int or None
    """
    place = picture.georeference
    if output is not None and picture_format_of(output) == "tiff":
        write_raster(labels, output, place, force=force)
    elif output is not None:
        write_picture(labels, output, force=force)
    if polygons is None:
        return None
    return write_polygons(labels, polygons, place, first=first, force=force)


def size_facts(labels: Numbers, first: int) -> dict[str, Any]:
    """Return how many segments there are, and how large they are.

    Parameters
    ----------
    labels : ndarray of shape (n_rows, n_columns)
        The labels.
    first : int
        The first label.

    Returns
    -------
    dict

    Examples
    --------
    >>> size_facts(np.array([[0, 0, 1], [-1, 1, 1]]), 0)
    {'n_segments': 2, 'n_pixels': 6, 'n_outside': 1, 'sizes': [2, 2.5, 3]}
    """
    sizes = np.zeros(int(labels.max()) - first + 2, dtype=np.int64)  # the first is outside
    for row in range(0, len(labels), _ROWS):
        some = np.asarray(labels[row : row + _ROWS], dtype=np.int64).reshape(-1)
        sizes += np.bincount(some - first + 1, minlength=sizes.size)
    inside = sizes[1:]
    return {
        "n_segments": inside.size,
        "n_pixels": int(sizes.sum()),
        "n_outside": int(sizes[0]),
        "sizes": [int(inside.min()), float(np.median(inside)), int(inside.max())],
    }


def _bar(shown: bool) -> AbstractContextManager[Progress | None]:
    if not shown:
        return nullcontext()
    from quickshift.estimators.progress_bar import shown_progress

    return shown_progress(1, None)
