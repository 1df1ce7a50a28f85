"""The estimator as an object: before its fit, between fits, and as a copy."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from distributed_cases import blobs
from quickshift.distributed import QuickShift
from quickshift.distributed.executors import Inline

X = blobs(300)


@pytest.fixture(autouse=True)
def _inline(monkeypatch):
    """Run tasks in this process."""
    monkeypatch.setattr(QuickShift, "_executor", lambda *_: Inline())


@pytest.mark.parametrize("name", ["labels_", "tree_", "bandwidth_", "tau_", "significance_"])
def test_results_before_a_fit_are_refused(name):
    with pytest.raises(NotFittedError, match="QuickShift instance is not fitted yet"):
        getattr(QuickShift(), name)


def test_cuts_and_files_before_a_fit_are_refused(tmp_path):
    with pytest.raises(NotFittedError, match="Call 'fit'"):
        QuickShift().labels_at(1.0)
    with pytest.raises(NotFittedError, match="Call 'fit'"):
        QuickShift().write_labels(tmp_path / "labels.parquet")
    assert not list(tmp_path.iterdir())
