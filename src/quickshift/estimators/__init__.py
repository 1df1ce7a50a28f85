"""The friendly layer: scikit-learn estimators over `quickshift.stages`."""

from quickshift.estimators.quick_shift import QuickShift

__all__ = ["QuickShift"]
