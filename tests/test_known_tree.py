"""The cluster tree of a known density, compared with saddles and merge levels found by hand."""

import numpy as np
import pytest

from quickshift import QuickShift, merge_distortion
from quickshift.datasets import Dome, GaussianMixture, ShapeMixture
from quickshift.stages import known_tree

LINE = GaussianMixture([-2.0, 2.0], weights=[3, 2])
PLANE = GaussianMixture([[-2.0, 0.0], [2.0, 0.0]])


def assert_sound(tree):
    birth, death = tree.persistence().T
    assert (np.diff(birth) <= 0).all()
    assert (death <= birth).all()
    assert (tree.towards[1:] < np.arange(1, birth.size)).all()
    np.testing.assert_array_equal(tree.leaf_labels[tree.leaf_indices], np.arange(birth.size))


def test_saddle_on_the_line_is_the_lowest_point_between_the_modes():
    X, _ = LINE.sample(500, seed=0)
    tree = known_tree(X, LINE)
    between = np.linspace(-2, 2, 400_001)[:, None]
    assert tree.leaf_indices.size == 2
    assert tree.merges[0, 2] == pytest.approx(LINE.density(between).min(), rel=1e-6)
    assert_sound(tree)


def test_saddle_in_the_plane_is_in_the_middle():
    X, _ = PLANE.sample(2000, seed=0)
    tree = known_tree(X, PLANE)
    highest = PLANE.density(PLANE.modes())[0]
    middle = PLANE.density([[0.0, 0.0]])[0]
    assert tree.merges[0, 2] == pytest.approx(middle, abs=1e-4 * highest)
    assert_sound(tree)


def test_merge_levels_of_samples_are_those_of_the_path_between_them():
    X, _ = LINE.sample(60, seed=1)
    tree = known_tree(X, LINE)
    for i, j in np.random.default_rng(0).integers(0, 60, size=(40, 2)):
        lowest = LINE.density(np.linspace(X[i], X[j], 20_001)).min()
        assert tree.merge_level(int(i), int(j)) == pytest.approx(lowest, abs=1e-4)


def test_finer_grids_agree():
    X, _ = PLANE.sample(500, seed=2)
    coarse, fine = (known_tree(X, PLANE, n_cells=cells) for cells in (200, 400))
    assert merge_distortion(coarse, fine) < 1e-3 * coarse.density.max()


def test_components_apart_never_meet():
    known = ShapeMixture([Dome((0.0, 0.0), 1.0), Dome((5.0, 0.0), 1.0)])
    X, labels = known.sample(300, seed=0)
    tree = known_tree(X, known)
    assert len(tree.merges) == 0
    assert tree.leaf_indices.size == 2
    assert tree.merge_level(int(np.argmin(labels)), int(np.argmax(labels))) == 0.0


def test_leaves_without_high_samples_keep_the_order():
    tree = known_tree([[-2.0], [8.0]], GaussianMixture([-2.0, 2.0]))
    assert_sound(tree)
    lowest = GaussianMixture([-2.0, 2.0]).density([[8.0]])[0]
    assert tree.merge_level(0, 1) == pytest.approx(lowest)


def test_top_mode_without_samples_does_not_matter():
    tree = known_tree([[1.5], [2.0], [2.5]], LINE)
    assert tree.leaf_indices.size == 1
    assert_sound(tree)


def test_distortion_from_a_known_density():
    X, _ = LINE.sample(1000, seed=0)
    tree = QuickShift(bandwidth="paper").fit(X).tree_
    assert merge_distortion(tree, LINE, X=X) == merge_distortion(tree, known_tree(X, LINE)) > 0
    truth = known_tree(X, LINE)
    assert merge_distortion(truth, LINE, X=X) == 0


def test_bad_input_is_refused():
    X, _ = LINE.sample(50, seed=0)
    tree = known_tree(X, LINE)
    with pytest.raises(ValueError, match="X is None, expected the samples"):
        merge_distortion(tree, LINE)
    with pytest.raises(ValueError, match="tree_a has 50 samples and tree_b 49"):
        merge_distortion(tree, LINE, X=X[1:])
    with pytest.raises(ValueError, match="known has 3 features, expected 1 or 2"):
        known_tree(np.zeros((4, 3)), GaussianMixture(np.zeros((1, 3))))
    with pytest.raises(ValueError, match="X has 1 feature"):
        known_tree(X, PLANE)
    with pytest.raises(ValueError, match="n_cells is 0, expected a whole number from 1"):
        known_tree(X, LINE, n_cells=0)
