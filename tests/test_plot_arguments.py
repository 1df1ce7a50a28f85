"""Arguments of displays: which forms are taken, which are refused, and what is chosen for users."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from plot_cases import fits
from quickshift import QuickShift
from quickshift.plot import CutsDisplay, ForestDisplay, PersistenceDisplay, label_colors

pytestmark = pytest.mark.usefixtures("closed_figures")


@pytest.mark.parametrize(
    "features", [(7, 3), [7, 3], np.array([7, 3]), ("x7", "x3"), np.array(["x7", "x3"]), ("x7", 3)]
)
def test_features_are_a_pair_of_numbers_or_names(features):
    assert ForestDisplay.from_estimator(fits()["underflow"], features=features).names == (
        "x7",
        "x3",
    )


@pytest.mark.parametrize("features", [0, 1, "x0", (0,), (0, 1, 2), (0.0, 1.0), (False, True), []])
def test_features_that_are_no_pair_are_refused(features):
    with pytest.raises(TypeError, match=r"expected the two columns .* as \(0, 1\) or as names"):
        ForestDisplay.from_estimator(fits()["underflow"], features=features)


@pytest.mark.parametrize("features", [(1, 1), (0, 400), (-1, 0), ("x0", "y"), ("x0", 0)])
def test_features_that_do_not_exist_are_refused(features):
    with pytest.raises(ValueError, match="two different columns from 0 to 399, or two of the name"):
        ForestDisplay.from_estimator(fits()["underflow"], features=features)


def test_features_may_be_columns_of_the_data_frame():
    pandas = pytest.importorskip("pandas")
    X = np.random.default_rng(0).normal(size=(30, 3))
    model = QuickShift().fit(pandas.DataFrame(X, columns=["width", "height", "depth"]))
    display = ForestDisplay.from_estimator(model, features=("depth", "width")).plot()
    assert display.names == ("depth", "width")
    np.testing.assert_array_equal(display.points, X[:, [2, 0]])
    assert "features depth and width of 3" in display.ax_.get_title()
    with pytest.raises(ValueError, match="the names 'width', 'height', 'depth'"):
        ForestDisplay.from_estimator(model, features=("depth", "weight"))


def test_the_title_says_which_of_many_features_are_drawn():
    model = fits()["underflow"]
    assert "features x0 and x1 of 400" in ForestDisplay.from_estimator(model).plot().ax_.get_title()
    places = np.random.default_rng(0).normal(size=(60, 2))
    for display in (
        ForestDisplay.from_estimator(model, places),
        ForestDisplay.from_estimator(fits()["local"]),
        ForestDisplay.from_estimator(fits()["line"]),
    ):
        assert "features" not in display.plot().ax_.get_title()


def test_cuts_are_by_what_found_the_clusters():
    local = fits()["local"]
    for model, by in (
        (local, "significance"),
        (fits()["kernel"], "significance"),
        (fits()["paper"], "tau"),
        (local.recut(tau=1.0), "tau"),
        (local.recut(n_clusters=2), "significance"),
        (fits()["paper"].recut(n_clusters=2), "significance"),
        (fits()["paper"].recut(min_cluster_size=5), "tau"),
    ):
        assert CutsDisplay.from_estimator(model).by == by


def test_the_cuts_of_a_default_fit_mark_its_clusters():
    model = fits()["local"]
    drawn = CutsDisplay.from_estimator(model).plot()
    marked = [line for line in drawn.ax_.lines if line.get_marker() == "o"]
    assert [line.get_ydata()[0] for line in marked] == [model.n_clusters_]
    relative = CutsDisplay.from_estimator(model, by="tau").plot()
    assert relative.ax_.get_xlabel() == "τ as a multiple of each sample's own"


def test_axes_that_are_none_of_matplotlib_are_refused():
    with pytest.raises(TypeError, match=r"ax is of type str, expected matplotlib Axes\. Pass one"):
        fits()["local"].plot(ax="x")
    with pytest.raises(TypeError, match="ax is of type ndarray"):
        fits()["local"].plot(ax=plt.subplots(1, 2)[1])


@pytest.mark.parametrize("display", [ForestDisplay, CutsDisplay, PersistenceDisplay])
def test_units_that_are_no_text_are_refused(display):
    with pytest.raises(TypeError, match="unit is 3, expected a text such as 'km'"):
        display.from_estimator(fits()["local"], unit=3)


@pytest.mark.parametrize(
    ("labels", "shown"), [(["a"], "'a'"), ([0, 0.5], "0.5"), ([np.nan], "nan"), ([None], "None")]
)
def test_labels_that_are_no_whole_numbers_have_no_color(labels, shown):
    with pytest.raises(TypeError, match=f"labels contains {shown}, expected whole numbers"):
        label_colors(labels)


def test_whole_numbers_of_any_type_have_colors():
    expected = label_colors([0, 1]).tolist()
    for labels in (np.array([0.0, 1.0]), np.array([False, True]), np.array([0, 1], dtype="uint8")):
        assert label_colors(labels).tolist() == expected
    assert label_colors([]).size == 0
