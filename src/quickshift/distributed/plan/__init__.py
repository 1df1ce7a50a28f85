"""The plan: the passes over all boxes, written once against any executor.

::

    chunks --boxes--> Store --heights--> climb --> cut, stitch --> Leaves --link--> leaf-level tree
"""
