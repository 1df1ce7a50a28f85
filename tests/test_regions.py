"""Label images: mean colors, pieces of segments, and enforced connectivity."""

from collections import Counter
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import ndimage

from quickshift.image.regions import count_pieces, enforce_connectivity, mean_color
from quickshift.image.segmentation import segment_forest

Labels = NDArray[np.int64]
Pixel = tuple[int, ...]

SHAPES = [(1,), (17,), (1, 9), (6, 7), (3, 4, 5), (3, 2, 3, 3)]
CASES = [
    (shape, connectivity, start_label, seed)
    for shape in SHAPES
    for connectivity in range(1, len(shape) + 1)
    for start_label in (0, 1, -3)
    for seed in range(2)
]


def random_labels(shape: tuple[int, ...], start_label: int, seed: int) -> Labels:
    """Draw patches of labels 0, 1, 2 and 5 above the start; even seeds mask some pixels out."""
    rng = np.random.default_rng([seed, *shape])
    labels = start_label + rng.choice([0, 1, 2, 5], size=shape)
    for axis, length in enumerate(shape):
        if length > 2:
            again = rng.random(shape) < 0.3
            labels = np.where(again, np.roll(labels, 1, axis=axis), labels)
    if seed % 2 == 0:
        labels[rng.random(shape) < 0.25] = start_label - 1
    return labels.astype(np.int64)


def structure(labels: Labels, connectivity: int) -> NDArray[np.bool_]:
    return ndimage.generate_binary_structure(labels.ndim, connectivity)


def pieces_slowly(labels: Labels, connectivity: int, start_label: int) -> Iterator[list[Pixel]]:
    """Yield the pixels of each piece of each label, in raster order."""
    for label in np.unique(labels[labels >= start_label]):
        marks, n_pieces = ndimage.label(labels == label, structure(labels, connectivity))
        for mark in range(1, n_pieces + 1):
            yield list(map(tuple, np.argwhere(marks == mark).tolist()))


def count_slowly(labels: Labels, connectivity: int, start_label: int) -> list[int]:
    names = range(start_label, int(labels.max()) + 1)
    return [ndimage.label(labels == name, structure(labels, connectivity))[1] for name in names]


def neighbors_of(pixel: Pixel, connectivity: int) -> Iterator[Pixel]:
    for step in product((-1, 0, 1), repeat=len(pixel)):
        if 1 <= sum(map(abs, step)) <= connectivity:
            yield tuple(x + s for x, s in zip(pixel, step, strict=True))


def islands_slowly(
    small: list[list[Pixel]], settled: set[Pixel], connectivity: int
) -> Iterator[list[list[Pixel]]]:
    """Yield groups of connected small pieces that touch no settled pixel, by flood fill."""
    waiting = list(small)
    while waiting:
        group, touched = [waiting.pop(0)], set()
        for piece in group:
            touched |= {other for pixel in piece for other in neighbors_of(pixel, connectivity)}
            group += [other for other in waiting if touched & set(other)]
            waiting = [other for other in waiting if not touched & set(other)]
        if not touched & settled:
            yield group


def enforce_slowly(labels: Labels, min_size: int, connectivity: int, start_label: int) -> Labels:
    """Do what the docstring of `enforce_connectivity` says, pixel by pixel."""
    result = {tuple(pixel): None for pixel in np.argwhere(labels >= start_label).tolist()}
    pieces = sorted(pieces_slowly(labels, connectivity, start_label))
    largest = {}
    for piece in pieces:
        name = labels[piece[0]]
        if name not in largest or len(piece) > len(largest[name]):
            largest[name] = piece
    small = [piece for piece in pieces if len(piece) < min_size]
    settled = {pixel for piece in pieces if piece not in small for pixel in piece}
    islands = [sorted(group)[0] for group in islands_slowly(small, settled, connectivity)]
    small = [piece for piece in small if piece not in islands]

    left = [piece for piece in pieces if piece not in small]
    old = [largest[name] for name in sorted(largest) if largest[name] in left]
    new = [piece for piece in left if piece not in old]
    for name, piece in enumerate(old + new, start=start_label):
        result |= dict.fromkeys(piece, name)
    while small:
        joined = {}
        for number, piece in enumerate(small):
            border = Counter(
                result[other]
                for pixel in piece
                for other in neighbors_of(pixel, connectivity)
                if result.get(other) is not None
            )
            if border:
                joined[number] = min(border, key=lambda name, of=border: (-of[name], name))
        assert joined, "no segment touches any of the small pieces that are left"
        for number, name in joined.items():
            result |= dict.fromkeys(small[number], name)
        small = [piece for number, piece in enumerate(small) if number not in joined]

    image = labels.copy()
    for pixel, name in result.items():
        image[pixel] = name
    return image


def picture(rows: str) -> Labels:
    """Read a label image drawn by hand; a dot is masked out."""
    return np.array(
        [[-1 if mark == "." else int(mark) for mark in row] for row in rows.split()], dtype=np.int64
    )


# Mean colors


def test_every_pixel_gets_the_mean_of_its_segment() -> None:
    image = [[1.0, 3.0, 10.0], [2.0, 20.0, 30.0]]
    painted = mean_color(image, [[0, 0, 1], [0, 1, 1]])
    np.testing.assert_array_equal(painted, [[2, 2, 20], [2, 20, 20]])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n_channels", [None, 1, 3])
def test_mean_color_equals_means_label_by_label(
    shape: tuple[int, ...], n_channels: int | None
) -> None:
    for seed, start_label in ((0, 0), (1, 1), (2, -3)):
        labels = random_labels(shape, start_label, seed)
        image = np.random.default_rng(seed).random((*shape, n_channels or 1))
        expected = np.zeros_like(image)
        for label in np.unique(labels[labels >= start_label]):
            expected[labels == label] = image[labels == label].mean(axis=0)
        if n_channels is None:
            image, expected = image[..., 0], expected[..., 0]
        painted = mean_color(image, labels, start_label=start_label)
        np.testing.assert_allclose(painted, expected, rtol=1e-13)


def test_channels_may_be_on_any_axis() -> None:
    rng = np.random.default_rng(0)
    image, labels = rng.random((4, 5, 3)), rng.integers(0, 4, (4, 5))
    expected = mean_color(image, labels)
    for axis in range(-3, 3):
        painted = mean_color(np.moveaxis(image, -1, axis), labels, channel_axis=axis)
        np.testing.assert_array_equal(np.moveaxis(painted, axis, -1), expected)


@pytest.mark.parametrize("channel_axis", [-1, 0, 1, 7, None])
def test_gray_images_have_no_channel_axis(channel_axis: int | None) -> None:
    labels = np.array([[0, 0, 1], [1, 1, 1]])
    painted = mean_color(np.arange(6.0).reshape(2, 3), labels, channel_axis=channel_axis)
    np.testing.assert_array_equal(painted, [[0.5, 0.5, 3.5], [3.5, 3.5, 3.5]])


@pytest.mark.parametrize("dtype", ["u1", "u2", "i4", "i8", "u8", "f2", "f4", "f8", ">f4", "g"])
def test_mean_color_keeps_the_type_of_the_image(dtype: str) -> None:
    image = np.array([[1, 2, 100], [1, 3, 101]], dtype=dtype)
    painted = mean_color(image, [[0, 1, 2], [0, 1, 2]])
    assert painted.dtype == np.dtype(dtype)
    expected = [1, 2.5, 100.5] if image.dtype.kind == "f" else [1, 2, 100]  # halves round to even
    np.testing.assert_array_equal(painted, [expected, expected])


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int64, np.uint64, np.float16])
def test_mean_color_stays_in_the_range_of_the_type(dtype: type) -> None:
    info = np.finfo(dtype) if np.dtype(dtype).kind == "f" else np.iinfo(dtype)
    image = np.full((50, 50), info.max, dtype=dtype)
    painted = mean_color(image, np.zeros(image.shape, dtype=int))
    np.testing.assert_allclose(painted.astype(float), float(info.max), rtol=1e-15)
    image[:] = info.min
    np.testing.assert_array_equal(mean_color(image, np.zeros(image.shape, dtype=int)), image)


def test_float32_is_summed_in_double() -> None:
    image = np.full(1_000_000, 0.1, dtype=np.float32)
    np.testing.assert_array_equal(mean_color(image, np.zeros(image.size, dtype=np.uint8)), image)


@pytest.mark.parametrize("outside", [np.nan, np.inf, -np.inf])
def test_the_masked_out_is_painted_black_whatever_it_holds(outside: float) -> None:
    image = np.array([[1.0, outside, 3.0], [-outside, 5.0, outside]])
    labels = np.array([[7, -1, 7], [-1, 8, -2]])
    np.testing.assert_array_equal(mean_color(image, labels), [[2, 0, 2], [0, 5, 0]])


def test_mean_color_of_nothing_but_mask_is_black() -> None:
    image = np.full((2, 3, 3), np.nan)
    painted = mean_color(image, np.zeros((2, 3), dtype=np.uint8), start_label=1)
    np.testing.assert_array_equal(painted, np.zeros((2, 3, 3)))


def test_labels_far_apart_cost_no_memory() -> None:
    labels = np.array([[10**15, 3, -1], [3, 10**15, 10**12]])
    painted = mean_color(np.arange(6.0).reshape(2, 3), labels)
    np.testing.assert_array_equal(painted, [[2, 2, 0], [2, 2, 5]])
    np.testing.assert_array_equal(
        enforce_connectivity(labels, min_size=1),
        [[2, 0, -1], [3, 4, 1]],
    )


def test_mean_color_leaves_its_arguments_alone() -> None:
    image, labels = np.arange(8.0)[::2], np.array([0, 0, 1, 1])
    image.flags.writeable = labels.flags.writeable = False
    painted = mean_color(image, labels)
    assert painted.flags.writeable
    np.testing.assert_array_equal(painted, [1, 1, 5, 5])
    np.testing.assert_array_equal(image, [0, 2, 4, 6])


# Pieces


def test_count_pieces_counts_by_faces_or_by_corners() -> None:
    labels = picture("""
        0011
        1100
        1133
    """)
    np.testing.assert_array_equal(count_pieces(labels), [2, 2, 0, 1])
    np.testing.assert_array_equal(count_pieces(labels, connectivity=2), [1, 1, 0, 1])


def test_rows_and_planes_do_not_touch_at_their_ends() -> None:
    labels = np.array([[[1, 1, 0], [0, 1, 1]], [[1, 1, 0], [0, 1, 1]]])
    np.testing.assert_array_equal(count_pieces(labels), [2, 1])
    assert count_pieces(np.eye(9, dtype=int))[1] == 9


@pytest.mark.parametrize(("shape", "connectivity", "start_label", "seed"), CASES)
def test_count_pieces_equals_labelling_one_segment_at_a_time(
    shape: tuple[int, ...], connectivity: int, start_label: int, seed: int
) -> None:
    labels = random_labels(shape, start_label, seed)
    counts = count_pieces(labels, connectivity=connectivity, start_label=start_label)
    assert counts.dtype == np.int64
    assert counts.tolist() == count_slowly(labels, connectivity, start_label)


def test_many_segments_are_counted_at_once() -> None:
    rng = np.random.default_rng(0)
    rows, columns = np.indices((60, 80)) // 5
    labels = rows * 16 + columns
    strayed = rng.random(labels.shape) < 0.1
    labels[strayed] = rng.permutation(labels[strayed])
    assert count_pieces(labels).tolist() == count_slowly(labels, 1, 0)


def test_the_mask_has_no_pieces() -> None:
    labels = picture("0.0 ... 1.1")
    np.testing.assert_array_equal(count_pieces(labels), [2, 2])
    assert count_pieces(np.full((3, 3), -1)).shape == (0,)
    np.testing.assert_array_equal(count_pieces([[0, 1], [1, 0]], start_label=1), [2])


# Enforced connectivity


def test_large_pieces_become_segments_in_raster_order_and_small_ones_are_absorbed() -> None:
    labels = picture("""
        1100011
        1100011
        1110111
        0000000
        0210011
    """)
    # In the last row, the single 1 touches 0 twice and 2 once, and the 2 touches 0 twice. The pair
    # 11 in the corner is as large as min_size, so it becomes a segment.
    np.testing.assert_array_equal(
        enforce_connectivity(labels, min_size=2),
        picture("""
        1100022
        1100022
        1110222
        0000000
        0000033
        """),
    )


def test_only_splitting_absorbs_nothing() -> None:
    labels = picture("010 101")
    for min_size in (0, 1):
        split = enforce_connectivity(labels, min_size=min_size)
        np.testing.assert_array_equal(split, picture("012 345"))


def test_by_default_pieces_of_twenty_pixels_are_segments() -> None:
    labels = np.repeat([0, 1, 0, 1, 2, 3], [50, 30, 20, 19, 20, 19])
    np.testing.assert_array_equal(
        enforce_connectivity(labels), np.repeat([0, 1, 3, 2, 2, 2], [50, 30, 20, 19, 20, 19])
    )


def test_small_segments_in_one_piece_are_absorbed() -> None:
    labels = picture("""
        000000
        012000
        033333
        444553
    """)
    np.testing.assert_array_equal(
        enforce_connectivity(labels, min_size=3),
        picture("""
        000000
        000000
        011111
        222111
        """),
    )
    np.testing.assert_array_equal(enforce_connectivity(labels, min_size=0), labels)


def test_segments_keep_their_numbers_if_none_is_absorbed() -> None:
    labels = picture("2200 2200 1122 1133")
    np.testing.assert_array_equal(
        enforce_connectivity(labels, min_size=2), picture("2200 2200 1144 1133")
    )
    joined = picture("2200 2200 1111 1111")
    np.testing.assert_array_equal(enforce_connectivity(joined, min_size=4), joined)
    np.testing.assert_array_equal(
        enforce_connectivity(joined + 1, min_size=4, start_label=1), joined + 1
    )


def test_gaps_between_labels_are_closed() -> None:
    labels = np.array([9, 9, 4, 4, 9, 9, 9, 7, 4])
    found = enforce_connectivity(labels, min_size=2)
    np.testing.assert_array_equal(found, [2, 2, 0, 0, 1, 1, 1, 1, 1])
    found = enforce_connectivity(labels, min_size=2, start_label=-5)
    np.testing.assert_array_equal(found, [-3, -3, -5, -5, -4, -4, -4, -4, -4])


def test_segment_whose_largest_piece_is_absorbed_does_not_stay() -> None:
    labels = picture("0010 0000 2220")
    np.testing.assert_array_equal(
        enforce_connectivity(labels, min_size=3), picture("0000 0000 1110")
    )


def test_of_equally_large_pieces_the_first_stays() -> None:
    np.testing.assert_array_equal(
        enforce_connectivity([0, 0, 1, 1, 1, 0, 0], min_size=2), [0, 0, 1, 1, 1, 2, 2]
    )


def test_of_equally_long_borders_the_smaller_label_wins() -> None:
    np.testing.assert_array_equal(
        enforce_connectivity([5, 5, 5, 3, 3, 5, 2, 2, 4], min_size=2), [2, 2, 2, 1, 1, 0, 0, 0, 0]
    )
    # New segments are numbered after the existing ones.
    np.testing.assert_array_equal(
        enforce_connectivity([0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 2, 2], min_size=2),
        [0, 0, 0, 0, 1, 1, 1, 3, 3, 2, 2, 2],
    )


def test_borders_are_counted_under_the_connectivity_of_the_pieces() -> None:
    labels = picture("""
        11112
        11122
        11022
        12222
        22222
    """)
    # The 0 is absorbed, and segments 1 and 2 become 0 and 1. It shares two faces with each of them,
    # but one corner with the former and three with the latter.
    assert enforce_connectivity(labels, min_size=2, connectivity=1)[2, 2] == 0
    assert enforce_connectivity(labels, min_size=2, connectivity=2)[2, 2] == 1


def test_pieces_behind_small_pieces_wait_for_them() -> None:
    labels = np.array([3, 3, 3, 4, 4, 4, 3, 4, 5, 6, 3, 4])
    joined = [0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1]
    np.testing.assert_array_equal(enforce_connectivity(labels, min_size=2), joined)
    # From both ends, the segments absorb one small piece after the other at the same pace.
    labels = np.array([3, 3, 0, 1, 2, 3, 4, 5, 6, 6])
    joined = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    np.testing.assert_array_equal(enforce_connectivity(labels, min_size=2), joined)


def test_small_pieces_that_the_mask_cuts_off_become_one_segment() -> None:
    labels = picture("""
        000.10.
        111....
        222..3.
    """)
    # The 1 in the first row is the first piece of its island, and it is not the largest piece of
    # its segment, so the island becomes a new segment.
    np.testing.assert_array_equal(
        enforce_connectivity(labels, min_size=3),
        picture("""
        000.44.
        111....
        222..3.
        """),
    )


def test_where_no_piece_is_large_enough_all_become_one_segment() -> None:
    labels = np.random.default_rng(0).integers(0, 9, (30, 30))
    found = enforce_connectivity(labels, min_size=labels.size)
    np.testing.assert_array_equal(found, np.zeros((30, 30)))


def test_the_mask_stays_as_it_is() -> None:
    labels = np.array([[2, -1, 2], [-4, 1, -1]])
    np.testing.assert_array_equal(enforce_connectivity(labels), [[1, -1, 2], [-4, 0, -1]])
    np.testing.assert_array_equal(enforce_connectivity([[-1, -1]]), [[-1, -1]])
    outside = np.array([[3, 7]], dtype=np.uint8)
    np.testing.assert_array_equal(enforce_connectivity(outside, start_label=300), outside)


@pytest.mark.parametrize(("shape", "connectivity", "start_label", "seed"), CASES)
def test_enforce_connectivity_equals_its_description_pixel_by_pixel(
    shape: tuple[int, ...], connectivity: int, start_label: int, seed: int
) -> None:
    labels = random_labels(shape, start_label, seed)
    for min_size in (0, 2, 3, 5, 100):
        found = enforce_connectivity(
            labels, min_size=min_size, connectivity=connectivity, start_label=start_label
        )
        expected = enforce_slowly(labels, min_size, connectivity, start_label)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("connectivity", [1, 2])
@pytest.mark.parametrize("n_labels", [2, 3, 40])
def test_every_segment_becomes_connected(connectivity: int, n_labels: int) -> None:
    rng = np.random.default_rng(n_labels)
    labels = rng.integers(-1, n_labels, (40, 50))
    for min_size in (0, 2, 5, 20, 10_000):
        found = enforce_connectivity(labels, min_size=min_size, connectivity=connectivity)
        assert set(count_slowly(found, connectivity, 0)) == {1}  # 0 would be a gap in the numbering
        np.testing.assert_array_equal(found < 0, labels < 0)
        # Segments below min_size remain only where the mask separates them from all others.
        for name in np.flatnonzero(np.bincount(found[found >= 0]) < min_size):
            around = ndimage.binary_dilation(found == name, structure(found, connectivity))
            assert set(found[around]) <= {name, -1}
        again = enforce_connectivity(found, min_size=min_size, connectivity=connectivity)
        np.testing.assert_array_equal(again, found)


def test_single_pixels_go_to_the_nearest_segment() -> None:
    labels = np.arange(60_000).reshape(200, 300)
    np.testing.assert_array_equal(enforce_connectivity(labels), np.zeros(labels.shape))
    labels[:5, :5], labels[-5:, -5:] = 0, 59_999
    row, column = np.indices(labels.shape)
    left = np.maximum(row - 4, 0) + np.maximum(column - 4, 0)
    right = np.maximum(195 - row, 0) + np.maximum(295 - column, 0)
    found, tie = enforce_connectivity(labels), left == right
    np.testing.assert_array_equal(found[~tie], (right < left)[~tie])


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i4", "u4", "i8", "u8", ">i4"])
def test_enforce_connectivity_keeps_the_type_of_the_labels(dtype: str) -> None:
    labels = np.array([[1, 2, 1], [2, 1, 0]], dtype=dtype)
    found = enforce_connectivity(labels, min_size=0, start_label=1)
    assert found.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(found, [[1, 2, 3], [4, 5, 0]])


def test_enforce_connectivity_leaves_its_argument_alone() -> None:
    labels = np.asfortranarray(np.random.default_rng(0).integers(0, 3, (8, 9)))[::2]
    before = labels.copy()
    labels.flags.writeable = False
    found = enforce_connectivity(labels)
    assert found.flags.writeable
    np.testing.assert_array_equal(labels, before)
    np.testing.assert_array_equal(found, enforce_connectivity(before))
    connected = np.zeros((2, 2), dtype=int)
    assert not np.shares_memory(enforce_connectivity(connected), connected)


# Arguments that are refused


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        (np.zeros((2, 2), dtype=bool), TypeError, r"bool, expected whole .*ndimage\.label"),
        (np.zeros((2, 2)), TypeError, r"float64, expected whole numbers.*astype"),
        (np.array(["a"]), TypeError, "labels is of type <U1, expected whole numbers"),
        (3, ValueError, r"labels has shape \(\), expected at least one axis"),
        ([], ValueError, r"labels has shape \(0,\), expected .* one pixel"),
        (np.zeros((0, 4), dtype=int), ValueError, r"labels has shape \(0, 4\)"),
        (np.ma.masked_array([1, 2], mask=[0, 1]), ValueError, "labels has 1 masked entries"),
    ],
)
def test_labels_must_be_whole_numbers(labels: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        count_pieces(labels)
    with pytest.raises(error, match=message):
        enforce_connectivity(labels)
    with pytest.raises(error, match=message):
        mean_color(np.zeros(np.shape(labels)), labels)


@pytest.mark.parametrize("function", [count_pieces, enforce_connectivity])
def test_connectivity_is_at_most_the_number_of_axes(function) -> None:
    for connectivity in (0, 3, -1):
        with pytest.raises(ValueError, match="expected a whole number from 1 to 2, the number of"):
            function([[0, 1]], connectivity=connectivity)
    for connectivity in (1.0, True, None):
        with pytest.raises(TypeError, match=r"connectivity is .*, expected a whole number"):
            function([[0, 1]], connectivity=connectivity)


def test_min_size_and_start_label_are_whole_numbers() -> None:
    with pytest.raises(ValueError, match="min_size is -1, expected a whole number of at least 0"):
        enforce_connectivity([0], min_size=-1)
    for wrong in (2.0, True, None, "2"):
        with pytest.raises(TypeError, match=r"min_size is .*, expected a whole number of at least"):
            enforce_connectivity([0], min_size=wrong)
        with pytest.raises(TypeError, match=r"start_label is .*, expected a whole number"):
            count_pieces([0], start_label=wrong)


def test_labels_that_do_not_fit_are_refused() -> None:
    labels = (np.arange(257) % 2).astype(np.uint8)
    message = (
        r"uint8, which ranges from 0 to 255; .* from 0 to 256\. Use labels\.astype\(numpy.int64\)"
    )
    with pytest.raises(ValueError, match=message):
        enforce_connectivity(labels, min_size=0)
    with pytest.raises(
        ValueError, match=r"expected a type that holds labels from -1 to 1\. .* start_label"
    ):
        enforce_connectivity(labels[:3], min_size=0, start_label=-1)
    np.testing.assert_array_equal(enforce_connectivity(labels[:256], min_size=0), np.arange(256))
    signed = (np.arange(256) % 2 - 128).astype(np.int8)
    found = enforce_connectivity(signed, min_size=0, start_label=-128)
    np.testing.assert_array_equal(found, np.arange(-128, 128))


def test_forest_has_to_be_cut_first() -> None:
    forest = segment_forest(np.zeros((4, 5)))
    message = r"labels is a SegmentForest, .* forest\.labels_at\(tau\) or forest\.labels_for\("
    with pytest.raises(TypeError, match=message):
        count_pieces(forest)
    with pytest.raises(TypeError, match=message):
        enforce_connectivity(forest)
    with pytest.raises(TypeError, match=message):
        mean_color(np.zeros((4, 5)), forest)


@pytest.mark.parametrize(
    ("shape", "channel_axis"),
    [((4, 6), -1), ((4, 6, 3), -1), ((4, 5, 3), 0), ((4, 5, 3), 3), ((4, 5, 3), None), ((20,), -1)],
)
def test_image_must_have_the_shape_of_the_labels(shape: Pixel, channel_axis: int | None) -> None:
    message = r"image has shape \(.*\) with channel_axis=.* and labels has shape \(4, 5\), expected"
    with pytest.raises(ValueError, match=message):
        mean_color(np.zeros(shape), np.zeros((4, 5), dtype=int), channel_axis=channel_axis)


@pytest.mark.parametrize("dtype", [bool, complex, object, "U1"])
def test_image_must_hold_real_numbers(dtype: object) -> None:
    with pytest.raises(TypeError, match=r"image is of type .*, expected integers or real numbers"):
        mean_color(np.zeros((2, 2), dtype=dtype), [[0, 1], [0, 1]])


def test_channel_axis_is_a_whole_number() -> None:
    with pytest.raises(TypeError, match=r"channel_axis is 1\.0, expected a whole number"):
        mean_color(np.zeros((2, 2, 3)), [[0, 1], [0, 1]], channel_axis=1.0)
