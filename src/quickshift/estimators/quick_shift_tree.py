"""Quick Shift with the cluster tree of all density levels (Algorithm 2)."""

from quickshift.arrays import Numbers
from quickshift.estimators.quick_shift import QuickShift
from quickshift.stages.clusters import Clusters
from quickshift.stages.density import Estimate
from quickshift.stages.local_scale import LocalScale
from quickshift.stages.parent_graph import ParentGraph

__all__ = ["QuickShiftTree"]


class QuickShiftTree(QuickShift):
    """Quick Shift that also shows how the clusters join as the density level decreases.

    It has the parameters and the attributes of `QuickShift`, and one attribute more.

    Attributes
    ----------
    tree_ : ClusterTree
        The components of every level set, linked within `tau_`. Its leaves are the clusters before
        insignificant modes are merged. Samples of weight zero are outside the tree.

    See Also
    --------
    QuickShift : Parameters, methods and the other attributes.
    quickshift.ClusterTree : The methods of the tree.

    References
    ----------
    H. Jiang, "On the Consistency of Quick Shift", NIPS 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from quickshift import QuickShiftTree
    >>> X = np.array([[0.0], [0.2], [0.3], [5.0], [5.1]])
    >>> model = QuickShiftTree(bandwidth=0.5, tau=2.0).fit(X)
    >>> model.tree_.components_at(0.4)
    array([ 0,  0,  0, -1, -1])
    >>> model.tree_.components_at(0.1)
    array([0, 0, 0, 1, 1])
    """

    def _needs_tree(self) -> bool:
        return True

    def _store(
        self,
        points: Numbers,
        estimate: Estimate | LocalScale,
        graph: ParentGraph,
        clusters: Clusters,
    ) -> None:
        super()._store(points, estimate, graph, clusters)
        self.tree_ = self._tree_in_densities()
