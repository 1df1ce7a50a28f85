"""The pages of `explore` in headless Chromium; run by `make test-browser`."""

import csv
import io
import json
import time
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import quickshift as qs
from quickshift.datasets import blobs, two_branches

pytestmark = pytest.mark.browser

AXE = Path(__file__).parent / "js/node_modules/axe-core/axe.min.js"
SIZES = (1_000, 100_000, 1_000_000)


@cache
def points(n):
    """Return clusters of several sizes and spreads over a uniform background."""
    rng = np.random.default_rng(0)
    centers, spreads = rng.uniform(-10, 10, (12, 2)), rng.uniform(0.4, 1.4, 12)
    of = rng.choice(12, n - n // 30, p=rng.dirichlet(np.full(12, 4.0)))
    clusters = centers[of] + rng.normal(size=(of.size, 2)) * spreads[of, None]
    return rng.permutation(np.concatenate([clusters, rng.uniform(-13, 13, (n // 30, 2))]))


@cache
def fitted(n):
    return qs.QuickShift().fit(points(n))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def page(folder):
    from browser import browser

    with browser(folder) as opened:
        yield opened


@pytest.fixture
def quiet(page):
    """Check after a test that nothing was said on the console and nothing requested."""
    page.errors()
    page.requests()
    yield page
    assert page.errors() == []
    away = [url for url in page.requests() if not url.startswith(("file:", "data:", "blob:"))]
    assert away == []


def written(folder, model, **options):
    path = folder / f"{time.monotonic_ns()}.html"
    return qs.explore(model, path, **options)


def inked(page):
    """Return the share of pixels of the plot that points cover."""
    script = """
        const { canvas, scatter } = explorer.plot;
        explorer.plot.draw();
        const pixels = new Uint8Array(4 * canvas.width * canvas.height);
        scatter.gl.readPixels(0, 0, canvas.width, canvas.height, 6408, 5121, pixels);
        return pixels.filter((value, i) => i % 4 === 3 && value > 0).length / (pixels.length / 4);
    """
    return page.run(script)


def tau_now(page):
    return page.run("return explorer.tau")


def slider(page):
    return page.driver.find_element("css selector", ".quickshift input[type=range]")


def button_of(page, text):
    return page.driver.find_element("xpath", f"//button[text()='{text}']")


def colors_of_modes(page):
    script = "return [...explorer.forest.roots].map((r) => [r, explorer.forest.colors[r]])"
    return dict(page.run(script))


def choose_tau(page):
    page.driver.find_element("css selector", "input[value=tau]").click()
    page.settle()


def labels_at(model, tau):
    return model.labels_at(tau * model.tau_).tolist()


def test_page_opens_on_the_labels_of_the_fit(quiet, folder):
    quiet.open(written(folder, fitted(1_000)))
    assert quiet.labels() == fitted(1_000).labels_.tolist()
    assert inked(quiet) > 0.005


@pytest.mark.parametrize("keys", [("HOME",), ("END",), ("PAGE_UP", "ARROW_LEFT", "ARROW_LEFT")])
def test_keyboard_sets_tau(quiet, folder, keys):
    from selenium.webdriver.common.keys import Keys

    model = fitted(1_000)
    quiet.open(written(folder, model))
    choose_tau(quiet)
    slider(quiet).send_keys(*(getattr(Keys, key) for key in keys))
    assert quiet.labels() == labels_at(model, tau_now(quiet))


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
        assert quiet.labels() == labels_at(model, tau_now(quiet))
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


def test_download_and_python_give_the_labels(quiet, folder):
    model = fitted(1_000)
    quiet.open(written(folder, model))
    choose_tau(quiet)
    quiet.driver.find_element("xpath", "//button[text()='Fewer']").click()
    labels = quiet.labels()
    (folder / "labels.csv").unlink(missing_ok=True)
    quiet.driver.find_element("xpath", "//button[text()='Download labels']").click()
    end = time.monotonic() + 60
    while not (folder / "labels.csv").exists():
        assert time.monotonic() < end
        time.sleep(0.05)
    time.sleep(0.2)
    rows = list(csv.DictReader(io.StringIO((folder / "labels.csv").read_text(encoding="utf-8"))))
    assert [int(row["row"]) for row in rows] == list(range(1_000))
    assert [int(row["label"]) for row in rows] == labels
    line = quiet.driver.find_element("css selector", ".python").text.removeprefix("labels = ")
    assert eval(line, {"model": model}).tolist() == labels


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
        const { forest, header, ladders } = explorer;
        const last = ladders[0].values.length - 1;
        for (let k = 1; k <= 20; k++) forest.cut({ tau: last - 5 * k }, header.chosen);
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
    script = """
        const { overlay } = explorer.plot;
        const { data } = overlay.getContext("2d").getImageData(0, 0, overlay.width, overlay.height);
        return data.filter((value, i) => i % 4 === 3 && value > 0).length;
    """
    assert quiet.run(script) > 1_000


ATTACK = "</script><img src=x onerror=alert(1)>"


def hostile():
    """Return fits and options by name."""
    import pandas as pd

    rng = np.random.default_rng(0)
    X = blobs(200, centers=3, seed=0)[0]
    frame = pd.DataFrame(X, columns=[ATTACK, '"><script>alert(1)</script>'])
    frame.index = [f'row "{i}", \\{i}\' {ATTACK}' for i in range(200)]
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


def test_widget_keeps_its_traits(quiet, folder):
    from quickshift.explorer.widget import Explorer
    from widget_page import widget_page

    model = fitted(1_000)
    path = folder / "widget.html"
    path.write_text(widget_page(Explorer._esm, qs.explore(model).packed), encoding="utf-8")
    quiet.driver.get(path.as_uri())
    quiet.wait("globalThis.rendered")
    sent = "return Array.from(new Int32Array(model.get('labels').buffer))"
    assert quiet.run(sent) == model.labels_.tolist()
    quiet.run("model.receive('tau', 30)")
    quiet.wait("model.get('tau') > 1 && model.saved > 1")
    assert quiet.run(sent) == labels_at(model, quiet.run("return model.get('tau')"))
    quiet.run("model.receive('selection', new DataView(Int32Array.from([3, 5]).buffer))")
    chosen = "return Array.from(new Int32Array(model.get('selection').buffer))"
    assert quiet.run(chosen) == [3, 5]
    other = [[7, 3, -2][row % 3] for row in range(1_000)]
    quiet.run("model.receive('labels', new DataView(Int32Array.from(arguments[0]).buffer))", other)
    assert quiet.run(sent) == other
    assert quiet.run("return model.get('tau')") is None
    assert [button.text for button in quiet.driver.find_elements("css selector", ".pick")] == [
        "3",
        "7",
    ]
    assert quiet.driver.find_element("css selector", ".said").text == "2 clusters"
    assert not button_of(quiet, "Copy Python").is_enabled()
    quiet.run("arguments[0].click()", button_of(quiet, "As fitted"))
    quiet.wait("model.saved > 4")
    assert quiet.run(sent) == model.labels_.tolist()
    assert button_of(quiet, "Copy Python").is_enabled()
    assert not button_of(quiet, "As fitted").is_enabled()
