"""Algorithms 1, 2 and 3 of the paper, line by line in NumPy: the oracle of the tests.

Nothing here is fast, nothing is shared with the code it checks, and every pair of points is
looked at. Lines of an algorithm are counted from its "Input", which is line 1. "Higher" is the
total order of the package: larger density (rounded, so that the last bits of a sum never decide),
then the lexicographically larger point, then the smaller row index.

Files from the bottom up: `space` (distances), `samples` (what came, checked), `kernels`, `density`
(f̂_h), `order` (who is higher; the graph and its trees), `settings` (from arguments to points in
order), and one file an algorithm. No file has the name of a public function, which it would hide.
"""

from quickshift.reference.algorithm_1 import QuickShiftResult, predict, quick_shift
from quickshift.reference.algorithm_2 import cluster_tree
from quickshift.reference.algorithm_3 import modal_regression
from quickshift.reference.density import kernel_density, log_kernel_density

__all__ = [
    "QuickShiftResult",
    "cluster_tree",
    "kernel_density",
    "log_kernel_density",
    "modal_regression",
    "predict",
    "quick_shift",
]
