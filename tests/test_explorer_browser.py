"""The pages of `explore` in headless Chromium; run by `make test-browser`."""

import json
from pathlib import Path

import numpy as np
import pytest

import quickshift as qs
from browser_cases import (
    button_of,
    choose_tau,
    colors_of_modes,
    downloaded,
    fitted,
    inked,
    labels_at,
    points,
    slider,
    tau_now,
    written,
)
from quickshift.datasets import blobs, two_branches

pytestmark = pytest.mark.browser

AXE = Path(__file__).parent / "js/node_modules/axe-core/axe.min.js"


def test_page_opens_on_the_labels_of_the_fit(quiet, folder):
    quiet.open(written(folder, fitted(1_000)))
    assert quiet.labels() == fitted(1_000).labels_.tolist()
    assert inked(quiet) > 0.005


def check_cut(page, folder, model):
    """Check that the page shows, draws and downloads the labels of its tau."""
    labels = labels_at(model, tau_now(page))
    assert page.labels() == labels
    assert inked(page) > 0.005
    rows = downloaded(page, folder)
    assert [int(row["row"]) for row in rows] == list(range(len(labels)))
    assert [int(row["label"]) for row in rows] == labels


@pytest.mark.parametrize("keys", [("HOME",), ("END",), ("PAGE_UP", "ARROW_LEFT", "ARROW_LEFT")])
def test_keyboard_sets_tau(quiet, folder, keys):
    from selenium.webdriver.common.keys import Keys

    model = fitted(1_000)
    quiet.open(written(folder, model))
    choose_tau(quiet)
    seen = colors_of_modes(quiet)
    slider(quiet).send_keys(*(getattr(Keys, key) for key in keys))
    quiet.settle()
    check_cut(quiet, folder, model)
    now = colors_of_modes(quiet)
    survivors = now.keys() & seen.keys()
    assert survivors
    assert {root: now[root] for root in survivors} == {root: seen[root] for root in survivors}


def test_mouse_sets_tau_and_surviving_modes_keep_their_colors(quiet, folder):
    from selenium.webdriver import ActionChains

    model = fitted(1_000)
    quiet.open(written(folder, model))
    choose_tau(quiet)
    seen = colors_of_modes(quiet)
    taus = []
    for share in (-0.45, 0.0, 0.3):
        control = slider(quiet)
        where = int(share * control.size["width"])
        ActionChains(quiet.driver).move_to_element_with_offset(control, where, 0).click().perform()
        quiet.settle()
        check_cut(quiet, folder, model)
        taus.append(tau_now(quiet))
        now = colors_of_modes(quiet)
        assert {root: now[root] for root in now.keys() & seen.keys()} == {
            root: seen[root] for root in now.keys() & seen.keys()
        }
        seen |= now
    assert len(set(taus)) == 3


def test_significance_slider_is_a_recut(quiet, folder):
    from selenium.webdriver.common.keys import Keys

    model = fitted(1_000)
    quiet.open(written(folder, model))
    for _ in range(3):
        slider(quiet).send_keys(Keys.PAGE_DOWN)
        labels = quiet.labels()
        least = quiet.run("return explorer.cut.score")
        assert labels == model.recut(min_significance=least).labels_.tolist()
    quiet.driver.find_element("xpath", "//button[text()='As fitted']").click()
    assert quiet.labels() == model.labels_.tolist()


def test_the_decision_graph_says_what_is_above_its_line(quiet, folder):
    quiet.open(written(folder, fitted(1_000)))
    note = quiet.driver.find_element("css selector", ".decision .note")
    assert note.text.startswith("Above the dashed line: modes before merging.")
    choose_tau(quiet)
    assert note.text.startswith("Modes are the points above the line")


def test_marks_that_are_close_have_one_text(quiet, folder):
    quiet.open(written(folder, fitted(1_000)))
    texts = quiet.driver.find_element("css selector", ".curve").text.splitlines()
    assert "fit, chance" in texts
    assert "fit" not in texts


def test_python_gives_the_labels(quiet, folder):
    model = fitted(1_000)
    quiet.open(written(folder, model))
    choose_tau(quiet)
    button_of(quiet, "Fewer").click()
    labels = quiet.labels()
    line = quiet.driver.find_element("css selector", ".python").text.removeprefix("labels = ")
    assert eval(line, {"model": model}).tolist() == labels


def test_keyboard_moves_the_line_of_the_decision_graph(quiet, folder):
    from selenium.webdriver.common.keys import Keys

    model = fitted(1_000)
    quiet.open(written(folder, model))
    graph = quiet.driver.find_element("css selector", ".decision canvas")
    counts = []
    for key in (Keys.ARROW_UP, Keys.ARROW_UP, Keys.ARROW_DOWN):
        graph.send_keys(key)
        assert quiet.labels() == labels_at(model, tau_now(quiet))
        assert graph.get_attribute("aria-valuetext").startswith("move/τ ")
        counts.append(len(colors_of_modes(quiet)))
    assert counts[0] == counts[2] > counts[1]


def test_mouse_drags_the_line_of_the_decision_graph(quiet, folder):
    from selenium.webdriver import ActionChains

    model = fitted(1_000)
    quiet.open(written(folder, model))
    graph = quiet.driver.find_element("css selector", ".decision canvas")
    taus = []
    for y in (-60, 0, 40):
        drag = ActionChains(quiet.driver).move_to_element_with_offset(graph, 20, y - 10)
        drag.click_and_hold().move_by_offset(0, 10).release().perform()
        assert quiet.labels() == labels_at(model, tau_now(quiet))
        taus.append(tau_now(quiet))
    assert taus == sorted(taus, reverse=True)
    assert len(set(taus)) == 3


def test_keyboard_selects_what_is_visible(quiet, folder):
    from selenium.webdriver.common.keys import Keys

    quiet.open(written(folder, fitted(1_000)))
    plot = quiet.driver.find_element("css selector", ".overlay")
    plot.send_keys(Keys.ENTER)
    assert quiet.run("return explorer.selection.length") == 1_000
    plot.send_keys("+", "+", "+", "+", "+", Keys.ENTER)
    assert 0 < quiet.run("return explorer.selection.length") < 1_000
    plot.send_keys(Keys.ESCAPE)
    assert quiet.run("return explorer.selection.length") == 0


def test_lasso_selects_what_it_encloses(quiet, folder):
    quiet.open(written(folder, fitted(1_000)))
    quiet.run("explorer.select(explorer.plot.inside([[0, 0], [4000, 0], [4000, 4000], [0, 4000]]))")
    assert quiet.run("return Array.from(explorer.selectedRows())") == list(range(1_000))
    quiet.driver.find_element("xpath", "//button[text()='Clear']").click()
    assert quiet.run("return explorer.selection.length") == 0


@pytest.mark.parametrize(("n", "most"), [(100_000, 10.0), (1_000_000, 50.0)])
def test_recut_takes_little_processor_time(quiet, folder, n, most):
    path = written(folder, fitted(n))
    assert path.stat().st_size < 14_000_000
    quiet.open(path)
    assert quiet.labels() == fitted(n).labels_.tolist()
    quiet.cdp("Performance.enable")
    recuts = """
        const { forest, ladders } = explorer;
        const last = ladders[0].values.length - 1;
        for (let k = 1; k <= 20; k++) forest.cut({ tau: last - 5 * k });
    """
    quiet.run(recuts)  # compiles them
    before = processor_time(quiet)
    quiet.run(recuts)
    each = (processor_time(quiet) - before) / 20
    quiet.run("explorer.recut()")
    quiet.settle()
    assert inked(quiet) > 0.05
    assert each < most


def processor_time(page):
    """Return the milliseconds that the page's thread has used."""
    metrics = page.cdp("Performance.getMetrics")["metrics"]
    metrics = {entry["name"]: entry["value"] for entry in metrics}
    return 1000 * metrics["ThreadTime"]


def pages(folder):
    """Return one page of each kind."""
    X, y = two_branches().sample(500, seed=0)
    image = np.random.default_rng(0).uniform(size=(40, 60, 3))
    return {
        "clusters": written(folder, fitted(1_000)),
        "tree": written(folder, fitted(1_000).tree_, X=points(1_000)),
        "picture": written(folder, qs.segment_forest(image), image=image),
        "regression": written(folder, qs.ModalRegressor().fit(X, y)),
    }


@pytest.mark.parametrize("kind", ["clusters", "tree", "picture", "regression"])
@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_no_violation(quiet, folder, kind, dark):
    quiet.open(pages(folder)[kind], dark=dark)
    quiet.run(AXE.read_text(encoding="utf-8"))
    script = "const done = arguments[0]; axe.run().then((r) => done(JSON.stringify(r.violations)))"
    violations = json.loads(quiet.driver.execute_async_script(script))
    assert [(found["id"], [node["html"] for node in found["nodes"]]) for found in violations] == []


def test_picture_has_the_labels_of_its_forest(quiet, folder):
    image = np.random.default_rng(0).uniform(size=(40, 60))
    mask = np.ones((40, 60), dtype=bool)
    mask[:10, :10] = False
    forest = qs.segment_forest(image, bandwidth=2.0, mask=mask)
    quiet.open(written(folder, forest, image=image))
    default = quiet.run("return explorer.python()")
    assert not button_of(quiet, "Default").is_enabled()
    for button in ("Default", "Fewer", "Fewer", "Default"):
        button_of(quiet, button).click()
        found = np.array(quiet.labels()).reshape(40, 60)
        line = quiet.run("return explorer.python()").removeprefix("labels = ")
        np.testing.assert_array_equal(found, forest.labels_at(tau_now(quiet)))
        np.testing.assert_array_equal(found, eval(line, {"forest": forest}))
        size = (found == found[20, 30]).sum()
        assert quiet.run("return explorer.describe(20 * 60 + 30)")[1].endswith(f"of {size} pixels")
        said = quiet.driver.find_element("css selector", ".said").text
        assert said.startswith(f"{found.max() + 1:,} segment")
    assert quiet.run("return explorer.python()") == default
    assert not button_of(quiet, "Default").is_enabled()


def test_tree_is_pruned_as_in_python(quiet, folder):
    tree = fitted(1_000).tree_
    quiet.open(written(folder, tree, X=points(1_000)))
    assert quiet.labels() == tree.labels().tolist()
    quiet.driver.find_element("xpath", "//button[text()='Fewer']").click()
    labels = quiet.labels()
    line = quiet.driver.find_element("css selector", ".python").text.removeprefix("labels = ")
    assert eval(line, {"tree": tree}).tolist() == labels


def test_labels_from_elsewhere_are_shown_on_a_tree(quiet, folder):
    tree = fitted(1_000).tree_
    quiet.open(written(folder, tree, X=points(1_000)))
    opened = colors_of_modes(quiet)
    for labels in ([2 * label for label in tree.labels().tolist()], [-1] * 1_000):
        quiet.run("explorer.showLabels(Int32Array.from(arguments[0]))", labels)
        assert quiet.labels() == labels
        shown = colors_of_modes(quiet)
        assert shown == (opened if labels[0] >= 0 else {})


def test_lost_context_leaves_a_picture_and_a_message(quiet, folder):
    quiet.open(written(folder, fitted(1_000)))
    quiet.run("explorer.plot.scatter.gl.getExtension('WEBGL_lose_context').loseContext()")
    quiet.wait("!explorer.plot.scatter")
    quiet.settle()
    message = quiet.driver.find_element("css selector", ".message")
    assert message.is_displayed()
    assert "still picture" in message.text
    assert drawn_on_overlay(quiet) > 1_000


def drawn_on_overlay(page):
    """Return the number of pixels that are drawn without WebGL, axes included."""
    script = """
        const { overlay } = explorer.plot;
        const { data } = overlay.getContext("2d").getImageData(0, 0, overlay.width, overlay.height);
        return data.filter((value, i) => i % 4 === 3 && value > 0).length;
    """
    return page.run(script)


def test_missing_webgl_leaves_a_picture_and_a_message(quiet, folder):
    hide = """
        const get = HTMLCanvasElement.prototype.getContext;
        HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
          return kind === "webgl2" ? null : get.call(this, kind, ...more);
        };
    """
    hidden = quiet.cdp("Page.addScriptToEvaluateOnNewDocument", source=hide)
    model = fitted(1_000)
    quiet.open(written(folder, model))
    quiet.cdp("Page.removeScriptToEvaluateOnNewDocument", **hidden)
    message = quiet.driver.find_element("css selector", ".message")
    assert "has no WebGL2" in message.text
    assert drawn_on_overlay(quiet) > 1_000
    choose_tau(quiet)
    assert quiet.labels() == labels_at(model, tau_now(quiet))


def test_the_policy_stops_requests_and_scripts(page, folder):
    page.open(written(folder, fitted(1_000)))
    script = """
        const done = arguments[0];
        const stopped = new Set();
        document.addEventListener("securitypolicyviolation", (event) => {
          stopped.add(event.effectiveDirective);
          if (stopped.size === 3) done([...stopped].sort());
        });
        fetch("https://example.org/").catch(() => {});
        const image = document.body.appendChild(document.createElement("img"));
        image.src = "https://example.org/x.png";
        const script = document.createElement("script");
        script.textContent = "globalThis.attacked = true";
        document.body.append(script);
    """
    stopped = page.driver.execute_async_script(script)
    assert stopped == ["connect-src", "img-src", "script-src-elem"]
    assert not page.run("return globalThis.attacked")


ATTACK = "</script><img src=x onerror=alert(1)>"


def hostile():
    """Return fits and options by name."""
    import pandas as pd

    rng = np.random.default_rng(0)
    X = blobs(200, centers=3, seed=0)[0]
    frame = pd.DataFrame(X, columns=[ATTACK, '"><script>alert(1)</script>'])
    frame.index = [f'row "{i}", \\{i}\'\n\0 {ATTACK}' for i in range(200)]
    huge = X * 1e300 / np.abs(X).max()
    copies = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]], 100_000, axis=0)
    return {
        "names": (qs.QuickShift().fit(frame), {"X": frame}),
        "huge": (qs.QuickShift().fit(huge), {}),
        "one point": (qs.QuickShift().fit([[1.0, 2.0]]), {}),
        "equal": (qs.QuickShift().fit(np.full((50, 2), 3.0)), {}),
        "copies": (qs.QuickShift(bandwidth=0.2, tau=0.5).fit(rng.permutation(copies)), {}),
        "far": (qs.QuickShift().fit(np.append(X, [[1e12, -1e12]], axis=0)), {}),
    }


@pytest.mark.parametrize("name", ["names", "huge", "one point", "equal", "copies", "far"])
def test_hostile_data_is_right(quiet, folder, name):
    model, options = hostile()[name]
    quiet.open(written(folder, model, **options))
    assert quiet.labels() == model.labels_.tolist()
    assert inked(quiet) > 0
    for step in ("0", "explorer.ladders[0].values.length - 1"):
        quiet.run(f"explorer.choose(explorer.ladders[0], {step})")
        tau = tau_now(quiet) * (1.0 if isinstance(model.tau_, float) else model.tau_)
        assert quiet.labels() == model.labels_at(tau).tolist()
    assert quiet.run("return document.querySelectorAll('img, script:not([type])').length") == 0
    if name == "names":
        assert ATTACK in "".join(quiet.run("return explorer.describe(0)"))
        names = [row["name"] for row in downloaded(quiet, folder)]
        assert names == [name.replace("\0", "\ufffd") for name in options["X"].index]
