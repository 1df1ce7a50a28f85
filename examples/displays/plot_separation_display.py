"""
SeparationDisplay: what separates two samples
=============================================

For one feature: the valley between two samples A and B, as the paper defines separation.
"""

# %%
# A and B are separated with the radius r_s and the depth δ if the density stays above the red line
# near A and B, and below the gold line near some point S between them. Of two samples in
# neighboring peaks this is true (left), of two samples on one slope it is not (right).
# ``quickshift.diagnose`` says the same in words.
import matplotlib.pyplot as plt
import numpy as np

import quickshift as qs
from quickshift.plot import SeparationDisplay

rng = np.random.default_rng(0)
x = np.concatenate([rng.normal(0, 1, 600), rng.normal(4, 0.7, 400)])
model = qs.QuickShift(bandwidth=0.35, tau=0.2).fit(x[:, None])
a, b, c = (int(np.argmin(np.abs(x - place))) for place in (0.0, 4.0, 1.0))

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
SeparationDisplay.from_estimator(model, (a, b), r_s=0.5, unit="s").plot(left)
SeparationDisplay.from_estimator(model, (a, c), r_s=0.3, unit="s").plot(right)
plt.show()
print(qs.diagnose(model, pair=(a, b), separation_radius=0.5).separation.sentence)
