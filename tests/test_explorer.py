"""Tests of `explore`: what is packed, which cuts the page offers, and what the page contains."""

import hashlib
import re
import shutil
import subprocess
from base64 import b64decode, b64encode
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import quickshift as qs
from explorer_cases import cuts_of, grid_fit
from plot_cases import fits
from quickshift.datasets import blobs, two_branches
from quickshift.explorer.clusters import pack_clusters
from quickshift.explorer.columns import choose_columns, read_table
from quickshift.explorer.ladders import score_ladder, tau_ladder
from quickshift.explorer.levels import choose_levels, codes_of
from quickshift.explorer.packing import Section, morton_order, offsets, pack, unpack
from quickshift.explorer.page import script
from quickshift.explorer.pictures import pack_picture
from quickshift.explorer.regression import pack_regression
from quickshift.explorer.trees import pack_tree

ROOT = Path(__file__).parents[1]
WEB = ROOT / "src/quickshift/explorer/web"
ATTACK = "</script><img src=x onerror=alert(1)>"


def payload_of(path):
    """Return what a page contains."""
    text = Path(path).read_text(encoding="utf-8")
    return unpack(b64decode(re.search(r'id="data">([^<]*)<', text)[1]))


def labels_of(arrays, cut, chosen):
    """Cut as the page does, in Python."""
    n = arrays["code"].size
    parent = arrays["step"] + np.arange(n)
    code, absent = arrays["code"], set(arrays["absent"].tolist())
    order = [i for i in np.argsort(arrays["rank"]).tolist() if i not in absent]
    level = cut.get("tau", chosen)
    roots = set(arrays["leaf"].tolist()) if "tau" not in cut else set()
    found, label = np.zeros(n, dtype=int), 0
    for i in order:
        stays = i in roots if "tau" not in cut else code[i] > level
        found[i] = label if stays else found[parent[i]]
        label += stays
    nearest = dict(zip(arrays["absent"].tolist(), arrays["nearest"].tolist(), strict=True))
    for i, near in nearest.items():
        found[i] = found[parent[i] if code[i] <= level else near]
    if "score" in cut:
        found = kept(arrays, cut["score"])[found]
    if "fitted" in cut:
        found = arrays["final"][found]
    labels = np.empty(n, dtype=int)
    labels[arrays["rows"]] = found
    return labels


def kept(arrays, least):
    to, count = [], 0
    for score, towards in zip(arrays["score"], arrays["towards"].tolist(), strict=True):
        stays = not score < least or towards < 0
        to.append(count if stays else to[towards])
        count += stays
    return np.array(to)


# Packing


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [("u8", 0, 255), ("u16", 0, 65535), ("i32", -(2**30), 2**30)],
)
@pytest.mark.parametrize("delta", [False, True])
def test_integers_are_unpacked_as_they_were(kind, low, high, delta):
    values = np.random.default_rng(0).integers(low, high, 1000, endpoint=True)
    packed = pack({}, {"a": Section(values, kind, delta), "none": Section(values[:0], kind, delta)})
    _, arrays = unpack(packed)
    assert_array_equal(arrays["a"], values)
    assert arrays["none"].size == 0


def test_floats_are_unpacked_as_they_were():
    values = np.array([0.0, -1.5, np.inf, -np.inf, np.nan, 1e300, 5e-324])
    with np.errstate(over="ignore"):
        _, arrays = unpack(pack({}, {"a": Section(values, "f64"), "b": Section(values, "f32")}))
        assert_array_equal(arrays["a"], values)
        assert_array_equal(arrays["b"], values.astype(np.float32))


def test_header_is_text_whatever_it_says():
    header, _ = unpack(pack({"name": f'{ATTACK}"\\ü\0'}, {}))
    assert header == {"name": f'{ATTACK}"\\ü\0'}


def test_offsets_do_not_overflow():
    column = np.array([-1.7e308, 0.0, 1.7e308])
    section, low, high = offsets(column, fine=False)
    assert_array_equal(section.values, [0, 32768, 65535])
    assert (low, high) == (-1.7e308, 1.7e308)


def test_near_points_follow_each_other_on_the_curve():
    x, y = np.random.default_rng(0).uniform(size=(2, 4000))
    order = morton_order(x, y)
    assert sorted(order.tolist()) == list(range(4000))
    steps = np.hypot(np.diff(x[order]), np.diff(y[order]))
    assert np.median(steps) < 0.03


def test_16_bit_coordinates_take_less_room_than_float32():
    X = np.random.default_rng(0).normal(size=(2000, 2))
    order = morton_order(*((X - X.min(axis=0)) / np.ptp(X, axis=0)).T)
    sizes = [len(pack({}, {"x": offsets(X[order, 0], fine=fine)[0]})) for fine in (False, True)]
    assert sizes[0] < sizes[1] / 1.5


# Levels


def test_levels_are_between_the_lengths_of_moves():
    moves = np.array([0.0, 1.0, 1.0, 2.0, 5.0, np.inf])
    levels = choose_levels(moves)
    for j, value in enumerate(levels.values):
        assert_array_equal(codes_of(moves, levels) <= j, moves <= value)
    assert levels.values.tolist() == [0.5, 1.4, 3.2, 6.1]


@pytest.mark.parametrize("chosen", [0.0, 0.3, 1.0, 1.7, 5.0, 9.0, np.inf])
def test_the_chosen_tau_is_a_level(chosen):
    moves = np.array([0.0, 1.0, 2.0, 5.0, np.inf])
    levels = choose_levels(moves, chosen)
    kept_moves = codes_of(moves, levels) <= levels.chosen
    assert_array_equal(kept_moves, (moves <= chosen) & np.isfinite(moves))
    assert levels.values[levels.chosen] == chosen or chosen == np.inf


def test_a_chosen_tau_separates_lengths_that_are_nearly_equal():
    moves = np.array([1.0, np.nextafter(1.0, 2.0), 3.0])
    levels = choose_levels(moves, 1.0)
    assert (codes_of(moves, levels) <= levels.chosen).tolist() == [True, False, False]


def test_many_lengths_share_levels_except_the_longest(monkeypatch):
    monkeypatch.setattr("quickshift.explorer.levels._MOST", 100)
    monkeypatch.setattr("quickshift.explorer.levels._LONGEST", 50)
    monkeypatch.setattr("quickshift.explorer.levels._GROUPS", 10)
    moves = np.arange(1.0, 1001.0)
    levels = choose_levels(moves, 123.4)
    assert levels.values.size <= 62
    assert levels.values[levels.chosen] == 123.4
    codes = codes_of(moves, levels)
    assert np.unique(codes[-50:]).size == 50
    for j, value in enumerate(levels.values):
        assert_array_equal(codes <= j, moves <= value)


# Ladders


def test_the_score_ladder_counts_the_modes_that_are_kept():
    score = np.array([np.inf, 11.886172698200249, 11.886102698200249, 3.0, 3.0, 0.0])
    towards = np.array([-1, 0, 0, 0, 1, 0])
    for least in (0.0, 3.0, 5.0, 11.886102698200249, 11.886172698200249):
        header, sections = score_ladder(score, "significance", towards, least=least)
        values, counts = (sections[f"score_{of}"].values for of in ("values", "counts"))
        assert [(score >= value).sum() for value in values] == counts.tolist()
        assert counts[header["chosen"]] == (score >= least).sum()
        assert header["low"] < header["high"]


def test_a_fit_of_infinite_significance_is_at_the_end_of_the_slider():
    model = qs.QuickShift(min_significance=np.inf).fit(blobs(200, centers=3, seed=1)[0])
    header, arrays = unpack(pack_clusters(model, None, None))
    ladder, values = header["ladders"][1], arrays["score_values"]
    assert ladder["chosen"] == len(values) - 1
    assert ladder["marks"][-1]["at"] == values[-1] <= ladder["high"] < np.inf
    found = labels_of(arrays, {"score": values[-1]}, header["chosen"])
    assert_array_equal(found, model.labels_)


def test_marks_that_are_close_have_one_text():
    score, towards = np.array([np.inf, 20.0, 4.0]), np.array([-1, 0, 0])
    header, _ = score_ladder(score, "significance", towards, chance=3.9, least=4.0)
    assert [mark["text"] for mark in header["marks"]] == ["chance, fit", ""]
    header, _ = score_ladder(score, "significance", towards, chance=3.9, least=20.0)
    assert [mark["text"] for mark in header["marks"]] == ["chance", "fit"]


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_sliders_have_finite_ends_that_hold_the_chosen_tau(scale):
    moves = scale * np.array([0.5, 1.0, 2.0, np.inf])
    levels = choose_levels(moves, 1.5 * scale)
    header, _ = tau_ladder(levels, codes_of(moves, levels), relative=False, mark="fit")
    assert 0 < header["low"] < 1.5 * scale < header["high"] < np.inf


# Clusters


@pytest.mark.parametrize("name", fits())
def test_every_cut_of_the_page_equals_that_of_the_estimator(name):
    model = fits()[name]
    header, arrays = unpack(pack_clusters(model, None, None))
    for cut, labels in cuts_of(model, 5):
        assert_array_equal(labels_of(arrays, cut, header["chosen"]), labels, err_msg=str(cut))


def test_a_tau_that_is_the_length_of_a_move_is_the_cut_of_the_fit():
    model = grid_fit()
    header, arrays = unpack(pack_clusters(model, None, None))
    step = np.searchsorted(arrays["tau_starts"], 0.1, side="right") - 1
    assert step == header["chosen"]
    assert_array_equal(labels_of(arrays, {"tau": step}, step), model.labels_at(0.1))


def test_a_page_has_the_columns_of_the_samples():
    model = fits()["local"]
    header, arrays = unpack(pack_clusters(model, None, ["a", "b"]))
    assert [column["name"] for column in header["columns"]] == ["a", "b"]
    low, high = (header["columns"][0][end] for end in ("low", "high"))
    drawn = np.empty(header["n"])
    drawn[arrays["rows"]] = low + arrays["c0"] * (high - low)
    coordinates = model._graph.samples.tree.coordinates(np.arange(header["n"]))
    np.testing.assert_allclose(drawn, coordinates[:, 0], atol=1e-6)


def test_more_than_two_columns_are_drawn_as_principal_components():
    X = np.random.default_rng(0).normal(size=(300, 4)) * [1.0, 20.0, 1.0, 10.0]
    columns = choose_columns(read_table(X, 300), None, np.zeros(300))
    assert columns.axes == (4, 5)
    assert columns.names[4].startswith("PC 1 (7")
    assert abs(np.corrcoef(columns.values[4], X[:, 1])[0, 1]) > 0.99
    scaled = choose_columns(read_table(X, 300), None, np.zeros(300), X.std(axis=0))
    assert scaled.names[4].startswith("PC 1 (2")


def test_a_data_frame_names_columns_and_rows(tmp_path):
    frame = pd.DataFrame(blobs(50, centers=2, seed=0)[0], columns=["width", ATTACK])
    frame.index = [f'"{i}' for i in range(50)]
    path = qs.explore(qs.QuickShift().fit(frame), tmp_path / "page.html", X=frame)
    header, arrays = payload_of(path)
    assert [column["name"] for column in header["columns"]] == ["width", ATTACK]
    names = bytes(arrays["ids"]).decode().split("\0")[:-1]
    assert names == [f'"{row}' for row in arrays["rows"]]


def test_the_last_step_of_a_pipeline_is_explored(tmp_path):
    X = blobs(100, centers=2, seed=0)[0]
    pipeline = make_pipeline(StandardScaler(), qs.QuickShift()).fit(X)
    header, _ = payload_of(qs.explore(pipeline, str(tmp_path / "page.html"), X=X))
    assert header["columns"][0]["low"] == X[:, 0].min()


# Other results


def test_a_tree_is_drawn_at_its_points(tmp_path):
    model = fits()["local"]
    tree = model.tree_
    X = model._graph.samples.tree.coordinates(np.arange(model.labels_.size))
    header, arrays = payload_of(qs.explore(tree, tmp_path / "page.html", X=X))
    assert header["python"]["score"] == "tree.prune(significance={}).labels()"
    labels = np.empty(header["n"], dtype=int)
    labels[arrays["rows"]] = arrays["leaves"]
    assert_array_equal(labels, tree.labels())
    assert_array_equal(kept(arrays, 3.0)[labels], tree.prune(significance=3.0).labels())


def test_a_tree_of_unknown_significance_is_pruned_by_its_prominence():
    X, density = [[0.0], [1.0], [2.0], [3.0]], [3.0, 1.0, 2.0, 1.0]
    forest = qs.stages.cut(qs.stages.climb(X, density), 1.5)
    tree = qs.stages.link(X, density, forest, 1.5)
    header, arrays = unpack(pack_tree(tree, X, None))
    assert header["ladders"][0]["symbol"] == "prominence ratio"
    assert arrays["score"].tolist() == [np.inf, 2.0]


def test_a_picture_is_packed_with_its_forest():
    image = np.random.default_rng(0).integers(0, 256, (12, 9, 3)).astype(np.uint8)
    mask = np.ones((12, 9), dtype=bool)
    mask[0] = False
    forest = qs.segment_forest(image, bandwidth=2.0, mask=mask)
    header, arrays = unpack(pack_picture(forest, image))
    assert header["shape"] == [12, 9]
    assert_array_equal(np.stack([arrays[f"c{i}"] for i in range(3)], axis=-1), image.reshape(-1, 3))
    assert_array_equal(arrays["absent"], np.arange(9))
    assert arrays["tau_values"][header["chosen"]] == 10.0
    gray = unpack(pack_picture(forest, None))[1]
    assert_array_equal(gray["c0"], gray["c2"])


def test_branches_and_sets_of_a_regression_are_those_of_the_model():
    X, y = two_branches().sample(300, seed=0)
    model = qs.ModalRegressor(min_density_ratio=0.03).fit(X, y)
    header, arrays = unpack(pack_regression(model, None))
    assert header["ratios"][header["ratio"]] == 0.03
    first, end = arrays["first_branches"][header["ratio"] :][:2]
    branches = qs.trace_branches(model, arrays["grid"])
    assert end - first == len(branches)
    start = arrays["branch_ends"][first]
    assert_array_equal(arrays["branch_y"][start : start + len(branches[0])], branches[0].y)
    sets = model.predict_set(arrays["grid"][:, None], header["coverages"][header["coverage"]])
    skipped = arrays["first_intervals"][header["coverage"]]
    assert_array_equal(arrays["interval_low"][skipped : skipped + sets.lower.size], sets.lower)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "options", [{}, {"kernel": "epanechnikov", "rtol": 1e-6}, {"period": [6.0]}, {"period": 6.0}]
)
def test_the_python_of_a_regression_is_the_same_fit(options, weighted):
    X, y = two_branches().sample(200, seed=0)
    weights = np.arange(200) % 3 if weighted else None
    model = qs.ModalRegressor(**options).fit(X, y, sample_weight=weights)
    line = unpack(pack_regression(model, None))[0]["python"]["fit"].format(0.01)
    names = {"ModalRegressor": qs.ModalRegressor, "numpy": np, "X": X, "y": y}
    again = eval(line, {**names, "sample_weight": weights})
    assert ("sample_weight" in line) == weighted
    assert_array_equal(again.predict(X), model.predict(X))
    for name in ("kernel", "rtol", "period"):
        assert getattr(again, name) == getattr(model, name)


# The page


def test_the_page_contains_names_as_data_only(tmp_path):
    frame = pd.DataFrame(blobs(50, centers=2, seed=0)[0], columns=[ATTACK, "b"])
    text = qs.explore(qs.QuickShift().fit(frame), tmp_path / "page.html").read_text("utf-8")
    assert ATTACK not in text
    assert "onerror" not in text


def test_the_policy_allows_the_script_and_style_of_the_page_only(tmp_path):
    text = qs.explore(fits()["local"], tmp_path / "page.html").read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src 'none'; ")
    for tag in ("style", 'script type="module"'):
        inside = text.partition(f"<{tag}>")[2].partition(f"</{tag.split()[0]}>")[0]
        digest = b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)


def test_every_module_is_in_the_page_after_those_that_it_imports():
    modules = re.findall(r"^const (\w+)_js = \(\(\) =>", script(), re.MULTILINE)
    assert sorted(modules) == sorted(path.stem for path in WEB.glob("*.js"))
    for path in WEB.glob("*.js"):
        text = path.read_text(encoding="utf-8")
        for name in re.findall(r'^import .* from "\./(\w+)\.js"', text, re.MULTILINE):
            assert modules.index(name) < modules.index(path.stem)
    assert "import {" not in script()
    assert "export " not in script()


def test_the_script_stays_small_and_sets_no_markup():
    code = 0
    for path in WEB.glob("*.js"):
        text = path.read_text(encoding="utf-8")
        code += sum(not re.match(r"\s*(//|/\*\*|\*|$)", line) for line in text.splitlines())
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", text)
    assert code < 1950


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node to read JavaScript")
def test_the_script_is_one_module(tmp_path):
    file = tmp_path / "script.mjs"
    file.write_text(script(), encoding="utf-8")
    subprocess.run(["node", "--check", file], check=True)


# Errors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"X": np.zeros((3, 2))}, "X has 3 rows, expected 490"),
        ({"names": ["a"]}, "names has 1 entries, expected 2"),
        ({"names": "ab"}, "names is 'ab', expected one name for each of 2"),
        ({"image": np.zeros((2, 2))}, "image is given along with a QuickShift"),
    ],
)
def test_wrong_options_are_explained(tmp_path, options, message):
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        qs.explore(fits()["local"], tmp_path / "page.html", **options)


def test_wrong_models_are_explained(tmp_path):
    with pytest.raises(TypeError, match="model is of type int, expected a fitted QuickShift"):
        qs.explore(3, tmp_path / "page.html")
    with pytest.raises(TypeError, match="a ClusterTree has no points"):
        qs.explore(fits()["local"].tree_, tmp_path / "page.html")
    two = qs.ModalRegressor().fit(np.zeros((9, 2)) + np.arange(9)[:, None], np.arange(9.0))
    with pytest.raises(ValueError, match="the samples have 2 features, expected 1"):
        qs.explore(two, tmp_path / "page.html")
