"""The widget: the view of the page in a notebook, with traits in both directions."""

from typing import Any

import anywidget
import numpy as np
import traitlets

from quickshift.arrays import Indices
from quickshift.explorer.packing import read_header
from quickshift.explorer.page import script, style

__all__ = ["Explorer"]

_LARGEST = 2**31 - 1  # labels are sent to the browser as 32-bit integers


def _to_bytes(rows: Indices | None, _widget: object) -> bytes | None:
    return None if rows is None else np.asarray(rows, dtype="<i4").tobytes()


def _from_bytes(data: Any, _widget: object) -> Indices | None:
    return None if data is None else np.frombuffer(data, "<i4").astype(np.int64)


class _Rows(traitlets.TraitType):
    """A one-dimensional array of whole numbers, compared by its entries."""

    info_text = "an array of whole numbers"

    def validate(self, obj: Any, value: Any) -> Indices:
        rows = np.asarray(value)
        if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
            self.error(obj, value)
        if rows.size:
            obj._refuse(self.name)
        return rows.astype(np.int64)

    def set(self, obj: Any, value: Any) -> None:
        new = self._validate(obj, value)
        old = obj._trait_values.get(self.name)
        obj._trait_values[self.name] = new
        if old is None or not np.array_equal(old, new):
            obj._notify_trait(self.name, old, new)


class _Selection(_Rows):
    """Rows that exist."""

    def validate(self, obj: Any, value: Any) -> Indices:
        rows = super().validate(obj, value)
        outside = rows[(rows < 0) | (rows >= obj._n)]
        if outside.size:
            raise traitlets.TraitError(
                f"selection contains row {outside[0]}, expected rows from 0 to {obj._n - 1}."
            )
        return np.unique(rows)


class _Labels(_Rows):
    """One number for each row, or none before the view is shown."""

    def validate(self, obj: Any, value: Any) -> Indices:
        labels = super().validate(obj, value)
        if labels.size not in (0, obj._n):
            raise traitlets.TraitError(
                f"labels has {labels.size} entries, expected {obj._n}, one for each row."
            )
        if labels.size and max(labels.max(), -labels.min()) > _LARGEST:
            raise traitlets.TraitError(
                f"labels go from {labels.min()} to {labels.max()}, expected numbers of 32 bits. "
                f"numpy.unique(labels, return_inverse=True)[1] numbers them from 0."
            )
        return labels


class _Tau(traitlets.Float):
    """A length."""

    def validate(self, obj: Any, value: Any) -> float:
        tau = float(super().validate(obj, value))
        obj._refuse(self.name)
        if not 0 <= tau < np.inf:
            raise traitlets.TraitError(
                f"tau is {tau}, expected a finite number of at least 0, or None."
            )
        return tau


class Explorer(anywidget.AnyWidget):
    """The view of a result in a notebook; `quickshift.explore` creates it.

    Traits may be set before the view is shown, and all views of one widget show the same. A trait
    that a result has no use for cannot be set: a ClusterTree has no tau, and a ModalRegressor has
    none of them.

    Parameters
    ----------
    packed : bytes
        From `pack`.

    Attributes
    ----------
    tau : float or None
        The cut of the view: tau, or with local scale the multiple of each sample's own. None if
        the view is cut by significance or as fitted, or shows other labels. Setting it moves the
        slider, and None returns to the cut of the fit.
    selection : ndarray of int
        Selected rows, ascending; pixels of a picture are counted row by row. Setting it selects
        rows.
    labels : ndarray of int
        Labels of all rows, or of all pixels row by row, at the cut of the view; empty before it is
        shown. The browser computes them, so they follow `tau` only after the cell that sets it has
        ended. Setting them shows the cut that has these labels, or else the labels themselves, for
        example of another method, with their own numbers; a row of a negative label is in no
        cluster.
    """

    _esm = f"{script()}\nexport default {{ render: widget_js.render }};\n"
    _css = style()
    packed = traitlets.Bytes().tag(sync=True)
    tau = _Tau(None, allow_none=True).tag(sync=True)
    selection = _Selection().tag(sync=True, to_json=_to_bytes, from_json=_from_bytes)
    labels = _Labels().tag(sync=True, to_json=_to_bytes, from_json=_from_bytes)

    def __init__(self, packed: bytes) -> None:
        header = read_header(packed)
        self._n = int(header["n"])
        self._cuts = [ladder["key"] for ladder in header.get("ladders", [])]
        empty = np.empty(0, dtype=np.int64)
        super().__init__(packed=packed, selection=empty, labels=empty)

    def _refuse(self, name: str) -> None:
        """Raise if a trait means nothing for the result that is shown."""
        if not self._cuts:
            raise traitlets.TraitError(
                f"{name} cannot be set: a ModalRegressor has no clusters. Move the sliders of its "
                f"view instead."
            )
        if name == "tau" and "tau" not in self._cuts:
            raise traitlets.TraitError(
                "tau cannot be set: a ClusterTree is cut by the significance of its modes. Explore "
                "the fitted QuickShift to cut it by tau, or set labels to those of tree.prune()."
            )
