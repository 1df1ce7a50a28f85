"""Segmentation of pictures larger than memory, in processes or on a cluster."""

import shutil
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import ArrayLike

from quickshift import _core
from quickshift.arrays import Indices, Numbers
from quickshift.checks.images import (
    check_label_dtype,
    check_mask_not_empty,
    check_mask_shape,
    check_out,
    check_start_label,
    check_tile,
)
from quickshift.distributed.executors import (
    DaskWorkers,
    Executor,
    Inline,
    check_open,
    local_executor,
)
from quickshift.distributed.pictures import as_file
from quickshift.distributed.plan.passes import Passes
from quickshift.distributed.store import Store, local_folder
from quickshift.distributed.tasks.tiles import Picture, TileTops, climb_tile, cut_tile, sum_tile
from quickshift.distributed.versions import check_versions
from quickshift.image.graph import highest_pixels_first
from quickshift.image.pixels import pixel_settings
from quickshift.image.tile_steps import PIXELS_PER_TILE, Box, check_search, tiles_of
from quickshift.progress import Progress
from quickshift.threads import resolve_threads

__all__ = ["segment"]


def segment(
    image: Any,
    *,
    client: Any = None,
    directory: str | Path | None = None,
    tile: int | tuple[int, ...] | None = None,
    out: Numbers | None = None,
    progress: Progress | None = None,
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
) -> Numbers:
    """Segment a picture that may be larger than memory, with the same labels as `segment`.

    Every tile is a task. It is read together with the border on which its densities and parents
    depend, and the trees of all tiles are then joined, so the labels do not depend on the tiles.

    Parameters
    ----------
    image : str, Path, ndarray or dask array
        The picture: the path of a .npy file, a memory-mapped array, or another array, which is
        written to a file first, a dask array block by block.
    client : dask.distributed.Client, optional
        Runs the tasks on the workers of a Dask cluster. Without a client, they run in processes of
        this machine. A script must then call this function inside
        ``if __name__ == "__main__":``.
    directory : str or Path, optional
        Folder for temporary files, which take 24 bytes per pixel; all workers must see it under the
        same path. None for the system's temporary folder.
    tile : int or tuple of int, optional
        Side lengths of a tile in pixels, one for all axes or one per axis. None makes tiles of
        about a million pixels. If one tile covers the picture, it is segmented in the calling
        process.
    out : array, optional
        Array of integers of the picture's shape, such as a ``numpy.memmap``, to which the labels
        are written. None makes a new array.
    progress : callable, optional
        Called as ``progress(name, done)`` whenever a task of a pass is complete.
    bandwidth : float
        Scale of the Gaussian kernel. This and the following parameters have the same meaning as in
        `quickshift.segment`.
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
    mask : str, Path, ndarray or dask array, optional
        True for the pixels that belong to the picture.
    spacing : float or sequence of float, optional
        Distance between neighboring pixels along each axis.
    start_label : int
        First label; pixels outside the mask get ``start_label - 1``.

    Returns
    -------
    ndarray of the picture's shape without channels
        The labels; the array `out` if it was given.

    Examples
    --------
    >>> import quickshift as qs
    >>> image = np.random.default_rng(0).random((40, 50, 3))
    >>> bool((qs.distributed.segment(image) == qs.segment(image)).all())
    True
    """
    if client is not None and directory is not None:
        check_open(client)
        check_versions(client)
    folder = _folder(client, directory)
    try:
        colors = as_file(image, folder / "image.npy", "image")
        inside = None if mask is None else as_file(mask, folder / "mask.npy", "mask")
        settings = pixel_settings(
            colors.opened().shape,
            ratio=ratio,
            sigma=sigma,
            convert2lab=convert2lab,
            channel_axis=channel_axis,
            spacing=spacing,
        )
        shape = settings.shape
        if inside is not None:
            check_mask_shape(inside.opened().shape, shape)
        search = check_search(settings, bandwidth, window, tau)
        first = check_start_label(start_label)
        labels = check_out(out, shape)
        sides = check_tile(tile, len(shape), max(1, round(PIXELS_PER_TILE ** (1 / len(shape)))))
        picture = Picture(colors, inside, settings, search, str(folder), sides)
        boxes = list(tiles_of(shape, sides))
        with closing(_executor(client, len(boxes))) as executor:
            passes = Passes(Store(str(folder)), executor, progress, keeps=False)
            tops = _run(passes, picture, boxes)
        _write_labels(picture, boxes, tops, labels, first)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return labels


def _folder(client: Any, directory: str | Path | None) -> Path:
    """Make the folder of a run."""
    if directory is None:
        if client is not None:
            raise ValueError(
                "directory is None but a client is given, expected a folder that all workers see "
                "under the same path."
            )
        return Path(tempfile.mkdtemp(prefix="quickshift-"))
    folder = local_folder(directory) / f"picture-{uuid4().hex[:16]}"
    folder.mkdir(parents=True)
    return folder


def _executor(client: Any, n_tiles: int) -> Executor:
    if client is not None:
        return DaskWorkers(client)
    return Inline() if n_tiles == 1 else local_executor(min(resolve_threads(None), n_tiles))


def _run(passes: Passes, picture: Picture, boxes: list[Box]) -> list[TileTops]:
    """Find the densities and the parents of all tiles, and the paths inside each."""
    tasks = [(picture, box) for box in boxes]
    passes.run("density", sum_tile, tasks)
    passes.run("climb", climb_tile, tasks)
    return passes.run("cut", cut_tile, tasks)


def _write_labels(
    picture: Picture, boxes: list[Box], tops: list[TileTops], labels: Numbers, first: int
) -> None:
    """Join the trees of all tiles, number them from the highest, and write the labels."""
    number, target, height = (
        np.concatenate([getattr(t, name) for t in tops]) for name in TileTops.__annotations__
    )
    check_mask_not_empty(number.size > 0)
    firsts = np.concatenate([[0], np.cumsum([len(t.number) for t in tops])]).astype(np.int64)
    up = np.arange(number.size)
    moved = np.flatnonzero(target != number)
    up[moved] = _tops_at(picture, boxes, firsts, target[moved])
    root = _core.find_roots(up, np.zeros(up.size), np.inf)[0].view(np.int64)
    roots = np.flatnonzero(target == number)
    roots = roots[highest_pixels_first(number[roots], height[roots])]
    last = first + roots.size - 1
    check_label_dtype(np.dtype(labels.dtype), first - 1, last, "out", "Use numpy.int64.")
    rank = np.empty(number.size, dtype=np.int64)
    rank[roots] = np.arange(roots.size)
    label = np.append(first + rank[root], first - 1)  # the last one is for pixels outside the mask
    top = picture.results("top")
    for i, box in enumerate(boxes):
        own = top[box]
        labels[box] = label[np.where(own < 0, -1, own + firsts[i])]


def _tops_at(picture: Picture, boxes: list[Box], firsts: Indices, numbers: Indices) -> Indices:
    """Return the number, among the tops of all tiles, of the top that each pixel leads to."""
    top = picture.results("top")
    at = np.unravel_index(numbers, picture.settings.shape)
    places = [position // side for position, side in zip(at, picture.sides, strict=True)]
    tile = np.ravel_multi_index(places, top.grid)
    result = np.empty(numbers.size, dtype=np.int64)
    for i in np.unique(tile).tolist():
        some = np.flatnonzero(tile == i)
        inside = tuple(x[some] - each.start for x, each in zip(at, boxes[i], strict=True))
        result[some] = firsts[i] + top[boxes[i]][inside]
    return result
