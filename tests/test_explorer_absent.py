"""Rows of weight zero on a page of `explore`: their moves are those of the definition."""

import numpy as np
import pytest

from quickshift import QuickShift
from quickshift.explorer.clusters import _neighbors_of_absent

PERIOD = np.array([10.0, np.inf])
FITS = {
    "local": {},
    "local, periodic": {"period": PERIOD},
    "kernel": {"bandwidth": 1.0, "tau": 2.0},
    "kernel, periodic": {"bandwidth": 1.0, "tau": 2.0, "period": PERIOD},
}


def distances_between(A, B, period):
    delta = np.abs(A[:, None] - B)
    if period is not None:
        delta[..., 0] = np.minimum(delta[..., 0], PERIOD[0] - delta[..., 0])
    return np.sqrt((delta**2).sum(axis=2))


@pytest.mark.parametrize("settings", FITS.values(), ids=FITS)
def test_moves_of_rows_of_weight_zero_are_those_of_the_definition(settings):
    X = np.random.default_rng(0).uniform(0.0, 10.0, size=(80, 2))
    weights = np.ones(len(X))
    weights[::4] = 0.0
    absent, present = np.flatnonzero(weights == 0), np.flatnonzero(weights)
    model = QuickShift(**settings).fit(X, sample_weight=weights)
    higher, nearest, far = _neighbors_of_absent(model)
    distance = distances_between(X[absent], X[present], settings.get("period"))
    np.testing.assert_array_equal(nearest, present[distance.argmin(axis=1)])
    heights = model.score_samples(X)
    above = heights[present] > heights[absent, None]
    assert above.any(axis=1).all()
    reach = np.where(above, distance, np.inf)
    np.testing.assert_array_equal(higher, present[reach.argmin(axis=1)])
    unit = 1.0 if "tau" in settings else model.tau_[absent]
    np.testing.assert_allclose(far, reach.min(axis=1) / unit)
