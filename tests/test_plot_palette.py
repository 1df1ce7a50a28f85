"""The colors of labels: distinct in order, also for readers with color vision deficiency."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

from quickshift.plot import label_colors, palette

SCRIPT = runpy.run_path(str(Path(__file__).parents[1] / "scripts/make_palette.py"))
# Okabe and Ito's palette, which is known to be safe, reaches 0.156 and 0.076 by the same measure.
LEAST_NORMAL, LEAST_DEFICIENT = 0.155, 0.1


def contrasts(colors, background):
    """Return the contrast ratios of WCAG 2 between colors and a background."""
    weights = np.array([0.2126, 0.7152, 0.0722])
    luminance = SCRIPT["linear_of_hex"](list(colors)) @ weights
    behind = float((SCRIPT["linear_of_hex"]([background]) @ weights)[0])
    low, high = np.minimum(luminance, behind), np.maximum(luminance, behind)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_there_are_256_different_colors(dark):
    colors = palette(dark=dark)
    assert len(set(colors)) == len(colors) == 256
    assert all(re.fullmatch(r"#[0-9a-f]{6}", color) for color in colors)


@pytest.mark.parametrize("dark", [False, True])
def test_the_first_eight_colors_are_distinct_with_every_color_vision(dark):
    least = SCRIPT["least_distances"](list(palette(dark=dark)[:8]))
    assert least.pop("normal") > LEAST_NORMAL
    assert set(least) == {"protan", "deutan", "tritan"}
    assert min(least.values()) > LEAST_DEFICIENT


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize(("count", "least"), [(16, 0.12), (64, 0.055), (256, 0.025)])
def test_colors_are_distinct_in_order(dark, count, least):
    assert SCRIPT["least_distances"](list(palette(dark=dark)[:count]))["normal"] > least


@pytest.mark.parametrize(("dark", "background"), [(False, "#ffffff"), (True, "#111111")])
def test_colors_stand_out_from_the_background(dark, background):
    assert contrasts(palette(dark=dark), background).min() > 2.0


def test_both_variants_have_the_same_hues():
    angles = []
    for dark in (False, True):
        _, a, b = SCRIPT["oklab"](SCRIPT["linear_of_hex"](list(palette(dark=dark)))).T
        angles.append(np.arctan2(b, a))
    turned = np.angle(np.exp(1j * (angles[0] - angles[1])), deg=True)
    assert np.abs(turned).max() < 4


def test_colors_repeat_after_256_labels():
    assert label_colors([3, 259]).tolist() == [palette()[3]] * 2
    assert label_colors([[0, 1]], dark=True).tolist() == [list(palette(dark=True)[:2])]


def test_no_cluster_is_gray():
    for dark in (False, True):
        color = str(label_colors(-1, dark=dark))
        assert color[1:3] == color[3:5] == color[5:7]
        assert color not in palette(dark=dark)


def test_conversion_to_oklab_and_back_is_exact():
    colors = list(palette()[:32])
    linear = SCRIPT["linear_of_oklab"](SCRIPT["oklab"](SCRIPT["linear_of_hex"](colors)))
    assert SCRIPT["hex_of_linear"](linear) == colors
