"""Algorithm 3 for one output: the branch-and-bound search gives the modes of the reference."""

import numpy as np
import pytest

import cases
from instruction_sets import with_every_instruction_set
from quickshift import reference, stages
from quickshift.stages import conditional_modes, prepare_joint

KINDS = ("plain", "lattice", "repeated", "coarse")


def samples(kind, d, n, seed):
    """Two noisy branches; some kinds have ties, duplicates and distances of exactly tau."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = rng.choice([-1.0, 1.0], n) + 0.3 * rng.standard_normal(n)
    if kind == "lattice":
        return np.round(2 * X) / 2, np.round(4 * y) / 4
    if kind == "repeated":
        return X[rng.integers(0, n, n)], y[rng.integers(0, n, n)]
    if kind == "coarse":
        return np.round(X), np.round(2 * y) / 2
    return X, y


def weights_of(n, seed):
    return np.random.default_rng(seed).integers(0, 4, n) + np.eye(n)[0]


def assert_literal(X, y, queries, bandwidth, tau, *, ratio=0.01, rtol=1e-9, **settings):
    joint = prepare_joint(X, y, bandwidth, rtol=rtol, **settings)
    found = conditional_modes(joint, queries, tau, min_density_ratio=ratio)
    assert len(found) == len(queries)
    for i, query in enumerate(queries):
        values, densities = reference.modal_regression(
            X, y, query, bandwidth, tau, min_density_ratio=ratio, rtol=rtol, **settings
        )
        np.testing.assert_array_equal(found[i], values)
        own = slice(found.offsets[i], found.offsets[i + 1])
        np.testing.assert_allclose(found.densities[own], densities, rtol=2e-9)
    return found


@pytest.mark.parametrize("kernel", cases.KERNELS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_modes_are_those_of_the_paper(kernel, kind, d):
    for seed, n in enumerate((1, 2, 33, 90)):
        X, y = samples(kind, d, n, seed)
        queries = np.vstack([X[:2], np.random.default_rng(seed).normal(size=(2, d))])
        tau = (0.25, 0.5, 1.0, np.inf)[seed]
        bandwidth = (0.8, (0.7, 0.4), 1.0, (1.0, 0.5))[seed]
        assert_literal(X, y, queries, bandwidth, tau, kernel=kernel)


@pytest.mark.parametrize("kernel", cases.KERNELS)
def test_weights_count_as_repetition(kernel):
    X, y = samples("lattice", 2, 60, 5)
    weights = weights_of(60, 5)
    queries = X[:6] + 0.1
    found = assert_literal(X, y, queries, 0.9, 0.5, kernel=kernel, sample_weight=weights)
    times = weights.astype(int)
    repeated = prepare_joint(np.repeat(X, times, axis=0), np.repeat(y, times), 0.9, kernel=kernel)
    again = conditional_modes(repeated, queries, 0.5)
    np.testing.assert_array_equal(again.values, found.values)
    np.testing.assert_array_equal(again.offsets, found.offsets)
    np.testing.assert_allclose(again.densities, found.densities, rtol=2e-9)


@pytest.mark.parametrize("kernel", ["gaussian", "uniform", "silverman", "exponential"])
def test_periodic_features_wrap(kernel):
    X, y = samples("plain", 2, 80, 6)
    queries = np.array([[3.9, 0.0], [-3.9, 1.0], [0.0, 0.0]])
    settings = {"kernel": kernel, "period": [8.0, np.inf]}
    found = assert_literal(3 * X, y, queries, (0.9, 0.3), 0.5, **settings)
    turned = conditional_modes(
        prepare_joint(3 * X + [16.0, 0.0], y, (0.9, 0.3), **settings), queries, 0.5
    )
    np.testing.assert_array_equal(turned.values, found.values)


@pytest.mark.parametrize("kernel", cases.KERNELS)
@pytest.mark.parametrize("ratio", [1e-6, 0.3, 1.0])
def test_least_share_of_the_highest_density_decides_what_is_kept(kernel, ratio):
    X, y = samples("plain", 1, 90, 7)
    assert_literal(X, y, X[:5], (0.5, 0.1), 0.2, kernel=kernel, ratio=ratio)


@pytest.mark.parametrize("kernel", cases.KERNELS)
@pytest.mark.parametrize("tau", [0.0, 0.05])
def test_literal_algorithm_keeps_every_root(kernel, tau):
    X, y = samples("plain", 2, 60, 8)
    found = assert_literal(X, y, X[:4], (0.8, 0.2), tau, kernel=kernel, ratio=0.0, rtol=0.0)
    if tau == 0:  # every response of positive density is a root
        assert found.counts.max() > 5


# Many vertices between two rungs, which exercise splits, series and plateaus.
@pytest.mark.parametrize("kernel", cases.KERNELS)
@pytest.mark.parametrize("bandwidth", [(0.5, 0.5), (0.3, 0.05)])
def test_many_responses_in_a_bandwidth_change_nothing(kernel, bandwidth):
    X, y = samples("plain", 1, 700, 9)
    assert_literal(X, y, [[-0.5], [0.3], [2.9]], bandwidth, 1.5 * bandwidth[1], kernel=kernel)


@pytest.mark.parametrize("kernel", cases.KERNELS)
@pytest.mark.parametrize("spacing", [1.5, 5.0, 20.0, 100.0])
@pytest.mark.parametrize("tau", [1.0, 50.0])
def test_responses_far_apart_are_modes_by_themselves(kernel, spacing, tau):
    rng = np.random.default_rng(23)
    X = rng.choice([0.0, 1e4], size=(60, 1))
    y = spacing * np.arange(60) + 0.01 * rng.random(60)
    found = assert_literal(X, y, [[0.0], [1e4]], 1.0, tau, kernel=kernel)
    if spacing > tau and kernel in cases.COMPACT and spacing > 4:
        np.testing.assert_array_equal(np.sort(found[0]), y[X[:, 0] == 0])


def roots_by_force(y, heights, tau, ratio):
    """Sorted responses that have no response within tau that is as high, up to rounding."""
    roots = []
    for i in np.flatnonzero(heights >= ratio * heights.max()):
        rivals = heights[np.abs(y - y[i]) <= tau].max()
        if heights[i] >= rivals * (1 - 1e-8):
            roots.append(y[i])
    return np.sort(roots)


@pytest.mark.parametrize("seed", range(4))
def test_gaussian_series_find_the_modes_of_direct_sums(seed):
    rng = np.random.default_rng(seed)
    X = rng.random((2500, 2))
    y = rng.choice([0.0, 1.0, 1.5], 2500) + rng.uniform(0.05, 0.4) * rng.standard_normal(2500)
    queries = rng.random((10, 2))
    found = conditional_modes(prepare_joint(X, y, (0.05, 0.1)), queries, 0.15)
    for i, query in enumerate(queries):
        weights = np.exp(-0.5 * (((X - query) / 0.05) ** 2).sum(axis=1))
        heights = np.exp(-0.5 * ((y[:, None] - y) / 0.1) ** 2) @ weights
        expected = roots_by_force(y, heights, 0.15, 0.01)
        own = np.sort(found[i])
        assert np.isin(own, expected).all()
        # Of several responses that are equal up to rounding, one is returned.
        assert len(own) == np.count_nonzero(np.diff(expected, prepend=-np.inf) > 0.01)


def test_sums_that_the_window_cuts_off_hide_no_mode():
    X = [[0.4], [0.8], [0.6], [0.7], [0.4]]
    assert_literal(X, [-0.9, -1.0, -0.2, 0.3, -1.1], [[0.0]], 0.05, 10.0)
    y = [-1.5, -0.2, 0.3, 0.7, 1.6]
    for rtol in (1e-9, 1e-3, 1e-2):
        assert_literal(X, y, [[0.55]], (0.1, 1e-6), np.inf, rtol=rtol, ratio=0.5)


def test_many_responses_at_one_place_are_as_exact_as_elsewhere():
    rng = np.random.default_rng(25)
    X, y = np.zeros((300, 1)), 50 * rng.random(300)
    assert_literal(X, y, [[0.0]], (1.0, 0.3), 0.2, ratio=1e-6)


@pytest.mark.parametrize(
    ("n", "span", "tau", "rtol"),
    [
        (12, 0.4, 0.1, 1e-3),
        (300, 3.0, 0.02, 1e-3),
        (200, 3.0, 0.03, 1e-2),
        (400, 0.5, 1e-3, 1e-6),
        (400, 1e-3, 1e-6, 1e-9),
    ],
)
def test_slopes_that_rounding_flattens_are_no_slopes(n, span, tau, rtol):
    y = np.linspace(-span / 2, span / 2, n)
    found = conditional_modes(prepare_joint(np.zeros((n, 1)), y, 1.0, rtol=rtol), [[0.0]], tau)
    values, _ = reference.modal_regression(
        np.zeros((n, 1)), y, [0.0], 1.0, tau, min_density_ratio=0.01, rtol=rtol
    )
    assert len(found[0]) > 0
    assert abs(len(found[0]) - len(values)) <= 0.1 * len(values)  # rounding decides near the edges


@pytest.mark.parametrize("tau", [1e-9, 0.125, 0.5])
@pytest.mark.parametrize("bandwidth", [4.0, (0.25, 100.0)])
def test_few_responses_in_a_wide_kernel_are_found_once(bandwidth, tau):
    for seed in range(40):
        X, y = samples("plain", 1, 2 + seed % 7, seed)
        assert_literal(X, y, X[:2], bandwidth, tau)


def test_places_rounded_below_the_first_response_count_as_valleys():
    """With a wide kernel nothing lies between two responses, so the lower one rises above none."""
    for seed in range(100):
        X, y = samples("plain", 1, 2, seed)
        found = conditional_modes(prepare_joint(X, y, (0.25, 100.0)), X[:1], 1e-9)
        assert found.heights[1] < 1e-3 * found.densities[1]


def test_density_beyond_the_floats_has_a_height():
    X, y = np.zeros((4, 1)), np.array([0.0, 0.0, 0.0, 1.0])
    found = conditional_modes(prepare_joint(X, y * 1e-310, (1.0, 1e-311)), [[0.0]], 1e-311)
    assert not np.isnan(found.heights).any()


@pytest.mark.parametrize("kernel", cases.KERNELS)
def test_densities_of_another_path_lead_to_the_same_modes(kernel):
    X, y = samples("plain", 2, 150, 10)
    estimate = stages.fit_estimate(stages.prepare(np.column_stack([X, y])), 0.6, kernel=kernel)
    found = conditional_modes(prepare_joint(X, y, 0.6, kernel=kernel), X[:5], 0.4)
    for i, query in enumerate(X[:5]):
        at = np.column_stack([np.tile(query, (len(y), 1)), y])
        values, _ = reference.modal_regression(
            X,
            y,
            query,
            tau=0.4,
            min_density_ratio=0.01,
            density=estimate.heights_at(at),
            significant_bits=estimate.significant_bits,
        )
        np.testing.assert_array_equal(found[i], values)


def test_all_responses_equal_are_one_mode():
    X, _ = samples("plain", 2, 40, 11)
    found = conditional_modes(prepare_joint(X, np.full(40, 7.0), (0.5, 0.5)), X, 0.1)
    np.testing.assert_array_equal(found.values, np.full(40, 7.0))


def test_plateau_goes_to_its_largest_response():
    X, y = np.zeros((5, 1)), np.array([0.0, 0.5, 1.0, 0.5, 0.0])
    found = conditional_modes(prepare_joint(X, y, 2.0, kernel="uniform"), [[0.0]], 1.0)
    np.testing.assert_array_equal(found[0], [1.0])


@pytest.mark.parametrize("kernel", cases.COMPACT)
def test_query_beyond_a_compact_kernel_has_no_modes(kernel):
    X, y = samples("plain", 1, 30, 12)
    found = conditional_modes(prepare_joint(X, y, 0.5, kernel=kernel), [[100.0], [0.0]], 1.0)
    assert found.counts[0] == 0
    assert found.counts[1] > 0
    assert found.support[0] == -np.inf
    assert np.isnan(found.highest()[0])


@pytest.mark.parametrize("kernel", cases.INFINITE)
@pytest.mark.parametrize("distance", [30.0, 1e3, 1e5])
def test_query_far_away_has_the_modes_of_the_nearest_samples(kernel, distance):
    X, y = samples("plain", 1, 50, 13)
    query = [[X.max() + distance]]
    found = conditional_modes(prepare_joint(X, y, 0.5, kernel=kernel), query, 0.5)
    assert np.isfinite(found.support[0])
    assert found.support[0] < -distance
    values, _ = reference.modal_regression(
        X, y, query[0], 0.5, 0.5, kernel=kernel, min_density_ratio=0.01
    )
    np.testing.assert_array_equal(found[0], values)


@pytest.mark.parametrize("kernel", cases.KERNELS)
def test_support_is_the_density_of_the_features(kernel):
    X, y = samples("plain", 2, 60, 14)
    weights = weights_of(60, 14)
    joint = prepare_joint(X, y, (0.7, 0.3), kernel=kernel, sample_weight=weights)
    queries = np.vstack([X[:5], [[2.5, 2.5]]])
    expected = reference.log_kernel_density(
        X, 0.7, queries=queries, kernel=kernel, sample_weight=weights
    )
    np.testing.assert_allclose(conditional_modes(joint, queries, 0.5).support, expected, rtol=1e-7)


@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov", "exponential"])
def test_heights_are_above_the_valley_beside_a_mode(kernel):
    X, y = samples("plain", 1, 200, 15)
    found = conditional_modes(prepare_joint(X, y, 0.4, kernel=kernel), [[0.0]], 0.3)
    assert len(found[0]) == 2
    low, high = sorted(found[0])
    places = low + (high - low) * np.arange(1, 8) / 8
    along = reference.kernel_density(
        np.column_stack([X, y]),
        0.4,
        queries=np.column_stack([np.zeros(7), places]),
        kernel=kernel,
    )
    np.testing.assert_allclose(found.heights, found.densities - along.min(), rtol=1e-6)
    alone = conditional_modes(prepare_joint(X, y, 0.4, kernel=kernel), [[0.0]], np.inf)
    np.testing.assert_array_equal(alone.heights, alone.densities)


def test_mode_that_only_a_gap_makes_is_flat():
    X = np.zeros((6, 1))
    y = np.array(
        [0.0, 0.1, -0.1, 1.2, 0.05, -0.05]
    )  # 1.2 is on the slope, with no response within tau
    joint = prepare_joint(X, y, 1.0)
    literal = conditional_modes(joint, [[0.0]], 0.5)
    np.testing.assert_array_equal(literal[0], [0.1, 1.2])
    assert literal.heights[1] == 0
    np.testing.assert_array_equal(conditional_modes(joint, [[0.0]], 0.5, keep_flat=False)[0], [0.1])


@pytest.mark.parametrize("kernel", cases.KERNELS)
def test_modes_that_are_not_flat_stand_above_their_valleys(kernel):
    X, y = samples("plain", 2, 300, 24)
    joint = prepare_joint(X, y, (0.6, 0.2), kernel=kernel)
    literal = conditional_modes(joint, X, 0.1)
    kept = conditional_modes(joint, X, 0.1, keep_flat=False)
    assert len(kept.values) < len(literal.values)
    assert (kept.heights > 0).all()
    np.testing.assert_array_equal(kept.highest(), literal.highest())
    assert all(np.isin(kept[i], literal[i]).all() for i in range(300))


@pytest.mark.parametrize("kernel", cases.KERNELS)
def test_threads_order_of_rows_and_of_queries_change_nothing(kernel):
    rng = np.random.default_rng(16)
    X, y = samples("lattice", 2, 400, 16)
    weights = rng.random(400)
    queries = X[:80] + 0.01
    settings = {"kernel": kernel, "sample_weight": weights}
    one = conditional_modes(prepare_joint(X, y, 0.8, n_jobs=1, **settings), queries, 0.5)
    order, shuffled = rng.permutation(400), rng.permutation(80)
    settings["sample_weight"] = weights[order]
    two = conditional_modes(
        prepare_joint(X[order], y[order], 0.8, n_jobs=2, **settings), queries[shuffled], 0.5
    )
    for place, query in enumerate(shuffled):
        np.testing.assert_array_equal(two[place], one[query])
    np.testing.assert_array_equal(two.support, one.support[shuffled])


@pytest.mark.parametrize("kernel", cases.KERNELS)
def test_every_instruction_set_finds_the_same_modes(kernel):
    X, y = samples("plain", 2, 500, 17)
    found = with_every_instruction_set(
        lambda: conditional_modes(prepare_joint(X, y, (0.5, 0.2), kernel=kernel), X[:50], 0.3)
    )
    for other in found[1:]:
        np.testing.assert_array_equal(other.values, found[0].values)
        np.testing.assert_allclose(other.densities, found[0].densities, rtol=1e-9)


def test_scale_by_a_power_of_two_changes_nothing():
    X, y = samples("plain", 2, 100, 18)
    plain = conditional_modes(prepare_joint(X, y, 0.5), X[:9], 0.3)
    for factor in (2.0**-200, 2.0**200):
        joint = prepare_joint(factor * X, factor * y, factor * 0.5)
        scaled = conditional_modes(joint, factor * X[:9], factor * 0.3)
        np.testing.assert_array_equal(scaled.values, factor * plain.values)


def test_unequal_scales_of_features_and_responses_are_served_by_a_pair():
    X, y = samples("plain", 1, 60, 19)
    plain = conditional_modes(prepare_joint(X, y, (0.5, 0.25)), X[:5], 0.3)
    big = 2.0**600
    joint = prepare_joint(X, big * y, (0.5, 0.25 * big))
    np.testing.assert_array_equal(
        conditional_modes(joint, X[:5], 0.3 * big).values, big * plain.values
    )
    with pytest.raises(ValueError, match=r"bandwidth=\(h_x, h_y\)"):
        conditional_modes(prepare_joint(X, big * y, 0.5), X[:5], 0.3)


def test_progress_is_told_and_may_stop_the_search():
    X, y = samples("plain", 2, 3000, 20)
    reports = []
    joint = prepare_joint(X, y, 0.5)
    conditional_modes(joint, X, 0.3, progress=lambda stage, done: reports.append((stage, done)))
    assert reports[-1] == ("conditional_modes", 1.0)

    def stop(stage, done):
        raise KeyError(stage)

    with pytest.raises(KeyError, match="conditional_modes"):
        conditional_modes(joint, np.tile(X, (20, 1)), 0.3, progress=stop)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tau": -1.0}, "tau is -1.0"),
        ({"tau": np.nan}, "tau is NaN"),
        ({"ratio": -0.1}, "min_density_ratio is -0.1"),
        ({"ratio": 2}, "min_density_ratio is 2"),
        ({"queries": [[np.nan, 0.0]]}, "queries has NaN"),
        ({"queries": [[0.0]]}, "queries has 1 features, expected 2"),
        ({"queries": [0.0]}, r"queries has shape \(1,\)"),
    ],
)
def test_errors_name_what_came_and_what_was_expected(change, message):
    X, y = samples("plain", 2, 10, 21)
    given = {"tau": 1.0, "ratio": 0.01, "queries": X} | change
    with pytest.raises(ValueError, match=message):
        conditional_modes(
            prepare_joint(X, y, 1.0),
            given["queries"],
            given["tau"],
            min_density_ratio=given["ratio"],
        )


@pytest.mark.parametrize("bandwidth", [0.0, -1.0, np.inf, np.nan, (1.0,), (1.0, 2.0, 3.0), (1, 0)])
def test_bandwidth_is_a_positive_number_or_two(bandwidth):
    with pytest.raises(ValueError, match="bandwidth is"):
        prepare_joint([[0.0]], [1.0], bandwidth)


def test_modes_become_a_table():
    X, y = samples("plain", 1, 80, 22)
    found = conditional_modes(
        prepare_joint(X, y, 0.4, kernel="cosine"), [[0.0], [50.0], [0.1]], 0.3
    )
    table = found.to_pandas()
    of_modes = ["density", "height", "support", "conditional_density", "probability"]
    assert list(table.columns) == ["query", "mode", "value", *of_modes]
    np.testing.assert_array_equal(table["value"], found.values)
    np.testing.assert_array_equal(table["query"], found.queries)
    assert set(table["query"]) == {0, 2}
    np.testing.assert_array_equal(table.loc[table["query"] == 2, "mode"], range(len(found[2])))
    assert [len(here) for here in found] == found.counts.tolist()


@pytest.mark.parametrize("name", ["y", "sample_weight"])
def test_arrays_of_the_caller_may_change_after_joining(name):
    X, y = samples("plain", 1, 60, seed=0)
    given = {"y": y, "sample_weight": np.ones(60)}
    expected = conditional_modes(prepare_joint(X, y, 0.5, sample_weight=np.ones(60)), X[:5], 0.5)
    joint = prepare_joint(X, bandwidth=0.5, **given)
    given[name][:] = np.arange(60.0)
    assert conditional_modes(joint, X[:5], 0.5) == expected
