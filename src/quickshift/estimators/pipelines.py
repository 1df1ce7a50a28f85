"""The last step of a pipeline, and its methods that scikit-learn's Pipeline does not pass on."""

from typing import Any

from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from quickshift.estimators.quick_shift import QuickShift

__all__ = ["call_last_step", "quick_shift_of"]


def call_last_step(pipeline: Pipeline, method: str, X: ArrayLike, *args: Any, **kwargs: Any) -> Any:
    """Call a method of a pipeline's last step with X transformed by the steps before it.

    A scikit-learn Pipeline has only the methods that scikit-learn knows, such as ``predict``. This
    function reaches all others, for example `ModalRegressor.predict_modes` and
    `ModalRegressor.predict_set`.

    Parameters
    ----------
    pipeline : sklearn.pipeline.Pipeline
        A fitted pipeline. If its last step is itself a pipeline, the method of that pipeline's last
        step is called.
    method : str
        Name of a method whose first argument is X.
    X : array-like of shape (n_queries, n_features)
        The rows as the pipeline takes them, before any transformation.
    *args, **kwargs
        Further arguments of the method. They are not transformed.

    Returns
    -------
    object
        The result of the method, in the units of the last step: what the method returns about y
        needs no conversion, but lengths and places in X are those of the transformed features.

    Raises
    ------
    TypeError
        If ``pipeline`` is not a Pipeline.
    AttributeError
        If its last step has no such method.
    sklearn.exceptions.NotFittedError
        If the pipeline has not been fitted.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from quickshift import ModalRegressor, call_last_step
    >>> from quickshift.datasets import two_branches
    >>> X, y = two_branches().sample(2000, seed=0)
    >>> pipeline = make_pipeline(StandardScaler(), ModalRegressor()).fit(X, y)
    >>> call_last_step(pipeline, "predict_modes", [[0.25]])[0].round(1)
    array([ 1.4, -1. ])
    >>> len(call_last_step(pipeline, "predict_set", [[0.25]], coverage=0.9)[0])
    2
    """
    if not isinstance(pipeline, Pipeline):
        raise TypeError(
            f"pipeline is of type {type(pipeline).__name__}, expected a scikit-learn Pipeline. "
            f"Call {method} on an estimator itself; of a search such as GridSearchCV, pass "
            f"best_estimator_."
        )
    if not isinstance(method, str):
        raise TypeError(
            f"method is of type {type(method).__name__}, expected the name of a method, as in "
            f"'predict_proba'."
        )
    last = pipeline[-1]
    nested = isinstance(last, Pipeline)
    if not nested and not callable(getattr(last, method, None)):
        raise AttributeError(
            f"the last step of the pipeline is {_named(last)}, which has no method {method!r}. "
            f"Its methods are {', '.join(_methods(last))}."
        )
    _check_fitted(pipeline)
    transformed = pipeline[:-1].transform(X) if len(pipeline) > 1 else X
    if nested:
        return call_last_step(last, method, transformed, *args, **kwargs)
    return getattr(last, method)(transformed, *args, **kwargs)


def _check_fitted(pipeline: Pipeline) -> None:
    try:
        check_is_fitted(pipeline)
    except NotFittedError as error:
        raise NotFittedError(
            "the pipeline has not been fitted. Call its fit method first, with the same steps."
        ) from error


def _named(step: Any) -> str:
    return repr(step) if isinstance(step, str) or step is None else type(step).__name__


def _methods(step: Any) -> list[str]:
    """Return the names of the public methods of an estimator."""
    names = [name for name in dir(type(step)) if not name.startswith("_")]
    return [name for name in names if callable(getattr(step, name, None))]


def quick_shift_of(fitted: "QuickShift | Pipeline") -> QuickShift:
    """Return a fitted estimator itself, or the last step of a pipeline."""
    last: Any = fitted[-1] if isinstance(fitted, Pipeline) else fitted
    if not isinstance(last, QuickShift):
        where = "a pipeline that ends with " if isinstance(fitted, Pipeline) else ""
        raise TypeError(
            f"fitted is {where}{type(last).__name__}, expected a fitted QuickShift or a pipeline "
            f"that ends with one. Pass the QuickShift step, for example pipeline[-1]."
        )
    check_is_fitted(last)
    return last
