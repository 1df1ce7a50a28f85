"""Outlines of segments as polygons, in GeoPackage or GeoJSON files, through pyogrio."""

import struct
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from quickshift.arrays import Numbers
from quickshift.cli.files.outputs import replaced_file
from quickshift.cli.files.pictures import Georeference
from quickshift.cli.outcome import UsageError
from quickshift.extras import optional_import

__all__ = ["check_polygons", "write_polygons"]

_DRIVERS = {".gpkg": "GPKG", ".geojson": "GeoJSON", ".json": "GeoJSON"}
_LITTLE_ENDIAN, _POLYGON = 1, 3  # of well-known binary


def check_polygons(target: str) -> None:
    """Raise if polygons cannot be written, before any work is done."""
    suffix = Path(target).suffix.lower()
    if suffix not in _DRIVERS:
        raise UsageError(
            f"{target} has the suffix {suffix!r}, expected .gpkg or .geojson for polygons."
        )
    with optional_import("rasterio", "geo", "--polygons"):
        import rasterio.features  # noqa: F401 (only whether it is there)
    with optional_import("pyogrio", "geo", "--polygons"):
        import pyogrio  # noqa: F401


def write_polygons(
    labels: Numbers, target: str, place: Georeference | None, *, first: int = 1, force: bool
) -> int:
    """Write the outlines of all connected pieces of segments.

    Parameters
    ----------
    labels : ndarray of shape (n_rows, n_columns)
        The labels.
    target : str
        Path of the file.
    place : Georeference or None
        Where the raster lies; without it, coordinates are columns and rows.
    first : int
        The first label; lower ones are outside the mask and have no polygon.
    force : bool
        Whether an existing file may be overwritten.

    Returns
    -------
    int
        Number of polygons.
    """
    import pyogrio

    outlines, numbers = [], []
    for outline, number in _outlines(labels, first, place):
        outlines.append(outline)
        numbers.append(number)
    geometry = np.array(outlines, dtype=object)
    crs = None if place is None else place.crs
    with replaced_file(target, force=force) as partial, warnings.catch_warnings():
        if crs is None:  # which is nothing to mend
            warnings.filterwarnings("ignore", "'crs' was not provided", UserWarning)
        try:
            pyogrio.raw.write(
                partial,
                geometry,
                [np.array(numbers, dtype=np.int64)],
                ["label"],
                layer="segments",
                driver=_DRIVERS[partial.suffix.lower()],
                geometry_type="Polygon",
                crs=crs,
            )
        except (pyogrio.errors.DataSourceError, RuntimeError) as error:
            raise OSError(str(error).rstrip(".")) from error
    return len(numbers)


def _outlines(
    labels: Numbers, first: int, place: Georeference | None
) -> Iterator[tuple[bytes, int]]:
    """Yield the outline of each connected piece as well-known binary, and its label."""
    from rasterio.features import shapes
    from rasterio.transform import Affine

    transform = Affine.identity() if place is None else place.transform
    narrow = labels.astype(np.int32, copy=False)  # the widest integers that can be outlined
    for shape, number in shapes(narrow, connectivity=4, transform=transform):
        if number >= first:
            yield _binary(shape["coordinates"]), int(number)


def _binary(rings: Any) -> bytes:
    """Return a polygon, given as rings of points, as well-known binary.

    Examples
    --------
    >>> len(_binary([[(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 0.0)]]))
    77
    """
    parts = [struct.pack("<BII", _LITTLE_ENDIAN, _POLYGON, len(rings))]
    for ring in rings:
        parts.append(struct.pack("<I", len(ring)))
        parts.append(np.asarray(ring, dtype="<f8").tobytes())
    return b"".join(parts)
