"""Marks in plots: labels with lines to their points, stars of modes, dashed moves."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.text import Text

from plot_cases import fits
from quickshift import QuickShift
from quickshift.plot import DecisionGraphDisplay, ForestDisplay
from quickshift.plot.axes import theme_of
from quickshift.plot.leaders import label_with_leaders

pytestmark = pytest.mark.usefixtures("closed_figures")


def unit_square():
    _, ax = plt.subplots()
    ax.set(xlim=(0, 1), ylim=(0, 1))
    return ax


def test_texts_with_leaders_cover_neither_points_nor_each_other():
    ax = unit_square()
    points = np.random.default_rng(0).normal(0.5, 0.02, (60, 2))
    ax.text(0.6, 0.5, "here is a text")
    names = ["row 1", "row 2", "row 3"]
    label_with_leaders(ax, theme_of(ax), points[:3], names, points)
    assert [text.get_text() for text in ax.texts[1:]] == names
    ax.figure.canvas.draw()
    boxes = np.array([Text.get_window_extent(text).extents for text in ax.texts])
    for i, box in enumerate(boxes):
        inside = ax.transData.transform(points)
        assert not ((inside > box[:2]) & (inside < box[2:])).all(axis=1).any() or i == 0
        for other in boxes[:i]:
            assert (box[:2] >= other[2:]).any() or (box[2:] <= other[:2]).any()


def test_texts_with_leaders_stay_in_the_axes():
    ax = unit_square()
    corners = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    label_with_leaders(ax, theme_of(ax), corners, ["first", "second", "third"], corners)
    left, bottom, right, top = ax.get_window_extent().extents
    for text in ax.texts:
        x, y = ax.transData.transform(text.xy) + np.array(text.xyann) * text.figure.dpi / 72
        assert left < x < right
        assert bottom < y < top


def test_texts_without_room_are_left_out():
    _, ax = plt.subplots(figsize=(0.6, 0.6))
    label_with_leaders(ax, theme_of(ax), np.array([[0.5, 0.5]]), ["row 1234567"], np.empty((0, 2)))
    assert not ax.texts


@pytest.mark.parametrize("name", ["local", "paper"])
def test_candidates_are_named_with_leaders(name):
    display = DecisionGraphDisplay.from_estimator(fits()[name]).plot()
    named = [text for text in display.ax_.texts if text.get_text().startswith("row")]
    assert [text.get_text() for text in named] == [f"row {row}" for row in display.candidates]
    assert all(text.arrow_patch is not None for text in named)
    assert all(not text.get_path_effects() for text in named)  # nothing is erased around them


def test_titles_of_decision_graphs_count_the_samples_above_the_line():
    local, paper = fits()["local"], fits()["paper"]
    title = DecisionGraphDisplay.from_estimator(local).plot().ax_.get_title()
    assert title.startswith(f"{len(local.tree_)} samples move farther than their τ\n")
    title = DecisionGraphDisplay.from_estimator(paper).plot().ax_.get_title()
    assert title.startswith(f"{paper.n_clusters_} samples move farther than τ = 1.5")
    one = DecisionGraphDisplay.from_estimator(QuickShift().fit([[1.0], [2.0]])).plot()
    assert one.ax_.get_title().startswith("1 sample moves farther than its τ")


def marks_of(name):
    """Return the dashed moves and the marks of the modes of a fit."""
    ax = ForestDisplay.from_estimator(fits()[name]).plot().ax_
    return ax.collections[0], ax.collections[-1]


def test_marks_of_many_clusters_are_smaller_and_fainter():
    few_moves, few_modes = marks_of("local")
    many_moves, many_modes = marks_of("200 clusters")
    assert many_modes.get_sizes()[0] < 0.1 * few_modes.get_sizes()[0]
    assert many_moves.get_linewidths()[0] < few_moves.get_linewidths()[0]
    assert many_moves.get_alpha() < few_moves.get_alpha()


def test_stars_at_the_edge_are_whole():
    assert not marks_of("periodic")[1].get_clip_on()
