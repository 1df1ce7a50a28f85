"""Tests of the widget of `explore`, without a browser: its traits and what it sends."""

import sys

import numpy as np
import pytest
import traitlets
from numpy.testing import assert_array_equal

import quickshift as qs
from plot_cases import fits
from quickshift.datasets import two_branches
from quickshift.explorer.packing import unpack


@pytest.fixture
def widget():
    return qs.explore(fits()["local"])


def test_widget_has_the_payload_and_the_script_of_the_page(widget):
    header, _ = unpack(widget.packed)
    assert header["n"] == 490
    assert "export default { render: widget_js.render };" in widget._esm
    assert ".quickshift" in widget._css


def test_rows_are_sent_and_received_as_bytes(widget):
    widget.selection = [5, 3]
    sent = widget.get_state(["selection", "labels", "tau"])
    assert sent["selection"] == np.array([3, 5], dtype="<i4").tobytes()
    assert sent["tau"] is None
    labels = np.arange(490, dtype="<i4")
    widget.set_state({"labels": memoryview(labels.tobytes()), "tau": 2.5})
    assert widget.labels.dtype == np.int64
    assert_array_equal(widget.labels, labels)
    assert widget.tau == 2.5


def test_observers_hear_changes_only(widget):
    heard = []
    widget.observe(lambda change: heard.append(change["new"].tolist()), "selection")
    for rows in ([1, 2], [1, 2], [2]):
        widget.selection = rows
    assert heard == [[1, 2], [2]]


@pytest.mark.parametrize("rows", [[0.5], [[1, 2]], "ab", None])
def test_a_selection_is_an_array_of_whole_numbers(widget, rows):
    with pytest.raises(traitlets.TraitError, match="an array of whole numbers"):
        widget.selection = rows


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("tau", -1.0, "tau is -1.0, expected a finite number of at least 0"),
        ("tau", np.nan, "tau is nan, expected a finite number of at least 0"),
        ("selection", [3, 490], "selection contains row 490, expected rows from 0 to 489"),
        ("selection", [-1], "selection contains row -1, expected rows from 0 to 489"),
        ("labels", [0, 1, 2], "labels has 3 entries, expected 490, one for each row"),
        ("labels", np.full(490, 2**40), "expected numbers of 32 bits"),
    ],
)
def test_wrong_traits_are_explained_and_not_kept(widget, name, value, message):
    widget.tau, widget.selection, widget.labels = 2.0, [1], np.full(490, -1)
    before = widget.get_state([name])
    with pytest.raises(traitlets.TraitError, match=message):
        setattr(widget, name, value)
    assert widget.get_state([name]) == before


@pytest.mark.parametrize(
    ("name", "value"), [("tau", 1.0), ("selection", [1]), ("labels", np.zeros(300, dtype=int))]
)
def test_a_regression_refuses_the_traits_of_clusters(name, value):
    view = qs.explore(qs.ModalRegressor().fit(*two_branches().sample(300, seed=0)))
    with pytest.raises(traitlets.TraitError, match=f"{name} cannot be set: a ModalRegressor has"):
        setattr(view, name, value)


def test_a_tree_has_no_tau():
    model = fits()["local"]
    view = qs.explore(model.tree_, X=np.zeros((490, 2)))
    with pytest.raises(traitlets.TraitError, match="tau cannot be set: a ClusterTree is cut by"):
        view.tau = 1.0
    view.labels, view.selection = model.labels_, [3]


def test_without_anywidget_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "quickshift.explorer.widget", raising=False)
    with pytest.raises(ImportError, match=r"pip install quickshift\[explore\]"):
        qs.explore(fits()["one point"])
