"""Gaussian sums on a grid: within rtol of the sums over pairs at every point, and reproducible."""

import numpy as np
import pytest

from cases import Case, Floats, make
from density_cases import blobs, tree_of
from instruction_sets import with_every_instruction_set
from quickshift import _core, reference
from quickshift.kernels import KERNELS, get_kernel
from quickshift.stages import fit_estimate, prepare

GAUSSIAN = get_kernel("gaussian").code
ROUNDING = 1e-13
TOLERANCES = (1e-3, 1e-6, 1e-9, 1e-12)
every_dimension = pytest.mark.parametrize("d", [1, 2, 3])
every_tolerance = pytest.mark.parametrize("rtol", TOLERANCES)


def by_grid(tree: _core.Tree, h: float, rtol: float, threads: int = 1) -> Floats:
    return _core.kernel_sums(
        tree, GAUSSIAN, h, rtol, method=_core.DensityMethod.grid, threads=threads
    )


def mixed(tree: _core.Tree, h: float, rtol: float, threads: int = 1) -> Floats:
    return _core.kernel_sums(
        tree, GAUSSIAN, h, rtol, method=_core.DensityMethod.mixed, threads=threads
    )


def by_pairs(tree: _core.Tree, h: float) -> Floats:
    return _core.kernel_sums(tree, GAUSSIAN, h, 0.0, method=_core.DensityMethod.direct)


def logs_at(
    queries: _core.Tree, tree: _core.Tree, h: float, rtol: float, method: _core.DensityMethod
) -> Floats:
    values, log_scales = _core.kernel_sums_at(queries, tree, GAUSSIAN, h, rtol, method=method)
    return np.log(values) + log_scales


def assert_within(found: Floats, expected: Floats, rtol: float, name: str = "") -> None:
    error = np.abs(found / expected - 1.0).max()
    assert error <= rtol + ROUNDING, f"{name}: off by {error}"


# Compared with sums over all pairs


@every_tolerance
@every_dimension
def test_every_sum_is_within_the_tolerance(d: int, rtol: float) -> None:
    tree = tree_of(blobs(1500, d))
    for h in (0.3, 1.0, 4.0):
        assert_within(by_grid(tree, h, rtol), by_pairs(tree, h), rtol, f"h={h}")


@pytest.mark.parametrize("h", [1e-3, 0.02, 0.2, 2.0, 20.0, 1e3, 1e20])
@every_dimension
def test_bandwidth_may_be_below_the_gaps_or_above_the_diameter(d: int, h: float) -> None:
    tree = tree_of(np.random.default_rng(1).normal(size=(100, d)))
    for rtol in TOLERANCES:
        assert_within(by_grid(tree, h, rtol), by_pairs(tree, h), rtol)


@pytest.mark.parametrize(
    "kind",
    ["random", "lattice", "duplicated", "collinear", "constant", "constant_column", "offset"],
)
@every_dimension
def test_densities_are_those_of_the_reference(d: int, kind: str) -> None:
    for weights in ("none", "integer", "real"):
        for n in (1, 2, 17, 200):
            case = make(kind, n, d, weights=weights)
            found = by_grid(tree_of(case.X, case.sample_weight), case.h, 1e-12)
            assert_within(found[case.present], reference_sums(case), 1e-12, case.name)


def reference_sums(case: Case) -> Floats:
    samples = prepare(case.X, sample_weight=case.sample_weight, period=case.period)
    estimate = fit_estimate(samples, case.h)
    expected = reference.kernel_density(case.X, case.h, **case.given)
    return expected[case.present] / np.exp(estimate.log_constant)


@pytest.mark.parametrize("scale", [2.0**-300, 1e-5, 1e5, 2.0**300])
@every_dimension
def test_unit_of_the_coordinates_does_not_matter(d: int, scale: float) -> None:
    tree = tree_of(blobs(300, d) * scale)
    assert_within(by_grid(tree, scale, 1e-12), by_pairs(tree, scale), 1e-12)


@every_tolerance
@every_dimension
def test_offset_does_not_cost_accuracy(d: int, rtol: float) -> None:
    X = blobs(600, d) + 1e8
    assert_within(by_grid(tree_of(X), 0.5, rtol), by_pairs(tree_of(X), 0.5), rtol)


@every_tolerance
@every_dimension
def test_light_points_beside_heavy_ones_keep_the_tolerance_on_a_grid(d: int, rtol: float) -> None:
    # At a distance of 1 to 13 bandwidths from the heavy sample, a sample of weight 1 contributes
    # nearly nothing, a part, or nearly all of the sum at its own location.
    gaps = np.linspace(1.0, 13.0, 60)
    X = np.zeros((61, d))
    X[1:, 0] = gaps
    for heavy in (1e3, 1e6, 1e12):
        weights = np.concatenate([[heavy], np.ones(60)])
        tree = tree_of(X, weights)
        assert_within(by_grid(tree, 1.0, rtol), by_pairs(tree, 1.0), rtol, f"{heavy}")


@every_dimension
def test_weights_may_be_spread_widely(d: int) -> None:
    rng = np.random.default_rng(3)
    tree = tree_of(blobs(800, d), 10.0 ** rng.uniform(-12, 0, size=800))
    for rtol in TOLERANCES:
        assert_within(by_grid(tree, 0.7, rtol), by_pairs(tree, 0.7), rtol)


@every_dimension
def test_one_far_outlier_changes_nothing_for_the_others(d: int) -> None:
    X = blobs(500, d)
    X[0] = 1e9
    tree = tree_of(X)
    sums = by_grid(tree, 0.5, 1e-12)
    assert_within(sums, by_pairs(tree, 0.5), 1e-12)
    assert sums[0] == pytest.approx(1.0, rel=1e-12)


@every_tolerance
@every_dimension
def test_periodic_features_are_summed_across_the_seam(d: int, rtol: float) -> None:
    rng = np.random.default_rng(4)
    X = np.concatenate([rng.uniform(0, 30, size=(250, d)), rng.normal(size=(250, d))])
    for period in (np.full(d, 30.0), np.array([30.0, np.inf, np.inf])[:d]):
        tree = tree_of(X, period=period)
        assert_within(by_grid(tree, 1.0, rtol), by_pairs(tree, 1.0), rtol, f"{period}")


# Dense parts on the grid, sparse ones pair by pair


def tailed(n: int, d: int, seed: int = 0) -> Floats:
    """Draw from a narrow Gaussian and, a tenth, from a distribution with heavy tails around it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    scales = rng.choice([2.0, 40.0], size=(n // 10, 1))
    X[: n // 10] = scales * rng.standard_t(1.0, size=(n // 10, d))
    return X


def assert_mixed(tree: _core.Tree, h: float, rtol: float) -> None:
    """Check that mixed sums are within the tolerance, and not those pair by pair."""
    found = mixed(tree, h, rtol)
    pairs = _core.kernel_sums(tree, GAUSSIAN, h, rtol, method=_core.DensityMethod.direct)
    assert (found != pairs).any()
    assert_within(found, by_pairs(tree, h), rtol, f"h={h}")


@every_tolerance
@every_dimension
def test_every_mixed_sum_is_within_the_tolerance(d: int, rtol: float) -> None:
    tree = tree_of(tailed(2500, d))
    for h in (0.2, 0.5, 1.0):
        assert_mixed(tree, h, rtol)


@every_dimension
def test_mixed_sums_are_not_those_of_the_grid_alone(d: int) -> None:
    tree = tree_of(tailed(1000, d))
    assert (mixed(tree, 0.5, 1e-9) != by_grid(tree, 0.5, 1e-9)).any()


@every_tolerance
@every_dimension
def test_mixed_sums_of_weighted_samples_are_within_the_tolerance(d: int, rtol: float) -> None:
    rng = np.random.default_rng(10)
    for weights in (rng.integers(1, 9, size=3000), 10.0 ** rng.uniform(-12, 0, size=3000)):
        assert_mixed(tree_of(tailed(3000, d), weights.astype(np.float64)), 0.4, rtol)


@every_tolerance
@every_dimension
def test_light_points_around_a_heavy_part_keep_the_tolerance(d: int, rtol: float) -> None:
    # The sums at light samples, which are left to pairs, are mostly those of the heavy ones on the
    # grid; those at samples between them are of both.
    rng = np.random.default_rng(11)
    X = np.concatenate([rng.normal(size=(1500, d)), rng.uniform(-30, 30, size=(300, d))])
    X[-20:] *= 1e4  # lets the tree have wide leaves on a line, too
    for heavy in (1e3, 1e12):
        for weights in ([heavy] * 1500 + [1.0] * 300, [1.0] * 1500 + [heavy] * 300):
            assert_mixed(tree_of(X, np.array(weights)), 0.7, rtol)


@every_dimension
def test_mixed_sums_stay_the_same_with_offset_duplicates_and_outliers(d: int) -> None:
    X = tailed(1500, d)
    X[0] = 1e9
    repeated = np.concatenate([X, X[::3], X[::3]])
    for points in (X, X + 1e6, repeated):
        for rtol in TOLERANCES[:3]:
            assert_mixed(tree_of(points), 0.5, rtol)


def test_mixed_sums_are_refused_where_they_do_not_serve() -> None:
    circle = tree_of(np.zeros((3, 1)), period=np.array([5e3]))
    for tree, rtol in ((circle, 1e-9), (tree_of(np.zeros((3, 4))), 1e-9), (circle, 0.0)):
        with pytest.raises(ValueError, match="method mixed supports what method grid does"):
            mixed(tree, 1.0, rtol)
    tree = tree_of(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="method mixed supports what method grid does"):
        _core.kernel_sums_at(
            tree.query_tree(np.zeros((1, 2))),
            tree,
            GAUSSIAN,
            1.0,
            1e-9,
            method=_core.DensityMethod.mixed,
        )


def test_mixed_sums_are_chosen_where_tails_are_heavy() -> None:
    tree = tree_of(np.random.default_rng(12).standard_t(2.5, size=(60_000, 3)))
    np.testing.assert_array_equal(automatic(tree, 0.3, 1e-9), mixed(tree, 0.3, 1e-9))


# At queries


@every_tolerance
@every_dimension
def test_sums_at_queries_are_within_the_tolerance_near_and_far(d: int, rtol: float) -> None:
    X = blobs(800, d)
    rng = np.random.default_rng(5)
    among = X[:200] + 0.5 * rng.normal(size=(200, d))
    away = 10.0 ** rng.uniform(0, 9, size=(100, 1)) * rng.normal(size=(100, d))
    tree = tree_of(X)
    queries = tree.query_tree(np.concatenate([among, away, np.full((1, d), 1e200)]))
    found = logs_at(queries, tree, 0.5, rtol, _core.DensityMethod.grid)
    expected = logs_at(queries, tree, 0.5, 0.0, _core.DensityMethod.direct)
    allowed = rtol + ROUNDING + 8 * np.finfo(float).eps * np.abs(expected)
    assert (np.abs(found - expected) <= 1.01 * allowed).all()


def test_sums_at_queries_cross_the_seam() -> None:
    rng = np.random.default_rng(6)
    tree = tree_of(rng.uniform(0, 30, size=(300, 2)), period=np.array([30.0, 30.0]))
    queries = tree.query_tree(rng.uniform(-30, 60, size=(200, 2)))
    found = logs_at(queries, tree, 0.8, 1e-9, _core.DensityMethod.grid)
    expected = logs_at(queries, tree, 0.8, 0.0, _core.DensityMethod.direct)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1.01e-9)


# The same bits


@every_dimension
def test_number_of_threads_does_not_change_a_bit_on_a_grid(d: int) -> None:
    tree = tree_of(blobs(30_000, d))
    alone = by_grid(tree, 0.6, 1e-6)
    for threads in (2, 3, 8):
        np.testing.assert_array_equal(by_grid(tree, 0.6, 1e-6, threads), alone)
    tree = tree_of(tailed(12_000, d))
    alone = mixed(tree, 0.2, 1e-9)
    for threads in (2, 3, 8):
        np.testing.assert_array_equal(mixed(tree, 0.2, 1e-9, threads), alone)


@every_dimension
def test_order_of_rows_does_not_change_a_bit_on_a_grid(d: int) -> None:
    X = blobs(5000, d)
    order = np.random.default_rng(7).permutation(len(X))
    sums = by_grid(tree_of(X), 0.6, 1e-9)
    np.testing.assert_array_equal(by_grid(tree_of(X[order]), 0.6, 1e-9), sums[order])
    X = tailed(5000, d)
    sums = mixed(tree_of(X), 0.2, 1e-9)
    np.testing.assert_array_equal(mixed(tree_of(X[order]), 0.2, 1e-9), sums[order])


@every_dimension
def test_power_of_two_as_unit_does_not_change_a_bit_on_a_grid(d: int) -> None:
    X = blobs(2000, d)
    sums = by_grid(tree_of(X), 0.6, 1e-9)
    np.testing.assert_array_equal(by_grid(tree_of(X * 2.0**37), 0.6 * 2.0**37, 1e-9), sums)
    X = tailed(2000, d)
    sums = mixed(tree_of(X), 0.2, 1e-9)
    np.testing.assert_array_equal(mixed(tree_of(X * 2.0**37), 0.2 * 2.0**37, 1e-9), sums)


@every_dimension
def test_instruction_sets_agree_on_a_grid(d: int) -> None:
    tree, mixture = tree_of(blobs(2000, d)), tree_of(tailed(2000, d))
    sums = with_every_instruction_set(
        lambda: np.concatenate([by_grid(tree, 0.6, 1e-12), mixed(mixture, 0.4, 1e-9)])
    )
    for other in sums:
        assert (np.abs(other - sums[-1]) <= 32 * np.spacing(sums[-1])).all()


# The choice of the method


def test_grid_is_refused_where_it_does_not_serve() -> None:
    tree, high = tree_of(np.zeros((3, 2))), tree_of(np.zeros((3, 4)))
    circle = tree_of(np.zeros((3, 1)), period=np.array([5.0]))
    spread = tree_of(np.arange(3.0)[:, None], np.array([1.0, 1e-300, 1.0]))
    for kernel in set(KERNELS) - {"gaussian"}:
        with pytest.raises(ValueError, match="method grid supports the gaussian kernel"):
            _core.kernel_sums(
                tree, get_kernel(kernel).code, 1.0, 1e-9, method=_core.DensityMethod.grid
            )
    for other, rtol in ((high, 1e-9), (tree, 0.0), (tree, 1e-15), (circle, 1e-9), (spread, 1e-9)):
        with pytest.raises(ValueError, match="method grid supports the gaussian kernel"):
            by_grid(other, 1.0, rtol)
    with pytest.raises(ValueError, match="method grid supports the gaussian kernel"):
        _core.kernel_sums_at(tree, tree, GAUSSIAN, 1.0, 1e-9, True, method=_core.DensityMethod.grid)


def automatic(tree: _core.Tree, h: float, rtol: float) -> Floats:
    return _core.kernel_sums(tree, GAUSSIAN, h, rtol)


@every_dimension
def test_no_tolerance_means_every_pair(d: int) -> None:
    tree = tree_of(blobs(3000, d))
    np.testing.assert_array_equal(automatic(tree, 1.0, 0.0), by_pairs(tree, 1.0))


@every_dimension
def test_grid_is_chosen_where_many_points_are_within_reach(d: int) -> None:
    tree = tree_of(np.random.default_rng(8).normal(size=(20_000, d)))
    np.testing.assert_array_equal(automatic(tree, 1.0, 1e-6), by_grid(tree, 1.0, 1e-6))


@every_dimension
def test_pairs_are_summed_where_few_points_are_within_reach(d: int) -> None:
    tree = tree_of(np.random.default_rng(9).normal(size=(3000, d)))
    h = 1e-4
    direct = _core.kernel_sums(tree, GAUSSIAN, h, 1e-9, method=_core.DensityMethod.direct)
    np.testing.assert_array_equal(automatic(tree, h, 1e-9), direct)
