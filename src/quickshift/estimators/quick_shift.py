"""Quick Shift clustering (Algorithm 1) as a scikit-learn estimator."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from quickshift.arrays import Floats, Indices, Numbers
from quickshift.bandwidth import RULES
from quickshift.checks.clustering import check_cut, check_metric, check_rtol, check_ties
from quickshift.checks.numbers import check_choice, check_count
from quickshift.checks.points import check_weights
from quickshift.estimators.base import all_or_nothing, validated
from quickshift.estimators.callbacks import CallbackSupportMixin, FitReport, with_callbacks
from quickshift.kernels import get_kernel
from quickshift.memory import fit_bytes, link_bytes, prepare_bytes, require_memory
from quickshift.stages.clusters import Clusters, assessed_tree, clusters_of
from quickshift.stages.density import (
    Estimate,
    heights_at_points,
    log_density_at_points,
    make_estimate,
    sums_at_samples,
)
from quickshift.stages.forest import cut, cut_into, linkage
from quickshift.stages.parent_graph import ParentGraph, assign_points, find_parents
from quickshift.stages.rules import bandwidth_by
from quickshift.stages.samples import Samples, build_samples
from quickshift.stages.tree.cluster_tree import ClusterTree
from quickshift.stages.tree.significance import keep_most_significant

if TYPE_CHECKING:
    import networkx

__all__ = ["QuickShift"]


class QuickShift(CallbackSupportMixin, ClusterMixin, BaseEstimator):
    """Cluster samples by moving each one to its nearest sample of higher density.

    The moves form a forest whose trees are the clusters and whose roots are the modes of the
    density. One fit contains the clusters for every `tau`: see `labels_at`.

    Parameters
    ----------
    bandwidth : float or {"auto", "paper", "scott", "silverman", "cv"}, default="auto"
        h, the scale that divides distances in the kernel, or a rule that chooses it from the data.
        "paper" and "scott" are the rate n^(-1/(4+d)) of the paper times the spread of the data.
        "auto" is half of that; with more than five features it is at least a third of the median
        distance to the nearest distinct sample. "silverman" is the normal reference rule. "cv"
        maximizes the leave-one-out likelihood. Features should be on comparable scales.
    tau : float or "auto", default="auto"
        Longest move. A mode that has a higher sample within tau joins that sample's cluster. "auto"
        is 1.5 (Gaussian) bandwidths, but at least the 99th percentile of the distance to the
        nearest distinct sample. Only with "auto", modes that chance may have produced, and modes
        far less significant than the others, are merged into higher ones after the cut.
    kernel : str, default="gaussian"
        "gaussian", "exponential", "silverman", "uniform" ("tophat"), "triangular" ("linear"),
        "tricube", "cosine" or "epanechnikov".
    n_clusters : int, optional
        Number of clusters wanted, instead of `tau`: this many modes are kept, the most significant
        ones. If there are fewer modes, the longest moves are removed instead until there are
        enough. At most the number of distinct samples.
    metric : {"euclidean", "periodic"}, default="euclidean"
        "periodic" takes `period` into account.
    period : array-like of shape (n_features,), optional
        Length of each feature's period, ``numpy.inf`` for a feature that is not periodic.
    ties : {"total", "strict"}, default="total"
        Which of two samples of equal density is higher. "total": the one with the lexicographically
        larger coordinates, and among exact duplicates the first row, so that the clusters do not
        depend on the order of the rows. "strict": neither, as the paper writes it.
    rtol : float, default=1e-9
        Relative error allowed in each density of the Gaussian and the exponential kernel; with 0,
        every pair is summed. Sums of the other kernels are exact.
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
        Coordinates of the modes, highest first; periodic features are wrapped to [0, period).
    mode_indices_ : ndarray of shape (`n_clusters_`,)
        Row of each mode.
    density_ : ndarray of shape (n_samples,)
        Density at the samples.
    log_density_ : ndarray of shape (n_samples,)
        Logarithm of the density, which does not underflow in high dimension. Computed on first
        access.
    parent_ : ndarray of shape (n_samples,), int64
        Row of the nearest higher sample, however far away; the sample's own row if there is none.
    parent_distance_ : ndarray of shape (n_samples,)
        Distance to the parent; infinite if there is none, NaN for samples of weight zero.
    bandwidth_ : float
        The bandwidth used.
    significance_ : ndarray of shape (`n_clusters_`,)
        Prominence of each mode in standard errors of the estimate; infinite for the highest mode.
        Computed on first access, unless the fit needed it.
    tau_ : float
        The tau used. With "auto" or `n_clusters`, ``labels_at(tau_)`` may have more clusters,
        because it merges no modes. If `n_clusters` exceeds the number of modes, `tau_` is the
        length of the longest move kept; if some moves of exactly that length were removed,
        ``labels_at(tau_)`` has fewer clusters.
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

    _estimate: Estimate
    _graph: ParentGraph
    _clusters: Clusters
    _log_density: Floats | None  # computed on first access
    _absent: Indices  # rows of weight zero
    _absent_points: Numbers  # coordinates of these rows

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

        Callbacks of scikit-learn (1.9 or newer; see ``set_callbacks``) are called for every stage
        and for every twentieth of a stage.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            Frequencies: an integer weight equals repeating the row. A row of weight zero does not
            influence the clusters, and gets the label that `predict` would give it. Importance
            weights should be rescaled to sum to (Σw)² / Σw².

        Returns
        -------
        QuickShift
            The fitted estimator.
        """
        report = FitReport.wanted(self, self._count_stages())
        with all_or_nothing(self):
            points = validated(self, X, reset=True)
            tau = check_cut(self.tau, self.n_clusters, len(points))
            check_ties(self.ties)
            self._require_memory(points.shape)
            if report:
                report.begin(points, sample_weight)
            settings: dict[str, Any] = {"n_jobs": self.n_jobs, "progress": report}
            weights = check_weights(sample_weight, len(points))
            period = check_metric(self.metric, self.period, points.shape[1])
            samples = build_samples(points, weights, period, **settings)
            estimate = self._fit_estimate(samples, report)
            sums = sums_at_samples(estimate, report)
            graph = find_parents(samples, sums, self.ties, estimate.significant_bits, **settings)
            clusters = clusters_of(
                estimate, graph, tau, self.n_clusters, link=self._needs_tree(), **settings
            )
            self._store(points, estimate, graph, clusters)
            if report:
                report.end(points, sample_weight)
        return self

    def predict(self, X: ArrayLike) -> Indices:
        """Label new points.

        A point equal to a sample takes that sample's label. Any other point takes the label of the
        nearest sample of higher density within `tau_`, or of the nearest sample if there is none.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_queries,)
            Label of each point's cluster.
        """
        points = self._queries(X)
        return self._labels_of(points, self.labels_, self.tau_)

    def score_samples(self, X: ArrayLike) -> Floats:
        """Return the log density at points.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_queries,)
            Logarithm of the estimated density; minus infinity if no sample is within the support of
            a compact kernel.
        """
        points = self._queries(X)
        return log_density_at_points(self._estimate, points)

    def labels_at(self, tau: float) -> Indices:
        """Label the samples as if fitted with another tau; the estimator is not changed.

        Parameters
        ----------
        tau : float
            Longest move.

        Returns
        -------
        ndarray of shape (n_samples,)
            Label of each sample's cluster.
        """
        check_is_fitted(self)
        self._require_absent()
        forest = cut(self._graph, tau, n_jobs=self.n_jobs)
        return self._complete(forest.labels, forest.tau)

    def labels_for(self, n_clusters: int, by: str = "significance") -> Indices:
        """Label the samples with a given number of clusters; the estimator is not changed.

        Parameters
        ----------
        n_clusters : int
            Number of clusters.
        by : {"significance", "tau"}, default="significance"
            How clusters are chosen. "significance": of the modes at `tau_`, the most significant
            ones are kept; if there are fewer modes than clusters, the longest moves are removed
            instead. "tau": the longest moves are removed in any case.

        Returns
        -------
        ndarray of shape (n_samples,)
            Label of each sample's cluster.
        """
        check_is_fitted(self)
        self._require_absent()
        by_tau = check_choice(by, "by", ("significance", "tau")) == "tau"
        if not by_tau:
            check_count(n_clusters, "n_clusters", self.labels_.size)
        if by_tau or n_clusters > self._clusters.unmerged.roots.size:
            forest = cut_into(self._graph, n_clusters, n_jobs=self.n_jobs)
            return self._complete(forest.labels, forest.tau)
        tree = keep_most_significant(self._assessed_tree(), n_clusters)
        return self._complete(tree.leaf_labels, tree.tau)

    @property
    def log_density_(self) -> Floats:
        """Logarithm of the density at the samples."""
        check_is_fitted(self)
        if self._log_density is None:
            self._require_absent()
            log_density = self._estimate.log_density(self._graph.heights)
            if self._absent.size:
                log_density[self._absent] = log_density_at_points(
                    self._estimate, self._absent_points
                )
            self._log_density = log_density
        return self._log_density

    @property
    def significance_(self) -> Floats:
        """Prominence of each mode in standard errors of the estimate."""
        check_is_fitted(self)
        tree = self._assessed_tree()
        return tree.known_significance()[tree.leaf_labels[self.mode_indices_]]

    def to_linkage(self) -> Floats:
        """Return the cuts at every tau as one SciPy linkage matrix.

        Returns
        -------
        ndarray of shape (n_samples - 1, 4)
            ``scipy.cluster.hierarchy.fcluster(linkage, tau, "distance")`` is the cut at tau.
            Samples of weight zero are absent.
        """
        check_is_fitted(self)
        return linkage(self._graph)

    def to_networkx(self) -> "networkx.DiGraph":
        """Return the forest after the cut at `tau_` as a directed graph.

        Returns
        -------
        networkx.DiGraph
            One node per sample of positive weight, with its ``density`` and ``label``; one edge
            from each sample to its parent, with its ``distance``.
        """
        check_is_fitted(self)
        import networkx

        graph = networkx.DiGraph()
        density, labels = self.density_.tolist(), self.labels_.tolist()
        present = np.flatnonzero(~np.isnan(self.parent_distance_))
        graph.add_nodes_from(
            (i, {"density": density[i], "label": labels[i]}) for i in present.tolist()
        )
        kept = present[~np.isin(present, self._clusters.unmerged.roots)]
        parent, distance = self.parent_[kept].tolist(), self.parent_distance_[kept].tolist()
        graph.add_weighted_edges_from(
            zip(kept.tolist(), parent, distance, strict=True), weight="distance"
        )
        return graph

    def _queries(self, X: ArrayLike) -> Numbers:
        """Check new points, and that their tree fits into memory."""
        check_is_fitted(self)
        points = validated(self, X, reset=False)
        require_memory(prepare_bytes(*points.shape), "the density at queries", points.shape)
        return points

    def _require_absent(self) -> None:
        """Refuse if labeling the samples of weight zero as new points would not fit into memory."""
        if self._absent.size:
            shape = self._absent_points.shape
            require_memory(prepare_bytes(*shape), "the density at rows of weight zero", shape)

    def _needs_tree(self) -> bool:
        """Whether the cluster tree is wanted even if a given tau does not need it."""
        return False

    def _links(self) -> bool:
        """Whether the fit links a cluster tree."""
        return self._needs_tree() or isinstance(self.tau, str)

    def _count_rules(self) -> int:
        return sum(isinstance(rule, str) for rule in (self.bandwidth, self.tau))

    def _count_stages(self) -> int:
        return 4 + self._count_rules() + self._links()  # prepare, estimate_density, climb, cut

    def _require_memory(self, shape: tuple[int, ...]) -> None:
        """Raise before the fit begins if it would run out of memory."""
        kernel = get_kernel(self.kernel).name
        rules = self._count_rules() > 0
        needed = fit_bytes(shape[0], shape[1], kernel, rules=rules, links=self._links())
        require_memory(needed, "fit", shape)

    def _fit_estimate(self, samples: Samples, progress: FitReport | None) -> Estimate:
        kernel, rtol, h = get_kernel(self.kernel), check_rtol(self.rtol), self.bandwidth
        if isinstance(h, str):
            check_choice(h, "bandwidth", RULES, "a positive number or ")
            h = bandwidth_by(h, samples, kernel, rtol, n_jobs=self.n_jobs, progress=progress)
        return make_estimate(samples, h, kernel, rtol, self.n_jobs)

    def _assessed_tree(self) -> ClusterTree:
        """Return the cluster tree of the unmerged forest; it is built when it is first needed."""
        clusters = self._clusters
        if clusters.tree is None:
            shape = self._graph.samples.n_samples, self._graph.samples.n_features
            require_memory(link_bytes(shape[0]), "linking the cluster tree", shape)
            tree = assessed_tree(self._estimate, clusters.unmerged, n_jobs=self.n_jobs)
            self._clusters = clusters = replace(clusters, tree=tree)
            return tree
        return clusters.tree

    def _store(
        self, points: Numbers, estimate: Estimate, graph: ParentGraph, clusters: Clusters
    ) -> None:
        self._estimate, self._graph, self._clusters = estimate, graph, clusters
        forest = clusters.forest
        self.bandwidth_ = estimate.bandwidth
        self.tau_ = forest.tau
        self.parent_ = graph.parent
        self.parent_distance_ = graph.distance
        self.mode_indices_ = forest.roots.copy()
        self.modes_ = graph.samples.tree.coordinates(forest.roots)
        self.n_clusters_ = forest.roots.size
        self.density_ = estimate.density(graph.heights)
        self._log_density = None
        self._absent = np.flatnonzero(np.isnan(graph.heights))
        self._absent_points = points[self._absent]
        if self._absent.size:
            with np.errstate(over="ignore", under="ignore"):
                absent = np.exp(log_density_at_points(estimate, self._absent_points))
            self.density_[self._absent] = absent
        self.labels_ = self._complete(forest.labels, forest.tau)

    def _complete(self, labels: Indices, tau: float) -> Indices:
        """Return a copy of labels, with samples of weight zero labeled as new points are."""
        labels = labels.copy()
        if self._absent.size:
            labels[self._absent] = self._labels_of(self._absent_points, labels, tau)
        return labels

    def _labels_of(self, points: Numbers, labels: Indices, tau: float) -> Indices:
        heights = heights_at_points(self._estimate, points)
        return labels[assign_points(self._graph, points, heights, tau, n_jobs=self.n_jobs)]
