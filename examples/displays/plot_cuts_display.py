"""
CutsDisplay: how many clusters every cut gives
==============================================

One fit contains the clusters for every tau, and for every least significance of a mode. This
display shows their numbers, and the ranges in which the number does not change.
"""

# %%
# On a plateau, the number of clusters does not depend on the exact value of tau or of the
# threshold. Long plateaus are shaded darker than short ones. On the left, tau is a multiple of
# the tau of each sample; the marked cut, at 1, has many modes, most of which chance has produced.
# On the right, only modes of at least the given significance are kept: this is what a fit without
# tau does, and therefore what is drawn unless ``by="tau"`` is given. The dotted line is the
# significance that chance rarely exceeds, and the solid line that of the least significant
# cluster of this fit.
import matplotlib.pyplot as plt
import numpy as np

import quickshift as qs
from quickshift.plot import CutsDisplay

rng = np.random.default_rng(3)
centers, scales = [[0, 0], [5, 0], [0.5, 5], [3.3, 5]], [0.5, 1.2, 0.7, 0.7]
X = np.concatenate([rng.normal(c, s, (400, 2)) for c, s in zip(centers, scales, strict=True)])
model = qs.QuickShift().fit(X)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
CutsDisplay.from_estimator(model, by="tau").plot(left)
CutsDisplay.from_estimator(model).plot(right)
plt.show()

# %%
# The plateaus are available as numbers: lower end, upper end and number of clusters.
print(CutsDisplay.from_estimator(model).plateaus.round(2))
