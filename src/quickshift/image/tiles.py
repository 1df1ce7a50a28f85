"""Pictures larger than memory: the same segments, computed tile by tile."""

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
from quickshift.checks import check_tau, check_whole
from quickshift.image.forest import check_start
from quickshift.image.graph import PixelGraph, climb_pixels, sum_kernels, window_reach
from quickshift.image.pixels import Pixels, read_image, spacing_of, spatial_shape, widths_of

__all__ = ["segment_tiles"]

Box = tuple[slice, ...]

_BLUR = 4.0  # deviations after which SciPy's filter ends
_CHUNK = 1 << 20  # pixels that are followed to their roots at once
_PIXELS = 1 << 20  # of a tile
_FARTHEST = 1 << 40  # pixels; no picture is larger


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
) -> Numbers:
    """Segment a picture that need not fit into memory; the labels are those of `segment`.

    Tiles are read with as much around them as densities and parents need, so every label is the
    same as if the picture were taken as a whole. Densities and parents are kept in temporary files,
    16 bytes a pixel. A value that is no color is found when its tile is read.

    Parameters
    ----------
    image : array
        Anything with a shape and NumPy's slices: ``numpy.load(path, mmap_mode="r")``,
        ``numpy.memmap``, a Zarr or HDF5 array.
    tile : int or tuple of int, optional
        Length of a tile's sides in pixels, for all axes or one for each. None makes tiles of about
        a million pixels.
    out : array, optional
        Integers of the picture's shape to write the labels to, such as a ``numpy.memmap``; else a
        new array.
    scratch : path, optional
        Folder for the temporary files; None for the system's, which may lie in memory.
    bandwidth : float
        Width of the Gaussian kernel; this and the next ones as in `segment`.
    tau : float
        Longest move; finite.
    ratio : float
        What colors are multiplied by.
    sigma : float or sequence of float
        Blur before.
    convert2lab : bool
        Whether RGB is converted to Lab, and gray to lightness.
    channel_axis : int or None
        Axis of the channels.
    window : float or None
        Half the width of the box that the density sums over, in bandwidths.
    mask : array, optional
        Pixels that belong to the picture.
    spacing : float or sequence of float, optional
        Distance of neighbouring pixels along each axis.
    start_label : int
        First label; pixels outside the mask get one less.
    n_jobs : int, optional
        Threads; None for all cores.

    Returns
    -------
    ndarray of the picture's shape without channels
        The labels: `out` where it was given.

    Examples
    --------
    >>> import quickshift as qs
    >>> image = np.random.default_rng(0).random((40, 50, 3))
    >>> bool((qs.segment_tiles(image, tile=16) == qs.segment(image)).all())
    True
    """
    picture = image if hasattr(image, "shape") else np.asarray(image)
    inside = mask if mask is None or hasattr(mask, "shape") else np.asarray(mask)
    source = _Source(picture, inside, channel_axis, ratio, sigma, convert2lab, spacing, n_jobs)
    first = check_start(start_label)
    steps = _Steps(
        bandwidth,
        window,
        tau,
        window_reach(source.shape, source.lengths, bandwidth, window),
        _search_reach(tau, source.lengths),
    )
    labels = _check_out(out, source.shape)
    _check_mask(inside, source.shape)
    sides = _check_tile(tile, len(source.shape))
    with TemporaryDirectory(prefix="quickshift-", dir=scratch) as folder:
        density = _scratch(folder, "density", np.float64, source.shape)
        parent = _scratch(folder, "parent", np.int64, source.shape)
        for box in _tiles(source.shape, sides):
            _write_density(source, box, steps, density)
        for box in _tiles(source.shape, sides):
            _write_parents(source, box, steps, density, parent)
        flat = parent.reshape(-1)
        _follow(flat)
        _number(flat, density.reshape(-1), labels, first)
    return labels


@dataclass(frozen=True)
class _Steps:
    """What is done with a tile, and how many pixels around it that depends on, by axis."""

    bandwidth: float
    window: float | None
    tau: float
    around_window: Indices
    around_search: Indices


@dataclass(frozen=True)
class _Source:
    """A picture that is read box by box."""

    image: Any
    mask: Any
    channel_axis: int | None
    ratio: float
    sigma: ArrayLike
    convert2lab: bool
    spacing: ArrayLike | None
    n_jobs: int | None

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the grid."""
        return spatial_shape(self.image.shape, self.channel_axis)

    @property
    def lengths(self) -> Floats:
        """The spacing, axis by axis."""
        return spacing_of(self.spacing, len(self.shape))

    def read(self, box: Box) -> tuple[Pixels | None, tuple[int, ...]]:
        """Read a box: its pixels (None if all are outside the mask), and where it begins."""
        widths = widths_of(self.sigma, len(self.shape))
        blur = [math.ceil(_BLUR * width) + 1 if width else 0 for width in widths]
        wide = _widened(box, blur, self.shape)
        mask = None if self.mask is None else np.asarray(self.mask[wide])
        begin = tuple(each.start for each in box)
        if mask is not None and not mask[_within(box, wide)].any():
            return None, begin
        pixels = read_image(
            np.asarray(self.image[self._with_channels(wide)]),
            ratio=self.ratio,
            sigma=self.sigma,
            convert2lab=self.convert2lab,
            channel_axis=self.channel_axis,
            mask=mask,
            spacing=self.spacing,
            n_jobs=self.n_jobs,
        )
        return _cropped(pixels, _within(box, wide)), begin

    def _with_channels(self, box: Box) -> Box:
        axes = list(box)
        if self.channel_axis is not None and len(self.image.shape) > len(box):
            axes.insert(self.channel_axis % len(self.image.shape), slice(None))
        return tuple(axes)


def _write_density(source: _Source, box: Box, steps: _Steps, density: Numbers) -> None:
    wide = _widened(box, steps.around_window, source.shape)
    pixels, _ = source.read(wide)
    if pixels is None:
        density[box] = np.nan
        return
    sums = sum_kernels(pixels, steps.bandwidth, steps.window, n_jobs=source.n_jobs)
    density[box] = sums.reshape(pixels.shape)[_within(box, wide)]


def _write_parents(
    source: _Source, box: Box, steps: _Steps, density: Numbers, parent: Numbers
) -> None:
    wide = _widened(box, steps.around_search, source.shape)
    pixels, begin = source.read(wide)
    if pixels is None:
        parent[box] = _numbers(box, source.shape)
        return
    heights = np.ascontiguousarray(density[wide]).reshape(-1)
    graph = climb_pixels(pixels, heights, steps.tau, origin=begin, n_jobs=source.n_jobs)
    numbers = _numbers(wide, source.shape).reshape(-1)
    parent[box] = numbers[graph.parent].reshape(pixels.shape)[_within(box, wide)]


def _follow(parent: Indices) -> None:
    """Replace parents by roots, in place; a pass at least doubles how far every pixel has come."""
    moved = True
    while moved:
        moved = False
        for begin in range(0, parent.size, _CHUNK):
            chunk = parent[begin : begin + _CHUNK]
            further = parent[chunk]
            moved = moved or not np.array_equal(further, chunk)
            parent[begin : begin + _CHUNK] = further


def _number(root: Indices, density: Floats, labels: Numbers, first: int) -> None:
    """Write labels by falling height of the roots."""
    roots = [np.empty(0, dtype=np.int64)]
    for begin in range(0, root.size, _CHUNK):
        chunk = np.arange(begin, min(begin + _CHUNK, root.size))
        is_root = (root[chunk] == chunk) & ~np.isnan(density[chunk])
        roots.append(chunk[is_root])
    sorted_roots = PixelGraph(root, density, density).highest_first(np.concatenate(roots))
    if sorted_roots.size == 0:
        raise ValueError("mask is False everywhere, expected at least one pixel inside (True).")
    _check_room(labels, first, sorted_roots.size)
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
    along = (
        [slice(begin, min(begin + side, extent)) for begin in range(0, extent, side)]
        for extent, side in zip(shape, sides, strict=True)
    )
    yield from itertools.product(*along)


def _widened(box: Box, reach: Any, shape: tuple[int, ...]) -> Box:
    return tuple(
        slice(max(each.start - int(r), 0), min(each.stop + int(r), extent))
        for each, r, extent in zip(box, reach, shape, strict=True)
    )


def _within(box: Box, wide: Box) -> Box:
    return tuple(
        slice(each.start - around.start, each.stop - around.start)
        for each, around in zip(box, wide, strict=True)
    )


def _numbers(box: Box, shape: tuple[int, ...]) -> Indices:
    """Numbers in C order of the pixels of a box."""
    axes = np.ogrid[box]
    numbers: Indices = np.ravel_multi_index(np.broadcast_arrays(*axes), shape).astype(np.int64)
    return numbers


def _cropped(pixels: Pixels, box: Box) -> Pixels:
    values = pixels.values.reshape(*pixels.shape, -1)[box]
    shape = values.shape[:-1]
    mask = None if pixels.mask is None else np.ascontiguousarray(pixels.mask[box])
    rows = np.ascontiguousarray(values).reshape(math.prod(shape), -1)
    return Pixels(rows, shape, pixels.spacing, mask)


# Arguments


def _search_reach(tau: Any, spacing: Floats) -> Indices:
    length = check_tau(tau)
    if math.isinf(length):
        raise ValueError(
            "tau is infinite, expected a finite length: a tile is read with so much around it. Use "
            "a tau below the picture's size, or segment_forest for pictures that fit into memory."
        )
    with np.errstate(over="ignore"):
        pixels = np.ceil(length / spacing)
    reach: Indices = np.minimum(pixels, _FARTHEST).astype(np.int64)
    return reach


def _check_tile(tile: Any, n_axes: int) -> tuple[int, ...]:
    if tile is None:
        return (max(1, round(_PIXELS ** (1 / n_axes))),) * n_axes
    sides = tuple(tile) if isinstance(tile, tuple | list) else (tile,) * n_axes
    expected = f"a whole number of pixels, or {n_axes} of them"
    whole = tuple(check_whole(side, "tile", expected=expected) for side in sides)
    if len(whole) != n_axes or min(whole) < 1:
        raise ValueError(f"tile is {tile!r}, expected {expected}, at least 1.")
    return whole


def _check_out(out: Numbers | None, shape: tuple[int, ...]) -> Numbers:
    if out is None:
        return np.empty(shape, dtype=np.int64)
    if tuple(out.shape) != shape or np.dtype(out.dtype).kind not in "iu":
        raise ValueError(
            f"out has shape {tuple(out.shape)} and type {out.dtype}, expected integers of shape "
            f"{shape}."
        )
    return out


def _check_mask(mask: Any, shape: tuple[int, ...]) -> None:
    if mask is not None and tuple(mask.shape) != shape:
        raise ValueError(f"mask has shape {tuple(mask.shape)}, expected {shape}.")


def _check_room(labels: Numbers, first: int, count: int) -> None:
    room = np.iinfo(labels.dtype)
    if first - 1 < room.min or first + count - 1 > room.max:
        raise ValueError(
            f"out is of type {labels.dtype}, expected one that holds {count} labels from "
            f"{first - 1} on. Use numpy.int64."
        )


def _scratch(folder: str, name: str, dtype: Any, shape: tuple[int, ...]) -> Numbers:
    return np.memmap(Path(folder) / name, dtype=dtype, mode="w+", shape=shape)
