"""Segmentation of pictures: from pixels to label images."""

from quickshift.image.forest import SegmentForest, boundary_strength
from quickshift.image.regions import count_pieces, enforce_connectivity, mean_color
from quickshift.image.segmentation import segment, segment_forest
from quickshift.image.tiles import segment_tiles

__all__ = [
    "SegmentForest",
    "boundary_strength",
    "count_pieces",
    "enforce_connectivity",
    "mean_color",
    "segment",
    "segment_forest",
    "segment_tiles",
]
