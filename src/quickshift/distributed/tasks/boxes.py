"""From the input to boxes: chunks are scattered by box, and each box gathers its rows.

::

    chunk --scan--> facts, sample --> partition
    chunk --scatter--> files by chunk --gather--> files by box
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from quickshift.arrays import Floats, Indices, Numbers
from quickshift.distributed.inputs import Chunk, read_chunk, read_ids
from quickshift.distributed.partition import Partition
from quickshift.distributed.store import BLOCK, Store, joined_ids, publish, publish_ids
from quickshift.spaces import Space

__all__ = ["Facts", "chunk_folder", "gather", "sample_boxes", "scan", "scatter"]

_MOST_BITS = 12  # per feature, of the curve along which the rows of a box are sorted


@dataclass(frozen=True)
class Facts:
    """What a scan finds in one chunk, or in all of them.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    n_present : int
        Number of rows of positive weight.
    total_weight : float
        Sum of the weights.
    least_weight : float
        Smallest positive weight.
    least, most : ndarray of shape (n_features,)
        Smallest and largest coordinate of the rows of positive weight.
    sample : ndarray of shape (n_sampled, n_features)
        Some of the rows.
    space : Space
        The coordinates that all of these are in.
    """

    n_rows: int
    n_present: int
    total_weight: float
    least_weight: float
    least: Floats
    most: Floats
    sample: Floats
    space: Space

    @property
    def dimension(self) -> int:
        """The d of a kernel density, see `Samples.dimension`."""
        return max(self.least.size - self.space.on_sphere, 1)

    @property
    def n_varying(self) -> int:
        """The d of a local scale: the number of coordinates that are not constant."""
        return max(int((self.least < self.most).sum()) - self.space.on_sphere, 1)


def scan(chunk: Chunk, space: Space, step: int) -> Facts:
    """Check the rows of a chunk and describe them.

    Parameters
    ----------
    chunk : Chunk
        Some rows of the input.
    space : Space
        The coordinates in which the rows are described.
    step : int
        One row of this many is in the sample.

    Returns
    -------
    Facts
    """
    points, weights = read_chunk(chunk)
    points = _embedded(points, chunk, space)
    if weights is not None:
        points, weights = points[weights > 0], weights[weights > 0]
    return Facts(
        n_rows=chunk.n_rows,
        n_present=len(points),
        total_weight=float(len(points) if weights is None else weights.sum()),
        least_weight=1.0 if weights is None else float(weights.min(initial=np.inf)),
        least=points.min(axis=0, initial=np.inf),
        most=points.max(axis=0, initial=-np.inf),
        sample=points[::step].copy(),
        space=space,
    )


def _embedded(points: Floats, chunk: Chunk, space: Space) -> Floats:
    """Return the coordinates of points; an error names the file that they are from."""
    try:
        return wrapped(space.embed(points), space.period)
    except ValueError as error:
        raise ValueError(
            f"{error} X is {chunk.shown}, and its rows are counted from row {chunk.row} of it."
        ) from error


def scatter(store: Store, chunk: Chunk, space: Space, partition: Partition) -> Indices:
    """Sort the rows of a chunk by box, and write them to files of the chunk.

    Rows of weight zero are written to other files. If the coordinates of the space are not the
    features of the user, both are written.

    Returns
    -------
    ndarray of shape (n_boxes + 1,)
        Place of the first row of each box in the files, and the number of rows.
    """
    points, weights = read_chunk(chunk)
    columns: dict[str, Numbers] = {
        "points": _embedded(points, chunk, space),
        "rows": chunk.first_row + np.arange(len(points)),
    }
    if not space.keeps_points:
        columns["given"] = wrapped(points, space.period)
    ids = None if chunk.id is None else read_ids(chunk)
    present = np.ones(len(points), dtype=bool)
    if weights is not None:
        columns["weights"], present = weights, weights > 0
    absent = np.flatnonzero(~present)
    if absent.size:
        _publish_rows(store.absent_folder(chunk.number), columns, ids, absent)
    box = partition.boxes_of(columns["points"])
    if len(partition) <= 1 << 16:
        box = box.astype(np.uint16)  # NumPy has a radix sort for 16 bits, five times as fast
    order = np.argsort(box, kind="stable")
    order = order[present[order]]
    _publish_rows(chunk_folder(store, chunk.number), columns, ids, order)
    return np.searchsorted(box[order], np.arange(len(partition) + 1)).astype(np.int64)


def sample_boxes(store: Store, chunk: int, starts: Indices, steps: Indices) -> Floats:
    """Return some of the points of a chunk that `scatter` has sorted.

    Parameters
    ----------
    store : Store
        The files.
    chunk : int
        Number of the chunk.
    starts : ndarray of shape (n_boxes + 1,)
        From `scatter`.
    steps : ndarray of shape (n_boxes,)
        One row of this many is taken from each box; none if it is 0.

    Returns
    -------
    ndarray of shape (n, n_features)
    """
    points = np.load(chunk_folder(store, chunk) / "points.npy", mmap_mode="r")
    parts = [
        points[starts[box] : starts[box + 1] : steps[box]] for box in np.flatnonzero(steps).tolist()
    ]
    return np.concatenate(parts)


def _publish_rows(folder: Path, columns: dict[str, Numbers], ids: Any, rows: Indices) -> None:
    """Write some rows of all columns, and their identifiers, if there are any."""
    for name, values in columns.items():
        publish(folder / f"{name}.npy", values[rows])
    if ids is not None:
        publish_ids(folder, ids.take(rows))


def gather(store: Store, box: int, slices: list[tuple[int, int, int]]) -> tuple[int, Floats]:
    """Collect the rows of a box from the files of all chunks.

    The rows are sorted along a space-filling curve, so that rows of one block are close together.
    Rows at the same location stay in the order of the user's data.

    Parameters
    ----------
    store : Store
        The files.
    box : int
        Number of the box.
    slices : list of tuple
        Numbers of chunks, in rising order, with the first and the last place of the box's rows.

    Returns
    -------
    count : int
        Number of rows.
    bounds : ndarray of shape (2, n_features)
        Bounding box of the points.
    """
    points = _gathered(store, slices, "points")
    order = np.argsort(morton_codes(points), kind="stable")
    points = points[order]
    store.write(box, "points", points)
    for name in ("rows", "weights", "given"):
        if (chunk_folder(store, slices[0][0]) / f"{name}.npy").exists():
            store.write(box, name, _gathered(store, slices, name)[order])
    ids = joined_ids(
        [(chunk_folder(store, chunk), slice(first, last)) for chunk, first, last in slices]
    )
    if ids is not None:
        publish_ids(store.folder(box), ids.take(order))
    starts = np.arange(0, len(points), BLOCK)
    blocks = np.stack(
        [np.minimum.reduceat(points, starts), np.maximum.reduceat(points, starts)], axis=1
    )
    store.write(box, "blocks", blocks)
    return len(points), np.stack([blocks[:, 0].min(axis=0), blocks[:, 1].max(axis=0)])


def _gathered(store: Store, slices: list[tuple[int, int, int]], name: str) -> Numbers:
    return np.concatenate(
        [
            np.load(chunk_folder(store, chunk) / f"{name}.npy", mmap_mode="r")[first:last]
            for chunk, first, last in slices
        ]
    )


def chunk_folder(store: Store, chunk: int) -> Path:
    """Return the folder of the files of a chunk."""
    return Path(store.directory) / f"chunk-{chunk:06}"


def wrapped(points: Floats, period: Floats | None) -> Floats:
    """Wrap periodic features into [0, period), as the compiled core does.

    Examples
    --------
    >>> wrapped(np.array([[-1.0, 7.0]]), np.array([np.inf, 5.0]))
    array([[-1.,  2.]])
    """
    points = points + 0.0  # a copy, with 0.0 in place of -0.0
    if period is None:
        return points
    closed = np.isfinite(period)
    lengths = period[closed]
    inner = points[:, closed]
    inner = inner - lengths * np.floor(inner / lengths)
    inner[(inner >= lengths) | (inner < 0)] = 0.0
    points[:, closed] = inner
    return points


def morton_codes(points: Floats) -> Indices:
    """Return the place of each point along a space-filling curve; equal points have the same place.

    Examples
    --------
    >>> morton_codes(np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]])).argsort()
    array([0, 2, 1])
    """
    n_features = min(points.shape[1], 62)
    bits = min(_MOST_BITS, 62 // n_features)
    codes = np.zeros(len(points), dtype=np.int64)
    columns = [_quantized(points[:, k], bits) for k in range(n_features)]
    for bit in reversed(range(bits)):
        for column in columns:
            codes = (codes << 1) | ((column >> bit) & 1)
    return codes


def _quantized(values: Floats, bits: int) -> Indices:
    least, most = values.min() / 2, values.max() / 2  # the whole range might overflow
    if least == most:
        return np.zeros(len(values), dtype=np.int64)
    shares = np.clip((values / 2 - least) / (most - least), 0.0, 1.0)
    cells: Indices = np.minimum(shares * (1 << bits), (1 << bits) - 1).astype(np.int64)
    return cells
