"""
A picture, from fine segments to coarse
=======================================

Quick Shift on a photograph: a pixel is a point with two coordinates and three colors. Pixels that
are near each other and similar in color form a segment, and one computation gives the segments
for every tau.
"""

# %%
# A segment joins pixels of similar color, so it may have several connected pieces: here the grain
# of the wood causes hundreds of tiny ones. ``enforce_connectivity`` merges small pieces into the
# segments around them.
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LogNorm
from skimage.data import coffee

import quickshift as qs
from quickshift.plot import SegmentationDisplay

photo = coffee()
labels = qs.segment(photo, bandwidth=5.0, tau=20.0)
connected = qs.enforce_connectivity(labels, min_size=100)
print(f"{labels.max() + 1} segments in {qs.count_pieces(labels).sum()} pieces")
print(f"{connected.max() + 1} segments in {qs.count_pieces(connected).sum()} pieces")


# %%
# The left panel outlines the segments; the right panel paints each in its mean color.
display = SegmentationDisplay.from_labels(connected, photo)
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.4))
display.plot(left)
left.set_title("Segments")
display.plot(right, show="mean_colors")
right.set_title("Mean colors")
for ax in (left, right):
    ax.axis("off")
figure.tight_layout(w_pad=1)
plt.show()

# %%
# Parents are searched once. ``labels_for`` removes just enough of the longest moves to a parent to
# get the requested number of segments, so every segment of a fine cut lies within one segment of
# each coarser cut.
forest = qs.segment_forest(photo, bandwidth=5.0)
moves = -np.sort(-forest.parent_distance, axis=None)

figure, axes = plt.subplots(2, 2, figsize=(12, 8.5))
for ax, count in zip(axes.flat, [400, 100, 25, 8], strict=True):
    ax.imshow(qs.mean_color(photo, forest.labels_for(count)))
    ax.set_title(f"{count} segments, longest move {moves[count]:.0f}")
    ax.axis("off")
figure.tight_layout(w_pad=1, h_pad=1.5)
plt.show()

# %%
# Every boundary disappears at some tau, which ``boundary_strength`` returns for each pixel. The rim
# of the cup persists up to a large tau; the grain of the wood disappears at a small one.
strength = qs.boundary_strength(forest)

figure, ax = plt.subplots(figsize=(12, 7.8))
drawn = ax.imshow(strength, cmap="magma", norm=LogNorm(3, 120))
ax.set_title("Boundary strength: the tau at which each boundary disappears")
ax.axis("off")
bar = figure.colorbar(drawn, ax=ax, fraction=0.03, pad=0.015)
bar.set_ticks([3, 5, 10, 20, 50, 100], labels=["3", "5", "10", "20", "50", "100"])
bar.minorticks_off()
bar.outline.set_visible(False)
figure.tight_layout()
plt.show()
