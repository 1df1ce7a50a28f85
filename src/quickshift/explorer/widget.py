"""The widget: the view of the page in a notebook, with traits in both directions."""

from typing import Any

import anywidget
import numpy as np
import traitlets

from quickshift.arrays import Indices
from quickshift.explorer.page import script, style

__all__ = ["Explorer"]


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
        return rows.astype(np.int64)

    def set(self, obj: Any, value: Any) -> None:
        new = self._validate(obj, value)
        old = obj._trait_values.get(self.name)
        obj._trait_values[self.name] = new
        if old is None or not np.array_equal(old, new):
            obj._notify_trait(self.name, old, new)


class Explorer(anywidget.AnyWidget):
    """The view of a result in a notebook; `quickshift.explore` creates it.

    Parameters
    ----------
    packed : bytes
        From `pack`.

    Attributes
    ----------
    tau : float or None
        The cut of the view: tau, or with local scale the multiple of each sample's own. None if
        the view is cut by significance or as fitted. Setting it moves the slider.
    selection : ndarray of int
        Selected rows, ascending. Setting it selects rows.
    labels : ndarray of int
        Labels of all rows at the cut of the view. Setting them shows other labels, for example of
        another method.
    """

    _esm = f"{script()}\nexport default {{ render: widget_js.render }};\n"
    _css = style()
    packed = traitlets.Bytes().tag(sync=True)
    tau = traitlets.Float(None, allow_none=True).tag(sync=True)
    selection = _Rows().tag(sync=True, to_json=_to_bytes, from_json=_from_bytes)
    labels = _Rows().tag(sync=True, to_json=_to_bytes, from_json=_from_bytes)

    def __init__(self, packed: bytes) -> None:
        empty = np.empty(0, dtype=np.int64)
        super().__init__(packed=packed, selection=empty, labels=empty)
