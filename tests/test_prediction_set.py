"""Prediction sets: the radius of split conformal prediction, and the sets around modes."""

from dataclasses import FrozenInstanceError
from fractions import Fraction
from math import ceil, inf

import numpy as np
import pytest

from quickshift import ConditionalModes, PredictionSet
from quickshift.checks.regression import check_coverage
from quickshift.stages.regression.prediction_set import (
    conformal_radius,
    nonconformity_scores,
    set_around,
)

COVERAGES = ("0.05", "0.1", "0.3", "0.5", "0.7", "0.8", "0.9", "0.95", "0.99")


def modes_of(*values):
    """Return modes with the given values at each query, of one output or of several."""
    columns = [np.asarray(here, dtype=float) for here in values]
    offsets = np.cumsum([0, *map(len, columns)])
    together = np.concatenate(columns)
    ones = np.ones(len(together))
    return ConditionalModes(offsets, together, ones, ones, np.zeros(len(columns)), ones, ones)


def rank_of(coverage, total):
    return ceil(Fraction(coverage) * (total + 1))


TWO = PredictionSet(
    offsets=np.array([0, 2, 2, 3]),
    lower=np.array([0.0, 4.0, -1.0]),
    upper=np.array([1.0, 4.5, 2.0]),
)
BOXES = PredictionSet(
    offsets=np.array([0, 2, 3]),
    lower=np.array([[0.0, 0.0], [0.5, 0.5], [3.0, 3.0]]),
    upper=np.array([[1.0, 1.0], [2.0, 2.0], [4.0, 9.0]]),
)


# The radius


def test_radius_is_the_score_at_the_rank_of_one_sample_more():
    scores = np.array([3.0, 1.0, 2.0, 4.0])
    assert conformal_radius(scores, np.ones(4), 0.2) == 1.0
    assert conformal_radius(scores, np.ones(4), 0.21) == 2.0
    assert conformal_radius(scores, np.ones(4), 0.8) == 4.0


def test_radius_is_infinite_where_there_are_too_few_scores():
    scores = np.array([3.0, 1.0, 2.0, 4.0])
    assert conformal_radius(scores, np.ones(4), 0.81) == inf
    assert conformal_radius(np.arange(8.0), np.ones(8), 0.9) == inf
    assert conformal_radius(np.arange(9.0), np.ones(9), 0.9) == 8.0
    assert conformal_radius(np.empty(0), np.empty(0), 0.01) == inf


@pytest.mark.parametrize("coverage", COVERAGES)
def test_radius_has_the_rank_of_exact_arithmetic(coverage):
    for total in [*range(1, 40), 99, 199, 999]:
        scores = np.random.default_rng(total).permutation(total) + 1.0
        rank = rank_of(coverage, total)
        expected = rank if rank <= total else inf
        assert conformal_radius(scores, np.ones(total), float(coverage)) == expected, total


@pytest.mark.parametrize("coverage", COVERAGES)
def test_weights_of_scores_are_repetition(coverage):
    rng = np.random.default_rng(0)
    for n in (1, 2, 5, 30):
        scores, weights = rng.integers(0, 9, n) / 8.0, rng.integers(0, 4, n)
        weights[rng.integers(n)] += 1
        repeated = np.repeat(scores, weights)
        assert conformal_radius(scores, weights.astype(float), float(coverage)) == conformal_radius(
            repeated, np.ones(len(repeated)), float(coverage)
        )


def test_scores_of_weight_zero_count_for_nothing():
    scores, weights = np.array([0.0, 5.0, 1.0, 9.0]), np.array([0.0, 1.0, 1.0, 0.0])
    assert conformal_radius(scores, weights, 0.3) == 1.0
    assert conformal_radius(scores, weights, 0.6) == 5.0
    assert conformal_radius(scores, weights, 0.7) == inf


def test_scores_without_a_mode_are_the_last_of_all():
    scores = np.array([inf, 1.0, 2.0, inf])
    assert conformal_radius(scores, np.ones(4), 0.4) == 2.0
    assert conformal_radius(scores, np.ones(4), 0.5) == inf


def test_order_of_scores_does_not_matter():
    rng = np.random.default_rng(0)
    scores, weights, order = rng.random(50), rng.random(50), rng.permutation(50)
    expected = conformal_radius(scores, weights, 0.7)
    assert conformal_radius(scores[order], weights[order], 0.7) == expected


@pytest.mark.parametrize("coverage", COVERAGES)
def test_each_of_exchangeable_scores_is_covered_as_often_as_promised(coverage):
    scores = np.random.default_rng(0).permutation(120) * 1.0
    others = [np.delete(scores, i) for i in range(120)]
    radii = [conformal_radius(rest, np.ones(119), float(coverage)) for rest in others]
    assert (scores <= radii).sum() == rank_of(coverage, 119)


# Nonconformity scores


def test_nonconformity_score_is_the_distance_to_the_nearest_mode():
    modes = modes_of([4.0, 1.0], [], [2.0])
    np.testing.assert_array_equal(
        nonconformity_scores(modes, np.array([3.5, 0.0, 2.0])), [0.5, inf, 0.0]
    )
    np.testing.assert_array_equal(
        nonconformity_scores(modes, np.array([-1.0, 9.0, 5.0])), [2.0, inf, 3.0]
    )


def test_nonconformity_score_of_several_outputs_is_the_largest_difference_to_the_nearest_mode():
    modes = modes_of([[0.0, 0.0], [4.0, 1.0]], np.empty((0, 2)), [[1.0, 1.0]])
    y = np.array([[3.0, 3.0], [0.0, 0.0], [1.5, -1.0]])
    np.testing.assert_array_equal(nonconformity_scores(modes, y), [2.0, inf, 2.0])


def test_every_nonconformity_score_is_infinite_where_nothing_has_a_mode():
    np.testing.assert_array_equal(nonconformity_scores(modes_of([], []), np.zeros(2)), [inf, inf])


# Sets around modes


def test_modes_further_apart_than_two_radii_have_intervals_of_their_own():
    found = set_around(modes_of([4.0, 1.0]), 1.0)
    np.testing.assert_array_equal(found[0], [[0.0, 2.0], [3.0, 5.0]])


def test_overlapping_intervals_are_joined():
    found = set_around(modes_of([4.0, 1.0, 9.0]), 2.0)
    np.testing.assert_array_equal(found[0], [[-1.0, 6.0], [7.0, 11.0]])


def test_intervals_that_touch_are_joined():
    np.testing.assert_array_equal(set_around(modes_of([4.0, 1.0]), 1.5)[0], [[-0.5, 5.5]])


def test_chains_of_intervals_are_joined():
    np.testing.assert_array_equal(set_around(modes_of([3.0, 1.0, 2.0, 0.0]), 0.5)[0], [[-0.5, 3.5]])


def test_radius_of_zero_leaves_the_modes():
    found = set_around(modes_of([4.0, 1.0], [], [2.0]), 0.0)
    np.testing.assert_array_equal(found.lower, [1.0, 4.0, 2.0])
    np.testing.assert_array_equal(found.upper, found.lower)
    np.testing.assert_array_equal(found.lengths, np.zeros(3))


def test_intervals_of_different_queries_are_never_joined():
    found = set_around(modes_of([1.0], [1.0], [1.5]), 1.0)
    np.testing.assert_array_equal(found.offsets, [0, 1, 2, 3])
    np.testing.assert_array_equal(found.lower, [0.0, 0.0, 0.5])
    np.testing.assert_array_equal(found.upper, [2.0, 2.0, 2.5])


def test_queries_without_a_mode_have_no_interval():
    found = set_around(modes_of([], [4.0, 1.0], [], [2.0], []), 1.0)
    np.testing.assert_array_equal(found.offsets, [0, 0, 2, 2, 3, 3])
    assert [len(here) for here in found] == [0, 2, 0, 1, 0]


def test_nothing_lies_around_nothing():
    found = set_around(modes_of([], []), 1.0)
    np.testing.assert_array_equal(found.offsets, [0, 0, 0])
    assert found.lower.shape == found.upper.shape == (0,)
    np.testing.assert_array_equal(found.lengths, [0.0, 0.0])


def test_infinite_radius_holds_everything_at_every_query():
    found = set_around(modes_of([4.0, 1.0], []), inf)
    np.testing.assert_array_equal(found.offsets, [0, 1, 2])
    np.testing.assert_array_equal(found.lower, [-inf, -inf])
    np.testing.assert_array_equal(found.upper, [inf, inf])
    np.testing.assert_array_equal(found.lengths, [inf, inf])
    assert found.contains([1e300, -1e300]).all()


def test_infinite_radius_holds_everything_of_several_outputs():
    found = set_around(modes_of([[4.0, 1.0]], np.empty((0, 2))), inf)
    np.testing.assert_array_equal(found.lower, np.full((2, 2), -inf))
    np.testing.assert_array_equal(found.upper, np.full((2, 2), inf))
    assert found.contains([[1e300, 0.0], [0.0, -1e300]]).all()


def test_several_outputs_have_a_box_for_each_mode():
    modes = modes_of([[0.0, 0.0], [1.0, 5.0]], np.empty((0, 2)), [[2.0, 3.0]])
    found = set_around(modes, 0.5)
    np.testing.assert_array_equal(found.offsets, modes.offsets)
    np.testing.assert_array_equal(found.lower, modes.values - 0.5)
    np.testing.assert_array_equal(found.upper, modes.values + 0.5)


@pytest.mark.parametrize("radius", [0.01, 0.1, 0.3, 1.0])
def test_set_holds_exactly_what_is_within_the_radius(radius):
    rng = np.random.default_rng(0)
    modes = modes_of(*[rng.uniform(0, 5, size=rng.integers(0, 6)) for _ in range(60)])
    found = set_around(modes, radius)
    for here in found:
        assert (here[:, 0] < here[:, 1]).all()
        assert (here[1:, 0] > here[:-1, 1]).all()
    for _ in range(40):
        y = rng.uniform(-1, 6, size=60)
        np.testing.assert_array_equal(found.contains(y), nonconformity_scores(modes, y) <= radius)


def test_modes_are_left_as_they_are():
    modes = modes_of([4.0, 1.0], [2.0])
    set_around(modes, 2.0)
    np.testing.assert_array_equal(modes.values, [4.0, 1.0, 2.0])


# Methods of a set


def test_set_is_read_query_by_query():
    assert len(TWO) == 3
    np.testing.assert_array_equal(TWO[0], [[0.0, 1.0], [4.0, 4.5]])
    assert TWO[1].shape == (0, 2)
    np.testing.assert_array_equal(TWO[-1], TWO[2])
    np.testing.assert_array_equal(np.concatenate(list(TWO)), [[0.0, 1.0], [4.0, 4.5], [-1.0, 2.0]])
    np.testing.assert_array_equal(TWO.queries, [0, 0, 2])
    with pytest.raises(IndexError):
        TWO[3]


def test_lengths_are_sums_over_intervals():
    np.testing.assert_array_equal(TWO.lengths, [1.5, 0.0, 3.0])


def test_boxes_are_read_query_by_query():
    assert len(BOXES) == 2
    np.testing.assert_array_equal(BOXES[1], [[[3.0, 3.0], [4.0, 9.0]]])
    assert BOXES[0].shape == (2, 2, 2)
    np.testing.assert_array_equal(BOXES.queries, [0, 0, 1])


def test_boxes_have_no_length():
    with pytest.raises(ValueError, match=r"boxes of 2 outputs.*Use lower and upper"):
        _ = BOXES.lengths


@pytest.mark.parametrize(
    ("y", "inside"),
    [
        ([0.5, 0.5, 0.5], [True, False, True]),
        ([4.2, 4.2, 4.2], [True, False, False]),
        ([2.0, 2.0, 2.0], [False, False, True]),
        ([-9.0, 0.0, 9.0], [False, False, False]),
    ],
)
def test_response_is_inside_where_an_interval_of_its_query_holds_it(y, inside):
    np.testing.assert_array_equal(TWO.contains(y), inside)


def test_ends_belong_to_intervals():
    for y in (0.0, 1.0, 4.0, 4.5):
        assert TWO.contains([y, y, y])[0]
        assert TWO.contains(np.full(3, np.nextafter(y, 2.5)))[0] == (y in {0.0, 4.5})
    assert TWO.contains([0, 0, -1])[2]


def test_box_holds_a_response_only_in_every_output():
    assert BOXES.contains([[0.5, 0.5], [3.5, 3.5]]).tolist() == [True, True]
    assert BOXES.contains([[0.2, 1.8], [3.5, 9.5]]).tolist() == [False, False]
    assert BOXES.contains([[1.8, 1.8], [4.0, 9.0]]).tolist() == [True, True]


def test_empty_set_holds_nothing():
    nothing = PredictionSet(np.array([0, 0, 0]), np.empty(0), np.empty(0))
    assert nothing.contains([0.0, 0.0]).tolist() == [False, False]


def test_column_of_responses_is_one_output():
    np.testing.assert_array_equal(TWO.contains([[0.5], [0.5], [0.5]]), [True, False, True])


@pytest.mark.parametrize("y", [[0.5], [0.5, 0.5], 0.5, [], np.zeros((3, 0)), np.zeros((1, 3))])
def test_one_response_is_expected_for_each_query(y):
    with pytest.raises(ValueError, match=r"y has shape .*expected \(3,\)"):
        TWO.contains(y)


def test_responses_must_be_numbers():
    with pytest.raises(ValueError, match="y has NaN or infinity in 1 of 3 rows"):
        TWO.contains([0.0, np.nan, 0.0])
    with pytest.raises(ValueError, match="y has entries that are not numbers"):
        TWO.contains(["a", "b", "c"])


@pytest.mark.parametrize(
    ("found", "y"),
    [
        (TWO, np.zeros((3, 2))),
        (TWO, np.zeros((3, 3))),
        (BOXES, np.zeros(2)),
        (BOXES, np.zeros((2, 3))),
        (set_around(modes_of([1.0], [1.0]), 1.0), np.zeros((2, 2))),  # these shapes would broadcast
        (set_around(modes_of([[1.0, 1.0]]), 1.0), np.zeros(1)),
    ],
)
def test_responses_have_the_outputs_of_the_set(found, y):
    with pytest.raises(ValueError, match=r"y has (shape|\d+ (columns|outputs))"):
        found.contains(y)


def test_set_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        TWO.lower = np.zeros(3)


# Coverage


@pytest.mark.parametrize("coverage", [1e-9, 0.5, np.float32(0.5), np.float64(0.9), 1 - 1e-9])
def test_shares_between_0_and_1_are_taken_as_they_are(coverage):
    share = check_coverage(coverage)
    assert type(share) is float
    assert share == coverage


@pytest.mark.parametrize("coverage", [0, 1, 0.0, 1.0, -0.1, 1.5, 90, np.inf, np.nan])
def test_other_shares_are_refused(coverage):
    with pytest.raises(ValueError, match=r"coverage is .*expected a share of new responses"):
        check_coverage(coverage)


@pytest.mark.parametrize("coverage", ["0.9", None, True, [0.9]])
def test_shares_are_numbers(coverage):
    with pytest.raises(TypeError, match=r"coverage is .*expected a share of new responses"):
        check_coverage(coverage)


def test_set_of_the_radius_that_a_response_asks_for_holds_it():
    rng = np.random.default_rng(0)
    values, responses = (np.round(rng.normal(size=4000), 1) for _ in range(2))
    every = np.arange(4001)
    modes = ConditionalModes(every, *[values] * 6)
    radii = nonconformity_scores(modes, responses)
    for radius in np.unique(radii):
        inside = set_around(modes, radius).contains(responses)
        assert inside[radii <= radius].all()
