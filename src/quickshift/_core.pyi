"""
The compiled core of quickshift. Arguments are checked in Python; see quickshift.stages.
"""

from collections.abc import Callable, Sequence
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
    def n_locations(self) -> int:
        """Number of distinct rows of positive weight."""

    @property
    def n_varying(self) -> int:
        """Number of features that are not constant."""

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
        Coordinates and weights of the locations, in an order that does not depend on the order of the rows.
        """

    def first_rows(
        self,
    ) -> tuple[
        Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C")],
        Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
    ]:
        """First row and weight of each location, in the order of `locations`."""

    def slots_of_rows(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C")]:
        """Slot of each row's location in the tree; -1 for rows of weight zero."""

    @property
    def slots(self) -> int: ...
    def coordinates(
        self,
        rows: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C")]:
        """
        Coordinates of the given rows; those of periodic features are wrapped into [0, period).
        """

    def query_tree(
        self,
        queries: Annotated[
            NDArray, dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        threads: int = 1,
    ) -> Tree:
        """
        A tree of queries that has the scale and the periods of this tree of samples.
        """

class InstructionSet(enum.Enum):
    """Instruction sets for which vector code can be compiled."""

    generic = 0

    neon = 1

    v2 = 2

    v3 = 3

    v4 = 4

def instruction_set() -> InstructionSet:
    """The instruction set in use."""

def has_instruction_set(instruction_set: InstructionSet) -> bool:
    """
    Whether the machine supports an instruction set and vector code was compiled for it.
    """

def set_instruction_set(instruction_set: InstructionSet) -> None:
    """
    Use another instruction set that the machine supports. For tests only; no other thread may be computing.
    """

def compiler() -> str:
    """Name and version of the compiler."""

class DensityMethod(enum.Enum):
    """How kernel sums are computed; tests use it to force each method."""

    automatic = 0

    direct = 1

    moments = 2

    grid = 3

    gaussians = 4

    expansions = 5

    blocks = 6

    mixed = 7

def kernel_sums(
    tree: Tree,
    kernel: int,
    bandwidth: float,
    rtol: float,
    method: DensityMethod = DensityMethod.automatic,
    threads: int = 1,
    report: Callable | None = None,
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")]:
    """
    Unnormalized kernel sum at each sample, including the sample's own term; NaN for rows of weight zero.
    """

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
    Unnormalized kernel sums at queries, as two arrays: the sum at a query is value * exp(log_scale). With leave_out, the sum at a sample leaves out its own location.
    """

def nearest_distances(
    tree: Tree, threads: int = 1, report: Callable | None = None
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")]:
    """
    Distance from every location to the nearest other location, in the order of `locations`.
    """

class ParentMethod(enum.Enum):
    """How parents are found; tests use it to force each method."""

    automatic = 0

    tree = 1

    blocks = 2

def nearest_higher(
    tree: Tree,
    heights: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    bits: int,
    strict: bool,
    threads: int = 1,
    report: Callable | None = None,
    method: ParentMethod = ParentMethod.automatic,
    near: Annotated[
        NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ]
    | None = None,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C")],
    Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
]:
    """
    Parent row of every row, and the distance to it. A row without a higher row is its own parent at distance infinity; a row of weight zero is its own parent at distance NaN. `near`, from `local_scales`, saves most searches.
    """

def sort_by_height(
    tree: Tree,
    heights: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    bits: int,
    rows: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C")]:
    """The given rows, sorted from the highest to the lowest."""

def assign(
    tree: Tree,
    heights: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    bits: int,
    strict: bool,
    tau: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    queries: Annotated[NDArray, dict(shape=(None, None), order="C", device="cpu", writable=False)],
    query_heights: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    threads: int = 1,
) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C")]:
    """
    Row of the sample whose label each query takes: a sample with the same coordinates if there is one, otherwise the nearest higher sample within the query's tau, otherwise the nearest sample.
    """

class ScaleMethod(enum.Enum):
    """How local scales are found; tests use it to force each method."""

    automatic = 0

    tree = 1

    blocks = 2

def local_scales(
    tree: Tree,
    neighbors: Sequence,
    spacing: int,
    dimension: int,
    threads: int = 1,
    report: Callable | None = None,
    method: ScaleMethod = ScaleMethod.automatic,
) -> tuple[
    list[Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")]],
    Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
    Annotated[NDArray[numpy.int32], dict(shape=(None, None), order="C")] | None,
]:
    """
    For each row, the mean distance to the K nearest other samples, counted by weight, in one array per K in `neighbors`, and the distance to the `spacing`-th nearest other location. The numbers of neighbors are in rising order. Duplicates count as if they were spread over a ball of `dimension` dimensions. NaN for rows of weight zero. The last result lists, by slot, the slots of the `spacing` locations within that distance, or is None if the search does not find them; -1 stands for none.
    """

def local_scales_at(
    tree: Tree,
    queries: Annotated[NDArray, dict(shape=(None, None), order="C", device="cpu", writable=False)],
    neighbors: float,
    spacing: int,
    dimension: int,
    threads: int = 1,
) -> tuple[
    Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
    Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
]:
    """
    The same for points that need not be samples: a point at a sample's location has that sample's values; for any other point, no sample is left out.
    """

def bounded_scales(
    tree: Tree, neighbors: float, spacing: int, dimension: int, threads: int = 1
) -> tuple[
    Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
    Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
    Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
]:
    """
    The first two results of `local_scales` for one K, and for each row a distance: no sample farther away has any influence on them, if there are K other samples and more than `spacing` locations.
    """

def bounded_scales_at(
    tree: Tree,
    queries: Annotated[NDArray, dict(shape=(None, None), order="C", device="cpu", writable=False)],
    neighbors: float,
    spacing: int,
    dimension: int,
    threads: int = 1,
) -> tuple[
    Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
    Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
    Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
]:
    """The same for points that need not be samples, as in `local_scales_at`."""

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
    Root that each row reaches along edges no longer than tau, and the list of all roots except rows whose distance is NaN.
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
    Index of each row's root in `roots`; -1 for rows whose root is not in `roots`.
    """

def saddles(
    tree: Tree,
    heights: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    piece: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    pieces: int,
    tau: float
    | Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    lower: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    upper: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    threads: int = 1,
    report: Callable | None = None,
    near: Annotated[
        NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ]
    | None = None,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C")],
    Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
    Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
]:
    """
    Pairs of pieces that join, the levels at which they do, in descending order of level, and the squared distances of the points at which they do, times 4^-exponent of the tree: the maximum spanning forest of the pieces. Two pieces are joined by points of both that are nearer than tau to each other or, if tau has one value per row, no farther apart than the larger of their two values; and by edges from the rows `lower` to the rows `upper`, whose squared distance counts as 0. `near`, from `local_scales`, saves the search for points within their tau.
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
    Pairs of a surviving and an absorbed leaf, the levels at which they merge, and for each leaf a higher leaf that is its neighbor across the saddle at which it is absorbed, or the leaf itself if it is never absorbed. The saddles must be in descending order of level.
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
    """
    A forest of the leaves: for each leaf its parent, and the level below which both are in the same component; a root is its own parent at level minus infinity.
    """

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
    SciPy linkage matrix of the edges from the given children to their parents; children must be in ascending order of distance.
    """

def kernel_shares(
    queries: Tree,
    samples: Tree,
    label_of_slot: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    clusters: int,
    part_offsets: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    part_clusters: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    part_shares: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    top: int,
    kernel: int,
    bandwidth: float,
    rtol: float,
    threads: int = 1,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C")],
    Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C")],
    Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C")],
]:
    """
    The `top` largest shares at each query and the labels of their clusters, or with top = 0 the shares of all clusters and no labels. The share of a cluster is the part of the kernel sum that its samples contribute. The third array holds the queries at which the sum vanishes and all shares are 0. A label from `clusters` on is that of a location whose weight is divided between clusters.
    """

def nearest_shares(
    queries: Tree,
    samples: Tree,
    label_of_slot: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    clusters: int,
    part_offsets: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    part_clusters: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    part_shares: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    top: int,
    neighbors: float,
    dimension: int,
    threads: int = 1,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C")],
    Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C")],
    Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C")],
]:
    """
    The same for the `neighbors` nearest samples of each query, counted by weight: the share of a cluster is that of its samples among them. Samples at the same distance as the last count in part.
    """

def rungs(
    places: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    width: float,
) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C")]:
    """
    Positions of the rungs among sorted places, including the first and the last: successive rungs are at most `width` apart, or no place lies between them.
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
    The modes of f(y | x) at the queries x: CSR offsets of the modes by query; for each mode the rank of its response, its kernel sum and the sum in its valley; for each query the sum of the kernels in x alone, and the logarithm of a factor by which its sums have to be multiplied.
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
    """Sum Gaussian kernels over the pixels in a box around each pixel."""

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
    heights: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    bits: int,
    tau: float,
    threads: int = 1,
    report: Callable | None = None,
    visits: int = 300,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C")],
    Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
]:
    """
    Find, for every pixel, the nearest higher pixel within tau, and the distance to it.
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
    """
    Find, for every pixel, the smallest tau at which it is in one tree with all its neighbors.
    """

def round_to_bits(
    values: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    bits: int,
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")]:
    """
    Round numbers to a number of significant bits, as heights are before they are compared.
    """

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
    """
    Add sums of kernels to `start`, in single precision and in raster order.
    """

def raster_parents(
    colors: Annotated[NDArray, dict(shape=(None, None), order="C", device="cpu", writable=False)],
    rows: int,
    columns: int,
    heights: Annotated[
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
    Find the nearest strictly higher pixel in a square window; of ties, the first in raster order.
    """

def tree_shape(locations: int) -> tuple[int, int]:
    """Numbers of slots and nodes of a tree with this many locations."""

def carries_coordinates(features: int) -> bool:
    """
    Whether building a tree with this many features makes a copy of the coordinates.
    """

def has_moments(kernel: int) -> bool:
    """Whether sums of this kernel store a polynomial per node of the tree."""

def may_use_grid(kernel: int, features: int) -> bool:
    """
    Whether sums of this kernel, with this many features, may be computed through a grid.
    """

def may_use_expansions(kernel: int, features: int) -> bool:
    """
    Whether sums of this kernel, with this many features, may be computed by expansions.
    """

def grid_bytes(points: float) -> float:
    """
    Most bytes that a grid for this many points takes, unless they are spread widely.
    """

def set_memory_limit(bytes: float) -> None:
    """
    Set the memory that the process may use in total, of which scratch memory is a part.
    """

def memory_limit() -> float:
    """The memory that the process may use in total."""

def scratch_limit(points: float, features: int) -> float:
    """Most bytes of scratch memory of a method that is not forced."""

def may_sum_in_blocks(features: int) -> bool:
    """Whether kernel sums with this many features may be computed in blocks."""

def may_search_in_blocks(features: int) -> bool:
    """Whether parents with this many features may be found in blocks."""

def blocks_pay_for_sums(tree: Tree, kernel: int, bandwidth: float, rtol: float) -> bool:
    """
    Whether `kernel_sums` estimates that blocks are faster than the tree; for tests.
    """

def grid_choice(
    tree: Tree, kernel: int, bandwidth: float, rtol: float
) -> tuple[float, float, float, float]:
    """
    How `kernel_sums` compares the grid with summing pair by pair: the estimated seconds of both, the bytes of the grid, and the bytes of a faster grid that was refused; for tests and benchmarks.
    """

def shares_for_scales(tree: Tree, neighbors: float, spacing: int) -> tuple[float, float, float]:
    """
    The shares of all points with which `local_scales` is estimated to compare a point, by the tree and by blocks, and the share that blocks compare twice; for calibration and tests.
    """

def blocks_pay_for_parents(
    tree: Tree,
    heights: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    bits: int,
    strict: bool,
) -> bool:
    """
    Whether `nearest_higher` estimates that blocks are faster than the tree; for tests.
    """

def work_of_sums(
    tree: Tree, kernel: int, bandwidth: float, rtol: float
) -> tuple[list[float], list[float], list[float], list[float]]:
    """
    Estimated amounts of each kind of work per location of the tree, and the time of each in nanoseconds; the same for blocks. For calibration.
    """

def work_of_parents(
    tree: Tree,
    heights: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    bits: int,
    strict: bool,
) -> tuple[list[float], list[float], list[float], list[float]]:
    """The same for parents."""

def work_of_scales(
    tree: Tree, neighbors: float, spacing: int
) -> tuple[list[float], list[float], list[float], list[float]]:
    """The same for local scales."""

def comparisons_for_duplicates(
    points: Annotated[NDArray, dict(shape=(None, None), order="C", device="cpu", writable=False)],
) -> int:
    """How many times two rows are compared to find duplicates; for tests."""

def boxes_for_saddles(
    tree: Tree,
    heights: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    piece: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    pieces: int,
    tau: float,
) -> int:
    """
    How many times `saddles` computes the distance of a point from a box of the tree if it takes the points in descending order of height; for tests.
    """

def reads_for_median(
    keys: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
) -> int:
    """
    How many times a key is read to split nodes of the tree at their median; for tests.
    """
