"""
The native core of quickshift. Arguments are checked in Python; see quickshift.stages.
"""

from collections.abc import Callable
import enum
from typing import Annotated

import numpy
from numpy.typing import NDArray

class Tree:
    """Distinct weighted locations in a balanced k-d tree."""

    def __init__(
        self,
        points: Annotated[
            NDArray, dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        weights: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None = None,
        period: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None = None,
        threads: int = 1,
        report: Callable | None = None,
    ) -> None: ...
    def __getstate__(self) -> tuple: ...
    def __setstate__(self, arg: tuple, /) -> None: ...
    @property
    def rows(self) -> int: ...
    @property
    def features(self) -> int: ...
    @property
    def exponent(self) -> int: ...
    @property
    def weight_exponent(self) -> int: ...
    @property
    def total_weight(self) -> float: ...
    def absent_rows(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C")]:
        """Rows of weight zero."""

    def locations(
        self,
    ) -> tuple[
        Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C")],
        Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
    ]:
        """
        Coordinates and weights of the locations, in an order free of the rows' order.
        """

    def first_rows(
        self,
    ) -> tuple[
        Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C")],
        Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
    ]:
        """First row and weight of each location, in that order."""

    def slots_of_rows(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C")]:
        """
        Where in the tree the location of each row is; -1 for rows of weight zero.
        """

    @property
    def slots(self) -> int: ...
    def coordinates(
        self,
        rows: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C")]:
        """Coordinates of the given rows, periodic ones wrapped."""

    def query_tree(
        self,
        queries: Annotated[
            NDArray, dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        threads: int = 1,
    ) -> Tree:
        """A tree over queries to these samples."""

class InstructionSet(enum.Enum):
    """What vector code can be compiled for."""

    generic = 0

    neon = 1

    v2 = 2

    v3 = 3

    v4 = 4

def instruction_set() -> InstructionSet:
    """The instruction set in use."""

def has_instruction_set(instruction_set: InstructionSet) -> bool:
    """
    Whether the machine has an instruction set, and vector code was compiled for it.
    """

def set_instruction_set(instruction_set: InstructionSet) -> None:
    """
    Use another one that the machine has; for tests, while nothing else runs.
    """

def compiler() -> str:
    """Name and version of the compiler."""

class DensityMethod(enum.Enum):
    """How sums are computed; for tests, which force each."""

    automatic = 0

    direct = 1

    moments = 2

    grid = 3

    blocks = 4

def kernel_sums(
    tree: Tree,
    kernel: int,
    bandwidth: float,
    rtol: float,
    method: DensityMethod = DensityMethod.automatic,
    threads: int = 1,
    report: Callable | None = None,
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")]:
    """Unnormalised kernel sums at the samples, each including itself."""

def kernel_sums_at(
    queries: Tree,
    samples: Tree,
    kernel: int,
    bandwidth: float,
    rtol: float,
    leave_out: bool = False,
    method: DensityMethod = DensityMethod.automatic,
    threads: int = 1,
    report: Callable | None = None,
) -> tuple[
    Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
    Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
]:
    """
    Unnormalised kernel sums at queries: values, and the logarithms of their scales.
    """

def nearest_distances(
    tree: Tree, threads: int = 1, report: Callable | None = None
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")]:
    """
    Distance of every location to the nearest other one, in the order of `locations`.
    """

class ParentMethod(enum.Enum):
    """How parents are found; for tests, which force each."""

    automatic = 0

    tree = 1

    blocks = 2

def nearest_higher(
    tree: Tree,
    density: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    bits: int,
    strict: bool,
    threads: int = 1,
    report: Callable | None = None,
    method: ParentMethod = ParentMethod.automatic,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C")],
    Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
]:
    """Parent row and distance of every row."""

def sort_by_height(
    tree: Tree,
    density: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    bits: int,
    rows: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C")]:
    """The given rows, highest first."""

def assign(
    tree: Tree,
    density: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    bits: int,
    strict: bool,
    tau: float,
    queries: Annotated[NDArray, dict(shape=(None, None), order="C", device="cpu", writable=False)],
    query_density: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    threads: int = 1,
) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C")]:
    """Row of the sample whose label each query takes."""

def find_roots(
    parent: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    distance: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    tau: float,
    threads: int = 1,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C")],
    Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C")],
]:
    """
    Row that each row reaches over edges no longer than tau, and the rows that are reached; rows without a distance are not.
    """

def number_trees(
    root: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    roots: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    threads: int = 1,
) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C")]:
    """
    Place of each row's root among the given ones; -1 where it is not there.
    """

def saddles(
    tree: Tree,
    density: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    piece: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    pieces: int,
    tau: float,
    lower: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    upper: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    threads: int = 1,
    report: Callable | None = None,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C")],
    Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
]:
    """
    Pairs of pieces that meet, and the levels where: the maximum spanning forest by points nearer than tau and by the edges from the rows `lower` to `upper`.
    """

def merges(
    joined: Annotated[
        NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    levels: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    leaf: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    leaves: int,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C")],
    Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
    Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C")],
]:
    """
    Saddles in falling order as merges of a surviving and an absorbed leaf, their levels, and a higher leaf beside each that is absorbed.
    """

def merge_forest(
    joined: Annotated[
        NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    levels: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    leaves: int,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C")],
    Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
]:
    """A leaf that each leaf is joined with, and the level where."""

def linkage(
    parent: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    distance: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    children: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C")]:
    """
    SciPy linkage of the edges above the given children, which are in rising distance.
    """

def rungs(
    places: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    width: float,
) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C")]:
    """
    Positions among sorted places, the first and the last among them: where two are further apart than `width`, none lies in between.
    """

def conditional_modes(
    tree: Tree,
    values: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    places: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    rungs: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    begin: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    place_of_sample: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    rung_of_sample: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    weights: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    queries: Annotated[NDArray, dict(shape=(None, None), order="C", device="cpu", writable=False)],
    kernel: int,
    bandwidth: float,
    rtol: float,
    tau: float,
    least_ratio: float,
    bits: int,
    keep_flat: bool = True,
    threads: int = 1,
    report: Callable | None = None,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C")],
    Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C")],
    Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
    Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
    Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
    Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
]:
    """
    Per query where its modes begin; per mode the rank of its response, the sum of kernels there and in the valley beside it; per query the sum at x alone and the logarithm of the scale of its sums.
    """

def pixel_sums(
    colors: Annotated[NDArray, dict(shape=(None, None), order="C", device="cpu", writable=False)],
    shape: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    spacing: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    mask: Annotated[
        NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    bandwidth: float,
    reach: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    threads: int = 1,
    report: Callable | None = None,
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")]:
    """Sums of Gaussian kernels over a box of pixels around each pixel."""

def pixel_parents(
    colors: Annotated[NDArray, dict(shape=(None, None), order="C", device="cpu", writable=False)],
    shape: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    spacing: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    origin: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    mask: Annotated[
        NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    density: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    bits: int,
    tau: float,
    threads: int = 1,
    report: Callable | None = None,
    looks: int = 300,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C")],
    Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
]:
    """
    Nearest higher pixel of every pixel within tau, and the distance to it.
    """

def boundary_strength(
    shape: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    mask: Annotated[
        NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    parent: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    distance: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    threads: int = 1,
    report: Callable | None = None,
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")]:
    """For every pixel the least tau that joins it with all its neighbours."""

def round_to_bits(
    values: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    bits: int,
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")]:
    """Numbers as they are compared, rounded to so many significant bits."""

def raster_sums_single(
    colors: Annotated[NDArray, dict(shape=(None, None), order="C", device="cpu", writable=False)],
    rows: int,
    columns: int,
    start: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    factor: float,
    reach: int,
    threads: int = 1,
    report: Callable | None = None,
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")]:
    """Sums in single precision and in raster order, added to `start`."""

def raster_parents(
    colors: Annotated[NDArray, dict(shape=(None, None), order="C", device="cpu", writable=False)],
    rows: int,
    columns: int,
    density: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    reach: int,
    single: bool = False,
    threads: int = 1,
    report: Callable | None = None,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C")],
    Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
]:
    """
    Nearest strictly higher pixel in a square window, the first in raster order.
    """

def tree_shape(locations: int) -> tuple[int, int]:
    """Numbers of slots and nodes of the tree of so many locations."""

def carries_coordinates(features: int) -> bool:
    """Whether coordinates are copied while the tree is built."""

def has_moments(kernel: int) -> bool:
    """Whether sums of this kernel keep polynomials per node of the tree."""

def may_use_grid(kernel: int, features: int) -> bool:
    """Whether sums of this kernel may be computed through a grid."""

def grid_bytes(points: float) -> float:
    """Bytes that a grid takes at most, unless it is forced."""

def may_sum_in_blocks(features: int) -> bool:
    """Whether sums may be computed in blocks."""

def may_search_in_blocks(features: int) -> bool:
    """Whether parents may be found in blocks."""

def blocks_pay_for_sums(tree: Tree, kernel: int, bandwidth: float, rtol: float) -> bool:
    """
    Whether `kernel_sums` estimates that blocks are faster than the tree; for tests.
    """

def blocks_pay_for_parents(
    tree: Tree,
    density: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    bits: int,
    strict: bool,
) -> bool:
    """
    Whether `nearest_higher` estimates that blocks are faster than the tree; for tests.
    """
