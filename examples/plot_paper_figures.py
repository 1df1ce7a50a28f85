"""
The figures of the paper
========================

The paper explains Quick Shift by four figures. This page draws them anew, from their captions, with
samples instead of sketches: H. Jiang, "On the Consistency of Quick Shift", NIPS 2017.
"""

# %%
# **Figure 1: Quick Shift.** Each sample moves to its nearest sample of higher density. If moves
# may be arbitrarily long (left), this gives one tree, whose root is the sample of highest
# density. With a smaller tau (right), the longer moves are removed, and three trees are left: the
# clusters.
import matplotlib.pyplot as plt
import numpy as np

import quickshift as qs
from quickshift.plot import ForestDisplay, LevelSetDisplay, SeparationDisplay

centers = [[0, 0], [4.5, 0.5], [1.8, 4]]
X, _ = qs.datasets.GaussianMixture(centers, covariances=0.8).sample(120, seed=5)
one_tree = qs.QuickShift(bandwidth=0.7, tau=np.inf).fit(X)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
ForestDisplay.from_estimator(one_tree).plot(left)
ForestDisplay.from_estimator(one_tree.recut(tau=2.0)).plot(right)
left.set_title("τ = ∞: one tree")
right.set_title("τ = 2: three clusters")
plt.show()

# %%
# **Figure 2: separation.** A and B are separated by S, with the radius r_s and the depth δ, if
# the lowest density within r_s of A and of B (red) exceeds the highest density within r_s of S
# (gold) by at least δ. The valley between A and B is then wide and deep enough, and the paper
# shows that they end up in different clusters if there are many samples.
mixture = qs.datasets.GaussianMixture([[0.0], [4.5]], covariances=[[[1.0]], [[0.6]]])
X, _ = mixture.sample(2000, seed=0)
model = qs.QuickShift(bandwidth=0.35, tau=0.25).fit(X)
a, b = (int(np.argmin(np.abs(X[:, 0] - place))) for place in (0.3, 4.2))

figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
SeparationDisplay.from_estimator(model, (a, b), r_s=0.6).plot(ax)
plt.show()

# %%
# **Figure 3: level sets.** The density has three modes A, B and C. Quick Shift finds their
# clusters (filled). If only the samples whose estimated density exceeds a level are kept, and
# clusters that are near each other are connected, the result approximates the components of the
# level set of the true density (dashed). Above the lower level (left), A and B are in one
# component; above the higher level (right), each mode has one of its own. The cluster tree
# contains the components of all levels.
means, weights = [[0.0], [3.0], [8.0]], [0.4, 0.35, 0.25]
variances = [[[0.8]], [[0.5]], [[0.5]]]
mixture = qs.datasets.GaussianMixture(means, covariances=variances, weights=weights)
X, _ = mixture.sample(3000, seed=1)
model = qs.QuickShift(bandwidth=0.35, tau=0.6).fit(X)

figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained", sharey=True)
for ax, level in zip(axes, [0.04, 0.12], strict=True):
    display = LevelSetDisplay.from_estimator(model, level=level).plot(ax)
    ax.plot(display.grid, mixture.density(display.grid[:, None]), "--", color="0.4", linewidth=1)
    for name, mode in zip("ABC", np.sort(mixture.modes()[:, 0]), strict=True):
        ax.annotate(name, (mode, 0.012), ha="center", weight="bold")
plt.show()

# %%
# **Figure 4: level sets or Quick Shift.** Clusters as components of a level set (two panels on the
# left, as DBSCAN finds them) leave the samples below the level unassigned, and a level that
# separates A from B leaves many of them. Quick Shift (two panels on the right) assigns every sample
# by climbing the density, and tau decides how far apart modes have to be.
figure, axes = plt.subplots(1, 4, figsize=(12, 2.9), layout="constrained", sharey=True)
for ax, level in zip(axes[:2], [0.04, 0.12], strict=True):
    LevelSetDisplay.from_estimator(model, level=level).plot(ax, show="components")
for ax, tau in zip(axes[2:], [0.6, 4.0], strict=True):
    display = LevelSetDisplay.from_estimator(model.recut(tau=tau), level=0.0)
    display.plot(ax, show="clusters")
    ax.set_title(f"{ax.get_title()}\nτ = {tau}", fontsize="medium")
for ax in axes[1:]:
    ax.set_ylabel("")
plt.show()
