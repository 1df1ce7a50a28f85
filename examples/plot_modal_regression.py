"""
Modal regression: when the mean describes no response
=====================================================

If there are two kinds of responses at one x, their mean lies between them, where there are hardly
any responses. Modal regression finds both branches, and predicts with sets of several intervals.
"""

# %%
# Data with two branches. Held-out samples calibrate the prediction sets: they show how far
# responses are from the predicted modes.
import matplotlib.pyplot as plt
import numpy as np

import quickshift as qs

data = qs.datasets.two_branches()
X, y = data.sample(1500, seed=0)
X_held_out, y_held_out = data.sample(500, seed=1)
X_new, y_new = data.sample(20_000, seed=2)

model = qs.ModalRegressor().fit(X, y).calibrate(X_held_out, y_held_out)
grid = np.linspace(0, 1, 301)
branches = qs.trace_branches(model, grid)
sets = model.predict_set(grid[:, None], coverage=0.9)


# %%
# For comparison: a kernel mean with the same bandwidth, and the interval around it, calibrated on
# the same held-out samples.
def kernel_mean(x):
    """Return the mean of the responses near each x (Nadaraya-Watson)."""
    weights = np.exp(-0.5 * ((x - X.T) / model.bandwidth_[0]) ** 2)
    return weights @ y / weights.sum(axis=1)


scores = np.abs(y_held_out - kernel_mean(X_held_out))  # nonconformity scores
radius = qs.stages.conformal_radius(scores, np.ones(len(scores)), 0.9)
covered = np.abs(y_new - kernel_mean(X_new)) <= radius
print(f"mean:  length {2 * radius:.2f}, contains {covered.mean():.1%} of new responses")

new_sets = model.predict_set(X_new, coverage=0.9)
length, covered = new_sets.lengths.mean(), new_sets.contains(y_new)
print(f"modes: length {length:.2f}, contains {covered.mean():.1%} of new responses")

# %%
# Both contain nine out of ten new responses, but most of the interval around the mean is empty.
INK, POINTS, GRAY = "#333333", "#8C8C8C", "#E6E6E6"
COLORS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7"]  # Okabe and Ito, safe for color blindness
PALE = np.array(["#CCE3F0", "#F7DFCC"])
LINE = {"linewidth": 2.2, "solid_capstyle": "round"}

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.3), sharex=True, sharey=True)
mean = kernel_mean(grid[:, None])
left.fill_between(grid, mean - radius, mean + radius, color=GRAY, linewidth=0)
left.plot(grid, mean, color=INK, **LINE)
left.text(0.62, 0.02, "mean", color=INK, fontsize=11)
left.set(title=f"Mean: one interval of length {2 * radius:.1f}", ylabel="y")

right.bar(
    grid[sets.queries],
    sets.upper - sets.lower,
    bottom=sets.lower,
    width=1.5 * (grid[1] - grid[0]),
    color=PALE[(sets.lower > 0).astype(int)],
)
for branch, color in zip(branches, COLORS, strict=False):
    right.plot(branch.x, branch.y, color=color, **LINE)
right.set(title=f"Modes: two intervals, total length {length:.1f}")
for ax in (left, right):
    ax.scatter(X[:, 0], y, s=5, color=POINTS, alpha=0.5, linewidths=0, zorder=1.5)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set(xlabel="x", xlim=(0, 1), xticks=[0, 0.25, 0.5, 0.75, 1])
figure.text(0.5, 0.02, "shaded: contains 90 % of new responses", color=INK, ha="center")
figure.tight_layout(rect=(0, 0.04, 1, 1), w_pad=3)
plt.show()

# %%
# Branches begin and end. Here three branches merge into one: the outer two end where the estimate
# no longer distinguishes them from the middle one. At any x the modes are the peaks of f̂(x, y) as
# a function of y, and ``heights`` contains how far each peak rises above the valley next to it.
data = qs.datasets.three_branches_merging()
X, y = data.sample(2000, seed=0)
model = qs.ModalRegressor().fit(X, y)
branches = qs.trace_branches(model, grid)

at = 0.3
modes = model.predict_modes([[at]])
responses = np.linspace(-2.7, 2.7, 401)
h_x, h_y = model.bandwidth_
near_x = np.exp(-0.5 * ((at - X[:, 0]) / h_x) ** 2)
near_y = np.exp(-0.5 * ((responses[:, None] - y) / h_y) ** 2)
density = near_y @ near_x / (2 * np.pi * h_x * h_y * len(y))

figure, (left, right) = plt.subplots(
    1, 2, figsize=(10, 4.3), sharey=True, gridspec_kw={"width_ratios": [2, 1]}
)
left.scatter(X[:, 0], y, s=5, color=POINTS, alpha=0.5, linewidths=0)
left.axvline(at, color=INK, linewidth=1.2, linestyle=":")
for branch, color in zip(branches, COLORS, strict=False):
    left.plot(branch.x, branch.y, color=color, **LINE)
    if branch.stop < len(grid):
        left.plot(branch.x[-1], branch.y[-1], "o", color="white", mec=color, mew=2, ms=8)
left.set(title="Branches end where they merge", xlabel="x", ylabel="y", xlim=(0, 1))

right.plot(density, responses, color=INK)
ascending = np.argsort(modes[0])
for i, color in zip(ascending, COLORS, strict=False):
    peak, value = modes.densities[i], modes[0][i]
    right.plot([peak - modes.heights[i], peak], [value, value], color=color, **LINE)
    right.plot(peak, value, "o", color=color, ms=8)
right.text(0.14, modes[0][0] + 0.08, "height", color=INK)
right.set(title=f"The modes at x = {at}", xlabel="f̂(x, y)", xlim=(0, None))
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
figure.tight_layout(w_pad=3)
plt.show()
