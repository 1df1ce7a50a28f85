"""Progress of a fit for the callbacks of scikit-learn, which exist since its version 1.9."""

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["CallbackSupportMixin", "FitReport", "with_callbacks"]

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stand-in for older versions of scikit-learn, where an estimator has no callbacks."""

    def _with_callbacks(method: Any) -> Any:
        return method


Method = TypeVar("Method", bound=Callable[..., Any])

_PARTS = 20  # number of parts of a stage; callbacks are called for each part


def with_callbacks(method: Method) -> Method:
    """Decorate a method, so that the callbacks are torn down when it returns or raises."""
    decorated: Method = _with_callbacks(method)
    return decorated


class FitReport:
    """A ``progress`` callable that reports the stages of a fit to scikit-learn's callbacks.

    The fit is a task, each stage is a subtask of it, and each twentieth of a stage is a subtask of
    the stage.

    Parameters
    ----------
    estimator : BaseEstimator
        The estimator that is being fitted.
    n_stages : int or None
        Number of stages that the fit will have, if it is known.
    """

    def __init__(self, estimator: Any, n_stages: int | None) -> None:
        self._estimator = estimator
        self._fit = estimator._init_callback_context(max_subtasks=n_stages)
        self._stage: Any = None
        self._told = 0

    @classmethod
    def wanted(cls, estimator: Any, n_stages: int | None) -> "FitReport | None":
        """Return a report if the estimator has callbacks, otherwise None."""
        return cls(estimator, n_stages) if getattr(estimator, "_skl_callbacks", None) else None

    def begin(self, X: object, sample_weight: object) -> None:
        """Report that the fit begins."""
        self._fit.call_on_fit_task_begin(
            estimator=self._estimator, X=X, metadata={"sample_weight": sample_weight}
        )

    def end(self, X: object, sample_weight: object) -> None:
        """Report that the estimator is fitted."""
        self._fit.call_on_fit_task_end(
            estimator=self._estimator,
            X=X,
            metadata={"sample_weight": sample_weight},
            reconstruction_attributes={},  # the estimator itself is already fitted
        )

    def __call__(self, stage: str, done: float) -> None:
        """Report that the share ``done`` of a stage is complete."""
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
