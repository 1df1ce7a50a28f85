"""The first passes: from chunks of the input to boxes of about the same number of rows."""

import shutil

import numpy as np

from quickshift.arrays import Indices
from quickshift.distributed.inputs import Chunk
from quickshift.distributed.partition import Partition, split_boxes, split_space
from quickshift.distributed.plan.passes import Passes
from quickshift.distributed.tasks.boxes import (
    Facts,
    chunk_folder,
    gather,
    sample_boxes,
    scan,
    scatter,
)
from quickshift.spaces import Space

__all__ = ["make_boxes", "scan_chunks"]

_SAMPLED = 1 << 20  # most rows of the sample that the partition is made of
_SAMPLED_PER_BOX = 4096
_ROUNDS = 8  # of dividing boxes that are too large; equal rows cannot be divided


def scan_chunks(passes: Passes, chunks: list[Chunk], space: Space) -> Facts:
    """Check all rows, and describe them.

    Parameters
    ----------
    passes : Passes
        Runs the tasks.
    chunks : list of Chunk
        The input.
    space : Space
        The coordinates in which the rows are described.

    Returns
    -------
    Facts
        Those of all chunks together.
    """
    step = -(-sum(chunk.n_rows for chunk in chunks) // _SAMPLED)
    found = passes.run("scan", scan, [(chunk, space, step) for chunk in chunks])
    facts = Facts(
        n_rows=sum(f.n_rows for f in found),
        n_present=sum(f.n_present for f in found),
        total_weight=float(np.sum([f.total_weight for f in found])),
        least_weight=min(f.least_weight for f in found),
        least=np.min([f.least for f in found], axis=0),
        most=np.max([f.most for f in found], axis=0),
        sample=np.concatenate([f.sample for f in found]),
        space=space,
    )
    if facts.n_present == 0:
        raise ValueError("the weights are all zero, expected at least one row of positive weight.")
    return facts


def make_boxes(
    passes: Passes, chunks: list[Chunk], facts: Facts, n_boxes: int, most_rows: int | None = None
) -> None:
    """Divide space into boxes, and write the rows of each.

    Parameters
    ----------
    passes : Passes
        Runs the tasks.
    chunks : list of Chunk
        The input.
    facts : Facts
        From `scan_chunks`.
    n_boxes : int
        Number of boxes wanted.
    most_rows : int, optional
        Boxes with more rows are divided again, a few times, unless all their rows are equal.
    """
    step = max(len(facts.sample) // (_SAMPLED_PER_BOX * n_boxes), 1)
    partition = split_space(facts.sample[::step], n_boxes, facts.space.period)
    store = passes.store
    for left in reversed(range(_ROUNDS)):
        arguments = [(store, chunk, facts.space, partition) for chunk in chunks]
        starts = passes.run("scatter", scatter, arguments)
        most = most_rows if left else None  # what the last round divides would not be scattered
        smaller = _divided_again(passes, partition, chunks, starts, most)
        if len(smaller) == len(partition):
            break
        partition = smaller
    store.write_partition(partition)
    slices = [
        [
            (chunk.number, int(start[box]), int(start[box + 1]))
            for chunk, start in zip(chunks, starts, strict=True)
            if start[box] < start[box + 1]
        ]
        for box in range(len(partition))
    ]
    found = passes.run("gather", gather, [(store, box, s) for box, s in enumerate(slices)])
    store.write_layout(
        np.array([count for count, _ in found], dtype=np.int64),
        np.array([bounds for _, bounds in found]),
    )
    for chunk in chunks:
        shutil.rmtree(chunk_folder(store, chunk.number), ignore_errors=True)


def _divided_again(
    passes: Passes,
    partition: Partition,
    chunks: list[Chunk],
    starts: list[Indices],
    most_rows: int | None,
) -> Partition:
    """Divide the boxes that have too many rows, by a sample of these rows alone."""
    counts = np.sum([np.diff(start) for start in starts], axis=0)
    if most_rows is None or (counts <= most_rows).all():
        return partition
    n_parts = np.where(counts > most_rows, -(-counts * 6 // (5 * most_rows)), 1)
    steps = np.where(n_parts > 1, np.maximum(counts // (_SAMPLED_PER_BOX * n_parts), 1), 0)
    samples = passes.run(
        "sample-boxes",
        sample_boxes,
        [
            (passes.store, chunk.number, start, steps)
            for chunk, start in zip(chunks, starts, strict=True)
        ],
    )
    return split_boxes(partition, np.concatenate(samples), n_parts)
