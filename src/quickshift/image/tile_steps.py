"""Steps for one tile of a picture: its densities and parents, with the border that they need."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from quickshift.arrays import Indices
from quickshift.checks.images import (
    check_finite_tau,
    check_image,
    check_mask_values,
    check_pixel_bandwidth,
    check_window,
)
from quickshift.image.graph import climb_pixels, sum_kernels, window_reach
from quickshift.image.pixels import Pixels, PixelSettings, pixels_of

__all__ = [
    "Box",
    "TileSearch",
    "TileSource",
    "check_search",
    "pixel_numbers",
    "tiles_of",
    "write_density",
    "write_parents",
]

Box = tuple[slice, ...]

PIXELS_PER_TILE = 1 << 20  # approximate size of a tile by default

_BLUR = 4.0  # standard deviations at which SciPy truncates its Gaussian filter
_FARTHEST = 1 << 40  # more pixels than any picture has


@dataclass(frozen=True)
class TileSearch:
    """Checked parameters of the search, and the borders that they require around a tile.

    A border is a number of pixels per axis. The density at a pixel depends on the pixels up to
    ``density_border`` away, its parent on those up to ``parent_border`` away.
    """

    bandwidth: float
    window: float | None
    tau: float
    density_border: Indices
    parent_border: Indices


def check_search(settings: PixelSettings, bandwidth: Any, window: Any, tau: Any) -> TileSearch:
    """Check the parameters of the search, and find the borders that they require."""
    width = check_pixel_bandwidth(bandwidth)
    half = check_window(window, width)
    length = check_finite_tau(tau)
    with np.errstate(over="ignore"):
        pixels = np.ceil(length / settings.spacing)
    return TileSearch(
        width,
        half,
        length,
        window_reach(settings.shape, settings.spacing, width, half),
        np.minimum(pixels, _FARTHEST).astype(np.int64),
    )


@dataclass(frozen=True)
class TileSource:
    """A picture that is read box by box."""

    image: Any
    mask: Any
    settings: PixelSettings
    n_jobs: int | None

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the grid."""
        return self.settings.shape

    def read(self, box: Box) -> Pixels | None:
        """Read the pixels of a box; None if all of them are outside the mask."""
        blur = [math.ceil(_BLUR * width) + 1 if width else 0 for width in self.settings.blur]
        wide = _widened(box, blur, self.shape)
        mask = None if self.mask is None else check_mask_values(_unmasked(self.mask[wide]))
        if mask is not None:
            if not mask[_within(box, wide)].any():
                return None
            mask = None if mask.all() else np.ascontiguousarray(mask)
        image = check_image(_unmasked(self.image[self._with_channels(wide)]))
        origin = tuple(each.start for each in wide)
        pixels = pixels_of(image, self.settings, mask, self.n_jobs, origin)
        return _cropped(pixels, _within(box, wide))

    def _with_channels(self, box: Box) -> Box:
        axis = self.settings.channel_axis
        return box if axis is None else (*box[:axis], slice(None), *box[axis:])


def _unmasked(part: Any) -> Any:
    """Return the data of a masked array that masks nothing, as netCDF variables return them."""
    if isinstance(part, np.ma.MaskedArray) and not np.ma.getmaskarray(part).any():
        return part.data
    return part


def write_density(source: TileSource, box: Box, search: TileSearch, density: Any) -> None:
    """Compute the densities of a tile, and write them into an array of the whole picture.

    Parameters
    ----------
    source : TileSource
        The picture.
    box : tuple of slice
        The tile.
    search : TileSearch
        The parameters.
    density : array
        Written at `box` only; NaN outside the mask.
    """
    wide = _widened(box, search.density_border, source.shape)
    pixels = source.read(wide)
    if pixels is None:
        density[box] = np.nan
        return
    sums = sum_kernels(pixels, search.bandwidth, search.window, n_jobs=source.n_jobs)
    density[box] = sums.reshape(pixels.shape)[_within(box, wide)]


def write_parents(
    source: TileSource, box: Box, search: TileSearch, density: Any, parent: Any
) -> None:
    """Find the parents of a tile, and write them into an array of the whole picture.

    Parameters
    ----------
    source, box, search
        As in `write_density`.
    density : array
        The densities of the whole picture, read at the tile and its border only.
    parent : array
        Written at `box` only: numbers of pixels in C order of the whole picture, the pixel's own
        if there is no parent within tau.
    """
    wide = _widened(box, search.parent_border, source.shape)
    pixels = source.read(wide)
    if pixels is None:
        parent[box] = pixel_numbers(box, source.shape)
        return
    heights = np.ascontiguousarray(density[wide]).reshape(-1)
    origin = tuple(each.start for each in wide)
    graph = climb_pixels(pixels, heights, search.tau, origin=origin, n_jobs=source.n_jobs)
    numbers = pixel_numbers(wide, source.shape).reshape(-1)
    parent[box] = numbers[graph.parent].reshape(pixels.shape)[_within(box, wide)]


# Boxes


def tiles_of(shape: tuple[int, ...], sides: tuple[int, ...]) -> Iterator[Box]:
    """Cover a picture with boxes, in C order."""
    along = (
        [slice(begin, min(begin + side, extent)) for begin in range(0, extent, side)]
        for extent, side in zip(shape, sides, strict=True)
    )
    yield from itertools.product(*along)


def _widened(box: Box, border: Any, shape: tuple[int, ...]) -> Box:
    """Add a border to a box, clipped to the picture."""
    return tuple(
        slice(max(each.start - int(width), 0), min(each.stop + int(width), extent))
        for each, width, extent in zip(box, border, shape, strict=True)
    )


def _within(box: Box, wide: Box) -> Box:
    """Return a box relative to the wider box that contains it."""
    return tuple(
        slice(each.start - around.start, each.stop - around.start)
        for each, around in zip(box, wide, strict=True)
    )


def pixel_numbers(box: Box, shape: tuple[int, ...]) -> Indices:
    """Return the flat indices, in C order of the whole picture, of the pixels of a box."""
    axes = np.ogrid[box]
    numbers: Indices = np.ravel_multi_index(np.broadcast_arrays(*axes), shape).astype(np.int64)
    return numbers


def _cropped(pixels: Pixels, box: Box) -> Pixels:
    values = pixels.values.reshape(*pixels.shape, -1)[box]
    shape = values.shape[:-1]
    mask = None if pixels.mask is None else np.ascontiguousarray(pixels.mask[box])
    rows = np.ascontiguousarray(values).reshape(math.prod(shape), -1)
    return Pixels(rows, shape, pixels.spacing, mask)
