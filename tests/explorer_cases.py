"""Cuts of fits that the page must reproduce: a cut as the page calls it, and its labels."""

import numpy as np

import quickshift as qs
from quickshift.explorer.clusters import pack_clusters
from quickshift.explorer.packing import unpack

CUTS = 9  # levels of tau, and scores, that are compared


def grid_fit():
    """Return a fit whose tau is the length of many moves."""
    axis = 0.1 * np.arange(12)
    X = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    return qs.QuickShift(bandwidth=0.2, tau=0.1).fit(X)


def cuts_of(model, count):
    """Yield cuts of a fit and their labels, from the estimator itself."""
    header, arrays = unpack(pack_clusters(model, None, None))
    yield {"fitted": True}, model.labels_
    values = arrays["tau_values"]
    chosen = [header["chosen"], 0, values.size - 1]
    few = np.linspace(0, values.size - 1, count).astype(int)
    for level in sorted({*chosen, *few.tolist()}):
        scale = model.tau_ if header["relative"] else 1.0
        yield {"tau": level}, model.labels_at(values[level] * scale)
    finite = np.unique(arrays["score"][np.isfinite(arrays["score"])])
    for score in np.unique(np.append(finite[:: max(finite.size // count, 1)], [0.0, 1e9])):
        yield {"score": float(score)}, model.recut(min_significance=float(score)).labels_
