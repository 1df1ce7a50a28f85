"""The local scale: r, tau and the log density, at the samples and at queries.

Everything is compared with the reference. The two methods, every instruction set and any number of
threads give the same bits.
"""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import cases
from cases import DIMENSIONS, KINDS, Case, Floats
from density_cases import queries_near
from instruction_sets import SETS
from quickshift import _core, reference, stages
from quickshift.reference.local_density import distinct_rows
from quickshift.reference.samples import checked_samples
from quickshift.stages.local_scale import default_neighbors, measure_scales, n_spacing, n_varying

TREE, BLOCKS = _core.ScaleMethod.tree, _core.ScaleMethod.blocks
every_kind = pytest.mark.parametrize("kind", KINDS)
every_dimension = pytest.mark.parametrize("d", DIMENSIONS)


def column(*values: float) -> Floats:
    return np.array(values, dtype=float)[:, None]


def total_weight(case: Case) -> float:
    return case.n if case.sample_weight is None else float(case.sample_weight.sum())


def are_frequencies(case: Case) -> bool:
    """Return whether the weights are large enough to be accepted."""
    return case.n <= 8 or total_weight(case) >= 8


def numbers_of_neighbors(case: Case) -> set[int | str]:
    """Return the least K, the default one, some between, and the largest, but none that is slow."""
    total = total_weight(case)
    most = math.floor(min(total, 400)) - 1
    given = {min(k, most) for k in (1, 2, 5, most) if most >= 1}
    return given | ({"auto"} if total < 1e4 else set())


def expected_scale(
    case: Case, n_neighbors: int | str, queries: Floats | None = None
) -> reference.LocalScale:
    k = None if n_neighbors == "auto" else n_neighbors
    return reference.local_scale(case.X, k, queries=queries, **case.given)


def scales(
    samples: stages.Samples,
    n_neighbors: int,
    method: _core.ScaleMethod = _core.ScaleMethod.automatic,
    threads: int = 1,
) -> tuple[Floats, Floats]:
    g, d = n_spacing(samples), n_varying(samples)
    (r,), tau, _ = _core.local_scales(
        samples.tree, [float(n_neighbors)], g, d, threads, None, method
    )
    return r, tau


def assert_are_the_references(
    found: tuple[Floats, Floats, Floats], expected: reference.LocalScale, name: str
) -> None:
    """Compare r, tau and the log density; tau is the length of one distance, so it is exact."""
    r, tau, log_density = found
    np.testing.assert_allclose(r, expected.r, rtol=1e-13, err_msg=name)
    np.testing.assert_array_equal(tau, expected.tau, err_msg=name)
    np.testing.assert_allclose(
        log_density, expected.log_density, rtol=1e-12, atol=1e-11, err_msg=name
    )


def assert_same(a: tuple[Floats, ...], b: tuple[Floats, ...], name: str = "") -> None:
    for one, other in zip(a, b, strict=True):
        np.testing.assert_array_equal(one, other, err_msg=name)


# By hand


def test_r_is_the_mean_distance_to_the_nearest_others_and_tau_the_second_distance():
    X = column(0, 1, 3, 7)
    np.testing.assert_array_equal(stages.local_scale(X, 1).r, [1, 1, 2, 4])
    found = stages.local_scale(X, 2)
    np.testing.assert_array_equal(found.r, [2, 1.5, 2.5, 5])
    np.testing.assert_array_equal(found.tau, [3, 2, 3, 6])
    np.testing.assert_allclose(found.density(found.heights), 3 / 16 / found.r, rtol=1e-14)
    np.testing.assert_array_equal(found.levels, 1 / found.r)
    np.testing.assert_allclose(
        found.density_of_levels(found.levels), found.density(found.heights), rtol=1e-14
    )


def test_copies_are_spread_over_half_the_distance_to_the_nearest_row():
    found = stages.local_scale(column(0, 0, 0, 4, 10), 3)
    np.testing.assert_allclose(found.r, [2, 2, 2, 4, 26 / 3], rtol=1e-15)
    plane = np.array([[0, 0], [0, 0], [0, 0], [0, 0], [3, 4], [9, 9]], dtype=float)
    assert stages.local_scale(plane, 1).r[0] == 1.25


def test_queries_leave_nothing_out_unless_they_equal_a_sample():
    scale = stages.local_scale(column(0, 1, 3, 7), 2)
    r, tau = scale.scales_at(column(1.5, 3, -0.0))
    np.testing.assert_array_equal(r, [1, 2.5, 2])
    np.testing.assert_array_equal(tau, [1.5, 3, 3])


# Against the reference


@every_dimension
@every_kind
def test_scales_at_samples_are_the_references(kind, d):
    for case in itertools.chain(cases.variations(kind, d), cases.sizes_of(kind, d)):
        if not are_frequencies(case):
            continue
        samples, present = stages.prepare(case.X, **case.given), case.present
        for k in numbers_of_neighbors(case):
            scale, expected = stages.local_scale(samples, k), expected_scale(case, k)
            assert scale.n_neighbors == expected.n_neighbors
            assert np.isnan(scale.r[~present]).all()
            assert np.isnan(scale.tau[~present]).all()
            kept = [values[present] for values in (scale.r, scale.tau)]
            log_density = scale.log_density(scale.heights[present])
            wanted = expected._replace(
                r=expected.r[present],
                tau=expected.tau[present],
                log_density=expected.log_density[present],
            )
            assert_are_the_references((*kept, log_density), wanted, f"{case.name} K={k}")


@every_dimension
@every_kind
def test_scales_at_queries_are_the_references(kind, d):
    for case in cases.variations(kind, d):
        if not are_frequencies(case):
            continue
        k = "auto" if total_weight(case) < 1e4 else 7
        scale, queries = stages.local_scale(case.X, k, **case.given), queries_near(case)
        expected = expected_scale(case, k, queries)
        found = (*scale.scales_at(queries), scale.log_density_at(queries))
        assert_are_the_references(found, expected, case.name)


@given(cases.cases(kinds=tuple(KINDS), weights=("none", "integer", "real")), st.data())
def test_drawn_scales_are_the_references(case, data):
    assume(are_frequencies(case) and total_weight(case) >= 2)
    k = data.draw(st.integers(1, math.floor(total_weight(case)) - 1))
    scale = stages.local_scale(case.X, k, **case.given)
    expected = reference.local_scale(case.X, k, queries=case.X, **case.given)
    found = (*scale.scales_at(case.X), scale.log_density_at(case.X))
    assert_are_the_references(found, expected, case.name)
    present = case.present
    assert_same((scale.r[present], scale.tau[present]), tuple(v[present] for v in found[:2]))


@pytest.mark.parametrize("weights", cases.WEIGHTS)
@every_kind
def test_samples_as_queries_have_the_same_bits(kind, weights):
    for d in DIMENSIONS:
        case = cases.make(kind, 65, d, weights=weights, period=cases.PERIODS[d % 3])
        scale = stages.local_scale(case.X, 9, **case.given)
        present = case.present
        found = scale.scales_at(case.X)
        assert_same((scale.r[present], scale.tau[present]), tuple(v[present] for v in found))


# The same bits


@every_dimension
@every_kind
def test_methods_instruction_sets_and_threads_give_the_same_bits(use_set, kind, d):
    for case in itertools.chain(cases.variations(kind, d), cases.sizes_of(kind, d)):
        samples = stages.prepare(case.X, **case.given)
        single = case.sample_weight is None and len(np.unique(case.X, axis=0)) == case.n
        methods = [TREE, BLOCKS] if single and case.period is None and case.n > 1 else [TREE]
        for k in {1, min(9, max(1, case.n - 1)), max(1, case.n - 1)}:
            results = []
            for each, method, threads in itertools.product(SETS, methods, (1, 2, 3)):
                use_set(each)
                results.append(scales(samples, k, method, threads))
            for other in results[1:]:
                assert_same(results[0], other, f"{case.name} K={k}")


@every_dimension
@every_kind
def test_several_numbers_of_neighbors_at_once_give_the_same_bits(kind, d):
    for case in itertools.chain(cases.variations(kind, d), cases.sizes_of(kind, d)):
        samples = stages.prepare(case.X, **case.given)
        most = max(1, case.n - 1)
        numbers = sorted({1, min(3, most), min(9, most), most})
        for k, scale in zip(numbers, measure_scales(samples, numbers), strict=True):
            assert_same((scale.r, scale.tau), scales(samples, k), f"{case.name} K={k}")


@pytest.mark.parametrize("d", [1, 2, 7, 9, 13, 16, 64, 200])
def test_blocks_are_the_tree_with_many_features_and_sizes(use_set, d):
    rng = np.random.default_rng(d)
    for n in (2, 9, 33, 257, 800):
        X = rng.normal(size=(n, d)) + 5.0 * rng.integers(0, 3, size=(n, 1))
        if d > 2 and n > 33:
            X = np.unique(np.round(X * 2), axis=0)  # many distances are equal
        samples = stages.prepare(X)
        for k in (1, min(18, len(X) - 1), min(300, len(X) - 1)):
            expected = scales(samples, k, TREE)
            for each, threads in itertools.product(SETS, (1, 3)):
                use_set(each)
                assert_same(scales(samples, k, BLOCKS, threads), expected, f"n={n} K={k}")
                assert_same(scales(samples, k, TREE, threads), expected, f"n={n} K={k}")


def test_queries_have_the_same_bits_for_every_instruction_set_and_number_of_threads(use_set):
    for d in (1, 2, 5, 20):
        case = cases.make("random", 400, d, weights=("none", "real")[d % 2])
        samples = stages.prepare(case.X, **case.given)
        results = []
        for each, threads in itertools.product(SETS, (1, 2, 3)):
            use_set(each)
            scale = stages.local_scale(samples, 12, n_jobs=threads)
            results.append(scale.scales_at(queries_near(case)))
        for other in results[1:]:
            assert_same(results[0], other)


def test_blocks_refuse_many_duplicates_and_periods():
    X = np.random.default_rng(0).normal(size=(30, 3))
    refused = [
        stages.prepare(X, sample_weight=np.full(30, 2.0)),
        stages.prepare(X, sample_weight=np.full(30, 0.9)),
        stages.prepare(np.concatenate([X, X[:9]])),
        stages.prepare(X, period=[9.0, np.inf, np.inf]),
    ]
    for samples in refused:
        with pytest.raises(ValueError, match="method blocks does not support"):
            scales(samples, 3, BLOCKS)
    assert_same(
        scales(stages.prepare(X, sample_weight=np.ones(30)), 3, BLOCKS),
        scales(stages.prepare(X), 3, TREE),
    )


@pytest.mark.parametrize("d", [1, 2, 3, 7, 12])
@pytest.mark.parametrize("copies", [1, 2, 40])
def test_few_duplicates_are_measured_as_many_are(d, copies):
    X = np.random.default_rng(d).normal(size=(1000, d))
    X[: 2 * copies : 2] = X[999]  # few rows, all but one of which are copies
    X = np.concatenate([X, X[500:510], X[500:503]])
    expected = reference.local_scale(X, 16)
    for method in (TREE, BLOCKS):
        r, tau = scales(stages.prepare(X), 16, method)
        np.testing.assert_allclose(r, expected.r, rtol=1e-13)
        np.testing.assert_array_equal(tau, expected.tau)


@given(cases.cases(kinds=tuple(KINDS), weights=("none", "integer")), st.data())
def test_order_of_rows_changes_no_bit(case, data):
    assume(are_frequencies(case))
    order = np.array(data.draw(st.permutations(range(case.n))))
    other = case.permuted(order)
    a, b = (stages.local_scale(one.X, **one.given) for one in (case, other))
    assert_same((a.r[order], a.tau[order]), (b.r, b.tau))


# Ties


@pytest.mark.parametrize("d", [1, 2, 3])
def test_ties_on_a_lattice_are_the_references(d):
    # Every point has many neighbors at the same distance, of which K and g take some.
    X = np.array(list(itertools.product(range(5), repeat=d)), dtype=float)
    for k in range(1, min(len(X), 13)):
        scale = stages.local_scale(X, k)
        expected = reference.local_scale(X, k)
        found = (scale.r, scale.tau, scale.log_density(scale.heights))
        assert_are_the_references(found, expected, f"K={k}")
        # Points that are mirror images of each other have exactly the same r.
        mirrored = scale.r.reshape((5,) * d)
        for axis in range(d):
            np.testing.assert_array_equal(mirrored, np.flip(mirrored, axis))


def test_ties_on_a_weighted_lattice_are_the_references():
    X = np.array(list(itertools.product(range(6), repeat=2)), dtype=float)
    rng = np.random.default_rng(0)
    for weight in (rng.integers(1, 4, 36), rng.uniform(0.5, 3, 36)):
        for k in (1, 2, 4, 7, 12):
            scale = stages.local_scale(X, k, sample_weight=weight)
            expected = reference.local_scale(X, k, sample_weight=weight)
            found = (scale.r, scale.tau, scale.log_density(scale.heights))
            assert_are_the_references(found, expected, f"K={k}")


# Weights


@given(cases.cases(kinds=tuple(KINDS), weights=("integer",)), st.data())
def test_integer_weights_equal_repetition_bit_for_bit(case, data):
    weights = np.ones(case.n) if case.sample_weight is None else case.sample_weight
    W = int(weights.sum())
    assume(W >= 2 and (W >= 8 or case.n <= 8))
    k = data.draw(st.integers(1, W - 1) | st.just("auto"))
    weighted = stages.local_scale(case.X, k, sample_weight=weights, period=case.period)
    rows = np.repeat(np.arange(case.n), weights.astype(int))
    repeated = stages.local_scale(case.X[rows], k, period=case.period)
    assert weighted.n_neighbors == repeated.n_neighbors
    assert_same((weighted.r[rows], weighted.tau[rows]), (repeated.r, repeated.tau))


@pytest.mark.parametrize("d", [1, 2, 7])
def test_rows_heavier_than_k_are_the_references(d):
    rng = np.random.default_rng(d)
    X, weight = rng.normal(size=(12, d)), rng.choice([1, 3, 400, 1e4], 12)
    for k in (1, 3, 255, 256, 257, 300, 700):  # sums of more than 256 powers are a series
        scale = stages.local_scale(X, k, sample_weight=weight)
        expected = reference.local_scale(X, k, sample_weight=weight)
        found = (scale.r, scale.tau, scale.log_density(scale.heights))
        assert_are_the_references(found, expected, f"K={k}")


@pytest.mark.parametrize("d", [1, 2, 3, 30])
@pytest.mark.parametrize("w", [1e6, 1e12])
def test_copies_of_a_very_heavy_row_are_a_sum_of_powers(d, w):
    X = np.eye(d + 1)[:, :d] * 4
    k = 5000
    r = stages.local_scale(X, k, sample_weight=[w] * (d + 1)).r
    nearest = min(np.linalg.norm(X[0] - x) for x in X[1:])
    expected = nearest / 2 * math.fsum((j / w) ** (1 / d) for j in range(1, k + 1)) / k
    assert r[0] == pytest.approx(expected, rel=1e-13)


def test_rows_of_weight_zero_have_no_scale_and_change_none():
    X, weight = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 3
    scale = stages.local_scale(X, 6, sample_weight=weight)
    kept = stages.local_scale(X[weight > 0], 6, sample_weight=weight[weight > 0])
    assert_same((scale.r[weight > 0], scale.tau[weight > 0]), (kept.r, kept.tau))
    assert np.isnan(scale.r[weight == 0]).all()
    assert np.isnan(scale.tau[weight == 0]).all()
    assert_same(scale.scales_at(X[weight == 0]), kept.scales_at(X[weight == 0]))


# Units, types, columns


@pytest.mark.parametrize("power", [-400, -1, 3, 400])
@pytest.mark.parametrize("weights", ["none", "integer", "real"])
def test_power_of_two_scaling_is_exact(power, weights):
    for d, period in itertools.product((1, 2, 9), cases.PERIODS):
        case = cases.make("random", 80, d, weights=weights, period=period)
        factor = 2.0**power
        other = None if case.period is None else case.period * factor
        scale = stages.local_scale(case.X, **case.given)
        scaled = stages.local_scale(case.X * factor, sample_weight=case.sample_weight, period=other)
        assert_same((scale.r * factor, scale.tau * factor), (scaled.r, scaled.tau))
        queries = queries_near(case)
        r, tau = scale.scales_at(queries)
        assert_same((r * factor, tau * factor), scaled.scales_at(queries * factor))


def test_far_offsets_keep_the_distances_of_the_coordinates_as_given():
    for d in (1, 2, 10):
        X = np.random.default_rng(d).normal(size=(300, d)) + 1e8
        shifted = stages.local_scale(X)
        exact = stages.local_scale(X - 1e8)  # exact: neighboring multiples of 2^-26
        assert_same((shifted.r, shifted.tau), (exact.r, exact.tau))


@pytest.mark.parametrize("d", [2, 10])
def test_single_precision_is_widened(d):
    X = np.random.default_rng(0).normal(size=(200, d)).astype(np.float32)
    a, b = stages.local_scale(X), stages.local_scale(X.astype(float))
    assert_same((a.r, a.tau), (b.r, b.tau))
    queries = X[:20] + np.float32(0.1)
    assert_same(a.scales_at(queries), b.scales_at(queries.astype(float)))


@pytest.mark.parametrize("weights", ["none", "integer"])
def test_constant_columns_change_no_bit(weights):
    for kind, d in itertools.product(("random", "lattice", "duplicated"), (1, 2, 5)):
        case = cases.make(kind, 90, d, weights=weights)
        wide = np.column_stack([np.full(90, 3.5), case.X, np.tile([0.0, -1.0, 1e3, 7, 2], (90, 1))])
        a = stages.local_scale(case.X, sample_weight=case.sample_weight)
        b = stages.local_scale(wide, sample_weight=case.sample_weight)
        assert_same((a.r, a.tau), (b.r, b.tau), case.name)
        assert a.log_constant == b.log_constant


def test_row_of_weight_zero_does_not_make_a_column_vary():
    X = np.column_stack([np.random.default_rng(0).normal(size=(30, 1)), np.full(30, 2.0)])
    far = np.vstack([X, [5.0, 99.0]])
    a = stages.local_scale(X)
    b = stages.local_scale(far, sample_weight=[1] * 30 + [0])
    assert_same((a.r, a.tau), (b.r[:30], b.tau[:30]))
    assert a.log_constant == b.log_constant


def test_distances_wrap_around_a_period():
    scale = stages.local_scale(column(0, 1, 7), 2, period=[8])
    np.testing.assert_array_equal(scale.r, [1, 1.5, 1.5])
    r, tau = scale.scales_at(column(9, 7.5))
    np.testing.assert_array_equal(r, [1.5, 0.5])
    np.testing.assert_array_equal(tau, [2, 0.5])


# Few samples and many neighbors


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("d", [1, 2, 10])
def test_few_samples_are_the_references(n, d):
    X = np.random.default_rng(n).normal(size=(n, d))
    scale, expected = stages.local_scale(X), reference.local_scale(X)
    assert scale.n_neighbors == expected.n_neighbors == 1
    found = (scale.r, scale.tau, scale.log_density(scale.heights))
    assert_are_the_references(found, expected, f"n={n}")


@pytest.mark.parametrize("weight", [None, [1, 1, 1], [0.25, 0.5, 0.125], [5, 0, 0]])
def test_one_distinct_row_has_scale_one(weight):
    scale = stages.local_scale(column(3, 3, 3), sample_weight=weight)
    r, tau = scale.scales_at(column(3, 5))
    np.testing.assert_array_equal(r, [1, 2])
    np.testing.assert_array_equal(tau, [1, 2])
    assert np.isfinite(scale.log_density_at(column(3, 5))).all()
    present = np.array(weight or [1, 1, 1]) > 0
    np.testing.assert_array_equal(scale.r[present], 1)
    np.testing.assert_array_equal(scale.tau[present], 1)


@pytest.mark.parametrize(("d", "k"), [(2, 4095), (2, 4096), (2, 4097), (10, 4109)])
def test_thousands_of_neighbors_are_the_mean_of_sorted_distances(d, k):
    # Above 4096 neighbors the tree is searched for one sample at a time.
    X = np.random.default_rng(d).normal(size=(4110, d))
    samples = stages.prepare(X)
    r, tau = scales(samples, k, TREE, 2)
    assert_same((r, tau), scales(samples, k, BLOCKS, 2))
    for row in range(0, 4110, 400):
        nearest = np.sort(cases.distances(X[row : row + 1], X)[0])
        assert r[row] == pytest.approx(math.fsum(nearest[1 : k + 1]) / k, rel=1e-14)
        assert tau[row] == pytest.approx(nearest[8], rel=1e-14)
    scale = stages.LocalScale(samples, k, -r, tau, None)
    assert_same((r[:5], tau[:5]), scale.scales_at(X[:5]))


@pytest.mark.parametrize(
    ("total", "neighbors"),
    [(1, (1, 1, 1)), (7, (2, 2, 2)), (12, (4, 4, 4)), (30, (5, 10, 10)), (1e6, (160, 320, 640))],
)
def test_default_number_of_neighbors(total, neighbors):
    assert tuple(default_neighbors(total, scale) for scale in (1, 2, 4)) == neighbors
    assert (
        stages.local_scale(column(0, 1), sample_weight=[total / 2] * 2).n_neighbors
        == (neighbors[0])
    )


@given(st.floats(1, 1e9))
def test_default_number_of_neighbors_is_the_references(total):
    assume(abs(1.6 * total ** (1 / 3) % 1 - 0.5) > 1e-9)  # where rounding decides
    locations = distinct_rows(checked_samples(column(0, 1), [total / 2] * 2, None))
    for scale in (1, 2, 4):
        assert default_neighbors(total, scale) == locations.checked_neighbors(None, scale)


# Extreme lengths


@pytest.mark.parametrize("far", [1e6, 1e50, 1e100])
def test_far_queries_are_the_references(far):
    X = np.random.default_rng(0).normal(size=(50, 2))
    queries = far * np.array([[1.0, 0.0], [-1.0, 1.0], [0.3, -0.7]])
    scale = stages.local_scale(X)
    found = (*scale.scales_at(queries), scale.log_density_at(queries))
    assert_are_the_references(found, reference.local_scale(X, queries=queries), str(far))


def test_log_density_is_finite_however_far_the_query():
    for d in (1, 2, 30):
        scale = stages.local_scale(np.random.default_rng(0).normal(size=(50, d)))
        queries = np.full((6, d), 0.0)
        queries[:, 0] = [1e100, 1e200, 1e300, 1.7e308, -1.7e308, -1e250]
        log_density = scale.log_density_at(queries)
        assert np.isfinite(log_density).all()
        assert (np.diff(log_density[:4]) <= 0).all()


def test_scales_that_under_or_overflow_have_a_finite_log_density():
    for X in (
        column(0, 1e-200, 1),
        column(0, 5e-324, 1e-323, 1e-322),
        column(-1.7e308, 1.7e308, 0, 1e308),
        column(*np.geomspace(1e-300, 1e300, 40)),
    ):
        scale, expected = stages.local_scale(X), reference.local_scale(X)
        assert not np.isnan(scale.r).any()
        assert not np.isnan(scale.tau).any()
        assert np.isfinite(scale.levels).all()
        assert (scale.levels > 0).all()
        np.testing.assert_allclose(
            scale.log_density(scale.heights), expected.log_density, rtol=1e-10
        )


# Errors, arguments, progress


@pytest.mark.parametrize("n_neighbors", [0, 4, -1, 1000])
def test_numbers_of_neighbors_that_do_not_exist_are_refused(n_neighbors):
    with pytest.raises(ValueError, match=rf"^n_neighbors is {n_neighbors}, expected .* 1 to 3,"):
        stages.local_scale(column(0, 1, 2, 3), n_neighbors)


@pytest.mark.parametrize("n_neighbors", [1.5, None, "all", True, [2], np.nan])
def test_what_is_no_number_of_neighbors_is_refused(n_neighbors):
    with pytest.raises((ValueError, TypeError), match=r"^n_neighbors .*expected .*'auto'"):
        stages.local_scale(column(0, 1, 2, 3), n_neighbors)


def test_whole_numbers_of_any_type_are_accepted():
    for k in (2, np.int32(2), np.uint8(2)):
        assert stages.local_scale(column(0, 1, 2, 3), k).n_neighbors == 2


def test_weights_that_are_no_frequencies_are_refused():
    X = column(*range(9))
    with pytest.raises(ValueError, match=r"^sample_weight has the sum 1 for 9 rows .* Multiply"):
        stages.local_scale(X, sample_weight=np.full(9, 1 / 9))
    stages.local_scale(X[:8], sample_weight=np.full(8, 1 / 8))
    stages.local_scale(X, sample_weight=[0.5] * 8 + [4])


def test_weights_of_zero_are_no_rows_that_need_weight():
    X, weight = np.random.default_rng(0).normal(size=(20, 2)), np.zeros(20)
    weight[:5] = 1
    scale = stages.local_scale(X, sample_weight=weight)
    kept = stages.local_scale(X[:5])
    assert_same((scale.r[:5], scale.tau[:5]), (kept.r, kept.tau))


def test_real_weights_limit_the_neighbors_to_the_others():
    X, weight = np.random.default_rng(0).normal(size=(10, 2)), np.full(10, 0.85)
    stages.local_scale(X, 7, sample_weight=weight)
    with pytest.raises(ValueError, match=r"^n_neighbors is 8, expected a whole number from 1 to 7"):
        stages.local_scale(X, 8, sample_weight=weight)


def test_queries_with_other_features_are_refused():
    scale = stages.local_scale(np.eye(4))
    with pytest.raises(ValueError, match=r"queries"):
        scale.scales_at(np.eye(3))
    with pytest.raises(ValueError, match=r"queries"):
        scale.log_density_at([[np.nan] * 4])


def test_arguments_are_not_written():
    X, weight = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20.0)
    copies = X.copy(), weight.copy()
    for values in (X, weight):
        values.setflags(write=False)
    stages.local_scale(X, sample_weight=weight, period=[3.0, np.inf]).scales_at(X)
    assert_same((X, weight), copies)


def test_progress_is_told_and_changes_nothing():
    X = np.random.default_rng(0).normal(size=(2000, 2))
    told = []
    scale = stages.local_scale(X, progress=lambda stage, done: told.append((stage, done)))
    assert {stage for stage, _ in told} == {"prepare", "local_scale"}
    assert told[-1] == ("local_scale", 1.0)
    plain = stages.local_scale(X)
    assert_same((scale.r, scale.tau), (plain.r, plain.tau))
