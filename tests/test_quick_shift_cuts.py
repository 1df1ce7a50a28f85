"""Other cuts of one fit, and the exports that hold all of them: linkage and graph."""

import copy
import io

import networkx as nx
import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, is_valid_linkage

from cases import same_partition
from clustering_cases import EVERY_DATA, assert_same_fit, blobs
from quickshift import QuickShift

# Cuts at another tau


@EVERY_DATA
@pytest.mark.parametrize("bandwidth", [1.0, "local"])
@pytest.mark.parametrize("ties", ["total", "strict"])
def test_another_cut_is_a_refit_with_another_tau(X, ties, bandwidth):
    weights = np.random.default_rng(0).integers(0, 3, size=len(X))
    settings = {"bandwidth": bandwidth, "ties": ties}
    model = QuickShift(tau=1.0, **settings).fit(X, sample_weight=weights)
    lengths = np.unique(model.parent_distance_[np.isfinite(model.parent_distance_)])
    for tau in {0.0, np.inf, *lengths[::3], *np.nextafter(lengths[::3], 0.0)}:
        refit = QuickShift(tau=tau, **settings).fit(X, sample_weight=weights)
        np.testing.assert_array_equal(model.labels_at(tau), refit.labels_)


def test_cut_at_the_explicit_tau_is_the_fit():
    for bandwidth in (0.5, "local"):
        model = QuickShift(bandwidth, tau=1.0).fit(blobs())
        np.testing.assert_array_equal(model.labels_at(1.0), model.labels_)


def test_other_cuts_leave_the_estimator_as_it_is():
    X = blobs()
    weights = np.arange(60.0)
    model = QuickShift(bandwidth=0.5, tau=1.0).fit(X, sample_weight=weights)
    before = copy.deepcopy(model)
    model.labels_at(0.0)[:] = -7
    model.labels_for(5)[:] = -7
    model.to_linkage()[:] = -7
    model.predict(X)[:] = -7
    model.to_networkx().clear()
    assert_same_fit(model, before)
    np.testing.assert_array_equal(model.labels_at(1.0), before.labels_)


# Cuts into a number of clusters


@EVERY_DATA
def test_any_number_of_clusters_can_be_had(X):
    for bandwidth in (1.0, "local"):
        model = QuickShift(bandwidth).fit(X)
        for count in range(1, len(np.unique(X, axis=0)) + 1):
            for by in ("tau", "significance"):
                labels = model.labels_for(count, by=by)
                assert sorted(set(labels.tolist())) == list(range(count))


def test_longest_moves_go_first():
    model = QuickShift(bandwidth=1.0).fit(blobs())
    lengths = np.sort(model.parent_distance_)[::-1]  # all distinct; the first is infinite
    for count in range(1, 60):
        expected = model.labels_at(lengths[count])
        np.testing.assert_array_equal(model.labels_for(count, by="tau"), expected)


@EVERY_DATA
@pytest.mark.parametrize("count", [1, 2, 7])
def test_number_of_clusters_can_be_asked_of_fit(X, count):
    model = QuickShift(bandwidth=1.0, n_clusters=count).fit(X)
    assert model.n_clusters_ == count
    assert sorted(set(model.labels_.tolist())) == list(range(count))
    np.testing.assert_array_equal(model.labels_, QuickShift(1.0).fit(X).labels_for(count))
    np.testing.assert_array_equal(model.modes_, X[model.mode_indices_])
    np.testing.assert_array_equal(model.labels_[model.mode_indices_], np.arange(count))


def test_tau_of_more_clusters_than_modes_is_the_longest_move_kept():
    X = blobs()
    few = QuickShift(bandwidth=1.0).fit(X)
    count = int(few.labels_at(few.tau_).max()) + 2
    model = QuickShift(bandwidth=1.0, n_clusters=count).fit(X)
    kept = np.delete(model.parent_distance_, model.mode_indices_)
    assert model.tau_ == kept.max() < few.tau_
    np.testing.assert_array_equal(model.labels_at(model.tau_), model.labels_)


def test_numbers_of_clusters_are_nested():
    X = blobs()
    for bandwidth in ("local", "auto"):
        model = QuickShift(bandwidth).fit(X)
        for count in range(1, 30):
            coarse, fine = model.labels_for(count), model.labels_for(count + 1)
            assert len(np.unique(coarse)) == count
            assert len({*zip(fine.tolist(), coarse.tolist(), strict=True)}) == count + 1


# Linkage


@EVERY_DATA
@pytest.mark.parametrize("bandwidth", [1.0, "local"])
@pytest.mark.parametrize("ties", ["total", "strict"])
def test_linkage_holds_every_cut(X, ties, bandwidth):
    model = QuickShift(bandwidth, ties=ties).fit(X)
    linkage = model.to_linkage()
    assert linkage.shape == (len(X) - 1, 4)
    assert is_valid_linkage(linkage, throw=True)
    lengths = np.unique(model.parent_distance_[np.isfinite(model.parent_distance_)])
    for tau in {0.0, *lengths[::3], *np.nextafter(lengths[::3], 0.0)}:
        flat = fcluster(linkage, tau, criterion="distance")
        assert same_partition(flat, model.labels_at(tau))


def test_linkage_leaves_out_samples_of_weight_zero():
    X = blobs()
    weights = np.arange(60) % 3
    model = QuickShift(bandwidth=1.0).fit(X, sample_weight=weights)
    np.testing.assert_array_equal(
        model.to_linkage(),
        QuickShift(bandwidth=1.0)
        .fit(X[weights > 0], sample_weight=weights[weights > 0])
        .to_linkage(),
    )


def test_linkage_of_one_sample_is_empty():
    for bandwidth in ("local", "auto"):
        assert QuickShift(bandwidth).fit([[1.0, 2.0]]).to_linkage().shape == (0, 4)


# Graph


def test_graph_has_a_node_per_sample_and_an_edge_per_move():
    X = blobs()
    weights = np.arange(60) % 4
    model = QuickShift(bandwidth=0.5, tau=1.0).fit(X, sample_weight=weights)
    graph = model.to_networkx()
    present = np.flatnonzero(weights)
    assert type(graph) is nx.DiGraph
    assert list(graph) == present.tolist()
    for i, attributes in graph.nodes(data=True):
        assert attributes == {"density": model.density_[i], "label": model.labels_[i]}
    expected = {
        (i, model.parent_[i]): {"distance": model.parent_distance_[i]}
        for i in present
        if i not in model.mode_indices_
    }
    assert {(i, j): attributes for i, j, attributes in graph.edges(data=True)} == expected


def test_graph_falls_into_the_clusters():
    model = QuickShift(bandwidth=0.5, tau=1.0).fit(blobs())
    graph = model.to_networkx()
    assert nx.is_forest(graph)
    roots = [i for i in graph if graph.out_degree(i) == 0]
    assert sorted(roots) == sorted(model.mode_indices_.tolist())
    for members in nx.weakly_connected_components(graph):
        assert len({graph.nodes[i]["label"] for i in members}) == 1
    assert nx.number_weakly_connected_components(graph) == model.n_clusters_


def test_graph_can_be_written_to_a_file():
    graph = QuickShift(bandwidth=0.5, tau=1.0).fit(blobs()).to_networkx()
    nx.write_graphml(graph, io.BytesIO())  # GraphML does not accept NumPy scalars
