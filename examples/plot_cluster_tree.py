"""
The cluster tree, and which modes are significant
=================================================

As the density level falls, groups of samples appear at modes and merge at saddles. The cluster tree
describes all levels at once, and separates significant modes from bumps that are due to chance.
"""

# %%
# Four groups: a dense one, a sparse one and two that touch; and some uniform noise.
import matplotlib.pyplot as plt
import numpy as np

import quickshift as qs
from quickshift.plot import ClusterTreeDisplay, CutsDisplay, ForestDisplay, PersistenceDisplay

rng = np.random.default_rng(3)
X = np.concatenate(
    [
        rng.normal([0, 0], 0.5, size=(600, 2)),
        rng.normal([5, 0], 1.2, size=(300, 2)),
        rng.normal([0.5, 5], 0.7, size=(300, 2)),
        rng.normal([3.3, 5], 0.7, size=(300, 2)),
        rng.uniform(-3, 9, size=(100, 2)),
    ]
)
model = qs.QuickShift().fit(X)
tree = model.tree_
print(tree.leaf_indices.size, "modes, of which", model.n_clusters_, "are significant")

# %%
# The display draws the components of all density levels. A component is as wide as the number of
# its samples above the level, so a cluster is a peak that becomes wider from its mode downwards.
# Peaks have the colors of the labels, and components with several clusters are gray.
figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.2), layout="constrained")
ForestDisplay.from_estimator(model).plot(left, moves=False)
ClusterTreeDisplay.from_estimator(model).plot(right)
plt.show()

# %%
# A leaf is born at the density of its mode and dies at the level where a higher leaf absorbs it.
# The significance of a mode depends on the ratio of these two levels, hence the logarithmic axes.
# The significant modes, in the colors of their clusters, are above the line of chance, although the
# sparse group is lower than many bumps.
PersistenceDisplay.from_estimator(model).plot()
plt.show()

# %%
# The significance of a mode is the number of standard errors by which it stands out. Chance rarely
# produces one above the threshold, which was simulated with samples of a single Gaussian and of a
# uniform cube. The clusters end at a gap in the list.
descending = -np.sort(-tree.significance)[1:]
print("significance:", np.round(descending[:8], 1))
print("by chance:   ", round(qs.stages.chance_significance(*X.shape, scale=1), 1))

# %%
# The same list as a picture: the number of clusters for every least significance. The gap is a long
# plateau.
CutsDisplay.from_estimator(model, by="significance").plot()
plt.show()
