"""The quick form of each study runs, and its result points the way that the paper says.

The bounds leave room for noise: they state directions, and the pages of the studies the figures.
"""

import csv
import doctest

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from studies import (
    assignment,
    bandwidths,
    beyond,
    labelled,
    measures,
    modes,
    one_cluster,
    peaks,
    regression,
    run,
    tables,
    tree,
)
from studies.limits import TooSlow, cpu_seconds, limited
from studies.measures import hausdorff, slope
from studies.mode_methods import METHODS
from studies.peaks import Peaks, equal, unequal
from studies.tables import column, select

pytestmark = pytest.mark.studies


@pytest.fixture(scope="module")
def quick():
    """Return a function from the name of a study to the rows of its quick form, run once."""
    found = {}

    def rows(name):
        if name not in found:
            found[name] = [{"form": "quick", **row} for row in run.measure(name, "quick")]
        return found[name]

    return rows


def typical(rows, name, **where):
    return np.median(column(select(rows, **where), name))


def test_roots_come_nearer_to_the_modes_with_n(quick):
    rows = select(quick("modes"), part="fit", method=modes.ALGORITHM)
    for d in (1, 2):
        some = select(rows, kind="unequal", d=d)
        assert (column(select(some, n=10_000), "modes") == 3).mean() >= 0.9
        far = [typical(some, "hausdorff", n=n) for n in (1000, 10_000)]
        assert far[1] < 0.9 * far[0]


def test_smoothing_flattens_modes_of_small_samples(quick):
    rows = select(quick("modes"), part="curvature", kind="unequal", d=1)
    assert typical(rows, "left", n=1000) < 0.8
    assert typical(rows, "left", n=10_000) == pytest.approx(1.0, abs=0.05)


def test_tails_of_gaussians_make_roots(quick):
    rows = select(quick("modes"), part="fit", kind="gaussians", n=10_000)
    assert column(select(rows, method=modes.ALGORITHM), "modes").mean() > 3
    assert column(select(rows, method=modes.DEFAULT), "modes").mean() <= 4


def test_density_converges_where_it_does_not_jump(quick):
    rows = select(quick("modes"), part="sup", d=2)
    smooth, jumping = (
        typical(rows, "sup", floor=floor, n=10_000) / typical(rows, "sup", floor=floor, n=1000)
        for floor in modes.FLOORS
    )
    assert smooth < 0.85
    assert smooth < jumping


def test_tau_decides_which_modes_are_returned(quick):
    rows = select(quick("tau"), n=10_000)
    for promised, low, high in (("returned", 0.9, 1.0), ("merged", 0.0, 0.1)):
        some = select(rows, promise=promised)
        share = column(some, "returned").sum() / column(some, "draws").sum()
        assert low <= share <= high


def test_paths_cross_a_valley_only_if_tau_is_too_wide(quick):
    rows = select(quick("assignment"), n=10_000, depth=0.4)
    shares = {
        case: column(select(rows, case=case), "bad_draws").sum()
        / column(select(rows, case=case), "draws").sum()
        for case in (assignment.SEPARATED, assignment.WEAK, assignment.TOO_WIDE)
    }
    assert shares[assignment.SEPARATED] <= 0.1
    assert shares[assignment.WEAK] <= 0.1
    assert shares[assignment.TOO_WIDE] >= 0.5


def test_cluster_tree_converges(quick):
    rows = quick("tree")
    for method in (tree.PAPER, tree.TAU_RULE):
        some = select(rows, density="three peaks in the plane", method=method)
        assert typical(some, "distortion", n=10_000) < typical(some, "distortion", n=1000)
        assert typical(some, "false", n=10_000) <= 1


def test_conditional_modes_converge(quick):
    rows = quick("regression")
    for method in (regression.LITERAL, regression.DEFAULT):
        some = select(rows, data="sheet", method=method)
        assert typical(some, "largest", n=10_000) < typical(some, "largest", n=1000)
    assert 0.8 < typical(rows, "ratio", method=regression.PEER) < 1.25


def test_chosen_bandwidths_suit_more_data_than_narrow_ones(quick):
    means = bandwidths.ratios(quick("bandwidths"), 1000).mean(axis=0)
    narrow, chosen = (bandwidths.CONSTANTS.index(c) for c in (0.3, bandwidths.CHOSEN))
    assert means[chosen] < 0.7 * means[narrow]


def test_defaults_find_known_clusters_more_often_than_those_of_peers(quick):
    found = labelled.scores_of(quick("labelled"), "development")
    peers = found.peers()
    assert {"HDBSCAN()", "DBSCAN()"} <= set(peers)
    assert found.mean(labelled.OURS) > max(map(found.mean, peers))


def test_one_gaussian_is_one_cluster_and_a_doubled_one_is_not(quick):
    rows = quick("one_cluster")
    for method in one_cluster.BANDWIDTHS:
        assert one_cluster.rate(select(rows, part="one Gaussian", method=method)) >= 0.97
    doubled = select(rows, distribution="Gaussian, each column twice", d=1)
    assert one_cluster.rate(doubled) <= 0.2


def test_methods_without_a_score_are_named_with_the_reason():
    rows = [
        {"part": "score", "list": "second", "set": "a", "seed": seed, "method": method} | result
        for seed in (0, 1)
        for method, result in (
            (labelled.OURS, {"score": 0.5}),
            ("HDBSCAN()", {"score": 0.7 + 0.1 * seed}),
            ("ToMATo", {"reason": "its package is not installed"}),
        )
    ]
    found = labelled.scores_of(rows, "second")
    assert labelled.strongest(found) == "HDBSCAN()"
    assert "ToMATo has no scores: its package is not installed" in labelled.remarks(found)
    assert "*a* (HDBSCAN(), 0.75 instead of 0.50)" in labelled.remarks(found)
    assert "| **mean** | 0.50 | 0.75 | – * |" in labelled.table(found)


def test_prediction_sets_cover(quick):
    rows = select(quick("coverage"), nominal=0.9)
    assert 0.87 < column(rows, "covered").mean() < 0.93
    shorter = select(rows, data="two_branches")
    assert column(shorter, "length").mean() < 0.7 * column(shorter, "interval_length").mean()


def test_defaults_survive_what_algorithm_1_does_not(quick):
    rows = quick("beyond")
    for case in ("heavy tails", "1 % outliers", "Gaussians, d = 20"):
        some = select(rows, case=case)
        assert typical(some, "clusters", method=beyond.ALGORITHM) > 3
        assert typical(some, "clusters", method=beyond.DEFAULT) == 3
    curve = select(rows, case="curve in R³")
    assert typical(curve, "clusters", method=beyond.ALGORITHM) == 3


@pytest.mark.parametrize("name", run.NAMES)
def test_results_picture_and_page_are_written(name, quick, tmp_path):
    rows = quick(name)
    path = tmp_path / "rows.csv"
    run.write_rows(rows, path)
    again = run.read_rows(path)
    with path.open(newline="", encoding="utf-8") as file:
        assert len(list(csv.reader(file))) == len(rows) + 1
    run.publish(name, "quick", again, tmp_path)
    page = (tmp_path / f"docs/studies/{name}.md").read_text(encoding="utf-8")
    assert f"make study NAME={name}" in page
    assert (tmp_path / f"docs/_static/studies/{name}.png").stat().st_size > 10_000
    assert run.load(name).summary(again)


@pytest.mark.parametrize("known", [equal(1), unequal(2), Peaks(d=2, power=1.0, curvature=1.2)])
def test_samples_of_peaks_have_their_density(known):
    X = known.sample(100_000, seed=1)
    low = np.full(known.d, -0.1)
    inside = ((low < X) & (-low > X)).all(axis=1).mean()
    grid = np.stack(np.meshgrid(*[np.linspace(-0.0995, 0.0995, 200)] * known.d), axis=-1)
    expected = known.density(grid.reshape(-1, known.d)).mean() * 0.2**known.d
    assert inside == pytest.approx(expected, rel=0.05)


def test_peaks_refuse_a_covered_center():
    with pytest.raises(ValueError, match="no other bump covers"):
        Peaks((0.0, 0.1), (1.0, 0.5), d=1)


@pytest.mark.parametrize("name", METHODS)
def test_methods_find_modes_that_are_far_apart(name):
    known = Peaks((0.0, 2.0), (1.0, 1.0), d=2)  # two balls that do not touch
    found = METHODS[name](known.sample(2000, seed=0), 0.15, 2)
    assert len(found) == 2
    assert hausdorff(found, known.modes()) < 0.4


@pytest.mark.parametrize("module", [measures, peaks, tables], ids=lambda module: module.__name__)
def test_examples_of_helpers_run(module):
    assert doctest.testmod(module).failed == 0


def test_slope_of_a_power_is_its_exponent():
    rng = np.random.default_rng(0)
    sizes = [10, 100, 1000]
    samples = [n**-0.25 * rng.uniform(0.9, 1.1, 200) for n in sizes]
    middle, low, high = slope(sizes, samples)
    assert low < -0.25 < high
    assert middle == pytest.approx(-0.25, abs=0.02)


def test_cpu_time_of_short_work_is_seen_under_a_limit():
    with limited(60.0):
        times = []
        for _ in range(20):
            began = cpu_seconds()
            np.sort(np.random.default_rng(0).random(20_000))
            times.append(cpu_seconds() - began)
    assert np.median(times) > 0


def test_peers_are_stopped():
    def work():
        while True:
            pass

    with limited(0.05), pytest.raises(TooSlow):
        work()
