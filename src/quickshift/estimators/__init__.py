"""The friendly layer: scikit-learn estimators over `quickshift.stages`."""

from quickshift.estimators.diagnosis import Diagnosis, diagnose
from quickshift.estimators.modal_regressor import ModalRegressor
from quickshift.estimators.pipelines import call_last_step
from quickshift.estimators.quick_shift import QuickShift
from quickshift.estimators.summary import Candidate, Summary
from quickshift.estimators.trace import trace_branches

__all__ = [
    "Candidate",
    "Diagnosis",
    "ModalRegressor",
    "QuickShift",
    "Summary",
    "call_last_step",
    "diagnose",
    "trace_branches",
]
