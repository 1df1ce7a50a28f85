"""Modes are joined into branches: straight through crossings, never across a gap in x."""

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quickshift import ModalRegressor, trace_branches
from quickshift.stages.regression.branches import trace
from quickshift.stages.regression.conditional_modes import ConditionalModes


def modes_of(columns):
    """Modes at successive x, one list per x in any order."""
    columns = [np.asarray(column, dtype=float) for column in columns]
    values = np.concatenate([*columns, np.empty(0)])
    return ConditionalModes(
        offsets=np.cumsum([0, *map(len, columns)]),
        values=values,
        densities=10.0 + values,
        heights=np.ones(len(values)),
        support=np.array([0.0 if len(column) else -np.inf for column in columns]),
        conditional_densities=np.ones(len(values)),
        probabilities=np.ones(len(values)),
    )


def traced(columns, longest_step=1.0, grid=None):
    grid = np.arange(len(columns)) if grid is None else grid
    return trace(grid, modes_of(columns), longest_step=longest_step)


def shapes(branches):
    return [(branch.start, branch.y.tolist()) for branch in branches]


# Drawn by hand


def test_two_parallel_branches_stay_apart_and_whole():
    x = np.linspace(0.0, 3.0, 40)
    low, high = np.sin(x), np.sin(x) + 1.0
    one, other = traced(np.stack([high, low], axis=1), grid=x)
    for branch, y in ((one, low), (other, high)):
        np.testing.assert_array_equal(branch.x, x)
        np.testing.assert_array_equal(branch.y, y)
        np.testing.assert_array_equal(branch.density, 10.0 + y)
        assert (branch.start, branch.stop, len(branch)) == (0, 40, 40)


def test_branches_that_move_together_keep_their_order():
    # 0 to 2 and 1 to 3, or 0 to 3 and 1 to 2: the total distance is 4 either way.
    for shift in np.arange(100) / 10.0:
        low, high = traced([[0.0 + shift, 1.0 + shift], [3.0 + shift, 2.0 + shift]], 5.0)
        assert low.y[1] < high.y[1]


def test_a_mode_without_a_partner_is_born():
    assert shapes(traced([[0.0], [0.1], [0.2, 3.0], [0.3, 3.1]])) == [
        (0, [0.0, 0.1, 0.2, 0.3]),
        (2, [3.0, 3.1]),
    ]


def test_a_branch_without_a_partner_dies():
    first, second = traced([[0.0, 3.0], [0.1, 3.1], [0.2], [0.3]])
    assert shapes([first, second]) == [(0, [0.0, 0.1, 0.2, 0.3]), (0, [3.0, 3.1])]
    assert (second.start, second.stop) == (0, 2)


def test_of_two_that_merge_one_goes_on_and_the_other_ends():
    columns = [[0.0, 2.0], [0.1, 1.6], [0.2, 1.2], [0.3, 0.8], [0.4], [0.5]]
    assert shapes(traced(columns)) == [
        (0, [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]),
        (0, [2.0, 1.6, 1.2, 0.8]),
    ]


def test_of_one_that_splits_a_part_goes_straight_on_and_the_other_is_new():
    columns = [[0.0], [0.1], [0.2], [0.3], [0.4, 0.0], [0.5, -0.1]]
    assert shapes(traced(columns)) == [(0, [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]), (4, [0.0, -0.1])]


def test_an_x_without_modes_ends_all_branches():
    assert shapes(traced([[0.0, 3.0], [0.0, 3.0], [], [0.0, 3.0]])) == [
        (0, [0.0, 0.0]),
        (0, [3.0, 3.0]),
        (3, [0.0]),
        (3, [3.0]),
    ]


def test_no_modes_are_no_branches():
    assert traced([[], []]) == []


def test_a_jump_longer_than_the_longest_step_ends_a_branch_and_begins_another():
    columns = [[0.0], [1.0], [2.5], [2.5]]
    assert shapes(traced(columns, 1.0)) == [(0, [0.0, 1.0]), (2, [2.5, 2.5])]
    assert shapes(traced(columns, 1.5)) == [(0, [0.0, 1.0, 2.5, 2.5])]
    assert shapes(traced(columns, math.inf)) == [(0, [0.0, 1.0, 2.5, 2.5])]


def test_the_step_is_measured_from_the_last_mode_and_not_from_where_it_was_heading():
    steep = [[0.0], [1.0], [2.0], [3.0], [4.0]]
    assert shapes(traced([*steep, [3.0]])) == [(0, [0.0, 1.0, 2.0, 3.0, 4.0, 3.0])]
    assert shapes(traced([*steep, [5.5]]))[1] == (5, [5.5])


def test_as_many_go_on_as_can():
    # 1 to 1 is the nearest pair, but would leave 0 and 2 without a partner.
    assert shapes(traced([[0.0, 1.0], [1.0, 2.0]])) == [(0, [0.0, 1.0]), (0, [1.0, 2.0])]


def test_one_that_is_out_of_reach_does_not_push_others_off_their_partners():
    assert shapes(traced([[0.0, 1.0], [1.0, 9.0]])) == [(0, [0.0]), (0, [1.0, 1.0]), (1, [9.0])]


def test_branches_are_ordered_by_start_and_then_by_y():
    columns = [[5.0, -5.0, 0.0], [0.0, 8.0, -8.0], [-20.0, 8.0]]
    found = [(branch.start, branch.y[0]) for branch in traced(columns)]
    assert found == [(0, -5.0), (0, 0.0), (0, 5.0), (1, -8.0), (1, 8.0), (2, -20.0)]


# Crossings


def lines_that_cross(x, jitter=0.0, seed=0):
    y = np.stack([x, -x], axis=1)
    return y + np.random.default_rng(seed).uniform(-jitter, jitter, size=y.shape)


def assert_straight_on(branches, x, jitter=0.0):
    rising, falling = sorted(branches, key=lambda branch: branch.y[0])
    settled = np.abs(x) > jitter  # closer than that, the two cannot be told apart
    np.testing.assert_allclose(rising.y[settled], x[settled], atol=jitter + 1e-12)
    np.testing.assert_allclose(falling.y[settled], -x[settled], atol=jitter + 1e-12)


@pytest.mark.parametrize("m", [12, 13, 40, 41, 400])
def test_a_crossing_goes_straight_on(m):
    x = np.linspace(-1.0, 1.1, m)
    assert_straight_on(traced(lines_that_cross(x), 0.5, x), x)


@pytest.mark.parametrize("seed", range(20))
def test_a_crossing_goes_straight_on_where_modes_jitter(seed):
    x = np.linspace(-1.0, 1.0, 41)
    columns = lines_that_cross(x, jitter=0.05, seed=seed)  # as much as one step of x
    assert_straight_on(traced(columns, 0.5, x), x, jitter=0.05)


def test_a_crossing_goes_straight_on_over_an_uneven_grid():
    x = np.sort(np.random.default_rng(1).uniform(-1.0, 1.0, 60))
    assert_straight_on(traced(lines_that_cross(x), 0.5, x), x)


@pytest.mark.parametrize("seed", range(20))
def test_branches_that_nearly_touch_do_not_cross(seed):
    x = np.linspace(-1.0, 1.0, 41)
    jitter = np.random.default_rng(seed).uniform(-0.05, 0.05, size=(41, 2))
    columns = np.stack([-x * x - 0.1, x * x + 0.1], axis=1) + jitter
    low, high = traced(columns, 0.5, x)
    np.testing.assert_array_equal(np.stack([low.y, high.y], axis=1), columns)


@pytest.mark.parametrize("seed", range(20))
def test_parallel_branches_stay_apart_where_modes_jitter(seed):
    jitter = np.random.default_rng(seed).uniform(-1.0, 1.0, size=(60, 2))
    columns = np.array([0.0, 3.0]) + jitter
    low, high = traced(columns, 4.0)
    np.testing.assert_array_equal(np.stack([low.y, high.y], axis=1), columns)


def test_two_points_are_too_few_to_tell_a_heading():
    assert shapes(traced([[0.0, 1.0], [0.375, 0.625], [0.375, 0.625]])) == [
        (0, [0.0, 0.375, 0.375]),
        (0, [1.0, 0.625, 0.625]),
    ]


def test_over_a_wide_step_of_x_no_branch_heads_further_than_the_longest_step():
    x = np.array([0.0, 0.01, 0.02, 0.03, 0.04, 10.0])
    low, high = traced([*([y, 0.6] for y in x[:5]), [0.2, 0.4]], 0.5, x)
    assert (low.y[-1], high.y[-1]) == (0.2, 0.4)


# Compared with the definition, for any modes


def best_matching(old, new, longest_step):
    """The matching with the most pairs and then the least total, by trying all of them."""
    size = max(len(old), len(new))
    results = []
    for order in permutations(range(size)):
        pairs = [(i, j) for i, j in enumerate(order) if i < len(old) and j < len(new)]
        steps = [abs(old[i] - new[j]) for i, j in pairs]
        steps = [step for step in steps if step <= longest_step]
        results.append((-len(steps), sum(steps)))
    return min(results)


@pytest.mark.parametrize("seed", range(100))
def test_the_matching_is_the_best_of_all(seed):
    rng = np.random.default_rng(seed)
    old, new = (rng.integers(0, 40, size=rng.integers(1, 6)) / 4 for _ in range(2))
    longest_step = rng.integers(1, 20) / 4
    matched = [branch.y for branch in traced([old, new], longest_step) if len(branch) == 2]
    total = sum(abs(y[1] - y[0]) for y in matched)
    assert (-len(matched), total) == best_matching(old, new, longest_step)


COLUMNS = st.lists(st.lists(st.floats(-1e9, 1e9), max_size=5, unique=True), min_size=1, max_size=12)


@given(COLUMNS, st.floats(1e-3, 1e9))
def test_every_mode_is_in_one_branch_and_no_branch_has_a_gap_or_a_longer_step(columns, longest):
    branches = traced(columns, longest)
    points = [
        (i, y) for b in branches for i, y in zip(range(b.start, b.stop), b.y.tolist(), strict=True)
    ]
    assert sorted(points) == sorted((i, y) for i, column in enumerate(columns) for y in column)
    for branch in branches:
        assert (np.abs(np.diff(branch.y)) <= longest).all()
        assert branch.x.tolist() == list(range(branch.start, branch.stop))


@given(COLUMNS, st.floats(1e-3, 1e9))
def test_the_order_of_the_modes_at_an_x_does_not_matter(columns, longest):
    backward = [column[::-1] for column in columns]
    assert shapes(traced(columns, longest)) == shapes(traced(backward, longest))


# Arguments


@pytest.mark.parametrize("grid", [[0, 1, 2], [[0.0], [1.0], [2.0]], np.arange(3, dtype=np.float32)])
def test_grids_are_a_line_or_a_column(grid):
    (branch,) = traced([[1.0]] * 3, grid=grid)
    assert branch.x.dtype == np.float64
    assert branch.x.tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("grid", [[0.0], [[0.0, 1.0, 2.0]], np.zeros((3, 2)), 3.0, [[1.0], [2, 3]]])
def test_grids_have_one_x_per_query(grid):
    message = r"grid has shape \(.*\), expected \(3,\) or \(3, 1\): one x per query.*Pass"
    with pytest.raises(ValueError, match=message):
        traced([[1.0]] * 3, grid=grid)


@pytest.mark.parametrize(("grid", "place"), [([0.0, 2.0, 1.0], 2), ([0.0, 0.0, 1.0], 1)])
def test_grids_rise(grid, place):
    message = rf"grid has .* after .* at position {place}, expected increasing numbers\. Find"
    with pytest.raises(ValueError, match=message):
        traced([[1.0]] * 3, grid=grid)


@pytest.mark.parametrize(
    "grid",
    [
        [0.0, np.nan, 2.0],
        [0.0, 1.0, np.inf],
        ["a", "b", "c"],
        [[1.0], [2.0, 3.0], []],
        np.array([1j, 2.0, 3.0]),
        np.ma.masked_array([0.0, 1.0, 2.0], mask=[False, True, False]),
        np.array([1, 2, 3], dtype="M8[s]"),
    ],
    ids=str,
)
def test_grids_are_finite_numbers(grid):
    with pytest.raises(ValueError, match=r"grid (has|is) .*expected"):
        traced([[1.0]] * 3, grid=grid)


def test_grids_have_at_least_one_x():
    with pytest.raises(ValueError, match=r"grid has shape \(0, 1\), expected at least one row"):
        traced([], grid=[])


def test_several_outputs_are_refused():
    modes = ConditionalModes(
        offsets=np.array([0, 1]),
        values=np.zeros((1, 2)),
        densities=np.ones(1),
        heights=np.ones(1),
        support=np.zeros(1),
        conditional_densities=np.ones(1),
        probabilities=np.ones(1),
    )
    with pytest.raises(ValueError, match=r"values of shape \(1, 2\), expected \(k,\).*each output"):
        trace([0.0], modes, longest_step=1.0)


@pytest.mark.parametrize("longest_step", [0.0, -1.0, math.nan])
def test_the_longest_step_is_positive(longest_step):
    with pytest.raises(ValueError, match=r"longest_step is .*, expected a positive length"):
        traced([[1.0]], longest_step)


@pytest.mark.parametrize("longest_step", ["auto", None, True])
def test_the_longest_step_is_a_number(longest_step):
    with pytest.raises(TypeError, match=r"longest_step is .*, expected a positive length"):
        traced([[1.0]], longest_step)


def test_branches_of_a_model_with_a_tau_of_zero_are_refused():
    X, y = np.arange(6.0)[:, None], np.zeros(6)
    model = ModalRegressor(0.3, 0.0).fit(X, y)
    with pytest.raises(ValueError, match="tau_, the longest step of a branch, is 0"):
        trace_branches(model, np.arange(5.0))
