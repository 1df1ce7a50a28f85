"""Fits that tests of the browser open, and what they do with a page."""

import csv
import io
import time
from functools import cache

import numpy as np

import quickshift as qs


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


def downloaded(page, folder):
    """Download the labels, and return the rows of the file as dictionaries."""
    file = folder / "labels.csv"
    file.unlink(missing_ok=True)
    button_of(page, "Download labels").click()
    end = time.monotonic() + 60
    while not file.exists():
        assert time.monotonic() < end
        time.sleep(0.05)
    time.sleep(0.2)
    with io.StringIO(file.read_text(encoding="utf-8"), newline="") as text:
        return list(csv.DictReader(text))
