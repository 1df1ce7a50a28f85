import contextlib
from functools import partial

import numpy as np
import pytest

import quickshift
from distributed_cases import blobs, divided
from quickshift.distributed import QuickShift
from quickshift.distributed.executors import Inline
from quickshift.distributed.partition import boxes_apart, room_around, split_boxes, split_space
from quickshift.distributed.plan import boxes
from quickshift.distributed.tasks.boxes import morton_codes, wrapped
from quickshift.distributed.tasks.regions import Region, halo_fits


def test_equal_points_are_in_one_box_even_at_a_border():
    points = np.repeat([[0.0], [1.0], [2.0]], [10, 500, 10], axis=0)
    partition = split_space(points, 4)
    box = partition.boxes_of(points)
    assert len(set(box[10:510])) == 1
    assert len(partition) == 3


@pytest.mark.parametrize("n_boxes", [1, 2, 7, 32])
def test_boxes_are_balanced_on_skewed_data(n_boxes):
    rng = np.random.default_rng(0)
    wide, narrow = rng.uniform(0, 1000, (20_000, 2)), rng.uniform(0, 1, (20_000, 2))
    points = np.concatenate([wide, narrow])  # half of the points in a millionth of the area
    partition = split_space(points[::2], n_boxes)
    counts = np.bincount(partition.boxes_of(points), minlength=n_boxes)
    assert len(partition) == n_boxes
    assert counts.max() <= 1.2 * counts.mean()


@pytest.mark.parametrize("again", [False, True])
def test_boxes_cover_space_without_overlap(again):
    rng = np.random.default_rng(1)
    partition = split_space(rng.normal(size=(500, 3)), 13)
    if again:
        n_parts = np.where(np.arange(13) % 4 == 1, 5, 1)
        partition = split_boxes(partition, rng.normal(size=(4000, 3)), n_parts)
        assert len(partition) == 13 + 3 * 4
    points = rng.normal(size=(200, 3)) * 9
    inside = (points[:, None] >= partition.lower) & (points[:, None] < partition.upper)
    holds = inside.all(axis=2)
    np.testing.assert_array_equal(holds.sum(axis=1), 1)
    np.testing.assert_array_equal(holds.argmax(axis=1), partition.boxes_of(points))


def test_one_distinct_point_makes_one_box():
    assert len(split_space(np.ones((50, 2)), 8)) == 1


def test_boxes_that_a_sample_has_missed_are_divided_again(tmp_path):
    # The sample takes every fifth row, and all other rows are in a small part of space.
    rng = np.random.default_rng(5)
    points = rng.uniform(0, 0.01, (50_000, 2))
    points[::5] = rng.uniform(-50, 50, (10_000, 2))
    points[1::5] = 0.005
    passes, _ = divided(points, 2, tmp_path / "missed")
    assert passes.store.counts.max() > 20_000
    passes, _ = divided(points, 2, tmp_path / "again", most_rows=12_000)
    assert passes.store.counts.max() <= 12_000
    assert len(passes.store.counts) < 20
    passes, _ = divided(points, 2, tmp_path / "equal rows", most_rows=5_000)
    assert 10_000 <= passes.store.counts.max() < 12_000


def skewed(n):
    """Half of the points are in a millionth of the area."""
    rng = np.random.default_rng(6)
    wide, narrow = rng.uniform(0, 1000, (n // 2, 2)), rng.uniform(300, 301, (n // 2, 2))
    return rng.permutation(np.concatenate([wide, narrow]))


@pytest.mark.parametrize(
    "parameters",
    [{"n_neighbors": 15}, {"bandwidth": 0.05, "tau": 0.05, "kernel": "epanechnikov"}],
    ids=str,
)
def test_no_task_has_too_many_rows_on_skewed_data(parameters, monkeypatch):
    sizes = []
    build = Region.samples

    def counted(region):
        sizes.append((region.n_rows, region.store.most_rows))
        return build(region)

    monkeypatch.setattr(Region, "samples", counted)
    monkeypatch.setattr(QuickShift, "_executor", lambda *_: Inline())
    points = skewed(12_000)
    found = QuickShift(memory_limit=1.2e6, **parameters).fit(points)
    assert found.n_partitions_ >= 8
    assert all(n_rows <= most for n_rows, most in sizes)
    expected = quickshift.QuickShift(**parameters).fit(points)
    np.testing.assert_array_equal(found.labels_, expected.labels_)


@pytest.mark.parametrize("kernel", ["gaussian", "exponential", "triangular"])
def test_sums_over_halos_that_do_not_fit_into_memory(kernel, monkeypatch):
    monkeypatch.setattr(QuickShift, "_executor", lambda *_: Inline())
    points = blobs(1500)
    parameters = {"bandwidth": 3.0, "tau": 0.2, "kernel": kernel}
    found = QuickShift(n_partitions=8, memory_limit=2.5e5, **parameters).fit(points)
    expected = quickshift.QuickShift(**parameters).fit(points)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    densities = expected.density_[found.mode_indices_]
    np.testing.assert_allclose(found.mode_densities_, densities, rtol=2e-9)
    store, reach = found._fit.passes.store, found._fit.kind.density.reach
    assert not all(halo_fits(store, box, reach) for box in range(8))


def test_periodic_boxes_are_near_across_the_period():
    period = np.array([10.0])
    points = np.array([[9.5], [4.0]])
    low, high = np.array([0.0]), np.array([1.0])
    np.testing.assert_allclose(boxes_apart(low, high, (points, points), period), [0.5, 3.0])


def test_a_box_as_long_as_the_period_has_no_faces():
    period = np.array([10.0, np.inf])
    room = room_around(
        np.array([[1.0, 2.0]]), np.array([0.0, -np.inf]), np.array([10.0, np.inf]), period
    )
    assert room[0] == np.inf


def test_rows_outside_the_halo_are_farther_away_than_reach_and_room():
    rng = np.random.default_rng(2)
    points = rng.normal(size=(400, 2))
    partition = split_space(points, 9)
    box = partition.boxes_of(points)
    own = points[box == 4]
    room = partition.room(4, own)
    cell = partition.lower[4], partition.upper[4]
    outside = points[boxes_apart(*cell, (points, points), None) > 0.3]
    apart = np.linalg.norm(own[:, None] - outside, axis=2).min(axis=1)
    assert (apart > 0.3 + room).all()


def test_wrapped_points_stay_in_the_period():
    values = wrapped(np.array([[-1e-20], [5.0], [-0.0], [7.5]]), np.array([5.0]))
    np.testing.assert_array_equal(values, [[0.0], [0.0], [0.0], [2.5]])


def test_the_curve_keeps_neighbors_together():
    rng = np.random.default_rng(3)
    points = rng.uniform(size=(4000, 2))
    along = points[np.argsort(morton_codes(points))]
    assert np.linalg.norm(np.diff(along, axis=0), axis=1).mean() < 0.05


@pytest.mark.parametrize("stop", ["scatter", "sample-boxes", "gather", None], ids=str)
def test_a_resumed_run_divides_boxes_as_the_first_did(stop, tmp_path, monkeypatch):
    monkeypatch.setattr(QuickShift, "_executor", lambda *_: Inline())
    monkeypatch.setattr(boxes, "_SAMPLED_PER_BOX", 4)
    rng = np.random.default_rng(5)
    wide, dense = rng.normal(size=(1500, 2)), rng.normal(size=(700, 2)) * 0.003 + [5, 3]
    for i, part in enumerate(np.array_split(rng.permutation(np.concatenate([wide, dense])), 3)):
        np.save(tmp_path / f"part-{i}.npy", part)
    data = str(tmp_path / "part-*.npy")
    settings = {"bandwidth": 0.05, "tau": 0.05, "n_partitions": 2, "memory_limit": 4e5}
    expected = QuickShift(**settings).fit(data)
    stopped = partial(interrupt, stop, [])
    with contextlib.suppress(InterruptedError):
        QuickShift(**settings, directory=tmp_path / "run", progress=stopped).fit(data)
    found = QuickShift(**settings, directory=tmp_path / "run", resume=True).fit(data)
    assert found.n_partitions_ == expected.n_partitions_ > 2
    np.testing.assert_array_equal(found.labels_, expected.labels_)


def interrupt(stage, seen, name, done):
    """Stop in the middle of a stage, if it is reported several times."""
    seen.append(name)
    if name == stage and seen.count(name) == 2:
        raise InterruptedError


def test_the_last_round_divides_no_boxes(monkeypatch):
    monkeypatch.setattr(QuickShift, "_executor", lambda *_: Inline())
    monkeypatch.setattr(boxes, "_ROUNDS", 1)
    points = skewed(3000)
    found = QuickShift(n_neighbors=5, memory_limit=1e6, n_partitions=2).fit(points)
    expected = quickshift.QuickShift(n_neighbors=5).fit(points)
    np.testing.assert_array_equal(found.labels_, expected.labels_)


def test_a_resumed_run_does_not_take_one_scale_for_another(tmp_path, monkeypatch):
    monkeypatch.setattr(QuickShift, "_executor", lambda *_: Inline())
    data = tmp_path / "points.npy"
    np.save(data, blobs(60))
    for scale in (np.ones(2), np.array([1.0 + 1e-10, 1.0]), [1.0, 1.0]):
        QuickShift(scale=scale, directory=tmp_path / "run", resume=True).fit(data)
    assert len(list((tmp_path / "run").glob("run-*"))) == 2


def test_changes_of_a_memory_map_that_are_in_memory_alone_count(tmp_path, monkeypatch):
    monkeypatch.setattr(QuickShift, "_executor", lambda *_: Inline())
    np.save(tmp_path / "points.npy", blobs(90))
    points = np.load(tmp_path / "points.npy", mmap_mode="c")
    points[:45] += 30.0
    expected = quickshift.QuickShift().fit(np.array(points))
    np.testing.assert_array_equal(QuickShift().fit(points).labels_, expected.labels_)
