"""Print the attributes of all objects in pickled estimators, one class per line.

tests/pickled_names.txt contains them, and a test compares it with the output of this script.
Versions with the same first two numbers read each other's pickles, so between the releases of a
minor version these names and their meanings stay. After an intended change, run
`make public-names` to rewrite the file, and raise the minor version if the present one has been
released.
"""

import io
import pickle
from typing import Any

import numpy as np

from quickshift import ModalRegressor, QuickShift


class _Recorder(pickle.Pickler):
    """Notes the attributes of all objects of quickshift while it pickles them."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO())
        self.found: dict[str, set[str]] = {}

    def persistent_id(self, thing: Any) -> None:
        kind = type(thing)
        if kind.__module__.startswith("quickshift") and hasattr(thing, "__dict__"):
            names = self.found.setdefault(f"{kind.__module__}.{kind.__qualname__}", set())
            names.update(vars(thing))


def pickled_names() -> list[str]:
    """Return one line per class of which pickled estimators contain objects."""
    X = np.random.default_rng(0).uniform(-1, 1, size=(40, 2))
    tree = QuickShift().fit(X)
    tree.tree_  # noqa: B018, linked when first asked for
    models = [tree, QuickShift(0.5).fit(X), QuickShift(scale="std", period=[9, np.inf]).fit(X)]
    models += [QuickShift(metric=metric).fit(X) for metric in ("haversine", "cosine")]
    recorder = _Recorder()
    recorder.dump([*models, ModalRegressor().fit(X[:, :1], X[:, 1])])
    found = sorted(recorder.found.items())
    return [" ".join([f"{kind}:", *sorted(names)]) for kind, names in found]


if __name__ == "__main__":
    print(*pickled_names(), sep="\n")
