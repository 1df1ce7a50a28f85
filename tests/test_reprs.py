"""How results look and compare: short reprs, an equality of values, lengths, readable help."""

import copy
import inspect
import pickle
import pydoc
import typing
from collections.abc import Hashable
from dataclasses import fields, replace

import numpy as np
import pytest
from sklearn.base import clone

import quickshift as qs
from quickshift import datasets, stages
from quickshift.bandwidth import RULES
from quickshift.bundles import Bundle, counted, span
from quickshift.estimators.base import KernelName
from quickshift.kernels import KERNELS, get_kernel
from quickshift.stages.regression.rules import JOINT_RULES

N = 300


def make_clusterings():
    """Return one result of every stage of clustering, by the name of its class."""
    X, _ = datasets.blobs(N, 2, centers=4, seed=1)
    samples = stages.prepare(X)
    estimate = stages.fit_estimate(samples, 0.9)
    graph = stages.climb(samples, estimate.sums())
    local = stages.find_local_clusters(samples)
    return {
        "Samples": samples,
        "Estimate": estimate,
        "LocalScale": local.scale,
        "ParentGraph": graph,
        "Forest": stages.cut(graph, 1.5),
        "ClusterTree": local.clusters.tree,
        "Clusters": stages.find_clusters(estimate, graph),
        "LocalClusters": local,
    }


def make_regressions():
    """Return one result of every stage of modal regression, by the name of its class."""
    x, y = datasets.two_branches().sample(N, seed=0)
    model = qs.ModalRegressor().fit(x, y)
    data = {"period": None, "kernel": "gaussian", "rtol": 1e-9, "n_jobs": None}
    return {
        "Joint": stages.prepare_joint(x, y, (0.1, 0.2)),
        "RegressionData": stages.RegressionData(x, y, np.ones(N), **data),
        "ConditionalModes": model.predict_modes(x[:9]),
        "PredictionSet": model.predict_set(x[:9]),
        "Branch": qs.trace_branches(model, np.linspace(0, 1, 30))[0],
    }


def make_data_sets():
    """Return one object of every class in `quickshift.datasets`, by the name of its class."""
    many = np.arange(500.0)
    return {
        "GaussianMixture": datasets.GaussianMixture(np.arange(60.0).reshape(20, 3)),
        "ShapeMixture": datasets.ShapeMixture(
            [datasets.Dome((i, 0), radius=0.4) for i in range(50)]
            + [datasets.Box((-9, -9), (60, 9))]
        ),
        "ConditionalMixture": datasets.two_branches(),
        "Ball": datasets.Ball(many),
        "Dome": datasets.Dome(many, radius=2.0),
        "Box": datasets.Box(many, many + 1),
    }


def make_all():
    image = np.random.default_rng(0).random((9, 12, 3))
    forest = {"SegmentForest": qs.segment_forest(image)}
    return make_clusterings() | make_regressions() | forest | make_data_sets()


@pytest.fixture(scope="module")
def made():
    """One object of every class, and the same made a second time."""
    return make_all(), make_all()


NAMES = [
    *("Samples", "Estimate", "LocalScale", "ParentGraph", "Forest", "ClusterTree", "Clusters"),
    *("LocalClusters", "Joint", "RegressionData", "ConditionalModes", "PredictionSet", "Branch"),
    "SegmentForest",
    *("GaussianMixture", "ShapeMixture", "ConditionalMixture", "Ball", "Dome", "Box"),
]
DATA_SETS = NAMES[-6:]
each_class = pytest.mark.parametrize("name", NAMES)


def test_every_class_is_tested(made):
    assert set(made[0]) == set(NAMES)
    assert all(type(bundle).__name__ == name for name, bundle in made[0].items())
    ours = {cls.__name__ for cls in all_subclasses(Bundle)} - {"Ragged"}
    assert ours <= set(NAMES)


def all_subclasses(cls):
    return {sub for child in cls.__subclasses__() for sub in (child, *all_subclasses(child))}


# Reprs


@each_class
def test_reprs_are_short(made, name):
    text = repr(made[0][name])
    assert text.startswith(f"{name}(")
    assert text.endswith(")")
    assert "\n" not in text
    assert len(text) <= 150
    assert "array(" not in text


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("Samples", ["300 rows", "2 features", "300 distinct", "total weight 300"]),
        ("Estimate", ["300 samples", "2 features", "gaussian kernel", "bandwidth 0.9"]),
        ("LocalScale", ["300 samples", "2 features", "11 neighbors", "r 0.", "tau 0."]),
        ("ParentGraph", ["300 samples", "1 without a parent", "distances 0.", "ties 'total'"]),
        ("Forest", ["300 samples", " trees", "tau 1.5"]),
        ("ClusterTree", ["300 samples", " leaves born at ", " merges at ", "tau 0."]),
        ("Clusters", ["300 samples", "4 clusters from ", " modes", "tau ", "min_significance "]),
        ("LocalClusters", ["300 samples", "4 clusters from ", "11 neighbors"]),
        ("Joint", ["300 samples", "1 feature", "1 output", "bandwidths 0.1 and 0.2"]),
        ("RegressionData", ["300 samples", "1 feature", "1 output", "gaussian kernel"]),
        ("ConditionalModes", ["9 queries", " modes", " per query", "values -1."]),
        ("PredictionSet", ["9 queries", " intervals", " per query", "mean length "]),
        ("Branch", [" points", "x 0 to ", "y -0.", "positions 0 to "]),
        ("SegmentForest", ["shape (9, 12)", "1 without a parent", "max_tau inf"]),
        ("GaussianMixture", ["20 components", "3 features", "weights 0.05"]),
        ("ShapeMixture", ["50 Dome and 1 Box", "2 features", "weights 0.01961"]),
        ("ConditionalMixture", ["two_branches(noise=0.2)", "x uniform from 0 to 1"]),
        ("Ball", ["center=(0.0, 1.0, 2.0, 3.0, 4.0, 5.0, ...)", "radius=1.0"]),
        ("Dome", ["center=(0.0, 1.0, 2.0, 3.0, 4.0, 5.0, ...)", "radius=2.0"]),
        ("Box", ["low=(0.0, 1.0,", "high=(1.0, 2.0,", "...)"]),
    ],
)
def test_reprs_are_informative(made, name, facts):
    for fact in facts:
        assert fact in repr(made[0][name])


def test_repr_of_a_cluster_tree_is_exactly_its_facts():
    X, density = [[0.0], [1.0], [2.0], [3.0]], [3.0, 1.0, 2.0, 1.0]
    tree = stages.link(X, density, stages.cut(stages.climb(X, density), 1.5), 1.5)
    assert repr(tree) == ("ClusterTree(4 samples, 2 leaves born at 2 to 3, 1 merge at 1, tau 1.5)")
    one = tree.prune(prominence=1.5)
    assert repr(one) == "ClusterTree(4 samples, 1 leaf born at 3, 0 merges, tau 1.5)"


def test_repr_of_periodic_samples_counts_the_periodic_features():
    samples = stages.prepare(np.eye(3), period=[2.0, np.inf, 5.0], sample_weight=[1, 0, 2.5])
    assert repr(samples) == "Samples(3 rows, 3 features, 2 periodic, 2 distinct, total weight 3.5)"


def test_reprs_of_several_outputs_say_so():
    x = np.linspace(0, 1, 60)[:, None]
    model = qs.ModalRegressor(bandwidth=0.2).fit(x, np.hstack([x, -x]))
    assert "5 queries" in repr(model.predict_modes(x[:5]))
    assert "2 outputs" in repr(model.predict_modes(x[:5]))
    assert "5 boxes" in repr(model.predict_set(x[:5]))


def test_results_without_elements_have_a_repr():
    none = np.empty(0)
    start = np.zeros(1, dtype=np.int64)
    modes = stages.ConditionalModes(start, none, none, none, none, none, none)
    assert repr(modes) == "ConditionalModes(0 queries, 0 modes, none per query, values none)"
    found = stages.PredictionSet(start, none, none)
    assert repr(found) == "PredictionSet(0 queries, 0 intervals, none per query)"
    everywhere = replace(found, offsets=np.array([0, 1]), lower=-np.ones(1), upper=[np.inf])
    assert "mean length inf" in repr(replace(everywhere, upper=np.array([np.inf])))


def test_a_single_sample_has_a_repr():
    found = stages.find_local_clusters(stages.prepare([[1.0]]))
    for result in (found, found.scale, found.graph, found.clusters, found.clusters.tree):
        assert "1 sample," in repr(result)


def test_a_function_without_a_name_has_a_repr():
    assert repr(datasets.ConditionalMixture(lambda x: (x, x, x))).startswith(
        "ConditionalMixture(<lambda>, x uniform"
    )


def test_a_count_has_its_noun_and_a_span_ignores_nan():
    assert counted(1, "leaf", "leaves") == "1 leaf"
    assert counted(3, "leaf", "leaves") == "3 leaves"
    assert span([np.nan, 2.0, 1.0]) == "1 to 2"
    assert span([np.nan]) == "none"
    assert span([-np.inf, np.inf]) == "-inf to inf"


# Equality


@each_class
def test_results_of_the_same_computation_are_equal(made, name):
    first, again = made[0][name], made[1][name]
    assert first is not again
    assert (first == again) is True
    assert (first != again) is False


@each_class
def test_copies_are_equal(made, name):
    bundle = made[0][name]
    assert copy.deepcopy(bundle) == bundle
    assert pickle.loads(pickle.dumps(bundle)) == bundle


@each_class
def test_objects_of_other_types_are_different(made, name):
    bundle = made[0][name]
    others = [None, 1, "tree", [bundle], object()]
    others += [other for key, other in made[0].items() if key != name]
    for other in others:
        assert (bundle == other) is False
        assert (bundle != other) is True


@pytest.mark.parametrize("name", [name for name in NAMES if name not in {*DATA_SETS, "Samples"}])
def test_results_that_differ_in_one_field_are_different(made, name):
    bundle = made[0][name]
    arrays = [field.name for field in fields(bundle) if is_array(getattr(bundle, field.name))]
    for field in arrays:
        changed = getattr(bundle, field).copy()
        changed.flat[0] = 12345
        assert bundle != replace(bundle, **{field: changed}), field
        assert bundle != replace(bundle, **{field: changed[:-1]}), field
    scalars = [f.name for f in fields(bundle) if isinstance(getattr(bundle, f.name), float | int)]
    for field in scalars:
        assert bundle != replace(bundle, **{field: -5}), field
    assert arrays or scalars or name in {"LocalClusters", "Clusters"}


def is_array(value):
    return isinstance(value, np.ndarray) and value.size > 0


def test_nan_equals_nan(made):
    graph = made[0]["ParentGraph"]
    distance = graph.distance.copy()
    distance[3] = np.nan
    absent = replace(graph, distance=distance)
    assert absent == replace(graph, distance=distance.copy())
    assert absent != graph
    forest = made[0]["Forest"]
    assert replace(forest, tau=float("nan")) == replace(forest, tau=float("nan"))
    assert replace(forest, tau=float("nan")) != forest
    assert forest != replace(forest, tau=float("nan"))


def test_one_tau_differs_from_one_per_sample(made):
    forest = made[0]["Forest"]
    assert replace(forest, tau=np.full(N, 1.5)) != forest
    assert forest != replace(forest, tau=np.full(N, 1.5))
    assert replace(forest, tau=np.full(N, 1.5)) == replace(forest, tau=np.full(N, 1.5))


def test_samples_are_equal_if_rows_weights_and_periods_are():
    X = np.random.default_rng(0).normal(size=(40, 2))
    samples = stages.prepare(X)
    assert samples == stages.prepare(X.copy(), n_jobs=1)
    assert samples == stages.prepare(X, sample_weight=np.ones(40))
    assert samples != stages.prepare(X[::-1])
    assert samples != stages.prepare(X[:-1])
    assert samples != stages.prepare(X + 1)
    assert samples != stages.prepare(X, sample_weight=np.arange(1, 41))
    assert samples != stages.prepare(X, period=[10.0, np.inf])


def test_data_sets_are_equal_if_their_distributions_are():
    assert datasets.two_branches(0.3) == datasets.two_branches(0.3)
    assert datasets.two_branches(0.3) != datasets.two_branches(0.2)
    assert datasets.two_branches() != datasets.circle()
    mixture = datasets.GaussianMixture([[0, 0], [5, 5]])
    assert mixture == datasets.GaussianMixture([[-0.0, 0], [5, 5]], weights=[2, 2])
    assert mixture != datasets.GaussianMixture([[0, 0], [5, 5]], weights=[1, 2])
    assert mixture != datasets.GaussianMixture([[0, 0], [5, 5]], covariances=2.0)
    shapes = [datasets.Ball((0.0,)), datasets.Ball((5.0,))]
    assert datasets.ShapeMixture(shapes) == datasets.ShapeMixture(shapes)
    assert datasets.ShapeMixture(shapes) != datasets.ShapeMixture(shapes[::-1])
    assert datasets.Ball((0.0,)) != datasets.Dome((0.0,))


# Hashes


@pytest.mark.parametrize("name", [name for name in NAMES if name not in DATA_SETS])
def test_results_have_no_hash_because_their_arrays_can_change(made, name):
    assert not isinstance(made[0][name], Hashable)
    with pytest.raises(TypeError, match=f"unhashable type: '{name}'"):
        hash(made[0][name])


@pytest.mark.parametrize("name", DATA_SETS)
def test_equal_data_sets_have_equal_hashes(made, name):
    first, again = made[0][name], made[1][name]
    assert len({first, again}) == 1


def test_zeros_of_either_sign_have_the_same_hash():
    zeros = [datasets.GaussianMixture([[zero]]) for zero in (0.0, -0.0)]
    assert len(set(zeros)) == 1


# Lengths


def test_lengths_count_what_a_result_consists_of(made):
    made = made[0]
    assert len(made["Samples"]) == N
    assert len(made["ParentGraph"]) == N
    assert len(made["RegressionData"]) == N
    assert len(made["Forest"]) == made["Forest"].roots.size
    assert len(made["ClusterTree"]) == made["ClusterTree"].leaf_indices.size
    assert len(made["Clusters"]) == len(made["LocalClusters"]) == 4
    assert len(made["ConditionalModes"]) == len(made["PredictionSet"]) == 9
    assert len(made["Branch"]) == made["Branch"].x.size
    assert len(made["GaussianMixture"]) == 20
    assert len(made["ShapeMixture"]) == 51


def test_labels_for_works_without_a_tree_from_the_fit():
    X, _ = datasets.blobs(N, 2, centers=4, seed=1)
    model = qs.QuickShift(tau=1.5).fit(X)
    default = qs.QuickShift().fit(X)
    assert np.unique(default.labels_for(3)).size == 3
    assert np.unique(model.labels_for(3)).size == 3


# Help


@pytest.mark.parametrize("thing", [qs.QuickShift, qs.ModalRegressor])
def test_help_shows_types_in_short(thing):
    text = pydoc.plain(pydoc.render_doc(thing))
    assert "numpy._typing" not in text
    assert "ArrayLike" in text
    assert max(len(line) for line in text.splitlines()) < 800
    assert "Literal['auto']" in text


def choices(estimator, parameter):
    """Return the strings that a parameter of the constructor is annotated with."""
    hint = typing.get_type_hints(estimator.__init__)[parameter]
    found = [hint, *typing.get_args(hint)]
    literals = [part for part in found if typing.get_origin(part) is typing.Literal]
    return {choice for literal in literals for choice in typing.get_args(literal)}


@pytest.mark.parametrize(
    ("estimator", "parameter", "expected"),
    [
        (qs.QuickShift, "bandwidth", {"local", *RULES}),
        (qs.QuickShift, "tau", {"auto"}),
        (qs.QuickShift, "n_neighbors", {"auto"}),
        (qs.QuickShift, "min_significance", {"auto"}),
        (qs.QuickShift, "metric", {"euclidean", "periodic", "haversine", "cosine"}),
        (qs.QuickShift, "scale", {"std", "iqr"}),
        (qs.QuickShift, "ties", {"total", "strict"}),
        (qs.ModalRegressor, "bandwidth", set(JOINT_RULES)),
        (qs.ModalRegressor, "tau", {"auto"}),
    ],
)
def test_annotations_name_the_choices_of_a_parameter(estimator, parameter, expected):
    assert choices(estimator, parameter) == expected


@pytest.mark.parametrize("estimator", [qs.QuickShift, qs.ModalRegressor])
def test_annotations_name_every_kernel(estimator):
    assert typing.get_type_hints(estimator.__init__)["kernel"] == KernelName
    assert {get_kernel(name).name for name in typing.get_args(KernelName)} == set(KERNELS)
    assert {"tophat", "linear"} <= set(typing.get_args(KernelName))


def test_fit_predict_is_typed_and_takes_weights():
    signature = inspect.signature(qs.QuickShift.fit_predict)
    assert list(signature.parameters) == ["self", "X", "y", "sample_weight"]
    assert signature.return_annotation == "Indices"
    X = np.array([[0.0], [0.2], [0.3], [5.0], [5.1]])
    model = qs.QuickShift(bandwidth=0.5, tau=2.0)
    weights = np.array([1, 1, 1, 5, 5])
    labels = model.fit_predict(X, sample_weight=weights)
    assert labels is model.labels_
    np.testing.assert_array_equal(labels, [1, 1, 1, 0, 0])
    np.testing.assert_array_equal(clone(model).fit_predict(X), [0, 0, 0, 1, 1])
