"""One valid call of every public function and method, for tests that spoil its arguments.

`calls` maps names of tests/public_names.txt to a callable and the arguments of a call that works.
"""

from functools import cache
from types import SimpleNamespace

import numpy as np

import quickshift as qs
from quickshift import compat, datasets, image, kernels, plot, stages
from quickshift import distributed as large
from quickshift.bandwidth import rule_bandwidth

X = datasets.blobs(24, centers=2, seed=1)[0]
Y = X[:, 0] + X[:, 1] ** 2
PICTURE = np.random.default_rng(0).random((6, 7, 3))
LABELS = np.arange(42).reshape(6, 7) % 3


@cache
def made():
    """Return results of stages and fitted estimators, which methods and other stages take."""
    samples = stages.prepare(X)
    estimate = stages.fit_estimate(samples, 1.0)
    density = estimate.density(estimate.sums())
    graph = stages.climb(samples, density)
    forest = stages.cut(graph, 2.0)
    tree = stages.link(samples, density, forest, 2.0)
    scale = stages.local_scale(X, 4)
    local_graph = stages.climb(scale.samples, scale.heights)
    local_forest = stages.cut(local_graph, scale.tau)
    joint = stages.prepare_joint(X, Y, 1.0)
    modes = stages.conditional_modes(joint, X[:5], 1.0)
    grid = np.linspace(-5, 5, 5)
    column = stages.prepare_joint(X[:, :1], Y, 1.0)
    root = int(forest.roots[0])
    return SimpleNamespace(
        samples=samples,
        estimate=estimate,
        density=density,
        graph=graph,
        forest=forest,
        tree=tree,
        root=root,
        assessed=stages.assess(tree, estimate, graph),
        scale=scale,
        local_graph=local_graph,
        local_tree=stages.link(scale.samples, scale.levels, local_forest, scale.tau),
        joint=joint,
        data=stages.RegressionData(X, Y, np.ones(len(X)), None, "gaussian", 1e-9, 1),
        modes=modes,
        set=stages.set_around(modes, 1.0),
        clusters=qs.QuickShift().fit(X),
        kde=qs.QuickShift(bandwidth=1.0, tau=2.0).fit(X),
        line=qs.QuickShift(bandwidth=1.0).fit(X[:, :1]),
        regressor=qs.ModalRegressor(bandwidth=1.0, tau=2.0).fit(X, Y).calibrate(X, Y),
        curve=qs.ModalRegressor(bandwidth=1.0, tau=2.0).fit(X[:, :1], Y),
        segments=image.segment_forest(PICTURE),
        mixture=datasets.GaussianMixture([[0.0, 0.0], [5.0, 5.0]]),
        shapes=datasets.ShapeMixture([datasets.Ball([0.0, 0.0]), datasets.Box([3, 3], [4, 4])]),
        conditional=datasets.two_branches(),
        grid=grid,
        grid_modes=stages.conditional_modes(column, grid[:, None], 1.0),
        steps=stages.mode_steps(graph, root, 2.0)[0],
        mode=stages.diagnose_modes(graph, tree, [root], 2.0)[0],
    )


def calls(folder):
    """Return a callable and the arguments of a valid call for each public name."""
    m = made()
    path = folder / "entry.npz"
    m.tree.save(path)
    np.save(folder / "X.npy", X)
    rows = [0, 3]
    picture = {"image": PICTURE, "bandwidth": 2.0, "ratio": 0.5, "sigma": 0.5, "spacing": None}
    picture |= {"channel_axis": -1, "convert2lab": True, "window": 3.0, "mask": None, "n_jobs": 1}
    cut = {"tau": 5.0, "start_label": 0}
    table = {
        **_trees(m, path, rows),
        **_clusters(m, folder),
        **_regression(m),
        **_pictures(m, picture, cut),
        **_data_sets(m),
        **_plots(m),
        **_stages(m, rows),
    }
    return {f"quickshift.{name}": call for name, call in table.items()}


def _trees(m, path, rows):
    tree = m.assessed
    conditions = {"significance": 1.0, "prominence": 0.1, "prominence_ratio": 1.1, "min_size": 2.0}
    return {
        "ClusterTree.components_at": (tree.components_at, {"level": 0.01}),
        "ClusterTree.load": (qs.ClusterTree.load, {"path": path}),
        "ClusterTree.merge_level": (tree.merge_level, {"i": rows, "j": 1}),
        "ClusterTree.plot": (tree.plot, {"ax": None, "n_leaves": 1, "unit": "m"}),
        "ClusterTree.prune": (tree.prune, conditions),
        "ClusterTree.save": (tree.save, {"path": path}),
        "merge_distortion": (qs.merge_distortion, {"tree_a": m.tree, "tree_b": m.tree, "X": X}),
    }


def _clusters(m, folder):
    model = m.clusters
    fit = {"X": X, "y": None, "sample_weight": None}
    diagnose = {"fitted": m.kde, "theory": True, "mode_radius": 1.0, "epsilon": 0.0, "delta": 0.0}
    pair = tuple(m.kde.mode_indices_[:2].tolist())
    diagnose |= {"pair": pair, "separation_radius": 1.0}
    page = {"model": model, "path": folder / "page.html", "X": X, "names": ["a", "b"]}
    parameters = qs.QuickShift().get_params()
    regression = qs.ModalRegressor().get_params()
    big = {
        name: value
        for name, value in large.QuickShift().__dict__.items()
        if name not in {"client", "directory"}
    }
    files = {"data": folder / "X.npy", "columns": None, "weight_column": None, "id_column": None}
    divided = large.QuickShift(bandwidth=1.0).fit(X)
    return {
        "QuickShift": (lambda **changed: qs.QuickShift(**changed).fit(X), parameters),
        "QuickShift.fit": (qs.QuickShift().fit, fit),
        "QuickShift.fit_predict": (qs.QuickShift().fit_predict, fit),
        "QuickShift.labels_at": (model.labels_at, {"tau": 1.0}),
        "QuickShift.labels_for": (model.labels_for, {"n_clusters": 2, "by": "significance"}),
        "QuickShift.plot": (model.plot, {"kind": "forest", "ax": None}),
        "QuickShift.predict": (model.predict, {"X": X}),
        "QuickShift.predict_proba": (model.predict_proba, {"X": X, "top": None}),
        "QuickShift.recut": (model.recut, {"n_clusters": 1}),
        "QuickShift.score": (model.score, {"X": X, "y": None}),
        "QuickShift.score_samples": (model.score_samples, {"X": X}),
        "QuickShift.strength": (model.strength, {"X": X}),
        "ModalRegressor": (lambda **changed: qs.ModalRegressor(**changed).fit(X, Y), regression),
        "diagnose": (qs.diagnose, diagnose),
        "explore": (qs.explore, page),
        "call_last_step": (
            qs.call_last_step,
            {"pipeline": _pipeline(), "method": "predict_proba", "X": X},
        ),
        "distributed.QuickShift": (lambda **changed: large.QuickShift(**changed).fit(X), big),
        "distributed.QuickShift.fit": (large.QuickShift(bandwidth=1.0).fit, files),
        "distributed.QuickShift.labels_at": (divided.labels_at, {"tau": 1.0}),
        "distributed.QuickShift.write_labels": (
            divided.write_labels,
            {"path": folder / "labels.parquet"},
        ),
    }


def _pipeline():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), qs.QuickShift()).fit(X)


def _regression(m):
    model = m.regressor
    data = {"X": X, "y": Y, "sample_weight": None}
    return {
        "ModalRegressor.calibrate": (model.calibrate, data),
        "ModalRegressor.fit": (qs.ModalRegressor(1.0, 2.0).fit, data),
        "ModalRegressor.predict": (model.predict, {"X": X}),
        "ModalRegressor.predict_modes": (model.predict_modes, {"X": X}),
        "ModalRegressor.predict_set": (model.predict_set, {"X": X, "coverage": 0.8}),
        "ModalRegressor.score": (model.score, data),
        "PredictionSet.contains": (m.set.contains, {"y": Y[:5]}),
        "trace_branches": (qs.trace_branches, {"model": m.curve, "grid": m.grid}),
    }


def _pictures(m, picture, cut):
    forest = m.segments
    labels = {"labels": LABELS, "connectivity": 1, "start_label": 0}
    skimage = {"image": PICTURE, "ratio": 1.0, "kernel_size": 2, "max_dist": 5, "sigma": 0}
    skimage |= {"return_tree": False, "convert2lab": True, "rng": 42, "channel_axis": -1}
    mean = {"image": PICTURE, "labels": LABELS, "channel_axis": -1, "start_label": 0}
    wide = {name: value for name, value in picture.items() if name != "n_jobs"}
    return {
        "SegmentForest.labels_at": (forest.labels_at, {**cut, "n_jobs": 1}),
        "SegmentForest.labels_for": (
            forest.labels_for,
            {"n_segments": 3, "start_label": 0, "n_jobs": 1},
        ),
        "boundary_strength": (image.boundary_strength, {"forest": forest, "n_jobs": 1}),
        "count_pieces": (image.count_pieces, labels),
        "enforce_connectivity": (image.enforce_connectivity, {**labels, "min_size": 2}),
        "mean_color": (image.mean_color, mean),
        "segment": (image.segment, {**picture, **cut, "n_segments": None, "progress": None}),
        "segment_forest": (image.segment_forest, {**picture, "max_tau": 5.0, "progress": None}),
        "segment_tiles": (
            image.segment_tiles,
            {**picture, **cut, "tile": 4, "out": None, "scratch": None, "progress": None},
        ),
        "compat.skimage.quickshift": (compat.skimage.quickshift, skimage),
        "distributed.segment": (
            large.segment,
            {**wide, **cut, "tile": 4, "out": None, "directory": None, "progress": None},
        ),
    }


def _data_sets(m):
    rng = np.random.default_rng(0)
    shapes = {"Ball": datasets.Ball([0.0]), "Box": datasets.Box([0], [1])}
    shapes["Dome"] = datasets.Dome([0.0])
    mixtures = {"GaussianMixture": m.mixture, "ShapeMixture": m.shapes}
    seed = {"n": 5, "seed": 0}
    table = {
        "Ball": (datasets.Ball, {"center": [0.0], "radius": 1.0}),
        "Box": (datasets.Box, {"low": [0.0], "high": [1.0]}),
        "Dome": (datasets.Dome, {"center": [0.0], "radius": 1.0}),
        "ConditionalMixture": (
            datasets.ConditionalMixture,
            {"branches": m.conditional.branches, "low": 0.0, "high": 1.0, "marginal": "uniform"},
        ),
        "GaussianMixture": (
            datasets.GaussianMixture,
            {"means": [[0.0], [1.0]], "covariances": 1.0, "weights": None},
        ),
        "ShapeMixture": (datasets.ShapeMixture, {"shapes": list(shapes.values()), "weights": None}),
        "ConditionalMixture.conditional_density": (
            m.conditional.conditional_density,
            {"x": [0.5], "y": [0.0]},
        ),
        "ConditionalMixture.conditional_modes": (m.conditional.conditional_modes, {"x": 0.5}),
        "ConditionalMixture.density": (m.conditional.density, {"x": [0.5], "y": [0.0]}),
        "ConditionalMixture.sample": (m.conditional.sample, seed),
        "blobs": (
            datasets.blobs,
            {"n": 9, "d": 2, "centers": 2, "box": 9.0, "spread": 1.0, "seed": 0},
        ),
        "circle": (datasets.circle, {"noise": 0.1, "radius": 1.0}),
        "circles": (datasets.circles, {**seed, "noise": 0.05, "factor": 0.5}),
        "heteroscedastic": (datasets.heteroscedastic, {"noise": 0.1, "growth": 1.4}),
        "lattice": (datasets.lattice, {"shape": 3, "d": 2}),
        "moons": (datasets.moons, {**seed, "noise": 0.05}),
        "seed_spreader": (
            datasets.seed_spreader,
            {**seed, "d": 2, "variant": "simden", "noise": 0.1, "restarts": 2.0, "stay": 3},
        ),
        "three_branches_merging": (datasets.three_branches_merging, {"noise": 0.25}),
        "two_branches": (datasets.two_branches, {"noise": 0.2}),
    }
    for name, shape in shapes.items():
        table[f"{name}.density"] = (shape.density, {"X": [[0.5]]})
        table[f"{name}.sample"] = (shape.sample, {"n": 3, "rng": rng})
    for name, mixture in mixtures.items():
        table[f"{name}.density"] = (mixture.density, {"X": X})
        table[f"{name}.log_density"] = (mixture.log_density, {"X": X})
        table[f"{name}.sample"] = (mixture.sample, seed)
    return {f"datasets.{name}": call for name, call in table.items()}


def _plots(m):
    fitted = {"fitted": m.clusters, "unit": "m"}
    shown = {"image": PICTURE, "tau": 5.0, "n_segments": None}
    table = {
        "ClusterTreeDisplay.from_estimator": {**fitted, "n_leaves": 1},
        "ClusterTreeDisplay.from_tree": {"tree": m.tree, "n_leaves": 1, "unit": "m"},
        "CutsDisplay.from_estimator": {**fitted, "by": "tau"},
        "DecisionGraphDisplay.from_estimator": fitted,
        "ForestDisplay.from_estimator": {**fitted, "X": X, "features": (0, 1)},
        "LevelSetDisplay.from_estimator": {"fitted": m.line, "level": 0.01, "unit": "m"},
        "ModalRegressionDisplay.from_estimator": {
            "fitted": m.curve,
            "grid": m.grid,
            "coverage": 0.8,
            "unit": "m",
        },
        "PersistenceDisplay.from_estimator": fitted,
        "PersistenceDisplay.from_tree": {"tree": m.tree, "unit": "m"},
        "SegmentationDisplay.from_forest": {"forest": m.segments, **shown},
        "SegmentationDisplay.from_labels": {"labels": LABELS, "image": PICTURE},
        "SeparationDisplay.from_estimator": {
            "fitted": m.line,
            "pair": tuple(m.line.mode_indices_[:2].tolist()),
            "r_s": 0.5,
            "unit": "m",
        },
        "label_colors": {"labels": LABELS, "dark": False},
        "palette": {"dark": False},
    }
    found = {}
    for name, arguments in table.items():
        owner, _, method = name.rpartition(".")
        function = getattr(getattr(plot, owner) if owner else plot, method)
        found[f"plot.{name}"] = (function, arguments)
        if owner and name.endswith(("from_estimator", "from_labels")):
            found[f"plot.{owner}.plot"] = (function(**arguments).plot, {"ax": None})
    for owner, name, value in (
        ("ForestDisplay", "moves", True),
        ("LevelSetDisplay", "show", "both"),
        ("ModalRegressionDisplay", "mean", True),
        ("SegmentationDisplay", "show", "boundaries"),
    ):
        found[f"plot.{owner}.plot"][1][name] = value
    return found


def _stages(m, rows):
    kernel = kernels.get_kernel("gaussian")
    jobs = {"n_jobs": 1, "progress": None}
    weighted = {"sample_weight": None, "period": None, "n_jobs": 1}
    rule = {"samples": m.samples, "kernel": "gaussian", "n_jobs": 1, "progress": None}
    found = {"tau": "auto", "n_clusters": None, "min_significance": "auto", "min_cluster_size": 1}
    found |= {"link": False, "n_jobs": 1, "progress": None}
    queries = {"queries": X[:3]}
    table = {
        "Estimate.density_at": (m.estimate.density_at, queries),
        "Estimate.heights_at": (m.estimate.heights_at, queries),
        "Estimate.log_density_at": (m.estimate.log_density_at, queries),
        "Estimate.sums": (m.estimate.sums, {"progress": None}),
        "Estimate.sums_at": (m.estimate.sums_at, queries),
        "LocalScale.log_density_at": (m.scale.log_density_at, queries),
        "LocalScale.scales_at": (m.scale.scales_at, queries),
        "ModeDiagnosis.is_minus": (m.mode.is_minus, {"r": 1.0, "delta": 0.0}),
        "ModeDiagnosis.is_plus": (m.mode.is_plus, {"r": 1.0, "delta": 0.0}),
        "RegressionData.joint": (m.data.joint, {"bandwidth": 1.0}),
        "assess": (stages.assess, {"tree": m.tree, "estimate": m.estimate, "graph": m.graph}),
        "assess_by_scale": (
            stages.assess_by_scale,
            {"tree": m.local_tree, "scale": m.scale, "graph": m.local_graph},
        ),
        "assign": (
            stages.assign,
            {"graph": m.graph, **queries, "density": m.density[:3], "tau": 1.0, "n_jobs": 1},
        ),
        "chance_significance": (
            stages.chance_significance,
            {"total_weight": 100.0, "n_features": 2, "scale": None, "kernel": "gaussian"},
        ),
        "choose_bandwidth": (stages.choose_bandwidth, {**rule, "rule": "scott", "rtol": 1e-9}),
        "choose_joint_bandwidth": (
            stages.choose_joint_bandwidth,
            {"data": m.data, "rule": "auto"},
        ),
        "choose_joint_tau": (stages.choose_joint_tau, {"joint": m.joint}),
        "choose_tau": (stages.choose_tau, {**rule, "bandwidth": 1.0}),
        "climb": (
            stages.climb,
            {
                "X": X,
                "density": m.density,
                "ties": "total",
                "period": None,
                "significant_bits": 36,
                **jobs,
            },
        ),
        "conditional_modes": (
            stages.conditional_modes,
            {"joint": m.joint, "queries": X[:3], "tau": 1.0, "min_density_ratio": 0.01},
        ),
        "conditions": (
            stages.conditions,
            {"n": 9, "d": 2, "h": 1.0, "tau": 1.0, "spread": 1.0, "kernel": "gaussian", "r_s": 1.0},
        ),
        "conformal_radius": (
            stages.conformal_radius,
            {"scores": np.arange(5.0), "weights": np.ones(5), "coverage": 0.8},
        ),
        "cut": (stages.cut, {"graph": m.graph, "tau": 1.0, **jobs}),
        "cut_into": (
            stages.cut_into,
            {"graph": m.graph, "n_clusters": 2, "relative_to": None, **jobs},
        ),
        "diagnose_modes": (
            stages.diagnose_modes,
            {"graph": m.graph, "tree": m.tree, "rows": [m.root], "mode_radius": 2.0},
        ),
        "estimate_density": (
            stages.estimate_density,
            {"X": X, "bandwidth": 1.0, "kernel": "gaussian", "rtol": 1e-9, **weighted},
        ),
        "find_clusters": (
            stages.find_clusters,
            {"estimate": m.estimate, "graph": m.graph, **found},
        ),
        "find_local_clusters": (
            stages.find_local_clusters,
            {"samples": m.samples, "n_neighbors": "auto", "ties": "total", **found},
        ),
        "fit_estimate": (
            stages.fit_estimate,
            {
                "samples": m.samples,
                "bandwidth": 1.0,
                "kernel": "gaussian",
                "rtol": 1e-9,
                "n_jobs": 1,
            },
        ),
        "keep_most_significant": (
            stages.keep_most_significant,
            {"tree": m.assessed, "n_leaves": 1},
        ),
        "keep_significant": (
            stages.keep_significant,
            {"tree": m.assessed, "least": 1.0, "gap": "largest"},
        ),
        "known_tree": (
            stages.known_tree,
            {"X": X, "known": m.mixture, "n_cells": 9, "n_jobs": 1},
        ),
        "link": (
            stages.link,
            {
                "X": X,
                "density": m.density,
                "forest": m.forest,
                "tau": 1.0,
                "period": None,
                **jobs,
            },
        ),
        "linkage": (stages.linkage, {"graph": m.graph}),
        "local_scale": (stages.local_scale, {"X": X, "n_neighbors": 4, **weighted}),
        "mode_recovery": (
            stages.mode_recovery,
            {"graph": m.graph, "tau": 2.0, "mode_radius": 1.0, "epsilon": 0.0, "delta": 0.0},
        ),
        "mode_steps": (
            stages.mode_steps,
            {"graph": m.graph, "row": m.root, "mode_radius": 2.0},
        ),
        "nonconformity_scores": (stages.nonconformity_scores, {"modes": m.modes, "y": Y[:5]}),
        "prepare": (stages.prepare, {"X": X, **weighted, "progress": None}),
        "prepare_joint": (
            stages.prepare_joint,
            {"X": X, "y": Y, "bandwidth": 1.0, "kernel": "gaussian", "rtol": 1e-9, **weighted},
        ),
        "separation": (
            stages.separation,
            {
                "X": X,
                "density": m.density,
                "i": 0,
                "j": 1,
                "r_s": 0.5,
                "tau": 1.0,
                "n_jobs": 1,
            },
        ),
        "set_around": (stages.set_around, {"modes": m.modes, "radius": 1.0}),
        "trace": (
            stages.trace,
            {"grid": m.grid, "modes": m.grid_modes, "longest_step": 1.0},
        ),
    }
    found = {f"stages.{name}": call for name, call in table.items()}
    found["kernels.get_kernel"] = (kernels.get_kernel, {"name": "gaussian"})
    for name in ("log_normaliser", "log_roughness", "variance"):
        found[f"kernels.Kernel.{name}"] = (getattr(kernel, name), {"d": 2})
    found["kernels.Kernel.profile"] = (kernel.profile, {"t": [0.0, 1.0]})
    found["bandwidth.rule_bandwidth"] = (
        rule_bandwidth,
        {
            "rule": "scott",
            "spread": 1.0,
            "total_weight": 9.0,
            "n_features": 2,
            "kernel": kernel,
        },
    )
    return found
