"""
One fit, three values of tau
============================

Quick Shift finds, once and for every sample, the nearest sample of higher density. The parameter
tau only determines which moves to that sample are too long to keep, so a fitted model can be cut
again at no cost.
"""

# %%
# Six blobs, two of them close together.
import matplotlib.pyplot as plt
import numpy as np

import quickshift as qs

centers = [[0, 0], [2.6, 0.4], [9, 1], [1, 8], [8, 8], [15, 4]]
mixture = qs.datasets.GaussianMixture(centers, covariances=0.8)
X, _ = mixture.sample(3000, seed=0)

model = qs.QuickShift(bandwidth=0.6, tau=1.5).fit(X)

# %%
# A small tau leaves isolated points as clusters of their own (gray), and a large tau joins
# neighboring clusters. A value in between gives the clusters that one would draw by hand. Every
# cluster has the color that its mode has in the middle panel.
highest_first = np.argsort(-model.density_)
figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), sharex=True, sharey=True)
for ax, tau in zip(axes, [0.5, 1.5, 6.5], strict=True):
    labels = model.labels_at(tau)
    _, first = np.unique(labels[highest_first], return_index=True)
    modes = highest_first[first]
    color = np.where(np.bincount(labels) > 20, model.labels_[modes], -1)[labels]
    ax.scatter(*X[color < 0].T, color="0.6", s=8)
    ax.scatter(*X[color >= 0].T, c=color[color >= 0], cmap="tab10", vmin=0, vmax=9, s=3)
    ax.set(title=f"tau = {tau}: {labels.max() + 1} clusters", aspect="equal")
figure.tight_layout()
plt.show()

# %%
# Only the longest moves matter for the choice of tau: those from a mode to its nearest higher
# sample. A gap between two of their lengths is a range of tau over which the clusters stay the
# same.
longest = sorted(model.parent_distance_, reverse=True)[:10]
print(", ".join(f"{distance:.2f}" for distance in longest))
