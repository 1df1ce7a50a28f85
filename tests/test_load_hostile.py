"""Damaged and hostile files: every one is either a usable tree or an error that names the file."""

import errno
import io
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import quickshift as qs
from hostile_files import NESTED, arrays_of, mutated_archive, mutated_bytes
from quickshift import ClusterTree
from quickshift.datasets import blobs
from quickshift.explorer.packing import Section, pack, read_header, unpack
from quickshift.plot import ClusterTreeDisplay, PersistenceDisplay

CASES = int(os.environ.get("QUICKSHIFT_EXAMPLES", "400"))
seeds = st.integers(0, 2**63 - 1)
refused = pytest.raises(ValueError, match=r"tree\.npz' is not a cluster tree .*ClusterTree\.save")


def trees():
    X = blobs(60, centers=4, seed=3)[0]
    weights = np.ones(60)
    weights[[3, 50]] = 0
    fits = (
        qs.QuickShift().fit(X, sample_weight=weights),
        qs.QuickShift(bandwidth=0.7, tau=1.5).fit(X),
        qs.QuickShift(n_clusters=2).fit(X.round()),
        qs.QuickShift().fit(X[:1]),
    )
    yield from (fit.tree_ for fit in fits)
    yield fits[1].tree_.prune(min_size=3)
    yield qs.stages.known_tree(X, qs.datasets.GaussianMixture([[0.0, 0.0], [9.0, 9.0]]), n_cells=9)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("trees")


class Contents(tuple):
    """Files, of which hypothesis is not to print all bytes."""

    def __repr__(self):
        return f"<{len(self)} files>"

    def pick(self, rng):
        return self[int(rng.integers(len(self)))]


@pytest.fixture(scope="module")
def contents(folder):
    written = []
    for tree in trees():
        tree.save(folder / "tree.npz")
        written.append((folder / "tree.npz").read_bytes())
    old = arrays_of(written[1])
    tau = float(old.pop("tau"))
    old["json"] = np.array(str(old["json"]).replace('"version": 2', f'"version": 1, "tau": {tau}'))
    buffer = io.BytesIO()
    np.savez(buffer, **old)
    return Contents([*written, buffer.getvalue()])


def use(tree: ClusterTree, path: Path) -> None:
    """Call everything that a tree has."""
    n, k = len(tree.leaf_labels), len(tree)
    assert "leaf" in repr(tree) or "leaves" in repr(tree)
    assert tree.labels().shape == (n,)
    for level in (0.0, *np.quantile(tree.births, [0, 0.5, 1])):
        assert tree.components_at(level).shape == (n,)
    levels = tree.merge_level(np.arange(n)[:, None], np.arange(n))
    assert (levels == levels.T).all()
    assert (levels <= tree.density[tree.leaf_labels >= 0].max()).all()
    birth, death = tree.persistence().T
    assert birth.shape == death.shape == (k,)
    assert tree.to_linkage().shape == (k - 1, 4)
    assert len(tree.to_pandas()) == tree.to_networkx().number_of_nodes() == k
    for condition in ("prominence", "prominence_ratio", "min_size"):
        assert 0 < len(tree.prune(**{condition: 2.0})) <= k
    if tree.significance is not None:
        assert len(tree.prune(significance=1.5)) <= k
    assert qs.merge_distortion(tree, tree) == 0.0
    ClusterTreeDisplay.from_tree(tree)
    PersistenceDisplay.from_tree(tree)
    tree.save(path)
    assert ClusterTree.load(path) == tree


def attempt(function, argument):
    """Return the result of a function and no message, or the message of its ValueError."""
    try:
        return function(argument), ""
    except ValueError as error:
        return None, str(error)


def load_or_refuse(path: Path) -> None:
    tree, message = attempt(ClusterTree.load, path)
    if message:
        assert repr(str(path)) in message
        assert "expected a file written by ClusterTree.save" in message
    else:
        use(tree, path)


def test_trees_that_were_saved_can_be_used_in_full(contents, folder):
    for content in contents:
        path = folder / "tree.npz"
        path.write_bytes(content)
        use(ClusterTree.load(path), path)


@settings(max_examples=CASES)
@given(seed=seeds)
def test_files_with_damaged_bytes_are_trees_or_errors_that_name_them(contents, folder, seed):
    rng = np.random.default_rng(seed)
    path = folder / "damaged.npz"
    path.write_bytes(mutated_bytes(rng, contents.pick(rng)))
    load_or_refuse(path)


@settings(max_examples=CASES)
@given(seed=seeds)
def test_files_with_hostile_arrays_are_trees_or_errors_that_name_them(contents, folder, seed):
    rng = np.random.default_rng(seed)
    path = folder / "hostile.npz"
    path.write_bytes(mutated_archive(rng, contents.pick(rng)))
    load_or_refuse(path)


def test_trees_with_densities_of_zero_can_be_used_in_full(folder):
    X, density = np.arange(5.0)[:, None], [3.0, 0.0, 2.0, 0.0, 0.0]
    graph = qs.stages.climb(X, density)
    for tau in (0.5, 1.5, 3.0):
        use(qs.stages.link(X, density, qs.stages.cut(graph, tau), tau), folder / "tree.npz")


# What each kind of damage once raised


def write(path, content, **changes):
    arrays = {**arrays_of(content), **changes}
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"json": np.array(NESTED)}, "recursion"),
        ({"json": np.array("[]")}, "not a JSON object"),
        ({"json": np.array("x" * 10**6)}, "header has 4000000 bytes"),
        ({"towards": None}, "no array 'towards'"),
        ({"pieces": None, "json": None}, "no header"),
        ({"leaf_labels": np.zeros(60)}, "leaf_labels is float64 of shape"),
        ({"density": np.zeros(59)}, r"density is float64 of shape \(59,\)"),
        ({"merges": np.zeros((1, 2))}, r"merges is float64 of shape \(1, 2\)"),
        ({"leaf_indices": np.full(8, 60)}, "leaf_indices ranges from 60 to 60"),
        ({"merges": np.array([[0.0, 5000.0, 1e-9]])}, "merges has no such leaf"),
        ({"tau": np.array(np.nan)}, "tau is not a length"),
    ],
)
def test_damage_is_named_in_the_error(changes, reason, contents, tmp_path):
    write(tmp_path / "tree.npz", contents[1], **changes)
    with pytest.raises(ValueError, match=rf"(?s)tree\.npz' is not a cluster tree .*{reason}"):
        ClusterTree.load(tmp_path / "tree.npz")


def test_circles_of_leaves_are_refused_and_do_not_hang(contents, tmp_path):
    for circle in ([1, 0], [1, 2, 0], [1, 2, 3, 0]):
        towards = arrays_of(contents[1])["towards"].copy()
        towards[: len(circle)] = circle
        write(tmp_path / "tree.npz", contents[1], towards=towards)
        with pytest.raises(ValueError, match="towards leads around in a circle"):
            ClusterTree.load(tmp_path / "tree.npz")


def test_sizes_are_checked_before_anything_is_allocated(contents, tmp_path, monkeypatch):
    path = tmp_path / "tree.npz"
    path.write_bytes(contents[0])
    monkeypatch.setattr("quickshift.checks.archives.available_memory", lambda: 1000)
    with pytest.raises(ValueError, match=r"tree\.npz.* more than the available memory"):
        ClusterTree.load(path)


def test_archives_that_promise_too_much_are_refused(contents, tmp_path):
    path = tmp_path / "tree.npz"
    header = io.BytesIO()
    shape = {"descr": "<f8", "fortran_order": False, "shape": (10**13,)}
    np.lib.format.write_array_header_1_0(header, shape)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("density.npy", header.getvalue())
    with pytest.raises(ValueError, match="declares 80000000000000 bytes of data, but has"):
        ClusterTree.load(path)
    # The directory of the archive, which comes last, says how large a member is.
    data = bytearray(contents[0])
    entry = data.index(b"PK\x01\x02")
    data[entry + 24 : entry + 28] = (2**31).to_bytes(4, "little")
    path.write_bytes(data)
    with pytest.raises(ValueError, match="which is not possible"):
        ClusterTree.load(path)


def test_pickles_in_files_are_never_loaded(tmp_path):
    class Trap:
        def __reduce__(self):
            return (pytest.fail, ("a pickle was loaded",))

    path = tmp_path / "tree.npz"
    np.savez(path, json=np.array(Trap(), dtype=object))
    with refused:
        ClusterTree.load(path)
    np.save(tmp_path / "tree.npy", np.array(Trap(), dtype=object), allow_pickle=True)
    (tmp_path / "tree.npy").rename(path)
    with refused:
        ClusterTree.load(path)


def test_missing_files_and_folders_are_errors_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        ClusterTree.load(tmp_path / "tree.npz")
    with pytest.raises(IsADirectoryError):
        ClusterTree.load(tmp_path)


# The explorer


@settings(max_examples=CASES)
@given(seed=seeds)
def test_damaged_payloads_of_the_explorer_are_errors_that_say_so(seed):
    rng = np.random.default_rng(seed)
    sections = {
        "parent": Section(np.arange(5), "i32", delta=True),
        "x": Section(rng.normal(size=5), "f64"),
    }
    packed = mutated_bytes(rng, pack({"n": 5}, sections))
    for read in (unpack, read_header):
        _, message = attempt(read, packed)
        assert not message or "expected bytes from `pack`" in message


def test_two_arrays_of_one_name_are_refused(folder, contents):
    path = folder / "tree.npz"
    path.write_bytes(contents[0])
    with zipfile.ZipFile(path) as archive:
        density = archive.read("density.npy")
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("density.npy", density)
    with pytest.raises(ValueError, match=r"it has two arrays of the name 'density'"):
        ClusterTree.load(path)


def test_errors_of_the_system_are_not_taken_for_damage(folder, contents, monkeypatch):
    def fail(*_, **__):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    path = folder / "tree.npz"
    path.write_bytes(contents[0])
    monkeypatch.setattr(zipfile.ZipFile, "infolist", fail)
    with pytest.raises(OSError, match="error") as caught:
        ClusterTree.load(path)
    assert caught.value.errno == errno.EIO
