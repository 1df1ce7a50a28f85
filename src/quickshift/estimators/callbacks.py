"""Telling scikit-learn's callbacks how far a fit is; before scikit-learn 1.9 there are none."""

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["CallbackSupportMixin", "FitReport", "with_callbacks"]

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for scikit-learn's: without it an estimator has no callbacks to tell."""

    def _with_callbacks(method: Any) -> Any:
        return method


Method = TypeVar("Method", bound=Callable[..., Any])

_PARTS = 20  # of a stage: a callback hears of each


def with_callbacks(method: Method) -> Method:
    """Tear callbacks down when a method is over, however it ends."""
    decorated: Method = _with_callbacks(method)
    return decorated


class FitReport:
    """A ``progress`` for stages that makes them tasks of the fit of an estimator.

    The fit is a task, each stage a task below it, and each twentieth of a stage a task below that.

    Parameters
    ----------
    estimator : BaseEstimator
        What is fitted.
    n_stages : int
        How many stages there will be.
    """

    def __init__(self, estimator: Any, n_stages: int) -> None:
        self._estimator = estimator
        self._fit = estimator._init_callback_context(max_subtasks=n_stages)
        self._stage: Any = None
        self._told = 0

    @classmethod
    def wanted(cls, estimator: Any, n_stages: int) -> "FitReport | None":
        """Make a report if the estimator has callbacks."""
        return cls(estimator, n_stages) if getattr(estimator, "_skl_callbacks", None) else None

    def begin(self, X: object, sample_weight: object) -> None:
        """Tell that the fit begins."""
        self._fit.call_on_fit_task_begin(
            estimator=self._estimator, X=X, metadata={"sample_weight": sample_weight}
        )

    def end(self, X: object, sample_weight: object) -> None:
        """Tell that the estimator is fitted."""
        self._fit.call_on_fit_task_end(
            estimator=self._estimator,
            X=X,
            metadata={"sample_weight": sample_weight},
            reconstruction_attributes={},  # it is fitted as it stands
        )

    def __call__(self, stage: str, done: float) -> None:
        """Tell that a part of a stage is done."""
        if self._stage is None:
            self._stage = self._fit.subcontext(task_name=stage, max_subtasks=_PARTS)
            self._stage.call_on_fit_task_begin(estimator=self._estimator)
            self._told = 0
        for _ in range(self._told, int(done * _PARTS)):
            part = self._stage.subcontext(task_name="part")
            part.call_on_fit_task_begin(estimator=self._estimator)
            part.call_on_fit_task_end(estimator=self._estimator)
            self._told += 1
        if done == 1.0:
            self._stage.call_on_fit_task_end(estimator=self._estimator)
            self._stage = None
