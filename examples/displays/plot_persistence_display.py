"""
PersistenceDisplay: modes compared with chance
==============================================

A mode is born at its own density and absorbed at that of the saddle to a higher mode. The farther
it is from the diagonal, the more it stands out.
"""

# %%
# The dashed line is what chance rarely exceeds. With local scale, it is parallel to the diagonal
# (left); with one bandwidth, the estimate is less certain at low densities, and the line rises
# there (right). Point i has the color and the number of label i, and gray points are modes that
# were merged. Triangles are modes that no higher mode absorbs, because no chain of samples leads
# to one. They are drawn where a mode of their significance would be absorbed, so they are above the
# line if and only if they are more significant than chance. The highest mode is never absorbed and
# has a strip of its own.
import matplotlib.pyplot as plt
import numpy as np

import quickshift as qs
from quickshift.plot import PersistenceDisplay

rng = np.random.default_rng(3)
centers, scales = [[0, 0], [5, 0], [0.5, 5], [3.3, 5]], [0.5, 1.2, 0.7, 0.7]
X = np.concatenate([rng.normal(c, s, (400, 2)) for c, s in zip(centers, scales, strict=True)])
X = np.concatenate([X, rng.uniform(-3, 9, (100, 2))])

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
PersistenceDisplay.from_estimator(qs.QuickShift().fit(X)).plot(left)
PersistenceDisplay.from_estimator(qs.QuickShift(bandwidth="auto").fit(X)).plot(right)
plt.show()
