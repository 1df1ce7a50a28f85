"""Modal regression (Algorithm 3) as a scikit-learn estimator."""

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from quickshift import stages
from quickshift.arrays import Floats, Numbers
from quickshift.checks import (
    check_choice,
    check_period,
    check_responses,
    check_tau,
    check_weights,
)
from quickshift.estimators.base import all_or_nothing, validated
from quickshift.stages.regression.conditional_modes import check_ratio
from quickshift.stages.regression.joint import Responses, sort_responses
from quickshift.stages.regression.prediction_set import (
    check_coverage,
    conformal_radius,
    nonconformity_scores,
    set_around,
)
from quickshift.stages.regression.rules import (
    RegressionData,
    choose_joint_bandwidth,
    choose_joint_tau,
)

__all__ = ["ModalRegressor"]


class ModalRegressor(RegressorMixin, BaseEstimator):
    """Regression by the modes of f(y given x), of which one x may have several.

    A mean lies between the branches of the data, where no response is; the modes lie on them. At
    every x the sample responses move to the nearest response of higher joint density, and those
    that stay are the modes: Algorithm 3 of the paper, exactly.

    Parameters
    ----------
    bandwidth : float, pair of floats or {"auto", "cv", "prediction_set"}, default="auto"
        h of the joint kernel over x and y; a pair (h_x, h_y) divides X and y first. Or a rule:
        "auto", the rate n^(-1/(d+5)) times the spread of X, and of y; "cv", this pair scaled to be
        the most likely one by leaving out each sample; "prediction_set", scaled so that prediction
        sets of 90 % are the shortest, by responses held out. All features share h_x: put a scaler
        before this estimator in a Pipeline if their scales differ.
    tau : float or "auto", default="auto"
        Longest move, in the units of y: modes nearer than that are one. "auto" is 0.3 (Gaussian)
        bandwidths of y, but at least the 99th percentile of the distance between neighbouring
        distinct responses; of the modes at that tau, those that do not rise above the way to the
        next one are dropped, because only a gap in the responses made them. With a number the
        algorithm is that of the paper.
    kernel : str, default="gaussian"
        "gaussian", "exponential", "silverman", "uniform" ("tophat"), "triangular" ("linear"),
        "tricube", "cosine" or "epanechnikov".
    min_density_ratio : float, default=0.01
        Modes below this share of the density of the highest one at the same x are dropped; 0 keeps
        all.
    period : array-like of shape (n_features,), optional
        Length of each feature's period, ``numpy.inf`` for an open one. Responses are open.
    rtol : float, default=1e-9
        Relative error allowed to densities of the Gaussian and the exponential kernel; 0 sums every
        pair. The other kernels are exact.
    n_jobs : int, optional
        Number of threads. None uses every core that the process may use (unlike scikit-learn, where
        it means one). The result does not depend on it.

    Attributes
    ----------
    bandwidth_ : (float, float)
        The bandwidths of X and y used.
    tau_ : float
        The tau used.
    n_outputs_ : int
        Number of columns of y.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, where X had names.

    See Also
    --------
    quickshift.trace_branches : Follow the modes along x as curves.

    References
    ----------
    H. Jiang, "On the Consistency of Quick Shift", NIPS 2017.
    Y.-C. Chen, C. R. Genovese, R. J. Tibshirani and L. Wasserman, "Nonparametric modal regression",
    Annals of Statistics 44(2), 2016.

    Examples
    --------
    >>> from quickshift import ModalRegressor
    >>> from quickshift.datasets import two_branches
    >>> X, y = two_branches().sample(2000, seed=0)
    >>> model = ModalRegressor().fit(X, y)
    >>> model.predict_modes([[0.25], [0.75]])[0].round(1)
    array([ 1.4, -1. ])
    >>> model.predict([[0.25], [0.75]]).round(1)
    array([1.4, 0.6])
    """

    def __init__(
        self,
        bandwidth: float | tuple[float, float] | str = "auto",
        tau: float | str = "auto",
        *,
        kernel: str = "gaussian",
        min_density_ratio: float = 0.01,
        period: ArrayLike | None = None,
        rtol: float = 1e-9,
        n_jobs: int | None = None,
    ) -> None:
        self.bandwidth = bandwidth
        self.tau = tau
        self.kernel = kernel
        self.min_density_ratio = min_density_ratio
        self.period = period
        self.rtol = rtol
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Choose the bandwidths and tau, and make the samples ready for queries.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Where the samples were taken.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their responses. Several columns are one response in space, not several regressions.
        sample_weight : array-like of shape (n_samples,), optional
            Frequencies: an integer weight equals repeating the row, zero leaves it out. Importance
            weights should be rescaled to sum to (Σw)² / Σw².

        Returns
        -------
        ModalRegressor
            The fitted estimator.
        """
        if y is None:
            raise ValueError(
                "requires y to be passed, but the target y is None: modal regression needs a "
                "response for each row of X."
            )
        with all_or_nothing(self):
            points = validated(self, X, reset=True)
            responses = check_responses(y, len(points))
            weights = check_weights(sample_weight, len(points))
            self._search: dict[str, Any] = {
                "min_density_ratio": check_ratio(self.min_density_ratio),
                "keep_flat": not isinstance(self.tau, str),
            }
            self._drawn = (
                RegressionData(  # copies, because the caller's arrays may change before they serve
                    points.copy(),
                    responses.copy(),
                    np.ones(len(points)) if weights is None else weights.copy(),
                    check_period(self.period, points.shape[1]),
                    self.kernel,
                    self.rtol,
                    self.n_jobs,
                )
            )
            self._parameters = self.get_params()  # for a fit without what is held out
            self._joint = self._estimate(self._drawn)
            self.bandwidth_ = self._joint.bandwidth
            self.tau_ = self._tau_of(self._joint)
            self.n_outputs_ = self._joint.n_outputs
            self._line: Responses | None = None
            if self.n_outputs_ == 1:
                self._line = sort_responses(self._joint, self.tau_)
            self._calibration: tuple[Floats, Floats] | None = None
            self._split: ModalRegressor | None = None
        return self

    def predict(self, X: ArrayLike) -> Floats:
        """Return the highest conditional mode at each query.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The x.

        Returns
        -------
        ndarray of shape (n_queries,) or (n_queries, n_outputs)
            NaN where a compact kernel reaches no sample.
        """
        return self.predict_modes(X).highest()

    def predict_modes(self, X: ArrayLike) -> stages.ConditionalModes:
        """Return all conditional modes at each query.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The x.

        Returns
        -------
        ConditionalModes
            ``modes[i]`` are those of query i, the highest first; beside them their densities, their
            heights above the valleys, and the support of every query.
        """
        check_is_fitted(self)
        return self._modes_at(validated(self, X, reset=False))

    def calibrate(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Measure on data of your own how far responses lie from the modes, for `predict_set`.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The x, of samples that were not in `fit` and come from where new ones will.
        y : array-like of shape (n_queries,) or (n_queries, n_outputs)
            Their responses.
        sample_weight : array-like of shape (n_queries,), optional
            Frequencies.

        Returns
        -------
        ModalRegressor
            The estimator itself.
        """
        modes = self.predict_modes(X)
        responses = self._checked_responses(y, len(modes))
        weights = check_weights(sample_weight, len(modes))
        self._calibration = (
            nonconformity_scores(modes, responses),
            np.ones(len(modes)) if weights is None else weights,
        )
        return self

    def predict_set(self, X: ArrayLike, coverage: float = 0.9) -> stages.PredictionSet:
        """Return intervals around the modes that hold a new response with a given probability.

        The probability is that over new samples and over those of `calibrate`, at the least, if all
        are exchangeable (split conformal prediction). Without a call of `calibrate`, every fourth
        row of `fit` is held out to measure how far responses lie from the modes of the others, and
        the intervals are around the modes of those: this is the one thing that depends on the order
        of the rows, so shuffle rows that are sorted. Weights count as repetition in what is
        measured, but copies are not exchangeable with new samples: with large weights the coverage
        may fall short.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The x.
        coverage : float, default=0.9
            The share of new responses that shall be inside.

        Returns
        -------
        PredictionSet
            Disjoint intervals ``lower`` to ``upper`` of every query; boxes for several outputs.
            Unbounded where there are too few samples to say. Queries without a mode have none,
            unless it is unbounded.
        """
        check_is_fitted(self)
        share = check_coverage(coverage)
        points = validated(self, X, reset=False)
        model, (scores, weights) = self._calibrated()
        return set_around(model._modes_at(points), conformal_radius(scores, weights, share))

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return R² of `predict` over the queries that have a mode.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The x.
        y : array-like of shape (n_queries,) or (n_queries, n_outputs)
            True responses.
        sample_weight : array-like of shape (n_queries,), optional
            Weights of the queries.

        Returns
        -------
        float
            NaN if no query has a mode. Queries without one are left out, with a warning that says
            how many. A mode is not a mean: where responses have branches, R² may well be negative.
        """
        predicted = self.predict(X)
        truth = self._checked_responses(y, len(predicted))
        weights = check_weights(sample_weight, len(predicted))
        finite = np.isfinite(predicted).reshape(len(predicted), -1)
        supported = np.logical_and.reduce(finite, axis=1)
        if not supported.all():
            missing = int((~supported).sum())
            kernel = self._joint.kernel.name
            warnings.warn(
                f"{missing} of {len(supported)} queries have no mode, because no sample is within "
                f"the {kernel} kernel's reach, and are left out of the score. Use a larger "
                f"bandwidth, or a kernel of infinite support.",
                UserWarning,
                stacklevel=2,
            )
        if not supported.any() or (weights is not None and not weights[supported].any()):
            return float("nan")
        weights = None if weights is None else weights[supported]
        return float(r2_score(truth[supported], predicted[supported], sample_weight=weights))

    def _checked_responses(self, y: ArrayLike, n_queries: int) -> Floats:
        responses = check_responses(y, n_queries)
        columns = 1 if responses.ndim == 1 else responses.shape[1]
        if columns != self.n_outputs_:
            raise ValueError(
                f"y has {columns} columns, expected {self.n_outputs_} as in fit. Pass the same "
                f"columns in the same order."
            )
        return responses

    def _estimate(self, drawn: RegressionData) -> stages.Joint:
        bandwidth = self.bandwidth
        if isinstance(bandwidth, str):
            bandwidth = choose_joint_bandwidth(drawn, bandwidth, modes_of=self._modes_of)
        return drawn.joint(bandwidth)

    def _modes_at(self, points: Numbers) -> stages.ConditionalModes:
        return stages.conditional_modes(
            self._joint, points, self.tau_, **self._search, responses=self._line
        )

    def _modes_of(self, joint: stages.Joint, queries: ArrayLike) -> stages.ConditionalModes:
        return stages.conditional_modes(joint, queries, self._tau_of(joint), **self._search)

    def _tau_of(self, joint: stages.Joint) -> float:
        if isinstance(self.tau, str):
            check_choice(self.tau, "tau", ("auto",), "a length of at least 0 or ")
            return choose_joint_tau(joint)
        return check_tau(self.tau)

    def _calibrated(self) -> tuple["ModalRegressor", tuple[Floats, Floats]]:
        """Return whose modes the sets are around, and how far held-out responses are from them."""
        if self._calibration is not None:
            return self, self._calibration
        if self._split is None:
            self._split = self._without_held_out()
        split = self._split
        if split._calibration is None:
            raise AssertionError("a split is calibrated when it is made")
        return split, split._calibration

    def _without_held_out(self) -> "ModalRegressor":
        """Fit every row but each fourth, and calibrate on those."""
        drawn = self._drawn
        held_out = np.arange(len(drawn.X)) % 4 == 3
        kept = ~held_out & (drawn.weights > 0)
        out = held_out & (drawn.weights > 0)
        model = type(self)(**self._parameters)
        if not kept.any() or not out.any():  # nothing can be said: the sets will be unbounded
            kept, out = drawn.weights > 0, np.zeros(len(held_out), dtype=bool)
        model.fit(drawn.X[kept], drawn.y[kept], drawn.weights[kept])
        model._calibration = np.empty(0), np.empty(0)
        if out.any():
            model.calibrate(drawn.X[out], drawn.y[out], drawn.weights[out])
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
