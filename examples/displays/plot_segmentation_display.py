"""
SegmentationDisplay: the segments of a picture
==============================================

A picture with the boundaries of its segments, with their mean colors, or with the strength of all
boundaries.
"""

# %%
# The strength of a boundary is the tau at which it disappears.
import matplotlib.pyplot as plt
from skimage.data import coffee

import quickshift as qs
from quickshift.plot import SegmentationDisplay

photo = coffee()
forest = qs.segment_forest(photo, bandwidth=5.0)
display = SegmentationDisplay.from_forest(forest, photo, n_segments=60)

figure, axes = plt.subplots(1, 3, figsize=(13, 3.2), layout="constrained")
for ax, show in zip(axes, ["boundaries", "mean_colors", "strength"], strict=True):
    display.plot(ax, show=show)
plt.show()

# %%
# ``from_labels`` draws segments of any origin, for example after small pieces have been merged.
labels = qs.enforce_connectivity(qs.segment(photo, bandwidth=5.0, tau=20.0), min_size=100)
SegmentationDisplay.from_labels(labels, photo).plot()
plt.show()
