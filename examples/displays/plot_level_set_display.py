"""
LevelSetDisplay: components and clusters on a line
==================================================

For one feature: the density, the components above a level, and the clusters of Quick Shift.
"""

# %%
# Clusters fill the area below the density, and bars are the components above the level. ``show``
# selects one of the two. Samples below the level belong to no component, but all belong to a
# cluster.
import matplotlib.pyplot as plt
import numpy as np

import quickshift as qs
from quickshift.plot import LevelSetDisplay

rng = np.random.default_rng(0)
x = np.concatenate([rng.normal(0, 1, 400), rng.normal(4, 0.7, 300), rng.normal(7, 0.6, 200)])
model = qs.QuickShift(bandwidth=0.35, tau=1.2).fit(x[:, None])
display = LevelSetDisplay.from_estimator(model, level=0.06, unit="s")

figure, axes = plt.subplots(1, 3, figsize=(12, 3.4), layout="constrained", sharey=True)
for ax, show in zip(axes, ["both", "components", "clusters"], strict=True):
    display.plot(ax, show=show)
plt.show()
