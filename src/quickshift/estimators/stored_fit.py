"""What a fit of QuickShift leaves behind, and how it is read: in the user's units, all rows."""

from __future__ import annotations  # short types in the output of `help`

from copy import deepcopy
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.base import ClusterMixin

from quickshift.arrays import Floats, Indices, Numbers
from quickshift.estimators.pickles import PickledWithVersion
from quickshift.memory import link_bytes, prepare_bytes, require_memory
from quickshift.spaces import Space
from quickshift.stages.clusters import Clusters, assessed_tree, in_densities
from quickshift.stages.density import Estimate, heights_at_points, log_density_at_points
from quickshift.stages.forest import Forest
from quickshift.stages.local_clusters import chance_at, tree_by_scale
from quickshift.stages.local_scale import LocalScale, scales_at_points
from quickshift.stages.parent_graph import ParentGraph, assign_points
from quickshift.stages.tree.chance import chance_significance
from quickshift.stages.tree.cluster_tree import ClusterTree
from quickshift.stages.tree.significance import least_kept

__all__ = ["SHORTEST", "StoredFit"]

# Those that decide the clusters. `get_params` may not have all of them in a subclass.
_PARAMETERS = (
    *("bandwidth", "tau", "n_neighbors", "kernel", "n_clusters", "min_significance"),
    *("min_cluster_size", "metric", "period", "scale", "ties", "rtol"),
)
SHORTEST = float(np.finfo(np.float64).tiny)  # replaces a tau of 0, which is due to underflow


class StoredFit(ClusterMixin, PickledWithVersion):
    """The results of a fit.

    A fit hands them to `_store`, a recut hands its clusters to `_store_clusters`; all other methods
    read them.
    """

    # Parameters
    bandwidth: Any
    tau: Any
    n_clusters: int | None
    min_significance: Any
    min_cluster_size: float
    n_jobs: int | None

    # Results of a fit. Lengths in private attributes are those of coordinates in `_space`.
    _space: Space
    _own_points: Numbers | None  # the samples as given, if their coordinates differ from them
    _given: dict[tuple[str, float], float]  # parameter and distance: the length the user gave
    _estimate: Estimate | LocalScale
    _graph: ParentGraph
    _clusters: Clusters
    _log_density: Floats | None  # computed on first access
    _modes: Floats | None  # copied on first access
    _tree: ClusterTree | None  # linked on first access
    _settings: SimpleNamespace  # copies of the parameters of the fit, which may change later
    _weighted: bool  # whether the fit had sample weights
    _recut_from: str | None  # after a recut, the Python code that gives these clusters
    _tau: float | Floats  # tau of the cut, also of samples of weight zero
    _multiple_of_tau: float  # of each sample's own tau that `tau_` is, under local scale
    _absent: Indices  # rows of weight zero
    _absent_points: Numbers  # coordinates of these rows
    _absent_tau: Floats  # their own tau, under local scale
    _row_weights: Floats | None  # kept if equal rows may have different labels

    def _enter(self, space: Space, points: Numbers) -> Numbers:
        """Set the space of a fit, and return the coordinates of the samples in it."""
        self._space, self._own_points, self._given = space, None, {}
        self.scale_ = np.ones(points.shape[1]) if space.units is None else space.units.copy()
        if not space.keeps_points:
            self._own_points = points.copy()
        return space.embed(points)

    def _store(
        self,
        points: Numbers,
        estimate: Estimate | LocalScale,
        graph: ParentGraph,
        clusters: Clusters,
    ) -> None:
        self._estimate, self._graph = estimate, graph
        self.parent_ = graph.parent
        self.parent_distance_ = self._space.to_user(graph.distance)
        self.density_ = estimate.density(graph.heights)
        self._log_density = self._recut_from = None
        self._settings = SimpleNamespace(
            **{name: deepcopy(getattr(self, name)) for name in _PARAMETERS}
        )
        self._absent = np.flatnonzero(np.isnan(graph.heights))
        self._absent_points = points[self._absent]
        self._store_scales(estimate)
        if self._absent.size:
            with np.errstate(over="ignore", under="ignore"):
                absent = np.exp(self._log_density_at(self._absent_points))
            self.density_[self._absent] = absent
        self._store_clusters(clusters)

    def _store_scales(self, estimate: Estimate | LocalScale) -> None:
        """Set `bandwidth_` and `n_neighbors_`, also for samples of weight zero."""
        self.bandwidth_: float | Floats
        for name in ("n_neighbors_", "_absent_tau"):
            self.__dict__.pop(name, None)  # of an earlier fit
        if isinstance(estimate, Estimate):
            self.bandwidth_ = self._to_user(estimate.bandwidth, "bandwidth")
            return
        self.n_neighbors_, r = estimate.n_neighbors, estimate.r
        if self._absent.size:
            r[self._absent], self._absent_tau = scales_at_points(estimate, self._absent_points)
        self.bandwidth_ = self._space.to_user(r)

    def _store_clusters(self, clusters: Clusters) -> None:
        """Set the attributes that depend on the cut."""
        forest = clusters.forest
        self._clusters, self._modes, self._tree = clusters, None, None
        self.mode_indices_ = forest.roots.copy()
        self.n_clusters_ = forest.roots.size
        self.tau_: float | Floats
        self._tau, self._multiple_of_tau = self._with_absent(forest.tau)
        self.tau_ = self._to_user(self._tau, "tau")
        self.labels_ = self._complete(forest.labels, self._tau)

    def _chance(self) -> float:
        """Return the significance that chance rarely exceeds for these samples."""
        samples = self._graph.samples
        if isinstance(self._estimate, LocalScale):
            return chance_at(self._estimate)
        kernel = self._estimate.kernel.name
        return chance_significance(samples.total_weight, samples.dimension, kernel=kernel)

    def _assessed_tree(self) -> ClusterTree:
        """Return the cluster tree of the unmerged forest; it is built when it is first needed."""
        clusters = self._clusters
        if clusters.tree is None:
            tree, least = self._link(clusters.unmerged), clusters.min_significance
            if np.isnan(least):
                least = least_kept(tree, self._chance())
            self._clusters = replace(clusters, tree=tree, min_significance=least)
            return tree
        return clusters.tree

    def _link(self, forest: Forest) -> ClusterTree:
        """Return the cluster tree of a forest, with the significance of each mode."""
        shape = self._graph.samples.n_samples, self._graph.samples.n_features
        require_memory(link_bytes(shape[0]), "linking the cluster tree", shape)
        if isinstance(self._estimate, LocalScale):
            return tree_by_scale(self._estimate, forest)
        return assessed_tree(self._estimate, forest, n_jobs=self.n_jobs)

    def _tree_in_densities(self) -> ClusterTree:
        """Return the cluster tree of the unmerged forest, with densities if these do not overflow.

        Its samples of weight zero have no density.
        """
        estimate = self._estimate
        if isinstance(estimate, LocalScale):
            return in_densities(self._assessed_tree(), estimate.density_of_levels)
        return in_densities(self._assessed_tree(), estimate.density)

    def _with_absent(self, tau: float | Floats) -> tuple[float | Floats, float]:
        """Return tau with that of samples of weight zero, and its multiple of each sample's own."""
        scale, multiple = self._estimate, 1.0
        if isinstance(tau, float) or not isinstance(scale, LocalScale):
            return tau, multiple
        if tau is not scale.tau:
            multiple = float(np.nanmax(tau / np.maximum(scale.tau, SHORTEST)))
        if self._absent.size:
            tau = tau.copy()
            tau[self._absent] = self._absent_tau * multiple
        return tau, multiple

    def _require_absent(self) -> None:
        """Refuse if labeling the samples of weight zero as new points would not fit into memory."""
        if self._absent.size:
            shape = self._absent_points.shape
            require_memory(prepare_bytes(*shape), "the density at rows of weight zero", shape)

    def _from_user(self, length: Any, name: str) -> Any:
        """Convert a length that the user gave as a parameter of this name, and remember it.

        Converting it back might change its last bits.
        """
        distance = self._space.from_user(length, name)
        if distance is not length:
            self._given = {**self._given, (name, distance): float(length)}
        return distance

    def _to_user(self, distance: float | Floats, name: str) -> Any:
        """Return a length as users see it: exactly as they gave it, if they did."""
        if isinstance(distance, float) and (name, distance) in self._given:
            return self._given[name, distance]
        return self._space.to_user(distance)

    def _rows_as_given(self, rows: Indices) -> Floats:
        """Return samples in the user's units, with periodic features wrapped to [0, period)."""
        wrapped = self._graph.samples.tree.coordinates(rows)
        if self._own_points is None:
            return wrapped
        points = self._own_points[rows].astype(np.float64)
        if self._space.period is not None:
            closed = np.isfinite(self._space.period)
            points[:, closed] = wrapped[:, closed]
        return points

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
