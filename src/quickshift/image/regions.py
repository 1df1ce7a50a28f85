"""Label images: mean colors, how many pieces a segment has, and segments made connected.

Pixels of one label that touch form a piece. Pieces are found for all segments at once: each row of
pixels is split into runs of one label, and runs that touch are joined as a graph.
"""

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quickshift.arrays import Flags, Floats, Indices, Numbers
from quickshift.checks import check_count, check_whole, refuse_lossy

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["count_pieces", "enforce_connectivity", "mean_color"]

Labels = Numbers
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
    """Paint every segment in the mean of its colors.

    Parameters
    ----------
    image : array_like of shape (..., n_channels) or (...)
        Real numbers, as they were segmented. A gray image has the shape of ``labels``.
    labels : array_like of shape (...), int
        Segment of each pixel. Numbers below ``start_label`` are masked out.
    channel_axis : int or None
        Axis of ``image`` that holds the channels; a gray image has none, whatever this says.
    start_label : int
        Smallest label of a segment.

    Returns
    -------
    ndarray of the shape and type of ``image``
        Integers are rounded. Pixels that are masked out are 0, whatever they were.

    Examples
    --------
    >>> mean_color([1.0, 2.0, 5.0, 7.0], [0, 0, 1, 1])
    array([1.5, 1.5, 6. , 6. ])
    """
    numbers, start = _check_labels(labels, start_label)
    colors, axis = _check_image(image, numbers.shape, channel_axis)
    places, n_places = _places(numbers, start)
    sizes = np.maximum(np.bincount(places, minlength=n_places), 1)
    result = np.empty_like(colors, order="C", subok=False)
    channels, painted = (
        array[np.newaxis] if axis is None else np.moveaxis(array, axis, 0)
        for array in (colors, result)
    )
    for channel, paint in zip(channels, painted, strict=True):
        sums = np.bincount(places, channel.astype(np.float64).ravel(), minlength=n_places)
        sums[0] = 0.0
        paint[...] = _rounded(sums / sizes, colors.dtype)[places].reshape(numbers.shape)
    return result


def count_pieces(labels: ArrayLike, *, connectivity: int = 1, start_label: int = 0) -> Indices:
    """Count the connected pieces of every segment.

    Segments are trees of links up to tau long, so they may have several. The disconnected ones are
    ``start_label + numpy.flatnonzero(count_pieces(labels, start_label=start_label) > 1)``.

    Parameters
    ----------
    labels : array_like of at least 1 axis, int
        Segment of each pixel. Numbers below ``start_label`` are masked out.
    connectivity : int
        Pixels touch that differ by one along at most so many axes: 1 for faces only, up to the
        number of axes for corners too, as in `scipy.ndimage.generate_binary_structure`.
    start_label : int
        Smallest label of a segment.

    Returns
    -------
    ndarray of shape (n_segments,), int64
        Pieces of label ``start_label + i``, 0 where no pixel has that label. The last element is
        that of the largest label.

    Examples
    --------
    >>> count_pieces([[0, 0, 1], [1, 1, 0]])
    array([2, 2])
    >>> count_pieces([[0, 0, 1], [1, 1, 0]], connectivity=2)
    array([1, 1])
    """
    numbers, start = _check_labels(labels, start_label)
    pieces = _find_pieces(numbers, _check_connectivity(connectivity, numbers), start)
    return np.bincount(pieces.labels.astype(np.int64) - start).astype(np.int64, copy=False)


def enforce_connectivity(
    labels: ArrayLike, *, min_size: int = 20, connectivity: int = 1, start_label: int = 0
) -> Numbers:
    """Give every segment one connected piece of at least ``min_size`` pixels.

    Every piece with fewer pixels is absorbed by the segment beside it with which it shares the
    longest border, counted in pairs of pixels that touch (of equally long ones that of the smaller
    label in the result). A piece that has only small pieces beside it waits until one of them has
    been absorbed. Where no piece is large enough, in a small picture or a part that the mask cuts
    off, those that hang together become one segment.

    The pieces that are left are the segments: of each given one its largest (of equally large ones
    the first in raster order), and every other one as a new segment.

    Parameters
    ----------
    labels : array_like of at least 1 axis, int
        Segment of each pixel. Numbers below ``start_label`` are masked out.
    min_size : int
        Least number of pixels of a piece that is not absorbed. 0 or 1 absorbs nothing and only
        splits, which makes five to ten times as many segments in photographs, about half or more
        of them of one pixel.
    connectivity : int
        Pixels touch that differ by one along at most so many axes: 1 for faces only, up to the
        number of axes for corners too, as in `scipy.ndimage.generate_binary_structure`.
    start_label : int
        Smallest label of a segment.

    Returns
    -------
    ndarray of the shape and type of ``labels``
        Labels without gaps from ``start_label``: first the given segments whose largest piece is
        left, in the order of their labels, then the new ones in raster order of the first pixel of
        the piece that they began as. The mask stays as it is.

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
    numbers, start = _check_labels(labels, start_label)
    reach = _check_connectivity(connectivity, numbers)
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

    image: NDArray[np.signedinteger[Any]]  # piece of each pixel, the number of pieces in the mask
    labels: Labels  # (n_pieces,)
    sizes: Indices  # (n_pieces,) in pixels
    firsts: NDArray[np.intp]  # (n_pieces,) first pixels, in the flat image


def _find_pieces(labels: Labels, connectivity: int, start_label: int) -> _Pieces:
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


def _join_runs(labels: Labels, starts: Flags, connectivity: int) -> Numbers:
    """Return the first run of each run's piece, all that is masked out included."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    index = np.int32 if labels.size < np.iinfo(np.int32).max else np.int64
    runs: Numbers = np.cumsum(starts.ravel(), dtype=index).reshape(labels.shape)
    runs -= 1
    n_runs = int(runs.flat[-1]) + 1
    pairs = [np.empty((2, 0), dtype=index)]
    for here, there in _neighbors(labels.ndim, connectivity):
        if here[:-1] == there[:-1]:
            continue  # along a row equal neighbours are one run
        # Two runs are first beside each other where one of them starts: once is enough.
        touching = (labels[here] == labels[there]) & (starts[here] | starts[there])
        pairs.append(np.stack([runs[here][touching], runs[there][touching]]))
    joined = np.concatenate(pairs, axis=1)
    graph = coo_array((np.ones(joined.shape[1], dtype=bool), tuple(joined)), shape=(n_runs, n_runs))
    n_components, component = connected_components(graph, directed=False)
    first = np.full(n_components, n_runs, dtype=index)
    np.minimum.at(first, component, np.arange(n_runs, dtype=index))
    return first[component]


def _neighbors(ndim: int, connectivity: int) -> list[Views]:
    """Two views for each direction, which lay pixels beside their neighbours, each pair once."""
    steps = product((-1, 0, 1), repeat=ndim)
    forward = [step for step in steps if step > (0,) * ndim]
    return [
        (tuple(_VIEWS[s][0] for s in step), tuple(_VIEWS[s][1] for s in step))
        for step in forward
        if sum(map(abs, step)) <= connectivity
    ]


# Small pieces and what absorbs them


def _find_hosts(pieces: _Pieces, small: Flags, connectivity: int) -> NDArray[np.intp]:
    """Return the piece that absorbs each piece: itself if it stays, -1 where borders decide."""
    hosts = np.arange(small.size)
    if not small.any():
        return hosts
    # Small pieces that hang together are absorbed together, unless they touch several large ones.
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
    """Flag the largest piece of every label, the first of equally large ones."""
    order = np.lexsort((-pieces.sizes, pieces.labels))  # stable, so equal ones stay in raster order
    largest = np.zeros(order.size, dtype=bool)
    largest[order[_changes(pieces.labels[order])]] = True
    return largest


def _number_segments(pieces: _Pieces, hosts: NDArray[np.intp]) -> Indices:
    """Return the segment of each piece, numbered from 0 as in the result; -1 where undecided."""
    stays = hosts == np.arange(hosts.size)
    largest = _find_largest(pieces)
    old, new = np.flatnonzero(stays & largest), np.flatnonzero(stays & ~largest)
    old = old[np.argsort(pieces.labels[old])]
    segments = np.full(hosts.size + 1, -1, dtype=np.int64)  # the last one for a host of -1
    segments[np.append(old, new)] = np.arange(old.size + new.size)
    return segments[hosts]


def _count_borders(
    pieces: _Pieces, waiting: Flags, connectivity: int
) -> "csr_array[np.int64, tuple[int, int]]":
    """Count pairs of pixels that touch, of two pieces of which one waits at least."""
    from scipy.sparse import coo_array

    # Two different pieces add up to 3 or more if one of them waits and neither is masked out.
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
    """Write the segments of waiting pieces, from those beside a segment inwards."""
    sizes = np.diff(borders.indptr)
    front = np.flatnonzero(segments >= 0)
    while front.size:
        # A piece joins in the first round in which a segment is beside it, so whatever it may
        # join was reached in the round before, and every border is looked at once.
        n_beside = sizes[front]
        ends = np.cumsum(n_beside)
        places = np.arange(ends[-1]) + np.repeat(borders.indptr[front + 1] - ends, n_beside)
        piece = borders.indices[places]
        waiting = segments[piece] < 0
        segment = np.repeat(segments[front], n_beside)[waiting]
        front, joined = _longest(piece[waiting], segment, borders.data[places[waiting]])
        segments[front] = joined


def _longest(piece: Numbers, segment: Indices, length: Indices) -> tuple[NDArray[np.intp], Indices]:
    """Return each piece once, with the segment that has most of its border, or the first such."""
    order = np.lexsort((segment, piece))
    piece, segment = piece[order], segment[order]
    starts = _changes(piece, segment)
    piece, segment = piece[starts], segment[starts]
    lengths = np.add.reduceat(length[order], starts)
    order = np.lexsort((-lengths, piece))  # stable, so of equal ones the first segment leads
    best = order[_changes(piece[order])]
    return piece[best].astype(np.intp), segment[best]


def _changes(*arrays: Numbers) -> NDArray[np.intp]:
    """Places in sorted arrays where something new begins."""
    new = np.zeros(arrays[0].size, dtype=bool)
    new[:1] = True
    for array in arrays:
        new[1:] |= array[1:] != array[:-1]
    return np.flatnonzero(new)


def _name_segments(segments: Indices, start_label: int, dtype: np.dtype[Any]) -> Labels:
    """Return labels from the smallest on, in the type of the given ones."""
    if not segments.size:
        return segments.astype(dtype)
    last, room = start_label + int(segments.max()), np.iinfo(dtype)
    if start_label < room.min or last > room.max:
        raise ValueError(
            f"labels is of type {dtype}, which goes from {room.min} to {room.max}; expected room "
            f"for segments from {start_label} to {last}. Use labels.astype(numpy.int64), another "
            f"start_label or a larger min_size."
        )
    names: Labels = segments.astype(dtype)
    names += dtype.type(start_label)  # what wrapped around comes back
    return names


# Colors


def _places(labels: Labels, start_label: int) -> tuple[NDArray[np.intp], int]:
    """Small numbers for the segments of all pixels, 0 for the mask; and how many there are."""
    inside = labels >= start_label
    n_places = int(labels.max()) - start_label + 2
    if n_places <= 2 * labels.size + 1:
        return np.where(inside, labels.astype(np.intp) - (start_label - 1), 0).ravel(), n_places
    places = np.zeros(labels.shape, dtype=np.intp)
    names, places[inside] = np.unique(labels[inside], return_inverse=True)
    places[inside] += 1
    return places.ravel(), names.size + 1


def _rounded(means: Floats, dtype: np.dtype[Any]) -> Numbers:
    """Return means in the type of an image."""
    if dtype.kind == "f":
        return means.astype(dtype)
    top = float(np.iinfo(dtype).max)
    if top > np.iinfo(dtype).max:  # of 64 bits, where the largest is rounded up to one too many
        top = float(np.nextafter(top, 0.0))
    return np.minimum(np.rint(means), top).astype(dtype)


# Checks


def _check_labels(labels: ArrayLike, start_label: Any) -> tuple[Labels, int]:
    """Return a label image as an array of integers, and its smallest label."""
    if hasattr(labels, "labels_at"):
        raise TypeError(
            f"labels is a {type(labels).__name__}, expected whole numbers, one a segment. Pass "
            f"forest.labels_at(tau) or forest.labels_for(n_segments)."
        )
    refuse_lossy(labels, "labels")
    array = np.asarray(labels)
    if array.size == 0 or array.ndim == 0:
        raise ValueError(
            f"labels has shape {array.shape}, expected at least one axis and one pixel. Pass the "
            f"label image that a segmentation returned."
        )
    if array.dtype.kind == "b":
        raise TypeError(
            "labels is of type bool, expected whole numbers, one a segment. Number the parts of a "
            "mask first, with scipy.ndimage.label(labels)[0] and start_label=1."
        )
    if array.dtype.kind not in "iu":
        raise TypeError(
            f"labels is of type {array.dtype}, expected whole numbers, one a segment. If its "
            f"values are whole, use labels.astype(numpy.int64)."
        )
    return array, check_whole(start_label, "start_label")


def _check_connectivity(connectivity: Any, labels: Labels) -> int:
    """Return a whole number from 1 to the number of axes."""
    return check_count(connectivity, "connectivity", labels.ndim, "the number of axes of labels")


def _check_image(
    image: ArrayLike, shape: tuple[int, ...], channel_axis: Any
) -> tuple[Numbers, int | None]:
    """Return an image of that shape, and the axis of its channels if it has one."""
    refuse_lossy(image, "image")
    array = np.asarray(image)
    if array.dtype.kind not in "iuf":
        raise TypeError(
            f"image is of type {array.dtype}, expected integers or real numbers. Use "
            f"image.astype(float) for truth values, and image.real for complex numbers."
        )
    if array.shape == shape:
        return array, None
    axis = None if channel_axis is None else check_whole(channel_axis, "channel_axis")
    if axis is not None and array.ndim == len(shape) + 1 and -array.ndim <= axis < array.ndim:
        axis %= array.ndim
        if array.shape[:axis] + array.shape[axis + 1 :] == shape:
            return array, axis
    raise ValueError(
        f"image has shape {array.shape} with channel_axis={channel_axis!r} and labels has shape "
        f"{shape}, expected the same shape, channels aside. Pass the image that was segmented, and "
        f"the channel_axis that it was segmented with."
    )
