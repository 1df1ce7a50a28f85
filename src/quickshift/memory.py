"""How much memory a call needs, and whether the process may have it.

On many systems a process that allocates too much is killed without a message, and all that it held
is lost. So a call whose estimate exceeds the available memory is refused before it allocates.

Among methods that compute the same values, the core chooses the fastest one within a limit of
scratch memory (`cpp/support/scratch.hpp`). It follows from `memory_limit`, which this module hands
over when it is imported, and not from what is available, so that a fit can be repeated bit by bit.
"""

import math
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from quickshift import _core
from quickshift.kernels import get_kernel
from quickshift.threads import resolve_threads

try:
    import resource
except ImportError:  # this system has no resource limits
    resource = None  # type: ignore[assignment]

__all__ = [
    "available_memory",
    "climb_bytes",
    "cut_bytes",
    "density_bytes",
    "embedding_bytes",
    "find_clusters_bytes",
    "fit_bytes",
    "link_bytes",
    "local_fit_bytes",
    "local_scale_bytes",
    "memory_limit",
    "prepare_bytes",
    "require_memory",
    "rule_bytes",
    "segment_bytes",
    "share_bytes",
    "tree_bytes",
]

_WORD = 8  # bytes of a float64 or an int64
_BLOCK = 256  # most points of a block
_MOST_NEIGHBORS_IN_BLOCKS = 4096  # with more neighbors, scales are found by the tree
_MOST_NEAR = 16  # most samples within the tau of a sample that are listed
_FINE_GRID = 80  # bytes per point of a grid whose spacing is about that of the points
_EXPANSIONS = 128  # bytes per point of expansions of nodes with as few points as possible
_NEGLIGIBLE = 1 << 26  # bytes; a call that needs fewer is allowed without querying any limit
_NO_LIMIT = 1 << 60  # control groups of version 1 report a number above this if they have no limit


# Needed memory: the sizes of the arrays that cpp/ allocates, added up.


def tree_bytes(n_samples: int, n_features: int) -> int:
    """Bytes of the tree of distinct samples: coordinates, weights, rows, boxes, leaf weights.

    Examples
    --------
    >>> tree_bytes(1_000_000, 2) // 1_000_000
    46
    """
    slots, nodes = _core.tree_shape(n_samples)
    leaves = nodes // 2
    return _WORD * (slots * (n_features + 2) + n_samples + nodes * 2 * n_features + leaves)


def prepare_bytes(n_samples: int, n_features: int) -> int:
    """Bytes at the peak of building the tree of distinct samples, including the tree."""
    slots, nodes = _core.tree_shape(n_samples)
    scaled_copy = n_samples * n_features
    ordered = n_samples * (1 + n_features * _core.carries_coordinates(n_features))
    first_rows, tables = n_samples, n_samples // 2
    tree = slots * (n_features + 1) + nodes * 2 * n_features + nodes // 2
    return _WORD * (scaled_copy + ordered + first_rows + tables + tree)


def embedding_bytes(n_samples: int, n_features: int, n_coordinates: int) -> int:
    """Bytes of points in other coordinates, and of a copy of the points as they were given."""
    return _WORD * n_samples * (n_features + n_coordinates)


def density_bytes(n_samples: int, n_features: int, kernel: str) -> int:
    """Bytes that summing kernel profiles at the samples needs beyond the tree.

    A grid is counted with its usual size. If samples are spread so widely that a larger one saves
    much time, it may take up to ``_core.scratch_limit``.
    """
    slots, nodes = _core.tree_shape(n_samples)
    code = get_kernel(kernel).code
    words_per_node = 2 * (2 + n_features) if _core.has_moments(code) else 1
    needed = _WORD * (slots + n_samples + nodes * words_per_node)
    if _core.may_use_grid(code, n_features):
        needed += int(_core.grid_bytes(n_samples))
    if kernel == "exponential" and n_features <= 3:
        # It is a sum of Gaussians, each computed on its own; the narrowest need a fine grid.
        needed += _WORD * slots + _FINE_GRID * n_samples
    if _core.may_use_expansions(code, n_features):
        needed += int(min(_EXPANSIONS * n_samples, _core.scratch_limit(n_samples, n_features)))
    if _core.may_sum_in_blocks(n_features):
        needed += _block_bytes(n_samples, n_features)
    return needed


def climb_bytes(n_samples: int, n_features: int) -> int:
    """Bytes that the search for parents needs beyond the tree: heights, parents, distances."""
    slots, nodes = _core.tree_shape(n_samples)
    needed = _WORD * (2 * slots + 2 * nodes + 2 * n_samples)
    if _core.may_search_in_blocks(n_features):
        ranks = 2 * _WORD * n_samples
        needed += ranks + _block_bytes(n_samples, n_features)
    return needed


def _block_bytes(n_samples: int, n_features: int) -> int:
    """Bytes of the copy of the points that is cut into blocks for matrix products."""
    return _WORD * n_samples * (n_features + 4)


def local_scale_bytes(
    n_samples: int, n_features: int, n_neighbors: int | None = None, n_jobs: int | None = None
) -> int:
    """Bytes that measuring local scales needs beyond the tree: r and tau, by slot and by row.

    Without ``n_neighbors``, the two largest defaults are assumed, which are measured together.
    """
    slots, _ = _core.tree_shape(n_samples)
    needed = _WORD * (3 if n_neighbors is None else 2) * (slots + n_samples)
    if _core.may_search_in_blocks(n_features):
        # The points are copied twice, in blocks and row by row. Each thread lists candidates for
        # the points of a block: two bounds and a position each.
        neighbors = n_neighbors or 7 * round(n_samples ** (1 / 3))  # the largest scale
        neighbors = min(neighbors, _MOST_NEIGHBORS_IN_BLOCKS)
        lists = 3 * _BLOCK * (neighbors + _BLOCK // 2) * resolve_threads(n_jobs)
        needed += (
            2 * _block_bytes(n_samples, n_features)
            + _WORD * lists
            + _near_bytes(n_samples, n_features)
        )
    return needed


def _near_bytes(n_samples: int, n_features: int) -> int:
    """Bytes of the lists of samples within tau: slots of 32 bits."""
    slots, _ = _core.tree_shape(n_samples)
    return 4 * _MOST_NEAR * slots if _core.may_search_in_blocks(n_features) else 0


def cut_bytes(n_samples: int) -> int:
    """Bytes that a cut needs beyond the parents, if every row is a root."""
    return _WORD * 4 * n_samples


def link_bytes(n_samples: int, *, local: bool = False) -> int:
    """Bytes that linking needs beyond the tree: heights, pieces, nodes, sorted points or links.

    With local scales, each sample is linked to few others. One tau for all may link more.
    """
    slots, nodes = _core.tree_shape(n_samples)
    of_nodes, of_samples = (3, 5) if local else (10, 10)
    return _WORD * (2 * slots + of_nodes * nodes + of_samples * n_samples)


def rule_bytes(n_samples: int, n_features: int) -> int:
    """Bytes that the rules for the bandwidth and for tau need beyond the tree."""
    needed = _WORD * n_samples * (n_features + 6)
    if _core.may_search_in_blocks(n_features):
        needed += 2 * _block_bytes(n_samples, n_features)
    return needed


def share_bytes(
    n_queries: int, n_features: int, n_samples: int, n_columns: int, *, local: bool
) -> int:
    """Bytes that the shares of clusters at queries need if the result has this many columns.

    With a bandwidth, every query has a list of the clusters that may contribute, which are assumed
    to be three. The trees of one cluster's samples and queries are assumed to be half as large as
    those of all.

    Examples
    --------
    >>> share_bytes(1_000_000, 2, 1_000_000, 20, local=False) // 1_000_000
    440
    """
    labels = 5 * n_samples  # of the rows and locations, and the indices by which they are found
    building = prepare_bytes(n_queries, n_features)
    after = tree_bytes(n_queries, n_features) + _WORD * n_queries * n_columns
    if not local:
        after += _WORD * n_queries * 14  # sums, reaches and lists
        after += (building + prepare_bytes(n_samples, n_features)) // 2
    return _WORD * labels + max(building, after)


def find_clusters_bytes(n_samples: int, n_features: int, *, links: bool) -> int:
    """Bytes that finding clusters needs beyond the parents, with or without a cluster tree."""
    stages = [cut_bytes(n_samples)]
    if links:
        stages += [rule_bytes(n_samples, n_features), _WORD * n_samples + link_bytes(n_samples)]
    return max(stages)


def segment_bytes(n_pixels: int, n_channels: int) -> int:
    """Bytes that segmenting a picture needs at its peak.

    The search for parents holds the colors, the densities before and after rounding, the parents
    and the distances. A cut holds the densities, parents and distances, and four numbers per pixel
    for roots and labels.

    Examples
    --------
    >>> segment_bytes(10_000_000, 3) // 10_000_000
    56
    """
    return _WORD * n_pixels * max(4 + n_channels, 7)


def fit_bytes(
    n_samples: int, n_features: int, kernel: str, *, rules: bool, links: bool = False
) -> int:
    """Bytes that a fit needs at its peak, beyond the samples as they are given.

    Parameters
    ----------
    n_samples, n_features : int
        Shape of the samples, which are assumed to be distinct.
    kernel : str
        Name of the kernel.
    rules : bool
        Whether a rule chooses the bandwidth or tau.
    links : bool
        Whether a cluster tree is linked.

    Returns
    -------
    int

    Examples
    --------
    >>> fit_bytes(10_000_000, 2, "epanechnikov", rules=False) // 10_000_000
    105
    """
    sums = _WORD * n_samples
    parents = 2 * sums
    after_tree = [
        density_bytes(n_samples, n_features, kernel),
        sums + climb_bytes(n_samples, n_features),
        sums + parents + find_clusters_bytes(n_samples, n_features, links=links),
    ]
    if rules:
        after_tree.append(sums + parents + rule_bytes(n_samples, n_features))
    tables = _WORD * n_samples // 2  # freed by then, but the threads' allocators keep the memory
    tree = tree_bytes(n_samples, n_features) + tables
    return max(prepare_bytes(n_samples, n_features), tree + max(after_tree))


def local_fit_bytes(
    n_samples: int, n_features: int, n_neighbors: int | None = None, *, links: bool
) -> int:
    """Bytes that a fit with local scales needs at its peak, beyond the samples as they are given.

    While a larger scale is tried, the scales, parents and distances of the first one are kept.
    """
    column = _WORD * n_samples
    scales, parents = 2 * column + _near_bytes(n_samples, n_features), 2 * column
    reaches = _WORD * sum(_core.tree_shape(n_samples))
    stages = [
        local_scale_bytes(n_samples, n_features, n_neighbors),
        scales + climb_bytes(n_samples, n_features),
        scales + parents + cut_bytes(n_samples),
    ]
    if links:
        linking = 2 * column + reaches  # levels and labels as well
        linking += link_bytes(n_samples, local=True)
        if _core.may_search_in_blocks(n_features):
            linking += _block_bytes(n_samples, n_features)
        stages.append(scales + parents + linking)
    kept = scales + parents if links else 0
    tree = tree_bytes(n_samples, n_features) + column // 2
    return max(prepare_bytes(n_samples, n_features), tree + kept + max(stages))


# Available memory


def require_memory(
    needed: int, what: str, shape: tuple[int, ...], instead: str | None = None
) -> None:
    """Raise MemoryError if the process cannot get the needed memory.

    Parameters
    ----------
    needed : int
        Bytes needed in addition to those in use.
    what : str
        Name of the call that needs them, for the message.
    shape : tuple of int
        Shape of the points, for the message.
    instead : str, optional
        Advice for the message; by default, to use fewer points.

    Examples
    --------
    >>> require_memory(1 << 20, "prepare", (10_000, 2))
    """
    if needed < _NEGLIGIBLE:
        return
    available, limit = min(_limits(), default=(sys.maxsize, ""))
    if needed <= available:
        return
    rows = int(shape[0] * max(available, 0) / needed)
    instead = instead or (
        f"use a subsample: about {rows} rows fit. Points of lower precision do not help, because "
        f"they are converted to float64"
    )
    raise MemoryError(
        f"{what} needs about {_in_words(needed)} beyond points of shape {shape}, but the process "
        f"may use {_in_words(available)} more ({limit}). Free memory, raise the limit, or "
        f"{instead}."
    )


def available_memory() -> int:
    """Return the bytes that the process may still use, as far as the system reports limits.

    Examples
    --------
    >>> available_memory() > 0
    True
    """
    return min(_limits(), default=(sys.maxsize, ""))[0]


def memory_limit() -> float:
    """Return the bytes that the process may use in total: of its control group, or of the machine.

    Examples
    --------
    >>> memory_limit() > 0
    True
    """
    return min(_totals(), default=math.inf)


def _totals() -> Iterator[int]:
    """Yield the memory of the machine and the limit of each control group that has one."""
    if (physical := _whole_memory()) is not None:
        yield physical
    for folder, (limit, _, _) in _control_group_folders():
        if (most := _limit_of_group(folder / limit)) is not None:
            yield most


def _in_words(size: int) -> str:
    return f"{max(size, 0) / 2**20:.0f} MiB" if size < 10 * 2**30 else f"{size / 2**30:.1f} GiB"


def _limits() -> Iterator[tuple[int, str]]:
    """Yield the bytes that are left under each limit that the system reports, and its name."""
    if (physical := _physical()) is not None:
        yield physical, "the available memory of this machine"
    for left in _control_groups():
        yield left, "the limit of its control group"
    if resource is not None:
        yield from _resource_limits()


def _physical(file: Path = Path("/proc/meminfo")) -> int | None:
    try:
        lines = dict(line.split(":", 1) for line in file.read_text().splitlines())
        return sum(1024 * int(lines[name].split()[0]) for name in ("MemAvailable", "SwapFree"))
    except (OSError, ValueError, KeyError):
        pass
    return _whole_memory()  # other systems do not report what is available


def _whole_memory() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _control_groups(
    membership: Path = Path("/proc/self/cgroup"), root: Path = Path("/sys/fs/cgroup")
) -> Iterator[int]:
    """Yield the bytes that are left in each control group of the process that has a limit."""
    for folder, names in _control_group_folders(membership, root):
        if (left := _left_in_group(folder, *names)) is not None:
            yield left


def _control_group_folders(
    membership: Path = Path("/proc/self/cgroup"), root: Path = Path("/sys/fs/cgroup")
) -> Iterator[tuple[Path, tuple[str, str, str]]]:
    """Yield the folder of each control group of the process, and the names of what it tells.

    These are the files with its limit and its usage, and the prefix of its counts.
    """
    try:
        lines = membership.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            mount, names = root, ("memory.max", "memory.current", "")
        elif "memory" in controllers.split(","):
            mount = root / "memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_")
        else:
            continue
        group = Path(path.lstrip("/"))
        for folder in (group, *group.parents):
            yield mount / folder, names


def _limit_of_group(file: Path) -> int | None:
    try:
        most = int(file.read_text())
    except (OSError, ValueError):  # no such group here, or no limit ("max")
        return None
    return most if most < _NO_LIMIT else None


def _left_in_group(folder: Path, limit: str, usage: str, prefix: str) -> int | None:
    """Return the bytes that a control group may still use.

    Its file cache counts as free, because it is dropped when memory runs out.
    """
    if (most := _limit_of_group(folder / limit)) is None:
        return None
    try:
        used = int((folder / usage).read_text())
        lines = (folder / "memory.stat").read_text().splitlines()
        counts = dict(line.split() for line in lines)
        cache = sum(int(counts[f"{prefix}{name}_file"]) for name in ("active", "inactive"))
    except (OSError, ValueError, KeyError):
        return None
    return most - used + cache


def _resource_limits() -> Iterator[tuple[int, str]]:
    """Yield the bytes left under the limits on address space and on data, and the limits' names."""
    for which, column, name in (
        (resource.RLIMIT_AS, 0, "its limit of address space, ulimit -v"),
        (resource.RLIMIT_DATA, 5, "its limit of data, ulimit -d"),
    ):
        most = resource.getrlimit(which)[0]
        if most == resource.RLIM_INFINITY:
            continue
        try:
            pages = int(Path("/proc/self/statm").read_text().split()[column])
        except (OSError, ValueError, IndexError):
            continue
        yield most - pages * resource.getpagesize(), name


_core.set_memory_limit(memory_limit())
