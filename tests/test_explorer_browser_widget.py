"""The widget of `explore` in headless Chromium; run by `make test-browser`."""

import numpy as np
import pytest

import quickshift as qs
from browser_cases import button_of, fitted, labels_at

pytestmark = pytest.mark.browser


def rendered(page, folder, widget):
    """Open a page with a widget."""
    from widget_page import widget_page

    path = folder / "widget.html"
    path.write_text(widget_page(widget), encoding="utf-8")
    page.driver.get(path.as_uri())
    page.wait("globalThis.rendered")


def sent(page, name):
    """Return the rows that the widget has sent to Python."""
    return page.run("return model.rows(arguments[0])", name)


def said(page):
    """Return what each view says about its cut."""
    return [said.text for said in page.driver.find_elements("css selector", ".said")]


def test_widget_keeps_its_traits(quiet, folder):
    model = fitted(1_000)
    rendered(quiet, folder, qs.explore(model))
    assert sent(quiet, "labels") == model.labels_.tolist()
    quiet.run("model.set('tau', 30)")
    quiet.wait("model.get('tau') > 1 && model.saved > 1")
    assert sent(quiet, "labels") == labels_at(model, quiet.run("return model.get('tau')"))
    quiet.run("model.setRows('selection', [3, 5])")
    assert sent(quiet, "selection") == [3, 5]
    other = [[7, 3, -2][row % 3] for row in range(1_000)]
    quiet.run("model.setRows('labels', arguments[0])", other)
    assert sent(quiet, "labels") == other
    assert quiet.run("return model.get('tau')") is None
    picks = [button.text for button in quiet.driver.find_elements("css selector", ".pick")]
    assert picks == ["3", "7"]
    assert said(quiet) == ["2 clusters"]
    assert not button_of(quiet, "Copy Python").is_enabled()
    quiet.run("arguments[0].click()", button_of(quiet, "As fitted"))
    quiet.wait("model.rows('labels').includes(0)")
    assert sent(quiet, "labels") == model.labels_.tolist()
    assert button_of(quiet, "Copy Python").is_enabled()
    assert not button_of(quiet, "As fitted").is_enabled()
    quiet.run("model.set('tau', 30)")
    quiet.wait("!document.querySelector('.said').textContent.endsWith('as fitted')")
    quiet.run("model.set('tau', null)")
    quiet.wait("document.querySelector('.said').textContent.endsWith('as fitted')")


def test_traits_that_were_set_before_are_shown(quiet, folder):
    model = fitted(1_000)
    widget = qs.explore(model)
    widget.tau, widget.selection = 4.0, [8, 2]
    rendered(quiet, folder, widget)
    quiet.wait("model.rows('labels').length")
    tau = quiet.run("return model.get('tau')")
    assert labels_at(model, tau) == labels_at(model, 4.0)
    quiet.wait("model.saved > 1")
    assert sent(quiet, "labels") == labels_at(model, 4.0)
    assert sent(quiet, "selection") == [2, 8]
    widget = qs.explore(model)
    widget.labels = np.arange(1_000) % 3
    rendered(quiet, folder, widget)
    assert said(quiet) == ["3 clusters"]
    assert sent(quiet, "labels") == widget.labels.tolist()


def test_labels_of_a_cut_are_shown_as_that_cut(quiet, folder):
    model = fitted(1_000)
    rendered(quiet, folder, qs.explore(model))
    quiet.run("model.setRows('labels', arguments[0])", labels_at(model, 4.0))
    tau = quiet.run("return model.get('tau')")
    assert labels_at(model, tau) == labels_at(model, 4.0)
    merged = model.recut(min_significance=11.0).labels_.tolist()
    quiet.run("model.setRows('labels', arguments[0])", merged)
    assert quiet.run("return model.get('tau')") is None
    line = quiet.driver.find_element("css selector", ".python").text.removeprefix("labels = ")
    assert eval(line, {"model": model}).tolist() == merged


def test_two_views_of_a_widget_show_the_same(quiet, folder):
    model = fitted(1_000)
    rendered(quiet, folder, qs.explore(model))
    quiet.driver.execute_async_script("again().then(arguments[0])")
    for text in ("Fewer", "More", "Fewer"):
        first = quiet.driver.find_elements("xpath", f"//button[text()='{text}']")[0]
        quiet.run("arguments[0].click()", first)
        counts = "[...document.querySelectorAll('.said')].map((said) => parseInt(said.textContent))"
        quiet.wait(f"new Set({counts}).size === 1")
        for code in quiet.driver.find_elements("css selector", ".python"):
            line = code.get_attribute("textContent").removeprefix("labels = ")
            assert eval(line, {"model": model}).tolist() == sent(quiet, "labels")
    heard = quiet.run("return model.heard.length")
    quiet.run("remove()")
    assert quiet.run("return model.heard.length") == heard / 2


def test_widget_of_a_picture_keeps_its_traits(quiet, folder):
    image = np.random.default_rng(0).uniform(size=(20, 30))
    forest = qs.segment_forest(image, bandwidth=2.0)
    rendered(quiet, folder, qs.explore(forest, image=image))
    assert sent(quiet, "labels") == forest.labels_at(10.0).ravel().tolist()
    other = (np.arange(600) // 150).tolist()
    quiet.run("model.setRows('labels', arguments[0])", other)
    assert sent(quiet, "labels") == other
    assert quiet.run("return model.get('tau')") is None
    assert said(quiet) == ["4 segments"]
    quiet.run("model.set('tau', 3)")
    quiet.wait("model.rows('labels')[599] !== 3")
    tau = quiet.run("return model.get('tau')")
    np.testing.assert_array_equal(forest.labels_at(tau), forest.labels_at(3.0))
    assert sent(quiet, "labels") == forest.labels_at(3.0).ravel().tolist()
    quiet.run("model.setRows('selection', [0, 1, 31])")
    assert sent(quiet, "selection") == [0, 1, 31]
    quiet.run("arguments[0].click()", button_of(quiet, "Clear"))
    assert sent(quiet, "selection") == []
