"""Changes of the input that must not change a single bit of a sum of kernels.

These are the number of threads, the order of the rows, the data type, the memory layout, units
that are powers of two, repetition instead of weights, rows of weight zero, and pickling.
"""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import DIMENSIONS, KERNELS, KINDS, Case, cases, make, variations
from density_cases import every_kernel, fit, queries_near
from quickshift.stages import estimate_density, fit_estimate, prepare

VARIED = (("none", "open"), ("integer", "all"), ("real", "some"), ("heavy", "open"))


@pytest.mark.parametrize("kind", ["random", "duplicated", "lattice"])
@every_kernel
def test_number_of_threads_changes_no_bit(kernel: str, kind: str) -> None:
    # Enough points for the core to start several threads.
    case = make(kind, 6000, 2, weights="real")
    h = 0.1 if kind != "lattice" else 2.0
    queries = queries_near(case)
    results = []
    for n_jobs in (1, 2, 3, 8):
        samples = prepare(case.X, sample_weight=case.sample_weight, n_jobs=n_jobs)
        estimate = fit_estimate(samples, h, kernel=kernel, n_jobs=n_jobs)
        left_out = np.concatenate(estimate.sums_left_out())
        results.append([estimate.sums(), left_out, estimate.log_density_at(queries)])
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("kind", KINDS)
@every_kernel
def test_order_of_rows_changes_no_bit(kernel: str, kind: str) -> None:
    rng = np.random.default_rng(0)
    for d in DIMENSIONS:
        for case in (make(kind, 200, d, weights=w, period=p) for w, p in VARIED):
            order = rng.permutation(case.n)
            expected = fit(case, kernel).sums()
            found = fit(case.permuted(order), kernel).sums()
            np.testing.assert_array_equal(found, expected[order], err_msg=case.name)
            queries = queries_near(case)
            shuffled = rng.permutation(len(queries))
            np.testing.assert_array_equal(
                fit(case.permuted(order), kernel).log_density_at(queries[shuffled]),
                fit(case, kernel).log_density_at(queries)[shuffled],
                err_msg=case.name,
            )


@pytest.mark.parametrize("exponent", [-900, -300, 1, 300, 900])
@every_kernel
def test_scaling_by_a_power_of_two_changes_no_bit_of_a_sum(kernel: str, exponent: int) -> None:
    for case in variations("random", 2):
        h = case.bandwidth(kernel)
        period = None if case.period is None else np.ldexp(case.period, exponent)
        samples = prepare(
            np.ldexp(case.X, exponent), sample_weight=case.sample_weight, period=period
        )
        scaled = fit_estimate(samples, math.ldexp(h, exponent), kernel=kernel)
        np.testing.assert_array_equal(scaled.sums(), fit(case, kernel).sums(), err_msg=case.name)


@every_kernel
def test_float32_gives_the_bits_of_the_same_values_as_float64(kernel: str) -> None:
    for kind in ("random", "lattice", "duplicated"):
        narrow = make(kind, 65, 3).X.astype(np.float32)
        wide = narrow.astype(np.float64)
        queries = queries_near(make(kind, 65, 3)).astype(np.float32)
        a = fit_estimate(prepare(narrow), 1.0, kernel=kernel)
        b = fit_estimate(prepare(wide), 1.0, kernel=kernel)
        np.testing.assert_array_equal(a.sums(), b.sums())
        np.testing.assert_array_equal(
            a.log_density_at(queries), b.log_density_at(queries.astype(np.float64))
        )


@pytest.mark.parametrize("dtype", [np.int64, np.int8, bool, object, ">f8", np.float16])
def test_other_numbers_are_taken_as_float64(dtype: object) -> None:
    X = np.array([[0, 1], [1, 1], [1, 0], [0, 0], [0, 1]])
    np.testing.assert_array_equal(
        estimate_density(X.astype(dtype), 1.0), estimate_density(X.astype(float), 1.0)
    )


def test_memory_layout_does_not_matter() -> None:
    X = make("random", 64, 3).X
    expected = estimate_density(X, 1.0)
    np.testing.assert_array_equal(estimate_density(np.asfortranarray(X), 1.0), expected)
    np.testing.assert_array_equal(estimate_density(np.repeat(X, 2, axis=0)[::2], 1.0), expected)
    np.testing.assert_array_equal(estimate_density(X[::-1][::-1], 1.0), expected)


@given(case=cases(weights=("integer",)), kernel=st.sampled_from(KERNELS))
def test_integer_weights_give_the_bits_of_repetition(case: Case, kernel: str) -> None:
    counts = np.ones(case.n) if case.sample_weight is None else case.sample_weight
    repeated = Case("", np.repeat(case.X, counts.astype(int), axis=0), case.h, None, case.period)
    weighted, plain = fit(case, kernel), fit(repeated, kernel)
    np.testing.assert_array_equal(np.repeat(weighted.sums(), counts.astype(int)), plain.sums())
    assert weighted.log_constant == plain.log_constant


@pytest.mark.parametrize("far", [1e12, 1e160, 1e300])
@every_kernel
def test_rows_of_weight_zero_change_nothing_wherever_they_are(kernel: str, far: float) -> None:
    case = make("random", 33, 2)
    X = np.vstack([case.X, [[far, 0.0]]])
    with_row = fit_estimate(prepare(X, sample_weight=[1.0] * 33 + [0.0]), 1.0, kernel=kernel)
    np.testing.assert_array_equal(with_row.sums()[:33], fit(case, kernel, h=1.0).sums())


@every_kernel
def test_sums_of_a_tree_that_was_pickled_have_the_same_bits(kernel: str) -> None:
    X = np.random.default_rng(0).normal(size=(700, 2))
    samples = prepare(np.concatenate([X, X[:5]]))
    again = pickle.loads(pickle.dumps(samples))
    found = fit_estimate(again, 0.5, kernel=kernel).sums()
    np.testing.assert_array_equal(found, fit_estimate(samples, 0.5, kernel=kernel).sums())
