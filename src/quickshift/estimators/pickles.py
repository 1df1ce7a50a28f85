"""Pickled estimators that remember which version of quickshift wrote them."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.base import BaseEstimator

from quickshift import __version__

__all__ = ["PickledWithVersion"]

_VERSION = "_quickshift_version"  # key in the pickled state


class PickledWithVersion(BaseEstimator):
    """Write the version into pickles, and warn about those of another minor version."""

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {**state, _VERSION: __version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        written = str(state.pop(_VERSION, "an unknown version"))
        if _minor(written) != _minor(__version__):
            warnings.warn(
                f"This {type(self).__name__} was pickled with quickshift {written} and is loaded "
                f"with {__version__}. Only versions with the same first two numbers can read each "
                f"other's pickles; fit again, or install quickshift {written}.",
                UserWarning,
                stacklevel=2,
            )
        super().__setstate__(state)


def _minor(version: str) -> list[str]:
    """Return the first two numbers of a version."""
    return version.split(".")[:2]
