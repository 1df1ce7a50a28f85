"""What a fitted QuickShift answers: labels of new points, other cuts, densities, exports."""

from __future__ import annotations  # short types in the output of `help`

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from quickshift.arrays import Floats, Indices, Numbers
from quickshift.checks.clustering import (
    check_min_cluster_size,
    check_one_cut,
    check_taus,
)
from quickshift.checks.numbers import (
    check_choice,
    check_count,
    check_nonnegative,
    check_tau,
    check_whole,
)
from quickshift.estimators.base import validated
from quickshift.estimators.stored_fit import SHORTEST, StoredFit
from quickshift.estimators.summarize import literal, reproduce, summarize
from quickshift.estimators.summary import Summary
from quickshift.extras import optional_import
from quickshift.memory import (
    cut_bytes,
    embedding_bytes,
    prepare_bytes,
    require_memory,
    share_bytes,
)
from quickshift.stages.clusters import Clusters, merge_modes, merge_small
from quickshift.stages.forest import cut_at, cut_into, linkage
from quickshift.stages.local_scale import LocalScale, scales_at_points
from quickshift.stages.membership import TopShares, label_samples, shares_at_points
from quickshift.stages.tree.cluster_tree import ClusterTree
from quickshift.stages.tree.significance import keep_most_significant

if TYPE_CHECKING:
    import networkx
    from matplotlib.axes import Axes

__all__ = ["FittedQuickShift"]


class FittedQuickShift(StoredFit):
    """The methods and attributes of `QuickShift` that need a fit."""

    def predict(self, X: ArrayLike) -> Indices:
        """Label new points.

        A point equal to a sample takes that sample's label. Any other point takes the label of the
        nearest sample of higher density within `tau_`, or of the nearest sample if there is none.
        With local scale, the point has a tau of its own, measured as that of the samples, and
        multiplied by the same factor if `n_clusters` exceeds the number of modes (see `tau_`).

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_queries,)
            Label of each point's cluster.
        """
        return self._predict(self._queries(X))

    def predict_proba(self, X: ArrayLike, top: int | None = None) -> Floats | TopShares:
        """Return how much of the density at each point comes from the samples of each cluster.

        With a bandwidth, the share of a cluster is the part of the density at the point that the
        kernels of its samples contribute. With local scale, it is the share of its samples among
        the `n_neighbors_` nearest samples of the point, a sample at the point itself included. If
        several samples are at the same distance as the last of these, each of them counts in part.
        Samples count by their weights.

        Shares tell how close to a border between clusters a point is, `strength` how far out it is.
        The largest share is usually, but not always, that of the cluster that `predict` returns.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The points.
        top : int, optional
            Return only this many clusters for each point, those with the largest shares. The
            memory needed then depends on `top` instead of the number of clusters.

        Returns
        -------
        ndarray of shape (n_queries, `n_clusters_`) or TopShares
            The share of each cluster; the columns are the labels, and each row sums to 1. With
            `top`, a named tuple of ``labels`` and ``shares``, both of shape (n_queries, k), where k
            is `top` or, if that is smaller, `n_clusters_`. The shares of a row fall; of equal
            shares, the one of the lower label comes first.

            At a point where the density is zero, or where the mean of all kernels relative to
            their maximum underflows (below 2e-308), the cluster that `predict` returns has the
            share 1. With the Gaussian or the exponential kernel, each share is accurate to about
            `rtol`.

        Examples
        --------
        >>> from quickshift import QuickShift
        >>> X = [[0.0], [1.0], [2.0], [8.0], [9.0]]
        >>> model = QuickShift(bandwidth=3.0, tau=3.0).fit(X)
        >>> model.predict_proba([[1.0], [5.0], [9.0]]).round(3)
        array([[0.968, 0.032],
               [0.555, 0.445],
               [0.051, 0.949]])
        >>> largest = model.predict_proba([[5.0], [9.0]], top=1)
        >>> largest.labels.tolist(), largest.shares.round(3).tolist()
        ([[0], [1]], [[0.555], [0.949]])
        """
        check_is_fitted(self)
        n_clusters = self.n_clusters_
        largest = None if top is None else min(check_whole(top, "top", 1), n_clusters)
        points = self._queries(X)
        n_queries, n_features = points.shape
        columns = 2 * largest if largest else n_clusters  # labels and shares, or shares
        local = isinstance(self._estimate, LocalScale)
        needed = share_bytes(n_queries, n_features, self.labels_.size, columns, local=local)
        instead = "pass fewer points at once, or pass `top`"
        require_memory(needed, "predict_proba", points.shape, instead)
        samples = label_samples(self._estimate, self.labels_, n_clusters, self._row_weights)
        return shares_at_points(samples, points, self._predict, largest)

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
            are comparable only between fits with local scale that have the same `n_neighbors_`.
        """
        points = self._queries(X)
        return self._log_density_at(points)

    def score(self, X: ArrayLike, y: object = None) -> float:  # noqa: ARG002 (scikit-learn's signature)
        """Return the mean log density at points, so that scikit-learn can compare bandwidths.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The points.
        y : None
            Ignored.

        Returns
        -------
        float
            The mean of `score_samples`.

        Notes
        -----
        Scores of fits with local scale are comparable only if `n_neighbors_` is the same, because
        this density does not integrate to 1: a search over `n_neighbors` nearly always prefers the
        smallest number.

        With a compact kernel, such as "epanechnikov", the score is minus infinity if a single point
        is outside the support of the kernel at every sample. Scikit-learn then warns of scores that
        are not finite, and its standard deviation of such scores is an invalid subtraction. Its
        ``error_score`` does not help, because it replaces errors only. Search over bandwidths with
        a Gaussian or exponential kernel, whose support is unbounded.
        """
        return float(np.mean(self.score_samples(X)))

    def strength(self, X: ArrayLike) -> Floats:
        """Return how firmly new points belong to the clusters that `predict` assigns them to.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_queries,)
            From 1 at a mode down to 0 far away from all samples; see `strength_`.
        """
        points = self._queries(X)
        labels = self._predict(points)
        if isinstance(self._estimate, LocalScale):
            r = scales_at_points(self._estimate, points)[0]
            return self._strength_of(self._space.to_user(r), labels)
        return self._strength_of(self._log_density_at(points), labels)

    def labels_at(self, tau: float | ArrayLike) -> Indices:
        """Label the samples as if fitted with another tau; the estimator is not changed.

        Parameters
        ----------
        tau : float or array-like of shape (n_samples,)
            Longest move, one length for all samples or one per sample; an arc with
            ``metric="haversine"``, and in units of `scale_`, as all lengths.

        Returns
        -------
        ndarray of shape (n_samples,)
            Label of each sample's cluster.
        """
        check_is_fitted(self)
        self._require_absent()
        lengths = check_taus(tau, self.labels_.size, ignored=self._absent)
        lengths = self._space.from_user(lengths, "tau")
        require_memory(cut_bytes(self.labels_.size), "labels_at", self.labels_.shape)
        forest = cut_at(self._graph, lengths, n_jobs=self.n_jobs)
        return self._complete(forest.labels, forest.tau)

    def labels_for(self, n_clusters: int, by: str = "significance") -> Indices:
        """Label the samples with a given number of clusters; the estimator is not changed.

        Parameters
        ----------
        n_clusters : int
            Number of clusters.
        by : {"significance", "tau"}, default="significance"
            How clusters are chosen. "significance": of the modes at `tau_` (with local scale, at
            each sample's own tau), the most significant ones are kept; if there are fewer modes
            than clusters, the longest moves (relative to the tau of each sample, if these differ)
            are removed instead. "tau": the longest moves are removed in any case.

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

    def recut(
        self,
        *,
        tau: float | None = None,
        n_clusters: int | None = None,
        min_significance: float | None = None,
        min_cluster_size: float | None = None,
    ) -> Self:
        """Return a fitted estimator of the same fit with other clusters.

        Densities and parents are not computed again, and the new estimator shares their arrays.
        Everything works on it as after a fit: `predict`, `modes_`, `summary`, exports and further
        recuts. This estimator is not changed.

        Parameters
        ----------
        tau : float, optional
            Longest move of all samples. No modes are merged. (`labels_at` also takes one length per
            sample.)
        n_clusters : int, optional
            Number of clusters. Of the modes at `tau_`, the most significant ones are kept; if
            there are fewer modes, the longest moves are removed as well.
        min_significance : float, optional
            Least significance of the modes at `tau_` that are kept.
        min_cluster_size : float, optional
            Least number of samples (total weight) of a cluster. Of the clusters of this estimator,
            smaller ones are merged into those that they meet first.

        Returns
        -------
        QuickShift

        Examples
        --------
        >>> from quickshift import QuickShift
        >>> from quickshift.datasets import blobs
        >>> model = QuickShift().fit(blobs(600, centers=4, seed=0)[0])
        >>> coarser = model.recut(n_clusters=2)
        >>> model.n_clusters_, coarser.n_clusters_, coarser.modes_.shape
        (4, 2, (2, 2))
        >>> coarser.density_ is model.density_
        True
        """
        check_is_fitted(self)
        given = {
            "tau": tau,
            "n_clusters": n_clusters,
            "min_significance": min_significance,
            "min_cluster_size": min_cluster_size,
        }
        name = check_one_cut(given)
        self._require_absent()
        new = type(self).__new__(type(self))
        new.__dict__.update(vars(self))
        changed: dict[str, Any] = {}
        if name != "min_cluster_size":
            changed = {"tau": "auto", "n_clusters": None, "min_significance": "auto"}
            changed["min_cluster_size"] = 1
        changed[name] = given[name]
        new.__dict__.update(changed)
        new._settings = SimpleNamespace(**vars(self._settings) | changed)
        new._recut_from = f"{reproduce(self)}.recut({name}={literal(given[name])})"
        new._store_clusters(new._cut_by(name, given[name]))
        return new

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
    def modes_(self) -> Floats:
        """Mode of each cluster, the highest first."""
        check_is_fitted(self)
        if self._modes is None:
            self._modes = self._rows_as_given(self._clusters.forest.roots)
        return self._modes

    @property
    def min_significance_(self) -> float:
        """Least finite significance of the modes that were kept."""
        check_is_fitted(self)
        if np.isnan(self._clusters.min_significance):
            self._assessed_tree()
        return self._clusters.min_significance

    @property
    def tree_(self) -> ClusterTree:
        """Cluster tree of all density levels, linked on first access."""
        check_is_fitted(self)
        if self._tree is None:
            tree = self._tree_in_densities()
            self._tree = replace(tree, tau=self._space.to_user(tree.tau))
        return self._tree

    @property
    def strength_(self) -> Floats:
        """How firmly each sample belongs to its cluster, at most 1."""
        check_is_fitted(self)
        values = self.bandwidth_ if isinstance(self.bandwidth_, np.ndarray) else self.log_density_
        return self._strength_of(values, self.labels_)

    @property
    def outlier_scores_(self) -> Floats:
        """One minus the strength of each sample."""
        return 1.0 - self.strength_

    @property
    def significance_(self) -> Floats:
        """Prominence of each mode in standard errors of the estimate."""
        check_is_fitted(self)
        tree = self._assessed_tree()
        return tree.known_significance()[tree.leaf_labels[self.mode_indices_]]

    def summary(self) -> Summary:
        """Explain the clusters: one row per cluster, what was not kept and why, and what to do.

        Returns
        -------
        Summary
            ``print`` shows it as text, notebooks as a table; ``to_pandas()`` returns the table.

        Examples
        --------
        >>> from quickshift import QuickShift
        >>> from quickshift.datasets import blobs
        >>> summary = QuickShift().fit(blobs(600, centers=4, seed=0)[0]).summary()
        >>> print(str(summary).splitlines()[0])
        4 clusters of 600 samples with 2 features
        >>> len(summary.to_pandas())
        4
        """
        check_is_fitted(self)
        return summarize(self)

    def plot(self, kind: str = "forest", ax: Axes | None = None, **options: Any) -> Any:
        """Draw the clusters; needs matplotlib.

        Parameters
        ----------
        kind : {"forest", "decision_graph", "cuts", "tree", "persistence"}, default="forest"
            The plot: `ForestDisplay`, `DecisionGraphDisplay`, `CutsDisplay`,
            `ClusterTreeDisplay` or `PersistenceDisplay` of `quickshift.plot`.
        ax : matplotlib Axes, optional
            Axes to draw into; a new figure if not given.
        **options
            Parameters of the display's ``from_estimator``, for example ``unit="km"``.

        Returns
        -------
        Display
            With ``ax_``, ``figure_`` and everything that is drawn.

        Examples
        --------
        >>> from quickshift import QuickShift
        >>> from quickshift.datasets import blobs
        >>> model = QuickShift().fit(blobs(600, centers=4, seed=0)[0])
        >>> model.plot()
        ForestDisplay(600 samples, 4 clusters, 18 dashed)
        >>> model.plot("tree")
        ClusterTreeDisplay(4 branches, 4 clusters, 15 leaves left out)
        """
        from quickshift.plot import display_of

        check_is_fitted(self)
        return display_of(kind).from_estimator(self, **options).plot(ax)

    def to_linkage(self) -> Floats:
        """Return the cuts at every tau as one SciPy linkage matrix.

        Returns
        -------
        ndarray of shape (n_samples - 1, 4)
            ``scipy.cluster.hierarchy.fcluster(linkage, tau, "distance")`` is the cut at tau.
            Samples of weight zero are absent.
        """
        check_is_fitted(self)
        merges = linkage(self._graph)
        merges[:, 2] = self._space.to_user(merges[:, 2])
        return merges

    def to_networkx(self) -> networkx.DiGraph:
        """Return the clusters as a directed graph with one tree per cluster.

        Returns
        -------
        networkx.DiGraph
            One node per sample of positive weight, with its ``density`` and ``label``. One edge
            from each sample to its parent, with its ``distance``, if it is kept at `tau_`. A mode
            that was merged has an edge to the mode that it was merged into, with
            ``merged=True`` and without a distance.
        """
        check_is_fitted(self)
        with optional_import("networkx", "io", "to_networkx()"):
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
        merged = np.setdiff1d(self._clusters.unmerged.roots, self.mode_indices_)
        if merged.size:
            tree = self._assessed_tree()
            into = tree.leaf_indices[tree.towards[tree.leaf_labels[merged]]]
            graph.add_edges_from(zip(merged.tolist(), into.tolist(), strict=True), merged=True)
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
            return self._complete(forest.labels, self._with_absent(forest.tau)[0])
        tree = self._link(clusters.unmerged) if clusters.tree is None else clusters.tree
        labels = keep_most_significant(tree, n_clusters).leaf_labels
        return self._complete(labels, self._with_absent(scale.tau)[0])

    def _cut_by(self, name: str, value: Any) -> Clusters:
        """Cut the parent graph again; the arguments are those of `recut`."""
        if name == "tau":
            length = self._from_user(check_tau(value), "tau")
            forest = cut_at(self._graph, length, n_jobs=self.n_jobs)
            return Clusters(forest, forest, None, 0.0)
        forest = self._clusters.unmerged
        if name == "n_clusters" and check_count(value, name, self.labels_.size) > len(forest):
            own = self._estimate.tau if isinstance(self._estimate, LocalScale) else None
            forest = cut_into(self._graph, value, relative_to=own, n_jobs=self.n_jobs)
            return Clusters(forest, forest, None, np.nan)  # nothing is merged: no tree needed yet
        tree = self._assessed_tree()
        if name == "min_cluster_size":
            return merge_small(self._clusters, check_min_cluster_size(value))
        if name == "min_significance":
            return merge_modes(forest, tree, None, check_nonnegative(value, name), 0.0)
        return merge_modes(forest, tree, value, None, self._chance())

    def _strength_of(self, values: Floats, labels: Indices) -> Floats:
        """Compare points with the modes of their clusters, by log density or, locally, by r."""
        if isinstance(self.bandwidth_, np.ndarray):
            own = self.bandwidth_[self.mode_indices_]
            return np.minimum(own[labels] / np.maximum(values, SHORTEST), 1.0)
        own = self.log_density_[self.mode_indices_]
        with np.errstate(under="ignore"):
            return np.exp(np.minimum(values - own[labels], 0.0))

    def _predict(self, points: Numbers) -> Indices:
        """Label checked points as `predict` does."""
        tau = self._tau if isinstance(self._tau, float) else None
        return self._labels_of(points, self.labels_, tau)

    def _queries(self, X: ArrayLike) -> Numbers:
        """Return the coordinates of new points, after checking that their tree fits into memory."""
        check_is_fitted(self)
        points = validated(self, X, reset=False)
        shape = len(points), self._space.n_coordinates(points.shape[1])
        needed = prepare_bytes(*shape)
        if not self._space.keeps_points:
            needed += embedding_bytes(len(points), 0, shape[1])
        require_memory(needed, "the density at queries", points.shape)
        return self._space.embed(points)
