"""Quick Shift for data larger than memory, or on a cluster: the same answer from partitions.

::

    files --scan, scatter, gather--> boxes --heights--> climb --> cut --stitch--> leaves
                                                                             --link--> tree

    picture --density, climb, cut: a task per tile--> tops --> labels
"""

from quickshift.distributed.quick_shift import QuickShift
from quickshift.distributed.segmentation import segment

__all__ = ["QuickShift", "segment"]
