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
from scipy.cluster.hierarchy import dendrogram

import quickshift as qs

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
# A leaf is born at the density of its mode and dies at the level where a higher leaf absorbs it.
# The significance of a mode depends on the ratio of these two levels, hence the logarithmic axes.
# The significant modes, in the colors of their clusters, are far from the diagonal, although the
# sparse group is lower than many bumps. The highest leaf is never absorbed; it is drawn at the
# lowest density.
colors = np.array(["C0", "C1", "C2", "C3", "C4", "C5"])
birth, death = np.maximum(tree.persistence(), tree.density.min()).T
kept = tree.leaf_labels[model.mode_indices_]
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.2))
left.scatter(*X.T, c=colors[model.labels_], s=4)
left.plot(*model.modes_.T, "k+", markersize=10)
left.set(title="clusters and their modes", aspect="equal")
right.loglog(birth, birth, color="0.8")
right.scatter(death, birth, color="0.6", s=12)
right.scatter(death[kept], birth[kept], c=colors[: kept.size], s=50)
right.set(title="persistence", xlabel="level where absorbed", ylabel="level where born")
figure.tight_layout()
plt.show()

# %%
# The significance of a mode is the number of standard errors by which it stands out. Chance rarely
# produces one above the threshold, which was simulated with samples of a single Gaussian and of a
# uniform cube. The clusters end at a gap in the list.
descending = -np.sort(-tree.significance)[1:]
print("significance:", np.round(descending[:8], 1))
print("by chance:   ", round(qs.stages.chance_significance(*X.shape, scale=1), 1))

# %%
# The pruned tree as a dendrogram. In a linkage, the height of a merge is the difference between the
# density of the highest mode and the level of the merge. Here it is drawn as a ratio of the two.
figure, ax = plt.subplots(figsize=(5, 3.2))
pruned = tree.prune(significance=model.min_significance_)
linkage = pruned.to_linkage()
linkage[:, 2] = np.log10(birth.max() / np.maximum(birth.max() - linkage[:, 2], death.min()))
dendrogram(linkage, ax=ax, color_threshold=0, above_threshold_color="0.3")
ax.set(title="merges of the clusters", xlabel="cluster", ylabel="powers of ten below the top")
figure.tight_layout()
plt.show()
