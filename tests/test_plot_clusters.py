"""The data behind the displays of a clustering: forest, decision graph, cuts and tree."""

import numpy as np
import pytest

from plot_cases import fits
from quickshift import QuickShift
from quickshift.plot import (
    ClusterTreeDisplay,
    CutsDisplay,
    DecisionGraphDisplay,
    ForestDisplay,
    palette,
)
from quickshift.stages import climb, cut, link

pytestmark = pytest.mark.usefixtures("closed_figures")

FOUR = np.array([[0.0], [1.0], [2.0], [3.0]])


def four_samples():
    """Return the tree of two leaves, of densities 3 and 2, which meet at density 1."""
    density = np.array([3.0, 1.0, 2.0, 1.0])
    return link(FOUR, density, cut(climb(FOUR, density), 1.5), 1.5)


# Forest


def test_moves_go_from_samples_to_their_parents():
    model = fits()["paper"]
    display = ForestDisplay.from_estimator(model)
    kept = (model.parent_distance_ <= model.tau_).nonzero()[0]
    assert np.array_equal(display.kept_moves[:, 0], display.points[kept])
    assert np.allclose(display.kept_moves[:, 1], display.points[model.parent_[kept]])
    assert np.array_equal(display.kept_labels, model.labels_[kept])
    lengths = np.linalg.norm(np.diff(display.cut_moves, axis=1)[:, 0], axis=1)
    longer = model.parent_distance_[(model.parent_distance_ > model.tau_)]
    assert np.allclose(np.sort(lengths), np.sort(longer[np.isfinite(longer)]))
    assert np.array_equal(display.modes, model.modes_)


def test_no_move_is_dashed_if_tau_is_infinite():
    model = fits()["one tree"]
    display = ForestDisplay.from_estimator(model)
    assert len(display.cut_moves) == 0
    assert len(display.kept_moves) == len(model.labels_) - 1


@pytest.mark.parametrize("name", ["local", "weights", "duplicates", "200 clusters"])
def test_every_sample_has_a_move_unless_it_has_no_parent(name):
    model = fits()[name]
    display = ForestDisplay.from_estimator(model)
    n_moving = int(np.isfinite(model.parent_distance_).sum())
    assert len(display.kept_moves) + len(display.cut_moves) == n_moving
    assert len(display.points) == len(model.labels_)


def test_samples_have_the_colors_of_their_labels():
    from matplotlib.colors import to_hex

    model = fits()["local"]
    drawn = ForestDisplay.from_estimator(model).plot(moves=False)
    points = drawn.ax_.collections[0]
    colors = [to_hex(color) for color in points.get_facecolors()]
    assert colors == [palette()[label] for label in model.labels_]


def test_moves_across_the_end_of_a_period_are_drawn_at_both_ends():
    model = QuickShift(bandwidth=1.0, tau=4.0, period=[10.0, 10.0])
    model.fit([[9.5, 5.0], [0.5, 5.0], [0.6, 5.0]])
    display = ForestDisplay.from_estimator(model)
    far = display.kept_moves[np.abs(display.kept_moves[:, 0, 0] - 9.5) < 0.1]
    assert far[:, 1, 0] == pytest.approx([10.5])
    back = display.kept_moves[np.abs(display.kept_moves[:, 0, 0] + 0.5) < 0.1]
    assert back[:, 1, 0] == pytest.approx([0.5])
    assert display.limits.tolist() == [[0.0, 10.0], [0.0, 10.0]]
    lengths = np.linalg.norm(np.diff(display.kept_moves, axis=1)[:, 0], axis=1)
    assert lengths.max() == pytest.approx(1.0)


def test_one_feature_is_drawn_against_the_density():
    model = fits()["line"]
    display = ForestDisplay.from_estimator(model, unit="mm")
    assert np.array_equal(display.points[:, 1], model.density_)
    assert display.names == ("x0 (mm)", "density (mm$^{-1}$)")


def test_samples_can_be_drawn_at_other_places_and_features_can_be_chosen():
    model = fits()["underflow"]
    X = np.random.default_rng(0).normal(size=(60, 2))
    assert np.array_equal(ForestDisplay.from_estimator(model, X).points, X)
    assert ForestDisplay.from_estimator(model, features=(7, 3)).names == ("x7", "x3")
    with pytest.raises(ValueError, match=r"X has shape \(60, 3\), expected \(60, 2\)"):
        ForestDisplay.from_estimator(model, np.ones((60, 3)))


def test_axes_are_named_after_the_columns_of_a_data_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"width": [1.0, 2.0, 5.0], "height": [1.0, 2.0, 4.0]})
    display = ForestDisplay.from_estimator(QuickShift().fit(frame), unit="cm")
    assert display.names == ("width (cm)", "height (cm)")


# Decision graph


def test_modes_are_the_samples_above_tau():
    model = fits()["paper"]
    display = DecisionGraphDisplay.from_estimator(model)
    assert not display.relative
    above = display.rows[display.moves > display.tau]
    assert sorted(above) == sorted(model.mode_indices_)
    assert np.allclose(display.log10_density, np.log10(model.density_[display.rows]))


def test_moves_under_local_scale_are_relative_to_tau_of_the_sample():
    model = fits()["local"]
    display = DecisionGraphDisplay.from_estimator(model)
    assert display.relative
    assert display.tau == 1.0
    rows = display.rows
    assert np.allclose(display.moves, model.parent_distance_[rows] / model.tau_[rows])
    assert display.n_modes == len(model.tree_)


def test_modes_of_clusters_have_their_labels():
    model = fits()["local"]
    display = DecisionGraphDisplay.from_estimator(model)
    for label, row in enumerate(model.mode_indices_):
        assert display.labels[display.rows == row] == label
    assert (display.labels >= 0).sum() == model.n_clusters_


def test_candidates_are_the_modes_that_a_recut_would_keep_next():
    model = fits()["local"]
    display = DecisionGraphDisplay.from_estimator(model)
    finer = model.recut(n_clusters=model.n_clusters_ + 1)
    new = set(finer.mode_indices_) - set(model.mode_indices_)
    assert new == {display.candidates[0]}


def test_candidates_have_the_longest_kept_moves_if_nothing_was_merged():
    model = fits()["paper"]
    display = DecisionGraphDisplay.from_estimator(model)
    kept = model.parent_distance_[model.parent_distance_ <= model.tau_]
    assert np.allclose(model.parent_distance_[display.candidates], np.sort(kept)[:-4:-1])


def test_duplicates_are_counted_instead_of_drawn():
    display = DecisionGraphDisplay.from_estimator(fits()["duplicates"]).plot()
    assert display.n_unmoved == 80
    assert "80 duplicates not drawn" in display.ax_.get_title()
    assert (display.moves > 0).all()


# Cuts


@pytest.mark.parametrize("name", ["kernel", "paper", "duplicates"])
def test_steps_over_tau_are_the_numbers_of_clusters(name):
    model = fits()[name]
    if not isinstance(model.tau_, float):
        model = QuickShift(bandwidth=0.4, tau=1.0).fit(
            model._graph.samples.tree.coordinates(np.arange(len(model.labels_)))
        )
    display = CutsDisplay.from_estimator(model, by="tau")
    middles = (display.thresholds[1:] + display.thresholds[:-1]) / 2
    for i in np.linspace(0, middles.size - 1, 12).astype(int):
        assert model.labels_at(middles[i]).max() + 1 == display.n_clusters[i + 1]
    at = display.thresholds[-1]
    assert model.labels_at(at).max() + 1 == display.n_clusters[-1] == 1


def test_relative_steps_are_cuts_at_multiples_of_tau():
    model = fits()["local"]
    display = CutsDisplay.from_estimator(model, by="tau")
    assert display.relative
    for multiple in (0.5, 1.0, 3.0, 20.0):
        at = np.searchsorted(display.thresholds, multiple, side="right")
        assert model.labels_at(multiple * model.tau_).max() + 1 == display.n_clusters[at]


def test_steps_over_significance_are_recuts():
    model = fits()["local"]
    display = CutsDisplay.from_estimator(model, by="significance")
    assert display.chosen == model.min_significance_
    for least in np.append(display.thresholds, 2 * display.thresholds[-1]):
        at = np.searchsorted(display.thresholds, least, side="left")
        assert model.recut(min_significance=least).n_clusters_ == display.n_clusters[at]


def test_steps_over_significance_include_a_small_threshold_that_was_chosen():
    model = fits()["local"].recut(min_significance=0.05)
    display = CutsDisplay.from_estimator(model, by="significance")
    assert display.chosen == model.min_significance_ < 0.2 * display.chance
    at = np.searchsorted(display.thresholds, display.chosen, side="left")
    assert display.n_clusters[at] == model.n_clusters_


def test_plateaus_are_the_longest_ranges_without_a_change():
    model = fits()["paper"]
    display = CutsDisplay.from_estimator(model)
    lengths = display.plateaus[:, 1] / display.plateaus[:, 0]
    assert (np.diff(lengths) <= 0).all()
    for low, high, count in display.plateaus:
        assert model.labels_at(np.sqrt(low * high)).max() + 1 == count


def test_long_curves_are_thinned_out_but_keep_small_numbers_of_clusters():
    X = np.random.default_rng(0).normal(size=(6000, 2))
    model = QuickShift(bandwidth=0.2, tau=0.5).fit(X)
    display = CutsDisplay.from_estimator(model)
    assert 1500 < display.thresholds.size <= 2000
    assert set(range(1, 900)) <= set(display.n_clusters.tolist())
    assert model.labels_at(display.thresholds[0] * 0.999).max() + 1 == display.n_clusters[0]


def test_cuts_by_anything_else_are_refused():
    with pytest.raises(ValueError, match="by is 'size', expected one of 'tau', 'significance'"):
        CutsDisplay.from_estimator(fits()["local"], by="size")


# Cluster tree


def test_branches_of_a_small_tree():
    display = ClusterTreeDisplay.from_tree(four_samples())
    assert display.below.tolist() == [2, 2, -1]
    assert display.branch_labels.tolist() == [0, 1, -1]
    assert [width[-1] for width in display.widths] == [1.0, 1.0, 4.0]
    assert np.allclose([level[0] for level in display.levels], np.log10([3.0, 2.0, 1.0]))
    assert np.allclose([level[-1] for level in display.levels[:2]], 0.0)
    assert display.centers.tolist() == [1.5, 2.5, 2.0]


def test_leaves_of_a_fit_are_its_modes_in_the_colors_of_their_labels():
    model = fits()["kernel"]
    display = ClusterTreeDisplay.from_estimator(model)
    assert np.array_equal(display.leaf_indices, model.mode_indices_)
    assert display.branch_labels[: model.n_clusters_].tolist() == list(range(model.n_clusters_))
    assert display.n_left_out == len(model.tree_) - model.n_clusters_


@pytest.mark.parametrize("name", ["local", "kernel", "weights", "200 clusters", "periodic"])
def test_widths_are_the_samples_of_components(name):
    model = fits()[name]
    tree = model.tree_
    display = ClusterTreeDisplay.from_tree(tree)
    total = sum(display.widths[i][-1] for i in np.flatnonzero(display.below < 0))
    weight = tree.sizes.sum() / (tree.leaf_labels >= 0).sum()
    assert total == pytest.approx(tree.sizes.sum() - weight * display.n_below)
    for width in display.widths:
        assert (np.diff(width) >= -1e-9).all()  # they grow downwards


def test_width_at_a_level_is_the_size_of_the_component():
    tree = fits()["kernel"].tree_
    display = ClusterTreeDisplay.from_tree(tree)
    for i, (levels, widths) in enumerate(zip(display.levels, display.widths, strict=True)):
        if display.below[i] < 0:
            continue
        # Just above its bottom, the branch has all its samples.
        component = tree.components_at(10 ** levels[-1])
        leaf = i
        while leaf >= len(tree):
            leaf = int(np.flatnonzero(display.below == leaf)[0])
        own = component[tree.leaf_indices[leaf]]
        assert (component == own).sum() == pytest.approx(widths[-1])


def test_siblings_stand_side_by_side_on_the_branch_below():
    display = ClusterTreeDisplay.from_tree(fits()["kernel"].tree_)
    base = np.array([width[-1] for width in display.widths])
    left, right = display.centers - base / 2, display.centers + base / 2
    for i in np.flatnonzero(np.bincount(display.below[display.below >= 0])):
        a, b = np.flatnonzero(display.below == i)
        a, b = (a, b) if left[a] < left[b] else (b, a)
        assert right[a] == pytest.approx(left[b])
        assert left[a] >= left[i] - 1e-9
        assert right[b] <= right[i] + 1e-9


def test_more_leaves_than_clusters_have_the_colors_of_the_clusters_that_took_them():
    model = fits()["local"]
    display = ClusterTreeDisplay.from_estimator(model, n_leaves=model.n_clusters_ + 5)
    assert len(display.leaf_indices) == model.n_clusters_ + 5
    assert set(model.mode_indices_) <= set(display.leaf_indices)
    labels = display.branch_labels[: len(display.leaf_indices)]
    assert np.array_equal(labels, model.labels_[display.leaf_indices])


def test_at_most_499_branches_are_drawn():
    X = np.random.default_rng(0).uniform(size=(20_000, 2))
    model = QuickShift(bandwidth=0.002, tau=0.02).fit(X)
    assert len(model.tree_) > 500
    for display in (
        ClusterTreeDisplay.from_tree(model.tree_),
        ClusterTreeDisplay.from_estimator(model),
    ):
        assert len(display.leaf_indices) == 250
        assert len(display.centers) <= 499
        assert display.n_left_out == len(model.tree_) - 250
        title = display.plot().ax_.get_title().replace("\n", " ")
        assert f"{display.n_left_out} weaker modes not drawn" in title


def test_equal_modes_that_strict_ties_leave_apart_are_not_all_drawn():
    X = np.arange(600.0)[:, None]
    model = QuickShift(bandwidth=2.0, tau=3.0, ties="strict", period=[600.0]).fit(X)
    assert len(model.tree_) == 600
    display = ClusterTreeDisplay.from_estimator(model).plot()
    assert len(display.leaf_indices) == 250
    assert display.n_left_out == 350


def test_deep_trees_are_drawn_without_recursion():
    n = 3000
    density = np.where(np.arange(2 * n) % 2 == 0, np.arange(2 * n, 0, -1) + 2.0, 0.0)
    density[1::2] = np.minimum(density[0::2], np.roll(density[0::2], -1)) / 2
    X = np.arange(2.0 * n)[:, None]
    tree = link(X, density, cut(climb(X, density), 1.5), 1.5)
    assert len(tree) > 2000
    assert len(ClusterTreeDisplay.from_tree(tree).centers) <= 499


def test_number_of_leaves_is_checked():
    tree = four_samples()
    assert len(ClusterTreeDisplay.from_tree(tree, n_leaves=1).centers) == 1
    with pytest.raises(ValueError, match="n_leaves is 3, expected a whole number from 1 to 2"):
        ClusterTreeDisplay.from_tree(tree, n_leaves=3)
    with pytest.raises(TypeError, match="tree is of type QuickShift, expected a ClusterTree"):
        ClusterTreeDisplay.from_tree(QuickShift())
