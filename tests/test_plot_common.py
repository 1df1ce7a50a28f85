"""What all displays have in common: they draw every fit, follow scikit-learn and stay optional."""

import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from plot_cases import fits
from quickshift import ModalRegressor, QuickShift, plot
from quickshift.plot.thinning import MOST_DRAWN, drawn_rows

pytestmark = pytest.mark.usefixtures("closed_figures")

OF_QUICK_SHIFT = [
    plot.ForestDisplay,
    plot.DecisionGraphDisplay,
    plot.CutsDisplay,
    plot.ClusterTreeDisplay,
    plot.PersistenceDisplay,
]


def texts(ax):
    return [text.get_text() for text in ax.texts]


@pytest.mark.parametrize("name", fits())
@pytest.mark.parametrize("display", OF_QUICK_SHIFT)
def test_every_fit_can_be_drawn(display, name):
    drawn = display.from_estimator(fits()[name], unit="m").plot()
    assert drawn.figure_ is drawn.ax_.figure
    assert drawn.ax_.get_xlabel()
    assert drawn.ax_.get_ylabel()
    assert drawn.ax_.get_title()
    drawn.figure_.canvas.draw()
    low, high = drawn.ax_.get_ylim()
    assert np.isfinite([low, high]).all()


@pytest.mark.parametrize("display", OF_QUICK_SHIFT)
def test_displays_draw_into_given_axes_and_return_themselves(display):
    _, (left, right) = plt.subplots(1, 2)
    drawn = display.from_estimator(fits()["local"])
    assert drawn.plot(ax=right) is drawn
    assert drawn.ax_ is right
    assert not left.has_data()


@pytest.mark.parametrize("display", OF_QUICK_SHIFT)
def test_displays_of_a_pipeline_are_those_of_its_last_step(display):
    X = np.random.default_rng(0).normal(size=(100, 2))
    pipeline = make_pipeline(StandardScaler(), QuickShift()).fit(X)
    assert repr(display.from_estimator(pipeline)) == repr(display.from_estimator(pipeline[-1]))


@pytest.mark.parametrize("display", OF_QUICK_SHIFT)
def test_other_estimators_are_refused(display):
    with pytest.raises(TypeError, match="expected a fitted QuickShift or a pipeline"):
        display.from_estimator(StandardScaler())
    with pytest.raises(NotFittedError):
        display.from_estimator(QuickShift())


@pytest.mark.parametrize("display", OF_QUICK_SHIFT)
def test_dark_backgrounds_get_the_colors_for_dark_backgrounds(display):
    from quickshift.plot.axes import theme_of

    with plt.style.context("dark_background"):
        drawn = display.from_estimator(fits()["local"]).plot()
        theme = theme_of(drawn.ax_)
    assert theme.dark
    assert theme.colors(np.arange(3)).tolist() == list(plot.palette(dark=True)[:3])


@pytest.mark.parametrize("display", OF_QUICK_SHIFT)
def test_displays_draw_into_shared_axes(display):
    figure, axes = plt.subplots(1, 2, sharex=True, sharey=True)
    for ax in axes:
        display.from_estimator(fits()["local"]).plot(ax)
    figure.canvas.draw()


def test_transparent_axes_have_the_background_of_their_figure():
    from quickshift.plot.axes import theme_of

    figure, ax = plt.subplots(facecolor="black")
    ax.set_facecolor("none")
    assert theme_of(ax).dark
    figure.set_facecolor("white")
    assert not theme_of(ax).dark


def test_titles_are_as_wide_as_the_axes():
    from quickshift.plot.axes import set_title

    _, ax = plt.subplots(figsize=(2.5, 2.0))
    set_title(ax, "word " * 20, "", "another line")
    lines = ax.get_title().splitlines()
    assert lines[-1] == "another line"
    assert max(len(line) for line in lines) <= 30


def test_log_axes_have_a_few_round_ticks():
    from quickshift.plot.axes import set_log_scale

    for low, high in [(1.0, 2.0), (0.01, 7.0), (1e-9, 1e3), (1e-46, 1e-39), (1e-120, 1e-20)]:
        _, ax = plt.subplots(figsize=(3.3, 2.5))
        ax.set(xlim=(low, high), ylim=(low, high))
        for which in ("x", "y"):
            set_log_scale(ax, which)
            axis = ax.xaxis if which == "x" else ax.yaxis
            shown = [tick for tick in axis.get_majorticklocs() if low <= tick <= high]
            assert 2 <= len(shown) <= 9


def test_labels_do_not_cover_each_other():
    from quickshift.plot.axes import spread_labels, theme_of

    _, ax = plt.subplots()
    ax.set(xlim=(0, 1), ylim=(0, 1))
    place = np.full(9, 0.5)
    written = spread_labels(ax, theme_of(ax), place, place, [str(i) for i in range(9)])
    assert written == [0, 1, 2, 3]  # above, on the right, on the left and below
    assert texts(ax) == ["0", "1", "2", "3"]


def test_few_samples_are_all_drawn_and_many_are_thinned_out_in_the_same_way():
    assert drawn_rows(MOST_DRAWN).tolist() == list(range(MOST_DRAWN))
    rows = drawn_rows(10 * MOST_DRAWN, np.array([1, 3]))
    assert MOST_DRAWN <= rows.size <= MOST_DRAWN + 2
    assert np.isin([1, 3], rows).all()
    assert np.array_equal(rows, drawn_rows(10 * MOST_DRAWN, np.array([1, 3])))
    assert (np.diff(rows) > 0).all()


def test_thinned_out_pictures_say_so():
    X = np.random.default_rng(0).normal(size=(MOST_DRAWN + 5_000, 2))
    model = QuickShift(bandwidth=0.3, tau=1.0).fit(X)
    for display in (plot.ForestDisplay, plot.DecisionGraphDisplay):
        drawn = display.from_estimator(model).plot()
        assert f"{len(drawn.rows):,} of 55,000 samples drawn" in drawn.ax_.get_title()
        assert np.isin(model.mode_indices_, drawn.rows).all()


@pytest.mark.parametrize(
    ("kind", "display"),
    [
        ("forest", plot.ForestDisplay),
        ("decision_graph", plot.DecisionGraphDisplay),
        ("cuts", plot.CutsDisplay),
        ("tree", plot.ClusterTreeDisplay),
        ("persistence", plot.PersistenceDisplay),
    ],
)
def test_plot_of_an_estimator_is_short_for_a_display(kind, display):
    _, ax = plt.subplots()
    drawn = fits()["local"].plot(kind, ax, unit="km")
    assert type(drawn) is display
    assert drawn.ax_ is ax


def test_plot_of_an_estimator_draws_the_forest_unless_told_otherwise():
    assert isinstance(fits()["local"].plot(), plot.ForestDisplay)
    with pytest.raises(ValueError, match="kind is 'scatter', expected one of 'forest', 'dec"):
        fits()["local"].plot("scatter")
    with pytest.raises(NotFittedError):
        QuickShift().plot()


def test_plot_of_a_tree_is_short_for_its_display():
    tree = fits()["local"].tree_
    _, ax = plt.subplots()
    drawn = tree.plot(ax, n_leaves=3, unit="km")
    assert isinstance(drawn, plot.ClusterTreeDisplay)
    assert drawn.ax_ is ax
    assert len(drawn.leaf_indices) == 3


def test_without_matplotlib_displays_compute_and_plot_says_how_to_install_it():
    code = """
import sys
sys.modules["matplotlib"] = None
from quickshift import *
model = QuickShift().fit([[0.0], [1.0], [2.0]])
display = plot.ForestDisplay.from_estimator(model)
assert len(display.points) == 3
for draw in (model.plot, display.plot, model.tree_.plot):
    try:
        draw()
    except ImportError as error:
        assert "pip install quickshift[plot]" in str(error), error
    else:
        raise AssertionError(draw)
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=120)


def test_importing_displays_does_not_import_matplotlib():
    code = (
        "import sys, quickshift; quickshift.plot.palette(); assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=120)


def test_displays_of_regressions_refuse_other_models():
    with pytest.raises(TypeError, match="expected a fitted ModalRegressor"):
        plot.ModalRegressionDisplay.from_estimator(fits()["line"])
    with pytest.raises(NotFittedError):
        plot.ModalRegressionDisplay.from_estimator(ModalRegressor())
