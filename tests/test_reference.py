"""Tests of the reference implementation, which the other tests use as their oracle.

First come cases small enough to compute by hand, then the paper's algorithms exactly as printed.
"""

import math
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from quickshift.reference import (
    cluster_tree,
    kernel_density,
    log_kernel_density,
    modal_regression,
    predict,
    quick_shift,
)

COMPACT = ["silverman", "uniform", "triangular", "tricube", "cosine", "epanechnikov"]
KERNELS = ["gaussian", "exponential", *COMPACT]


def column(*values: float) -> NDArray[np.float64]:
    return np.array(values, dtype=float)[:, None]


def blobs(seed: int, n: int = 40, d: int = 2) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + 3.0 * rng.integers(0, 3, size=(n, 1))


# Algorithm 1 by hand


def test_four_points_on_a_line() -> None:
    # With the uniform kernel and h = 1 the sums count neighbors: 2, 3, 2 and 1 of 4.
    found = quick_shift(column(0, 1, 2, 10), 1.0, 5.0, kernel="uniform")
    np.testing.assert_allclose(found.density, [0.25, 0.375, 0.25, 0.125], rtol=1e-14)
    np.testing.assert_array_equal(found.parent, [1, 1, 1, 2])
    np.testing.assert_array_equal(found.parent_distance, [1, np.inf, 1, 8])
    np.testing.assert_array_equal(found.roots, [1, 3])
    np.testing.assert_array_equal(found.labels, [0, 0, 0, 1])


def test_cut_keeps_an_edge_of_length_exactly_tau() -> None:
    X = np.array([[0.0, 0.0], [1.0, 2.0]])
    length = math.sqrt(5.0)
    assert len(quick_shift(X, tau=length, density=[1, 2]).roots) == 1
    assert len(quick_shift(X, tau=np.nextafter(length, 0), density=[1, 2]).roots) == 2


def test_parents_do_not_depend_on_tau() -> None:
    X = blobs(0)
    parents = [quick_shift(X, 0.5, tau).parent.tolist() for tau in (0.1, 1.0, np.inf)]
    assert parents[0] == parents[1] == parents[2]


def test_labels_fall_with_the_density_of_their_roots() -> None:
    found = quick_shift(column(0, 10, 20, 30), tau=1.0, density=[2, 4, 1, 3])
    np.testing.assert_array_equal(found.roots, [1, 3, 0, 2])
    np.testing.assert_array_equal(found.labels, [2, 0, 3, 1])


def test_infinite_tau_gives_one_tree() -> None:
    found = quick_shift(np.round(blobs(1), 0), 0.5)
    assert len(found.roots) == 1
    assert not found.labels.any()


# Which of two points is higher


def test_duplicates_hang_on_the_first_of_them() -> None:
    found = quick_shift(column(3, 3, 3), 1.0, 1.0)
    np.testing.assert_array_equal(found.parent, [0, 0, 0])
    np.testing.assert_array_equal(found.parent_distance, [np.inf, 0, 0])


def test_strict_ties_leave_every_duplicate_a_root() -> None:
    found = quick_shift(column(3, 3, 3), 1.0, 1.0, ties="strict")
    np.testing.assert_array_equal(found.roots, [0, 1, 2])
    np.testing.assert_array_equal(found.labels, [0, 1, 2])


def test_duplicates_may_be_given_different_densities() -> None:
    found = quick_shift(column(0, 0, 1), tau=0.5, density=[1, 3, 2])
    np.testing.assert_array_equal(found.parent, [1, 1, 1])
    np.testing.assert_array_equal(found.parent_distance, [0, np.inf, 1])


def test_negative_zero_is_zero() -> None:
    found = quick_shift(column(-0.0, 0.0), 1.0)
    np.testing.assert_array_equal(found.parent, [0, 0])


def test_plateau_climbs_to_the_larger_coordinate() -> None:
    X = column(0, 1, 2, 3)
    np.testing.assert_array_equal(quick_shift(X, density=np.ones(4)).parent, [1, 2, 3, 3])
    strict = quick_shift(X, density=np.ones(4), ties="strict")
    np.testing.assert_array_equal(strict.parent, [0, 1, 2, 3])
    # Roots of equal density are still numbered in the total order.
    np.testing.assert_array_equal(strict.roots, [3, 2, 1, 0])


def test_first_coordinate_decides_between_equal_densities() -> None:
    found = quick_shift([[0.0, 9.0], [1.0, 0.0], [1.0, -1.0]], density=[1, 1, 1])
    assert found.roots.tolist() == [1]


@pytest.mark.parametrize("ties", ["total", "strict"])
@pytest.mark.parametrize(
    ("densities", "expected"), [([1, 2, 3], 2), ([1, 3, 2], 1), ([1, 2, 2], 2)]
)
def test_of_equally_near_points_the_highest_is_the_parent(
    densities: list[float], expected: int, ties: str
) -> None:
    assert quick_shift(column(0, -1, 1), density=densities, ties=ties).parent[0] == expected


@pytest.mark.parametrize(
    ("low", "high", "tied"),
    [
        (1.0, 1 + 2.0**-40, True),
        (1.0, 1 + 2.0**-36, True),  # halfway between two steps, rounded down to the even one
        (1.0, 1 + 2.0**-36 + 2.0**-52, False),
        (1 + 2.0**-35, 1 + 3 * 2.0**-36, False),  # halfway, rounded up to the even one
        (1 + 3 * 2.0**-36, 1 + 2.0**-34, True),
        (0.0, 5e-324, True),
    ],
)
def test_densities_are_compared_to_36_bits(low: float, high: float, tied: bool) -> None:
    # The left point has the larger density. If that counts as a tie, the right point is the root.
    assert quick_shift(column(0, 1), density=[high, low]).roots[0] == int(tied)
    assert quick_shift(column(0, 1), density=[high, low], significant_bits=53).roots[0] == 0


@pytest.mark.parametrize(
    ("kernel", "rtol", "root"),
    [("gaussian", 1e-9, 1), ("gaussian", 0.0, 0), ("exponential", 1e-9, 1), ("uniform", 1e-9, 0)],
)
def test_rtol_coarsens_the_comparison_of_infinite_kernels(
    kernel: str, rtol: float, root: int
) -> None:
    # rtol=1e-9 leaves floor(-log2(4e-9)) = 27 significant bits. The points are too far apart to add
    # to each other's density.
    weight = [1 + 2.0**-30, 1.0]
    found = quick_shift(column(0, 1000), 1.0, kernel=kernel, rtol=rtol, sample_weight=weight)
    assert found.roots.tolist() == [root]


def test_reported_density_is_not_rounded() -> None:
    given = np.array([1.0, 1 + 2.0**-50])
    np.testing.assert_array_equal(quick_shift(column(0, 1), density=given).density, given)


def test_order_of_rows_does_not_matter() -> None:
    X = np.round(blobs(2, n=60), 1)
    found = quick_shift(X, 0.4, 0.7)
    shuffle = np.random.default_rng(0).permutation(len(X))
    again = quick_shift(X[shuffle], 0.4, 0.7)
    np.testing.assert_array_equal(again.labels, found.labels[shuffle])
    np.testing.assert_array_equal(again.density, found.density[shuffle])


# Distance


def test_lattice_with_tau_one_is_one_chain() -> None:
    X = column(*range(40))
    rising = np.arange(1.0, 41.0)
    assert len(quick_shift(X, tau=1.0, density=rising).roots) == 1
    assert len(quick_shift(X, tau=np.nextafter(1.0, 0), density=rising).roots) == 40


def test_flat_square_lattice_climbs_along_the_first_axis() -> None:
    # (i+1, j) and (i, j+1) are equally near to (i, j) and equally high; the former is
    # lexicographically larger.
    X = np.array(list(product(range(4), range(4))), dtype=float)
    found = quick_shift(X, tau=1.0, density=np.ones(16))
    assert found.roots.tolist() == [15]
    np.testing.assert_array_equal(found.parent[:12], np.arange(4, 16))
    np.testing.assert_array_equal(found.parent[12:], [13, 14, 15, 15])


@pytest.mark.parametrize("h", [0.1, 0.3, 0.7])
def test_uniform_kernel_reaches_a_distance_of_exactly_h(h: float) -> None:
    X = column(0, h)
    np.testing.assert_allclose(kernel_density(X, h, kernel="uniform"), 1 / (2 * h), rtol=1e-14)
    beyond = column(0, np.nextafter(h, 1))
    np.testing.assert_allclose(kernel_density(beyond, h, kernel="uniform"), 1 / (4 * h), rtol=1e-14)


@pytest.mark.parametrize("power", [-300, 300])
@pytest.mark.parametrize("kernel", KERNELS)
def test_scaling_by_a_power_of_two_changes_nothing_else(kernel: str, power: int) -> None:
    X, scale = blobs(3, d=3), 2.0**power
    found = quick_shift(X, 1.5, 2.0, kernel=kernel)
    scaled = quick_shift(X * scale, 1.5 * scale, 2.0 * scale, kernel=kernel)
    np.testing.assert_array_equal(scaled.labels, found.labels)
    np.testing.assert_array_equal(scaled.parent, found.parent)
    np.testing.assert_array_equal(scaled.parent_distance, found.parent_distance * scale)
    np.testing.assert_allclose(
        log_kernel_density(X * scale, 1.5 * scale, kernel=kernel),
        np.log(found.density) - 3 * power * math.log(2),
        rtol=1e-13,
    )


def test_offset_of_1e8_changes_nothing() -> None:
    X = np.round(blobs(4) * 2**20) / 2**20  # so that 1e8 + X is exact
    found, moved = quick_shift(X, 0.5, 1.0), quick_shift(X + 1e8, 0.5, 1.0)
    for before, after in zip(found, moved, strict=True):
        np.testing.assert_array_equal(after, before)


def test_float32_is_widened() -> None:
    X = blobs(5).astype(np.float32)
    for a, b in zip(quick_shift(X, 0.5), quick_shift(X.astype(float), 0.5), strict=True):
        np.testing.assert_array_equal(a, b)


def test_all_points_at_the_origin() -> None:
    found = quick_shift(np.zeros((3, 2)), 0.5, 1.0)
    assert found.roots.tolist() == [0]
    np.testing.assert_allclose(found.density, 1 / (2 * math.pi * 0.25))


# Period


def test_distance_wraps_around_a_period() -> None:
    found = quick_shift(column(0.125, 0.875), density=[1, 2], period=[1.0])
    assert found.parent_distance[0] == 0.25


def test_only_finite_periods_wrap() -> None:
    X = np.array([[0.125, 0.0], [0.875, 5.0]])
    found = quick_shift(X, density=[1, 2], period=[1.0, np.inf])
    assert found.parent_distance[0] == math.sqrt(0.0625 + 25.0)


def test_periodic_points_are_wrapped_before_they_are_ordered() -> None:
    # -0.125 wraps to 0.875, which is above 0.5, and 3.5 to a duplicate of 0.5. -1e-20 would round
    # to 1, so it wraps to 0, at a distance of 0.125 from 0.875 across the seam.
    found = quick_shift(column(0.5, -0.125, 3.5, -1e-20), density=np.ones(4), period=[1.0])
    assert found.roots.tolist() == [1]
    np.testing.assert_array_equal(found.parent, [1, 1, 0, 1])
    np.testing.assert_array_equal(found.parent_distance, [0.375, np.inf, 0, 0.125])


def test_wrapping_never_leaves_a_negative_coordinate() -> None:
    # 1.7 / 0.1 rounds up to 17, and 0.1 * 17 exceeds 1.7 by one unit in the last place.
    found = quick_shift(column(1.7, 0.0), density=[1, 1], period=[0.1])
    np.testing.assert_array_equal(found.parent_distance, [np.inf, 0])


def test_whole_periods_may_be_added() -> None:
    X = np.round(blobs(6) * 2**10) / 2**10
    turns = np.random.default_rng(1).integers(-3, 4, size=X.shape)
    found = quick_shift(X, 0.5, 1.0, period=[8.0, 8.0])
    turned = quick_shift(X + 8.0 * turns, 0.5, 1.0, period=[8.0, 8.0])
    for before, after in zip(found, turned, strict=True):
        np.testing.assert_array_equal(after, before)


@pytest.mark.parametrize(
    ("kernel", "limit"),
    [("uniform", 2.0), ("gaussian", 1.0), ("silverman", 4 * math.sqrt(2) / 3 / math.pi)],
)
def test_kernels_that_meet_their_own_image_are_refused(kernel: str, limit: float) -> None:
    X = column(0, 1, 2)
    kernel_density(X, 0.999 * limit, kernel=kernel, period=[4.0])
    with pytest.raises(ValueError, match="too large for period"):
        kernel_density(X, 1.001 * limit, kernel=kernel, period=[4.0])


# Weights


@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
def test_integer_weights_equal_repetition(kernel: str) -> None:
    X, weight = blobs(7, n=25), np.random.default_rng(2).integers(0, 4, size=25)
    weighted = quick_shift(X, 0.8, 1.0, kernel=kernel, sample_weight=weight)
    repeated = quick_shift(np.repeat(X, weight, axis=0), 0.8, 1.0, kernel=kernel)
    np.testing.assert_array_equal(np.repeat(weighted.labels, weight), repeated.labels)
    np.testing.assert_allclose(np.repeat(weighted.density, weight), repeated.density, rtol=1e-13)


def test_weight_zero_is_removal() -> None:
    # The second point, of weight zero, neither adds to a density nor is it a parent.
    X, weight = column(0, 2, 2.5, 9), [1, 0, 2, 1]
    found = quick_shift(X, 1.0, 3.0, kernel="uniform", sample_weight=weight)
    np.testing.assert_array_equal(found.parent, [2, 1, 2, 2])
    np.testing.assert_array_equal(found.parent_distance, [2.5, np.nan, np.inf, 6.5])
    np.testing.assert_array_equal(found.labels, [0, 0, 0, 1])
    np.testing.assert_allclose(found.density, np.array([1, 2, 2, 1]) / 8, rtol=1e-14)


def test_weight_zero_copy_takes_the_label_of_its_location() -> None:
    weight = [1, 1, 0]
    found = quick_shift(column(0, 9, 9), tau=1, density=[2, 1, 5], sample_weight=weight)
    np.testing.assert_array_equal(found.labels, [0, 1, 1])


def test_huge_row_of_weight_zero_does_not_blur_the_others() -> None:
    X, weight = column(0.0, 1e-200, 1e300), [1, 1, 0]
    found = quick_shift(X, 1e-200, 2e-200, sample_weight=weight)
    np.testing.assert_array_equal(found.parent_distance, [1e-200, np.inf, np.nan])


# Density


def test_kernels_take_their_textbook_values() -> None:
    at_zero = {
        "gaussian": [(2 * math.pi) ** (-d / 2) for d in (1, 2, 3)],
        "exponential": [1 / 2, 1 / (2 * math.pi), 1 / (8 * math.pi)],
        "uniform": [1 / 2, 1 / math.pi, 3 / (4 * math.pi)],
        "triangular": [1, 3 / math.pi, 3 / math.pi],
        "epanechnikov": [3 / 4, 2 / math.pi, 15 / (8 * math.pi)],
        "tricube": [70 / 81, 220 / (81 * math.pi), 3 / math.pi],
        "cosine": [math.pi / 4],
    }
    for kernel, values in at_zero.items():
        for d, value in enumerate(values, start=1):
            got = kernel_density(np.zeros((1, d)), 1.0, kernel=kernel)
            assert got[0] == pytest.approx(value, rel=1e-13), (kernel, d)
    halfway = {
        "gaussian": math.exp(-1 / 8),
        "exponential": math.exp(-1 / 2),
        "silverman": math.exp(-math.sqrt(1 / 8))
        * math.sin(math.sqrt(1 / 8) + math.pi / 4)
        * math.sqrt(2),
        "uniform": 1.0,
        "triangular": 1 / 2,
        "tricube": (7 / 8) ** 3,
        "cosine": math.sqrt(1 / 2),
        "epanechnikov": 3 / 4,
    }
    for kernel, ratio in halfway.items():
        zero, half = kernel_density(column(0), 2.0, queries=column(0, 1), kernel=kernel)
        assert half / zero == pytest.approx(ratio, rel=1e-14), kernel


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_density_integrates_to_one(kernel: str, d: int) -> None:
    # Midpoint rule in one orthant. The substitution x = reach · u² makes the cells wider in the
    # tails.
    cells = {1: 4000, 2: 200, 3: 40}[d]
    reach = {"gaussian": 7.0, "exponential": 30.0, "silverman": 3.34}.get(kernel, 1.0)
    u = (np.arange(cells) + 0.5) / cells
    axis, width = reach * u**2, 2 * reach * u / cells
    if kernel == "uniform":
        axis, width = reach * u, np.full(cells, reach / cells)
    grid = np.array(list(product(axis, repeat=d)))
    volume = np.prod(np.array(list(product(width, repeat=d))), axis=1)
    h = 0.5
    density = kernel_density(np.zeros((1, d)), h, queries=h * grid, kernel=kernel)
    assert 2**d * h**d * (density @ volume) == pytest.approx(1.0, abs=[0, 1e-3, 3e-3, 1.5e-2][d])


@pytest.mark.parametrize("kernel", KERNELS)
def test_density_integrates_to_one_in_200_dimensions(kernel: str) -> None:
    # Radial integral by the midpoint rule, which is independent of the quadrature in the reference.
    d = 200
    reach = {"gaussian": 40.0, "exponential": 600.0, "silverman": 1.5 * math.pi / math.sqrt(2)}
    t = (np.arange(20_000) + 0.5) / 20_000 * reach.get(kernel, 1.0)
    queries = np.zeros((len(t), d))
    queries[:, 0] = t
    log_k = log_kernel_density(np.zeros((1, d)), 1.0, queries=queries, kernel=kernel)
    log_sphere = math.log(2) + d / 2 * math.log(math.pi) - math.lgamma(d / 2)
    total = np.exp(log_k + (d - 1) * np.log(t) + log_sphere).sum() * (t[1] - t[0])
    assert total == pytest.approx(1.0, rel=1e-4)


def test_aliases() -> None:
    X = blobs(8)
    for alias, name in [("tophat", "uniform"), ("linear", "triangular")]:
        np.testing.assert_array_equal(
            kernel_density(X, 1.0, kernel=alias), kernel_density(X, 1.0, kernel=name)
        )


def test_density_is_the_paper_s_sum() -> None:
    X, queries, h = blobs(9), blobs(10, n=7), 0.6
    weight = np.arange(len(X), dtype=float)
    t_sq = ((queries[:, None] - X[None]) ** 2).sum(axis=2) / h**2
    expected = (weight * np.exp(-t_sq / 2) / (2 * math.pi)).sum(axis=1) / (weight.sum() * h**2)
    got = kernel_density(X, h, queries=queries, sample_weight=weight)
    np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_log_density_does_not_underflow() -> None:
    # Of the samples at 0 and 1, only the nearer one counts at 1e6 with the Gaussian kernel; with
    # the exponential kernel the other one adds a share of e^(-1).
    far = {
        "gaussian": -0.5 * (1e6 - 1) ** 2 - 0.5 * math.log(2 * math.pi),
        "exponential": 1 - 1e6 - math.log(2),
    }
    for kernel, log_k in far.items():
        share = math.log(2) if kernel == "gaussian" else math.log(2 / (1 + math.exp(-1)))
        got = log_kernel_density(column(0, 1), 1.0, queries=column(1e6), kernel=kernel)
        assert got[0] == pytest.approx(log_k - share, rel=1e-15)
    for kernel in COMPACT:
        assert log_kernel_density(column(0), 1.0, queries=column(9), kernel=kernel)[0] == -np.inf
        assert kernel_density(column(0), 1.0, queries=column(9), kernel=kernel)[0] == 0


def test_query_beyond_all_squares_has_no_density() -> None:
    for kernel in KERNELS:
        assert (
            log_kernel_density(column(1), 1.0, queries=column(1e300), kernel=kernel)[0] == -np.inf
        )


# New points


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kernel", ["gaussian", "uniform"])
def test_training_points_keep_their_labels(seed: int, kernel: str) -> None:
    X = np.round(blobs(seed), 1)
    found = quick_shift(X, 0.5, 0.8, kernel=kernel)
    np.testing.assert_array_equal(predict(X, X, 0.5, 0.8, kernel=kernel), found.labels)


@pytest.mark.parametrize(
    ("query", "height", "label"),
    [
        (9.0, 9.0, 2),  # takes the label of the sample that it equals, whatever its density
        (3.0, 3.0, 0),  # the sample at 4 is nearer, but lower than the query
        (3.0, 2.0, 1),  # the sample at 4 has the same density and is larger, so it is higher
        (5.0, 2.0, 1),  # no higher sample is within tau, so the nearest sample is taken
        (2.0, 0.0, 0),  # the samples at 0 and 4 are equally near, and the one at 0 is higher
        (-7.0, 0.0, 0),  # no sample is within tau, so the nearest one is taken
        (7.0, 9.0, 2),  # no sample is higher, so the nearest one is taken
    ],
)
def test_a_query_climbs_once(query: float, height: float, label: int) -> None:
    X, density = column(0, 4, 9), [4, 2, 1]
    np.testing.assert_array_equal(quick_shift(X, tau=3.5, density=density).labels, [0, 1, 2])
    found = predict(X, column(query), tau=3.5, density=density, query_density=[height])
    assert found.tolist() == [label]


def test_strict_query_is_not_below_its_equals() -> None:
    X, density = column(0, 4), [4, 2]
    for ties, label in [("total", 1), ("strict", 0)]:
        found = predict(X, column(3), tau=3.5, density=density, query_density=[2.0], ties=ties)
        assert found.tolist() == [label]


def test_query_on_several_copies_takes_the_label_of_the_highest() -> None:
    X, density = column(5, 5, 0), [1, 2, 3]
    labels = quick_shift(X, tau=1.0, density=density, ties="strict").labels
    assert predict(X, column(5), tau=1.0, density=density, query_density=[0.0])[0] == labels[1]


def test_query_is_placed_by_its_own_density() -> None:
    # The samples have 2, 4, 3, 3, 2 and 2 samples within 1, counting themselves. The query 5.5 has
    # none, so all samples are higher; 3 and 8 are equally near, and 3 is the higher of them. The
    # query 8.5 has two samples within 1, as many as 8 and 8.75.
    X = column(1, 2, 3, 3, 8, 8.75)
    found = predict(X, column(5.5, 8.5), 1.0, 3.0, kernel="uniform")
    np.testing.assert_array_equal(found, [0, 1])


# Algorithm 2 by hand


def test_edges_reach_tau_but_links_do_not() -> None:
    # The parent of 1 is 0, at distance exactly tau; 2 is a root. {0, 1} and {2} are tau apart.
    X, density = column(0, 1, 2), [3, 1, 2]
    at = cluster_tree(X, tau=1.0, density=density, levels=[0.5, 1.0])
    np.testing.assert_array_equal(at, [[0, 0, 1], [0, -1, 1]])
    wider = cluster_tree(X, tau=np.nextafter(1.0, 2), density=density, levels=[0.5, 1.0])
    np.testing.assert_array_equal(wider, [[0, 0, 0], [0, -1, 1]])


def test_level_set_is_strict_and_compares_the_unrounded_density() -> None:
    # Rounded, the densities are equal, so the right point is the parent of the left one; but its
    # unrounded density is not above level 1.
    X, density = column(0, 1), [1 + 2.0**-45, 1.0]
    at = cluster_tree(X, tau=1.0, density=density, levels=[0.5, 1.0, 1 + 2.0**-45])
    np.testing.assert_array_equal(at, [[0, 0], [0, -1], [-1, -1]])


def test_points_are_not_joined_through_a_parent_outside_the_level_set() -> None:
    # The densities are equal up to rounding, so the parent of the first two points is the third.
    # At level 1 it is gone, and the two others are 2 apart.
    X, density = [[0.0, 1.0], [0.0, -1.0], [1.0, 0.0]], [1 + 2.0**-45, 1 + 2.0**-45, 1.0]
    np.testing.assert_array_equal(quick_shift(X, density=density).parent, [2, 2, 2])
    at = cluster_tree(X, tau=1.5, density=density, levels=[0.5, 1.0])
    np.testing.assert_array_equal(at, [[0, 0, 0], [0, 1, -1]])


def test_links_are_repeated_until_none_is_left() -> None:
    # With strict ties every point starts as a component of its own; links chain four together.
    X = column(0, 3, 1, 2, 9)
    at = cluster_tree(X, tau=1.5, density=np.ones(5), levels=[0.5], ties="strict")
    np.testing.assert_array_equal(at, [[1, 1, 1, 1, 0]])


def test_components_are_numbered_from_the_highest_point() -> None:
    # Level 1.5 removes the point at 1, which connects 0 with 2 and 3.
    X, density = column(0, 1, 2, 3, 9), [2, 1, 3, 4, 5]
    at = cluster_tree(X, tau=1.5, density=density, levels=[0.0, 1.5, 3.5])
    np.testing.assert_array_equal(at, [[1, 1, 1, 1, 0], [2, -1, 1, 1, 0], [-1, -1, -1, 1, 0]])


def test_weight_zero_is_outside_every_level_set() -> None:
    X, weight = column(0, 1, 2), [1, 0, 1]
    at = cluster_tree(X, tau=1.5, density=[1, 9, 2], sample_weight=weight, levels=[0.5])
    np.testing.assert_array_equal(at, [[1, -1, 0]])


# Algorithm 3 by hand


def test_responses_without_density_are_no_modes() -> None:
    # Only two of the 200 samples have the query in their support. The responses of the others are
    # 5 apart, so each would be a root if its density were not zero.
    X = column(0, 0, *range(10, 208))
    y = np.append([0.0, 50.0], 100.0 + 5.0 * np.arange(198))
    values, densities = modal_regression(X, y, [0.5], 1.0, 1.0, kernel="epanechnikov")
    np.testing.assert_array_equal(values, [50.0, 0.0])
    # One sample contributes (1 - 0.5²) · 2/π / 200.
    np.testing.assert_allclose(densities, 1.5 / math.pi / 200, rtol=1e-13)


@pytest.mark.parametrize("kernel", COMPACT)
def test_query_without_support_has_no_modes(kernel: str) -> None:
    values, densities = modal_regression(column(0, 1), [0, 1], [9.0], 1.0, 1.0, kernel=kernel)
    assert values.shape == densities.shape == (0,)


def test_infinite_kernels_never_lose_support() -> None:
    # At x = 1000 only the sample at X = 1 counts. Its response 9 is the highest root; 0.5 is more
    # than tau away from it, with a density lower by a factor of e^(-8.5²/2).
    X, y = column(0, 0, 1), [0.0, 0.5, 9.0]
    values, densities = modal_regression(X, y, [1000.0], 1.0, 2.0)
    np.testing.assert_array_equal(values, [9.0, 0.5])
    np.testing.assert_array_equal(densities, [0, 0])
    values, _ = modal_regression(X, y, [1000.0], 1.0, 2.0, min_density_ratio=0.01)
    np.testing.assert_array_equal(values, [9.0])


def test_density_of_modes_is_the_joint_density() -> None:
    rng = np.random.default_rng(3)
    X, y, x = rng.normal(size=(30, 2)), rng.normal(size=30), np.array([0.2, -0.1])
    h_x, h_y = 0.7, 0.3
    values, densities = modal_regression(X, y, x, (h_x, h_y), 0.2)
    in_x = np.exp(-((X - x) ** 2).sum(axis=1) / (2 * h_x**2)) / (2 * math.pi * h_x**2)
    for value, density in zip(values, densities, strict=True):
        in_y = np.exp(-((y - value) ** 2) / (2 * h_y**2)) / math.sqrt(2 * math.pi) / h_y
        assert density == pytest.approx((in_x * in_y).mean(), rel=1e-12)
    same, equal = modal_regression(X, y, x, 0.5, 0.2), modal_regression(X, y, x, (0.5, 0.5), 0.2)
    np.testing.assert_array_equal(same[0], equal[0])
    np.testing.assert_allclose(same[1], equal[1], rtol=1e-12)


def test_given_conditional_densities_are_used_as_they_are() -> None:
    X, y, density = column(0, 0, 0, 0), [0.0, 1.0, 5.0, 9.0], [1, 2, 4, 0]
    values, densities = modal_regression(X, y, [0.0], tau=4.0, density=density)
    np.testing.assert_array_equal(values, [5.0])
    values, densities = modal_regression(X, y, [0.0], tau=3.9, density=density)
    np.testing.assert_array_equal(values, [5.0, 1.0])
    np.testing.assert_array_equal(densities, [4, 2])


@pytest.mark.parametrize(("ratio", "modes"), [(0.5, [5.0, 1.0]), (0.51, [5.0])])
def test_roots_below_the_ratio_are_dropped(ratio: float, modes: list[float]) -> None:
    values, _ = modal_regression(
        column(0, 0), [1.0, 5.0], [0.0], tau=1.0, density=[2, 4], min_density_ratio=ratio
    )
    np.testing.assert_array_equal(values, modes)


def test_modal_regression_takes_periods_and_weights() -> None:
    X, y = column(0.0, 0.95, 0.5, 0.5), [0.0, 5.0, 9.0, 9.0]
    values, _ = modal_regression(
        X, y, [1.0], 0.2, 1.0, kernel="triangular", period=[1.0], sample_weight=[1, 3, 1, 1]
    )
    np.testing.assert_array_equal(values, [5.0, 0.0])
    values, _ = modal_regression(
        X, y, [1.0], 0.2, 1.0, kernel="triangular", period=[1.0], sample_weight=[1, 0, 1, 1]
    )
    np.testing.assert_array_equal(values, [0.0])


# The paper's algorithms as printed, without the package's tie-breaking, rounding and scaling


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("ties", ["total", "strict"])
def test_algorithm_1_as_printed(seed: int, ties: str) -> None:
    X, tau = blobs(seed), 0.8
    f = kernel_density(X, 0.5)
    edges = {}
    for i in range(len(X)):
        higher = [j for j in range(len(X)) if f[j] > f[i]]
        if any(math.dist(X[j], X[i]) <= tau for j in higher):
            edges[i] = min(higher, key=lambda j: math.dist(X[i], X[j]))
    found = quick_shift(X, 0.5, tau, ties=ties)
    kept = found.parent_distance <= tau
    assert edges == {i: found.parent[i] for i in np.flatnonzero(kept)}
    assert sorted(found.roots) == [i for i in range(len(X)) if i not in edges]
    assert all(found.labels[i] == found.labels[j] for i, j in edges.items())
    assert np.all(np.diff(f[found.roots]) < 0)


@pytest.mark.parametrize("seed", range(8))
def test_algorithm_2_as_printed(seed: int) -> None:
    X, tau = blobs(seed), 0.6
    f = kernel_density(X, 0.5)
    graph = quick_shift(X, 0.5, tau)
    distance = np.array([[math.dist(a, b) for b in X] for a in X])
    joined = distance < tau  # Link joins components that have a pair of points closer than tau
    kept = np.flatnonzero(graph.parent_distance <= tau)
    joined[kept, graph.parent[kept]] = True
    levels = np.append(np.quantile(f, [0.0, 0.2, 0.5, 0.8]), [0.5 * f.min(), f.max()])
    for level, row in zip(levels, cluster_tree(X, 0.5, tau, levels=levels), strict=True):
        inside = f > level
        assert ((row >= 0) == inside).all()
        pairs = coo_array(joined & inside[:, None] & inside[None, :])
        _, expected = connected_components(pairs, directed=False)
        assert len(set(zip(row[inside], expected[inside], strict=True))) == len(set(row[inside]))
        assert len(set(row[inside])) == len(set(expected[inside]))
        tops = [f[row == number].max() for number in range(row.max() + 1)]
        assert tops == sorted(tops, reverse=True)


@pytest.mark.parametrize("seed", range(8))
def test_algorithm_3_as_printed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, x, tau = rng.uniform(size=(40, 1)), 0.3, 0.4
    y = rng.choice([-1.0, 1.0], size=40) * X[:, 0] + 0.2 * rng.normal(size=40)
    f = kernel_density(np.column_stack([X, y]), 0.3, queries=[[x, y_j] for y_j in y])
    roots = []
    for i in range(len(y)):
        near = [j for j in range(len(y)) if y[i] - tau <= y[j] <= y[i] + tau]
        if not any(f[j] > f[i] for j in near):
            roots.append(i)
    roots.sort(key=lambda i: -f[i])
    values, densities = modal_regression(X, y, x, 0.3, tau)
    np.testing.assert_array_equal(values, y[roots])
    np.testing.assert_allclose(densities, f[roots], rtol=1e-12)


# Arguments that are refused


@pytest.mark.parametrize(
    "arguments",
    [
        {"X": [1.0, 2.0]},
        {"X": np.empty((0, 2))},
        {"X": column(0, np.nan)},
        {"bandwidth": None},
        {"bandwidth": 0.0},
        {"bandwidth": np.nan},
        {"tau": -1.0},
        {"tau": np.nan},
        {"kernel": "biweight"},
        {"ties": "random"},
        {"rtol": -1e-9},
        {"period": [1.0, 1.0]},
        {"period": [0.0]},
        {"density": [1.0, np.nan, 1.0]},
        {"density": [1.0, -1.0, 1.0]},
        {"density": [1.0]},
        {"significant_bits": 0},
        {"significant_bits": 54},
        {"sample_weight": [1, -1, 1]},
        {"sample_weight": [1, np.inf, 1]},
        {"sample_weight": [0, 0, 0]},
        {"sample_weight": [1, 1]},
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, object]) -> None:
    good = {"X": column(0, 1, 2), "bandwidth": 1.0}
    (name,) = arguments
    with pytest.raises(ValueError, match=f"^{name} must .*, got "):
        quick_shift(**{**good, **arguments})


def test_more_bad_arguments_are_refused() -> None:
    X = column(0, 1)
    with pytest.raises(ValueError, match="both or neither"):
        predict(X, X, 1.0, density=[1, 1])
    with pytest.raises(ValueError, match="1 features"):
        predict(X, [[0.0, 0.0]], 1.0)
    with pytest.raises(ValueError, match="levels"):
        cluster_tree(X, 1.0, 1.0, levels=[np.nan])
    with pytest.raises(ValueError, match="min_density_ratio"):
        modal_regression(X, [0, 1], [0], 1.0, min_density_ratio=2)
    with pytest.raises(ValueError, match="positive"):
        modal_regression(X, [0, 1], [0], (1.0, 0.0))
    with pytest.raises(ValueError, match="negligible relative to the largest coordinate"):
        kernel_density(column(1e300), 1e-100)


def test_arguments_are_not_written() -> None:
    X, weight = column(-0.5, 3.25), np.array([1.0, 2.0])
    X.setflags(write=False)
    weight.setflags(write=False)
    quick_shift(X, 0.2, sample_weight=weight, period=[1.0])
    predict(X, X, 0.2, sample_weight=weight, period=[1.0])
