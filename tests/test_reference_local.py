"""Tests of the local scale and of the default rule in the reference implementation.

First come cases small enough to compute by hand, then the rule against Algorithm 2 and its
invariances.
"""

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from clustering_cases import GAPS
from quickshift.reference import (
    LocalClusters,
    cluster_tree,
    local_clusters,
    local_scale,
    predict,
    quick_shift,
)
from quickshift.reference.local_density import distinct_rows
from quickshift.reference.local_modes import Modes, find_modes, keep_significant
from quickshift.reference.order import climb, cut, trees
from quickshift.reference.settings import Settings, prepare

Floats = NDArray[np.float64]


def column(*values: float) -> Floats:
    return np.array(values, dtype=float)[:, None]


def blobs(seed: int, n: int = 60, d: int = 2) -> Floats:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + 4.0 * rng.integers(0, 3, size=(n, 1))


def always(threshold: float) -> Callable[[int], float]:
    return lambda _: threshold


def assert_same(a: tuple[object, ...], b: tuple[object, ...]) -> None:
    for first, second in zip(a, b, strict=True):
        np.testing.assert_array_equal(first, second)


# r: the mean distance to the K nearest other samples


def test_r_is_the_mean_distance_to_the_nearest_others() -> None:
    X = column(0, 1, 3, 7)
    np.testing.assert_array_equal(local_scale(X, 1).r, [1, 1, 2, 4])
    np.testing.assert_array_equal(local_scale(X, 2).r, [2, 1.5, 2.5, 5])
    np.testing.assert_allclose(local_scale(X, 3).r, np.array([11, 9, 9, 17]) / 3, rtol=1e-15)


@pytest.mark.parametrize(
    ("total", "neighbors"),
    [
        (1, (1, 1, 1)),
        (2, (1, 1, 1)),
        (7, (2, 2, 2)),  # at most a third of the samples
        (12, (4, 4, 4)),  # at least four, if that is no more than a third
        (30, (5, 10, 10)),  # 1.6 * 30^(1/3) = 4.97
        (1000, (16, 32, 64)),
        (1e6, (160, 320, 640)),
    ],
)
def test_automatic_number_of_neighbors(total: float, neighbors: tuple[int, ...]) -> None:
    weight = [total / 2, total / 2]
    found = [local_scale(column(0, 1), sample_weight=weight, scale=s) for s in (1, 2, 4)]
    assert tuple(scale.n_neighbors for scale in found) == neighbors


def test_own_copies_spread_over_half_the_distance_to_the_nearest_row() -> None:
    # On a line the two other copies at 0 are at 2 * 1/3 and 2 * 2/3, since 2 is half of 4.
    X = column(0, 0, 0, 4, 10)
    np.testing.assert_allclose(local_scale(X, 1).r, [2 / 3, 2 / 3, 2 / 3, 4, 6], rtol=1e-15)
    np.testing.assert_allclose(local_scale(X, 2).r, [1, 1, 1, 4, 8], rtol=1e-15)
    np.testing.assert_allclose(local_scale(X, 3).r, [2, 2, 2, 4, 26 / 3], rtol=1e-15)


def test_copies_in_a_plane_spread_by_square_roots() -> None:
    # (1/4)^(1/2) of half the distance 5 between (0, 0) and (3, 4).
    X = np.array([[0, 0], [0, 0], [0, 0], [0, 0], [3, 4], [9, 9]], dtype=float)
    assert local_scale(X, 1).r[0] == 1.25
    mean = 1.25 * (1 + math.sqrt(2) + math.sqrt(3)) / 3
    assert local_scale(X, 3).r[0] == pytest.approx(mean, rel=1e-15)


def test_the_last_neighbor_counts_in_part() -> None:
    # At 0: weight 2 at distance 2, and 1 of the 4 at distance 5. At 2: one copy at 1 * 1/2, then 1
    # at distance 2 and 1 of the 4 at distance 3. At 5: copies at 1.5 * 1/4, 2/4 and 3/4.
    found = local_scale(column(0, 2, 5), 3, sample_weight=[1, 2, 4])
    np.testing.assert_allclose(found.r, [9 / 3, 5.5 / 3, 0.75], rtol=1e-15)


def test_a_real_weight_has_its_last_copy_in_part() -> None:
    # At 0, half a copy at 2 / 1.5, and the other half of K = 1 at distance 4. The two copies at 4
    # are at 2 / 3 and 4 / 3.
    found = local_scale(column(0, 4), 1, sample_weight=[1.5, 3])
    np.testing.assert_allclose(found.r, [0.5 * 2 / 1.5 + 0.5 * 4, 2 / 3], rtol=1e-15)


def test_a_weight_below_one_has_no_other_copies() -> None:
    assert local_scale(column(0, 4), 1, sample_weight=[0.25, 3]).r[0] == 4
    # Weights of equal rows are added before copies are counted.
    found = local_scale(column(0, 4, 0), 1, sample_weight=[0.75, 3, 0.75])
    assert_same(found, local_scale(column(0, 4, 0), 1, sample_weight=[1, 3, 0.5]))
    assert found.r[0] == found.r[2] == pytest.approx(0.5 * 2 / 1.5 + 0.5 * 4)


def test_the_mean_is_over_what_exists() -> None:
    # K is 1, but the other row has only a weight of 0.75.
    found = local_scale(column(0, 2), sample_weight=[0.75, 0.75])
    assert found.n_neighbors == 1
    np.testing.assert_array_equal(found.r, [2, 2])
    query = local_scale(column(0, 2), queries=column(1.25), sample_weight=[0.25, 0.5])
    assert query.r[0] == (0.5 * 0.75 + 0.25 * 1.25) / 0.75


def test_ties_at_the_last_neighbor_do_not_matter() -> None:
    # Every inner point of the lattice has four neighbors at 1, then four at √2.
    X = np.array(list(product(range(5), range(5))), dtype=float)
    for K, mean in [(2, 1.0), (4, 1.0), (6, (4 + 2 * math.sqrt(2)) / 6)]:
        r = local_scale(X, K).r.reshape(5, 5)
        np.testing.assert_allclose(r[1:-1, 1:-1], mean, rtol=1e-15)
        assert len(set(r[1:-1, 1:-1].ravel().tolist())) == 1
    # Of two rows at the same distance, the light and the heavy one give the same mean.
    for weight in ([1, 1, 3], [1, 3, 1]):
        assert local_scale(column(0, -2, 2), 2, sample_weight=weight).r[0] == 2


def test_power_of_two_scaling_is_exact() -> None:
    X, weight = blobs(0), np.random.default_rng(0).uniform(0.5, 3, size=60)
    found = local_scale(X, sample_weight=weight)
    for power in (-300, 300):
        scaled = local_scale(X * 2.0**power, sample_weight=weight)
        np.testing.assert_array_equal(scaled.r, found.r * 2.0**power)
        np.testing.assert_array_equal(scaled.tau, found.tau * 2.0**power)
        np.testing.assert_allclose(
            scaled.log_density, found.log_density - 2 * power * math.log(2), rtol=1e-13
        )


def test_log_density_is_finite_where_distances_underflow() -> None:
    found = local_scale(column(0, 1e-200, 1), 1)
    assert (found.r > 0).all()
    assert np.isfinite(found.log_density).all()
    far = local_scale(column(0, 1e-200), 1, queries=column(1e300))
    assert np.isfinite(far.log_density).all()


# tau: the distance to the g-th nearest distinct row


@pytest.mark.parametrize(
    ("m", "on_a_line", "in_a_plane"),
    [(3, 2, 2), (16, 2, 2), (17, 3, 3), (64, 8, 8), (65, 9, 8), (128, 16, 8), (200, 16, 8)],
)
def test_tau_reaches_an_eighth_of_the_rows(m: int, on_a_line: int, in_a_plane: int) -> None:
    # The row at 0 has the others at 1, 2, 3, ...
    X = np.zeros((m, 2))
    X[:, 0] = np.arange(m)
    assert local_scale(X).tau[0] == on_a_line
    X[-1, 1] = 0.5
    assert local_scale(X).tau[0] == pytest.approx(in_a_plane, abs=0.1)


def test_tau_counts_distinct_rows() -> None:
    found = local_scale(column(0, 0, 0, 1, 5), sample_weight=[1, 1, 1, 9, 1])
    np.testing.assert_array_equal(found.tau, [5, 5, 5, 4, 5])


def test_tau_is_the_distance_to_the_farthest_row_if_there_are_too_few() -> None:
    np.testing.assert_array_equal(local_scale(column(0, 3, 3)).tau, [3, 3, 3])


def test_ties_at_tau_do_not_matter() -> None:
    # In the middle of the lattice, the second nearest of four rows at distance 1.
    X = np.array(list(product(range(4), range(4))), dtype=float)
    tau = local_scale(X).tau.reshape(4, 4)
    np.testing.assert_array_equal(tau, np.ones((4, 4)))


def test_tau_of_a_query_leaves_no_row_out() -> None:
    X = column(0, 1, 3, 7)
    np.testing.assert_array_equal(local_scale(X, 1, queries=column(2, 3)).tau, [1, 3])


# Density


def test_density_on_a_line() -> None:
    # With d = 1, c is (K + 1) / 4.
    found = local_scale(column(0, 1, 3, 7), 2)
    np.testing.assert_allclose(np.exp(found.log_density), 3 / 16 / found.r, rtol=1e-14)


def test_density_in_a_plane() -> None:
    # With d = 2 and K = 1, c is (Γ(5/2) / Γ(2) / (3/2))² / π = 1/4.
    found = local_scale(blobs(1, n=20), 1)
    np.testing.assert_allclose(np.exp(found.log_density), 0.25 / 20 / found.r**2, rtol=1e-13)


@pytest.mark.parametrize("d", [1, 2, 3, 8])
def test_density_of_a_uniform_ball_is_that_of_the_ball(d: int) -> None:
    # At the center of n uniform points, whose distances are in expectation (j / n)^(1/d).
    rng = np.random.default_rng(d)
    n, K = 400, 40
    ratios = []
    for _ in range(50):
        direction = rng.normal(size=(n, d))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        X = direction * rng.uniform(size=(n, 1)) ** (1 / d)
        log_ball = 0.5 * d * math.log(math.pi) - math.lgamma(0.5 * d + 1)
        found = local_scale(X, K, queries=np.zeros((1, d)))
        ratios.append(math.exp(found.log_density[0] + log_ball))
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.1)


def test_constant_features_do_not_count() -> None:
    X = blobs(2, n=30)
    X[5:9] = X[0]  # copies, whose distances depend on d
    found = local_scale(X)
    wide = np.column_stack([np.full(30, 7.5), X, np.zeros((30, 5))])
    assert_same(local_scale(wide), found)
    # A row of weight zero does not make a feature vary.
    wide = np.vstack([wide, np.ones(8)])
    weighted = local_scale(wide, sample_weight=[1] * 30 + [0])
    np.testing.assert_array_equal(weighted.log_density[:30], found.log_density)


# One distinct row


@pytest.mark.parametrize("weight", [[1, 1, 1], [0.25, 0.5, 0.125], [5, 0, 0]])
def test_one_distinct_row_has_scale_one(weight: list[float]) -> None:
    found = local_scale(column(3, 3, 3), sample_weight=weight)
    np.testing.assert_array_equal(found.r, [1, 1, 1])
    np.testing.assert_array_equal(found.tau, [1, 1, 1])
    for ties in ("total", "strict"):
        clusters = local_clusters(column(3, 3, 3), 0.5, sample_weight=weight, ties=ties)
        assert clusters.labels.tolist() == [0, 0, 0]
        assert clusters.roots.tolist() == [0]


def test_a_query_beside_the_only_row_has_its_distance() -> None:
    found = local_scale(column(3, 3), 1, queries=column(3, 5))
    np.testing.assert_array_equal(found.r, [1, 2])
    np.testing.assert_array_equal(found.tau, [1, 2])


# Queries


def test_a_query_equal_to_a_row_has_its_values() -> None:
    X, weight = np.round(blobs(3), 1), np.random.default_rng(1).integers(1, 4, size=60)
    found = local_scale(X, sample_weight=weight)
    again = local_scale(X, queries=X[::-1] + 0.0, sample_weight=weight)
    assert_same(again[:3], tuple(values[::-1] for values in found[:3]))
    assert local_scale(column(0, 1), 1, queries=column(-0.0)).r[0] == 1


def test_any_other_query_leaves_nothing_out() -> None:
    found = local_scale(column(0, 1, 3, 7), 2, queries=column(1.5, 1 + 2.0**-40))
    np.testing.assert_array_equal(found.r, [1.0, (2.0**-40 + 1 + 2.0**-40) / 2])


def test_rows_of_weight_zero_are_queries() -> None:
    X, weight = column(0, 1, 3, 7, 1.5, 1), [1, 1, 1, 1, 0, 0]
    found = local_scale(X, 2, sample_weight=weight)
    np.testing.assert_array_equal(found.r, [2, 1.5, 2.5, 5, 1, 1.5])
    np.testing.assert_array_equal(found.tau, [3, 2, 3, 6, 1.5, 2])
    assert_same(found[:3], local_scale(X[:4], 2, queries=X)[:3])


def test_distances_wrap_around_a_period() -> None:
    # 0, 1 and 7 with period 8; 9 is the row 1, and 7.5 lies between 7 and 0.
    found = local_scale(column(0, 1, 7), 2, period=[8])
    np.testing.assert_array_equal(found.r, [1, 1.5, 1.5])
    found = local_scale(column(0, 1, 7), 2, period=[8], queries=column(9, 7.5))
    np.testing.assert_array_equal(found.r, [1.5, 0.5])
    np.testing.assert_array_equal(found.tau, [2, 0.5])


# Algorithms 1 and 2 with one tau per sample


def test_a_move_is_kept_up_to_the_tau_of_the_sample_that_moves() -> None:
    X, density = column(0, 1, 3), [3, 2, 1]
    assert quick_shift(X, tau=[0, 1, 2], density=density).roots.tolist() == [0]
    assert quick_shift(X, tau=[9, 1, 1.5], density=density).roots.tolist() == [0, 2]
    assert quick_shift(X, tau=[9, 0.5, 2], density=density).roots.tolist() == [0, 1]


def test_link_reaches_the_larger_tau_of_a_pair() -> None:
    # As in the test of one tau, where samples exactly tau apart are not linked.
    X, density = column(0, 1, 2), [3, 1, 2]
    for tau, expected in [([0, 1, 0], 1), ([1, 0, 1], 1), ([1, 0, 0], 2), ([0, 0.9, 0], 3)]:
        at = cluster_tree(X, tau=tau, density=density, levels=[0.5])
        assert at.max() + 1 == expected


def test_smaller_r_is_higher() -> None:
    X, r = column(0, 1, 2), np.array([3.0, 1.0, 2.0])
    found = quick_shift(X, tau=[2.0, 2.0, 2.0], density=-r)
    assert found.parent.tolist() == [1, 1, 1]
    at = cluster_tree(X, tau=[1.0, 1.0, 1.0], density=-r, levels=[-3.5, -3.0, -1.5])
    np.testing.assert_array_equal(at, [[0, 0, 0], [-1, 0, 0], [-1, 0, -1]])


@pytest.mark.parametrize(("excess", "tied"), [(2.0**-40, True), (2.0**-34, False)])
def test_r_is_compared_to_36_bits(excess: float, tied: bool) -> None:
    # If the two count as equal, the larger coordinate is higher.
    found = quick_shift(column(0, 1), tau=[2.0, 2.0], density=[-1.0, -1.0 - excess])
    assert found.roots.tolist() == [int(tied)]


def test_a_query_moves_within_its_own_tau() -> None:
    X, density, tau = column(0, 4), [-1.0, -2.0], [1.0, 1.0]
    for query_tau, label in [(2.5, 0), (2.4, 1)]:
        found = predict(
            X, column(2.5), tau=tau, density=density, query_density=[-1.5], query_tau=[query_tau]
        )
        assert found.tolist() == [label]


def test_row_of_weight_zero_moves_within_its_own_tau() -> None:
    X, density, weight = column(0, 4, 2.5), [-1.0, -2.0, -1.5], [1, 1, 0]
    for own, label in [(2.5, 0), (2.4, 1)]:
        found = quick_shift(X, tau=[1, 1, own], density=density, sample_weight=weight)
        assert found.labels.tolist() == [0, 1, label]


@pytest.mark.parametrize("seed", range(3))
def test_training_points_keep_their_labels(seed: int) -> None:
    X = np.round(blobs(seed), 1)
    r, tau, _, _ = local_scale(X)
    labels = quick_shift(X, tau=tau, density=-r).labels
    again = local_scale(X, queries=X)
    found = predict(X, X, tau=tau, density=-r, query_density=-again.r, query_tau=again.tau)
    np.testing.assert_array_equal(found, labels)


# Modes, by hand. With d = 1 and K = 2, Z is log(r(saddle) / r(mode)).

# On this line tau is 1, except at the ends. The modes are rows 1, 9, 5, 3 and 7, from the highest
# to the lowest. Row 4 joins 3 and 5; row 2 joins them with 1; row 8 joins 7 and 9; row 6 joins all.
LINE = column(*range(11))
HILLS = np.array([20, 1, 4, 2, 3, 1.5, 6, 2.5, 5, 1.25, 20])


def hills(threshold: float = 0.0, **arguments: int) -> LocalClusters:
    return local_clusters(LINE, threshold, n_neighbors=2, density=-HILLS, **arguments)


def test_significance_compares_a_mode_with_its_saddle() -> None:
    found = hills()
    assert found.all_roots.tolist() == [1, 9, 5, 3, 7]
    ratios = [np.inf, 6 / 1.25, 4 / 1.5, 3 / 2, 5 / 2.5]
    np.testing.assert_allclose(found.all_significances, np.log(ratios), rtol=1e-15)
    assert_same(found[:3], (found.labels, found.all_roots, found.all_significances))
    assert found.labels.tolist() == [0, 0, 0, 3, 2, 2, 2, 4, 1, 1, 1]


@pytest.mark.parametrize(
    ("threshold", "roots", "labels"),
    [
        (0.6, [1, 9, 5, 7], [0, 0, 0, 2, 2, 2, 2, 3, 1, 1, 1]),  # 3 goes to 5
        (0.75, [1, 9, 5], [0, 0, 0, 2, 2, 2, 2, 1, 1, 1, 1]),  # 7 goes to 9
        (1.0, [1, 9], [0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1]),  # 5 goes to 1, with what came from 3
        (2.0, [1], [0] * 11),
    ],
)
def test_merged_modes_go_across_their_saddle(
    threshold: float, roots: list[int], labels: list[int]
) -> None:
    found = hills(threshold)
    assert found.roots.tolist() == roots
    assert found.labels.tolist() == labels
    assert len(found.significance) == len(roots)
    again = hills(n_clusters=len(roots))
    assert_same(again, found)


def test_a_mode_whose_neighbor_is_lower_follows_it_upwards() -> None:
    # Row 9 is absorbed at row 6, which belongs to 5. As 5 is lower than 9, it goes on to 1.
    found = hills(n_clusters=4)
    assert found.roots.tolist() == [1, 9, 5, 7]
    r = HILLS.copy()
    r[9] = 2.4  # now 9 is lower than 5, and stays with it
    found = local_clusters(LINE, 0.9, n_neighbors=2, density=-r)
    assert found.roots.tolist() == [1, 5, 9]
    found = local_clusters(LINE, 0.95, n_neighbors=2, density=-r)
    assert found.roots.tolist() == [1, 5]
    assert found.labels.tolist() == [0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]


def test_of_equally_significant_modes_the_higher_stays() -> None:
    # Row 1 meets 3 at 6 and has r = 3; row 5 meets 3 at 4 and has r = 2.
    r = np.array([20.0, 3, 6, 1, 4, 2, 20])
    found = local_clusters(LINE[:7], 0.0, n_neighbors=2, n_clusters=2, density=-r)
    assert found.all_significances.tolist() == [np.inf, math.log(2), math.log(2)]
    assert found.roots.tolist() == [3, 5]
    assert found.labels.tolist() == [0, 0, 0, 0, 0, 1, 1]


def test_more_clusters_than_modes_cut_the_longest_moves_relative_to_tau() -> None:
    # Moves of 2, 4, 6 and 8 have length tau; 4 is the highest of them. Rows 0 and 10 have tau = 2.
    found = hills(n_clusters=6)
    assert found.roots.tolist() == [1, 9, 5, 3, 7, 4]
    assert found.significance[-1] == 0
    assert hills(n_clusters=9).roots.tolist() == [1, 9, 5, 3, 7, 4, 2, 8, 6]
    assert len(hills(n_clusters=11).roots) == 11
    # The sample at 10 makes the longest move, but its tau is 8.
    r = np.array([4.0, 3, 2, 1, 9])
    found = local_clusters(column(0, 1, 2, 3, 10), 0.0, n_neighbors=2, n_clusters=2, density=-r)
    assert found.labels.tolist() == [1, 1, 1, 0, 0]
    with pytest.raises(ValueError, match=r"n_clusters must lie in 1\.\.11, got 12"):
        hills(n_clusters=12)


@pytest.mark.parametrize(("third", "towards"), [(1.5, [-1, 0, 1]), (1.0, [-1, 0, 0])])
def test_of_equally_high_saddles_the_shortest_counts_first(
    third: float, towards: list[int]
) -> None:
    # The point at 0 belongs to the mode at 0.5, and reaches a mode at -1 and one at 1.5. The latter
    # is higher, but farther away; if it is equally near, it counts first.
    X, r, tau = column(0, 0.5, -1, third), np.array([4.0, 3.0, 2.0, 1.0]), [1.6, 0, 0, 0]
    run = prepare(Settings(X, None, tau, "gaussian", None, None, "total", 0.0, -r, None))
    up, distance = climb(run.ordered)
    forest = trees(cut(up, distance, run.tau[run.ordered.rows]))
    modes = find_modes(run, distinct_rows(run.samples), up, forest, 2)
    assert run.ordered.rows[modes.roots].tolist() == [3, 2, 1]
    assert modes.towards.tolist() == towards
    np.testing.assert_allclose(modes.significance, np.log([np.inf, 4 / 2, 4 / 3]), rtol=1e-15)


def test_significance_is_not_negative() -> None:
    # The samples at 2 and 3 are equal up to rounding, so the one at 3 is higher, though its r is
    # larger. That mode meets the one at 0 through the sample at 2, whose r is smaller.
    X, r = column(0, 2, 3, 3.5), np.array([1.0, 2.0, 2 * (1 + 2.0**-45), 20.0])
    found = local_clusters(X, 0.0, n_neighbors=1, density=-r)
    assert found.all_roots.tolist() == [0, 2]
    assert found.all_significances.tolist() == [np.inf, 0]


# Modes that meet no other


TWO_GROUPS = column(0, 2, 3, 4, 6, 20, 22, 23, 24, 26)  # K = 3 at every scale


def test_a_lone_mode_is_compared_with_the_way_to_its_parent() -> None:
    # r is 5/3 at 2, 3, 4 and at 22, 23, 24. The parent of the mode at 4 is 22, and the lowest of
    # the seven points is 13, halfway, with distances 7, 7 and 9.
    found = local_clusters(TWO_GROUPS, 1.8)
    assert found.roots.tolist() == [8, 3]
    z = math.sqrt(3 / 2) * math.log(23 / 5)
    np.testing.assert_allclose(found.significance, [np.inf, z], rtol=1e-14)
    assert found.labels.tolist() == [1] * 5 + [0] * 5
    assert found.n_neighbors == 3


def test_a_lone_mode_that_goes_joins_the_cluster_of_its_parent() -> None:
    # The group on the right is the highest, and the one on the left the least significant. The
    # parent of the latter is in the middle.
    X = np.vstack([TWO_GROUPS, column(60, 61, 61.5, 62, 63)])
    found = local_clusters(X, 0.0, n_neighbors=3)
    assert found.labels.tolist() == [2] * 5 + [1] * 5 + [0] * 5
    merged = local_clusters(X, 0.0, n_neighbors=3, n_clusters=2)
    assert merged.labels.tolist() == [1] * 10 + [0] * 5


def test_the_way_has_seven_points() -> None:
    # With K = 1, r is 1 in the left group, whose mode is at 0, and 1/4 at its parent 8. The way
    # passes a sample at 6, so the lowest of the seven points is 3.
    found = local_clusters(column(-2, -1, 0, 6, 8, 8.25, 8.5), 0.0, n_neighbors=1)
    assert found.roots.tolist() == [6, 2]
    assert found.significance[1] == pytest.approx(math.sqrt(1 / 2) * math.log(3), rel=1e-15)


def test_points_on_the_way_that_equal_a_row_have_its_values() -> None:
    # The modes are at 0 and 8, and the seven points between them are 1 to 7. The lowest is 4, which
    # is a row: a weight of 0.5 is at a distance of 0.25, and 5.5 of K = 6 are at a distance of 3,
    # whereas the row itself does not count. At 0 there are six of eight copies.
    X = column(-1, 0, 1, 3.75, 4, 4.25, 7, 8, 9)
    found = local_clusters(X, 0.0, sample_weight=[3, 9, 3, 0.25, 0.5, 0.25, 3, 9, 3], n_neighbors=6)
    lowest, mode = (0.5 * 0.25 + 5.5 * 3) / 6, 0.5 * 3.5 / 9
    assert found.all_roots[:2].tolist() == [7, 1]
    expected = math.sqrt(3) * math.log(lowest / mode)
    assert found.all_significances[1] == pytest.approx(expected, rel=1e-14)


def test_the_way_crosses_the_seam_of_a_period() -> None:
    X = column(0, 1.25, 3, 6.5, 11, 30, 32.75, 33.25, 37.5, 42.25)
    # There are no equal r, between which coordinates would decide.
    assert len(set(local_scale(X, 2).r.tolist())) == 10
    found = local_clusters(X, 0.0, n_neighbors=2, period=[256])
    assert len(found.roots) == 2
    for shift in (226, 250):
        moved = local_clusters(np.mod(X + shift, 256), 0.0, n_neighbors=2, period=[256])
        assert_same(moved, found)
    assert_same(local_clusters(X, 0.0, n_neighbors=2), found)


# Which modes stay


@pytest.mark.parametrize(("significances", "kept"), GAPS)
def test_gap_rule(significances: list[float], kept: int) -> None:
    k, least = len(significances), 2.0
    order = np.random.default_rng(k).permutation(k)
    modes = Modes(np.arange(k), np.arange(k) - 1, np.array(significances)[order])
    flags = keep_significant(modes, least, True)
    np.testing.assert_array_equal(flags[np.argsort(order)], np.arange(k) < kept)
    without = keep_significant(modes, least, False)
    np.testing.assert_array_equal(without, modes.significance >= least)


def test_a_number_switches_the_gap_rule_off() -> None:
    # Z is 1.57, 0.98, 0.69 and 0.41. The last ratio of at least 1.5 before 0.75 is 1.57 / 0.98.
    by_gap = local_clusters(LINE, always(0.75), n_neighbors=2, density=-HILLS)
    assert by_gap.roots.tolist() == [1, 9]
    assert hills(0.75).roots.tolist() == [1, 9, 5]


# Scales


def test_scales_are_tried_until_there_are_two_clusters() -> None:
    X = np.vstack([blobs(4, n=100), blobs(5, n=100) + 30])
    for found_at, K in [(1, 9), (2, 18), (4, 36)]:
        asked: list[int] = []

        def threshold(scale: int, found_at: int = found_at, asked: list[int] = asked) -> float:
            asked.append(scale)
            return 3.0 if scale == found_at else 1e9

        found = local_clusters(X, threshold)
        assert asked == [scale for scale in (1, 2, 4) if scale <= found_at]
        assert len(found.roots) > 1
        assert found.n_neighbors == K
        same = local_clusters(X, always(3.0), n_neighbors=K)
        assert_same(found, same)


def test_scale_one_stands_if_no_scale_finds_two_clusters() -> None:
    asked: list[int] = []

    def threshold(scale: int) -> float:
        asked.append(scale)
        return 1e9

    found = local_clusters(blobs(4, n=100), threshold)
    assert asked == [1, 2, 4]
    assert len(found.roots) == 1
    assert found.n_neighbors == 7
    assert_same(local_clusters(blobs(4, n=100), 1e9, n_neighbors=7), found)


def test_explicit_numbers_use_one_scale() -> None:
    asked: list[int] = []

    def threshold(scale: int) -> float:
        asked.append(scale)
        return 1e9

    X = blobs(4, n=100)
    assert local_clusters(X, threshold, n_neighbors=9).n_neighbors == 9
    assert local_clusters(X, threshold, n_clusters=1).n_neighbors == 7
    assert asked == [1, 1]


def test_the_least_significance_that_was_kept_reproduces_the_labels() -> None:
    for seed in range(5):
        found = local_clusters(blobs(seed, n=120), always(2.0))
        if len(found.roots) > 1:
            least = found.significance[np.isfinite(found.significance)].min()
            again = local_clusters(blobs(seed, n=120), least, n_neighbors=found.n_neighbors)
            assert_same(again, found)


# The whole rule against Algorithm 2, and invariances


@pytest.mark.parametrize("seed", range(4))
def test_saddles_are_those_of_algorithm_2(seed: int) -> None:
    # A mode is absorbed at the first r at which its component in {r' <= r} holds a higher mode.
    X = np.round(blobs(seed), [2, 1, 2, 0][seed])
    r, tau, _, K = local_scale(X)
    found = local_clusters(X, 0.0, n_neighbors=K)
    steps = np.unique(r)
    levels = np.nextafter(-steps, -np.inf)
    components = cluster_tree(X, tau=tau, density=-r, levels=levels)
    for mode in range(1, len(found.all_roots)):
        at = components[:, found.all_roots[mode]]
        above = components[:, found.all_roots[:mode]]
        meets = ((above == at[:, None]) & (at[:, None] >= 0)).any(axis=1)
        if meets.any():
            ratio = max(1.0, steps[np.argmax(meets)] / r[found.all_roots[mode]])
            expected = 2 * math.sqrt(K / 2) * math.log(ratio)
            assert found.all_significances[mode] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("decimals", [0, 1, 6])
def test_order_of_rows_does_not_matter(decimals: int) -> None:
    X = np.round(blobs(6, n=90), decimals)
    found = local_clusters(X, always(1.5))
    shuffle = np.random.default_rng(0).permutation(len(X))
    again = local_clusters(X[shuffle], always(1.5))
    np.testing.assert_array_equal(again.labels, found.labels[shuffle])
    np.testing.assert_array_equal(again.all_significances, found.all_significances)
    np.testing.assert_array_equal(X[shuffle][again.all_roots], X[found.all_roots])


@pytest.mark.parametrize("ties", ["total", "strict"])
def test_integer_weights_equal_repetition(ties: str) -> None:
    X, weight = blobs(7, n=50), np.random.default_rng(2).integers(0, 4, size=50)
    weighted = local_scale(X, sample_weight=weight)
    repeated = local_scale(np.repeat(X, weight, axis=0))
    assert weighted.n_neighbors == repeated.n_neighbors
    for few, many in zip(weighted[:3], repeated[:3], strict=True):
        np.testing.assert_array_equal(np.repeat(few, weight), many)
    clusters = local_clusters(X, always(1.5), sample_weight=weight, ties=ties)
    same = local_clusters(np.repeat(X, weight, axis=0), always(1.5), ties=ties)
    np.testing.assert_array_equal(np.repeat(clusters.labels, weight), same.labels)
    np.testing.assert_array_equal(clusters.significance, same.significance)


def test_weight_zero_is_removal_and_a_query() -> None:
    X, weight = blobs(8, n=80), np.ones(80)
    weight[::4] = 0
    found = local_clusters(X, 1.0, sample_weight=weight)
    kept = local_clusters(X[weight > 0], 1.0)
    np.testing.assert_array_equal(found.labels[weight > 0], kept.labels)
    np.testing.assert_array_equal(found.all_significances, kept.all_significances)
    rows, queries = X[weight > 0], X[weight == 0]
    K = kept.n_neighbors
    at, asked = local_scale(rows, K), local_scale(rows, K, queries=queries)
    unmerged = quick_shift(rows, tau=at.tau, density=-at.r).labels
    tree = predict(
        rows, queries, tau=at.tau, density=-at.r, query_density=-asked.r, query_tau=asked.tau
    )
    label_of_tree = dict(zip(unmerged.tolist(), kept.labels.tolist(), strict=True))
    expected = [label_of_tree[number] for number in tree.tolist()]
    assert found.labels[weight == 0].tolist() == expected


def test_constant_columns_and_power_of_two_scaling_change_no_label() -> None:
    X = blobs(9, n=90)
    found = local_clusters(X, always(1.5))
    assert_same(local_clusters(X * 2.0**200, always(1.5)), found)
    wide = np.column_stack([X, np.tile([3.0, -1, 0, 5, 1e3, 2], (90, 1))])
    assert_same(local_clusters(wide, always(1.5)), found)


def test_strict_moves_never_link_equal_r() -> None:
    # r is 5/3 at three samples of each group, none of which is then the parent of another.
    strict = local_clusters(TWO_GROUPS, 0.0, ties="strict", n_neighbors=3)
    assert sorted(strict.all_roots.tolist()) == [1, 2, 3, 6, 7, 8]
    # Each group is linked, at no loss of density; no sample is higher than either of them.
    assert np.isinf(strict.all_significances).sum() == 2
    assert np.sort(strict.all_significances)[:4].tolist() == [0, 0, 0, 0]
    found = local_clusters(TWO_GROUPS, 1e-9, ties="strict", n_neighbors=3)
    assert found.labels.tolist() == [1] * 5 + [0] * 5
    with pytest.raises(ValueError, match="n_clusters must be at least 2, got 1"):
        local_clusters(TWO_GROUPS, 0.0, ties="strict", n_clusters=1)


# Arguments that are refused


@pytest.mark.parametrize("n_neighbors", [0, 4, 1.5, -1])
def test_bad_numbers_of_neighbors_are_refused(n_neighbors: float) -> None:
    X = column(0, 1, 2, 3)
    with pytest.raises(ValueError, match=r"^n_neighbors must .* from 1 to 4 - 1, .*, got "):
        local_scale(X, n_neighbors)
    with pytest.raises(ValueError, match=r"^n_neighbors must"):
        local_clusters(X, 1.0, n_neighbors=n_neighbors)


def test_weights_that_are_no_frequencies_are_refused() -> None:
    X = column(*range(9))
    with pytest.raises(ValueError, match=r"^sample_weight must be frequencies"):
        local_scale(X, sample_weight=np.full(9, 1 / 9))
    local_scale(X[:8], sample_weight=np.full(8, 1 / 8))
    local_scale(X, sample_weight=[0.5] * 8 + [0])
    local_scale(X, sample_weight=[0.5] * 8 + [4])


def test_more_bad_arguments_are_refused() -> None:
    X = column(0, 1, 2)
    with pytest.raises(ValueError, match=r"^scale must"):
        local_scale(X, scale=0)
    with pytest.raises(ValueError, match=r"^tau must .*, got "):
        quick_shift(X, tau=[1.0, 1.0], density=[1, 2, 3])
    with pytest.raises(ValueError, match=r"^query_tau must be given if"):
        predict(X, X, tau=[1, 1, 1], density=[1, 2, 3], query_density=[1, 2, 3])
    with pytest.raises(ValueError, match=r"^query_tau must be given if"):
        predict(X, X, 1.0, 1.0, query_tau=[1, 1, 1])
    with pytest.raises(ValueError, match=r"^query_tau must be a length"):
        predict(X, X, 1.0, [1, 1, 1], query_tau=[1, 1])
    for threshold in (-1.0, np.nan, always(0.0)):
        with pytest.raises(ValueError, match=r"^threshold must"):
            local_clusters(X, threshold)
    with pytest.raises(ValueError, match=r"^n_neighbors must be given if density"):
        local_clusters(X, 1.0, density=[-1, -2, -3])
    with pytest.raises(ValueError, match=r"^ties must"):
        local_clusters(X, 1.0, ties="random")


def test_arguments_are_not_written() -> None:
    X, weight = column(-0.5, 3.25, 1), np.array([1.0, 2.0, 0.0])
    X.setflags(write=False)
    weight.setflags(write=False)
    local_scale(X, queries=X, sample_weight=weight, period=[1.0])
    local_clusters(X, 1.0, sample_weight=weight, period=[1.0])
