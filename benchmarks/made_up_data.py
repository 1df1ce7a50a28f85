"""Data made up against an algorithm of the core, for tests/test_worst_cases.py and benchmarks."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


def unmixed(hashes: ArrayLike) -> Floats:
    """Invert the hash of one coordinate that cpp/tree/distinct.cpp uses."""
    bits = np.asarray(hashes, dtype=np.uint64) * np.uint64(pow(0xC4CEB9FE1A85EC53, -1, 2**64))
    bits ^= bits >> np.uint64(32)
    bits *= np.uint64(pow(0xFF51AFD7ED558CCD, -1, 2**64))
    return (bits ^ np.uint64(0x9E3779B97F4A7C15)).view(np.float64)


def colliding(n: int) -> Floats:
    """Return n different numbers in (-2, 2) whose hashes agree in all bits that a table uses."""
    low, high = np.meshgrid(np.arange(2**16), np.arange(2**3))
    found = unmixed((low + (high << 48)).ravel())
    found = found[np.abs(found) < 2]  # not scaled, if the largest is at least 1
    assert len(np.unique(found)) >= n
    return np.append(found[: n - 1], 1.5)[:, None]


def against_median(n: int) -> Floats:
    """Return an order of 0..n-1 that makes every pivot of the selection in the tree a small one.

    The 63 keys that are sampled are always the smallest of those that remain. The places follow the
    block partition of cpp/tree/select.hpp: the keys below a pivot go to the front one by one.
    """
    places, keys, key = np.arange(n), np.full(n, -1), 0
    begin = 0
    while n - begin > 4096 and n // 2 - begin > 64:
        count = n - begin
        sampled = begin + (2 * np.arange(63) + 1) * count // 126
        wanted = (n // 2 - begin) * 63 // count
        fresh = sampled[keys[places[sampled]] < 0]
        keys[places[fresh]] = key + np.arange(len(fresh))
        key += len(fresh)
        pivot = np.sort(keys[places[sampled]])[wanted]
        begin = partitioned(places, keys, begin, pivot)
    rest = places[begin:][keys[places[begin:]] < 0]
    keys[rest] = key + np.random.default_rng(0).permutation(len(rest))
    return keys.astype(float)


def partitioned(places: Indices, keys: Indices, begin: int, pivot: int) -> int:
    """Move the keys below a pivot to the front as `partition_long` does; return their end."""
    first = lambda at: 0 <= keys[places[at]] < pivot  # noqa: E731
    block, start, end = 64, begin, len(places)
    late, early = [], []
    below = np.flatnonzero((keys[places[begin:]] >= 0) & (keys[places[begin:]] < pivot)) + begin
    while end - start >= 2 * block:
        if not late:
            late = [start + i for i in range(block) if not first(start + i)]
        if not early:
            early = [at for at in below[::-1] if end - block <= at < end and first(at)]
        swaps = min(len(late), len(early))
        for a, b in zip(late[:swaps], early[:swaps], strict=True):
            places[[a, b]] = places[[b, a]]
        late, early = late[swaps:], early[swaps:]
        if not late:
            start += block
        if not early:
            end -= block
    for at in range(start, end):
        if first(at):
            places[[start, at]] = places[[at, start]]
            start += 1
    return start


def narrow_group(n: int, d: int, share: float = 0.9) -> Floats:
    """Return a sample of which a share is in a group 1e8 times narrower than the rest.

    If the share is more than one half, the median of every axis divides the group, so that each
    block of the tree has points of both kinds. In single precision, relative to the center of the
    box of such a block, all points of the group coincide.
    """
    X = np.random.default_rng(1).normal(size=(n, d))
    X[n - round(share * n) :] *= 1e-8
    return X


def long_tails(n: int, d: int, power: float) -> Floats:
    """Draw from ten nested spheres, and raise the coordinates to a power; they keep their signs."""
    rng = np.random.default_rng(0)
    normal = rng.normal(size=(n, d))
    shells = normal / np.linalg.norm(normal, axis=1)[:, None] * rng.integers(1, 11, (n, 1))
    shells /= shells.std()
    return np.asarray(np.sign(shells) * np.abs(shells) ** power)
