"""Label images: mean colors, connected pieces of segments, and enforced connectivity.

A piece is a connected component of the pixels with one label. The pieces of all segments are found
together: each row of pixels is split into runs of one label, and the pieces are the connected
components of the graph in which touching runs of the same label are joined by an edge.
"""

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quickshift.arrays import Flags, Floats, Indices, Numbers
from quickshift.checks.images import (
    check_connectivity,
    check_label_dtype,
    check_label_image,
    check_labeled_image,
)
from quickshift.checks.numbers import check_whole

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["count_pieces", "enforce_connectivity", "mean_color"]

Views = tuple[tuple[slice, ...], tuple[slice, ...]]

_VIEWS = {
    -1: (slice(1, None), slice(None, -1)),
    0: (slice(None), slice(None)),
    1: (slice(None, -1), slice(1, None)),
}


def mean_color(
    image: ArrayLike,
    labels: ArrayLike,
    *,
    channel_axis: int | None = -1,
    start_label: int = 0,
) -> Numbers:
    """Paint every segment in its mean color.

    Parameters
    ----------
    image : array_like of shape (..., n_channels) or (...)
        The picture that was segmented. A gray picture has the shape of ``labels``.
    labels : array_like of shape (...), int
        Segment of each pixel. Numbers below ``start_label`` are masked out.
    channel_axis : int or None
        Axis of ``image`` that holds the channels. It is ignored if ``image`` has the shape of
        ``labels``.
    start_label : int
        Smallest label of a segment.

    Returns
    -------
    ndarray of the shape and type of ``image``
        Means of integers are rounded. Pixels that are masked out become 0.

    Examples
    --------
    >>> mean_color([1.0, 2.0, 5.0, 7.0], [0, 0, 1, 1])
    array([1.5, 1.5, 6. , 6. ])
    """
    numbers = check_label_image(labels)
    start = check_whole(start_label, "start_label")
    colors, axis = check_labeled_image(image, numbers.shape, channel_axis)
    bins, n_bins = _bins(numbers, start)
    sizes = np.maximum(np.bincount(bins, minlength=n_bins), 1)
    result = np.empty_like(colors, order="C", subok=False)
    channels, painted = (
        array[np.newaxis] if axis is None else np.moveaxis(array, axis, 0)
        for array in (colors, result)
    )
    for channel, paint in zip(channels, painted, strict=True):
        sums = np.bincount(bins, channel.astype(np.float64).ravel(), minlength=n_bins)
        sums[0] = 0.0
        paint[...] = _rounded(sums / sizes, colors.dtype)[bins].reshape(numbers.shape)
    return result


def count_pieces(labels: ArrayLike, *, connectivity: int = 1, start_label: int = 0) -> Indices:
    """Count the connected pieces of every segment.

    The moves within a segment are up to tau long, so its pixels need not touch. The labels of the
    segments with several pieces are
    ``start_label + numpy.flatnonzero(count_pieces(labels, start_label=start_label) > 1)``.

    Parameters
    ----------
    labels : array_like of at least 1 axis, int
        Segment of each pixel. Numbers below ``start_label`` are masked out.
    connectivity : int
        Two pixels touch if their coordinates differ by one along at most this many axes and are
        equal along the others: 1 for faces only, up to the number of axes for corners too, as in
        `scipy.ndimage.generate_binary_structure`.
    start_label : int
        Smallest label of a segment.

    Returns
    -------
    ndarray of shape (n_segments,), int64
        Element i is the number of pieces of label ``start_label + i``, 0 if no pixel has that
        label. The last element belongs to the largest label.

    Examples
    --------
    >>> count_pieces([[0, 0, 1], [1, 1, 0]])
    array([2, 2])
    >>> count_pieces([[0, 0, 1], [1, 1, 0]], connectivity=2)
    array([1, 1])
    """
    numbers = check_label_image(labels)
    start = check_whole(start_label, "start_label")
    pieces = _find_pieces(numbers, check_connectivity(connectivity, numbers.ndim), start)
    return np.bincount(pieces.labels.astype(np.int64) - start).astype(np.int64, copy=False)


def enforce_connectivity(
    labels: ArrayLike, *, min_size: int = 20, connectivity: int = 1, start_label: int = 0
) -> Numbers:
    """Give every segment one connected piece of at least ``min_size`` pixels.

    Every piece with fewer pixels is absorbed by the adjacent segment with which it shares the
    longest border, counted in pairs of touching pixels. Of equally long borders, that of the
    segment with the smaller label in the result wins. A piece that touches only small pieces waits
    until one of them has been absorbed. Small pieces that are connected to no piece of sufficient
    size, in a small picture or in a part that the mask separates, become one segment.

    The remaining pieces are the segments of the result. The largest piece of a given segment (of
    equally large ones, the first in raster order) continues that segment, and its other pieces
    become new segments.

    Parameters
    ----------
    labels : array_like of at least 1 axis, int
        Segment of each pixel. Numbers below ``start_label`` are masked out.
    min_size : int
        Smallest number of pixels of a piece that is not absorbed. With 0 or 1 nothing is absorbed
        and segments are only split: in photographs that gives five to ten times as many segments,
        at least about half of which have a single pixel.
    connectivity : int
        Two pixels touch if their coordinates differ by one along at most this many axes and are
        equal along the others: 1 for faces only, up to the number of axes for corners too, as in
        `scipy.ndimage.generate_binary_structure`.
    start_label : int
        Smallest label of a segment.

    Returns
    -------
    ndarray of the shape and type of ``labels``
        Labels without gaps from ``start_label`` on: first the given segments whose largest piece
        remains, in the order of their labels, then the new segments, in raster order of the first
        pixel of the piece that they grew from. Pixels that are masked out keep their labels.

    Examples
    --------
    >>> labels = [[0, 0, 0, 1, 2, 2], [0, 2, 0, 2, 2, 0], [0, 0, 0, 2, 0, 0]]
    >>> enforce_connectivity(labels, min_size=3)
    array([[0, 0, 0, 1, 1, 1],
           [0, 0, 0, 1, 1, 2],
           [0, 0, 0, 1, 2, 2]])
    >>> enforce_connectivity(labels, min_size=0)
    array([[0, 0, 0, 1, 2, 2],
           [0, 3, 0, 2, 2, 4],
           [0, 0, 0, 2, 4, 4]])
    """
    numbers = check_label_image(labels)
    start = check_whole(start_label, "start_label")
    reach = check_connectivity(connectivity, numbers.ndim)
    least = check_whole(min_size, "min_size", 0)
    pieces = _find_pieces(numbers, reach, start)
    segments = _number_segments(pieces, _find_hosts(pieces, pieces.sizes < least, reach))
    if (segments < 0).any():
        _absorb(_count_borders(pieces, segments < 0, reach), segments)
    names = _name_segments(segments, start, numbers.dtype)
    own = np.append(names, numbers.dtype.type(0))[pieces.image]
    return np.where(numbers < start, numbers, own).astype(numbers.dtype, copy=False)


# Pieces


@dataclass(frozen=True)
class _Pieces:
    """Connected pieces of all segments, in raster order of their first pixels."""

    image: NDArray[np.signedinteger[Any]]  # piece of each pixel; n_pieces if it is masked out
    labels: Numbers  # (n_pieces,)
    sizes: Indices  # (n_pieces,) in pixels
    firsts: NDArray[np.intp]  # (n_pieces,) first pixel of each, as an index into the flat image


def _find_pieces(labels: Numbers, connectivity: int, start_label: int) -> _Pieces:
    """Split every row into runs of one label, and join the runs that touch."""
    starts = np.ones(labels.shape, dtype=bool)
    np.not_equal(labels[..., 1:], labels[..., :-1], out=starts[..., 1:])
    first_pixels = np.flatnonzero(starts)
    lengths = np.diff(first_pixels, append=labels.size)
    run_labels = labels.ravel()[first_pixels]
    inside = run_labels >= start_label

    first_runs = _join_runs(labels, starts, connectivity)
    leading = inside & (first_runs == np.arange(first_runs.size))
    numbers = np.cumsum(leading) - 1
    n_pieces = int(leading.sum())
    piece_of_run = np.where(inside, numbers[first_runs], n_pieces).astype(first_runs.dtype)
    sizes = np.bincount(piece_of_run, lengths, minlength=n_pieces)[:n_pieces]
    image = np.repeat(piece_of_run, lengths).reshape(labels.shape)
    return _Pieces(image, run_labels[leading], sizes.astype(np.int64), first_pixels[leading])


def _join_runs(labels: Numbers, starts: Flags, connectivity: int) -> Numbers:
    """Return, for each run, the first run of its piece. Masked-out runs form pieces too."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    index = np.int32 if labels.size < np.iinfo(np.int32).max else np.int64
    runs: Numbers = np.cumsum(starts.ravel(), dtype=index).reshape(labels.shape)
    runs -= 1
    n_runs = int(runs.flat[-1]) + 1
    pairs = [np.empty((2, 0), dtype=index)]
    for here, there in _neighbors(labels.ndim, connectivity):
        if here[:-1] == there[:-1]:
            continue  # equal neighbors along a row belong to one run
        # One edge per pair of touching runs suffices. At the first column in which they touch, one
        # of the two runs starts, so only the starts of runs are compared.
        touching = (labels[here] == labels[there]) & (starts[here] | starts[there])
        pairs.append(np.stack([runs[here][touching], runs[there][touching]]))
    joined = np.concatenate(pairs, axis=1)
    graph = coo_array((np.ones(joined.shape[1], dtype=bool), tuple(joined)), shape=(n_runs, n_runs))
    n_components, component = connected_components(graph, directed=False)
    first = np.full(n_components, n_runs, dtype=index)
    np.minimum.at(first, component, np.arange(n_runs, dtype=index))
    return first[component]


def _neighbors(ndim: int, connectivity: int) -> list[Views]:
    """Return two views per direction, which align each pixel with its neighbor in that direction.

    Of two opposite directions only one is included, so each pair of neighbors occurs once.
    """
    steps = product((-1, 0, 1), repeat=ndim)
    forward = [step for step in steps if step > (0,) * ndim]
    return [
        (tuple(_VIEWS[s][0] for s in step), tuple(_VIEWS[s][1] for s in step))
        for step in forward
        if sum(map(abs, step)) <= connectivity
    ]


# Absorption of small pieces


def _find_hosts(pieces: _Pieces, small: Flags, connectivity: int) -> NDArray[np.intp]:
    """Return the piece that absorbs each piece: itself if it stays, -1 if undecided.

    Undecided are the small pieces for which the lengths of borders have to be compared.
    """
    hosts = np.arange(small.size)
    if not small.any():
        return hosts
    # A group of connected small pieces is absorbed as a whole if it touches only one large piece. A
    # group that touches none becomes a segment, and one that touches several stays undecided.
    in_small = np.append(small, False)[pieces.image]
    groups = _find_pieces(in_small.view(np.int8), connectivity, 1)
    in_large = ~in_small & (pieces.image < small.size)
    first = np.full(groups.sizes.size, small.size, dtype=pieces.image.dtype)
    last = np.full_like(first, -1)
    for views in _neighbors(in_small.ndim, connectivity):
        for here, there in (views, views[::-1]):
            touching = in_small[here] & in_large[there]
            group, large = groups.image[here][touching], pieces.image[there][touching]
            np.minimum.at(first, group, large)
            np.maximum.at(last, group, large)
    host = np.where(first == last, first, -1)
    alone = last < 0
    host[alone] = pieces.image.ravel()[groups.firsts[alone]]
    hosts[small] = host[groups.image.ravel()[pieces.firsts[small]]]
    return hosts


def _find_largest(pieces: _Pieces) -> Flags:
    """Flag the largest piece of every label; of equally large ones, the first."""
    order = np.lexsort((-pieces.sizes, pieces.labels))  # stable: equal sizes stay in raster order
    largest = np.zeros(order.size, dtype=bool)
    largest[order[_changes(pieces.labels[order])]] = True
    return largest


def _number_segments(pieces: _Pieces, hosts: NDArray[np.intp]) -> Indices:
    """Return the segment of each piece, numbered from 0 as in the result; -1 if undecided."""
    stays = hosts == np.arange(hosts.size)
    largest = _find_largest(pieces)
    old, new = np.flatnonzero(stays & largest), np.flatnonzero(stays & ~largest)
    old = old[np.argsort(pieces.labels[old])]
    segments = np.full(hosts.size + 1, -1, dtype=np.int64)  # the last is for hosts of -1
    segments[np.append(old, new)] = np.arange(old.size + new.size)
    return segments[hosts]


def _count_borders(
    pieces: _Pieces, waiting: Flags, connectivity: int
) -> "csr_array[np.int64, tuple[int, int]]":
    """Count the pairs of touching pixels between pieces of which at least one is waiting.

    A piece is waiting if the segment that absorbs it is still undecided.
    """
    from scipy.sparse import coo_array

    # Pixels of waiting pieces count 2, those of other pieces 1, masked-out pixels 0. The sum of a
    # pair is at least 3 if at least one of the two is waiting and neither is masked out.
    kinds = np.append(np.where(waiting, 2, 1), 0).astype(np.int8)[pieces.image]
    ones, others = [], []
    for here, there in _neighbors(pieces.image.ndim, connectivity):
        one, other = pieces.image[here], pieces.image[there]
        touching = (one != other) & (kinds[here] + kinds[there] >= 3)
        ones.append(one[touching])
        others.append(other[touching])
    rows, columns = np.concatenate(ones), np.concatenate(others)
    count = np.ones(rows.size, dtype=np.int64)
    one_way = coo_array((count, (rows, columns)), shape=(waiting.size, waiting.size)).tocsr()
    both_ways: csr_array[np.int64, tuple[int, int]] = one_way + one_way.T.tocsr()
    return both_ways


def _absorb(borders: "csr_array[np.int64, tuple[int, int]]", segments: Indices) -> None:
    """Assign segments to the waiting pieces in rounds, starting from the pieces with a segment."""
    sizes = np.diff(borders.indptr)
    front = np.flatnonzero(segments >= 0)
    while front.size:
        # A piece is absorbed in the first round in which it touches a segment. All segments that it
        # can join were therefore reached in the previous round, and each border is visited once.
        n_neighbors = sizes[front]
        ends = np.cumsum(n_neighbors)
        entries = np.arange(ends[-1]) + np.repeat(borders.indptr[front + 1] - ends, n_neighbors)
        piece = borders.indices[entries]
        waiting = segments[piece] < 0
        segment = np.repeat(segments[front], n_neighbors)[waiting]
        front, joined = _longest(piece[waiting], segment, borders.data[entries[waiting]])
        segments[front] = joined


def _longest(piece: Numbers, segment: Indices, length: Indices) -> tuple[NDArray[np.intp], Indices]:
    """Return each piece once, with the segment that shares the longest border with it.

    Of equally long borders, that of the segment with the smallest number wins.
    """
    order = np.lexsort((segment, piece))
    piece, segment = piece[order], segment[order]
    starts = _changes(piece, segment)
    piece, segment = piece[starts], segment[starts]
    lengths = np.add.reduceat(length[order], starts)
    order = np.lexsort((-lengths, piece))  # stable: equally long borders stay sorted by segment
    best = order[_changes(piece[order])]
    return piece[best].astype(np.intp), segment[best]


def _changes(*arrays: Numbers) -> NDArray[np.intp]:
    """Return the positions in sorted arrays at which a new value begins."""
    new = np.zeros(arrays[0].size, dtype=bool)
    new[:1] = True
    for array in arrays:
        new[1:] |= array[1:] != array[:-1]
    return np.flatnonzero(new)


def _name_segments(segments: Indices, start_label: int, dtype: np.dtype[Any]) -> Numbers:
    """Return the label of each segment in the type of the given labels."""
    if not segments.size:
        return segments.astype(dtype)
    fix = "Use labels.astype(numpy.int64), another start_label or a larger min_size."
    check_label_dtype(dtype, start_label, start_label + int(segments.max()), "labels", fix)
    names: Numbers = segments.astype(dtype)
    names += dtype.type(start_label)  # undoes a wraparound of the conversion above
    return names


# Colors


def _bins(labels: Numbers, start_label: int) -> tuple[NDArray[np.intp], int]:
    """Return the bin of each pixel, and the number of bins.

    Bin 0 is for masked-out pixels, and each segment has a bin of its own. Labels with large gaps
    are renumbered, so that the number of bins stays small.
    """
    inside = labels >= start_label
    n_bins = int(labels.max()) - start_label + 2
    if n_bins <= 2 * labels.size + 1:
        return np.where(inside, labels.astype(np.intp) - (start_label - 1), 0).ravel(), n_bins
    bins = np.zeros(labels.shape, dtype=np.intp)
    names, bins[inside] = np.unique(labels[inside], return_inverse=True)
    bins[inside] += 1
    return bins.ravel(), names.size + 1


def _rounded(means: Floats, dtype: np.dtype[Any]) -> Numbers:
    """Convert means to the type of the picture; integers are rounded and stay in range."""
    if dtype.kind == "f":
        return means.astype(dtype)
    top = float(np.iinfo(dtype).max)
    if top > np.iinfo(dtype).max:  # with 64 bits, the float nearest to the maximum exceeds it
        top = float(np.nextafter(top, 0.0))
    return np.minimum(np.rint(means), top).astype(dtype)
