"""Plots of results, in scikit-learn's way.

``Display.from_estimator(fitted)`` computes what is drawn and keeps it as arrays; ``plot`` draws it
with matplotlib (``pip install quickshift[plot]``). Label i has color i in every plot.
"""

from typing import Any

from quickshift.checks.numbers import check_choice
from quickshift.plot.cluster_tree import ClusterTreeDisplay
from quickshift.plot.colors import label_colors, palette
from quickshift.plot.cuts import CutsDisplay
from quickshift.plot.decision_graph import DecisionGraphDisplay
from quickshift.plot.forest import ForestDisplay
from quickshift.plot.level_set import LevelSetDisplay
from quickshift.plot.modal_regression import ModalRegressionDisplay
from quickshift.plot.persistence import PersistenceDisplay
from quickshift.plot.segmentation import SegmentationDisplay
from quickshift.plot.separation import SeparationDisplay

__all__ = [
    "ClusterTreeDisplay",
    "CutsDisplay",
    "DecisionGraphDisplay",
    "ForestDisplay",
    "LevelSetDisplay",
    "ModalRegressionDisplay",
    "PersistenceDisplay",
    "SegmentationDisplay",
    "SeparationDisplay",
    "label_colors",
    "palette",
]

_KINDS = {
    "forest": ForestDisplay,
    "decision_graph": DecisionGraphDisplay,
    "cuts": CutsDisplay,
    "tree": ClusterTreeDisplay,
    "persistence": PersistenceDisplay,
}


def display_of(kind: str) -> Any:
    """Return the display that `QuickShift.plot` draws."""
    return _KINDS[check_choice(kind, "kind", tuple(_KINDS))]
