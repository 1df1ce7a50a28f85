"""Quick Shift clustering (Algorithm 1) as a scikit-learn estimator."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from quickshift.arrays import Floats, Indices, Numbers
from quickshift.bandwidth import RULES
from quickshift.checks.clustering import (
    check_cut,
    check_local,
    check_metric,
    check_min_significance,
    check_rtol,
    check_ties,
)
from quickshift.checks.numbers import check_choice, check_count, check_not_none
from quickshift.checks.points import check_weights
from quickshift.estimators.base import all_or_nothing, validated
from quickshift.estimators.callbacks import CallbackSupportMixin, FitReport, with_callbacks
from quickshift.estimators.progress_bar import shown_progress
from quickshift.kernels import get_kernel
from quickshift.memory import (
    fit_bytes,
    link_bytes,
    local_fit_bytes,
    prepare_bytes,
    require_memory,
)
from quickshift.progress import Progress
from quickshift.stages.clusters import Clusters, assessed_tree, clusters_of, in_densities
from quickshift.stages.density import (
    Estimate,
    heights_at_points,
    log_density_at_points,
    make_estimate,
    sums_at_samples,
)
from quickshift.stages.forest import cut, cut_at, cut_into, linkage
from quickshift.stages.local_clusters import LocalSettings, local_clusters_of, tree_by_scale
from quickshift.stages.local_scale import LocalScale, checked_neighbors, scales_at_points
from quickshift.stages.parent_graph import ParentGraph, assign_points, find_parents
from quickshift.stages.rules import bandwidth_by
from quickshift.stages.samples import Samples, build_samples
from quickshift.stages.tree.cluster_tree import ClusterTree
from quickshift.stages.tree.significance import keep_most_significant

if TYPE_CHECKING:
    import networkx

__all__ = ["QuickShift"]

_SHORTEST = float(np.finfo(np.float64).tiny)  # replaces a tau of 0, which is due to underflow


class QuickShift(CallbackSupportMixin, ClusterMixin, BaseEstimator):
    """Cluster samples by moving each one to its nearest sample of higher density.

    The moves form a forest whose trees are the clusters and whose roots are the modes of the
    density. By default, every sample has a scale of its own, and modes that chance may have
    produced are merged into others. ``QuickShift(bandwidth=0.5, tau=1.0)`` is the algorithm of the
    paper, with one bandwidth and one longest move for all samples. One fit contains the clusters
    for every `tau`: see `labels_at`.

    Parameters
    ----------
    bandwidth : "local", float or {"auto", "paper", "scott", "silverman", "cv"}, default="local"
        How the density is estimated. Features should be on comparable scales.

        "local" needs no bandwidth: the scale of a sample is its mean distance r to its
        `n_neighbors` nearest others, and the density is proportional to r^-d, where d is the number
        of features that are not constant.

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
    metric : {"euclidean", "periodic"}, default="euclidean"
        "periodic" takes `period` into account. It is implied if `period` is given.
    period : array-like of shape (n_features,), optional
        Length of each feature's period, ``numpy.inf`` for a feature that is not periodic.
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
        Density at the samples. With local scale it may overflow or underflow in high dimension.
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
        another mode would have needed; 0 if `tau` was given. With local scale, a fit with
        `n_neighbors_` and `min_significance_` as parameters gives the same clusters.
    significance_ : ndarray of shape (`n_clusters_`,)
        Prominence of each mode in standard errors of the estimate; infinite for the highest mode.
        Computed on first access, unless the fit needed it.
    tau_ : float or ndarray of shape (n_samples,)
        The tau used, one number or one per sample. With "auto" or `n_clusters`,
        ``labels_at(tau_)`` may have more clusters, because it merges no modes. If `n_clusters`
        exceeds the number of modes, `tau_` is the length of the longest move kept (with local
        scale, a multiple of each sample's own tau); if some moves of exactly that length were
        removed, ``labels_at(tau_)`` has fewer clusters.
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
    """

    _estimate: Estimate | LocalScale
    _graph: ParentGraph
    _clusters: Clusters
    _log_density: Floats | None  # computed on first access
    _multiple_of_tau: float  # of each sample's own tau that `tau_` is, under local scale
    _absent: Indices  # rows of weight zero
    _absent_points: Numbers  # coordinates of these rows

    def __init__(
        self,
        bandwidth: float | str = "local",
        tau: float | str = "auto",
        *,
        n_neighbors: int | str = "auto",
        kernel: str = "gaussian",
        n_clusters: int | None = None,
        min_significance: float | str = "auto",
        metric: str = "euclidean",
        period: ArrayLike | None = None,
        verbose: int = 0,
        ties: str = "total",
        rtol: float = 1e-9,
        n_jobs: int | None = None,
    ) -> None:
        self.bandwidth = bandwidth
        self.tau = tau
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.n_clusters = n_clusters
        self.min_significance = min_significance
        self.metric = metric
        self.period = period
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
            check_not_none(
                bandwidth=self.bandwidth,
                tau=self.tau,
                n_neighbors=self.n_neighbors,
                min_significance=self.min_significance,
            )
            cut_by: dict[str, Any] = {
                "tau": check_cut(self.tau, self.n_clusters, len(points)),
                "n_clusters": self.n_clusters,
                "min_significance": check_min_significance(
                    self.min_significance, self.tau, self.n_clusters
                ),
                "link": self._needs_tree(),
            }
            check_ties(self.ties)
            check_local(get_kernel(self.kernel).name, self.n_neighbors, local=self._is_local())
            self._require_memory(points.shape)
            if report:
                report.begin(points, sample_weight)
            weights = check_weights(sample_weight, len(points))
            period = check_metric(self.metric, self.period, points.shape[1])
            samples = build_samples(points, weights, period, n_jobs=self.n_jobs, progress=progress)
            fit = self._fit_local if self._is_local() else self._fit_kernel
            self._store(points, *fit(samples, cut_by, progress))
            if report:
                report.end(points, sample_weight)
        return self

    def predict(self, X: ArrayLike) -> Indices:
        """Label new points.

        A point equal to a sample takes that sample's label. Any other point takes the label of the
        nearest sample of higher density within `tau_`, or of the nearest sample if there is none.
        With local scale, the point has a tau of its own, measured as that of the samples.

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
        tau = self.tau_ if isinstance(self.tau_, float) else None
        return self._labels_of(points, self.labels_, tau)

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
            a compact kernel. The density from local scales does not integrate to 1, so its values
            should only be compared with those of other fits with local scale.
        """
        points = self._queries(X)
        return self._log_density_at(points)

    def labels_at(self, tau: float | ArrayLike) -> Indices:
        """Label the samples as if fitted with another tau; the estimator is not changed.

        Parameters
        ----------
        tau : float or array-like of shape (n_samples,)
            Longest move, one length for all samples or one per sample.

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
            ones are kept; if there are fewer modes than clusters, the longest moves (relative to
            the tau of each sample, if these differ) are removed instead. "tau": the longest moves
            are removed in any case.

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
        if isinstance(self._estimate, LocalScale) and not by_tau:
            return self._local_labels_for(self._estimate, n_clusters)
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
                log_density[self._absent] = self._log_density_at(self._absent_points)
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

    def _local_labels_for(self, scale: LocalScale, n_clusters: int) -> Indices:
        """Label the samples as a fit with this scale and this number of clusters does."""
        clusters = self._clusters
        if clusters.unmerged.tau is not scale.tau:  # the fit was cut at another tau
            forest = cut_at(self._graph, scale.tau, n_jobs=self.n_jobs)
            clusters = Clusters(forest, forest, None, 0.0)
        if n_clusters > clusters.unmerged.roots.size:
            tau = scale.tau
            forest = cut_into(self._graph, n_clusters, relative_to=tau, n_jobs=self.n_jobs)
            return self._complete(forest.labels, self._with_absent(scale, forest.tau)[0])
        tree = clusters.tree or tree_by_scale(scale, clusters.unmerged)
        labels = keep_most_significant(tree, n_clusters).leaf_labels
        return self._complete(labels, self._with_absent(scale, scale.tau)[0])

    def _with_absent(
        self, scale: LocalScale, tau: float | Floats
    ) -> tuple[float | Floats, float, Floats]:
        """Return tau and r with the values of samples of weight zero, as of new points.

        Returns tau, the multiple of each sample's own tau that it is, and r.
        """
        r, multiple = scale.r, 1.0
        if not isinstance(tau, float) and tau is not scale.tau:
            multiple = float(np.nanmax(tau / np.maximum(scale.tau, _SHORTEST)))
        if self._absent.size:
            r[self._absent], own = scales_at_points(scale, self._absent_points)
            if not isinstance(tau, float):
                tau = tau.copy()
                tau[self._absent] = own * multiple
        return tau, multiple, r

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

    def _is_local(self) -> bool:
        return isinstance(self.bandwidth, str) and self.bandwidth == "local"

    def _links(self) -> bool:
        """Whether the fit links a cluster tree."""
        return self._needs_tree() or isinstance(self.tau, str)

    def _count_rules(self) -> int:
        return sum(isinstance(rule, str) for rule in (self.bandwidth, self.tau))

    def _count_stages(self) -> int | None:
        if self._is_local():
            return None  # up to three scales are tried
        return 4 + self._count_rules() + self._links()  # prepare, estimate_density, climb, cut

    def _require_memory(self, shape: tuple[int, ...]) -> None:
        """Raise before the fit begins if it would run out of memory."""
        kernel, links = get_kernel(self.kernel).name, self._links()
        if self._is_local():
            needed = local_fit_bytes(shape[0], shape[1], links=links)
        else:
            rules = self._count_rules() > 0
            needed = fit_bytes(shape[0], shape[1], kernel, rules=rules, links=links)
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
            check_choice(h, "bandwidth", ("local", *RULES), "a positive number or ")
            h = bandwidth_by(h, samples, kernel, rtol, n_jobs=self.n_jobs, progress=progress)
        return make_estimate(samples, h, kernel, rtol, self.n_jobs)

    def _assessed_tree(self) -> ClusterTree:
        """Return the cluster tree of the unmerged forest; it is built when it is first needed."""
        clusters = self._clusters
        if clusters.tree is None:
            shape = self._graph.samples.n_samples, self._graph.samples.n_features
            require_memory(link_bytes(shape[0]), "linking the cluster tree", shape)
            if isinstance(self._estimate, LocalScale):
                tree = tree_by_scale(self._estimate, clusters.unmerged)
            else:
                tree = assessed_tree(self._estimate, clusters.unmerged, n_jobs=self.n_jobs)
            self._clusters = clusters = replace(clusters, tree=tree)
            return tree
        return clusters.tree

    def _tree_in_densities(self) -> ClusterTree:
        """Return the cluster tree of the unmerged forest, with densities if these do not overflow.

        Its samples of weight zero have no density.
        """
        estimate = self._estimate
        if isinstance(estimate, LocalScale):
            return in_densities(self._assessed_tree(), estimate.density_of_levels)
        return in_densities(self._assessed_tree(), estimate.density)

    def _store(
        self,
        points: Numbers,
        estimate: Estimate | LocalScale,
        graph: ParentGraph,
        clusters: Clusters,
    ) -> None:
        self._estimate, self._graph, self._clusters = estimate, graph, clusters
        forest = clusters.forest
        self.min_significance_ = clusters.min_significance
        self.parent_ = graph.parent
        self.parent_distance_ = graph.distance
        self.mode_indices_ = forest.roots.copy()
        self.modes_ = graph.samples.tree.coordinates(forest.roots)
        self.n_clusters_ = forest.roots.size
        self.density_ = estimate.density(graph.heights)
        self._log_density = None
        self._absent = np.flatnonzero(np.isnan(graph.heights))
        self._absent_points = points[self._absent]
        self._store_scales(estimate, forest.tau)
        if self._absent.size:
            with np.errstate(over="ignore", under="ignore"):
                absent = np.exp(self._log_density_at(self._absent_points))
            self.density_[self._absent] = absent
        self.labels_ = self._complete(forest.labels, self.tau_)

    def _store_scales(self, estimate: Estimate | LocalScale, tau: float | Floats) -> None:
        """Set `bandwidth_`, `tau_` and `n_neighbors_`, also for samples of weight zero."""
        self.bandwidth_: float | Floats
        self.tau_: float | Floats = tau
        for name in ("n_neighbors_", "_multiple_of_tau"):
            self.__dict__.pop(name, None)  # of an earlier fit
        if isinstance(estimate, Estimate):
            self.bandwidth_ = estimate.bandwidth
            return
        self.n_neighbors_ = estimate.n_neighbors
        self.tau_, self._multiple_of_tau, self.bandwidth_ = self._with_absent(estimate, tau)

    def _complete(self, labels: Indices, tau: float | Floats) -> Indices:
        """Return a copy of labels, with samples of weight zero labeled as new points are."""
        labels = labels.copy()
        if self._absent.size:
            own = tau if isinstance(tau, float) else tau[self._absent]
            labels[self._absent] = self._labels_of(self._absent_points, labels, own)
        return labels

    def _labels_of(self, points: Numbers, labels: Indices, tau: float | Floats | None) -> Indices:
        """Label points by a cut at tau; None stands for the tau of each point itself."""
        estimate = self._estimate
        if isinstance(estimate, LocalScale):
            r, own = scales_at_points(estimate, points)
            heights = -r
            tau = own * self._multiple_of_tau if tau is None else tau
        else:
            heights = heights_at_points(estimate, points)
        assert tau is not None  # a kernel density has one tau for all points
        return labels[assign_points(self._graph, points, heights, tau, n_jobs=self.n_jobs)]

    def _log_density_at(self, points: Numbers) -> Floats:
        estimate = self._estimate
        if isinstance(estimate, LocalScale):
            return estimate.log_density(-scales_at_points(estimate, points)[0])
        return log_density_at_points(estimate, points)
