"""
ModalRegressionDisplay: branches, prediction set and mean
=========================================================

For one feature and one response: the modes of the response along x, with intervals that contain a
new response with a given probability, and the mean for contrast.
"""

# %%
# The mean (dashed) lies between the branches, where there are hardly any responses.
import matplotlib.pyplot as plt

import quickshift as qs
from quickshift.plot import ModalRegressionDisplay

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
two = qs.ModalRegressor().fit(*qs.datasets.two_branches().sample(1500, seed=0))
ModalRegressionDisplay.from_estimator(two, unit="s").plot(left)
three = qs.ModalRegressor().fit(*qs.datasets.three_branches_merging().sample(1500, seed=0))
ModalRegressionDisplay.from_estimator(three, coverage=0.5, unit="s").plot(right)
plt.show()
