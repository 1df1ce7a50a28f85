"""QuickShift as users meet it: what each attribute and method means, held against the reference."""

import copy
import io
import pickle

import joblib
import networkx as nx
import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, is_valid_linkage
from scipy.special import logsumexp

from quickshift import QuickShift, kernels, reference

KERNELS = tuple(kernels.KERNELS)
RULES = ("auto", "paper", "scott", "silverman", "cv")
RESULTS = ("labels_", "mode_indices_", "modes_", "density_", "log_density_", "parent_")
RESULTS = (*RESULTS, "parent_distance_", "bandwidth_", "tau_", "n_clusters_")


def blobs(seed=0, n=60, d=2):
    """Draw three overlapping clouds, no two points alike."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + 4.0 * rng.integers(0, 3, size=(n, 1))


def with_duplicates(seed=0):
    rng = np.random.default_rng(seed)
    return rng.permutation(np.repeat(blobs(seed, 25), rng.integers(1, 5, size=25), axis=0))


def lattice(seed=0):
    """Draw integer points: many duplicates, many equal distances and densities."""
    return np.random.default_rng(seed).integers(0, 9, size=(60, 2)).astype(float)


def same_grouping(a, b):
    """Say whether two labellings differ in the names of the clusters only."""
    pairs = set(zip(np.asarray(a).tolist(), np.asarray(b).tolist(), strict=True))
    return len(pairs) == len(set(np.asarray(a).tolist())) == len(set(np.asarray(b).tolist()))


def assert_same_fit(a, b):
    for name in RESULTS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


DATA = {
    "blobs": blobs(),
    "duplicates": with_duplicates(),
    "lattice": lattice(),
    "line": blobs(1, 60, 1),
}
DATA["five features"] = blobs(2, 60, 5)
EVERY_DATA = pytest.mark.parametrize("X", DATA.values(), ids=DATA)
EVERY_KERNEL = pytest.mark.parametrize("kernel", KERNELS)


# What fit leaves behind


@EVERY_DATA
@pytest.mark.parametrize("tau", ["auto", 1.0, 0.0, np.inf])
def test_attributes_have_their_shapes_and_types(X, tau):
    model = QuickShift(tau=tau).fit(X)
    n, d = X.shape
    k = model.n_clusters_
    expected = {
        "labels_": ((n,), np.int64),
        "mode_indices_": ((k,), np.int64),
        "modes_": ((k, d), np.float64),
        "density_": ((n,), np.float64),
        "log_density_": ((n,), np.float64),
        "parent_": ((n,), np.int64),
        "parent_distance_": ((n,), np.float64),
    }
    for name, (shape, dtype) in expected.items():
        value = getattr(model, name)
        assert type(value) is np.ndarray, name
        assert (value.shape, value.dtype) == (shape, dtype), name
    assert type(model.n_clusters_) is int
    assert type(model.bandwidth_) is float
    assert type(model.tau_) is float
    assert model.n_features_in_ == d
    assert sorted(set(model.labels_.tolist())) == list(range(k))


@EVERY_DATA
@EVERY_KERNEL
@pytest.mark.parametrize("ties", ["total", "strict"])
def test_fit_is_algorithm_1(X, kernel, ties):
    model = QuickShift(bandwidth=1.25, tau=1.5, kernel=kernel, ties=ties).fit(X)
    expected = reference.quick_shift(X, 1.25, 1.5, kernel=kernel, ties=ties)
    np.testing.assert_allclose(model.density_, expected.density, rtol=1e-9)
    np.testing.assert_array_equal(model.parent_, expected.parent)
    np.testing.assert_array_equal(model.parent_distance_, expected.parent_distance)
    np.testing.assert_array_equal(model.labels_, expected.labels)
    np.testing.assert_array_equal(model.mode_indices_, expected.roots)


@pytest.mark.parametrize(("alias", "kernel"), [("tophat", "uniform"), ("linear", "triangular")])
def test_kernels_have_the_names_of_scikit_learn_too(alias, kernel):
    X = blobs()
    assert_same_fit(QuickShift(kernel=alias).fit(X), QuickShift(kernel=kernel).fit(X))


@EVERY_DATA
def test_labels_fall_with_the_height_of_their_modes(X):
    model = QuickShift(bandwidth=0.5, tau=1.0).fit(X)
    heights = model.density_[model.mode_indices_]
    assert model.n_clusters_ > 1
    assert heights[0] >= model.density_.max() * (1 - 1e-8)
    assert (heights[1:] <= heights[:-1] * (1 + 1e-8)).all()
    np.testing.assert_array_equal(model.labels_[model.mode_indices_], np.arange(model.n_clusters_))


@EVERY_DATA
def test_modes_are_the_samples_they_point_to(X):
    model = QuickShift(bandwidth=0.5, tau=1.0).fit(X)
    np.testing.assert_array_equal(model.modes_, X[model.mode_indices_])


@EVERY_DATA
def test_every_sample_has_the_label_of_its_parent_unless_it_is_a_mode(X):
    model = QuickShift(bandwidth=0.5, tau=1.0).fit(X)
    is_mode = np.isin(np.arange(len(X)), model.mode_indices_)
    np.testing.assert_array_equal(is_mode, model.parent_distance_ > model.tau_)
    below = np.flatnonzero(~is_mode)
    np.testing.assert_array_equal(model.labels_[below], model.labels_[model.parent_[below]])
    assert (model.density_[model.parent_] >= model.density_ * (1 - 1e-8)).all()


def test_parents_are_found_however_far_they_are():
    model = QuickShift(bandwidth=0.5, tau=1.0).fit([[0.0], [0.3], [0.4], [50.0]])
    np.testing.assert_array_equal(model.labels_, [0, 0, 0, 1])
    np.testing.assert_array_equal(model.parent_, [1, 1, 1, 2])
    np.testing.assert_allclose(model.parent_distance_, [0.3, np.inf, 0.1, 49.6])


@EVERY_KERNEL
def test_density_is_the_exponential_of_log_density(kernel):
    model = QuickShift(kernel=kernel).fit(blobs())
    np.testing.assert_allclose(np.exp(model.log_density_), model.density_, rtol=1e-13)


@pytest.mark.parametrize(("scale", "value"), [(1e6, 0.0), (1e-6, np.inf)])
def test_log_density_stands_where_density_leaves_the_numbers(scale, value):
    X = blobs(3, 30, 64) * scale
    model = QuickShift(bandwidth=3.0 * scale, tau=20.0 * scale).fit(X)
    expected = QuickShift(bandwidth=3.0, tau=20.0).fit(X / scale).log_density_
    assert (model.density_ == value).all()
    np.testing.assert_allclose(model.log_density_, expected - 64 * np.log(scale), rtol=1e-10)


def test_density_integrates_to_one():
    grid = np.linspace(-10.0, 20.0, 6001)[:, None]
    for kernel in KERNELS:
        model = QuickShift(bandwidth=0.8, kernel=kernel).fit(blobs(1, 60, 1))
        mass = np.exp(model.score_samples(grid)).sum() * 0.005
        assert mass == pytest.approx(1.0, abs=1e-3), kernel


def test_explicit_parameters_are_used_as_given():
    model = QuickShift(bandwidth=0.7, tau=1.3).fit(blobs())
    assert (model.bandwidth_, model.tau_) == (0.7, 1.3)
    model = QuickShift(bandwidth=np.float32(0.5), tau=2).fit(blobs())
    assert (model.bandwidth_, model.tau_) == (0.5, 2.0)


@pytest.mark.parametrize("rule", RULES)
@EVERY_KERNEL
def test_rules_choose_a_bandwidth_that_can_be_given_back(rule, kernel):
    X = blobs()
    model = QuickShift(bandwidth=rule, kernel=kernel).fit(X)
    again = QuickShift(bandwidth=model.bandwidth_, kernel=kernel).fit(X)
    assert 0 < model.bandwidth_ < 10
    assert_same_fit(model, again)


def test_automatic_bandwidth_is_half_of_the_papers():
    X = blobs()
    halves = [QuickShift(bandwidth=rule).fit(X).bandwidth_ for rule in ("paper", "scott", "auto")]
    assert halves[0] == halves[1] == 2 * halves[2]
    spread = np.minimum(X.std(axis=0), np.subtract(*np.quantile(X, [0.75, 0.25], axis=0)) / 1.349)
    assert halves[0] == pytest.approx(spread.mean() * 60 ** (-1 / 6), rel=1e-12)


def test_cross_validated_bandwidth_is_more_likely_than_its_neighbours():
    X = blobs(4, 50, 1)
    model = QuickShift(bandwidth="cv").fit(X)

    def likelihood(h):
        squares = -0.5 * ((X - X.T) / h) ** 2
        np.fill_diagonal(squares, -np.inf)
        return logsumexp(squares, axis=1).mean() - np.log(h)

    best = likelihood(model.bandwidth_)
    assert best > likelihood(model.bandwidth_ * 1.05)
    assert best > likelihood(model.bandwidth_ / 1.05)


def test_automatic_tau_reaches_a_neighbour_and_one_and_a_half_bandwidths():
    X = np.arange(10.0)[:, None]
    assert QuickShift(bandwidth=4.0).fit(X).tau_ == 6.0
    assert QuickShift(bandwidth=0.1).fit(X).tau_ == 1.0
    assert QuickShift(bandwidth=0.1).fit(np.repeat(X, 3, axis=0)).tau_ == 1.0


def test_refit_replaces_everything():
    first, second = blobs(0, 60, 2), blobs(5, 20, 3)
    model = QuickShift().fit(first, sample_weight=np.arange(60.0)).fit(second)
    assert_same_fit(model, QuickShift().fit(second))
    assert sorted(vars(model)) == sorted(vars(QuickShift().fit(second)))
    np.testing.assert_array_equal(model.predict(second), model.labels_)


# Other cuts of the same fit


@EVERY_DATA
@pytest.mark.parametrize("ties", ["total", "strict"])
def test_another_cut_is_a_refit_with_another_tau(X, ties):
    weights = np.random.default_rng(0).integers(0, 3, size=len(X))
    settings = {"bandwidth": 1.0, "ties": ties}
    model = QuickShift(tau=1.0, **settings).fit(X, sample_weight=weights)
    lengths = np.unique(model.parent_distance_[np.isfinite(model.parent_distance_)])
    for tau in {0.0, np.inf, *lengths[::3], *np.nextafter(lengths[::3], 0.0)}:
        refit = QuickShift(tau=tau, **settings).fit(X, sample_weight=weights)
        np.testing.assert_array_equal(model.labels_at(tau), refit.labels_)


def test_cut_at_the_explicit_tau_is_the_fit():
    model = QuickShift(bandwidth=0.5, tau=1.0).fit(blobs())
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


@EVERY_DATA
def test_any_number_of_clusters_can_be_had(X):
    model = QuickShift(bandwidth=1.0).fit(X)
    for count in range(1, len(np.unique(X, axis=0)) + 1):
        labels = model.labels_for(count, by="tau")
        assert sorted(set(labels.tolist())) == list(range(count))


def test_longest_moves_go_first():
    model = QuickShift(bandwidth=1.0).fit(blobs())
    lengths = np.sort(model.parent_distance_)[::-1]  # all different, the first infinite
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
    model = QuickShift().fit(X)
    for count in range(1, 15):
        coarse, fine = model.labels_for(count), model.labels_for(count + 1)
        assert len(np.unique(coarse)) == count
        assert len({*zip(fine.tolist(), coarse.tolist(), strict=True)}) == count + 1


@EVERY_DATA
@pytest.mark.parametrize("ties", ["total", "strict"])
def test_linkage_holds_every_cut(X, ties):
    model = QuickShift(bandwidth=1.0, ties=ties).fit(X)
    linkage = model.to_linkage()
    assert linkage.shape == (len(X) - 1, 4)
    assert is_valid_linkage(linkage, throw=True)
    lengths = np.unique(model.parent_distance_[np.isfinite(model.parent_distance_)])
    for tau in {0.0, *lengths[::3], *np.nextafter(lengths[::3], 0.0)}:
        flat = fcluster(linkage, tau, criterion="distance")
        assert same_grouping(flat, model.labels_at(tau))


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
    assert QuickShift().fit([[1.0, 2.0]]).to_linkage().shape == (0, 4)


def test_graph_has_a_node_a_sample_and_an_edge_a_move():
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
    nx.write_graphml(graph, io.BytesIO())  # refuses NumPy's numbers


# New points

PERIOD = np.array([5.0, np.inf])
SETTINGS = {
    "plain": ({}, None),
    "weighted": ({}, "random"),
    "with zero weights": ({}, "integers"),
    "periodic": ({"metric": "periodic", "period": PERIOD}, None),
    "periodic and weighted": ({"metric": "periodic", "period": PERIOD}, "integers"),
}
EVERY_SETTING = pytest.mark.parametrize(("settings", "weighting"), SETTINGS.values(), ids=SETTINGS)


def weights_for(X, weighting):
    rng = np.random.default_rng(7)
    if weighting is None:
        return None
    return rng.integers(0, 4, len(X)) if weighting == "integers" else rng.exponential(size=len(X))


@EVERY_KERNEL
@EVERY_SETTING
@pytest.mark.parametrize(
    "X", [DATA["blobs"], DATA["duplicates"], DATA["lattice"]], ids=list(DATA)[:3]
)
def test_samples_are_predicted_as_they_were_labelled(X, kernel, settings, weighting):
    model = QuickShift(bandwidth=0.7, tau=1.0, kernel=kernel, **settings)
    model.fit(X, sample_weight=weights_for(X, weighting))
    assert model.n_clusters_ > 1
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("settings", [{}, {"n_clusters": 5}, {"bandwidth": "cv"}], ids=str)
def test_samples_are_predicted_as_they_were_labelled_by_automatic_parameters(settings):
    X = blobs(0, 300)
    model = QuickShift(**settings).fit(X, sample_weight=np.arange(300) % 5)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def queries_for(X):
    """Draw points among the samples, halfway between them, on them and far away."""
    rng = np.random.default_rng(8)
    among = rng.uniform(X.min() - 2, X.max() + 2, size=(60, X.shape[1]))
    halfway = 0.5 * (rng.permutation(X)[:40] + rng.permutation(X)[:40])
    return np.concatenate([among, halfway, X[:10], rng.normal(size=(5, X.shape[1])) * 1e3])


@EVERY_KERNEL
@EVERY_SETTING
@pytest.mark.parametrize(
    "X", [DATA["blobs"], DATA["duplicates"], DATA["lattice"]], ids=list(DATA)[:3]
)
def test_prediction_is_that_of_the_reference(X, kernel, settings, weighting):
    queries, weights = queries_for(X), weights_for(X, weighting)
    model = QuickShift(bandwidth=0.75, tau=1.0, kernel=kernel, **settings)
    model.fit(X, sample_weight=weights)
    common = {"kernel": kernel, "sample_weight": weights, "period": settings.get("period")}
    expected = reference.predict(X, queries, 0.75, 1.0, **common)
    np.testing.assert_array_equal(model.predict(queries), expected)
    np.testing.assert_array_equal(
        model.labels_, reference.quick_shift(X, 0.75, 1.0, **common).labels
    )


def random_case(rng):
    """Draw data, parameters and queries of every kind, ties and extremes more often than not."""
    n, d = int(rng.integers(1, 150)), int(rng.integers(1, 5))
    X = [
        rng.normal(size=(n, d)),
        rng.normal(size=(n, d)).round(1),
        rng.integers(0, 6, size=(n, d)) * 0.1,
        rng.normal(size=(n, d)) * 10.0 ** rng.integers(-5, 6, size=(n, 1)),
    ][rng.integers(4)]
    X = X * 10.0 ** rng.integers(-3, 4) + rng.choice([0.0, 0.0, 1e5])
    weights = [None, rng.integers(0, 4, n) + np.eye(n)[0], 10.0 ** rng.uniform(-8, 8, n)][
        rng.integers(3)
    ]
    size = np.ptp(X) or 1.0
    period = np.where(rng.random(d) < 0.7, size * rng.uniform(0.5, 2.0, d), np.inf)
    period = period if rng.random() < 0.3 else None
    widest = np.inf if period is None else period.min() / 8
    bandwidth = float(min(size * 10.0 ** rng.uniform(-3, 0.5), widest))
    tau = float(size * 10.0 ** rng.uniform(-2.5, 0.5))
    settings = {
        "kernel": str(rng.choice(KERNELS)),
        "ties": str(rng.choice(["total", "strict"])),
        "rtol": float(rng.choice([0.0, 1e-9])),
    }
    among = rng.uniform(X.min() - size, X.max() + size, size=(20, d))
    halfway = 0.5 * (rng.choice(X, 20) + rng.choice(X, 20))
    queries = np.concatenate([among, halfway, rng.choice(X, 10)])
    return X, weights, period, (bandwidth, tau), settings, queries


@pytest.mark.parametrize("seed", range(60))
def test_random_cases_are_those_of_the_reference(seed):
    X, weights, period, (h, tau), settings, queries = random_case(np.random.default_rng(seed))
    metric = "euclidean" if period is None else "periodic"
    model = QuickShift(h, tau, metric=metric, period=period, **settings)
    model.fit(X, sample_weight=weights)
    common = {"sample_weight": weights, "period": period}
    expected = reference.quick_shift(X, h, tau, **common, **settings)
    np.testing.assert_array_equal(model.parent_, expected.parent)
    np.testing.assert_array_equal(model.parent_distance_, expected.parent_distance)
    np.testing.assert_array_equal(model.labels_, expected.labels)
    np.testing.assert_array_equal(model.mode_indices_, expected.roots)
    predicted = reference.predict(X, queries, h, tau, **common, **settings)
    np.testing.assert_array_equal(model.predict(queries), predicted)
    kernel = settings["kernel"]
    scores = reference.log_kernel_density(X, h, queries=queries, kernel=kernel, **common)
    np.testing.assert_allclose(model.score_samples(queries), scores, rtol=1e-9, atol=1.1e-9)


@pytest.mark.parametrize("X", [DATA["blobs"], DATA["lattice"]], ids=["blobs", "lattice"])
def test_prediction_with_strict_ties_is_that_of_the_reference(X):
    queries = queries_for(X)
    model = QuickShift(bandwidth=0.75, tau=1.0, kernel="uniform", ties="strict").fit(X)
    expected = reference.predict(X, queries, 0.75, 1.0, kernel="uniform", ties="strict")
    np.testing.assert_array_equal(model.predict(queries), expected)


def test_prediction_prefers_a_higher_sample_within_tau_to_a_nearer_one():
    X = np.append(np.linspace(0.0, 0.3, 20), 1.0)[:, None]
    queries = [[0.7], [5.0], [-5.0]]  # 0.7 is nearer to 1.0, which is lower
    model = QuickShift(bandwidth=0.3, tau=0.5).fit(X)
    np.testing.assert_array_equal(model.labels_, [0] * 20 + [1])
    np.testing.assert_array_equal(model.predict(queries), [0, 1, 0])
    shorter = QuickShift(bandwidth=0.3, tau=0.35).fit(X)
    np.testing.assert_array_equal(shorter.labels_, model.labels_)
    np.testing.assert_array_equal(shorter.predict(queries), [1, 1, 0])


def test_points_can_be_predicted_one_at_a_time():
    X = blobs()
    model = QuickShift(bandwidth=0.75, tau=1.0).fit(X)
    queries = queries_for(X)
    np.testing.assert_array_equal(
        np.concatenate([model.predict(q[None]) for q in queries]), model.predict(queries)
    )


@EVERY_KERNEL
@EVERY_SETTING
def test_scores_are_the_log_densities_of_the_reference(kernel, settings, weighting):
    X = with_duplicates()
    queries, weights = queries_for(X), weights_for(X, weighting)
    model = QuickShift(bandwidth=0.75, kernel=kernel, **settings).fit(X, sample_weight=weights)
    common = {"kernel": kernel, "sample_weight": weights, "period": settings.get("period")}
    expected = reference.log_kernel_density(X, 0.75, queries=queries, **common)
    np.testing.assert_allclose(model.score_samples(queries), expected, rtol=1e-12, atol=2e-9)
    np.testing.assert_allclose(model.score_samples(X), model.log_density_, rtol=0, atol=2e-9)


def test_score_is_minus_infinity_beyond_a_compact_support():
    model = QuickShift(bandwidth=1.0, kernel="triangular").fit([[0.0], [1.0]])
    np.testing.assert_array_equal(model.score_samples([[2.0], [50.0]]), [-np.inf, -np.inf])


def test_score_of_an_infinite_kernel_never_ends():
    model = QuickShift(bandwidth=1.0).fit([[0.0]])
    expected = -0.5 * 1e200 - 0.5 * np.log(2 * np.pi)
    np.testing.assert_allclose(model.score_samples([[1e100]]), [expected], rtol=1e-12)


@pytest.mark.parametrize("kernel", ["gaussian", "exponential"])
def test_densities_keep_the_tolerance(kernel):
    X = np.concatenate([blobs(0, 1500), [[40.0, 40.0]]])
    exact = reference.kernel_density(X, 0.5, kernel=kernel)
    for rtol in (0.0, 1e-12, 1e-9, 1e-3):
        density = QuickShift(bandwidth=0.5, kernel=kernel, rtol=rtol).fit(X).density_
        np.testing.assert_allclose(density, exact, rtol=max(rtol, 1e-13))


# Weights


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov", "uniform"])
@pytest.mark.parametrize("make", [blobs, lattice], ids=["blobs", "lattice"])
def test_integer_weights_are_repetitions(rule, kernel, make):
    X = make(1)
    weights = np.random.default_rng(2).integers(1, 5, len(X))
    rows = np.repeat(np.arange(len(X)), weights)
    weighted = QuickShift(bandwidth=rule, kernel=kernel).fit(X, sample_weight=weights)
    repeated = QuickShift(bandwidth=rule, kernel=kernel).fit(X[rows])
    assert weighted.bandwidth_ == pytest.approx(repeated.bandwidth_, rel=1e-13)
    assert weighted.tau_ == pytest.approx(repeated.tau_, rel=1e-13)
    np.testing.assert_array_equal(weighted.labels_[rows], repeated.labels_)
    np.testing.assert_allclose(weighted.density_[rows], repeated.density_, rtol=1e-12)
    np.testing.assert_array_equal(weighted.modes_, repeated.modes_)


def test_integer_weights_are_repetitions_in_periodic_features():
    X = np.random.default_rng(3).uniform(0, 24, size=(50, 1))
    weights = np.random.default_rng(4).integers(1, 5, 50)
    rows = np.repeat(np.arange(50), weights)
    weighted = QuickShift(metric="periodic", period=[24.0]).fit(X, sample_weight=weights)
    repeated = QuickShift(metric="periodic", period=[24.0]).fit(X[rows])
    assert weighted.bandwidth_ == pytest.approx(repeated.bandwidth_, rel=1e-13)
    np.testing.assert_array_equal(weighted.labels_[rows], repeated.labels_)


@EVERY_KERNEL
def test_weights_of_one_are_no_weights(kernel):
    X = with_duplicates()
    assert_same_fit(
        QuickShift(kernel=kernel).fit(X),
        QuickShift(kernel=kernel).fit(X, sample_weight=np.ones(len(X))),
    )


@EVERY_KERNEL
def test_common_factor_of_the_weights_does_not_matter_to_given_parameters(kernel):
    X, weights = blobs(), np.random.default_rng(5).exponential(size=60)
    model = QuickShift(bandwidth=0.7, tau=1.0, kernel=kernel).fit(X, sample_weight=weights)
    for factor in (0.25, 1024.0, 2.0**-300, 2.0**300):
        scaled = QuickShift(bandwidth=0.7, tau=1.0, kernel=kernel)
        scaled.fit(X, sample_weight=weights * factor)
        np.testing.assert_array_equal(scaled.labels_, model.labels_)
        np.testing.assert_array_equal(scaled.parent_, model.parent_)
        np.testing.assert_allclose(scaled.density_, model.density_, rtol=1e-9)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
@pytest.mark.parametrize("make", [blobs, lattice], ids=["blobs", "lattice"])
def test_weight_zero_is_removal(rule, kernel, make):
    X = make(6)
    weights = np.random.default_rng(6).integers(0, 3, len(X))
    kept, gone = np.flatnonzero(weights), np.flatnonzero(weights == 0)
    model = QuickShift(bandwidth=rule, kernel=kernel).fit(X, sample_weight=weights)
    smaller = QuickShift(bandwidth=rule, kernel=kernel).fit(X[kept], sample_weight=weights[kept])
    for name in ("bandwidth_", "tau_", "n_clusters_", "modes_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(smaller, name))
    for name in ("labels_", "density_", "log_density_", "parent_distance_"):
        np.testing.assert_array_equal(getattr(model, name)[kept], getattr(smaller, name))
    np.testing.assert_array_equal(model.parent_[kept], kept[smaller.parent_])
    np.testing.assert_array_equal(model.mode_indices_, kept[smaller.mode_indices_])
    np.testing.assert_array_equal(model.labels_[gone], smaller.predict(X[gone]))
    np.testing.assert_array_equal(model.parent_[gone], gone)
    assert np.isnan(model.parent_distance_[gone]).all()
    np.testing.assert_allclose(model.log_density_[gone], smaller.score_samples(X[gone]), rtol=1e-12)
    np.testing.assert_allclose(model.density_[gone], np.exp(model.log_density_[gone]), rtol=1e-12)
    np.testing.assert_array_equal(model.labels_at(1.0)[kept], smaller.labels_at(1.0))
    np.testing.assert_array_equal(model.labels_for(3)[kept], smaller.labels_for(3))


@pytest.mark.parametrize("far", [1e6, 1e100, 1e300])
def test_weight_zero_is_removal_however_far_the_row(far):
    X = blobs()
    model = QuickShift(bandwidth=0.5, tau=1.0)
    model.fit(np.concatenate([X, [[far, -far]]]), sample_weight=[1.0] * 60 + [0.0])
    smaller = QuickShift(bandwidth=0.5, tau=1.0).fit(X)
    np.testing.assert_array_equal(model.labels_[:60], smaller.labels_)
    np.testing.assert_array_equal(model.density_[:60], smaller.density_)
    np.testing.assert_array_equal(model.modes_, smaller.modes_)
    assert model.labels_[60] == smaller.predict([[far, -far]])[0]


def test_duplicate_of_weight_zero_takes_the_label_of_its_copy():
    X = [[0.0], [0.0], [9.0], [9.0]]
    model = QuickShift(bandwidth=1.0, tau=2.0).fit(X, sample_weight=[0, 2, 1, 0])
    np.testing.assert_array_equal(model.labels_, [0, 0, 1, 1])
    np.testing.assert_array_equal(model.mode_indices_, [1, 2])


# Periodic features


def test_clusters_cross_the_seam():
    hours = np.array([[22.5], [23.0], [23.5], [0.25], [0.5], [11.0], [11.5], [12.0]])
    model = QuickShift(bandwidth=1.0, tau=2.0, metric="periodic", period=[24.0]).fit(hours)
    np.testing.assert_array_equal(model.labels_, [0, 0, 0, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(
        model.predict([[23.99], [0.0], [24.0], [-1.0], [35.0]]), [0, 0, 0, 0, 1]
    )
    assert QuickShift(bandwidth=1.0, tau=2.0).fit(hours).n_clusters_ == 3


def test_whole_periods_make_no_difference():
    X = np.random.default_rng(9).integers(0, 64, size=(80, 2)) / 4.0
    settings = {"bandwidth": 1.0, "tau": 1.5, "metric": "periodic", "period": [16.0, np.inf]}
    model = QuickShift(**settings).fit(X)
    turns = np.column_stack([16.0 * np.random.default_rng(10).integers(-3, 4, 80), np.zeros(80)])
    turned = QuickShift(**settings).fit(X + turns)
    assert_same_fit(model, turned)
    np.testing.assert_array_equal(model.predict(X + turns), model.labels_)
    np.testing.assert_array_equal(turned.modes_ % [16.0, np.inf], X[turned.mode_indices_])


def test_rotation_of_the_circle_makes_no_difference_to_the_groups():
    X = np.random.default_rng(11).vonmises([0.0, 2.5], 4.0, size=(60, 2)).reshape(-1, 1)
    settings = {"bandwidth": 0.3, "tau": 0.6, "metric": "periodic", "period": [2 * np.pi]}
    labels = [QuickShift(**settings).fit_predict(X + turn) for turn in (0.0, 1.0, 2.0, 4.0)]
    assert max(labels[0]) > 0
    assert all(same_grouping(labels[0], other) for other in labels)


def test_open_periods_are_euclidean():
    X = blobs()
    assert_same_fit(
        QuickShift().fit(X), QuickShift(metric="periodic", period=[np.inf, np.inf]).fit(X)
    )


def test_long_period_is_euclidean():
    X = blobs() + 50.0
    periodic = QuickShift(1.0, 2.0, metric="periodic", period=[1024.0, np.inf]).fit(X)
    plain = QuickShift(1.0, 2.0).fit(X)
    np.testing.assert_array_equal(periodic.labels_, plain.labels_)
    np.testing.assert_allclose(periodic.density_, plain.density_, rtol=2e-9)


def test_automatic_bandwidth_fits_into_the_period():
    X = np.random.default_rng(12).uniform(0, 1, size=(5, 2)) * [1.0, 1e4]
    for kernel in KERNELS:
        model = QuickShift(kernel=kernel, metric="periodic", period=[1.0, np.inf]).fit(X)
        assert model.bandwidth_ <= 0.5


# Ties


def test_one_rounded_gaussian_has_one_root_or_with_strict_ties_several():
    X = np.random.default_rng(13).normal(size=(300, 1)).round(1)
    settings = {"bandwidth": 0.4, "tau": 1.0}
    assert QuickShift(**settings).fit(X).n_clusters_ == 1
    strict = QuickShift(**settings, ties="strict").fit(X)
    assert strict.n_clusters_ == np.count_nonzero(strict.modes_[0] == X) > 1
    assert (strict.modes_ == strict.modes_[0]).all()


def test_duplicates_hang_on_the_first_of_them():
    model = QuickShift(bandwidth=1.0, tau=0.0).fit([[3.0], [5.0], [3.0], [5.0], [3.0]])
    np.testing.assert_array_equal(model.parent_, [0, 0, 0, 1, 0])
    np.testing.assert_array_equal(model.parent_distance_, [np.inf, 2.0, 0.0, 0.0, 0.0])
    np.testing.assert_array_equal(model.labels_, [0, 1, 0, 1, 0])


def test_between_equal_densities_the_larger_coordinates_are_higher():
    X = [[0.0, 1.0], [0.0, 2.0], [-1.0, 9.0]]
    model = QuickShift(bandwidth=0.5, tau=0.0, kernel="uniform").fit(X)
    np.testing.assert_array_equal(model.labels_, [1, 0, 2])


def test_plateau_on_a_line_is_one_cluster():
    X = np.arange(50.0)[:, None]
    settings = {"bandwidth": 100.0, "tau": 1.0, "kernel": "uniform"}
    assert QuickShift(**settings).fit(X).n_clusters_ == 1
    assert QuickShift(**settings, ties="strict").fit(X).n_clusters_ == 50


# Copies


@pytest.mark.parametrize(
    "settings", [{}, {"metric": "periodic", "period": [50.0, np.inf]}], ids=str
)
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickled_estimator_is_the_same(settings, protocol):
    X = blobs()
    model = QuickShift(bandwidth=0.5, **settings).fit(X, sample_weight=np.arange(60) % 4)
    restored = pickle.loads(pickle.dumps(model, protocol))
    assert_works_alike(restored, model)


def test_deep_copy_is_the_same_and_separate():
    X = blobs()
    model = QuickShift(bandwidth=0.5).fit(X)
    copied = copy.deepcopy(model)
    assert_works_alike(copied, model)
    copied.fit(X[:10])
    assert model.labels_.size == 60
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_joblib_file_is_the_same(tmp_path):
    model = QuickShift(bandwidth=0.5).fit(blobs())
    joblib.dump(model, tmp_path / "model.joblib")
    assert_works_alike(joblib.load(tmp_path / "model.joblib"), model)
    assert_works_alike(joblib.load(tmp_path / "model.joblib", mmap_mode="r"), model)


def assert_works_alike(copied, model):
    queries = queries_for(blobs())
    assert_same_fit(copied, model)
    np.testing.assert_array_equal(copied.predict(queries), model.predict(queries))
    np.testing.assert_array_equal(copied.score_samples(queries), model.score_samples(queries))
    np.testing.assert_array_equal(copied.labels_at(0.3), model.labels_at(0.3))
    np.testing.assert_array_equal(copied.labels_for(4), model.labels_for(4))
    np.testing.assert_array_equal(copied.to_linkage(), model.to_linkage())
    assert nx.utils.graphs_equal(copied.to_networkx(), model.to_networkx())


def test_fits_in_several_threads_do_not_disturb_each_other():
    data = [blobs(seed, 400) for seed in range(8)]
    alone = [QuickShift(n_jobs=1).fit(X) for X in data]
    together = joblib.Parallel(n_jobs=4, backend="threading")(
        joblib.delayed(QuickShift(n_jobs=2).fit)(X) for X in data
    )
    for a, b in zip(alone, together, strict=True):
        assert_same_fit(a, b)


# Every kind of input


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


INPUTS = {
    "list of lists": lambda X: X.tolist(),
    "tuple of arrays": tuple,
    "read-only": read_only,
    "Fortran order": np.asfortranarray,
    "every other row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "backwards": lambda X: X[::-1].copy()[::-1],
    "other byte order": lambda X: X.astype(X.dtype.newbyteorder()),
    "unaligned": lambda X: np.frombuffer(b"." + X.tobytes(), offset=1).reshape(X.shape),
    "objects": lambda X: X.astype(object),
    "masked without masks": np.ma.masked_array,
    "long double": lambda X: X.astype(np.longdouble),
}


@pytest.mark.parametrize("convert", INPUTS.values(), ids=INPUTS)
def test_layout_and_container_of_the_input_do_not_matter(convert):
    X = blobs()
    model = QuickShift(0.5, 1.0).fit(convert(X))
    assert_same_fit(model, QuickShift(0.5, 1.0).fit(X))
    np.testing.assert_array_equal(model.predict(convert(X)), model.labels_)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_memory_mapped_files_are_read(tmp_path, dtype):
    X = blobs().astype(dtype)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    model = QuickShift(0.5, 1.0).fit(mapped)
    assert_same_fit(model, QuickShift(0.5, 1.0).fit(X))
    np.testing.assert_array_equal(model.predict(mapped), model.labels_)


@pytest.mark.parametrize(
    "dtype", [np.float16, np.float32, np.int8, np.uint16, np.int32, np.int64, np.uint64, bool]
)
def test_numbers_of_every_type_are_their_values(dtype):
    X = np.random.default_rng(14).integers(0, 20, size=(60, 2)).astype(dtype)
    model = QuickShift(2.0, 3.0).fit(X)
    assert_same_fit(model, QuickShift(2.0, 3.0).fit(X.astype(float)))
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_caller_keeps_the_arrays_as_they_were(dtype):
    X = (blobs() * [1.0, -1.0]).astype(dtype)
    X[0] = -0.0
    weights, period = np.arange(60.0), np.array([3.0, np.inf])
    before = [X.tobytes(), weights.tobytes(), period.tobytes()]
    model = QuickShift(0.5, metric="periodic", period=period).fit(X, sample_weight=weights)
    model.predict(X)
    model.score_samples(X)
    model.labels_[:], model.density_[:], model.parent_[:], model.modes_[:] = 7, 7, 7, 7
    assert [X.tobytes(), weights.tobytes(), period.tobytes()] == before


def test_caller_may_reuse_the_arrays_after_the_fit():
    X, weights, period = blobs(), np.arange(60.0) % 5, np.array([30.0, np.inf])
    settings = {"bandwidth": 0.5, "metric": "periodic"}
    expected = QuickShift(**settings, period=period.copy()).fit(X.copy(), sample_weight=weights)
    model = QuickShift(**settings, period=period).fit(X, sample_weight=weights)
    queries = X.copy()
    X[:], weights[:], period[:] = 0.0, 1.0, 1.0
    assert_same_fit(model, expected)
    np.testing.assert_array_equal(model.predict(queries), expected.predict(queries))
    np.testing.assert_array_equal(model.labels_at(0.3), expected.labels_at(0.3))


@pytest.mark.parametrize(
    "convert", [list, np.float32, np.asfortranarray, np.ma.masked_array], ids=str
)
def test_weights_are_taken_in_any_form(convert):
    X, weights = blobs(), np.arange(60.0)
    assert_same_fit(
        QuickShift().fit(X, sample_weight=convert(weights)),
        QuickShift().fit(X, sample_weight=weights),
    )
