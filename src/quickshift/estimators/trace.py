"""The branches of a modal regression along its one feature, for plots."""

from __future__ import annotations  # short types in the output of `help`

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from quickshift.checks.numbers import check_length
from quickshift.checks.points import check_n_features
from quickshift.checks.regression import check_grid, check_one_output
from quickshift.checks.results import check_model
from quickshift.estimators.modal_regressor import ModalRegressor
from quickshift.stages.regression.branches import Branch, follow

__all__ = ["trace_branches"]


def trace_branches(model: ModalRegressor, grid: ArrayLike) -> list[Branch]:
    """Join the modes of a regression at increasing x into curves.

    Parameters
    ----------
    model : ModalRegressor
        Fitted on one feature and one response.
    grid : array-like of shape (n_points,)
        Increasing values of x. A branch is followed from one x to the next only if its mode moves
        by at most `tau_`, so a finer grid gives more reliable curves.

    Returns
    -------
    list of Branch
        Each with its ``x``, ``y`` and ``density``. A branch begins where a mode appears and ends
        where the mode vanishes or merges with another one. Branches that cross go straight on, as
        long as the estimate resolves both modes.

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
    check_model(model, ModalRegressor)
    check_is_fitted(model)
    x = check_grid(grid)
    check_n_features(x[:, None], model.n_features_in_, "grid")
    modes = model._modes_at(x[:, None])
    check_one_output(modes.values)
    return follow(x, modes, check_length(model.tau_, "tau_, the longest step of a branch,"))
