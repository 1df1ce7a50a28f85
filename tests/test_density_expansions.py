"""Sums by expansions of whole nodes: within 1e-12 of the sums over pairs at every point."""

import numpy as np
import pytest

from cases import Floats, make
from density_cases import blobs, rounding, tree_of
from instruction_sets import with_every_instruction_set
from quickshift import _core, reference
from quickshift.kernels import KERNELS, get_kernel
from quickshift.stages import fit_estimate, prepare

ERROR = 1e-12
SMOOTH = ("silverman", "triangular", "tricube", "cosine")
METHOD = _core.DensityMethod.expansions
every_kernel = pytest.mark.parametrize("kernel", SMOOTH)
every_dimension = pytest.mark.parametrize("d", [1, 2])


def by_expansions(tree: _core.Tree, kernel: str, h: float, threads: int = 1) -> Floats:
    code = get_kernel(kernel).code
    return _core.kernel_sums(tree, code, h, 1e-9, method=METHOD, threads=threads)


def by_pairs(tree: _core.Tree, kernel: str, h: float) -> Floats:
    code = get_kernel(kernel).code
    return _core.kernel_sums(tree, code, h, 1e-9, method=_core.DensityMethod.direct)


def sums_of_reference(
    X: Floats, kernel: str, h: float, weights: Floats | None = None, queries: Floats | None = None
) -> Floats:
    density = reference.kernel_density(X, h, queries=queries, kernel=kernel, sample_weight=weights)
    estimate = fit_estimate(prepare(X, sample_weight=weights), h, kernel=kernel)
    return density / np.exp(estimate.log_constant)


def assert_within(found: Floats, expected: Floats, name: str = "") -> None:
    error = np.abs(found / expected - 1.0).max()
    assert error <= ERROR, f"{name}: off by {error}"


# Compared with sums over all pairs


@every_kernel
@every_dimension
def test_sums_by_expansions_are_those_of_the_reference(d: int, kernel: str) -> None:
    X = blobs(1500, d)
    for h in (0.05, 1.0, 5.0, 30.0):
        expected = sums_of_reference(X, kernel, h)
        assert_within(by_expansions(tree_of(X), kernel, h), expected, f"h={h}")


@every_kernel
@every_dimension
def test_sums_of_many_points_are_those_over_pairs(d: int, kernel: str) -> None:
    tree = tree_of(blobs(30_000, d))
    for h in (0.1, 0.7, 4.0):
        found = by_expansions(tree, kernel, h)
        assert_within(found, by_pairs(tree, kernel, h), f"h={h}")


@every_kernel
@every_dimension
def test_bandwidth_may_be_far_below_the_gaps_or_above_the_diameter(d: int, kernel: str) -> None:
    X = np.random.default_rng(1).normal(size=(700, d))
    for h in (1e-12, 1e-3, 100.0, 1e9, 1e150):
        assert_within(
            by_expansions(tree_of(X), kernel, h), sums_of_reference(X, kernel, h), f"h={h}"
        )


@every_kernel
@pytest.mark.parametrize("kind", ["lattice", "duplicated", "collinear", "constant", "offset"])
@every_dimension
def test_sums_of_awkward_data_are_those_of_the_reference(d: int, kind: str, kernel: str) -> None:
    for weights in ("none", "integer", "real"):
        for n in (1, 2, 17, 400):
            case = make(kind, n, d, weights=weights)
            samples = prepare(case.X, sample_weight=case.sample_weight)
            h = case.bandwidth(kernel)
            found = by_expansions(samples.tree, kernel, h)
            expected = sums_of_reference(case.X, kernel, h, case.sample_weight)
            error = np.abs(found - expected)[case.present]
            allowed = ERROR * expected + rounding(case, kernel, case.X)
            assert (error <= allowed[case.present]).all(), case.name


@every_kernel
@every_dimension
def test_offset_of_1e8_keeps_the_accuracy_by_expansions(d: int, kernel: str) -> None:
    X = np.random.default_rng(5).normal(size=(2000, d)) + 1e8
    for h in (0.3, 3.0):
        assert_within(
            by_expansions(tree_of(X), kernel, h), sums_of_reference(X, kernel, h), f"h={h}"
        )


@every_kernel
@every_dimension
def test_light_points_beside_heavy_ones_keep_the_accuracy_by_expansions(
    d: int, kernel: str
) -> None:
    # The light points lie where the heavy ones are near the edge of their support, or beyond it.
    rng = np.random.default_rng(2)
    X = np.concatenate([rng.normal(size=(1000, d)), rng.normal(size=(1000, d))])
    X[1000:, 0] += np.linspace(2.0, 9.0, 1000)
    for heavy in (1e3, 1e6, 1e12, 1e29):
        weights = np.repeat([heavy, 1.0], 1000)
        h = 5.0 / get_kernel(kernel).support
        found = by_expansions(tree_of(X, weights), kernel, h)
        assert_within(found, by_pairs(tree_of(X, weights), kernel, h), f"{heavy}")


@every_kernel
@every_dimension
def test_sums_at_queries_by_expansions_are_those_of_the_reference(d: int, kernel: str) -> None:
    X = blobs(2000, d)
    rng = np.random.default_rng(4)
    queries = np.concatenate([blobs(500, d, seed=9), X[:50], rng.uniform(-60, 60, size=(400, d))])
    weights = rng.uniform(0.5, 2.0, size=len(X))
    code = get_kernel(kernel).code
    samples = tree_of(X, weights)
    for h in (0.5, 3.0, 20.0):
        at = samples.query_tree(queries)
        found, scales = _core.kernel_sums_at(at, samples, code, h, 1e-9, method=METHOD)
        expected = sums_of_reference(X, kernel, h, weights, queries)
        np.testing.assert_array_equal(scales, 0.0)
        error, slack = np.abs(found - expected), 8 * np.finfo(float).eps * weights.sum()
        assert (error <= ERROR * expected + slack).all(), f"h={h}"


@every_kernel
@every_dimension
def test_periodic_features_by_expansions(d: int, kernel: str) -> None:
    X = np.random.default_rng(6).uniform(0.0, 10.0, size=(3000, d))
    samples = prepare(X, period=[10.0] * d)
    support = get_kernel(kernel).support
    for reach in (0.5, 2.0, 4.9):
        h = reach / support
        found = by_expansions(samples.tree, kernel, h)
        assert_within(found, by_pairs(samples.tree, kernel, h), f"reach={reach}")


# The same bits


@every_kernel
@every_dimension
def test_number_of_threads_does_not_change_a_bit_by_expansions(d: int, kernel: str) -> None:
    tree = tree_of(blobs(20_000, d))
    alone = by_expansions(tree, kernel, 1.5)
    for threads in (2, 5):
        np.testing.assert_array_equal(by_expansions(tree, kernel, 1.5, threads), alone)


@every_kernel
@every_dimension
def test_order_of_rows_does_not_change_a_bit_by_expansions(d: int, kernel: str) -> None:
    X = blobs(5000, d)
    order = np.random.default_rng(7).permutation(len(X))
    sums = by_expansions(tree_of(X), kernel, 1.5)
    np.testing.assert_array_equal(by_expansions(tree_of(X[order]), kernel, 1.5), sums[order])


@every_kernel
@every_dimension
def test_power_of_two_as_unit_does_not_change_a_bit_by_expansions(d: int, kernel: str) -> None:
    X = blobs(5000, d)
    sums = by_expansions(tree_of(X), kernel, 1.5)
    scaled = by_expansions(tree_of(X * 2.0**37), kernel, 1.5 * 2.0**37)
    np.testing.assert_array_equal(scaled, sums)


@every_kernel
@every_dimension
def test_instruction_sets_agree_by_expansions(d: int, kernel: str) -> None:
    tree = tree_of(blobs(5000, d))
    sums = with_every_instruction_set(lambda: by_expansions(tree, kernel, 1.5))
    for other in sums:
        assert_within(other, sums[-1])


@every_kernel
def test_points_of_a_lattice_that_are_alike_stay_alike_by_expansions(kernel: str) -> None:
    # Rounded to the bits by which samples are compared, sums that are equal by symmetry are equal.
    side = np.arange(-30.0, 31.0)
    X = np.stack(np.meshgrid(side, side), -1).reshape(-1, 2)
    sums = by_expansions(tree_of(X), kernel, 12.0).reshape(61, 61)
    for other in (sums.T, sums[::-1], sums[:, ::-1]):
        assert_within(other, sums)
    inner = sums[20:-20, 20:-20] if get_kernel(kernel).support == 1.0 else sums[30:31, 30:31]
    assert np.ptp(inner) <= ERROR * inner.max()


# The choice of the method


def test_expansions_are_refused_where_they_do_not_serve() -> None:
    tree, high = tree_of(np.zeros((3, 2))), tree_of(np.zeros((3, 3)))
    spread = tree_of(np.arange(3.0)[:, None], np.array([1.0, 1e-300, 1.0]))
    expected = "method expansions supports the silverman"
    for kernel in set(KERNELS) - set(SMOOTH):
        with pytest.raises(ValueError, match=expected):
            by_expansions(tree, kernel, 1.0)
    for other in (high, spread):
        with pytest.raises(ValueError, match=expected):
            by_expansions(other, "cosine", 1.0)
    code = get_kernel("cosine").code
    with pytest.raises(ValueError, match=expected):
        _core.kernel_sums_at(tree, tree, code, 1.0, 1e-9, True, method=METHOD)


@every_kernel
def test_expansions_are_chosen_where_many_points_are_within_reach(kernel: str) -> None:
    tree = tree_of(np.random.default_rng(8).normal(size=(60_000, 1)))
    code = get_kernel(kernel).code
    found = _core.kernel_sums(tree, code, 1.0, 1e-9)
    np.testing.assert_array_equal(found, by_expansions(tree, kernel, 1.0))
    assert (found != by_pairs(tree, kernel, 1.0)).any()


@every_kernel
def test_pairs_are_summed_where_few_points_are_within_the_support(kernel: str) -> None:
    tree = tree_of(np.random.default_rng(9).normal(size=(20_000, 2)))
    code = get_kernel(kernel).code
    found = _core.kernel_sums(tree, code, 1e-3, 1e-9)
    np.testing.assert_array_equal(found, by_pairs(tree, kernel, 1e-3))
