"""
ForestDisplay: samples and their moves
======================================

The plot of Quick Shift itself: every sample with the move to its parent, the nearest sample of
higher density.
"""

# %%
# Moves longer than tau are dashed: they are cut, and a sample at the start of one is a mode. By
# default every sample has a tau of its own. The dashed moves inside a cluster start at modes that
# were not significant, and were merged. Stars and numbers mark the modes of the clusters.
import matplotlib.pyplot as plt
import numpy as np

import quickshift as qs
from quickshift.plot import ForestDisplay

centers = [[0, 0], [5, 1], [2, 5]]
X, _ = qs.datasets.GaussianMixture(centers, covariances=[0.3, 1.2, 0.6]).sample(400, seed=0)
model = qs.QuickShift().fit(X)
ForestDisplay.from_estimator(model, unit="km").plot()
plt.show()

# %%
# ``model.plot()`` draws the same. Everything that is drawn is available as arrays.
display = model.plot()
print(display, display.cut_moves.shape)
plt.close()

# %%
# With one feature, samples are drawn at the height of their density, so moves go uphill. Of many
# features, two are drawn: those given by ``features``, or any two coordinates, such as those of an
# embedding in the plane. Periodic features are drawn over one period, and moves may leave it on one
# side and come back on the other.
rng = np.random.default_rng(0)
line = np.concatenate([rng.normal(0, 1, 150), rng.normal(5, 1, 80)])[:, None]
angles = np.concatenate([rng.normal(0, 25, (120, 2)), rng.normal(150, 30, (80, 2))]) % 360
many = rng.normal(size=(200, 30))
many[:100] += 2
onto_plane = np.linalg.svd(many - many.mean(axis=0), full_matrices=False)[2][:2].T

figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
ForestDisplay.from_estimator(qs.QuickShift(bandwidth=0.5, tau=1.0).fit(line)).plot(axes[0])
periodic = qs.QuickShift(period=[360, 360]).fit(angles)
ForestDisplay.from_estimator(periodic, unit="degrees").plot(axes[1])
ForestDisplay.from_estimator(qs.QuickShift().fit(many), many @ onto_plane).plot(axes[2])
plt.show()
