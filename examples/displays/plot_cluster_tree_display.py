"""
ClusterTreeDisplay: components at every density level
=====================================================

As the density level falls, components appear at modes, grow, and merge at saddles. The display
draws all levels at once, as wide as the number of samples above the level.
"""

# %%
# Each colored peak is a cluster, with the color of its label. Gray parts are components that
# contain several clusters. The clusters 1 and 2 touch: they merge at a high density. Modes that
# were not significant are left out, and the title says how many.
import matplotlib.pyplot as plt
import numpy as np

import quickshift as qs
from quickshift.plot import ClusterTreeDisplay

rng = np.random.default_rng(3)
centers, scales = [[0, 0], [5, 0], [0.5, 5], [3.3, 5]], [0.5, 1.2, 0.7, 0.7]
X = np.concatenate([rng.normal(c, s, (400, 2)) for c, s in zip(centers, scales, strict=True)])
X = np.concatenate([X, rng.uniform(-3, 9, (100, 2))])
model = qs.QuickShift().fit(X)
ClusterTreeDisplay.from_estimator(model, unit="mm").plot()
plt.show()

# %%
# With more leaves than clusters, the strongest of the modes that were left out appear, in the
# color of the cluster that took their samples. Here they are bumps on the slopes of larger peaks.
ClusterTreeDisplay.from_estimator(model, n_leaves=12).plot()
plt.show()

# %%
# ``tree.plot()`` draws any cluster tree, pruned or not.
model.tree_.prune(min_size=100).plot()
plt.show()
