from dataclasses import replace

import numpy as np
import pytest

from distributed_cases import (
    SHAPES,
    assert_same_tree,
    blobs,
    boxes,
    by_row,
    cases,
    divided,
    duplicates,
    labels_by_row,
    record,
    sizes,
)
from quickshift.distributed.plan import heights as plan_heights
from quickshift.distributed.plan.fits import fit_local
from quickshift.distributed.plan.forest import cut as cut_boxes
from quickshift.distributed.plan.tree import link as link_boxes
from quickshift.distributed.store import Store
from quickshift.distributed.tasks import regions
from quickshift.distributed.tasks.boxes import wrapped
from quickshift.distributed.tasks.climbing import Order, climb_box
from quickshift.distributed.tasks.queries import Neighbors
from quickshift.stages import climb, cut, local_scale, prepare
from quickshift.stages.local_clusters import LocalSettings, local_clusters_of, tree_by_scale
from quickshift.stages.local_scale import levels_of, n_spacing, n_varying
from quickshift.stages.tree.significance import assess_by_levels


def measured(passes, samples, k, most_rows):
    """Measure the local scales of all boxes, in a layer of their own."""
    neighbors = Neighbors(k, n_spacing(samples), n_varying(samples))
    layer = replace(passes, store=replace(passes.store, layer=f"-{k}"))
    plan_heights.measure_scales(layer, neighbors, most_rows)
    return layer, neighbors


def check_scales(passes, samples, k, most_rows=10**6):
    """Compare r, tau, labels and the tree with those of a fit in memory."""
    scale = local_scale(samples, k)
    layer, neighbors = measured(passes, samples, k, most_rows)
    store, n = layer.store, samples.n_samples
    np.testing.assert_array_equal(by_row(store, "heights", n), scale.heights)
    np.testing.assert_array_equal(by_row(store, "tau", n), scale.tau)
    order = Order("total", scale.significant_bits)
    layer.each_box("climb", climb_box, None, order)
    leaves = cut_boxes(layer, None, order)
    forest = cut(climb(samples, scale.heights), scale.tau)
    np.testing.assert_array_equal(labels_by_row(store, leaves, n), forest.labels)
    np.testing.assert_array_equal(leaves.row, forest.roots)
    expected = tree_by_scale(scale, forest)
    linked = link_boxes(layer, leaves, None, order, lambda x: levels_of(-x))
    assert_same_tree(linked.tree, expected)
    period = store.partition.period
    errors = neighbors.dimension * np.sqrt(k / 2)
    found = assess_by_levels(
        linked.tree,
        linked.graph,
        lambda x: levels_of(plan_heights.scales_at(layer, wrapped(x, period), neighbors)[0]),
        errors,
    )
    np.testing.assert_array_equal(found.significance, expected.significance)
    return layer


@pytest.mark.parametrize(("d", "n_boxes", "shape"), cases())
def test_scales_and_trees_equal_those_of_a_fit_in_memory(
    d, n_boxes, shape, tmp_path, record_property
):
    record(record_property, shape=shape, d=d, partitions=n_boxes, fit="local")
    X = SHAPES[shape](d=d)
    passes, _ = divided(X, n_boxes, tmp_path)
    check_scales(passes, prepare(X), 12)


@pytest.mark.parametrize("most_rows", [0, 30])
@pytest.mark.parametrize("shape", SHAPES)
def test_halos_that_are_too_narrow(shape, most_rows, tmp_path):
    X = SHAPES[shape]()
    passes, _ = divided(X, 5, tmp_path)
    layer = check_scales(passes, prepare(X), 10, most_rows)
    # Rows of other boxes outside the halo were needed, and found.
    assert sum(len(layer.store.read(box, "extra")) for box in boxes(layer.store)) > 0


@pytest.mark.parametrize("most_rows", [0, 20, 100, 10**6])
@pytest.mark.parametrize("shape", ["blobs", "lattice"])
def test_the_width_of_a_halo_is_found_by_reading_each_box_twice(
    shape, most_rows, tmp_path, monkeypatch
):
    # Boxes of a lattice touch others, however narrow the halo.
    store = divided(SHAPES[shape](), 32, tmp_path)[0].store
    monkeypatch.setattr(regions, "_READ", 0)
    read, names = Store.read, []

    def counted(self, box, name):
        names.append(name)
        return read(self, box, name)

    monkeypatch.setattr(Store, "read", counted)
    for box in boxes(store):
        names.clear()
        reach = regions.narrowed(store, box, 3.0, most_rows)
        assert names.count("blocks") <= 2 * len(store.counts)
        region = regions.read_region(store, box, reach)
        assert reach == 0 or region.n_rows - region.n_owned <= most_rows


@pytest.mark.parametrize(("d", "n_boxes"), sizes())
@pytest.mark.parametrize("most_rows", [0, 10**6])
@pytest.mark.parametrize("whole", [True, False])
def test_weights_and_a_periodic_feature(whole, most_rows, d, n_boxes, tmp_path, record_property):
    given = {"fit": "local", "weighted": True, "periodic": True}
    record(record_property, shape="duplicates", d=d, partitions=n_boxes, **given)
    X, period = duplicates(700, d), np.where(np.arange(d) == d // 2, 7.0, np.inf)
    weights = np.random.default_rng(5).uniform(0, 4, len(X))
    weights = np.floor(weights) if whole else np.where(weights < 1, 0.0, weights / 3)
    passes, _ = divided(X, n_boxes, tmp_path, weights=weights, period=period)
    check_scales(passes, prepare(X, sample_weight=weights, period=period), 9, most_rows)


@pytest.mark.parametrize("k", [1, 60, 149])
def test_few_and_nearly_all_neighbors(k, tmp_path):
    X = blobs(150)
    passes, _ = divided(X, 6, tmp_path)
    check_scales(passes, prepare(X), k)


def test_one_distinct_row(tmp_path):
    X = np.ones((40, 2))
    passes, _ = divided(X, 4, tmp_path)
    check_scales(passes, prepare(X), 5)


@pytest.mark.parametrize("shape", ["blobs", "duplicates", "outlier"])
def test_clusters_of_up_to_three_scales(shape, tmp_path):
    X = SHAPES[shape]()
    passes, facts = divided(X, 7, tmp_path)
    fit = fit_local(passes, facts, LocalSettings(), 10**6)
    expected = local_clusters_of(prepare(X), LocalSettings())
    assert fit.kind.neighbors.k == expected.scale.n_neighbors
    assert fit.clusters.min_significance == expected.clusters.min_significance
    labels = fit.clusters.labels[labels_by_row(fit.passes.store, fit.leaves, len(X))]
    np.testing.assert_array_equal(labels, expected.clusters.forest.labels)


def test_one_cluster_is_sought_at_all_scales(tmp_path):
    X = np.random.default_rng(8).normal(size=(600, 2))
    passes, facts = divided(X, 7, tmp_path)
    fit = fit_local(passes, facts, LocalSettings(), 10**6)
    expected = local_clusters_of(prepare(X), LocalSettings())
    assert len(fit.clusters) == len(expected) == 1
    assert fit.kind.neighbors.k == expected.scale.n_neighbors
    tried = {path.stem for path in tmp_path.glob("box-00000/heights-*.npy")}
    assert len(tried) == 3


def test_a_tau_that_is_shorter_than_those_of_the_rows(tmp_path):
    # Heights on a lattice are equal, so edges may lead to rows that differ in their last bits.
    X = np.concatenate([SHAPES["lattice"](), SHAPES["lattice"]() * 3 + 40.0])
    passes, facts = divided(X, 7, tmp_path)
    for tau in (1.0, 2.0, 3.5):
        fit = fit_local(passes, facts, LocalSettings(tau=tau, n_neighbors=6), 10**6)
        expected = local_clusters_of(prepare(X), LocalSettings(tau=tau, n_neighbors=6, link=True))
        labels = labels_by_row(fit.passes.store, fit.leaves, len(X))
        np.testing.assert_array_equal(labels, expected.clusters.forest.labels)
        linked = fit.kind.linked(fit.passes, fit.leaves, tau, fit.order)
        assert_same_tree(linked.tree, expected.clusters.tree)
