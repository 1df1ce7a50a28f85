"""Segments of pictures: densities, parents, cuts, boundaries, corner cases and errors."""

import math
import pickle
import re
import threading
from itertools import groupby, pairwise

import numpy as np
import pytest

import quickshift as qs
from instruction_sets import SETS
from pictures import KINDS, boundaries, picture, points_of, sums_over_boxes
from quickshift import _core, stages
from quickshift.image.graph import climb_pixels, sum_kernels
from quickshift.image.pixels import read_image

SHAPES = [(30,), (1, 40), (40, 1), (17, 23), (33, 41), (7, 8, 9), (3, 4, 5, 6)]


def forest_of(image, **settings):
    """Segment without conversion to Lab; the last axis holds the channels."""
    if image.ndim == 2:  # one spatial axis and one of a single channel
        return qs.segment_forest(image[:, 0], convert2lab=False, channel_axis=None, **settings)
    return qs.segment_forest(image, convert2lab=False, **settings)


def masks(shape, seed=0):
    rng = np.random.default_rng(seed)
    some = rng.random(shape) < 0.6
    some.flat[0] = True
    return [None, some]


def climbed(image, forest, spacing, inside):
    """Climb the points inside the mask; also return the pixel of each point."""
    points = points_of(image.astype(float), spacing)[inside]
    graph = stages.climb(points, forest.density.ravel()[inside])
    return graph, np.flatnonzero(inside)


# Densities


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_density_sums_over_a_box(kind, shape):
    for n_channels, mask in [(1, None), (3, None), (2, masks(shape)[1])]:
        if len(shape) == 1 and n_channels > 1:
            continue
        image = picture(kind, shape, n_channels)
        for spacing, bandwidth, window in [(1.0, 1.3, 3.0), (0.7, 2.0, 1.0)]:
            forest = forest_of(
                image, bandwidth=bandwidth, window=window, mask=mask, spacing=spacing
            )
            reach = math.ceil(window * bandwidth / spacing)
            expected = sums_over_boxes(image, bandwidth, reach, spacing, mask)
            np.testing.assert_allclose(forest.density, expected, rtol=2e-13)


@pytest.mark.parametrize("shape", [(25, 30), (9, 8, 10)])
def test_without_a_window_densities_are_within_rtol(shape):
    image = picture("noise", shape, 2)
    for spacing in (1.0, 0.3):
        density = forest_of(image, bandwidth=1.1, window=None, spacing=spacing).density
        expected = sums_over_boxes(image, 1.1, np.inf, spacing)
        np.testing.assert_allclose(density, expected, rtol=1e-9)


@pytest.mark.parametrize("each", SETS)
def test_instruction_sets_agree(each, use_set):
    image = picture("noise", (40, 150), 3)
    expected = forest_of(image, bandwidth=2.0)
    use_set(each)
    forest = forest_of(image, bandwidth=2.0)
    np.testing.assert_allclose(forest.density, expected.density, rtol=1e-13)
    np.testing.assert_array_equal(forest.parent, expected.parent)
    np.testing.assert_array_equal(forest.parent_distance, expected.parent_distance)


def test_bits_do_not_depend_on_threads_or_memory():
    image = picture("noise", (200, 300), 3).astype(np.float32)
    expected = forest_of(image, n_jobs=1)
    for other in (
        forest_of(image, n_jobs=3),
        forest_of(np.asfortranarray(image)),
        forest_of(image[:, ::-1][:, ::-1]),
        forest_of(image.astype(float)),
    ):
        np.testing.assert_array_equal(other.density, expected.density)
        np.testing.assert_array_equal(other.parent, expected.parent)


def test_density_of_a_pixel_depends_on_its_window_alone():
    image = picture("noise", (150, 310), 3)
    whole = forest_of(image, bandwidth=2.0).density
    for rows, columns in [(slice(3, 90), slice(1, 300)), (slice(60, 150), slice(101, 200))]:
        part = forest_of(image[rows, columns], bandwidth=2.0).density
        np.testing.assert_array_equal(part[6:-6, 6:-6], whole[rows, columns][6:-6, 6:-6])


# Parents and cuts


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [*SHAPES, (90, 70)])
def test_parents_equal_climb(kind, shape):
    n_channels = 1 if len(shape) == 1 else 3
    image = picture(kind, shape, n_channels)
    for mask in masks(shape):
        inside = np.ones(math.prod(shape), bool) if mask is None else mask.ravel()
        for spacing in (1.0, 0.3, tuple(np.linspace(0.7, 3.0, len(shape)))):
            forest = forest_of(image, bandwidth=1.5, mask=mask, spacing=spacing)
            graph, pixels = climbed(image, forest, spacing, inside)
            np.testing.assert_array_equal(forest.parent.ravel()[inside], pixels[graph.parent])
            np.testing.assert_array_equal(forest.parent_distance.ravel()[inside], graph.distance)
            assert np.isnan(forest.parent_distance.ravel()[~inside]).all()
            for tau in (1.0, 2.5, 6.0):
                labels = forest.labels_at(tau).ravel()
                np.testing.assert_array_equal(labels[inside], stages.cut(graph, tau).labels)
                assert (labels[~inside] == -1).all()
            for count in (1, 2, inside.sum() // 2, inside.sum()):
                labels = forest.labels_for(int(count)).ravel()
                expected = stages.cut_into(graph, int(count)).labels
                np.testing.assert_array_equal(labels[inside], expected)


@pytest.mark.parametrize("kind", ["noise", "steps"])
@pytest.mark.parametrize("shape", [(6000,), (100, 90), (12, 30, 31), (5, 6, 18, 19)])
def test_parents_beyond_the_surroundings_equal_climb(kind, shape):
    """Colors differ so much that parents are out of reach of the search pixel by pixel."""
    image = 20.0 * picture(kind, shape, 1)
    for mask in masks(shape):
        inside = np.ones(math.prod(shape), bool) if mask is None else mask.ravel()
        forest = forest_of(image, bandwidth=1.0, mask=mask)
        graph, pixels = climbed(image, forest, 1.0, inside)
        np.testing.assert_array_equal(forest.parent.ravel()[inside], pixels[graph.parent])
        np.testing.assert_array_equal(forest.parent_distance.ravel()[inside], graph.distance)


@pytest.mark.parametrize("visits", [0, 300, 1_000_000], ids=["tree", "either", "blocks"])
@pytest.mark.parametrize("tau", [60.0, math.inf])
@pytest.mark.parametrize("masked", [False, True])
def test_parents_by_blocks_and_by_the_tree_equal_climb(masked, tau, visits):
    """The search by blocks, the search by the tree, and the switch from one to the other.

    Colors differ by more than the size of the picture, so blocks can exclude nothing.
    """
    image = 100.0 * np.random.default_rng(0).random((60, 65, 3))
    mask = masks((60, 65))[masked]
    inside = np.ones(60 * 65, bool) if mask is None else mask.ravel()
    forest = forest_of(image, bandwidth=2.0, mask=mask, max_tau=tau)
    parent, distance = _core.pixel_parents(
        image.reshape(-1, 3),
        np.array([60, 65]),
        np.ones(2),
        np.zeros(2, int),
        None if mask is None else inside,
        forest.density.ravel(),
        36,
        tau,
        visits=visits,
    )
    graph, pixels = climbed(image, forest, 1.0, inside)
    kept = graph.distance <= tau
    np.testing.assert_array_equal(parent[inside], np.where(kept, pixels[graph.parent], pixels))
    np.testing.assert_array_equal(distance[inside], np.where(kept, graph.distance, np.inf))
    assert np.isnan(distance[~inside]).all()
    np.testing.assert_array_equal(forest.parent.ravel()[inside], parent[inside])


def test_density_of_colors_far_from_zero():
    """Differences of integer colors are exact, so an offset does not change the density."""
    image = np.random.default_rng(0).integers(0, 9, (20, 30, 1)).astype(float)
    expected = forest_of(image, bandwidth=3.0).density
    for offset in (65536.0, 1e8):
        density = forest_of(image + offset, bandwidth=3.0).density
        np.testing.assert_array_equal(density, expected)


@pytest.mark.parametrize("tau", [0.0, 1.0, math.sqrt(2.0), 3.7, 15.0, 40.0])
def test_search_within_tau_finds_what_the_cut_keeps(tau):
    image = picture("steps", (60, 80), 2)
    full = forest_of(image, bandwidth=1.0)
    near = forest_of(image, bandwidth=1.0, max_tau=tau)
    kept = full.parent_distance <= tau
    np.testing.assert_array_equal(near.parent[kept], full.parent[kept])
    np.testing.assert_array_equal(near.parent_distance[kept], full.parent_distance[kept])
    assert np.isinf(near.parent_distance[~kept]).all()
    np.testing.assert_array_equal(near.labels_at(tau), full.labels_at(tau))


def test_densities_that_are_given_are_climbed():
    pixels = read_image(picture("noise", (20, 30), 1), convert2lab=False)
    density = np.round(np.random.default_rng(0).random(600), 1)
    graph = climb_pixels(pixels, density)
    expected = stages.climb(points_of(picture("noise", (20, 30), 1)), density)
    np.testing.assert_array_equal(graph.parent, expected.parent)
    np.testing.assert_array_equal(graph.distance, expected.distance)


def test_segment_is_the_cut_of_its_forest():
    image = np.random.default_rng(0).random((50, 60, 3))
    forest = qs.segment_forest(image)
    np.testing.assert_array_equal(qs.segment(image), forest.labels_at(10.0))
    np.testing.assert_array_equal(qs.segment(image, tau=4.0), forest.labels_at(4.0))
    np.testing.assert_array_equal(qs.segment(image, n_segments=7), forest.labels_for(7))
    assert np.unique(qs.segment(image, n_segments=7)).tolist() == list(range(7))


@pytest.mark.parametrize("tau", [20.0, 0, math.inf, None, [10.0, 20.0]], ids=repr)
def test_number_of_segments_together_with_a_tau_is_refused(tau):
    message = re.escape(f"n_segments is 3 and tau is {tau!r}, expected at most one of them")
    with pytest.raises(ValueError, match=rf"{message}.* Leave one of them out"):
        qs.segment(np.zeros((5, 6)), tau=tau, n_segments=3)


def test_number_of_segments_together_with_the_default_tau_is_accepted():
    # The default cannot be told from the same number given by the user.
    image = np.random.default_rng(0).random((5, 6))
    expected = qs.segment(image, n_segments=3)
    for tau in (10, 10.0, np.float32(10.0)):
        np.testing.assert_array_equal(qs.segment(image, tau=tau, n_segments=3), expected)


def test_labels_fall_with_the_density_of_modes():
    image = np.random.default_rng(0).random((40, 40))
    forest = qs.segment_forest(image, bandwidth=2.0)
    labels = forest.labels_at(4.0)
    modes = [forest.density[labels == label].max() for label in range(labels.max() + 1)]
    assert (np.diff(modes) <= 0).all()
    assert labels.dtype == np.int64


def test_start_label():
    image = np.random.default_rng(0).random((20, 20))
    mask = np.ones((20, 20), bool)
    mask[:5] = False
    labels = qs.segment(image, mask=mask)
    assert labels[:5].max() == -1 == labels.min()
    for start in (1, -7, np.int16(300)):
        np.testing.assert_array_equal(
            qs.segment(image, mask=mask, start_label=start), labels + start
        )


def test_forest_can_be_pickled():
    forest = qs.segment_forest(np.random.default_rng(0).random((9, 9)))
    again = pickle.loads(pickle.dumps(forest))
    assert again == forest
    np.testing.assert_array_equal(again.labels_for(3), forest.labels_for(3))


# Boundaries


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(30,), (1, 1), (1, 9), (19, 23), (5, 6, 7)])
def test_boundary_strength_is_where_labels_differ(kind, shape):
    image = picture(kind, shape, 1)
    for mask in masks(shape):
        forest = forest_of(image, bandwidth=1.2, mask=mask)
        strength = qs.boundary_strength(forest)
        inside = ~np.isnan(forest.density)
        np.testing.assert_array_equal(np.isnan(strength), ~inside)
        lengths = np.sort(forest.parent_distance[np.isfinite(forest.parent_distance)])
        for tau in (0.0, 1.0, *lengths[:: max(1, lengths.size // 5)], *lengths[-2:]):
            on_border = boundaries(forest.labels_at(tau))
            np.testing.assert_array_equal(strength[inside] > tau, on_border[inside])


def test_boundary_that_max_tau_leaves_is_infinite():
    image = np.zeros((4, 8))
    image[:, 4:] = 1.0
    strength = qs.boundary_strength(qs.segment_forest(image, max_tau=20.0))
    assert np.isinf(strength[:, 3:5]).all()
    assert np.isfinite(strength[:, [0, 1, 2, 5, 6, 7]]).all()


def test_boundary_strength_wants_a_forest():
    with pytest.raises(TypeError, match="forest is of type ndarray, expected a SegmentForest"):
        qs.boundary_strength(np.zeros((3, 3)))


# Pictures whose segments are known


@pytest.mark.parametrize("shape", [(1, 1), (1, 17), (17, 1), (64, 64), (200, 301), (9, 9, 9)])
@pytest.mark.parametrize("settings", [{}, {"tau": 1.0}, {"window": None}, {"bandwidth": 0.5}])
def test_constant_picture_is_one_segment(shape, settings):
    assert (qs.segment(np.full(shape, 0.3), channel_axis=None, **settings) == 0).all()


@pytest.mark.parametrize("tau", [1.0, 5.0, 40.0, 90.0])
def test_two_tones_are_two_segments(tau):
    image = np.zeros((40, 60, 3))
    image[:, 25:] = 1.0
    labels = qs.segment(image, tau=tau)
    assert labels.max() == 1
    np.testing.assert_array_equal(labels, labels[:1].repeat(40, axis=0))
    assert set(labels[0, :25]) == {1}  # the smaller half has the lower mode
    assert set(labels[0, 25:]) == {0}


def test_gray_is_the_same_picture_as_its_rgb():
    gray = np.random.default_rng(0).integers(0, 256, (40, 50), dtype=np.uint8)
    rgb = np.repeat(gray[..., np.newaxis], 3, axis=2)
    np.testing.assert_array_equal(qs.segment(gray), qs.segment(rgb))
    np.testing.assert_array_equal(qs.segment(gray), qs.segment(gray[..., np.newaxis]))


def test_types_hold_the_same_picture():
    image = np.random.default_rng(0).integers(0, 256, (30, 40, 3), dtype=np.uint8)
    expected = qs.segment(image)
    np.testing.assert_array_equal(qs.segment(image / 255.0), expected)
    np.testing.assert_array_equal(qs.segment(image.astype(np.uint16) * 257), expected)
    np.testing.assert_array_equal(qs.segment(np.moveaxis(image, -1, 0), channel_axis=0), expected)


def test_outside_of_a_mask_is_never_read():
    rng = np.random.default_rng(0)
    image = rng.random((70, 90, 3))
    mask = rng.random((70, 90)) < 0.7
    expected = qs.segment_forest(image, mask=mask, sigma=1.0)
    for other in (np.nan, np.inf, 0.0, 1e300):
        forest = qs.segment_forest(
            np.where(mask[..., np.newaxis], image, other), mask=mask, sigma=1.0
        )
        np.testing.assert_array_equal(forest.density, expected.density)
        np.testing.assert_array_equal(forest.parent, expected.parent)


def test_spacing_scales_like_bandwidth_and_tau():
    image = np.random.default_rng(0).random((30, 40))
    labels = qs.segment(image)
    scaled = qs.segment(image, spacing=2.0, ratio=2.0, bandwidth=10.0, tau=20.0)
    np.testing.assert_array_equal(scaled, labels)


def test_the_callers_array_is_not_written():
    image = np.random.default_rng(0).random((20, 30))
    before = image.copy()
    image.flags.writeable = False
    qs.segment(image, convert2lab=False)
    np.testing.assert_array_equal(image, before)


# Progress


class Reports(list):
    """A ``progress`` callback that records its calls and the threads that made them."""

    def __init__(self):
        super().__init__()
        self.threads = set()

    def __call__(self, stage, done):
        self.append((stage, done))
        self.threads.add(threading.get_ident())

    @property
    def stages(self):
        return [stage for stage, _ in groupby(self, key=lambda call: call[0])]


class EnoughError(Exception):
    pass


STAGES = ["estimate_density", "climb", "cut"]


@pytest.mark.parametrize(
    ("function", "settings", "names"),
    [
        (qs.segment, {}, STAGES),
        (qs.segment, {"n_segments": 5}, STAGES),
        (qs.segment_forest, {}, STAGES[:2]),
    ],
    ids=["tau", "n_segments", "forest"],
)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_stage_reports_up_to_one_in_the_calling_thread(function, settings, names, n_jobs):
    reports = Reports()
    image = np.random.default_rng(0).random((60, 70, 3))
    function(image, n_jobs=n_jobs, progress=reports, **settings)
    assert reports.stages == names
    for stage in names:
        parts = [done for name, done in reports if name == stage]
        assert parts[-1] == 1.0
        assert all(0.0 <= part <= 1.0 for part in parts)
        assert all(a <= b for a, b in pairwise(parts))
    assert reports.threads == {threading.get_ident()}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_long_density_reports_several_times(n_jobs):
    reports = Reports()
    image = np.random.default_rng(0).random((700, 700, 3))
    qs.segment_forest(image, bandwidth=20.0, max_tau=1.0, n_jobs=n_jobs, progress=reports)
    parts = [done for stage, done in reports if stage == "estimate_density"]
    assert len(parts) >= 3
    assert len(set(parts)) >= 2


def test_progress_changes_no_result():
    image = np.random.default_rng(0).random((40, 50, 3))
    np.testing.assert_array_equal(qs.segment(image, progress=Reports()), qs.segment(image))


@pytest.mark.parametrize("stage", STAGES)
def test_exception_in_progress_stops_the_computation(stage):
    reports = Reports()

    def progress(name, done):
        reports(name, done)
        if name == stage:
            raise EnoughError

    with pytest.raises(EnoughError):
        qs.segment(np.random.default_rng(0).random((40, 50, 3)), progress=progress)
    assert reports.stages[-1] == stage


def test_progress_must_be_callable():
    with pytest.raises(TypeError, match=r"progress is True, expected a callable"):
        qs.segment(np.zeros((5, 6)), progress=True)


# Errors


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bandwidth": 0.0}, "bandwidth is 0.0, expected a length from 1e-100 to 1e100"),
        ({"bandwidth": 1e200}, "bandwidth is 1e\\+200, expected a length from 1e-100 to 1e100"),
        ({"bandwidth": -1.0}, "bandwidth is -1.0"),
        ({"bandwidth": math.nan}, "bandwidth is NaN"),
        ({"window": 0.0}, "window is 0.0, expected a positive number of bandwidths, or None"),
        ({"window": math.inf}, "window is inf, expected a positive number"),
        ({"window": -2}, "window is -2, expected"),
        ({"tau": -1.0}, "tau is -1.0, expected a length of at least 0"),
        ({"tau": math.nan}, "tau is NaN"),
        ({"n_segments": 0}, "n_segments is 0, expected a whole number from 1 to 30"),
        ({"n_segments": 31}, "n_segments is 31, expected a whole number from 1 to 30, the number"),
        ({"channel_axis": 5}, "channel_axis is 5, expected"),
        ({"mask": np.zeros((5, 6), bool)}, "mask is False everywhere"),
        (
            {"start_label": (1 << 62) + 1},
            "start_label is 4611686018427387905, expected at most 2\\*\\*62",
        ),
    ],
)
def test_values_out_of_range(settings, message):
    with pytest.raises(ValueError, match=message):
        qs.segment(np.zeros((5, 6, 3)), **settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bandwidth": "5"}, "bandwidth is '5'"),
        ({"window": True}, "window is True"),
        ({"tau": None}, "tau is None"),
        ({"n_segments": 2.0}, "n_segments is 2.0, expected a whole number"),
        ({"start_label": 0.5}, "start_label is 0.5, expected a whole number"),
        ({"start_label": False}, "start_label is False, expected a whole number"),
    ],
)
def test_values_of_other_types(settings, message):
    with pytest.raises(TypeError, match=message):
        qs.segment(np.zeros((5, 6, 3)), **settings)


def test_pictures_that_are_none():
    with pytest.raises(TypeError, match=r"image is complex \(complex128\), expected real"):
        qs.segment(np.zeros((4, 4), complex))
    with pytest.raises(ValueError, match="shape \\(0, 4\\), expected at least one pixel"):
        qs.segment(np.zeros((0, 4)))
    image = np.zeros((4, 4))
    image[2, 1] = np.nan
    with pytest.raises(ValueError, match="NaN or infinity in 1 of 16 pixels, the first at \\(2, 1"):
        qs.segment(image)
    with pytest.raises(ValueError, match=r"int64 with values up to 255.*astype\(numpy.uint8\)"):
        qs.segment(np.array([[0, 128, 255]]))
    with pytest.raises(ValueError, match=r"uint32 with values up to 4000.*numpy.uint16"):
        qs.segment(np.array([[0, 4000]], dtype=np.uint32))


def test_numbers_of_axes():
    assert qs.segment(np.zeros((2,) * 8), channel_axis=None, bandwidth=1.0).max() == 0
    with pytest.raises(
        ValueError, match="image has 9 axes, expected at most 8 spatial axes and one axis of"
    ):
        qs.segment(np.zeros((2,) * 9), channel_axis=None)


def test_bytes_in_wider_integers_are_warned_of():
    image = np.random.default_rng(0).integers(0, 256, (9, 9))
    with pytest.warns(UserWarning, match=r"uint16 with values up to .*astype\(numpy.uint8\)"):
        qs.segment_forest(image.astype(np.uint16))
    qs.segment(image.astype(np.uint16) * 257)


def test_a_forest_says_what_it_does_not_know():
    image = np.zeros((4, 8))
    image[:, 4:] = 1.0
    forest = qs.segment_forest(image, max_tau=20.0)
    with pytest.raises(ValueError, match=r"tau is 21\.0, expected at most max_tau, which is 20\.0"):
        forest.labels_at(21.0)
    with pytest.raises(
        ValueError, match="n_segments is 1, expected at least 2: the number of pixels"
    ):
        forest.labels_for(1)
    with pytest.raises(ValueError, match="max_tau is -1"):
        qs.segment_forest(image, max_tau=-1.0)


def test_core_checks_what_it_is_given():
    values, spacing = np.zeros((6, 1)), np.ones(2)
    shape, reach = np.array([2, 3]), np.array([1, 1])
    with pytest.raises(ValueError, match="shape must be positive, with one pixel per color"):
        _core.pixel_sums(values, np.array([2, 4]), spacing, None, 1.0, reach)
    with pytest.raises(ValueError, match="shape must be positive, with one pixel per color"):
        _core.pixel_sums(values, np.array([1 << 62, 4]), spacing, None, 1.0, reach)
    with pytest.raises(ValueError, match="mask must have one entry per pixel"):
        _core.pixel_sums(values, shape, spacing, np.ones(5, bool), 1.0, reach)
    with pytest.raises(ValueError, match="reach must have one number per axis"):
        _core.pixel_sums(values, shape, spacing, None, 1.0, np.array([1]))
    with pytest.raises(ValueError, match="heights must have one entry per pixel"):
        _core.pixel_parents(values, shape, spacing, np.zeros(2, int), None, np.ones(5), 36, 1.0)
    with pytest.raises(ValueError, match="parent must have numbers of pixels"):
        _core.boundary_strength(shape, None, np.full(6, 6), np.ones(6))


def test_parents_that_are_no_forest_do_not_hang():
    cycle = np.array([1, 0, 2, 3, 4, 5])
    strength = _core.boundary_strength(np.array([2, 3]), None, cycle, np.ones(6))
    assert strength.shape == (6,)


def test_sums_take_any_number_of_channels():
    for n_channels in (1, 2, 3, 5, 8):
        image = picture("noise", (12, 15), n_channels)
        sums = sum_kernels(read_image(image, convert2lab=False), 2.0)
        np.testing.assert_allclose(sums.reshape(12, 15), sums_over_boxes(image, 2.0, 6), rtol=2e-13)
