"""Exponential sums as sums of Gaussians: within rtol of the sums over pairs at every sample."""

import numpy as np
import pytest

from cases import Floats, make
from density_cases import blobs, tree_of
from instruction_sets import with_every_instruction_set
from quickshift import _core, reference
from quickshift.kernels import KERNELS, get_kernel
from quickshift.stages import fit_estimate, prepare

EXPONENTIAL = get_kernel("exponential").code
ROUNDING = 1e-12
TOLERANCES = (1e-3, 1e-6, 1e-9, 1e-11)
every_dimension = pytest.mark.parametrize("d", [1, 2, 3])
every_tolerance = pytest.mark.parametrize("rtol", TOLERANCES)


def by_gaussians(tree: _core.Tree, h: float, rtol: float, threads: int = 1) -> Floats:
    method = _core.DensityMethod.gaussians
    return _core.kernel_sums(tree, EXPONENTIAL, h, rtol, method=method, threads=threads)


def by_pairs(tree: _core.Tree, h: float, rtol: float = 0.0) -> Floats:
    return _core.kernel_sums(tree, EXPONENTIAL, h, rtol, method=_core.DensityMethod.direct)


def assert_within(found: Floats, expected: Floats, rtol: float, name: str = "") -> None:
    error = np.abs(found / expected - 1.0).max()
    assert error <= rtol + ROUNDING, f"{name}: off by {error}"


# Compared with sums over all pairs


@every_tolerance
@every_dimension
def test_every_exponential_sum_is_within_the_tolerance(d: int, rtol: float) -> None:
    tree = tree_of(blobs(800, d))
    for h in (0.1, 0.6, 3.0):
        assert_within(by_gaussians(tree, h, rtol), by_pairs(tree, h), rtol, f"h={h}")


@pytest.mark.parametrize("h", [1e-3, 0.05, 20.0, 1e3])
@every_dimension
def test_bandwidth_may_be_below_the_gaps_or_above_the_diameter(d: int, h: float) -> None:
    tree = tree_of(np.random.default_rng(1).normal(size=(100, d)))
    assert_within(by_gaussians(tree, h, 1e-9), by_pairs(tree, h), 1e-9)


@pytest.mark.parametrize("kind", ["lattice", "duplicated", "collinear", "constant", "offset"])
@every_dimension
def test_densities_are_those_of_the_reference(d: int, kind: str) -> None:
    for weights in ("none", "integer", "real"):
        for n in (1, 2, 17, 100):
            case = make(kind, n, d, weights=weights)
            samples = prepare(case.X, sample_weight=case.sample_weight)
            estimate = fit_estimate(samples, case.h, kernel="exponential")
            found = by_gaussians(samples.tree, case.h, 1e-9)
            expected = reference.kernel_density(
                case.X, case.h, kernel="exponential", sample_weight=case.sample_weight
            )
            sums = expected[case.present] / np.exp(estimate.log_constant)
            assert_within(found[case.present], sums, 1e-9, case.name)


@every_dimension
def test_light_points_beside_heavy_ones_keep_the_tolerance_by_gaussians(d: int) -> None:
    # At a distance of 1 to 35 bandwidths from the heavy sample, a sample of weight 1 contributes
    # nearly nothing, a part, or nearly all of the sum at its own location.
    X = np.zeros((61, d))
    X[1:, 0] = np.linspace(1.0, 35.0, 60)
    for heavy in (1e3, 1e6, 1e12):
        tree = tree_of(X, np.concatenate([[heavy], np.ones(60)]))
        for rtol in (1e-6, 1e-9):
            assert_within(by_gaussians(tree, 1.0, rtol), by_pairs(tree, 1.0), rtol, f"{heavy}")


@every_dimension
def test_weights_may_be_spread_widely(d: int) -> None:
    rng = np.random.default_rng(3)
    tree = tree_of(blobs(500, d), 10.0 ** rng.uniform(-12, 0, size=500))
    assert_within(by_gaussians(tree, 0.7, 1e-9), by_pairs(tree, 0.7), 1e-9)


# The same bits


@every_dimension
def test_number_of_threads_does_not_change_a_bit_by_gaussians(d: int) -> None:
    tree = tree_of(blobs(8000, d))
    alone = by_gaussians(tree, 0.6, 1e-6)
    for threads in (2, 5):
        np.testing.assert_array_equal(by_gaussians(tree, 0.6, 1e-6, threads), alone)


@every_dimension
def test_order_of_rows_does_not_change_a_bit_by_gaussians(d: int) -> None:
    X = blobs(2000, d)
    order = np.random.default_rng(7).permutation(len(X))
    sums = by_gaussians(tree_of(X), 0.6, 1e-9)
    np.testing.assert_array_equal(by_gaussians(tree_of(X[order]), 0.6, 1e-9), sums[order])


@every_dimension
def test_power_of_two_as_unit_does_not_change_a_bit_by_gaussians(d: int) -> None:
    X = blobs(1000, d)
    sums = by_gaussians(tree_of(X), 0.6, 1e-9)
    np.testing.assert_array_equal(by_gaussians(tree_of(X * 2.0**37), 0.6 * 2.0**37, 1e-9), sums)


@every_dimension
def test_instruction_sets_agree_by_gaussians(d: int) -> None:
    tree = tree_of(blobs(1000, d))
    sums = with_every_instruction_set(lambda: by_gaussians(tree, 0.6, 1e-9))
    for other in sums:
        assert_within(other, sums[-1], 0.0)


# The choice of the method


def test_gaussians_are_refused_where_they_do_not_serve() -> None:
    tree, high = tree_of(np.zeros((3, 2))), tree_of(np.zeros((3, 4)))
    circle = prepare(np.zeros((3, 1)), period=[50.0]).tree
    spread = tree_of(np.arange(3.0)[:, None], np.array([1.0, 1e-300, 1.0]))
    method = _core.DensityMethod.gaussians
    expected = "method gaussians supports the exponential kernel"
    for kernel in set(KERNELS) - {"exponential"}:
        with pytest.raises(ValueError, match=expected):
            _core.kernel_sums(tree, get_kernel(kernel).code, 1.0, 1e-9, method=method)
    for other, rtol in ((high, 1e-9), (tree, 0.0), (tree, 1e-13), (circle, 1e-9), (spread, 1e-9)):
        with pytest.raises(ValueError, match=expected):
            by_gaussians(other, 1.0, rtol)
    with pytest.raises(ValueError, match=expected):
        _core.kernel_sums_at(tree, tree, EXPONENTIAL, 1.0, 1e-9, True, method=method)


def test_gaussians_are_chosen_where_many_points_are_within_reach() -> None:
    tree = tree_of(np.random.default_rng(8).normal(size=(60_000, 2)))
    found = _core.kernel_sums(tree, EXPONENTIAL, 1.0, 1e-6)
    np.testing.assert_array_equal(found, by_gaussians(tree, 1.0, 1e-6))


def test_pairs_are_summed_where_few_points_are_within_reach() -> None:
    tree = tree_of(np.random.default_rng(9).normal(size=(3000, 2)))
    found = _core.kernel_sums(tree, EXPONENTIAL, 1e-4, 1e-9)
    np.testing.assert_array_equal(found, by_pairs(tree, 1e-4, 1e-9))
