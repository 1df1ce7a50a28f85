"""Fits in processes and on a Dask cluster, equal to those in memory; `make matrix` runs all."""

import itertools

import numpy as np
import pytest

import quickshift
from distributed_cases import MATRIX, SHAPES
from quickshift.distributed import QuickShift
from quickshift.distributed.executors import DaskWorkers, Processes
from quickshift.kernels import KERNELS

pytestmark = pytest.mark.workers


@pytest.fixture(scope="module", params=["processes", "dask"])
def executor(request):
    """Return what runs the tasks of all fits."""
    if request.param == "processes":
        processes = Processes(2)
        yield processes
        processes.close()
        return
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
    )
    with cluster, distributed.Client(cluster) as client:
        yield DaskWorkers(client)


def combinations():
    """Return shapes, dimensions, numbers of boxes and a kernel: some of them, or all."""
    # Duplicates and lattices have ties, which sums of kernels in another order may break.
    shapes = ["blobs", "outlier", "seed spreader"]
    sizes = itertools.product(shapes, (1, 2, 3, 5), (2, 7, 32))
    chosen = [
        (shape, d, n_boxes, kernel)
        for (shape, d, n_boxes), kernel in zip(sizes, itertools.cycle(KERNELS))
    ]
    ties = itertools.product(["lattice", "duplicates"], (1, 2, 3, 5), (2, 7, 32), ["local"])
    local = [(shape, d, n_boxes, "local") for shape, d, n_boxes, _ in chosen]
    return [*chosen, *local, *ties] if MATRIX else [chosen[5], local[4], ("lattice", 2, 7, "local")]


@pytest.mark.parametrize(("shape", "d", "n_boxes", "kernel"), combinations())
def test_fits_equal_those_in_memory(executor, shape, d, n_boxes, kernel, monkeypatch):
    monkeypatch.setattr(QuickShift, "_executor", lambda *_: executor)
    monkeypatch.setattr(executor, "close", lambda: None)
    points = SHAPES[shape](d=d)
    parameters = {} if kernel == "local" else {"bandwidth": 0.6, "tau": 0.8, "kernel": kernel}
    weights = np.random.default_rng(7).integers(1, 4, len(points)).astype(float)
    table = np.column_stack([points, weights])
    found = QuickShift(n_partitions=n_boxes, **parameters).fit(table, weight_column=d)
    expected = quickshift.QuickShift(**parameters).fit(points, sample_weight=weights)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_array_equal(found.modes_, expected.modes_)
    if kernel == "local":
        np.testing.assert_array_equal(found.bandwidth_, expected.bandwidth_)
        np.testing.assert_array_equal(found.tau_, expected.tau_)
