"""What the page needs of a picture's forest: parents of the pixels, and the picture itself."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickshift.checks.images import check_labeled_image
from quickshift.checks.plots import check_plane
from quickshift.explorer.clusters import palettes, positions_of
from quickshift.explorer.ladders import tau_ladder
from quickshift.explorer.levels import choose_levels, codes_of
from quickshift.explorer.packing import Section, pack
from quickshift.image.forest import SegmentForest
from quickshift.image.graph import PixelGraph

__all__ = ["pack_picture"]

_TAU = 10.0  # the cut at which the page opens, the default of `segment`


def pack_picture(forest: SegmentForest, image: Any) -> bytes:
    """Pack the forest of a picture.

    Parameters
    ----------
    forest : SegmentForest
        From `segment_forest`, of a picture with two axes.
    image : array-like of shape (n_rows, n_columns) or (n_rows, n_columns, n_channels), optional
        The picture. Without it, the density of the pixels is drawn.

    Returns
    -------
    bytes
        From `pack`.
    """
    check_plane(forest.parent.shape)
    shown = forest.density if image is None else image
    picture, _ = check_labeled_image(shown, forest.parent.shape, -1)
    parent, distance = forest.parent.reshape(-1), forest.parent_distance.reshape(-1)
    graph = PixelGraph(parent, distance, forest.density.reshape(-1))
    outside = np.flatnonzero(np.isnan(distance))
    inside = np.flatnonzero(~np.isnan(distance))
    levels = choose_levels(distance[inside], min(_TAU, forest.max_tau))
    order = np.concatenate([graph.highest_first(inside), outside])
    colors = _eight_bits(picture)
    codes = codes_of(distance, levels)
    ladder, steps = tau_ladder(levels, codes[inside], relative=False, mark="default")
    sections = {
        "step": Section(parent - np.arange(parent.size), "i32"),
        "code": Section(codes, "u16"),
        "rank": Section(positions_of(order), "i32", delta=True),
        "absent": Section(outside, "i32"),
        "nearest": Section(np.full(outside.size, -1), "i32"),
        **steps,
        **{f"c{i}": Section(colors[..., i].reshape(-1), "u8", delta=True) for i in range(3)},
    }
    header = {
        "kind": "picture",
        "n": parent.size,
        "shape": forest.parent.shape,
        "relative": False,
        "chosen": levels.chosen,
        "mode": "tau",
        "n_clusters": int((codes[inside] > levels.chosen).sum()),
        "ladders": [ladder],
        "reset": "Default",
        "title": f"Segments of a picture with {parent.size:,} pixels",
        "python": {
            "fit": "",
            "model": "forest",
            "fitted": f"forest.labels_at({levels.values[levels.chosen]})",
            "tau": "forest.labels_at({})",
        },
        **palettes(),
    }
    return pack(header, sections)


def _eight_bits(picture: NDArray[Any]) -> NDArray[np.uint8]:
    """Return a picture as red, green and blue from 0 to 255."""
    colors = picture.astype(np.float64)
    colors = colors[..., None] if colors.ndim == 2 else colors[..., :3]
    if colors.shape[-1] != 3:
        colors = np.repeat(colors[..., :1], 3, axis=-1)
    high = float(np.iinfo(picture.dtype).max) if picture.dtype.kind == "u" else 1.0
    low = 0.0
    if picture.dtype.kind != "u":
        low, high = min(float(np.nanmin(colors)), 0.0), max(float(np.nanmax(colors)), 1.0)
    shares = np.nan_to_num((colors - low) / (high - low))
    return np.rint(255 * shares).astype(np.uint8)
