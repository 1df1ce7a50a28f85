"""Data sets whose true density, modes or conditional modes are known, to test mode seeking on.

===============================================  =================================================
`GaussianMixture`                                any dimension; density and true modes
`ShapeMixture` of `Ball`, `Dome`, `Box`          compact support; density and true modes
`two_branches`, `three_branches_merging`,        (x, y) with known conditional modes,
`heteroscedastic`, `circle`                      each a `ConditionalMixture`
`seed_spreader`, `blobs`, `moons`, `circles`     points with the labels of their true clusters
`lattice`                                        points of an integer lattice, full of ties
===============================================  =================================================

Every function that draws random numbers takes ``seed``, an integer or a `numpy.random.Generator`.
The default is 0, so that two runs of a program see the same data.
"""

from quickshift.datasets.conditional import (
    ConditionalMixture,
    circle,
    heteroscedastic,
    three_branches_merging,
    two_branches,
)
from quickshift.datasets.gaussian_mixture import GaussianMixture
from quickshift.datasets.generators import blobs, circles, lattice, moons, seed_spreader
from quickshift.datasets.shape_mixture import Ball, Box, Dome, ShapeMixture

__all__ = [
    "Ball",
    "Box",
    "ConditionalMixture",
    "Dome",
    "GaussianMixture",
    "ShapeMixture",
    "blobs",
    "circle",
    "circles",
    "heteroscedastic",
    "lattice",
    "moons",
    "seed_spreader",
    "three_branches_merging",
    "two_branches",
]
