"""The data behind the displays of one feature, of modal regression and of segmentation."""

import numpy as np
import pandas
import pytest

from plot_cases import fits
from quickshift import (
    ModalRegressor,
    QuickShift,
    boundary_strength,
    explore,
    mean_color,
    segment_forest,
    trace_branches,
)
from quickshift.datasets import two_branches
from quickshift.plot import (
    LevelSetDisplay,
    ModalRegressionDisplay,
    SegmentationDisplay,
    SeparationDisplay,
)

pytestmark = pytest.mark.usefixtures("closed_figures")


def line_of(model):
    return model._graph.samples.tree.coordinates(np.arange(len(model.labels_)))[:, 0]


def inside(x, intervals):
    return ((x[:, None] >= intervals[:, 0]) & (x[:, None] <= intervals[:, 1])).any(axis=1)


@pytest.mark.parametrize(
    "draw",
    [
        lambda model, _, __: LevelSetDisplay.from_estimator(model, level=0.1),
        lambda model, _, __: SeparationDisplay.from_estimator(model, (0, 1)),
        lambda _, regression, __: ModalRegressionDisplay.from_estimator(regression),
        lambda _, regression, path: explore(regression, path),
    ],
    ids=["level set", "separation", "regression", "explore"],
)
def test_fits_of_data_frames_are_drawn_without_warnings(draw, tmp_path):
    x, y = two_branches().sample(100, seed=0)
    frame = pandas.DataFrame(x, columns=["x"])
    draw(QuickShift(0.1).fit(frame), ModalRegressor().fit(frame, y), tmp_path / "page.html")


@pytest.mark.parametrize("period", [None, [9.0]])
def test_separation_within_an_infinite_radius_is_drawn(period):
    x = np.random.default_rng(0).normal(size=(60, 1))
    display = SeparationDisplay.from_estimator(
        QuickShift(0.3, np.inf, period=period).fit(x), (0, 9)
    )
    assert display.r_s == np.inf
    display.plot().figure_.canvas.draw()


# Level sets


@pytest.mark.parametrize("level", [0.0, 0.03, 0.1, 10.0])
@pytest.mark.parametrize("name", ["line", "local line"])
def test_components_are_those_of_the_tree(name, level):
    model = fits()[name]
    x, components = line_of(model), model.tree_.components_at(level)
    display = LevelSetDisplay.from_estimator(model, level=level)
    assert np.array_equal(inside(x, display.component_intervals), components >= 0)
    assert display.n_components == components.max() + 1
    assert display.share_below == (components < 0).mean()


@pytest.mark.parametrize("name", ["line", "local line"])
def test_clusters_divide_the_line(name):
    model = fits()[name]
    display = LevelSetDisplay.from_estimator(model, level=0.05)
    assert np.allclose(display.cluster_intervals[1:, 0], display.cluster_intervals[:-1, 1])
    at = np.searchsorted(display.cluster_intervals[:, 1], line_of(model))
    assert np.array_equal(display.cluster_labels[at], model.labels_)
    assert np.array_equal(display.modes[:, 0], model.modes_[:, 0])


def test_a_component_has_the_color_of_its_highest_sample():
    model = fits()["line"]
    display = LevelSetDisplay.from_estimator(model, level=0.0)
    assert set(display.component_labels.tolist()) == {0}


def test_curve_is_the_density():
    model = fits()["line"]
    display = LevelSetDisplay.from_estimator(model, level=0.05)
    assert np.allclose(display.density, np.exp(model.score_samples(display.grid[:, None])))
    local = LevelSetDisplay.from_estimator(fits()["local line"], level=0.05)
    assert local.density.max() <= fits()["local line"].density_.max()


@pytest.mark.parametrize("show", ["both", "components", "clusters"])
def test_level_sets_can_be_drawn(show):
    rng = np.random.default_rng(0)
    around = rng.normal(0, 0.5, (100, 1)) % 10.0
    models = [
        fits()["line"],
        fits()["local line"],
        QuickShift().fit([[2.0]]),
        QuickShift(period=[10.0]).fit(around),
    ]
    for model in models:
        display = LevelSetDisplay.from_estimator(model, level=0.05, unit="m").plot(show=show)
        assert display.ax_.get_xlabel() == "x0 (m)"
        assert display.ax_.get_title()


def test_level_sets_need_one_feature_and_a_known_choice():
    with pytest.raises(ValueError, match="samples have 2 features, expected 1: LevelSetDisplay"):
        LevelSetDisplay.from_estimator(fits()["local"], level=0.1)
    with pytest.raises(ValueError, match="level is -1"):
        LevelSetDisplay.from_estimator(fits()["line"], level=-1)
    with pytest.raises(ValueError, match="show is 'all', expected one of 'both'"):
        LevelSetDisplay.from_estimator(fits()["line"], level=0.1).plot(show="all")


# Separation


def pair_of(model, a, b):
    x = line_of(model)
    return int(np.argmin(np.abs(x - a))), int(np.argmin(np.abs(x - b)))


def test_the_separating_point_has_the_lowest_density_around_it():
    model = fits()["line"]
    x = line_of(model)
    display = SeparationDisplay.from_estimator(model, pair_of(model, 0.0, 5.0), r_s=0.3)
    near = np.abs(x - display.separators[0]) <= 0.3
    assert model.density_[near].max(initial=0.0) <= display.level * (1 + 1e-9)
    around = [np.abs(x - end) <= 0.3 for end in display.ends[:, 0]]
    lowest = min(model.density_[some].min() for some in around)
    assert display.level + display.delta == pytest.approx(lowest)
    assert "A and B are separated" in display.plot().ax_.get_title()


def test_samples_on_one_slope_are_not_separated():
    model = fits()["line"]
    display = SeparationDisplay.from_estimator(model, pair_of(model, 0.0, 0.8), r_s=0.3).plot()
    assert display.delta <= 0
    assert "A and B are not separated" in display.ax_.get_title()


def test_a_circle_is_separated_by_two_points():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(0, 0.8, (300, 1)), rng.normal(5, 0.8, (300, 1))]) % 10.0
    model = QuickShift(bandwidth=0.35, tau=1.0, period=[10.0]).fit(x)
    display = SeparationDisplay.from_estimator(model, pair_of(model, 0.2, 5.0), r_s=0.4).plot()
    assert np.allclose(np.sort(display.separators), [2.5, 7.5], atol=1.0)


# Modal regression


def test_branches_sets_and_mean_of_a_regression():
    X, y = two_branches().sample(800, seed=0)
    model = ModalRegressor().fit(X, y)
    grid = np.linspace(0.1, 0.9, 41)
    display = ModalRegressionDisplay.from_estimator(model, grid=grid, coverage=0.8, unit="s").plot()
    assert [len(branch) for branch in display.branches] == [
        len(branch) for branch in trace_branches(model, grid)
    ]
    assert display.prediction_set == model.predict_set(grid[:, None], 0.8)
    weights = np.exp(-0.5 * ((grid[:, None] - X[:, 0]) / model.bandwidth_[0]) ** 2)
    assert np.allclose(display.mean, weights @ y / weights.sum(axis=1))
    assert np.array_equal(display.x, X[:, 0])
    assert np.array_equal(display.y, y)
    assert display.ax_.get_xlabel() == "x0 (s)"
    assert "80% prediction set" in display.ax_.get_title()


@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
def test_small_regressions_can_be_drawn(kernel):
    for X, y in [([[1.0]], [2.0]), ([[0.0], [1.0], [5.0]], [1.0, 2.0, 3.0])]:
        model = ModalRegressor(bandwidth=(0.3, 0.5), tau=0.1, kernel=kernel).fit(X, y)
        ModalRegressionDisplay.from_estimator(model).plot(mean=False)


def test_regressions_of_several_features_are_refused():
    model = ModalRegressor(bandwidth=1.0).fit(np.eye(3), [0.0, 1.0, 2.0])
    with pytest.raises(ValueError, match="samples have 3 features, expected 1"):
        ModalRegressionDisplay.from_estimator(model)


# Segmentation


@pytest.fixture(scope="module")
def picture():
    image = np.zeros((12, 16, 3))
    image[:, 8:] = [0.9, 0.2, 0.1]
    image[6:, :5] = [0.1, 0.3, 0.9]
    return image


def test_segments_of_a_forest(picture):
    forest = segment_forest(picture, bandwidth=2.0)
    display = SegmentationDisplay.from_forest(forest, picture, n_segments=3)
    assert np.array_equal(display.labels, forest.labels_for(3))
    assert np.array_equal(display.mean_colors, mean_color(picture, display.labels))
    assert np.array_equal(display.strength, boundary_strength(forest))
    assert display.n_segments == 3
    same = SegmentationDisplay.from_forest(forest, picture, tau=20.0)
    assert np.array_equal(same.labels, forest.labels_at(20.0))
    for show in ("boundaries", "mean_colors", "strength"):
        assert display.plot(show=show).ax_.get_title()


def test_boundaries_separate_pixels_of_different_segments():
    display = SegmentationDisplay.from_labels([[0, 0, 1], [0, 2, 1]], np.ones((2, 3)))
    lines = {tuple(map(tuple, line)) for line in display.boundaries.tolist()}
    assert lines == {
        ((1.5, -0.5), (1.5, 0.5)),
        ((0.5, 0.5), (0.5, 1.5)),
        ((1.5, 0.5), (1.5, 1.5)),
        ((0.5, 0.5), (1.5, 0.5)),
    }


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.int32])
def test_pictures_of_every_type_can_be_drawn(dtype):
    image = (np.arange(24).reshape(4, 6) % 5).astype(dtype)
    labels = np.arange(24).reshape(4, 6) // 12
    labels[0, 0] = -1
    display = SegmentationDisplay.from_labels(labels, image).plot()
    assert display.n_segments == 2
    assert display.ax_.images[0].get_array().max() <= 1


def test_arguments_of_a_segmentation_are_checked(picture):
    forest = segment_forest(picture, bandwidth=2.0)
    with pytest.raises(TypeError, match="expected exactly one of them"):
        SegmentationDisplay.from_forest(forest, picture)
    with pytest.raises(TypeError, match="expected exactly one of them"):
        SegmentationDisplay.from_forest(forest, picture, tau=1.0, n_segments=2)
    with pytest.raises(TypeError, match="forest is of type list, expected a SegmentForest"):
        SegmentationDisplay.from_forest([], picture, tau=1.0)
    with pytest.raises(ValueError, match=r"labels has shape .*, expected two axes"):
        SegmentationDisplay.from_labels(np.zeros((2, 2, 2), int), np.zeros((2, 2, 2)))
    with pytest.raises(ValueError, match=r"cannot be computed from labels"):
        SegmentationDisplay.from_labels(np.zeros((2, 2), int), np.ones((2, 2))).plot(
            show="strength"
        )
