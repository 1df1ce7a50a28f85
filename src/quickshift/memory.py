"""How much memory a call needs, and whether the process may have it.

A process that asks for too much is killed on many systems, without a word and with everything that
it held. So what would not fit is refused before it is allocated.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

try:
    import resource
except ImportError:  # no such limits on this system
    resource = None  # type: ignore[assignment]

__all__ = [
    "climb_bytes",
    "cut_bytes",
    "density_bytes",
    "find_clusters_bytes",
    "fit_bytes",
    "link_bytes",
    "prepare_bytes",
    "require_memory",
    "rule_bytes",
    "segment_bytes",
    "tree_bytes",
]

_WORD = 8  # a float64 or an int64
_LEAF = 20  # locations that a leaf may hold
_CARRIED = 8  # features up to which coordinates move with the samples as they are put in order
_NEGLIGIBLE = (
    1 << 26
)  # what every process has left; asking the system would cost more than it tells
_NO_LIMIT = 1 << 60  # control groups of version 1 write a number of this size for no limit
_MOMENTS = ("uniform", "epanechnikov")
_FEW = 1 << 19  # words that a grid takes beside five a sample, and of the patches added to it
_SMALL_GRID = 1 << 21  # words that any grid may take


# What is needed, array by array as cpp/ allocates them; a row's worth of bytes is what matters.


def _shape(n_locations: int) -> tuple[int, int]:
    """Slots and nodes of a tree."""
    levels = ((n_locations - 1) // _LEAF).bit_length()
    largest = ((n_locations - 1) >> levels) + 1
    return (largest + 3) // 4 * 4 << levels, 2 << levels


def tree_bytes(n_samples: int, n_features: int) -> int:
    """Bytes of the tree of distinct samples: coordinates, weights, rows, boxes, weights of leaves.

    Examples
    --------
    >>> tree_bytes(1_000_000, 2) // 1_000_000
    46
    """
    slots, nodes = _shape(n_samples)
    leaves = nodes // 2
    return _WORD * (slots * (n_features + 2) + n_samples + nodes * 2 * n_features + leaves)


def _order_bytes(n_samples: int, n_features: int) -> tuple[int, int]:
    """Bytes of what is held while the tree is built: a scaled copy, and what is put in order."""
    carried = n_features + 1 if n_features <= _CARRIED else 1
    return _WORD * n_samples * n_features, _WORD * n_samples * carried


def prepare_bytes(n_samples: int, n_features: int) -> int:
    """Bytes that building the tree of distinct samples needs at its peak, the tree included."""
    slots, nodes = _shape(n_samples)
    first_rows, tables = n_samples, n_samples // 2
    tree = slots * (n_features + 1) + nodes * 2 * n_features + nodes // 2
    return sum(_order_bytes(n_samples, n_features)) + _WORD * (first_rows + tables + tree)


def density_bytes(n_samples: int, n_features: int, kernel: str) -> int:
    """Bytes that the sums at the samples need beyond the tree."""
    slots, nodes = _shape(n_samples)
    a_node = 2 * (2 + n_features) if kernel in _MOMENTS else 1
    grid = 0
    if kernel == "gaussian" and n_features <= 3:
        grid = max(5 * n_samples + _FEW, _SMALL_GRID) + _FEW
    return _WORD * (slots + n_samples + nodes * a_node + grid) + _block_bytes(
        n_samples, n_features, 6
    )


def climb_bytes(n_samples: int, n_features: int) -> int:
    """Bytes that the search for parents needs beyond the tree: heights, parents, distances."""
    slots, nodes = _shape(n_samples)
    own = _WORD * (2 * slots + 2 * nodes + 2 * n_samples)
    ranks = 2 * _WORD * n_samples if n_features > 4 else 0
    return own + ranks + _block_bytes(n_samples, n_features, 4)


def _block_bytes(n_samples: int, n_features: int, most_for_trees: int) -> int:
    """Bytes of the copy that products of blocks work on, where they may be chosen."""
    return _WORD * n_samples * (n_features + 4) if n_features > most_for_trees else 0


def cut_bytes(n_samples: int) -> int:
    """Bytes that a cut needs beyond the parents, roots included where every row is one."""
    return _WORD * 4 * n_samples


def link_bytes(n_samples: int) -> int:
    """Bytes that the saddles need beyond the tree: heights, pieces, nodes, the pairs to come."""
    slots, nodes = _shape(n_samples)
    return _WORD * (2 * slots + 3 * nodes + 5 * n_samples)


def rule_bytes(n_samples: int, n_features: int) -> int:
    """Bytes that the rules for the bandwidth and for tau need beyond the tree."""
    return _WORD * n_samples * (n_features + 6)


def find_clusters_bytes(n_samples: int, n_features: int, *, links: bool) -> int:
    """Bytes that cutting, and linking where that is needed, takes beyond the parents."""
    stages = [cut_bytes(n_samples)]
    if links:
        stages += [rule_bytes(n_samples, n_features), _WORD * n_samples + link_bytes(n_samples)]
    return max(stages)


def segment_bytes(n_pixels: int, n_channels: int) -> int:
    """Bytes that the forest of a picture needs at its peak.

    Colors, densities as given and as compared, parents and distances; a cut has roots and labels in
    place of the colors and of the densities that are compared.

    Examples
    --------
    >>> segment_bytes(10_000_000, 3) // 10_000_000
    62
    """
    return _WORD * n_pixels * max(4 + n_channels, 5)


def fit_bytes(
    n_samples: int, n_features: int, kernel: str, *, rules: bool, links: bool = False
) -> int:
    """Bytes that a fit needs at its peak, beyond the samples as they are given.

    Parameters
    ----------
    n_samples, n_features : int
        Shape of the samples, which are taken to be distinct.
    kernel : str
        Name of the kernel.
    rules : bool
        Whether the bandwidth or tau is left to a rule.
    links : bool
        Whether a cluster tree is linked.

    Returns
    -------
    int

    Examples
    --------
    >>> fit_bytes(10_000_000, 2, "epanechnikov", rules=False) // 10_000_000
    112
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
    tables = _WORD * n_samples // 2  # freed, but kept by the threads' allocators
    tree = tree_bytes(n_samples, n_features) + tables
    return max(prepare_bytes(n_samples, n_features), tree + max(after_tree))


# What there is


def require_memory(
    needed: int, what: str, shape: tuple[int, ...], instead: str | None = None
) -> None:
    """Raise MemoryError if the process may not have that much more memory.

    Parameters
    ----------
    needed : int
        Bytes.
    what : str
        What needs them, for the message.
    shape : tuple of int
        Shape of the points, for the message.
    instead : str, optional
        What to do instead, for the message; fewer points unless said otherwise.

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
        f"use a subsample: about {rows} rows fit. Points of lower precision do not help, since "
        f"they are widened inside"
    )
    raise MemoryError(
        f"{what} needs about {_in_words(needed)} beyond points of shape {shape}, but the process "
        f"may use {_in_words(available)} more ({limit}). Free memory, raise the limit, or "
        f"{instead}."
    )


def _in_words(size: int) -> str:
    return f"{max(size, 0) / 2**20:.0f} MiB" if size < 10 * 2**30 else f"{size / 2**30:.1f} GiB"


def _limits() -> Iterator[tuple[int, str]]:
    """Give what is left under each limit that the system tells of, and its name."""
    if (physical := _physical()) is not None:
        yield physical, "the memory of this machine that is available"
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
    try:  # all of it: elsewhere nothing tells what others would give up
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _control_groups(
    membership: Path = Path("/proc/self/cgroup"), root: Path = Path("/sys/fs/cgroup")
) -> Iterator[int]:
    """Give what is left in each control group above the process that has a limit."""
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
            if (left := _left_in_group(mount / folder, *names)) is not None:
                yield left


def _left_in_group(folder: Path, limit: str, usage: str, prefix: str) -> int | None:
    """Bytes that a control group may still use; the cache of files is given up when needed."""
    try:
        most = int((folder / limit).read_text())
        if most >= _NO_LIMIT:
            return None
        used = int((folder / usage).read_text())
        lines = (folder / "memory.stat").read_text().splitlines()
        counts = dict(line.split() for line in lines)
        cache = sum(int(counts[f"{prefix}{name}_file"]) for name in ("active", "inactive"))
    except (OSError, ValueError, KeyError):  # no such group here, or no limit ("max")
        return None
    return most - used + cache


def _resource_limits() -> Iterator[tuple[int, str]]:
    """Give what is left of the address space and of the data that the process may have."""
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
