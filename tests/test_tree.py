"""The k-d tree: nodes are halved by rank along their widest side.

The result depends neither on the order of the rows nor on the number of threads.
"""

import numpy as np
import pytest

from quickshift import _core, stages

CAPACITY = 20  # most locations per leaf


def along(points, axis):
    """Sort points by one coordinate, then by those that follow it cyclically."""
    keys = np.roll(points, -axis, axis=1)
    return np.lexsort(keys.T[::-1])


def in_tree_order(points):
    """Put distinct points into the order of the tree's leaves by sorting every node."""
    levels = 0
    while (len(points) - 1) >> levels >= CAPACITY:
        levels += 1
    fours, leaves = (len(points) + 3) // 4, 1 << levels
    whole, rest = fours // leaves, fours % leaves
    begins = [min(4 * (i * whole + (i * rest >> levels)), len(points)) for i in range(leaves + 1)]

    def order(part, first, last):
        widest = int(np.argmax(part.max(axis=0) - part.min(axis=0)))
        part = part[along(part, widest)]
        if last - first == 1:
            return part
        middle = (first + last) // 2
        left = begins[middle] - begins[first]
        return np.concatenate([order(part[:left], first, middle), order(part[left:], middle, last)])

    return order(points, 0, leaves)


def lattice(size, features, seed=0):
    side = int(np.ceil((2 * size) ** (1 / features)))
    every = np.stack(np.unravel_index(np.arange(side**features), (side,) * features), axis=1)
    return np.random.default_rng(seed).permutation(every)[:size].astype(float)


def cases():
    draw = np.random.default_rng(1).normal
    for size in (1, 3, 17, 20, 21, 333, 4096, 4097, 30_001):
        for features in (1, 2, 3):
            yield f"random {size}x{features}", draw(size=(size, features))
            yield f"lattice {size}x{features}", lattice(size, features)
    yield "random 5000x9", draw(size=(5000, 9))
    yield "sorted", np.linspace(0.0, 1.0, 20_000)[:, None]
    yield "reversed", np.linspace(1.0, 0.0, 20_000)[:, None]
    yield "two columns of points", np.stack([np.arange(10_000) % 2, np.arange(10_000.0)], axis=1)
    yield "constant column", np.stack([np.zeros(10_000), np.arange(10_000.0)], axis=1)
    yield "few far away", np.append(lattice(9000, 2), 1e9 + lattice(5, 2), axis=0)


CASES = dict(cases())


@pytest.mark.parametrize("name", CASES)
def test_nodes_are_halved_by_rank_along_their_widest_side(name):
    tree = _core.Tree(CASES[name], threads=2)
    np.testing.assert_array_equal(tree.locations()[0], in_tree_order(CASES[name]))


@pytest.mark.parametrize("name", ["lattice 30001x2", "random 30001x3", "two columns of points"])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_order_of_rows_and_threads_do_not_matter(name, threads):
    points = CASES[name]
    shuffled = np.random.default_rng(3).permutation(np.concatenate([points, points[::3]]))
    tree = _core.Tree(shuffled, threads=threads)
    coordinates, weights = tree.locations()
    np.testing.assert_array_equal(coordinates, in_tree_order(points))
    assert tree.total_weight == weights.sum() == len(shuffled)


def test_every_row_has_its_location():
    points = lattice(6000, 2)
    rows = np.random.default_rng(4).integers(0, len(points), size=50_000)
    tree = _core.Tree(points[rows], threads=2)
    first, weights = tree.first_rows()
    values, first_rows, counts = np.unique(rows, return_index=True, return_counts=True)
    np.testing.assert_array_equal(np.sort(first), np.sort(first_rows))
    count_of_row = dict(zip(first_rows.tolist(), counts.tolist(), strict=True))
    np.testing.assert_array_equal(weights, [count_of_row[row] for row in first.tolist()])
    slots = tree.slots_of_rows()
    for value in values[::100]:
        assert np.unique(slots[rows == value]).size == 1
    assert np.unique(slots).size == values.size


# Pickled state


def test_equal_trees_have_equal_states():
    X = np.random.default_rng(0).normal(size=(300, 3))
    states = [stages.prepare(X).tree.__getstate__() for _ in range(2)]
    for ours, theirs in zip(*states, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("damage", ["short", "rows", "features", "slots"])
def test_damaged_state_of_a_tree_is_refused(damage):
    state = list(stages.prepare(np.random.default_rng(0).normal(size=(300, 3))).tree.__getstate__())
    if damage == "short":
        state = state[:5]
    elif damage == "rows":
        state[0] = 10**7
    elif damage == "features":
        state[2] = 10**5
    else:
        state[-1] = np.full_like(state[-1], 10**12)
    tree = _core.Tree.__new__(_core.Tree)
    message = "must have 14 parts" if damage == "short" else "sizes or indices are inconsistent"
    with pytest.raises(ValueError, match=f"the state of (a|the) tree .*{message}"):
        tree.__setstate__(tuple(state))
