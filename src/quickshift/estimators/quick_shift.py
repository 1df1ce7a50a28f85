"""Quick Shift clustering (Algorithm 1) as a scikit-learn estimator."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from quickshift import stages
from quickshift.arrays import Floats, Indices, Numbers
from quickshift.bandwidth import RULES
from quickshift.checks import check_choice, check_count, check_tau
from quickshift.estimators.base import all_or_nothing, checked_period, validated
from quickshift.estimators.callbacks import CallbackSupportMixin, FitReport, with_callbacks
from quickshift.kernels import get_kernel
from quickshift.memory import fit_bytes, require_memory

if TYPE_CHECKING:
    import networkx

__all__ = ["QuickShift"]

_SHORTEST = float(np.finfo(np.float64).tiny)  # what `link` takes for a tau of 0


class QuickShift(CallbackSupportMixin, ClusterMixin, BaseEstimator):
    """Clusters by moving every sample to its nearest sample of higher density.

    The moves form a forest whose trees are the clusters and whose roots are the modes of the
    density. One fit holds the clusters for every `tau`: see `labels_at`.

    Parameters
    ----------
    bandwidth : float or {"auto", "paper", "scott", "silverman", "cv"}, default="auto"
        h, the scale that divides distances in the kernel, or a rule that chooses it from the data:
        "paper" or "scott", the rate n^(-1/(4+d)) of the paper times the spread; "auto", half of it,
        but with more than five features at least a third of the median distance to the nearest
        distinct sample; "silverman", the normal reference; "cv", the most likely one by leaving out
        each location. Features should be on comparable scales.
    tau : float or "auto", default="auto"
        Longest move. Modes with a higher sample within tau are merged into its cluster. "auto" is
        1.5 (Gaussian) bandwidths, but at least the 99th percentile of the distance to the nearest
        distinct sample; of the modes at that tau, those that chance would give are merged too.
    kernel : str, default="gaussian"
        "gaussian", "exponential", "silverman", "uniform" ("tophat"), "triangular" ("linear"),
        "tricube", "cosine" or "epanechnikov".
    n_clusters : int, optional
        Number of clusters wanted, instead of `tau`: the most significant modes stay. Where there
        are fewer modes than that, the longest moves are removed. At most the number of distinct
        samples.
    metric : {"euclidean", "periodic"}, default="euclidean"
        "periodic" takes `period` into account.
    period : array-like of shape (n_features,), optional
        Length of each feature's period, ``numpy.inf`` for an open one.
    ties : {"total", "strict"}, default="total"
        Who is higher between equal densities. "total": the lexicographically larger coordinates,
        and of exact duplicates the first row, so the answer does not depend on the order of rows.
        "strict": neither, as the paper writes it.
    rtol : float, default=1e-9
        Relative error allowed to each density of the Gaussian and the exponential kernel; 0 sums
        every pair. The other kernels are exact.
    n_jobs : int, optional
        Number of threads. None uses every core that the process may use (unlike scikit-learn,
        where it means one). The result does not depend on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample; label 0 has the highest mode. There is no noise label.
    n_clusters_ : int
        Number of clusters.
    modes_ : ndarray of shape (`n_clusters_`, n_features)
        Coordinates of the modes, highest first; periodic ones in [0, period).
    mode_indices_ : ndarray of shape (`n_clusters_`,)
        Row of each mode.
    density_ : ndarray of shape (n_samples,)
        Density at the samples.
    log_density_ : ndarray of shape (n_samples,)
        Its logarithm, which does not underflow in high dimension; found when it is first asked for.
    parent_ : ndarray of shape (n_samples,), int64
        Row of the nearest higher sample, however far; its own where there is none.
    parent_distance_ : ndarray of shape (n_samples,)
        Distance to it; infinite where there is none, NaN for samples of weight zero.
    bandwidth_ : float
        The bandwidth used.
    significance_ : ndarray of shape (`n_clusters_`,)
        How many standard errors of the estimate each mode stands out by, infinite for the highest.
        Found when it is first asked for, unless the fit needed it.
    tau_ : float
        The tau used. With "auto" or `n_clusters` there may be more clusters in
        ``labels_at(tau_)``, before modes were merged. With more clusters than modes it is the
        longest move kept; where moves of that very length were removed too, ``labels_at(tau_)`` has
        fewer.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, where X had names.

    References
    ----------
    H. Jiang, "On the Consistency of Quick Shift", NIPS 2017.
    A. Vedaldi and S. Soatto, "Quick Shift and Kernel Methods for Mode Seeking", ECCV 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from quickshift import QuickShift
    >>> X = np.array([[0.0], [0.2], [0.3], [5.0], [5.1]])
    >>> model = QuickShift(bandwidth=0.5, tau=2.0).fit(X)
    >>> model.labels_
    array([0, 0, 0, 1, 1])
    >>> model.modes_
    array([[0.2],
           [5.1]])
    >>> model.labels_at(10.0)
    array([0, 0, 0, 0, 0])
    """

    _log_density: Floats | None = None  # once it was asked for
    _absent: NDArray[np.intp]  # rows of weight zero
    _absent_points: Numbers

    def __init__(
        self,
        bandwidth: float | str = "auto",
        tau: float | str = "auto",
        *,
        kernel: str = "gaussian",
        n_clusters: int | None = None,
        metric: str = "euclidean",
        period: ArrayLike | None = None,
        ties: str = "total",
        rtol: float = 1e-9,
        n_jobs: int | None = None,
    ) -> None:
        self.bandwidth = bandwidth
        self.tau = tau
        self.kernel = kernel
        self.n_clusters = n_clusters
        self.metric = metric
        self.period = period
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

        Callbacks of scikit-learn (1.9 or newer; see ``set_callbacks``) are told of every stage and
        of every twentieth of one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            Frequencies: an integer weight equals repeating the row. A row of weight zero does not
            shape the clusters, but is labelled as `predict` would. Importance weights should be
            rescaled to sum to (Σw)² / Σw².

        Returns
        -------
        QuickShift
            The fitted estimator.
        """
        report = FitReport.wanted(self, self._count_stages())
        with all_or_nothing(self):
            points = validated(self, X, reset=True)
            self._check_cut(points.shape[0])
            self._require_memory(points.shape)
            if report:
                report.begin(points, sample_weight)
            samples = stages.prepare(
                points,
                sample_weight=sample_weight,
                period=checked_period(self.metric, self.period, points.shape[1]),
                n_jobs=self.n_jobs,
                progress=report,
            )
            self._estimate = self._fit_density(samples, report)
            sums = self._estimate.sums(report)
            self._graph = stages.climb(
                samples,
                sums,
                ties=self.ties,
                n_jobs=self.n_jobs,
                significant_bits=self._estimate.significant_bits,
                progress=report,
            )
            self._tree: stages.ClusterTree | None = None
            self._store(points, sums, self._cut(report))
            if report:
                report.end(points, sample_weight)
        return self

    def predict(self, X: ArrayLike) -> Indices:
        """Label new points.

        A point equal to a sample takes its label; another one that of the nearest sample of higher
        density within `tau_`, or of the nearest sample if there is none.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_queries,)
            Their clusters.
        """
        check_is_fitted(self)
        points = validated(self, X, reset=False)
        return self._labels_of(points, self.labels_, self.tau_)

    def score_samples(self, X: ArrayLike) -> Floats:
        """Log density at points.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_queries,)
            Logarithm of the estimated density; minus infinity outside a compact kernel's reach.
        """
        check_is_fitted(self)
        return self._estimate.log_density_at(validated(self, X, reset=False))

    def labels_at(self, tau: float) -> Indices:
        """Label the samples as if fitted with another tau; the estimator stays as it is.

        Parameters
        ----------
        tau : float
            Longest move.

        Returns
        -------
        ndarray of shape (n_samples,)
            The clusters.
        """
        check_is_fitted(self)
        forest = stages.cut(self._graph, tau, n_jobs=self.n_jobs)
        return self._complete(forest.labels, forest.tau)

    def labels_for(self, n_clusters: int, by: str = "significance") -> Indices:
        """Label the samples with a given number of clusters; the estimator stays as it is.

        Parameters
        ----------
        n_clusters : int
            Number of clusters.
        by : {"significance", "tau"}, default="significance"
            What decides: the most significant of the modes at `tau_` stay, and where there are
            fewer, the longest moves are removed; or the longest moves are removed in any case.

        Returns
        -------
        ndarray of shape (n_samples,)
            The clusters.
        """
        check_is_fitted(self)
        if check_choice(by, "by", ("significance", "tau")) == "tau":
            forest = stages.cut_into(self._graph, n_clusters, n_jobs=self.n_jobs)
            return self._complete(forest.labels, forest.tau)
        check_count(n_clusters, "n_clusters", self.labels_.size)
        tree = self._linked()
        if n_clusters > tree.leaf_indices.size:
            return self.labels_for(n_clusters, by="tau")
        return self._complete(stages.keep_most_significant(tree, n_clusters).leaf_labels, tree.tau)

    @property
    def log_density_(self) -> Floats:
        """Logarithm of the density at the samples."""
        check_is_fitted(self)
        if self._log_density is None:
            log_density = self._estimate.log_density(self._graph.heights)
            if self._absent.size:
                log_density[self._absent] = self._estimate.log_density_at(self._absent_points)
            self._log_density = log_density
        return self._log_density

    @property
    def significance_(self) -> Floats:
        """How many standard errors of the estimate each mode stands out by."""
        check_is_fitted(self)
        tree = self._linked()
        return tree.known_significance()[tree.leaf_labels[self.mode_indices_]]

    def to_linkage(self) -> Floats:
        """All cuts as a SciPy linkage matrix.

        Returns
        -------
        ndarray of shape (n_samples - 1, 4)
            ``scipy.cluster.hierarchy.fcluster(linkage, tau, "distance")`` is the cut at tau.
            Samples of weight zero are absent.
        """
        check_is_fitted(self)
        return stages.linkage(self._graph)

    def to_networkx(self) -> "networkx.DiGraph":
        """Forest after the cut at `tau_` as a directed graph.

        Returns
        -------
        networkx.DiGraph
            One node a sample of positive weight, with its ``density`` and ``label``; one edge to
            its parent, with its ``distance``.
        """
        check_is_fitted(self)
        import networkx

        graph = networkx.DiGraph()
        density, labels = self.density_.tolist(), self.labels_.tolist()
        present = np.flatnonzero(~np.isnan(self.parent_distance_))
        graph.add_nodes_from(
            (i, {"density": density[i], "label": labels[i]}) for i in present.tolist()
        )
        kept = present[~np.isin(present, self._forest.roots)]
        parent, distance = self.parent_[kept].tolist(), self.parent_distance_[kept].tolist()
        graph.add_weighted_edges_from(
            zip(kept.tolist(), parent, distance, strict=True), weight="distance"
        )
        return graph

    def _check_cut(self, n_samples: int) -> None:
        if isinstance(self.tau, str):
            check_choice(self.tau, "tau", ("auto",), "a length of at least 0 or ")
        else:
            check_tau(self.tau)
        if self.n_clusters is None:
            return
        check_count(self.n_clusters, "n_clusters", n_samples)
        if not isinstance(self.tau, str):
            raise ValueError(
                f"n_clusters is {self.n_clusters!r} and tau is {self.tau!r}, but each decides the "
                f"cut. Leave tau at 'auto' to get a number of clusters, or drop n_clusters."
            )

    def _count_rules(self) -> int:
        return sum(isinstance(rule, str) for rule in (self.bandwidth, self.tau))

    def _links(self) -> bool:
        """Whether the fit needs the cluster tree."""
        return isinstance(self.tau, str)

    def _count_stages(self) -> int:
        return 4 + self._count_rules() + self._links()  # prepare, estimate_density, climb, cut

    def _require_memory(self, shape: tuple[int, ...]) -> None:
        """Refuse at once what would fail after a long time."""
        kernel = get_kernel(self.kernel).name
        rules = self._count_rules() > 0
        needed = fit_bytes(shape[0], shape[1], kernel, rules=rules, links=self._links())
        require_memory(needed, "fit", shape)

    def _fit_density(self, samples: stages.Samples, progress: FitReport | None) -> stages.Estimate:
        settings: dict[str, Any] = {
            "kernel": self.kernel,
            "rtol": self.rtol,
            "n_jobs": self.n_jobs,
        }
        bandwidth = self.bandwidth
        if isinstance(bandwidth, str):
            check_choice(bandwidth, "bandwidth", RULES, "a positive number or ")
            bandwidth = stages.choose_bandwidth(samples, bandwidth, **settings, progress=progress)
        return stages.fit_estimate(samples, bandwidth, **settings)

    def _cut(self, progress: FitReport | None) -> stages.Forest:
        """Algorithm 1 where tau is given; else the significant modes at the tau of a rule."""
        settings: dict[str, Any] = {"n_jobs": self.n_jobs, "progress": progress}
        if not isinstance(self.tau, str):
            self._forest = stages.cut(self._graph, self.tau, **settings)
            return self._forest
        samples, h = self._graph.samples, self._estimate.bandwidth
        tau = stages.choose_tau(samples, h, kernel=self.kernel, **settings)
        self._forest = stages.cut(self._graph, tau, **settings)
        if self.n_clusters is not None:
            if self.n_clusters > self._forest.roots.size:
                self._forest = stages.cut_into(self._graph, self.n_clusters, n_jobs=self.n_jobs)
            return self._forest_of(
                stages.keep_most_significant(self._linked(progress), self.n_clusters)
            )
        least = stages.chance_significance(samples.total_weight, samples.n_features)
        return self._forest_of(stages.keep_significant(self._linked(progress), least))

    def _linked(self, progress: FitReport | None = None) -> stages.ClusterTree:
        """Cluster tree of the forest, linked when it is first needed.

        Its levels are sums of profiles, which never overflow.
        """
        if self._tree is None:
            tree = stages.link(
                self._graph.samples,
                self._graph.heights,
                self._forest,
                max(self._forest.tau, _SHORTEST),
                n_jobs=self.n_jobs,
                progress=progress,
            )
            tree = replace(tree, log_unit=self._estimate.log_constant)
            self._tree = stages.assess(tree, self._estimate, self._graph)
        return self._tree

    def _forest_of(self, tree: stages.ClusterTree) -> stages.Forest:
        return replace(self._forest, labels=tree.leaf_labels, roots=tree.leaf_indices)

    def _store(self, points: Numbers, sums: Floats, forest: stages.Forest) -> None:
        self.bandwidth_ = self._estimate.bandwidth
        self.tau_ = forest.tau
        self.parent_ = self._graph.parent
        self.parent_distance_ = self._graph.distance
        self.mode_indices_ = forest.roots.copy()
        self.modes_ = self._graph.samples.tree.coordinates(forest.roots)
        self.n_clusters_ = forest.roots.size
        self.density_ = self._estimate.density(sums)
        self._log_density = None
        self._absent = np.flatnonzero(np.isnan(sums))
        self._absent_points = points[self._absent]
        if self._absent.size:
            self.density_[self._absent] = self._estimate.density_at(self._absent_points)
        self.labels_ = self._complete(forest.labels, forest.tau)

    def _complete(self, labels: Indices, tau: float) -> Indices:
        """Labels to give away, with the samples of weight zero labelled as new points."""
        labels = labels.copy()
        if self._absent.size:
            labels[self._absent] = self._labels_of(self._absent_points, labels, tau)
        return labels

    def _labels_of(self, points: Numbers, labels: Indices, tau: float) -> Indices:
        heights = self._estimate.heights_at(points)
        nearest = stages.assign(self._graph, points, heights, tau=tau, n_jobs=self.n_jobs)
        return labels[nearest]
