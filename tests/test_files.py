"""Files that are written by the library are complete, or not there."""

import os
import stat
from pathlib import Path

import pytest

import quickshift as qs
from quickshift.files import published


class DiskFullError(Exception):
    """Stands for a disk that is full."""


def write_half(path: Path) -> None:
    with published(path) as file:
        file.write(b"half")
        raise DiskFullError


@pytest.mark.parametrize("before", [None, b"old"])
def test_a_file_that_cannot_be_completed_changes_nothing(tmp_path: Path, before):
    path = tmp_path / "file"
    if before is not None:
        path.write_bytes(before)
    with pytest.raises(DiskFullError):
        write_half(path)
    assert (path.read_bytes() if path.exists() else None) == before
    assert len(list(tmp_path.iterdir())) == (before is not None)


def test_links_and_modes_of_replaced_files_are_kept(tmp_path: Path):
    path, link = tmp_path / "file", tmp_path / "link"
    path.write_bytes(b"old")
    path.chmod(0o640)
    link.symlink_to(path)
    with published(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_devices_are_written_to_directly():
    with published(Path("/dev/null")) as file:
        file.write(b"gone")
    assert not Path("/dev/null").is_file()


@pytest.mark.parametrize("write", ["tree", "explore"])
def test_trees_and_pages_that_cannot_be_completed_change_nothing(
    tmp_path: Path, write, monkeypatch
):
    model = qs.QuickShift().fit(qs.datasets.blobs(100, seed=0)[0])
    path = tmp_path / "file"

    def save():
        return model.tree_.save(path) if write == "tree" else qs.explore(model, path)

    save()
    before = path.read_bytes()

    def fail(*_, **__):
        raise DiskFullError

    monkeypatch.setattr("numpy.savez_compressed", fail)
    monkeypatch.setattr("quickshift.explorer.exploring.page", fail)
    with pytest.raises(DiskFullError):
        save()
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("write", ["tree", "explore"])
def test_folders_that_do_not_exist_are_named(tmp_path: Path, write):
    model = qs.QuickShift().fit([[0.0], [1.0]])
    path = tmp_path / "missing" / "file"
    with pytest.raises(FileNotFoundError, match=r"No such folder; create it .*missing'$"):
        _ = model.tree_.save(path) if write == "tree" else qs.explore(model, path)
