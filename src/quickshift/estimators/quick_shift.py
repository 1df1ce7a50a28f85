"""Quick Shift clustering (Algorithm 1) as a scikit-learn estimator."""

from __future__ import annotations  # short types in the output of `help`

from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from quickshift.arrays import Indices
from quickshift.bandwidth import RULES
from quickshift.checks.clustering import (
    check_cut,
    check_local,
    check_min_cluster_size,
    check_min_significance,
    check_rtol,
    check_ties,
)
from quickshift.checks.numbers import check_bandwidth_or_rule, check_not_none
from quickshift.checks.points import check_weights
from quickshift.estimators.base import KernelName, all_or_nothing, validated
from quickshift.estimators.callbacks import CallbackSupportMixin, FitReport, with_callbacks
from quickshift.estimators.fitted_quick_shift import FittedQuickShift
from quickshift.estimators.progress_bar import shown_progress
from quickshift.kernels import get_kernel
from quickshift.memory import (
    embedding_bytes,
    fit_bytes,
    local_fit_bytes,
    require_memory,
)
from quickshift.progress import Progress
from quickshift.spaces import Space, space_of
from quickshift.stages.clusters import (
    Clusters,
    clusters_of,
)
from quickshift.stages.density import (
    Estimate,
    make_estimate,
    sums_at_samples,
)
from quickshift.stages.local_clusters import (
    LocalSettings,
    local_clusters_of,
)
from quickshift.stages.local_scale import LocalScale, checked_neighbors
from quickshift.stages.parent_graph import ParentGraph, find_parents
from quickshift.stages.rules import bandwidth_by
from quickshift.stages.samples import Samples, build_samples

__all__ = ["QuickShift"]


class QuickShift(CallbackSupportMixin, FittedQuickShift):
    """Cluster samples by moving each one to its nearest sample of higher density.

    The moves form a forest whose trees are the clusters and whose roots are the modes of the
    density. By default, every sample has a scale of its own, and modes that chance may have
    produced are merged into others. ``QuickShift(bandwidth=0.5, tau=1.0)`` is the algorithm of the
    paper, with one bandwidth and one longest move for all samples. One fit contains the clusters
    for every `tau`: see `labels_at`.

    Parameters
    ----------
    bandwidth : "local", float or {"auto", "paper", "scott", "silverman", "cv"}, default="local"
        How the density is estimated. Features should be on comparable scales, see `scale`.

        "local" needs no bandwidth: the scale of a sample is its mean distance r to its
        `n_neighbors` nearest others, and the density is proportional to r^-d, where d is the number
        of features that are not constant (on a sphere, one less; see `metric`).

        All other values give the paper's kernel density, with one bandwidth h that divides all
        distances. It is a number, or a rule that chooses it from the data: "paper" and "scott" are
        the paper's rate n^(-1/(4+d)) times the spread of the data. "auto" is half of that; with
        more than five features it is at least a third of the median distance to the nearest
        distinct sample. "silverman" is the normal reference rule. "cv" maximizes the leave-one-out
        likelihood.
    tau : float or "auto", default="auto"
        Longest move. A mode that has a higher sample within tau joins that sample's cluster.

        With "auto" and local scale, each sample has a tau of its own: the distance to its eighth
        nearest distinct sample (sixteenth if only one feature varies; nearer in small samples).
        With "auto" and one bandwidth, tau is 1.5 (Gaussian) bandwidths, but at least the 99th
        percentile of the distance to the nearest distinct sample. After the cut, modes that chance
        may have produced, and modes far less significant than the others, are merged into higher
        ones.

        If tau is a number, it is the longest move of all samples, and no modes are merged.
    n_neighbors : int or "auto", default="auto"
        Number of nearest other samples that determine a local scale; only with local scale. "auto"
        is 1.6 n^(1/3), but at least 4 and at most n/3. If that finds one cluster only, and neither
        `tau` nor `n_clusters` is given, twice and four times as many are tried. A larger number
        smooths more.
    kernel : str, default="gaussian"
        "gaussian", "exponential", "silverman", "uniform" ("tophat"), "triangular" ("linear"),
        "tricube", "cosine" or "epanechnikov"; only with a bandwidth.
    n_clusters : int, optional
        Number of clusters wanted, instead of `tau`: this many modes are kept, the most significant
        ones. If there are fewer modes, the longest moves (relative to the tau of each sample, if
        these differ) are removed instead until there are enough. At most the number of distinct
        samples.
    min_significance : float or "auto", default="auto"
        Least significance of a mode that stays a cluster of its own, see `significance_`. "auto" is
        the significance that chance rarely exceeds in samples of one Gaussian (with local scale,
        also of a uniform cube); in addition, modes far less significant than the others are merged.
        If a number is given, it is the only condition. If one group is split into several clusters,
        increase it; if clusters are missing, decrease it.
    min_cluster_size : float, default=1
        Least number of samples (total weight) of a cluster. After the modes have been chosen,
        smaller clusters are merged into those that they meet first. The cluster of the highest
        mode always stays. With ``ties="strict"``, equal rows share their total weight equally.
    metric : {"euclidean", "periodic", "haversine", "cosine"}, default="euclidean"
        How distances are measured. "periodic" takes `period` into account. It is implied if
        `period` is given.

        "haversine": rows are (latitude, longitude) in radians, as in scikit-learn, with longitudes
        from -2π to 2π. All lengths that are given or reported (`bandwidth`, `tau`,
        `parent_distance_`, ...) are arcs in radians, at most π. Kernels compare chords: an arc a
        counts as sin(a/2) / sin(bandwidth/2) bandwidths. Densities are per steradian.

        "cosine": only the direction of a row matters. Lengths are Euclidean distances of rows that
        are scaled to length one, at most 2; half the square of such a length is the cosine
        distance, 1 - cos. Rows of zeros have no direction and raise an error.
    period : array-like of shape (n_features,), optional
        Length of each feature's period, ``numpy.inf`` for a feature that is not periodic. Not with
        "haversine" and "cosine".
    scale : {"std", "iqr"} or array-like of shape (n_features,), optional
        By what to divide the features before distances are taken: by their standard deviations,
        their interquartile ranges (1.349 standard deviations, if the range is zero but the feature
        is not constant), both weighted by `sample_weight`, or by given positive numbers. Constant
        and periodic features are not divided by "std" and "iqr"; given numbers must be 1 for
        periodic features. Lengths, such as `bandwidth` and `tau`, are then in units of `scale_`.
        Modes and densities stay in the units of X. Not with "haversine" and "cosine".
    verbose : int, default=0
        With 1, a fit that takes longer than a second shows a progress bar with the name of the
        current stage on standard error: by tqdm or rich if one of them is installed, otherwise as
        lines of text.
    ties : {"total", "strict"}, default="total"
        Which of two samples of equal density is higher. "total": the one with the lexicographically
        larger coordinates, and among exact duplicates the first row, so that the clusters do not
        depend on the order of the rows. "strict": neither, as the paper writes it.
    rtol : float, default=1e-9
        Relative error allowed in each density of the Gaussian and the exponential kernel; with 0,
        every pair is summed. Sums of the other kernels are exact, and local scales have no error of
        this kind.
    n_jobs : int, optional
        Number of threads. None uses every core that the process may use (unlike scikit-learn,
        where it means one), within the limits of ``OMP_NUM_THREADS`` and threadpoolctl; inside a
        worker of joblib, its share of the cores. The result does not depend on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample; label 0 has the highest mode. There is no noise label.
    n_clusters_ : int
        Number of clusters.
    modes_ : ndarray of shape (`n_clusters_`, n_features)
        The samples that are modes, highest first; periodic features are wrapped to [0, period).
    mode_indices_ : ndarray of shape (`n_clusters_`,)
        Row of each mode.
    density_ : ndarray of shape (n_samples,)
        Density at the samples, per unit volume of the features as they are in X; with "haversine"
        and "cosine", per unit area of the sphere. With local scale it may overflow or underflow in
        high dimension.
    log_density_ : ndarray of shape (n_samples,)
        Logarithm of the density, which does not underflow in high dimension. Computed on first
        access.
    parent_ : ndarray of shape (n_samples,), int64
        Row of the nearest higher sample, however far away; the sample's own row if there is none.
    parent_distance_ : ndarray of shape (n_samples,)
        Distance to the parent; infinite if there is none, NaN for samples of weight zero.
    bandwidth_ : float or ndarray of shape (n_samples,)
        The bandwidth used; with local scale, r of each sample.
    n_neighbors_ : int
        The number of neighbors used; only with local scale. If it is two or four times the default,
        the default found one cluster only.
    min_significance_ : float
        Least finite significance of the clusters. If there is one cluster, the significance that
        another mode would have needed; 0 if `tau` was given. With local scale, and if neither `tau`
        nor `n_clusters` is given, a fit with `n_neighbors_` and `min_significance_` as parameters
        gives the same clusters.
    significance_ : ndarray of shape (`n_clusters_`,)
        Prominence of each mode in standard errors of the estimate, in the order of `modes_`;
        infinite for the highest mode. Computed on first access, unless the fit needed it.
    strength_ : ndarray of shape (n_samples,)
        How firmly each sample belongs to its cluster, from 1 at the mode down towards 0. With a
        bandwidth, the density divided by that of the cluster's mode; with local scale, r of the
        mode divided by r of the sample, but at most 1. Computed on first access.
    outlier_scores_ : ndarray of shape (n_samples,)
        ``1 - strength_``. Computed on first access.
    tree_ : ClusterTree
        The components of every level set, linked within `tau_`. Its leaves are the clusters before
        insignificant modes are merged. Samples of weight zero are outside the tree. Linked on
        first access, unless the fit needed it.
    tau_ : float or ndarray of shape (n_samples,)
        The tau used, one number or one per sample. With "auto" or `n_clusters`,
        ``labels_at(tau_)`` may have more clusters, because it merges no modes.

        If `n_clusters` exceeds the number of modes, the longest moves are removed until there are
        enough clusters, and `tau_` is the length of the longest move that was kept (with local
        scale, the tau of each sample times a common factor). If several moves have exactly that
        length and only some of them were removed, ``labels_at(tau_)`` keeps all of them, so it has
        fewer than `n_clusters` clusters.
    scale_ : ndarray of shape (`n_features_in_`,)
        The numbers that the features were divided by; 1 if they were not.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if X had names.

    References
    ----------
    H. Jiang, "On the Consistency of Quick Shift", NIPS 2017.
    A. Vedaldi and S. Soatto, "Quick Shift and Kernel Methods for Mode Seeking", ECCV 2008.

    Examples
    --------
    Without parameters:

    >>> import numpy as np
    >>> from quickshift import QuickShift
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (60, 2)), rng.normal(9, 1, (40, 2))])
    >>> model = QuickShift().fit(X)
    >>> np.bincount(model.labels_)
    array([60, 40])
    >>> model.n_neighbors_, model.significance_.round(1)
    (7, array([inf, 9.7]))

    The algorithm of the paper, and another cut of the same fit:

    >>> X = np.array([[0.0], [0.2], [0.3], [5.0], [5.1]])
    >>> model = QuickShift(bandwidth=0.5, tau=2.0).fit(X)
    >>> model.labels_
    array([0, 0, 0, 1, 1])
    >>> model.modes_
    array([[0.2],
           [5.1]])
    >>> model.labels_at(10.0)
    array([0, 0, 0, 0, 0])

    Places on the globe, two of them on either side of the date line, with arcs of up to 500 km:

    >>> degrees = [[-17.7, 178.0], [-16.6, 179.4], [-17.0, -179.9], [48.1, 11.6], [47.8, 13.0]]
    >>> earth = 6371.0  # its radius in km
    >>> model = QuickShift(200 / earth, 500 / earth, metric="haversine").fit(np.radians(degrees))
    >>> model.labels_
    array([0, 0, 0, 1, 1])
    """

    def __init__(
        self,
        bandwidth: float | Literal["local", "auto", "paper", "scott", "silverman", "cv"] = "local",
        tau: float | Literal["auto"] = "auto",
        *,
        n_neighbors: int | Literal["auto"] = "auto",
        kernel: KernelName = "gaussian",
        n_clusters: int | None = None,
        min_significance: float | Literal["auto"] = "auto",
        min_cluster_size: float = 1,
        metric: Literal["euclidean", "periodic", "haversine", "cosine"] = "euclidean",
        period: ArrayLike | None = None,
        scale: Literal["std", "iqr"] | ArrayLike | None = None,
        verbose: int = 0,
        ties: Literal["total", "strict"] = "total",
        rtol: float = 1e-9,
        n_jobs: int | None = None,
    ) -> None:
        self.bandwidth = bandwidth
        self.tau = tau
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.n_clusters = n_clusters
        self.min_significance = min_significance
        self.min_cluster_size = min_cluster_size
        self.metric = metric
        self.period = period
        self.scale = scale
        self.verbose = verbose
        self.ties = ties
        self.rtol = rtol
        self.n_jobs = n_jobs

    @with_callbacks
    def fit(
        self,
        X: ArrayLike,
        y: object = None,  # noqa: ARG002 (scikit-learn's signature)
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Find the density, the parents, the modes and the clusters.

        Callbacks of scikit-learn (1.9 or newer; see ``set_callbacks``) are called for every stage
        and for every twentieth of a stage.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            Frequencies: an integer weight equals repeating the row. Repeated rows count as
            evidence, so weights that are merely large (or rows that were drawn with replacement)
            split clusters. A row of weight zero does not influence the clusters, and gets the label
            that `predict` would give it. Importance weights should be rescaled to sum to
            (Σw)² / Σw².

        Returns
        -------
        QuickShift
            The fitted estimator.
        """
        report = FitReport.wanted(self, self._count_stages())
        with all_or_nothing(self), shown_progress(self.verbose, report) as progress:
            points = validated(self, X, reset=True)
            check_bandwidth_or_rule(self.bandwidth, ("local", *RULES))
            check_not_none(
                tau=self.tau, n_neighbors=self.n_neighbors, min_significance=self.min_significance
            )
            cut_by: dict[str, Any] = {
                "tau": check_cut(self.tau, self.n_clusters, len(points)),
                "n_clusters": self.n_clusters,
                "min_significance": check_min_significance(
                    self.min_significance, self.tau, self.n_clusters
                ),
                "min_cluster_size": check_min_cluster_size(self.min_cluster_size),
            }
            check_ties(self.ties)
            check_local(get_kernel(self.kernel).name, self.n_neighbors, local=self._is_local())
            weights = check_weights(sample_weight, len(points))
            space = space_of(self.metric, self.period, self.scale, points, weights)
            self._require_memory(points.shape, space)
            if report:
                report.begin(points, sample_weight)
            keeps_weights = weights is not None and self.ties == "strict"
            self._row_weights = np.array(weights) if keeps_weights else None
            self._weighted = weights is not None
            coordinates = self._enter(space, points)
            if cut_by["tau"] is not None:
                cut_by["tau"] = self._from_user(cut_by["tau"], "tau")
            samples = build_samples(
                coordinates,
                weights,
                space.period,
                on_sphere=space.on_sphere,
                units=space.units,
                n_jobs=self.n_jobs,
                progress=progress,
            )
            fit = self._fit_local if self._is_local() else self._fit_kernel
            self._store(coordinates, *fit(samples, cut_by, progress))
            if report:
                report.end(points, sample_weight)
        return self

    def fit_predict(
        self,
        X: ArrayLike,
        y: object = None,
        sample_weight: ArrayLike | None = None,
    ) -> Indices:
        """Fit, and return the label of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            Frequencies, see `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
            The attribute `labels_`.
        """
        return self.fit(X, y, sample_weight=sample_weight).labels_

    def _is_local(self) -> bool:
        return isinstance(self.bandwidth, str) and self.bandwidth == "local"

    def _links(self) -> bool:
        """Whether the fit links a cluster tree."""
        small = isinstance(self.min_cluster_size, Real) and self.min_cluster_size > 1
        return isinstance(self.tau, str) or small

    def _count_rules(self) -> int:
        return sum(isinstance(rule, str) for rule in (self.bandwidth, self.tau))

    def _count_stages(self) -> int | None:
        if self._is_local():
            return None  # up to three scales are tried
        return 4 + self._count_rules() + self._links()  # prepare, estimate_density, climb, cut

    def _require_memory(self, shape: tuple[int, ...], space: Space) -> None:
        """Raise before the fit begins if it would run out of memory."""
        kernel, links = get_kernel(self.kernel).name, self._links()
        n, d = shape[0], space.n_coordinates(shape[1])
        if self._is_local():
            # The number of neighbors is checked later, against the total weight.
            given = self.n_neighbors if isinstance(self.n_neighbors, int) else None
            needed = local_fit_bytes(n, d, given, links=links)
        else:
            rules = self._count_rules() > 0
            needed = fit_bytes(n, d, kernel, rules=rules, links=links)
        if not space.keeps_points:
            needed += embedding_bytes(n, shape[1], d)
        require_memory(needed, "fit", shape)

    def _fit_kernel(
        self, samples: Samples, cut_by: dict[str, Any], progress: Progress | None
    ) -> tuple[Estimate, ParentGraph, Clusters]:
        estimate = self._fit_estimate(samples, progress)
        sums = sums_at_samples(estimate, progress)
        settings: dict[str, Any] = {"n_jobs": self.n_jobs, "progress": progress}
        graph = find_parents(samples, sums, self.ties, estimate.significant_bits, **settings)
        return estimate, graph, clusters_of(estimate, graph, **cut_by, **settings)

    def _fit_local(
        self, samples: Samples, cut_by: dict[str, Any], progress: Progress | None
    ) -> tuple[LocalScale, ParentGraph, Clusters]:
        check_rtol(self.rtol)
        k = checked_neighbors(self.n_neighbors, samples)
        settings = LocalSettings(n_neighbors=k, ties=self.ties, **cut_by)
        found = local_clusters_of(samples, settings, n_jobs=self.n_jobs, progress=progress)
        return found.scale, found.graph, found.clusters

    def _fit_estimate(self, samples: Samples, progress: Progress | None) -> Estimate:
        kernel, rtol, h = get_kernel(self.kernel), check_rtol(self.rtol), self.bandwidth
        if isinstance(h, str):
            h = bandwidth_by(h, samples, kernel, rtol, n_jobs=self.n_jobs, progress=progress)
        else:
            h = self._from_user(h, "bandwidth")
        return make_estimate(samples, h, kernel, rtol, self.n_jobs)
