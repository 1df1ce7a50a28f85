"""
DecisionGraphDisplay: which samples are modes
=============================================

Modes are dense, and far from any sample that is denser. The decision graph shows both quantities
for every sample, as in density-peak clustering, with the tau that separates modes from other
samples.
"""

# %%
# With one bandwidth, the vertical axis is the length of the move to the parent, and modes are
# above the dashed line at tau. With local scale (right), lengths are divided by the tau of the
# sample, and the line is at 1. Modes of clusters have the color and the number of their label;
# circles are modes that were merged, and the strongest of them are named by their rows. The
# triangle is the highest sample, which has no parent.
import matplotlib.pyplot as plt
import numpy as np

import quickshift as qs
from quickshift.plot import DecisionGraphDisplay

rng = np.random.default_rng(3)
centers, scales = [[0, 0], [5, 0], [0.5, 5], [3.3, 5]], [0.5, 1.2, 0.7, 0.7]
X = np.concatenate([rng.normal(c, s, (400, 2)) for c, s in zip(centers, scales, strict=True)])

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
kernel = qs.QuickShift(bandwidth=0.4, tau=1.5).fit(X)
DecisionGraphDisplay.from_estimator(kernel, unit="mm").plot(left)
DecisionGraphDisplay.from_estimator(qs.QuickShift().fit(X), unit="mm").plot(right)
plt.show()
