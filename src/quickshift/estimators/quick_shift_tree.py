"""Quick Shift with the cluster tree of all density levels (Algorithm 2)."""

from dataclasses import replace

import numpy as np

from quickshift import stages
from quickshift.arrays import Floats, Numbers
from quickshift.estimators.callbacks import FitReport
from quickshift.estimators.quick_shift import QuickShift

__all__ = ["QuickShiftTree", "in_densities"]


class QuickShiftTree(QuickShift):
    """Quick Shift that also shows how the clusters join as the density level falls.

    It has the parameters, the labels and the attributes of `QuickShift`, and one attribute more.

    Attributes
    ----------
    tree_ : ClusterTree
        Components of every level set, linked within `tau_`. Its leaves are the clusters before
        insignificant modes are merged. Samples of weight zero are outside it.

    See Also
    --------
    QuickShift : Parameters, methods and the other attributes.
    quickshift.ClusterTree : What the tree can tell.

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

    def _links(self) -> bool:
        return True

    def _cut(self, progress: FitReport | None) -> stages.Forest:
        clusters = super()._cut(progress)
        self._linked(progress)
        return clusters

    def _store(self, points: Numbers, sums: Floats, forest: stages.Forest) -> None:
        super()._store(points, sums, forest)
        self.tree_ = in_densities(self._linked(), self._estimate)


def in_densities(tree: stages.ClusterTree, estimate: stages.Estimate) -> stages.ClusterTree:
    """Put densities for sums, unless some would leave the range of floats.

    Levels are densities of samples, and rounding keeps their order, so the tree stays exact.
    """
    density = estimate.density(tree.density)
    present = density[tree.leaf_labels >= 0]
    if not (present >= np.finfo(np.float64).tiny).all() or np.isinf(present).any():
        return tree
    merges, piece_merges = tree.merges.copy(), tree.piece_merges.copy()
    merges[:, 2] = estimate.density(merges[:, 2])
    piece_merges[:, 2] = estimate.density(piece_merges[:, 2])
    return replace(tree, density=density, merges=merges, piece_merges=piece_merges, log_unit=0.0)
