"""Quick Shift for data larger than memory, or on a cluster: the same answer from partitions.

::

    files --scan, scatter, gather--> boxes --heights--> climb --> cut --stitch--> leaves
                                                                             --link--> tree
"""

from quickshift.distributed.quick_shift import QuickShift

__all__ = ["QuickShift"]
