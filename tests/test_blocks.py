"""Blocks, the method for many features.

They give the sums and the parents that the tree gives, and are chosen where they are faster.
"""

import math

import numpy as np
import pytest

from cases import INFINITE, KERNELS, Case, Floats, distances, make, weights_of
from quickshift import _core, reference
from quickshift.kernels import get_kernel
from quickshift.stages import fit_estimate, prepare

EPSILON = np.finfo(float).eps
FEATURES = (1, 2, 5, 13, 16, 64, 200)
SIZES = (1, 2, 7, 8, 9, 31, 32, 33, 255, 256, 257, 520)  # around the sizes of panels and blocks
every_kernel = pytest.mark.parametrize("kernel", KERNELS)
every_dimension = pytest.mark.parametrize("d", FEATURES)
both_ties = pytest.mark.parametrize("strict", [False, True], ids=["total", "strict"])

BLOCKS, DIRECT = _core.DensityMethod.blocks, _core.DensityMethod.direct


def tree_of(case: Case) -> _core.Tree:
    return prepare(case.X, sample_weight=case.sample_weight, period=case.period).tree


def sums(
    tree: _core.Tree,
    kernel: str,
    h: float,
    method: _core.DensityMethod,
    *,
    rtol: float = 0.0,
    threads: int = 2,
) -> Floats:
    code = get_kernel(kernel).code
    return _core.kernel_sums(tree, code, h, rtol, method=method, threads=threads)


def rounding(case: Case, kernel: str, h: float) -> Floats:
    """Bound the error that rounding a squared distance causes near the edge of a support."""
    support = get_kernel(kernel).support
    if math.isinf(support):
        return np.zeros(case.n)
    weights = np.ones(case.n) if case.sample_weight is None else case.sample_weight
    near = distances(case.X, case.X) <= h * support * (1 + 1e-6)
    return (case.d + 8) * EPSILON * (near @ weights)


def assert_sums_are_the_references(case: Case, kernel: str, h: float) -> None:
    estimate = fit_estimate(prepare(case.X, sample_weight=case.sample_weight), h, kernel=kernel)
    found = sums(estimate.samples.tree, kernel, h, BLOCKS)[case.present]
    logs = reference.log_kernel_density(case.X, h, kernel=kernel, **case.given)[case.present]
    expected = np.exp(logs - estimate.log_constant)
    # The logarithm of the normalizing constant, and so its rounding error, grows with the number
    # of features.
    allowed = (1e-12 + 4 * EPSILON * np.abs(estimate.log_constant)) * expected
    allowed = allowed + rounding(case, kernel, h)[case.present]
    assert (np.abs(found - expected) <= allowed).all(), f"{case.name} {kernel} h={h}"


def assert_sums_are_the_trees(case: Case, kernel: str, h: float, rtol: float = 0.0) -> None:
    tree = tree_of(case)
    found = sums(tree, kernel, h, BLOCKS, rtol=rtol)[case.present]
    expected = sums(tree, kernel, h, DIRECT, rtol=rtol)[case.present]
    share = 2e-13 + (2 * rtol if kernel in INFINITE else 0.0)
    allowed = share * expected + rounding(case, kernel, h)[case.present]
    assert (np.abs(found - expected) <= allowed).all(), f"{case.name} {kernel} h={h} rtol={rtol}"


def assert_parents_are_the_trees(case: Case, density: Floats, strict: bool) -> None:
    tree = tree_of(case)
    found, expected = (
        _core.nearest_higher(tree, density, 36, strict, 2, method=method)
        for method in (_core.ParentMethod.blocks, _core.ParentMethod.tree)
    )
    np.testing.assert_array_equal(found[0], expected[0], err_msg=case.name)
    np.testing.assert_array_equal(found[1], expected[1], err_msg=case.name)


# Sums


@every_dimension
@every_kernel
def test_sums_in_blocks_are_the_references(kernel: str, d: int) -> None:
    for kind in ("random", "lattice", "duplicated", "clustered", "offset"):
        for n, weights in ((300, "none"), (40, "integer"), (33, "real"), (32, "heavy")):
            case = make(kind, n, d, weights=weights)
            assert_sums_are_the_references(case, kernel, case.h)


@pytest.mark.parametrize("d", [2, 16])
@every_kernel
def test_sums_in_blocks_are_the_trees_for_every_number_of_points(kernel: str, d: int) -> None:
    for n in SIZES:
        for kind in ("random", "duplicated"):
            case = make(kind, n, d)
            for rtol in (0.0, 1e-9):
                assert_sums_are_the_trees(case, kernel, case.h, rtol)


@pytest.mark.parametrize("h", [1e-100, 1e-9, 1e-4, 0.01, 0.1, 1.0, 30.0, 1e9, 1e100])
@every_kernel
def test_sums_in_blocks_hold_for_bandwidths_of_any_size(kernel: str, h: float) -> None:
    # Pairs of neighbors at every scale, whose squared distances cancel when computed from products.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 16))
    X[::2] = X[1::2] + rng.normal(size=(150, 16)) * 10.0 ** rng.uniform(-9, 0, size=(150, 1))
    for offset in (0.0, 1e8):
        case = Case(f"pairs + {offset}", X + offset, h)
        for rtol in (0.0, 1e-9):
            assert_sums_are_the_trees(case, kernel, h, rtol)


@pytest.mark.parametrize("square", [1.0, 2.0, 3.0, 5.0, 6.0, 7.0, 10.0])
@every_kernel
def test_edge_of_the_support_is_decided_by_the_definition(kernel: str, square: float) -> None:
    X = np.random.default_rng(0).integers(0, 2, size=(400, 16)).astype(float)
    case = Case("corners of a cube", X, math.sqrt(square))
    support = min(get_kernel(kernel).support, 100.0)
    for h in (math.sqrt(square), math.sqrt(square) / support):
        near = distances(X, X) <= h
        if kernel == "uniform":
            np.testing.assert_array_equal(sums(tree_of(case), kernel, h, BLOCKS), near.sum(axis=1))
        assert_sums_are_the_trees(case, kernel, h)


@every_kernel
def test_light_points_beside_heavy_ones_keep_their_digits_in_blocks(kernel: str) -> None:
    rng = np.random.default_rng(0)
    for gap in (1.0, 5.0, 20.0):
        X = rng.normal(size=(600, 16))
        X[300:, 0] += gap
        case = Case(f"gap {gap}", X, 2.0, np.repeat([1e12, 1.0], 300))
        for rtol in (0.0, 1e-9):
            assert_sums_are_the_trees(case, kernel, 2.0, rtol)


@every_kernel
def test_sums_in_blocks_are_the_same_for_threads_and_orders_of_rows(kernel: str) -> None:
    rng = np.random.default_rng(0)
    for kind, d in (("random", 16), ("clustered", 40), ("lattice", 5)):
        case = make(kind, 2200, d, weights="real")
        order = rng.permutation(case.n)
        expected = sums(tree_of(case), kernel, case.h, BLOCKS, rtol=1e-9, threads=1)
        for threads in (2, 3, 8):
            found = sums(tree_of(case), kernel, case.h, BLOCKS, rtol=1e-9, threads=threads)
            np.testing.assert_array_equal(found, expected)
        # On a lattice, the weights of duplicate rows are added in the order of the rows.
        if kind != "lattice":
            shuffled = sums(tree_of(case.permuted(order)), kernel, case.h, BLOCKS, rtol=1e-9)
            np.testing.assert_array_equal(shuffled, expected[order])


@every_kernel
def test_scaling_by_a_power_of_two_changes_no_bit_in_blocks(kernel: str) -> None:
    case = make("random", 300, 20)
    expected = sums(tree_of(case), kernel, case.h, BLOCKS)
    for exponent in (-900, 1, 900):
        tree = prepare(np.ldexp(case.X, exponent)).tree
        found = sums(tree, kernel, math.ldexp(case.h, exponent), BLOCKS)
        np.testing.assert_array_equal(found, expected)


# Parents


@both_ties
@every_dimension
def test_parents_in_blocks_are_the_trees(d: int, strict: bool) -> None:
    kinds = ("random", "lattice", "duplicated", "collinear", "constant", "clustered", "offset")
    for kind in kinds:
        for n, weights in ((600, "none"), (257, "integer"), (40, "none")):
            case = make(kind, n, d, weights=weights)
            rng = np.random.default_rng(n)
            for density in (
                rng.uniform(size=n),
                rng.integers(0, 4, size=n).astype(float),
                1.0 + rng.integers(0, 6, size=n) * 2.0**-38,
                np.zeros(n),
                rng.normal(size=n),
                -rng.integers(0, 4, size=n).astype(float),
                rng.choice([-np.inf, -1.0, -0.0, 0.0, 2.0, np.inf], size=n),
            ):
                assert_parents_are_the_trees(case, density, strict)


@both_ties
def test_parents_in_blocks_are_the_trees_for_every_number_of_points(strict: bool) -> None:
    for n in (*SIZES, 1300):
        for d in (3, 24):
            case = make("random", n, d)
            density = sums(tree_of(case), "gaussian", case.h, DIRECT)
            assert_parents_are_the_trees(case, density, strict)


@both_ties
def test_parents_in_blocks_are_found_across_wide_gaps_and_tiny_scales(strict: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 14)) * 10.0 ** -rng.integers(0, 60, size=(900, 1))
    X[:300] += 1e6 * rng.integers(0, 4, size=(300, 1))
    assert_parents_are_the_trees(Case("scales", X, 1.0), rng.uniform(size=900), strict)


@both_ties
def test_parents_in_blocks_are_the_references(strict: bool) -> None:
    for kind in ("random", "lattice", "duplicated"):
        for weights in ("none", "integer"):
            case = make(kind, 300, 16, weights=weights)
            density = weights_of("integer", case.n, seed=5)
            graph = _core.nearest_higher(
                tree_of(case), density, 36, strict, 2, method=_core.ParentMethod.blocks
            )
            expected = reference.quick_shift(
                case.X,
                tau=np.inf,
                density=density,
                ties="strict" if strict else "total",
                significant_bits=36,
                **case.given,
            )
            np.testing.assert_array_equal(graph[0], expected.parent, err_msg=case.name)
            np.testing.assert_array_equal(graph[1], expected.parent_distance, err_msg=case.name)


def test_parents_in_blocks_are_the_same_for_any_number_of_threads() -> None:
    case = make("clustered", 2200, 16)
    density = np.random.default_rng(0).uniform(size=case.n)
    found = [
        _core.nearest_higher(
            tree_of(case), density, 36, False, threads, method=_core.ParentMethod.blocks
        )
        for threads in (1, 2, 3, 8)
    ]
    for parent, distance in found[1:]:
        np.testing.assert_array_equal(parent, found[0][0])
        np.testing.assert_array_equal(distance, found[0][1])


# The choice of the method


@every_kernel
def test_choice_changes_no_sum_beyond_the_tolerance(kernel: str) -> None:
    for kind, d in (("random", 24), ("clustered", 16)):
        case = make(kind, 1500, d)
        found = sums(tree_of(case), kernel, case.h, _core.DensityMethod.automatic, rtol=1e-9)
        expected = sums(tree_of(case), kernel, case.h, DIRECT, rtol=1e-9)
        np.testing.assert_allclose(found, expected, rtol=2e-9)


def normal(d: int) -> Floats:
    """Draw a Gaussian cloud, of which a tree can prune little unless d is small."""
    return np.random.default_rng(0).normal(size=(4000, d))


def clusters(d: int) -> Floats:
    """Draw 100 tight clusters, which a tree separates in any number of features."""
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(100, d))
    return centers[rng.integers(100, size=4000)] + 0.01 * rng.normal(size=(4000, d))


def subspace(d: int, dimensions: int) -> Floats:
    """Draw points on a line or plane among many features, which a tree splits as well as in few."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(4000, dimensions)) @ rng.normal(size=(dimensions, d))


# Each comment gives the time of the tree (of the grid, where that is faster) divided by the time of
# the blocks, measured with one thread and AVX-512. Above 1 blocks are faster. Only cases in which
# one method is clearly faster are listed.
SUMS = {
    "2 features": (normal(2), "gaussian", 0.4, False),  # 0.07
    "3 features": (normal(3), "gaussian", 0.5, False),  # 0.6
    "3 features, compact kernel": (normal(3), "epanechnikov", 0.5, False),  # 0.06
    "16 features, compact kernel": (normal(16), "epanechnikov", 4.0, False),  # 0.25
    "64 features": (normal(64), "gaussian", 2.4, True),  # 1.6
    "64 features, long tails": (normal(64), "exponential", 2.4, True),  # 1.3
    "64 features, compact kernel": (normal(64), "epanechnikov", 8.0, True),  # 1.7
    "64 features, flat kernel": (normal(64), "uniform", 8.0, True),  # 1.5
    "64 features, clusters": (clusters(64), "gaussian", 0.05, False),  # 0.07
    "64 features, clusters, compact": (clusters(64), "epanechnikov", 0.5, False),  # 0.05
    "64 features, a plane": (subspace(64, 2), "gaussian", 0.1, False),  # 0.15
    "64 features, a plane, compact": (subspace(64, 2), "epanechnikov", 1.0, False),  # 0.14
}
PARENTS = {
    "2 features": (normal(2), 0.4, False),  # 0.25
    "3 features": (normal(3), 0.5, False),  # 0.4
    "8 features": (normal(8), 0.85, True),  # 2.5
    "16 features": (normal(16), 1.2, True),  # 7
    "64 features": (normal(64), 2.4, True),  # 12
    "8 features, clusters": (clusters(8), 0.02, False),  # 0.5
    "16 features, clusters": (clusters(16), 0.02, False),  # 0.7
    "16 features, a line": (subspace(16, 1), 0.3, False),  # 0.3
    "16 features, a plane": (subspace(16, 2), 0.3, False),  # 0.7
    "64 features, a line": (subspace(64, 1), 0.3, False),  # 0.5
}


@pytest.mark.parametrize(("X", "kernel", "h", "blocks"), SUMS.values(), ids=SUMS)
def test_sums_use_blocks_where_they_pay(X: Floats, kernel: str, h: float, blocks: bool) -> None:
    tree = prepare(X).tree
    assert _core.blocks_pay_for_sums(tree, get_kernel(kernel).code, h, 1e-9) == blocks
    # Each method adds in its own order, so the bits show which one was used.
    found = sums(tree, kernel, h, _core.DensityMethod.automatic, rtol=1e-9)
    assert np.array_equal(found, sums(tree, kernel, h, BLOCKS, rtol=1e-9)) == blocks


@both_ties
@pytest.mark.parametrize(("X", "h", "blocks"), PARENTS.values(), ids=PARENTS)
def test_parents_use_blocks_where_they_pay(X: Floats, h: float, blocks: bool, strict: bool) -> None:
    tree = prepare(X).tree
    density = sums(tree, "gaussian", h, _core.DensityMethod.automatic, rtol=1e-9)
    assert _core.blocks_pay_for_parents(tree, density, 36, strict) == blocks


def test_blocks_are_refused_where_they_do_not_serve() -> None:
    case = make("random", 40, 3)
    periodic = prepare(case.X, period=[30.0, np.inf, np.inf]).tree
    tree, queries = tree_of(case), tree_of(case)
    with pytest.raises(ValueError, match="method blocks supports sums at the samples only"):
        sums(periodic, "gaussian", 1.0, BLOCKS)
    with pytest.raises(ValueError, match="method blocks supports sums at the samples only"):
        _core.kernel_sums_at(queries, tree, 0, 1.0, 0.0, method=BLOCKS)
    with pytest.raises(ValueError, match="method blocks supports sums at the samples only"):
        _core.kernel_sums_at(tree, tree, 0, 1.0, 0.0, leave_out=True, method=BLOCKS)
    with pytest.raises(ValueError, match="method blocks does not support periodic features"):
        _core.nearest_higher(periodic, np.ones(40), 36, False, 1, method=_core.ParentMethod.blocks)
