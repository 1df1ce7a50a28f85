"""Modal regression (Algorithm 3) as a scikit-learn estimator."""

from __future__ import annotations  # short types in the output of `help`

import warnings
from collections.abc import Sequence
from copy import deepcopy
from typing import Any, Literal, Self, overload

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from quickshift import stages
from quickshift.arrays import Floats, Numbers
from quickshift.checks.numbers import check_choice, check_not_none, check_tau, n_axes
from quickshift.checks.points import check_period, check_responses, check_weights
from quickshift.checks.regression import (
    check_bandwidth_pair,
    check_coverage,
    check_coverages,
    check_min_density_ratio,
    check_n_outputs,
    check_response_given,
)
from quickshift.estimators.base import KernelName, all_or_nothing, validated
from quickshift.estimators.pickles import PickledWithVersion
from quickshift.estimators.progress_bar import shown_progress
from quickshift.kernels import get_kernel
from quickshift.memory import require_memory
from quickshift.progress import Progress
from quickshift.stages.regression.conditional_modes import find_modes
from quickshift.stages.regression.joint import (
    Joint,
    RegressionData,
    Responses,
    estimate_joint,
    joint_bytes,
    sort_responses,
)
from quickshift.stages.regression.prediction_set import (
    nonconformity_scores,
    radius_of_scores,
    set_around,
)
from quickshift.stages.regression.response_space import ModeOptions
from quickshift.stages.regression.rules import JOINT_RULES, automatic_joint_tau, choose_pair

__all__ = ["ModalRegressor"]


class ModalRegressor(RegressorMixin, PickledWithVersion):
    """Regression by the modes of f(y given x), which may be several at one x.

    Where the data have several branches, the conditional mean lies between them, where there are no
    responses; the modes lie on the branches. At every x, each sample response moves to the nearest
    response of higher joint density within `tau`, and the responses that do not move are the modes:
    exactly Algorithm 3 of the paper.

    Parameters
    ----------
    bandwidth : float, pair of floats or {"auto", "cv", "prediction_set"}, default="auto"
        Bandwidth h of the joint kernel over x and y. With a pair (h_x, h_y), X is divided by h_x
        and y by h_y first. Or a rule that chooses the pair: "auto" is the rate
        n^(-1/(d + n_outputs + 4)), times the spread of X for h_x and times the spread of y for h_y.
        "cv" multiplies this pair by the factor that maximizes the leave-one-out likelihood.
        "prediction_set" multiplies it by the factor that gives the shortest prediction sets of 90 %
        coverage on held-out responses. All features share h_x: if their scales differ, put a scaler
        before this estimator in a Pipeline.
    tau : float or "auto", default="auto"
        Longest move, in the units of y: of modes closer together than tau, only the highest is
        kept. "auto" is 0.3 (Gaussian) bandwidths of y, but at least the 99th percentile of the
        distance from a response to the nearest distinct one; flat modes, which do not rise above
        the valley to the next mode, are then dropped, because only a gap between the responses
        creates them. With a number, the algorithm is that of the paper and flat modes are kept.
    kernel : str, default="gaussian"
        "gaussian", "exponential", "silverman", "uniform" ("tophat"), "triangular" ("linear"),
        "tricube", "cosine" or "epanechnikov".
    min_density_ratio : float, default=0.01
        Modes whose density is below this share of the highest mode's density at the same x are
        dropped; 0 keeps all.
    period : array-like of shape (n_features,), optional
        Length of each feature's period, ``numpy.inf`` for a feature that is not periodic.
        Responses are never periodic.
    verbose : int, default=0
        With 1, a fit that takes longer than a second shows a progress bar with the name of the
        current stage on standard error: by tqdm or rich if one of them is installed, otherwise as
        lines of text. Only the rules "cv" and "prediction_set" take that long.
    rtol : float, default=1e-9
        Relative error allowed in each density of the Gaussian and the exponential kernel; with 0,
        every pair is summed. Sums of the other kernels are exact.
    n_jobs : int, optional
        Number of threads. None uses every core that the process may use (unlike scikit-learn,
        where it means one), within the limits of ``OMP_NUM_THREADS`` and threadpoolctl; inside a
        worker of joblib, its share of the cores. The result does not depend on it.

    Attributes
    ----------
    bandwidth_ : (float, float)
        The bandwidths of X and of y that were used.
    tau_ : float
        The tau that was used.
    n_outputs_ : int
        Number of columns of y.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if X had column names.

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
        bandwidth: float | tuple[float, float] | Literal["auto", "cv", "prediction_set"] = "auto",
        tau: float | Literal["auto"] = "auto",
        *,
        kernel: KernelName = "gaussian",
        min_density_ratio: float = 0.01,
        period: ArrayLike | None = None,
        verbose: int = 0,
        rtol: float = 1e-9,
        n_jobs: int | None = None,
    ) -> None:
        self.bandwidth = bandwidth
        self.tau = tau
        self.kernel = kernel
        self.min_density_ratio = min_density_ratio
        self.period = period
        self.verbose = verbose
        self.rtol = rtol
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Choose the bandwidths and tau, and prepare the samples for queries.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features of the samples.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Responses of the samples. Several columns are the coordinates of one response, not the
            targets of separate regressions.
        sample_weight : array-like of shape (n_samples,), optional
            Frequencies: an integer weight is the same as repeating the row, and weight 0 leaves
            it out. Importance weights should be rescaled to sum to (Σw)² / Σw².

        Returns
        -------
        ModalRegressor
            The fitted estimator.
        """
        check_response_given(y)
        with all_or_nothing(self), shown_progress(self.verbose, None) as progress:
            points = validated(self, X, reset=True)
            responses = check_responses(y, len(points))
            weights = check_weights(sample_weight, len(points))
            require_memory(joint_bytes(points, responses), "fit", points.shape)
            # Copies, because the caller may change the arrays before `predict_set` uses them.
            data = RegressionData(
                points.copy(),
                responses.copy(),
                np.ones(len(points)) if weights is None else weights.copy(),
                check_period(self.period, points.shape[1]),
                self.kernel,
                self.rtol,
                self.n_jobs,
            )
            self._fit(data, progress)
        return self

    def _fit(self, data: RegressionData, progress: Progress | None = None) -> None:
        """Fit checked data; the parameters are checked here."""
        self._data = data
        ratio = check_min_density_ratio(self.min_density_ratio)
        check_not_none(bandwidth=self.bandwidth, tau=self.tau)
        automatic = isinstance(self.tau, str)
        if automatic:
            check_choice(self.tau, "tau", ("auto",), "a length of at least 0 or ")
        tau = None if automatic else check_tau(self.tau, " or 'auto'")

        def options_for(joint: Joint) -> ModeOptions:
            longest = automatic_joint_tau(joint) if tau is None else tau
            return ModeOptions(longest, ratio, keep_flat=tau is not None)

        def modes_of(joint: Joint, queries: Numbers) -> stages.ConditionalModes:
            return find_modes(joint, queries, options_for(joint))

        if isinstance(self.bandwidth, str):
            check_choice(
                self.bandwidth, "bandwidth", JOINT_RULES, "a positive number, a pair of them or "
            )
            bandwidth: Any = choose_pair(data, self.bandwidth, modes_of, progress)
        else:
            bandwidth = self.bandwidth
        pair, divisor = check_bandwidth_pair(bandwidth, get_kernel(self.kernel), data.period)
        self._joint = estimate_joint(data, pair, divisor)
        self._mode_options = options_for(self._joint)
        self.bandwidth_ = self._joint.bandwidth
        self.tau_ = self._mode_options.tau
        self.n_outputs_ = self._joint.n_outputs
        self._sorted_responses: Responses | None = None
        if self.n_outputs_ == 1:
            self._sorted_responses = sort_responses(self._joint, self.tau_)
        self._calibration: tuple[Floats, Floats] | None = None  # scores and weights
        self._split_model: ModalRegressor | None = None  # fitted without the held-out rows
        # Copies for that model, because it is fitted later, when they may have changed.
        self._parameters = deepcopy(self.get_params())

    def predict(self, X: ArrayLike) -> Floats:
        """Return the highest conditional mode at each query.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The queries x.

        Returns
        -------
        ndarray of shape (n_queries,) or (n_queries, n_outputs)
            NaN for queries that have no sample within the support of a compact kernel.
        """
        check_is_fitted(self)
        return self._modes_at(validated(self, X, reset=False)).highest()

    def predict_modes(self, X: ArrayLike) -> stages.ConditionalModes:
        """Return all conditional modes at each query.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The queries x.

        Returns
        -------
        ConditionalModes
            ``modes[i]`` are the modes of query i, the highest first. The object also holds their
            probabilities, their joint and conditional densities, their heights above the valleys,
            and the support of every query.
        """
        check_is_fitted(self)
        return self._modes_at(validated(self, X, reset=False), probabilities=True)

    def calibrate(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Measure on held-out data how far responses lie from the modes, for `predict_set`.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The x of samples that were not used in `fit`, drawn from the same distribution as the
            samples to be predicted.
        y : array-like of shape (n_queries,) or (n_queries, n_outputs)
            Their responses.
        sample_weight : array-like of shape (n_queries,), optional
            Frequencies.

        Returns
        -------
        ModalRegressor
            The estimator itself.
        """
        check_is_fitted(self)
        modes = self._modes_at(validated(self, X, reset=False))
        responses = check_n_outputs(check_responses(y, len(modes)), self.n_outputs_)
        weights = check_weights(sample_weight, len(modes))
        self._calibration = (
            nonconformity_scores(modes, responses),
            np.ones(len(modes)) if weights is None else weights.copy(),
        )
        return self

    @overload
    def predict_set(self, X: ArrayLike, coverage: float = 0.9) -> stages.PredictionSet: ...

    @overload
    def predict_set(
        self, X: ArrayLike, coverage: Sequence[float] | Floats
    ) -> list[stages.PredictionSet]: ...

    def predict_set(
        self, X: ArrayLike, coverage: float | Sequence[float] | Floats = 0.9
    ) -> stages.PredictionSet | list[stages.PredictionSet]:
        """Return intervals around the modes that contain a new response with given probability.

        By split conformal prediction, the probability is at least ``coverage``, taken over the new
        samples and over those of `calibrate`, if all of them are exchangeable. Without a call of
        `calibrate`, every fourth row of `fit` is held out: the intervals are placed around the
        modes of the other rows, and the held-out responses measure how far responses lie from
        these modes. This is the only result that depends on the order of the rows, so shuffle rows
        that are sorted. Weights count as repetitions of the rows, but repeated rows are not
        exchangeable with new samples: with large weights the coverage may fall short.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The queries x.
        coverage : float or sequence of floats, default=0.9
            The share of new responses that should lie inside their sets, or several such shares.
            Several shares take hardly longer than one, because the modes are found once.

        Returns
        -------
        PredictionSet or list of PredictionSet
            Disjoint intervals from ``lower`` to ``upper`` for every query; boxes for several
            outputs. They are unbounded if there are too few calibration samples for the coverage.
            Queries without a mode have no interval, unless the intervals are unbounded. For a
            sequence of coverages, a list with one set per coverage, in the order given; the set of
            a larger coverage contains that of a smaller one.

        Examples
        --------
        >>> from quickshift import ModalRegressor
        >>> from quickshift.datasets import two_branches
        >>> X, y = two_branches().sample(2000, seed=0)
        >>> model = ModalRegressor().fit(X, y)
        >>> half, most = model.predict_set([[0.25]], coverage=[0.5, 0.95])
        >>> half.lengths < most.lengths
        array([ True])
        """
        check_is_fitted(self)
        single = n_axes(coverage) == 0
        shares = [check_coverage(coverage)] if single else check_coverages(coverage)
        sets = self._sets_at(validated(self, X, reset=False), shares)
        return sets[0] if single else sets

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return R² of `predict` over the queries that have a mode.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The queries x.
        y : array-like of shape (n_queries,) or (n_queries, n_outputs)
            True responses.
        sample_weight : array-like of shape (n_queries,), optional
            Weights of the queries.

        Returns
        -------
        float
            NaN if no query has a mode. Queries without a mode are left out, with a warning that
            states their number. A mode is not a mean: if the responses have several branches, R²
            may well be negative.
        """
        predicted = self.predict(X)
        truth = check_n_outputs(check_responses(y, len(predicted)), self.n_outputs_)
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

    def _modes_at(self, points: Numbers, *, probabilities: bool = False) -> stages.ConditionalModes:
        """Return the modes at queries that are already checked."""
        return find_modes(
            self._joint,
            points,
            self._mode_options,
            self._sorted_responses,
            probabilities=probabilities,
        )

    def _sets_at(self, points: Numbers, coverages: list[float]) -> list[stages.PredictionSet]:
        """Return one prediction set per coverage, at queries that are already checked."""
        model, (scores, weights) = self._calibrated()
        modes = model._modes_at(points)
        return [set_around(modes, radius_of_scores(scores, weights, c)) for c in coverages]

    def _calibrated(self) -> tuple[ModalRegressor, tuple[Floats, Floats]]:
        """Return the model that prediction sets are built on, and its scores and their weights."""
        if self._calibration is not None:
            return self, self._calibration
        if self._split_model is None:
            self._split_model = self._without_held_out()
        split = self._split_model
        if split._calibration is None:
            raise AssertionError("_without_held_out returned a model without calibration")
        return split, split._calibration

    def _without_held_out(self) -> ModalRegressor:
        """Return a model fitted without every fourth row, and calibrated on these rows."""
        data = self._data
        held_out = np.arange(len(data.X)) % 4 == 3
        kept = np.flatnonzero(~held_out & (data.weights > 0))
        out = np.flatnonzero(held_out & (data.weights > 0))
        if not kept.size or not out.size:  # nothing to calibrate on: the sets will be unbounded
            kept, out = np.flatnonzero(data.weights > 0), out[:0]
        model = type(self)(**self._parameters)
        model._fit(data.at(kept))
        model._calibration = np.empty(0), np.empty(0)
        if out.size:
            scores = nonconformity_scores(model._modes_at(data.X[out]), data.y[out])
            model._calibration = scores, data.weights[out]
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
