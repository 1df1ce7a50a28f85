"""The significance due to chance: its table, what lies between and beyond, and what it achieves."""

import math
import runpy
import warnings
from pathlib import Path

import numpy as np
import pytest

from quickshift import QuickShift, stages
from quickshift.stages.tree import chance, chance_tables

chance_of = stages.chance_significance
GLOBAL, LOCAL = chance_tables.GLOBAL, chance_tables.LOCAL
LEAST = 0.2
SMALL = {1: {10: 1.0, 100: 2.0, 1000: 3.0}, 10: {10: 4.0, 100: 3.0}, 100: {10: 2.0, 100: 5.0}}


@pytest.fixture
def local_tables(monkeypatch):
    tables = {
        scale: {d: {n: scale * z for n, z in row.items()} for d, row in SMALL.items()}
        for scale in (1, 4)
    }
    monkeypatch.setattr(chance, "LOCAL", tables)
    return tables


def test_entries_of_the_table_are_returned():
    for d, row in GLOBAL.items():
        for n, entry in row.items():
            expected = max(1.05 * entry * 2.0 ** (d / 4), LEAST)
            assert chance_of(n, d) == pytest.approx(expected, rel=1e-9)
    for scale, table in LOCAL.items():
        for d, row in table.items():
            for n, entry in row.items():
                expected = entry * math.sqrt(d)
                assert chance_of(n, d, scale=scale) == pytest.approx(expected, rel=1e-9)


def test_rows_cover_what_is_promised():
    assert tuple(LOCAL) == (1, 2, 4)
    for table in (GLOBAL, *LOCAL.values()):
        assert list(table) == sorted(table)
        assert max(table) == 1000
        for d, row in table.items():
            assert list(row) == sorted(row)
            assert max(row) >= (1_000_000 if d <= 3 else 100_000 if d <= 10 else 10_000)
            assert min(row) == 8
            assert np.isfinite(list(row.values())).all()


def test_thresholds_do_not_fall_with_the_scale():
    for d in (1, 3, 10, 17, 200):
        for n in (8, 50, 1000, 1e6):
            by_scale = [chance_of(n, d, scale=scale) for scale in (1, 2, 4)]
            assert by_scale == sorted(by_scale)


@pytest.mark.parametrize("scale", [None, 1, 2, 4, 9])
def test_threshold_never_falls_with_the_number_of_samples(scale):
    fewest = 1 if scale is None else 100  # with fewer samples, those of local scale are irregular
    for d in (1, 2, 4, 6, 10, 17, 33, 64, 150, 784, *([5000] if scale is None else [])):
        values = [chance_of(n, d, scale=scale) for n in np.geomspace(fewest, 1e12, 60)]
        assert (np.diff(values) >= -1e-12 * np.array(values[1:])).all()


@pytest.mark.parametrize("n", [2, 50, 2000, 1e5, 1e9])
def test_threshold_is_between_those_of_the_neighboring_rows(n):
    rng = np.random.default_rng(0)
    for d in rng.integers(1, 1000, size=50):
        left = max(row for row in GLOBAL if row <= d)
        right = min(row for row in GLOBAL if row >= d)
        ends = [chance._interpolated(GLOBAL, n, row) for row in (left, right)]
        assert min(ends) - 1e-9 <= chance._interpolated(GLOBAL, n, int(d)) <= max(ends) + 1e-9


def test_fewer_than_eight_samples_count_as_eight():
    for n in (0.5, 1, 7.9):
        assert chance_of(n, 2) == chance_of(8, 2)


def test_slopes_are_continued_unless_they_fall(local_tables):
    def at(n, d):
        return chance_of(n, d, scale=1) / math.sqrt(d)

    assert at(100, 1) == pytest.approx(2.0)
    assert at(1e4, 1) == pytest.approx(1.1 * 4.0)  # 10 % to be safe
    assert at(1000, 100) == pytest.approx(1.1 * 8.0)
    assert at(100, 1000) == pytest.approx(7.0)
    assert at(10, 1000) == pytest.approx(2.0)
    assert at(math.sqrt(1000), 1) == pytest.approx(1.5)
    assert at(10, math.sqrt(10)) == pytest.approx(2.5)


def test_rows_grow_beyond_their_end_by_the_factor_of_the_row_above(local_tables):
    def at(n, d):
        return chance_of(n, d, scale=1) / math.sqrt(d)

    assert at(1000, 10) == pytest.approx(1.1 * 3.0 * 3.0 / 2.0)  # its own slope falls
    assert at(1e4, 10) == pytest.approx(1.2 * 3.0 * 4.0 / 2.0)
    assert at(1e5, 100) == pytest.approx(1.3 * 14.0)  # its own slope is steeper


@pytest.mark.parametrize("scale", [1, 2, 4])
def test_thresholds_of_large_samples_rise_with_the_number_of_features(scale):
    drops = [chance_of(1e5, d, scale=scale) / math.sqrt(d) for d in (7, 10, 14, 20)]
    assert drops == sorted(drops)


def test_scales_are_interpolated_and_continued(local_tables):
    by_scale = [chance_of(100, 10, scale=scale) for scale in (0.5, 1, 2, 4, 8)]
    np.testing.assert_allclose(by_scale, math.sqrt(10) * np.array([3.0, 3.0, 7.5, 12.0, 16.5]))


@pytest.mark.parametrize("scale", [0, -1.0, math.nan])
def test_scale_is_positive(scale):
    with pytest.raises(ValueError, match="scale is"):
        chance_of(100, 2, scale=scale)


def test_other_kernels_keep_the_threshold_of_twenty_features():
    for n in (30, 1000):
        assert chance_of(n, 50, kernel="epanechnikov") == chance_of(n, 20)
        assert chance_of(n, 5, kernel="epanechnikov") == chance_of(n, 5)
        assert chance_of(n, 50) > 10 * chance_of(n, 20)


@pytest.mark.parametrize("bandwidth", ["local", "auto"])
@pytest.mark.parametrize("n", [30, 400])
@pytest.mark.parametrize("d", [30, 60, 100, 300])
def test_one_gaussian_with_many_features_is_one_cluster(n, d, bandwidth):
    for seed in range(3):
        X = np.random.default_rng([n, d, 10_000 + seed]).normal(size=(n, d))
        assert QuickShift(bandwidth).fit(X).n_clusters_ == 1


@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
@pytest.mark.parametrize("d", [10, 30, 50])
def test_two_far_gaussians_with_many_features_are_two_clusters(d, kernel):
    X = np.random.default_rng(d).normal(size=(400, d))
    X[:200, 0] += 40.0
    model = QuickShift(bandwidth="auto", kernel=kernel).fit(X)
    assert model.n_clusters_ == 2
    assert len({*model.labels_[:200]}) == len({*model.labels_[200:]}) == 1


@pytest.mark.parametrize("d", [2500, 6000])
def test_thousands_of_features_overflow_nothing(d):
    X = np.random.default_rng(d).normal(size=(30, d))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = QuickShift(bandwidth="auto").fit(X)
    assert model.n_clusters_ == 1
    assert math.isfinite(chance_of(30, d))


# The script that writes the tables


@pytest.fixture(scope="module")
def script():
    folder = Path(__file__).parents[1] / "benchmarks"
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))  # as if Python ran the script
        return runpy.run_path(str(folder / "calibrate.py"))


@pytest.mark.parametrize("mode", ["global", "local"])
@pytest.mark.parametrize(("n", "d"), [(64, 11), (300, 14), (300, 70), (900, 30)])
def test_draws_from_a_matrix_of_distances_are_those_of_the_stages(script, n, d, mode):
    largest = script["MODES"][mode]
    for seed in range(3):
        X = script["sample"](mode, (n, d), seed)
        X[::2, 0] += 2.0 * math.sqrt(d)  # two groups, of which one has a finite significance
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(largest.__globals__, "in_matrix", lambda *_: True)
            by_matrix = largest(X)
            patch.setitem(largest.__globals__, "in_matrix", lambda *_: False)
            by_stages = largest(X)
        np.testing.assert_allclose(by_matrix, by_stages, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("correlated", [False, True])
def test_one_percent_of_the_samples_exceed_any_of_the_thresholds(script, correlated):
    draws = np.random.default_rng(1).gumbel(size=(40_000, 3)) * [1.0, 5.0, 0.2] + [0.0, 9.0, 1.0]
    if correlated:
        draws[:, 1:] = draws[:, :1] * [3.0, 0.5]
    exceeding = (draws > script["thresholds"]("local", draws)).any(axis=1).mean()
    assert exceeding == pytest.approx(0.01, rel=0.2)


def test_two_hundred_draws_are_enough_for_a_threshold(script):
    rng = np.random.default_rng(2)
    found = [script["thresholds"]("local", rng.gumbel(size=(200, 1)))[0] for _ in range(300)]
    exact = -math.log(-math.log(0.99))
    assert np.mean(found) == pytest.approx(exact, rel=0.1)
    assert np.std(found) < 0.15 * exact


@pytest.mark.parametrize("share", [0.0, 0.02, 0.1, 1.0])
def test_threshold_of_rare_large_draws_covers_them(script, share):
    draws = np.where(np.arange(1000) < 1000 * share, 7.0, 0.0)[:, None]
    assert script["thresholds"]("local", draws)[0] >= (7.0 if share else 0.0)


@pytest.mark.parametrize("mode", ["global", "local"])
def test_cheap_cells_are_simulated_first_and_all_that_was_promised(script, mode):
    cells = script["cells"](mode)
    assert cells[0] == (8, 1)
    assert {(1_000_000, 3), (100_000, 10), (10_000, 1000)} < set(cells)
    assert len(cells) == len(set(cells))
    assert (1_000_000, 5) not in cells
