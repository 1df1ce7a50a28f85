"""LIME, which explains the predictions of image classifiers, runs with our segments."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import quickshift

lime_image = pytest.importorskip("lime.lime_image")
data = pytest.importorskip("skimage.data")

Segmentation = Callable[[NDArray[Any]], NDArray[Any]]

PICTURE = data.astronaut()[::8, ::8]  # 64 × 64
LIMES_OWN = {"kernel_size": 4, "max_dist": 200, "ratio": 0.2}
BRIGHT = 1  # the class of bright pictures
SEGMENTATIONS = {
    "compat as LIME calls scikit-image": partial(quickshift.compat.skimage.quickshift, **LIMES_OWN),
    "compat at its defaults": quickshift.compat.skimage.quickshift,
    "segment at its defaults": quickshift.segment,
    "segment into ten": partial(quickshift.segment, n_segments=10),
}


def brightness(pictures: NDArray[Any]) -> NDArray[np.float64]:
    """Classify pictures as dark or bright: probabilities of shape (n_pictures, 2)."""
    bright = pictures.mean(axis=(1, 2, 3)) / 255
    return np.column_stack([1 - bright, bright])


def explain(segmentation: Segmentation | None, picture: NDArray[Any] = PICTURE) -> Any:
    explainer = lime_image.LimeImageExplainer(random_state=0)
    return explainer.explain_instance(
        picture,
        brightness,
        top_labels=2,
        hide_color=0,
        num_samples=300,
        segmentation_fn=segmentation,
        random_seed=0,
    )


def contributions(picture: NDArray[Any], segments: NDArray[Any]) -> NDArray[np.float64]:
    """Return how much hiding each segment reduces the brightness: the weights LIME estimates."""
    return np.bincount(segments.ravel(), picture.mean(axis=2).ravel()) / segments.size / 255


@pytest.mark.parametrize("name", SEGMENTATIONS)
def test_lime_explains_a_picture_by_our_segments(name: str) -> None:
    explanation = explain(SEGMENTATIONS[name])
    segments = explanation.segments
    n_segments = int(segments.max()) + 1
    assert segments.shape == PICTURE.shape[:2]
    assert n_segments > 1
    np.testing.assert_array_equal(np.unique(segments), np.arange(n_segments))
    for label in (0, BRIGHT):
        weights = explanation.local_exp[label]
        assert sorted(segment for segment, _ in weights) == list(range(n_segments))
        assert np.isfinite([weight for _, weight in weights]).all()


@pytest.mark.parametrize("name", SEGMENTATIONS)
def test_the_weights_say_what_each_segment_contributes(name: str) -> None:
    explanation = explain(SEGMENTATIONS[name])
    weights = np.array([weight for _, weight in sorted(explanation.local_exp[BRIGHT])])
    true = contributions(PICTURE, explanation.segments)
    assert np.corrcoef(weights, true)[0, 1] > 0.9
    _, shown = explanation.get_image_and_mask(BRIGHT, num_features=1)
    np.testing.assert_array_equal(shown == 1, explanation.segments == weights.argmax())


@pytest.mark.parametrize("kind", ["color", "gray", "float32"])
def test_compat_gives_the_segments_and_the_explanation_of_limes_default(kind: str) -> None:
    picture = {
        "color": PICTURE,
        "gray": PICTURE[..., 0],  # LIME repeats it in three channels
        "float32": PICTURE.astype(np.float32) / 255,
    }[kind]
    default = explain(None, picture)
    ours = explain(partial(quickshift.compat.skimage.quickshift, **LIMES_OWN), picture)
    np.testing.assert_array_equal(ours.segments, default.segments)
    assert ours.segments.dtype == default.segments.dtype
    assert ours.local_exp == default.local_exp
