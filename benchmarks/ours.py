"""The functions of ours that are timed, each from points to a result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]


def fit(X: Points, **parameters: Any) -> object:
    """Fit the estimator, including labels."""
    import quickshift

    return quickshift.QuickShift(**parameters).fit(X)


def densities(X: Points, **parameters: Any) -> object:
    """Estimate densities at the points themselves."""
    from quickshift import stages

    return stages.estimate_density(X, **parameters)


def build(X: Points) -> object:
    """Build the tree: check the points, merge duplicate rows, copy the points in tree order."""
    from quickshift import stages

    return stages.prepare(X)


def scales(X: Points) -> object:
    """Find the distances of each point to its nearest others, and their mean."""
    from quickshift import stages

    return stages.local_scale(X)


def all_stages(X: Points, *, bandwidth: float, tau: float, n_jobs: int = 2, **settings: Any) -> Any:
    """Run the compiled stages one after the other: tree, kernel sums, climb, cut."""
    from quickshift import stages

    samples = stages.prepare(X, n_jobs=n_jobs)
    estimate = stages.fit_estimate(samples, bandwidth, n_jobs=n_jobs, **settings)
    graph = stages.climb(
        samples, estimate.sums(), n_jobs=n_jobs, significant_bits=estimate.significant_bits
    )
    return stages.cut(graph, tau, n_jobs=n_jobs)


_fitted: list[Any] = []


def fit_or_link(X: Points, *, part: str = "fit", tau: float, **parameters: Any) -> object:
    """Fit a model, or link the cluster tree of the last fitted model, at tau."""
    import quickshift
    from quickshift import stages

    if part == "fit":
        _fitted[:] = [quickshift.QuickShift(tau=tau, **parameters).fit(X)]
        return _fitted[0]
    [model] = _fitted
    return stages.link(model._graph.samples, model.density_, model._clusters.unmerged, tau)


_regressions: dict[tuple[str, int], Any] = {}
# Radius, in bandwidths, within which a Gaussian sums samples, for 1e5 samples and all defaults.
_GAUSSIAN_REACH = 8.7


def conditional_modes(rows: Points, *, kernel: str, queries: int) -> object:
    """Find all conditional modes at some queries; the model is fitted at the first call.

    `predict` finds all modes as `predict_modes` does, but not their probabilities, which no peer
    computes either.
    """
    import data
    import quickshift

    if (kernel, len(rows)) not in _regressions:
        X, y = rows[:, :2], rows[:, 2]
        h_x = data.modal_radius() / (_GAUSSIAN_REACH if kernel == "gaussian" else 1.0)
        h_y = quickshift.ModalRegressor(kernel=kernel).fit(X, y).bandwidth_[1]
        model = quickshift.ModalRegressor((h_x, h_y), kernel=kernel).fit(X, y)
        _regressions[kernel, len(rows)] = model
    return _regressions[kernel, len(rows)].predict(data.modal_queries(queries))


def segment(image: NDArray[np.float64], **parameters: Any) -> object:
    """Segment an image, including the conversion to Lab."""
    import quickshift

    return quickshift.segment(image, **parameters)


def segment_as_skimage(image: NDArray[np.float64], **parameters: Any) -> object:
    """Segment an image as scikit-image does."""
    from quickshift.compat import skimage

    return skimage.quickshift(image, **parameters)


def loaded(call: Callable[..., object]) -> Callable[..., object]:
    """Return ``call`` itself: the loader for a `Worker` that times a function of ours."""
    return call
