"""Conditional modes followed along one feature, for plots."""

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from quickshift.checks import refuse_lossy
from quickshift.estimators.modal_regressor import ModalRegressor
from quickshift.stages.regression.branches import Branch, trace

__all__ = ["trace_branches"]


def trace_branches(model: ModalRegressor, grid: ArrayLike) -> list[Branch]:
    """Follow the modes of a regression along x into curves.

    Parameters
    ----------
    model : ModalRegressor
        Fitted on one feature and one response.
    grid : array-like of shape (n_points,)
        Rising values of x. The finer it is, the surer the curves are: successive modes of a branch
        are at most `tau_` apart.

    Returns
    -------
    list of Branch
        Each with ``x``, ``y`` and ``density`` along it. A branch begins where a mode appears and
        ends where it vanishes or joins another; where two cross, both go straight on as long as
        both can be told apart.

    Examples
    --------
    >>> import numpy as np
    >>> from quickshift import ModalRegressor, trace_branches
    >>> from quickshift.datasets import two_branches
    >>> X, y = two_branches().sample(2000, seed=0)
    >>> model = ModalRegressor().fit(X, y)
    >>> branches = trace_branches(model, np.linspace(0.1, 0.9, 81))
    >>> [len(branch) for branch in branches]
    [81, 81]
    """
    if not isinstance(model, ModalRegressor):
        raise TypeError(
            f"model is {type(model).__name__}, expected a fitted ModalRegressor. In a Pipeline it "
            f"is the last step, and grid is in the units that reach it."
        )
    check_is_fitted(model)
    refuse_lossy(grid, "grid")
    points = np.asarray(grid, dtype=np.float64)
    modes = model._modes_at(points[:, None] if points.ndim == 1 else points)
    return trace(points, modes, longest_step=model.tau_)
