"""Fits in processes and on a Dask cluster, equal to those in memory; `make matrix` runs all."""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

import quickshift
from distributed_cases import MATRIX, SHAPES, record
from quickshift.distributed import QuickShift
from quickshift.distributed.executors import DaskWorkers, Processes
from quickshift.distributed.results import heights_by_row
from quickshift.kernels import KERNELS, get_kernel

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
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=":0"
    )
    with cluster, distributed.Client(cluster) as client:
        yield DaskWorkers(client)


@dataclass(frozen=True)
class Case:
    """Data, the number of partitions, and the parameters of a fit."""

    shape: str
    d: int
    partitions: int
    fit: str
    kernel: str
    weighted: bool
    periodic: bool

    def __str__(self):
        more = [name for name in ("weighted", "periodic") if getattr(self, name)]
        kernel = [self.kernel] if self.kernel else []
        return "-".join([self.shape, str(self.d), str(self.partitions), self.fit, *kernel, *more])

    @property
    def parameters(self):
        """Parameters that fits over partitions and in memory have in common."""
        period = np.where(np.arange(self.d) == self.d // 2, 7.0, np.inf)
        given = {"period": period} if self.periodic else {}
        if self.fit == "local":
            return given
        if self.fit == "auto":
            return given | {"bandwidth": "auto", "kernel": self.kernel}
        return given | {"bandwidth": 0.6, "tau": 0.8, "kernel": self.kernel}


def combinations():
    """Return some cases, or all with `make matrix`."""
    # Duplicates and lattices have ties, which sums of kernels in another order may break. Tests of
    # the tasks compare them with all kernels, given the same sums.
    kernels = itertools.cycle(KERNELS)
    chosen = []
    for i, (shape, d, partitions) in enumerate(itertools.product(SHAPES, (1, 2, 3, 5), (2, 7, 32))):
        ties = shape in ("lattice", "duplicates")
        for fit in ("local",) if ties else ("local", "auto", "given"):
            kernel = "" if fit == "local" else next(kernels)
            chosen.append(Case(shape, d, partitions, fit, kernel, i % 2 == 1, i % 3 == 2))
    return chosen if MATRIX else [chosen[i] for i in (4, 21, 41, 62)]


@pytest.mark.parametrize("case", combinations(), ids=str)
def test_fits_equal_those_in_memory(executor, case, monkeypatch, record_property):
    monkeypatch.setattr(QuickShift, "_executor", lambda *_: executor)
    monkeypatch.setattr(executor, "close", lambda: None)
    record(record_property, **vars(case), executor=type(executor).__name__)
    points, weights, column = SHAPES[case.shape](d=case.d), None, None
    table = points
    if case.weighted:
        weights = np.random.default_rng(7).integers(1, 4, len(points)).astype(float)
        table, column = np.column_stack([points, weights]), case.d
    found = QuickShift(n_partitions=case.partitions, **case.parameters)
    found.fit(table, weight_column=column)
    expected = quickshift.QuickShift(**case.parameters).fit(points, sample_weight=weights)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_array_equal(found.modes_, expected.modes_)
    np.testing.assert_array_equal(found.tree_.towards, expected.tree_.towards)
    np.testing.assert_allclose(found.tree_.merges, expected.tree_.merges, rtol=1e-8)
    if case.fit == "local":
        np.testing.assert_array_equal(found.bandwidth_, expected.bandwidth_)
        np.testing.assert_array_equal(found.tau_, expected.tau_)
        return
    wrong = [abs(found.bandwidth_ / expected.bandwidth_ - 1), abs(found.tau_ / expected.tau_ - 1)]
    record(record_property, parameter_error=max(wrong))
    assert max(wrong) <= 1e-12
    if case.fit == "given":  # otherwise the densities differ as the bandwidths do
        heights = heights_by_row(found._fit, len(points), None)
        error = np.abs(found._fit.kind.densities(heights) / expected.density_ - 1).max()
        infinite = get_kernel(case.kernel).infinite
        record(
            record_property,
            **{"error_of_infinite_kernels" if infinite else "error": float(error)},
        )
        assert error <= (2 * expected.rtol if infinite else 1e-12)
