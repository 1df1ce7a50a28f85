"""Segmentation of pictures larger than memory, tile by tile, with the labels of `segment`."""

import itertools
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from quickshift.arrays import Floats, Indices, Numbers
from quickshift.checks.images import (
    check_finite_tau,
    check_image,
    check_label_dtype,
    check_mask_not_empty,
    check_mask_shape,
    check_mask_values,
    check_out,
    check_pixel_bandwidth,
    check_start_label,
    check_tile,
    check_window,
)
from quickshift.image.graph import PixelGraph, climb_pixels, sum_kernels, window_reach
from quickshift.image.pixels import Pixels, PixelSettings, pixel_settings, pixels_of
from quickshift.progress import Progress, reporting

__all__ = ["segment_tiles"]

Box = tuple[slice, ...]

_BLUR = 4.0  # standard deviations at which SciPy truncates its Gaussian filter
_CHUNK = 1 << 20  # pixels handled at once when parents are followed and roots numbered
_PIXELS = 1 << 20  # approximate size of a tile by default
_FARTHEST = 1 << 40  # more pixels than any picture has


def segment_tiles(
    image: Any,
    *,
    tile: int | tuple[int, ...] | None = None,
    out: Numbers | None = None,
    scratch: str | os.PathLike[str] | None = None,
    bandwidth: float = 5.0,
    tau: float = 10.0,
    ratio: float = 1.0,
    sigma: ArrayLike = 0.0,
    convert2lab: bool = True,
    channel_axis: int | None = -1,
    window: float | None = 3.0,
    mask: Any = None,
    spacing: ArrayLike | None = None,
    start_label: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Numbers:
    """Segment a picture that may be larger than memory, with the same labels as `segment`.

    Every tile is read together with the border on which its densities and parents depend, so the
    labels do not depend on the tiles. Densities and parents are stored in temporary files, which
    take 16 bytes per pixel. Invalid colors or mask values raise an error when their tile is read.

    Parameters
    ----------
    image : array
        Any object with a shape that supports NumPy's slicing: ``numpy.load(path, mmap_mode="r")``,
        ``numpy.memmap``, a Zarr or HDF5 array.
    tile : int or tuple of int, optional
        Side lengths of a tile in pixels, one for all axes or one per axis. None makes tiles of
        about a million pixels.
    out : array, optional
        Array of integers of the picture's shape, such as a ``numpy.memmap``, to which the labels
        are written. None makes a new array.
    scratch : path, optional
        Folder for the temporary files; None for the system's temporary folder, which on some
        systems is held in memory.
    bandwidth : float
        Scale of the Gaussian kernel. This and the following parameters have the same meaning as in
        `segment`.
    tau : float
        Longest move, which must be finite.
    ratio : float
        Factor by which colors are multiplied.
    sigma : float or sequence of float
        Standard deviation, in pixels, of a Gaussian blur that is applied first.
    convert2lab : bool
        Whether RGB is converted to Lab, and gray to lightness.
    channel_axis : int or None
        Axis of the channels.
    window : float or None
        Half the width of the window that the density sums over, in bandwidths.
    mask : array, optional
        True for the pixels that belong to the picture. Any array that `image` may be.
    spacing : float or sequence of float, optional
        Distance between neighboring pixels along each axis.
    start_label : int
        First label; pixels outside the mask get ``start_label - 1``.
    n_jobs : int, optional
        Threads; None for all cores.
    progress : callable, optional
        Called as ``progress(stage, done)`` after each tile, and when a stage is complete; ``done``
        rises to 1. An exception that it raises stops the computation. The stages are
        "estimate_density", "climb" and "cut".

    Returns
    -------
    ndarray of the picture's shape without channels
        The labels; the array `out` if it was given.

    Examples
    --------
    >>> import quickshift as qs
    >>> image = np.random.default_rng(0).random((40, 50, 3))
    >>> bool((qs.segment_tiles(image, tile=16) == qs.segment(image)).all())
    True
    """
    picture = image if hasattr(image, "shape") else np.asarray(image)
    inside = mask if mask is None or hasattr(mask, "shape") else np.asarray(mask)
    settings = pixel_settings(
        tuple(picture.shape),
        ratio=ratio,
        sigma=sigma,
        convert2lab=convert2lab,
        channel_axis=channel_axis,
        spacing=spacing,
    )
    shape = settings.shape
    if inside is not None:
        check_mask_shape(tuple(inside.shape), shape)
    source = _TileSource(picture, inside, settings, n_jobs)
    search = _check_search(settings, bandwidth, window, tau)
    first = check_start_label(start_label)
    labels = check_out(out, shape)
    sides = check_tile(tile, len(shape), max(1, round(_PIXELS ** (1 / len(shape)))))
    with TemporaryDirectory(prefix="quickshift-", dir=scratch) as folder:
        density = _scratch(folder, "density", np.float64, shape)
        parent = _scratch(folder, "parent", np.int64, shape)
        for box in _reported(_tiles(shape, sides), progress, "estimate_density"):
            _write_density(source, box, search, density)
        for box in _reported(_tiles(shape, sides), progress, "climb"):
            _write_parents(source, box, search, density, parent)
        flat = parent.reshape(-1)
        with reporting(progress, "cut"):
            _follow_to_roots(flat)
            _write_labels(flat, density.reshape(-1), labels, first)
    return labels


@dataclass(frozen=True)
class _SearchSettings:
    """Checked parameters of the search, and the borders that they require around a tile.

    A border is a number of pixels per axis. The density at a pixel depends on the pixels up to
    ``density_border`` away, its parent on those up to ``parent_border`` away.
    """

    bandwidth: float
    window: float | None
    tau: float
    density_border: Indices
    parent_border: Indices


def _check_search(
    settings: PixelSettings, bandwidth: Any, window: Any, tau: Any
) -> _SearchSettings:
    width = check_pixel_bandwidth(bandwidth)
    half = check_window(window, width)
    length = check_finite_tau(tau)
    with np.errstate(over="ignore"):
        pixels = np.ceil(length / settings.spacing)
    return _SearchSettings(
        width,
        half,
        length,
        window_reach(settings.shape, settings.spacing, width, half),
        np.minimum(pixels, _FARTHEST).astype(np.int64),
    )


@dataclass(frozen=True)
class _TileSource:
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
        pixels = pixels_of(image, self.settings, mask, self.n_jobs)
        return _cropped(pixels, _within(box, wide))

    def _with_channels(self, box: Box) -> Box:
        axis = self.settings.channel_axis
        return box if axis is None else (*box[:axis], slice(None), *box[axis:])


def _unmasked(part: Any) -> Any:
    """Return the data of a masked array that masks nothing, as netCDF variables return them."""
    if isinstance(part, np.ma.MaskedArray) and not np.ma.getmaskarray(part).any():
        return part.data
    return part


def _write_density(
    source: _TileSource, box: Box, search: _SearchSettings, density: Numbers
) -> None:
    wide = _widened(box, search.density_border, source.shape)
    pixels = source.read(wide)
    if pixels is None:
        density[box] = np.nan
        return
    sums = sum_kernels(pixels, search.bandwidth, search.window, n_jobs=source.n_jobs)
    density[box] = sums.reshape(pixels.shape)[_within(box, wide)]


def _write_parents(
    source: _TileSource, box: Box, search: _SearchSettings, density: Numbers, parent: Numbers
) -> None:
    wide = _widened(box, search.parent_border, source.shape)
    pixels = source.read(wide)
    if pixels is None:
        parent[box] = _numbers(box, source.shape)
        return
    heights = np.ascontiguousarray(density[wide]).reshape(-1)
    origin = tuple(each.start for each in wide)
    graph = climb_pixels(pixels, heights, search.tau, origin=origin, n_jobs=source.n_jobs)
    numbers = _numbers(wide, source.shape).reshape(-1)
    parent[box] = numbers[graph.parent].reshape(pixels.shape)[_within(box, wide)]


def _follow_to_roots(parent: Indices) -> None:
    """Replace parents by roots, in place, by pointer jumping.

    Every pass replaces the ancestor of each pixel by the ancestor of that ancestor, which at least
    doubles the number of generations between them, until all ancestors are roots.
    """
    moved = True
    while moved:
        moved = False
        for begin in range(0, parent.size, _CHUNK):
            chunk = parent[begin : begin + _CHUNK]
            further = parent[chunk]
            moved = moved or not np.array_equal(further, chunk)
            parent[begin : begin + _CHUNK] = further


def _write_labels(root: Indices, density: Floats, labels: Numbers, first: int) -> None:
    """Write the label of each pixel: the rank of its root by descending height, plus ``first``."""
    roots = [np.empty(0, dtype=np.int64)]
    for begin in range(0, root.size, _CHUNK):
        chunk = np.arange(begin, min(begin + _CHUNK, root.size))
        is_root = (root[chunk] == chunk) & ~np.isnan(density[chunk])
        roots.append(chunk[is_root])
    sorted_roots = PixelGraph(root, density, density).highest_first(np.concatenate(roots))
    check_mask_not_empty(sorted_roots.size > 0)
    last = first + sorted_roots.size - 1
    check_label_dtype(np.dtype(labels.dtype), first - 1, last, "out", "Use numpy.int64.")
    in_order = np.sort(sorted_roots)
    label_of = np.empty(in_order.size, dtype=np.int64)
    label_of[np.searchsorted(in_order, sorted_roots)] = np.arange(in_order.size)
    per_line = math.prod(labels.shape[1:])
    step = max(1, _CHUNK // per_line)
    for line in range(0, labels.shape[0], step):
        some = slice(line * per_line, min(line + step, labels.shape[0]) * per_line)
        found = label_of[np.minimum(np.searchsorted(in_order, root[some]), in_order.size - 1)]
        found[np.isnan(density[some])] = -1
        labels[line : line + step] = (found + first).reshape(-1, *labels.shape[1:])


# Boxes


def _tiles(shape: tuple[int, ...], sides: tuple[int, ...]) -> Iterator[Box]:
    """Cover a picture with boxes, in C order."""
    along = (
        [slice(begin, min(begin + side, extent)) for begin in range(0, extent, side)]
        for extent, side in zip(shape, sides, strict=True)
    )
    yield from itertools.product(*along)


def _reported(boxes: Iterator[Box], progress: Progress | None, stage: str) -> Iterator[Box]:
    """Iterate over boxes, and report the share of them that is done."""
    every = list(boxes)
    with reporting(progress, stage) as report:
        for done, box in enumerate(every):
            if report is not None:
                report(done / len(every))
            yield box


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


def _numbers(box: Box, shape: tuple[int, ...]) -> Indices:
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


def _scratch(folder: str, name: str, dtype: Any, shape: tuple[int, ...]) -> Numbers:
    return np.memmap(Path(folder) / name, dtype=dtype, mode="w+", shape=shape)
