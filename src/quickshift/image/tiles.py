"""Segmentation of pictures larger than memory, tile by tile, with the labels of `segment`."""

import math
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from quickshift.arrays import Floats, Indices, Numbers
from quickshift.checks.images import (
    check_image,
    check_label_dtype,
    check_mask_not_empty,
    check_mask_shape,
    check_mask_values,
    check_out,
    check_start_label,
    check_tile,
)
from quickshift.checks.numbers import check_path
from quickshift.image.graph import PixelGraph
from quickshift.image.pixels import pixel_settings
from quickshift.image.tile_steps import (
    PIXELS_PER_TILE,
    Box,
    TileSource,
    check_search,
    tiles_of,
    write_density,
    write_parents,
)
from quickshift.progress import Progress, reporting

__all__ = ["segment_tiles"]

_CHUNK = 1 << 20  # pixels handled at once when parents are followed and roots numbered


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
    picture = image if hasattr(image, "shape") else check_image(image)
    inside = mask if mask is None or hasattr(mask, "shape") else check_mask_values(mask)
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
    source = TileSource(picture, inside, settings, n_jobs)
    search = check_search(settings, bandwidth, window, tau)
    first = check_start_label(start_label)
    labels = check_out(out, shape)
    sides = check_tile(tile, len(shape), max(1, round(PIXELS_PER_TILE ** (1 / len(shape)))))
    with TemporaryDirectory(
        prefix="quickshift-", dir=None if scratch is None else check_path(scratch, "scratch")
    ) as folder:
        density = _scratch(folder, "density", np.float64, shape)
        parent = _scratch(folder, "parent", np.int64, shape)
        for box in _reported(tiles_of(shape, sides), progress, "estimate_density"):
            write_density(source, box, search, density)
        for box in _reported(tiles_of(shape, sides), progress, "climb"):
            write_parents(source, box, search, density, parent)
        flat = parent.reshape(-1)
        with reporting(progress, "cut"):
            _follow_to_roots(flat)
            _write_labels(flat, density.reshape(-1), labels, first)
    return labels


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


def _reported(boxes: Iterator[Box], progress: Progress | None, stage: str) -> Iterator[Box]:
    """Iterate over boxes, and report the share of them that is done."""
    every = list(boxes)
    with reporting(progress, stage) as report:
        for done, box in enumerate(every):
            if report is not None:
                report(done / len(every))
            yield box


def _scratch(folder: str, name: str, dtype: Any, shape: tuple[int, ...]) -> Numbers:
    return np.memmap(Path(folder) / name, dtype=dtype, mode="w+", shape=shape)
