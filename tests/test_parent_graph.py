"""Parents of samples and assignments of queries: by hand, then bit for bit as in the reference."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cases import (
    DIMENSIONS,
    INFINITE,
    KERNELS,
    KINDS,
    ORDINARY,
    Case,
    Floats,
    cases,
    densities,
    make,
    sizes_of,
    taus,
    variations,
)
from quickshift import reference
from quickshift.stages import (
    ParentGraph,
    assign,
    climb,
    cut,
    fit_estimate,
    prepare,
)

every_kernel = pytest.mark.parametrize("kernel", KERNELS)
every_dimension = pytest.mark.parametrize("d", DIMENSIONS)
both_ties = pytest.mark.parametrize("ties", ["total", "strict"])
often = settings(max_examples=max(200, settings.default.max_examples))
WEIGHTED = ("none", "integer", "heavy")


def column(*values: float) -> Floats:
    return np.array(values, dtype=float)[:, None]


def climbed(
    case: Case, density: Floats, ties: str = "total", significant_bits: int = 36
) -> ParentGraph:
    samples = prepare(case.X, sample_weight=case.sample_weight, period=case.period)
    return climb(samples, density, ties=ties, significant_bits=significant_bits)


def assert_equals_reference(
    case: Case,
    density: Floats,
    *,
    ties: str = "total",
    tau: float = np.inf,
    significant_bits: int = 36,
) -> None:
    """Compare parents, distances, labels and roots, all of them exactly."""
    graph = climbed(case, density, ties, significant_bits)
    expected = reference.quick_shift(
        case.X,
        tau=tau,
        density=density,
        ties=ties,
        significant_bits=significant_bits,
        **case.given,
    )
    forest = cut(graph, tau)
    name = f"{case.name} density={density.tolist()} ties={ties} tau={tau!r}"
    np.testing.assert_array_equal(graph.distance, expected.parent_distance, err_msg=name)
    np.testing.assert_array_equal(graph.parent, expected.parent, err_msg=name)
    np.testing.assert_array_equal(forest.roots, expected.roots, err_msg=name)
    present = case.present
    np.testing.assert_array_equal(forest.labels[present], expected.labels[present], err_msg=name)
    assert (forest.labels[~present] == -1).all(), name


# By hand


def test_parent_is_the_nearest_higher_sample() -> None:
    graph = climb(column(0, 1, 2, 10), [1, 3, 2, 4])
    np.testing.assert_array_equal(graph.parent, [1, 3, 1, 3])
    np.testing.assert_array_equal(graph.distance, [1, 9, 1, np.inf])


def test_highest_sample_is_its_own_parent_infinitely_far() -> None:
    graph = climb([[5.0, 5.0]], [0.0])
    assert graph.parent.dtype == np.int64
    assert (graph.parent[0], graph.distance[0]) == (0, np.inf)


def test_of_equally_near_samples_the_highest_is_the_parent() -> None:
    graph = climb(column(0, -1, 1), [1, 3, 2])
    assert (graph.parent[0], graph.distance[0]) == (1, 1.0)
    assert climb(column(0, -1, 1), [1, 2, 3]).parent[0] == 2


def test_of_equally_near_and_equally_high_samples_the_lexicographically_larger_is_the_parent() -> (
    None
):
    X = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    assert climb(X, [1, 2, 2, 2, 2]).parent[0] == 1
    assert climb(X, [1, 1, 2, 2, 2]).parent[0] == 3


def test_plateau_climbs_towards_larger_coordinates() -> None:
    graph = climb(column(2, 0, 1, 3), [1, 1, 1, 1])
    np.testing.assert_array_equal(graph.parent, [3, 2, 0, 3])


def test_first_feature_counts_first_on_a_plateau() -> None:
    graph = climb([[0.0, 9.0], [1.0, 0.0]], [1, 1])
    np.testing.assert_array_equal(graph.parent, [1, 1])


def test_strict_ties_are_never_linked() -> None:
    graph = climb(column(2, 0, 1, 3), [1, 1, 1, 1], ties="strict")
    np.testing.assert_array_equal(graph.parent, [0, 1, 2, 3])
    assert np.isinf(graph.distance).all()


def test_duplicates_hang_on_the_first_of_them() -> None:
    graph = climb(column(3, 3, 3, 8), [1, 1, 1, 2])
    np.testing.assert_array_equal(graph.parent, [3, 0, 0, 3])
    np.testing.assert_array_equal(graph.distance, [5, 0, 0, np.inf])


def test_duplicates_hang_on_the_highest_of_them() -> None:
    graph = climb(column(3, 3, 3, 8), [1, 2, 2, 3])
    np.testing.assert_array_equal(graph.parent, [1, 3, 1, 3])
    np.testing.assert_array_equal(graph.distance, [0, 5, 0, np.inf])


def test_strict_duplicates_of_equal_density_all_climb_to_the_same_parent() -> None:
    graph = climb(column(3, 3, 3, 8), [2, 1, 2, 3], ties="strict")
    np.testing.assert_array_equal(graph.parent, [3, 0, 3, 3])
    np.testing.assert_array_equal(graph.distance, [5, 0, 5, np.inf])


def test_negative_zero_is_zero() -> None:
    graph = climb(column(0.0, -0.0, 1.0), [1, 1, 0])
    np.testing.assert_array_equal(graph.parent, [0, 0, 0])
    assert graph.distance[1] == 0.0


def test_negative_zero_density_is_zero() -> None:
    graph = climb(column(0.0, 1.0), [0.0, -0.0], ties="strict")
    np.testing.assert_array_equal(graph.parent, [0, 1])


def test_periodic_parent_is_found_across_the_seam() -> None:
    graph = climb(column(0.5, 23.0, 6.0), [1, 3, 2], period=[24.0])
    np.testing.assert_array_equal(graph.parent, [1, 1, 1])
    np.testing.assert_array_equal(graph.distance, [1.5, np.inf, 7.0])


def test_samples_a_period_apart_are_duplicates() -> None:
    graph = climb(column(1, 25, -23), [1, 1, 1], period=[24.0])
    np.testing.assert_array_equal(graph.parent, [0, 0, 0])
    np.testing.assert_array_equal(graph.distance, [np.inf, 0, 0])


def test_rows_of_weight_zero_are_outside_the_graph() -> None:
    samples = prepare(column(0, 1, 2), sample_weight=[1, 0, 1])
    graph = climb(samples, [1.0, 9.0, 2.0])
    np.testing.assert_array_equal(graph.parent, [2, 1, 2])
    np.testing.assert_array_equal(graph.distance, [2, np.nan, np.inf])


def test_the_last_bits_of_a_density_do_not_decide() -> None:
    X = column(0, 1)
    almost = climb(X, [1.0 + 2.0**-38, 1.0])
    np.testing.assert_array_equal(almost.parent, [1, 1])
    np.testing.assert_array_equal(climb(X, [1.0 + 2.0**-35, 1.0]).parent, [0, 0])
    exact = climb(X, [1.0 + 2.0**-38, 1.0], significant_bits=53)
    np.testing.assert_array_equal(exact.parent, [0, 0])


def test_any_numbers_can_be_climbed() -> None:
    case = make("random", 64, 2)
    heights = np.random.default_rng(0).permutation(64)
    expected = climb(case.X, heights)
    for same_order in (heights - 1000.0, heights * 1e-300, heights * 1e300, np.exp2(heights)):
        np.testing.assert_array_equal(climb(case.X, same_order).parent, expected.parent)


def test_parents_can_be_nearer_than_squares_can_tell() -> None:
    # Among coordinates up to 1, the square of a distance of 1e-170 underflows to zero: the first
    # three points are equally near to each other.
    case = Case("underflow", column(0, 0, 1e-170, 1), 1.0)
    for density in ([1.0, 2.0, 3.0, 4.0], [3.0, 2.0, 1.0, 0.0], [1.0, 1.0, 1.0, 1.0]):
        assert_equals_reference(case, np.array(density))


def test_float32_has_the_parents_of_the_same_values_as_float64() -> None:
    for kind in ORDINARY:
        X = make(kind, 65, 3).X.astype(np.float32)
        density = np.random.default_rng(0).integers(0, 5, size=65)
        narrow, wide = climb(X, density), climb(X.astype(np.float64), density)
        np.testing.assert_array_equal(narrow.parent, wide.parent)
        np.testing.assert_array_equal(narrow.distance, wide.distance)


# Against the reference, given the same density


@pytest.mark.parametrize("kind", KINDS)
@every_dimension
def test_parents_are_the_references_for_the_estimate_itself(d: int, kind: str) -> None:
    for case in variations(kind, d):
        samples = prepare(case.X, sample_weight=case.sample_weight, period=case.period)
        h = case.bandwidth("epanechnikov")
        density = np.nan_to_num(fit_estimate(samples, h, kernel="epanechnikov").sums())
        for ties in ("total", "strict"):
            for tau in (0.0, case.h, 3 * case.h, np.inf):
                assert_equals_reference(case, density, ties=ties, tau=tau)


@pytest.mark.parametrize("kind", [*ORDINARY, "clustered"])
@both_ties
def test_parents_are_the_references_for_every_number_of_points(ties: str, kind: str) -> None:
    rng = np.random.default_rng(0)
    for d in (1, 2, 5):
        for case in sizes_of(kind, d):
            for density in (rng.uniform(size=case.n), rng.integers(0, 3, size=case.n) + 0.0):
                assert_equals_reference(case, density, ties=ties, tau=case.h)


@often
@given(
    case=cases(kinds=tuple(KINDS), weights=WEIGHTED),
    ties=st.sampled_from(["total", "strict"]),
    bits=st.sampled_from([36, 36, 53, 27, 2, 1]),
    data=st.data(),
)
def test_parents_labels_and_roots_are_the_references_bit_for_bit(
    case: Case, ties: str, bits: int, data: st.DataObject
) -> None:
    density = data.draw(densities(case.n))
    graph = climbed(case, density, ties, bits)
    tau = data.draw(taus(graph.distance))
    assert_equals_reference(case, density, ties=ties, tau=tau, significant_bits=bits)


@often
@given(
    case=cases(kinds=("lattice", "duplicated", "collinear"), max_n=200, dimensions=(1, 2, 3)),
    ties=st.sampled_from(["total", "strict"]),
    data=st.data(),
)
def test_parents_on_data_full_of_ties_are_the_references(
    case: Case, ties: str, data: st.DataObject
) -> None:
    density = data.draw(densities(case.n))
    tau = data.draw(taus(climbed(case, density, ties).distance))
    assert_equals_reference(case, density, ties=ties, tau=tau)


@given(case=cases(kinds=("random", "lattice", "offset"), periods=("all", "some")), data=st.data())
def test_shifting_by_whole_periods_changes_no_parent(case: Case, data: st.DataObject) -> None:
    density = data.draw(densities(case.n))
    lengths = np.where(np.isfinite(case.period), case.period, 0.0)
    assume(lengths.any())
    turns = np.random.default_rng(0).integers(-3, 4, size=case.X.shape)
    exact = np.round(case.X * 64) / 64
    lengths = np.ceil(lengths)
    period = np.where(lengths > 0, lengths, np.inf)
    still = climbed(replace(case, X=exact, period=period), density)
    turned = climbed(replace(case, X=exact + turns * lengths, period=period), density)
    np.testing.assert_array_equal(turned.parent, still.parent)
    np.testing.assert_array_equal(turned.distance, still.distance)


@pytest.mark.parametrize("period", [0.1, 0.3, 1.1, 7.7, 24.0, 2 * np.pi, 1e-300, 1e300])
def test_coordinates_beside_a_whole_number_of_periods_wrap_as_in_the_reference(
    period: float,
) -> None:
    whole = period * np.arange(-40, 41)
    places = [np.nextafter(whole, -np.inf), whole, np.nextafter(whole, np.inf), whole + period / 3]
    X = np.concatenate([*places, [-1e-20 * period]])[:, None]
    X = X[(np.abs(X) != 5e-324).ravel()]  # scaling by a power of two may round these to zero
    case = Case(f"seam of {period!r}", X, period / 8, None, np.array([period]))
    assert_equals_reference(case, np.ones(case.n), tau=0.0)
    assert_equals_reference(case, np.arange(case.n) % 7 + 1.0, tau=period / 3)


# Invariance


@given(case=cases(kinds=tuple(KINDS), weights=WEIGHTED), data=st.data())
def test_order_of_rows_does_not_change_the_clustering(case: Case, data: st.DataObject) -> None:
    density = data.draw(densities(case.n))
    graph = climbed(case, density)
    order = np.random.default_rng(data.draw(st.integers(0, 99))).permutation(case.n)
    other = climbed(case.permuted(order), density[order])
    for tau in (0.0, case.h, np.inf):
        forest, permuted = cut(graph, tau), cut(other, tau)
        np.testing.assert_array_equal(permuted.labels, forest.labels[order], err_msg=case.name)
    # Of duplicate rows, the first is the parent of the others; nothing else depends on the order.
    if case.period is None:
        single = distinct(case.X)[order]
        parents, expected = case.X[order][other.parent], case.X[graph.parent][order]
        np.testing.assert_array_equal(parents[single], expected[single])
        np.testing.assert_array_equal(other.distance[single], graph.distance[order][single])


def distinct(X: Floats) -> np.ndarray:
    """Mark the rows that have no duplicate."""
    _, inverse, counts = np.unique(X, axis=0, return_inverse=True, return_counts=True)
    return counts[inverse.ravel()] == 1


@given(case=cases(periods=("open", "all")), data=st.data())
def test_scaling_by_a_power_of_two_scales_the_distances_exactly(
    case: Case, data: st.DataObject
) -> None:
    density = data.draw(densities(case.n))
    exponent = data.draw(st.integers(-900, 900))
    period = None if case.period is None else np.ldexp(case.period, exponent)
    scaled = climbed(replace(case, X=np.ldexp(case.X, exponent), period=period), density)
    graph = climbed(case, density)
    np.testing.assert_array_equal(scaled.parent, graph.parent)
    np.testing.assert_array_equal(scaled.distance, np.ldexp(graph.distance, exponent))


@both_ties
@pytest.mark.parametrize("kind", ["random", "lattice", "duplicated"])
def test_number_of_threads_changes_no_parent(kind: str, ties: str) -> None:
    case = make(kind, 6000, 2)
    density = np.random.default_rng(0).integers(0, 50, size=case.n)
    expected = climb(case.X, density, ties=ties, n_jobs=1)
    queries = np.random.default_rng(1).normal(size=(3000, 2))
    rows = assign(expected, queries, np.ones(3000), tau=1.0, n_jobs=1)
    for n_jobs in (2, 3, 8):
        graph = climb(case.X, density, ties=ties, n_jobs=n_jobs)
        np.testing.assert_array_equal(graph.parent, expected.parent)
        np.testing.assert_array_equal(graph.distance, expected.distance)
        found = assign(graph, queries, np.ones(3000), tau=1.0, n_jobs=n_jobs)
        np.testing.assert_array_equal(found, rows)


def test_a_million_equal_points_have_one_root() -> None:
    graph = climb(np.full((1_000_000, 2), 0.1), np.ones(1_000_000))
    assert (graph.parent == 0).all()
    assert (graph.distance[1:] == 0).all()


# Queries


def queries_of(case: Case, seed: int) -> Floats:
    """Draw samples, midpoints of two samples, points near samples, and points far away."""
    rng = np.random.default_rng(seed)
    a, b = (case.X[rng.integers(case.n, size=30)] for _ in range(2))
    shift = case.h * rng.integers(-2, 3, size=a.shape)
    far = case.X[:2] + 1e3 * case.h
    return np.vstack([a, 0.5 * a + 0.5 * b, a + shift, b + case.h * rng.normal(size=b.shape), far])


def test_query_equal_to_a_sample_takes_that_sample() -> None:
    graph = climb(column(0, 1, 1, 3), [1, 2, 2, 3])
    rows = assign(graph, column(1, 0, 3), np.array([9.0, 0.0, 1.0]), tau=0.0)
    np.testing.assert_array_equal(rows, [1, 0, 3])


def test_query_takes_the_nearest_higher_sample_within_tau() -> None:
    graph = climb(column(0, 1, 4, 5), [1, 4, 1, 3])
    query, height = column(2.75), np.array([2.0])
    assert assign(graph, query, height, tau=2.0)[0] == 1
    assert assign(graph, query, height, tau=1.75)[0] == 1  # an edge of exactly tau is kept
    assert assign(graph, query, height, tau=np.nextafter(1.75, 0))[0] == 2
    assert assign(graph, query, np.array([9.0]), tau=np.inf)[0] == 2


@often
@given(
    case=cases(kinds=tuple(KINDS), weights=WEIGHTED),
    ties=st.sampled_from(["total", "strict"]),
    data=st.data(),
)
def test_new_points_are_labeled_as_by_the_reference(
    case: Case, ties: str, data: st.DataObject
) -> None:
    density = data.draw(densities(case.n))
    queries = queries_of(case, data.draw(st.integers(0, 99)))
    heights = np.resize(np.append(density, [0.5, 1.0, 2.0]), len(queries))
    graph = climbed(case, density, ties)
    tau = data.draw(taus(graph.distance))
    forest = cut(graph, tau)
    found = forest.labels[assign(graph, queries, heights, tau=tau)]
    expected = reference.predict(
        case.X, queries, tau=tau, density=density, query_density=heights, ties=ties, **case.given
    )
    np.testing.assert_array_equal(found, expected, err_msg=case.name)


@given(case=cases(kinds=tuple(KINDS), weights=("none", "integer")), data=st.data())
def test_samples_as_queries_keep_their_labels(case: Case, data: st.DataObject) -> None:
    density = data.draw(densities(case.n))
    graph = climbed(case, density)
    tau = data.draw(taus(graph.distance))
    labels = cut(graph, tau).labels
    rows = assign(graph, case.X, density, tau=tau)
    np.testing.assert_array_equal(labels[rows][case.present], labels[case.present])


def test_query_nearer_than_squares_can_tell_still_finds_the_sample_it_equals() -> None:
    graph = climb(column(0, 1e-170, 1), [1, 2, 3])
    rows = assign(graph, column(0, 1e-170, 1), np.array([1.0, 2.0, 3.0]), tau=0.0)
    np.testing.assert_array_equal(rows, [0, 1, 2])


def test_far_queries_take_the_nearest_sample() -> None:
    graph = climb(column(0, 1, 2), [1, 3, 2])
    far = np.array([[1e12], [-1e12]])
    np.testing.assert_array_equal(assign(graph, far, np.zeros(2), tau=1.0), [2, 0])
    # So far away that the distances round to the same number, the highest sample is taken.
    farthest = np.array([[1e160], [-1e308]])
    np.testing.assert_array_equal(assign(graph, farthest, np.zeros(2), tau=1.0), [1, 1])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_queries_that_are_no_points_are_refused(bad: float) -> None:
    graph = climb(column(0, 1, 2), [1, 3, 2])
    with pytest.raises(ValueError, match="NaN or infinity"):
        assign(graph, np.array([[bad]]), np.zeros(1), tau=1.0)


# End to end: the stages and the reference each estimate the density themselves


def pipeline(case: Case, kernel: str, rtol: float, ties: str) -> ParentGraph:
    samples = prepare(case.X, sample_weight=case.sample_weight, period=case.period)
    estimate = fit_estimate(samples, case.bandwidth(kernel), kernel=kernel, rtol=rtol)
    return climb(
        samples,
        np.nan_to_num(estimate.sums()),
        ties=ties,
        significant_bits=estimate.significant_bits,
    )


def assert_pipelines_agree(case: Case, kernel: str, rtol: float = 1e-9) -> None:
    for ties in ("total", "strict"):
        graph = pipeline(case, kernel, rtol, ties)
        for tau in (0.0, case.h, 2 * case.h, np.inf):
            expected = reference.quick_shift(
                case.X,
                case.bandwidth(kernel),
                tau,
                kernel=kernel,
                ties=ties,
                rtol=rtol,
                **case.given,
            )
            forest, present = cut(graph, tau), case.present
            np.testing.assert_array_equal(graph.parent, expected.parent, err_msg=case.name)
            np.testing.assert_array_equal(graph.distance, expected.parent_distance)
            np.testing.assert_array_equal(forest.roots, expected.roots)
            np.testing.assert_array_equal(forest.labels[present], expected.labels[present])


@every_dimension
@every_kernel
def test_random_data_are_clustered_as_by_the_reference(kernel: str, d: int) -> None:
    for n, weights, period in (
        (200, "none", "open"),
        (65, "real", "all"),
        (64, "integer", "some"),
        (33, "heavy", "open"),
    ):
        assert_pipelines_agree(make("random", n, d, weights=weights, period=period), kernel)


@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-12, 0.0])
@pytest.mark.parametrize("kernel", INFINITE)
def test_random_data_are_clustered_as_by_the_reference_at_any_tolerance(
    kernel: str, rtol: float
) -> None:
    for d in (1, 2, 3):
        assert_pipelines_agree(make("random", 65, d), kernel, rtol)


@pytest.mark.parametrize("kind", ["lattice", "duplicated", "collinear", "constant", "offset"])
@every_dimension
def test_uniform_kernel_clusters_ties_as_the_reference_does(d: int, kind: str) -> None:
    for n, weights, period in (
        (200, "none", "open"),
        (65, "none", "all"),
        (64, "integer", "some"),
        (33, "integer", "open"),
    ):
        assert_pipelines_agree(make(kind, n, d, weights=weights, period=period), "uniform")


@pytest.mark.parametrize("count", [3, 40, 300])
def test_rows_are_sorted_alike_whether_few_or_many(count: int) -> None:
    rng = np.random.default_rng(count)
    X, heights = rng.integers(0, 9, (320, 2)).astype(float), rng.integers(0, 5, 320) / 3.0
    weights = rng.integers(0, 4, 320)
    graph = climb(prepare(X, sample_weight=weights), heights)
    rows = rng.permutation(np.flatnonzero(weights))[:count]
    kept = {row: place for place, row in enumerate(graph.highest_first(np.flatnonzero(weights)))}
    assert graph.highest_first(rows).tolist() == sorted(rows.tolist(), key=kept.__getitem__)
    assert (np.diff(heights[graph.highest_first(rows)]) <= 0).all()
