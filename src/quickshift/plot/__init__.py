"""Pictures of results, in scikit-learn's way.

``Display.from_estimator(fitted)`` computes what is drawn and keeps it as arrays; ``plot`` draws it
with matplotlib (``pip install quickshift[plot]``). Label i has color i in every picture.
"""

from quickshift.plot.cluster_tree import ClusterTreeDisplay
from quickshift.plot.colors import label_colors, palette
from quickshift.plot.cuts import CutsDisplay
from quickshift.plot.decision_graph import DecisionGraphDisplay
from quickshift.plot.forest import ForestDisplay
from quickshift.plot.persistence import PersistenceDisplay

__all__ = [
    "ClusterTreeDisplay",
    "CutsDisplay",
    "DecisionGraphDisplay",
    "ForestDisplay",
    "PersistenceDisplay",
    "label_colors",
    "palette",
]
