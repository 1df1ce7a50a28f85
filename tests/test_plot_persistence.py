"""The persistence diagram: births, deaths, and the line of chance between them."""

import numpy as np
import pytest

from plot_cases import fits
from quickshift import QuickShift
from quickshift.plot import PersistenceDisplay
from quickshift.plot.chance_line import births_at, deaths_at
from quickshift.stages import climb, cut, link

pytestmark = pytest.mark.usefixtures("closed_figures")


@pytest.mark.parametrize("name", ["local", "kernel", "paper", "underflow"])
def test_births_and_deaths_are_those_of_the_tree(name):
    model = fits()[name]
    display = PersistenceDisplay.from_estimator(model)
    tree = model.tree_
    birth, death = tree.persistence().T
    met = death > 0
    assert np.allclose(display.birth * np.log(10), tree.log_unit + tree.power * np.log(birth))
    assert np.array_equal(display.alone, ~met)
    levels = tree.log_unit + tree.power * np.log(death[met])
    assert np.allclose(display.death[met] * np.log(10), levels)
    for label, row in enumerate(model.mode_indices_):
        assert display.labels[display.leaf_indices == row] == label


@pytest.mark.parametrize("name", fits())
def test_modes_are_above_the_line_of_chance_if_they_are_significant(name):
    model = fits()[name]
    display = PersistenceDisplay.from_estimator(model)
    significance = model._assessed_tree().known_significance()
    placed = np.isfinite(display.death)
    assert np.array_equal(~placed, np.isinf(significance))
    line = np.interp(display.death[placed], *display.chance_line.T)
    above = display.birth[placed] >= line
    assert np.array_equal(above, significance[placed] >= display.chance)


@pytest.mark.parametrize("bandwidth", ["local", "auto"])
def test_a_significant_mode_that_meets_no_other_is_above_the_line(bandwidth):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, (300, 2)), rng.normal([9, 0], 1, (300, 2))])
    display = PersistenceDisplay.from_estimator(QuickShift(bandwidth).fit(X)).plot()
    second = display.labels == 1
    assert display.alone[second].all()
    line = np.interp(display.death[second], *display.chance_line.T)
    assert line < display.birth[second]
    low, high = display.ax_.get_xlim()
    assert low < 10 ** display.death[second] < high


@pytest.mark.parametrize("bandwidth", ["local", "auto"])
@pytest.mark.parametrize("n_samples", [20, 300])
def test_the_line_of_chance_crosses_the_picture(bandwidth, n_samples):
    X = np.random.default_rng(0).normal(size=(n_samples, 2))
    display = PersistenceDisplay.from_estimator(QuickShift(bandwidth).fit(X)).plot()
    x, y = display.ax_.lines[1].get_data()
    left, right = display.ax_.get_xlim()
    bottom, top = display.ax_.get_ylim()
    assert ((x > left) & (x < right) & (y > bottom) & (y < top)).any()


def test_the_highest_mode_is_in_the_strip_of_modes_that_are_never_absorbed():
    display = PersistenceDisplay.from_estimator(fits()["local"]).plot()
    ticks = [tick.get_text() for tick in display.ax_.get_xticklabels()]
    assert ticks.count("never") == 1 == ticks.index("never") + 1
    assert np.flatnonzero(np.isneginf(display.death)).tolist() == [0]
    edge = display.ax_.lines[-1].get_xdata()[0]
    assert display.ax_.lines[1].get_xdata().min() >= edge


def test_deaths_that_follow_from_a_significance_have_it():
    model = fits()["kernel"]
    birth = np.array([-1.0, -1.5, -2.0])
    death = deaths_at(model, birth, np.array([1.5, 0.7, 1e3]))
    assert np.allclose(births_at(model, death[:1], 1.5), birth[0])
    assert np.allclose(births_at(model, death[1:2], 0.7), birth[1])
    assert death[2] == -np.inf


def test_deaths_under_local_scale_follow_from_the_number_of_neighbors():
    model = fits()["local"]
    birth, significance = np.array([0.0]), np.array([2.0])
    drop = birth - deaths_at(model, birth, significance)
    assert drop * np.log(10) == pytest.approx(2.0 / np.sqrt(model.n_neighbors_ / 2))


def test_chance_is_not_known_without_an_estimator():
    X, density = np.arange(4.0)[:, None], np.array([3.0, 1.0, 2.0, 1.0])
    tree = link(X, density, cut(climb(X, density), 1.5), 1.5)
    display = PersistenceDisplay.from_tree(tree).plot()
    assert len(display.chance_line) == 0
    assert np.isnan(display.chance)
    assert "chance" not in display.ax_.get_title()
    with pytest.raises(TypeError, match="tree is of type QuickShift, expected a ClusterTree"):
        PersistenceDisplay.from_tree(QuickShift())


def test_many_modes_are_thinned_out_but_clusters_stay():
    X = np.random.default_rng(0).uniform(size=(60_000, 2))
    model = QuickShift(bandwidth=1e-6, n_clusters=55_000).fit(X).recut(n_clusters=3)
    display = PersistenceDisplay.from_estimator(model)
    assert len(display.birth) == 55_000
    assert len(display.drawn) <= 50_003
    assert np.isin(np.flatnonzero(display.labels >= 0), display.drawn).all()
    assert "55,000 modes drawn" in display.plot().ax_.get_title().replace("\n", " ")
