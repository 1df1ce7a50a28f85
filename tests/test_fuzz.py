"""What `make fuzz` has found, one test per kind; and a few of its cases as a test of the script."""

from dataclasses import replace

import numpy as np
import pytest

import fuzz
from quickshift import QuickShift, reference, stages

TINY = np.array([[0.0, 1e-26], [3e-26, 0.0], [6e-26, 2e-26]])  # far below any bandwidth


@pytest.mark.parametrize("kernel", fuzz.KERNELS)
@pytest.mark.parametrize("rtol", [0.0, 1e-9])
def test_a_bandwidth_far_above_all_samples_is_not_limited_at_queries(kernel, rtol):
    # The core limited bandwidths to 2^60 times the largest coordinate: nothing was within them. Now
    # it limits them to 2^490 times.
    queries = np.array([[1.9, 0.0], [0.5, 0.5], [1e-26, 0.0], [40.0, 1.0]])
    for unit in (1.0, 2.0**300, 2.0**370, 2.0**403):
        estimate = stages.fit_estimate(stages.prepare(TINY), 3.5 * unit, kernel=kernel, rtol=rtol)
        expected = reference.log_kernel_density(
            TINY, 3.5 * unit, queries=queries * unit, kernel=kernel
        )
        found = estimate.log_density_at(queries * unit)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-8)


@pytest.mark.parametrize("kernel", fuzz.KERNELS)
def test_shares_with_a_bandwidth_far_above_all_samples_are_those_of_the_reference(kernel):
    queries, weights = np.array([[1.9, 0.0], [0.5, 0.5], [1e-26, 0.0]]), [1.0, 2.0, 5.0]
    for unit in (1.0, 2.0**300, 2.0**370):
        h, at = 3.5 * unit, queries * unit
        model = QuickShift(h, 0.0, kernel=kernel, rtol=0.0).fit(TINY, None, weights)
        assert model.n_clusters_ == 3
        expected = reference.kernel_shares(
            TINY, model.labels_, at, h, kernel=kernel, sample_weight=weights
        )
        np.testing.assert_allclose(model.predict_proba(at), expected, atol=1e-12)


@pytest.mark.parametrize("kernel", fuzz.KERNELS)
def test_modes_are_found_among_responses_far_above_all_features(kernel):
    y = np.array([0.0, 2.0, 4.0])
    joint = stages.prepare_joint(TINY, y, 17.0, kernel=kernel, rtol=0.0)
    found = stages.conditional_modes(joint, [[0.0, 0.0]], 0.3)
    values, densities = reference.modal_regression(TINY, y, [0.0, 0.0], 17.0, 0.3, kernel=kernel)
    np.testing.assert_array_equal(found.values, values)
    np.testing.assert_allclose(found.densities, densities, rtol=1e-9)


@pytest.mark.parametrize("kernel", fuzz.KERNELS)
def test_modes_with_a_bandwidth_beyond_the_range_of_the_features_do_not_overflow(kernel):
    X, y = np.array([[1e-250], [2e-250]]), np.array([1e-250, 3e-250])
    joint = stages.prepare_joint(X, y, 1e190, kernel=kernel, rtol=0.0)
    found = stages.conditional_modes(joint, X, np.inf)
    values, _ = reference.modal_regression(X, y, X[0], 1e190, kernel=kernel, rtol=0.0)
    np.testing.assert_array_equal(found[0], values)


@pytest.mark.parametrize("seed", range(20))
def test_equally_high_modes_stay_with_a_density_ratio_of_one(seed):
    # Their sums differ in the last bits, and no mode was left if the highest was not a root.
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 2, size=(17, 1)).astype(float), rng.integers(0, 5, size=17) * 1.0
    joint = stages.prepare_joint(X, y, 0.226, rtol=0.0)
    found = stages.conditional_modes(joint, X[:1], np.inf, min_density_ratio=1.0)
    expected = reference.modal_regression(
        X, y, X[0], 0.226, np.inf, rtol=0.0, min_density_ratio=1.0
    )
    np.testing.assert_array_equal(found[0], expected[0])
    assert len(found[0]) > 0


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_infinite_densities_are_refused_as_by_the_reference(bad):
    X, density = [[0.0], [1.0], [2.0]], [1.0, bad, 2.0]
    with pytest.raises(ValueError, match="density must hold 3 finite numbers"):
        reference.quick_shift(X, density=density)
    graph = stages.climb(X, [1.0, 3.0, 2.0])
    calls = (
        lambda: stages.climb(X, density),
        lambda: stages.link(X, density, stages.cut(graph, 0.5), 1.5),
        lambda: stages.assign(graph, X, density, tau=1.0),
    )
    for call in calls:
        with pytest.raises(ValueError, match="density has NaN or infinite entries"):
            call()
    made_up = replace(graph, heights=np.array(density))
    for call in (lambda: stages.cut(made_up, 0.5), lambda: stages.cut_into(made_up, 2)):
        with pytest.raises(ValueError, match=r"graph.heights has NaN or infinite entries"):
            call()


@pytest.mark.parametrize("ties", ["total", "strict"])
@pytest.mark.parametrize(
    ("h", "tau"), [(1e292, np.inf), (1e292, 1e259), (1.0, 1e259), (1e292, 1e-3)]
)
def test_huge_bandwidths_and_taus_give_the_labels_of_the_reference(ties, h, tau):
    for d, unit in ((20, 1.0), (20, 1e280), (2, 1e-280), (1, 1e259)):
        X = np.random.default_rng(d).normal(size=(33, d)) * unit
        if h < 1e-100 * unit:  # refused
            continue
        model = QuickShift(h, tau, ties=ties, rtol=0.0).fit(X)
        expected = reference.quick_shift(X, h, tau, ties=ties, rtol=0.0)
        np.testing.assert_array_equal(model.parent_, expected.parent)
        np.testing.assert_array_equal(model.labels_, expected.labels)
        log_density = reference.log_kernel_density(X, h)
        np.testing.assert_allclose(model.log_density_, log_density, rtol=1e-12)


def test_local_scales_that_underflow_are_equally_high():
    X = np.array([[1.0], [2.0], [4.0], [7.0], [0.0], [5e-320], [2e-310]])
    found = stages.local_scale(X, 1)
    expected = reference.local_scale(X, 1)
    np.testing.assert_allclose(found.r, expected.r, rtol=1e-12)
    assert found.r[4] == found.r[5] == np.finfo(float).tiny


def test_responses_beyond_the_largest_bandwidth_of_the_core_are_refused():
    # The core limits bandwidths, and densities were 140 times too low.
    X, y = np.array([[-3.6e-176]]), np.array([1.6e-30])
    joint = stages.prepare_joint(X, y, 4.3e-31, kernel="exponential", rtol=0.0)
    with pytest.raises(ValueError, match="too large relative to the features"):
        stages.conditional_modes(joint, [[-6.3e-31]], np.inf)


@pytest.mark.parametrize("kernel", ["exponential", "triangular"])
def test_the_largest_bandwidth_changes_no_order_of_modes(kernel):
    # Terms that are linear at 0 differed by 2^-30 for responses 2^460 times as large as features.
    X, y = np.array([[1.0], [1.5], [1.25], [1.75]]), np.array([0.0, 1.0, 2.0, -1.0])
    for unit, tau in ((2.0**435, np.inf), (2.0**435, 2.0**434)):
        joint = stages.prepare_joint(X, y * unit, 2.0**510, kernel=kernel, rtol=0.0)
        found = stages.conditional_modes(joint, X[:1], tau)
        values, _ = reference.modal_regression(
            X, y * unit, X[0], 2.0**510, tau, kernel=kernel, rtol=0.0
        )
        np.testing.assert_array_equal(found[0], values)
    joint = stages.prepare_joint(X, y * 2.0**459, 2.0**510, kernel=kernel, rtol=0.0)
    with pytest.raises(ValueError, match="too large relative to the features"):
        stages.conditional_modes(joint, X[:1], np.inf)


def test_a_tau_that_underflows_links_what_is_at_distance_zero():
    # In units of the largest coordinate, the first two rows are at distance 0 and tau is 0, too.
    X, density, tau = [[1e-25], [-1e-25], [1e155]], [2.0, 2.0, 1.0], 1e-171
    forest = stages.cut(stages.climb(X, density, ties="strict"), tau)
    tree = stages.link(X, density, forest, tau)
    expected = reference.cluster_tree(X, tau=tau, density=density, ties="strict", levels=[0.0])
    np.testing.assert_array_equal(tree.components_at(0.0), expected[0])
    np.testing.assert_array_equal(expected, [[0, 0, 1]])


def test_points_whose_distance_underflows_are_linked_across_leaves():
    # A leaf was taken for the whole neighborhood of its points if the square of tau underflows.
    X = np.append(np.linspace(-1e-278, 1e-278, 100), 1.0)[:, None]
    density, tau = np.ones(101), 1e-215
    forest = stages.cut(stages.climb(X, density, ties="strict"), tau)
    found = stages.link(X, density, forest, tau).components_at(0.0)
    np.testing.assert_array_equal(found[:100], found[0])
    assert found[100] != found[0]


def test_a_rest_of_rounded_weights_does_not_reach_the_next_neighbor():
    # The reference took 1e-14 of the last row in addition, because a rounded sum was below K.
    X, weights = np.array([[0.0], [1e-12], [1.0], [1e20]]), [10.0, 1e-9, 1e9, 1.0]
    found = stages.local_scale(X, 62, sample_weight=weights)
    expected = reference.local_scale(X, 62, sample_weight=weights)
    np.testing.assert_allclose(found.r, expected.r, rtol=1e-13)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(100))
def test_drawn_cases_are_those_of_the_reference(seed):
    assert fuzz.run(seed, None)[1] != "different"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", [6552, 6828, 41737])
def test_cases_that_once_differed_are_those_of_the_reference(seed):
    assert fuzz.run(seed, None)[1] == "equal"
