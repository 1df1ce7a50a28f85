"""The friendly layer: scikit-learn estimators over `quickshift.stages`."""

from quickshift.estimators.diagnosis import Diagnosis, diagnose
from quickshift.estimators.quick_shift import QuickShift
from quickshift.estimators.quick_shift_tree import QuickShiftTree

__all__ = ["Diagnosis", "QuickShift", "QuickShiftTree", "diagnose"]
