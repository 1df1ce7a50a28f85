"""Displays of fits whose distances are not those of the features: spheres and scales."""

import numpy as np
import pandas
import pytest

from quickshift import QuickShift
from quickshift.plot import (
    ClusterTreeDisplay,
    CutsDisplay,
    DecisionGraphDisplay,
    ForestDisplay,
    LevelSetDisplay,
    PersistenceDisplay,
    SeparationDisplay,
)
from quickshift.plot.axes import with_unit
from sphere_cases import center_of, to_globe

pytestmark = pytest.mark.usefixtures("closed_figures")


@pytest.fixture(name="globe", scope="module")
def fit_on_globe():
    rng = np.random.default_rng(0)
    places = [(0.0, np.pi), (1.2, 0.5), (0.3, 0.0)]
    noise = 0.05 * rng.normal(size=(3, 80, 3))
    return to_globe(np.concatenate([center_of(p) + n for p, n in zip(places, noise, strict=True)]))


def test_places_on_the_globe_are_drawn_as_on_a_map(globe):
    shifted = globe - [0.0, 2 * np.pi] * (globe[:, 1:] > 0)  # from -2π to 0
    display = ForestDisplay.from_estimator(QuickShift(metric="haversine").fit(shifted)).plot()
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == (
        "longitude (rad)",
        "latitude (rad)",
    )
    np.testing.assert_allclose(display.points[:, 1], globe[:, 0])
    turns = (display.points[:, 0] - globe[:, 1]) / (2 * np.pi)
    np.testing.assert_allclose(turns, np.round(turns), atol=1e-12)
    assert (np.abs(display.points[:, 0]) <= np.pi).all()
    assert display.ax_.get_xlim() == pytest.approx((-np.pi, np.pi))


def test_moves_across_the_date_line_are_short(globe):
    display = ForestDisplay.from_estimator(QuickShift(metric="haversine").fit(globe))
    assert np.abs(np.diff(display.kept_moves[:, :, 0], axis=1)).max() < np.pi
    assert (np.abs(display.kept_moves[:, :, 0]) > np.pi).any()  # some go beyond the edge


@pytest.mark.parametrize("metric", ["haversine", "cosine"])
@pytest.mark.parametrize("bandwidth", ["local", "auto"])
@pytest.mark.parametrize(
    "display",
    [
        ForestDisplay,
        DecisionGraphDisplay,
        CutsDisplay,
        ClusterTreeDisplay,
        PersistenceDisplay,
    ],
)
def test_displays_of_points_on_spheres_are_drawn(globe, metric, bandwidth, display):
    model = QuickShift(bandwidth, metric=metric).fit(globe)
    assert display.from_estimator(model).plot().ax_.get_title()


def test_samples_are_drawn_in_the_units_of_the_features(globe):
    model = QuickShift(scale="std").fit(globe * [1.0, 1000.0])
    display = ForestDisplay.from_estimator(model)
    np.testing.assert_array_equal(display.points, globe * [1.0, 1000.0])
    np.testing.assert_array_equal(display.modes, model.modes_)


def test_displays_on_a_line_are_in_the_units_of_the_feature():
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.normal(0, 1, (200, 1)), rng.normal(8, 1, (200, 1))])
    plain = QuickShift(0.5, tau=1.0).fit(x)
    scaled = QuickShift(0.5, tau=1.0, scale=[1000.0]).fit(1000.0 * x)
    a, b = (SeparationDisplay.from_estimator(model, (5, 300)) for model in (plain, scaled))
    np.testing.assert_allclose(b.separators, 1000.0 * a.separators)
    assert b.r_s == pytest.approx(1000.0 * a.r_s)
    assert 1000.0 * b.level == pytest.approx(a.level)
    assert 1000.0 * b.delta == pytest.approx(a.delta)
    a = LevelSetDisplay.from_estimator(plain, level=0.01)
    b = LevelSetDisplay.from_estimator(scaled, level=1e-5)
    np.testing.assert_allclose(b.component_intervals, 1000.0 * a.component_intervals)


def test_scaled_lengths_have_no_unit(globe):
    model = QuickShift("auto", scale="std").fit(globe)
    cuts = CutsDisplay.from_estimator(model, by="tau", unit="km").plot()
    assert "km" not in cuts.ax_.get_xlabel()
    graph = DecisionGraphDisplay.from_estimator(model, unit="km").plot()
    assert "km" not in graph.ax_.get_ylabel()
    assert "km" in graph.ax_.get_xlabel()  # densities are in the units of the features


def test_constant_features_do_not_count_in_the_unit_of_a_local_density(globe):
    X = np.column_stack([globe, np.ones(len(globe))])
    graph = DecisionGraphDisplay.from_estimator(QuickShift().fit(X), unit="km").plot()
    assert "km$^{-2}$" in graph.ax_.get_xlabel()


@pytest.mark.parametrize("display", [DecisionGraphDisplay, CutsDisplay])
def test_as_many_clusters_as_samples_can_be_drawn(display):
    model = QuickShift(n_clusters=3).fit([[0.0, 0.0], [1.0, 1.0], [5.0, 5.0]])
    options = {"by": "tau"} if display is CutsDisplay else {}
    assert display.from_estimator(model, **options).plot().ax_.get_title()


def test_rows_of_weight_zero_change_no_display_on_a_line():
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.normal(0, 1, (200, 1)), rng.normal(8, 1, (200, 1))])
    more = np.concatenate([x, [[0.1], [4.0], [8.2]]])
    weights = np.repeat([1.0, 0.0], [400, 3])
    fits = QuickShift(0.5, tau=1.0).fit(x), QuickShift(0.5, tau=1.0).fit(more, None, weights)
    a, b = (LevelSetDisplay.from_estimator(model, level=0.05) for model in fits)
    np.testing.assert_allclose(b.component_intervals, a.component_intervals)
    assert b.share_below == a.share_below
    a, b = (SeparationDisplay.from_estimator(model, (5, 300)) for model in fits)
    np.testing.assert_allclose(b.separators, a.separators)


def test_dollar_signs_are_no_formulas():
    names = ["price ($)", "cost ($)", "$\\frac{"]
    X = pandas.DataFrame(np.random.default_rng(0).normal(size=(30, 3)), columns=names)
    for features in ((0, 1), (2, 1)):
        display = ForestDisplay.from_estimator(QuickShift().fit(X), features=features, unit="$")
        figure = display.plot().figure_
        figure.canvas.draw()
        shown = display.ax_.get_xlabel() + display.ax_.get_title()
        assert shown.count("$") == shown.count(r"\$") > 0
    line = QuickShift(0.5).fit(X[names[:1]])
    density = LevelSetDisplay.from_estimator(line, level=0.1, unit="$").plot()
    assert density.ax_.get_ylabel() == r"density (\$$^{-1}$)"
    assert with_unit("x", r"$\mu$m") == r"x ($\mu$m)"


@pytest.mark.parametrize("unit", [1e-200, 1e160, 1e300])
@pytest.mark.parametrize("kind", ["forest", "decision_graph", "cuts", "tree", "persistence"])
def test_displays_are_drawn_in_extreme_units(kind, unit):
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(0, 1, (30, 1)), rng.normal(6, 1, (30, 1))])
    QuickShift(0.5 * unit, tau=unit).fit(x * unit).plot(kind).figure_.canvas.draw()
