"""Algorithms 1, 2 and 3 of the paper and the default rule in NumPy: the oracle of the tests.

The code is not fast, visits every pair of points, and shares nothing with the code that it checks.
Lines of an algorithm are counted from its "Input", which is line 1. "Higher" is the total order of
the package: larger density (rounded, so that the last bits of a sum never decide), then the
lexicographically larger point, then the smaller row index.

Files from the bottom up: `scaled_distances`, `samples` (the checked arguments), `kernels`,
`density` (f̂_h), `order` (which point is higher; the graph and its trees), `settings` (from
arguments to sorted points), and one file per algorithm; `modal_basins` adds the probability of each
mode of Algorithm 3, and `membership` the share of each cluster at a point. The default rule, which
is not in the paper, has three files: `local_density` (a scale of its own for every sample),
`local_modes` (which modes stay) and `local_rule`. No file has the name of a public function,
because it would hide the function.
"""

from quickshift.reference.algorithm_1 import QuickShiftResult, predict, quick_shift
from quickshift.reference.algorithm_2 import cluster_tree
from quickshift.reference.algorithm_3 import modal_regression
from quickshift.reference.density import kernel_density, log_kernel_density
from quickshift.reference.local_density import LocalScale, local_scale
from quickshift.reference.local_rule import LocalClusters, local_clusters
from quickshift.reference.membership import kernel_shares, neighbor_shares
from quickshift.reference.modal_basins import modal_probabilities

__all__ = [
    "LocalClusters",
    "LocalScale",
    "QuickShiftResult",
    "cluster_tree",
    "kernel_density",
    "kernel_shares",
    "local_clusters",
    "local_scale",
    "log_kernel_density",
    "modal_probabilities",
    "modal_regression",
    "neighbor_shares",
    "predict",
    "quick_shift",
]
