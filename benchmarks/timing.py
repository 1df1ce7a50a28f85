"""How each kind of row is measured: functions from a row to a plain dict that can be saved.

Every result has a list ``numbers`` with one entry per measured quantity: its name, its spread, its
bound and whether that is met, or the reason why it was not measured.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import choices
import measure
import ours
from data import blobs, one_gaussian
from measure import Bound, Spread
from peers import PEERS
from quickshift import _core, stages
from quickshift.kernels import get_kernel
from rows import (
    ChoiceRow,
    Curve,
    GrowthRow,
    HardRow,
    LinkRow,
    MemoryRow,
    MethodRow,
    Row,
    StartRow,
    ThreadRow,
    TimeRow,
    ToleranceRow,
    WorstRow,
)
from worker import FailedError, Worker, closing_all

ROW_LIMIT = 150.0  # seconds after which no further round of a row is started
POINT_LIMIT = 15.0  # the same for a point of a curve
THREADS = 2  # of rows that compare methods
SMALLEST = 500  # a quick run does not reduce a row below this number of points

Result = dict[str, Any]


@dataclass(frozen=True)
class Pace:
    """How thoroughly to measure: the number of rounds, and the divisor of all data sizes."""

    repeats: int
    fewer: int = 1

    def size(self, n: int) -> int:
        """Return the reduced number of points for a row of n points; small rows keep theirs."""
        return n if n <= SMALLEST else max(n // self.fewer, SMALLEST)


def number(what: str, unit: str, value: Spread, bound: Bound | None = None, **more: Any) -> Result:
    """Return one measured number with its bound."""
    result = {"what": what, "unit": unit, "value": asdict(value), **more}
    if bound:
        result |= {"bound": str(bound), "met": bound.met(value.median)}
    return result


@contextmanager
def saved(X: Any) -> Iterator[Path]:
    """Write points to a temporary file that every worker reads."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "points.npy"
        np.save(file, X)
        yield file


def our_worker(call: Callable[..., object], instruction_set: str | None = None) -> Worker:
    """Start a process that times a function of ours."""
    return Worker(partial(ours.loaded, call), "quickshift", instruction_set=instruction_set)


def time_row(row: TimeRow, pace: Pace) -> Result:
    """Time our call alternately with each peer."""
    X = row.make(pace.size(row.n))
    result: Result = {"n": count(X), "d": X.shape[-1], "numbers": []}
    with saved(X) as file, our_worker(row.call, row.instruction_set) as mine:
        mine.points(file)
        our_times: list[float] = []
        for name, bound in row.peers.items():
            try:
                times = _against(mine, name, file, count(X), pace)
            except FailedError as failed:
                result["numbers"].append({"what": name, "skipped": str(failed)})
                continue
            our_times += times[0]
            result["numbers"].append(
                number(
                    name,
                    "ratio",
                    measure.ratios(*times),
                    bound,
                    seconds=asdict(measure.spread(times[0])),
                    peer_seconds=asdict(measure.spread(times[1])),
                    rounds=len(times[0]),
                )
            )
        if not our_times:
            [our_times] = measure.in_turn([mine.seconds], repeats=pace.repeats, limit=ROW_LIMIT)
    return {**result, "seconds": asdict(measure.spread(our_times))}


def _against(mine: Worker, name: str, file: Path, n: int, pace: Pace) -> list[list[float]]:
    peer = PEERS[name]
    if n > peer.largest:
        raise FailedError(f"takes more than a minute above {peer.largest} points")
    with Worker(peer.load, name, peer.environment) as theirs:
        theirs.points(file)
        timers = [mine.seconds, theirs.seconds]
        return measure.in_turn(timers, repeats=pace.repeats, limit=ROW_LIMIT)


def count(X: NDArray[Any]) -> int:
    """Return the number of points, or of pixels."""
    return math.prod(X.shape[:-1])


def growth_row(row: GrowthRow, pace: Pace) -> Result:
    """Time two sizes alternately."""
    few, many = (row.make(pace.size(n)) for n in row.sizes)
    with (
        saved(few) as few_file,
        saved(many) as many_file,
        our_worker(row.calls[0]) as small,
        our_worker(row.calls[1]) as large,
    ):
        small.points(few_file)
        large.points(many_file)
        times = measure.in_turn(
            [small.seconds, large.seconds], repeats=pace.repeats, limit=ROW_LIMIT
        )
    exponent = measure.exponents(*times, small_n=count(few), large_n=count(many))
    found = number("time grows with n", "as exponent", exponent, row.bound, rounds=len(times[0]))
    seconds = asdict(measure.spread(times[1]))
    return {"n": count(many), "d": many.shape[-1], "seconds": seconds, "numbers": [found]}


def hard_row(row: HardRow, pace: Pace) -> Result:
    """Time made-up data and a Gaussian sample alternately."""
    X = row.make(pace.size(row.n))
    with (
        saved(X) as hard_file,
        saved(one_gaussian(len(X), row.d)) as usual_file,
        our_worker(row.call) as hard,
        our_worker(row.call) as usual,
    ):
        hard.points(hard_file)
        usual.points(usual_file)
        times = measure.in_turn(
            [hard.seconds, usual.seconds], repeats=pace.repeats, limit=ROW_LIMIT
        )
    seconds, usual_seconds = (asdict(measure.spread(some)) for some in times)
    found = number(
        "a Gaussian sample",
        "ratio",
        measure.ratios(*times),
        row.bound,
        peer_seconds=usual_seconds,
        rounds=len(times[0]),
    )
    return {"n": count(X), "d": row.d, "seconds": seconds, "numbers": [found]}


def worst_row(row: WorstRow, pace: Pace) -> Result:
    """Time our call and the other one alternately on each data set."""
    cases = {}
    for name, make in row.sets.items():
        X = make(pace.size(row.n))
        with saved(X) as file, our_worker(row.call) as mine, _other_worker(row.other) as theirs:
            mine.points(file)
            theirs.points(file)
            timers = [mine.seconds, theirs.seconds]
            cases[name] = measure.in_turn(timers, repeats=pace.repeats, limit=ROW_LIMIT)
    against = dict.fromkeys(cases, row.against)
    return _worst_of(cases, against, row.bound, pace.size(row.n))


def _worst_of(
    cases: dict[str, list[list[float]]], against: dict[str, str], bound: Bound, n: int
) -> Result:
    """Return the largest ratio of our times to others, both by data set."""
    worst = max(cases, key=lambda case: measure.ratios(*cases[case]).median)
    our_times, other_times = cases[worst]
    found = number(
        f"{against[worst]}, worst of {len(cases)}: {worst}",
        "ratio",
        measure.ratios(our_times, other_times),
        bound,
        peer_seconds=asdict(measure.spread(other_times)),
        rounds=len(our_times),
    )
    return {"n": n, "seconds": asdict(measure.spread(our_times)), "numbers": [found]}


def _other_worker(other: str | Callable[..., object]) -> Worker:
    if callable(other):
        return our_worker(other)
    peer = PEERS[other]
    return Worker(peer.load, other, peer.environment)


def method_row(row: MethodRow, pace: Pace) -> Result:
    """Time the automatic method of kernel sums and the best other one alternately."""
    cases, best = {}, {}
    for name, make in row.sets.items():
        X = make(pace.size(row.n))
        best[name], cases[name] = _automatic_against_best(X, row.bandwidth(X), pace)
    return _worst_of(cases, best, row.bound, pace.size(row.n))


def _automatic_against_best(X: Any, h: float, pace: Pace) -> tuple[str, list[list[float]]]:
    """Return the name of the best other method, and the times of the automatic one and of it."""
    tree = stages.prepare(X).tree
    code = get_kernel("gaussian").code

    def sums(method: _core.DensityMethod) -> choices.Run:
        return lambda report: _core.kernel_sums(
            tree, code, h, choices.RTOL, method, THREADS, report
        )

    methods = {each.name: sums(each) for each in _core.DensityMethod}
    automatic = choices.seconds(methods["automatic"], math.inf) or 0.0
    limit = max(choices.PATIENCE * automatic, 0.05)
    others = {each: run for each, run in methods.items() if each != "automatic"}
    finished = {e: run for e, run in others.items() if choices.seconds(run, limit) is not None}
    best = min(finished, key=lambda each: _wall_seconds(finished[each]))
    timers = [partial(_wall_seconds, methods[name]) for name in ("automatic", best)]
    return best, measure.in_turn(timers, repeats=pace.repeats, limit=ROW_LIMIT)


def _wall_seconds(run: choices.Run) -> float:
    start = time.perf_counter()
    run(None)
    return time.perf_counter() - start


def thread_row(row: ThreadRow, pace: Pace) -> Result:
    """Time one thread and two threads alternately."""
    X = row.make(pace.size(row.n))
    with saved(X) as file, our_worker(row.call, row.instruction_set) as worker:
        worker.points(file)
        timers = [partial(worker.seconds, n_jobs=1), partial(worker.seconds, n_jobs=2)]
        one, two = measure.in_turn(timers, repeats=pace.repeats, limit=ROW_LIMIT)
    found = number(
        "two threads", "times as fast as one", measure.ratios(one, two), row.bound, rounds=len(one)
    )
    seconds = asdict(measure.spread(two))
    return {"n": count(X), "d": X.shape[-1], "seconds": seconds, "numbers": [found]}


def link_row(row: LinkRow, pace: Pace) -> Result:
    """Time a fit and the link after it alternately."""
    X = row.make(pace.size(row.n))
    with saved(X) as file, our_worker(row.call) as worker:
        worker.points(file)
        timers = [partial(worker.seconds, part="fit"), partial(worker.seconds, part="link")]
        fits, links = measure.in_turn(timers, repeats=pace.repeats, limit=ROW_LIMIT)
    found = number("fit", "ratio", measure.ratios(links, fits), row.bound, rounds=len(fits))
    seconds = asdict(measure.spread(links))
    return {"n": count(X), "d": X.shape[-1], "seconds": seconds, "numbers": [found]}


def tolerance_row(row: ToleranceRow, pace: Pace) -> Result:
    """Time rtol 1e-9 and rtol 0 alternately for every kernel, dimension and bandwidth."""
    cases = {}
    for d in row.dimensions:
        X = blobs(pace.size(row.n), d)
        diameter = float(np.linalg.norm(np.ptp(X, axis=0)))
        with saved(X) as file, our_worker(partial(ours.densities, bandwidth=1.0)) as worker:
            worker.points(file)
            for kernel in row.kernels:
                for h in np.geomspace(0.01, diameter, row.bandwidths):
                    settings = {"bandwidth": float(h), "kernel": kernel}
                    timers = [
                        partial(worker.seconds, rtol=rtol, **settings) for rtol in (1e-9, 0.0)
                    ]
                    times = measure.in_turn(timers, repeats=pace.repeats, limit=POINT_LIMIT)
                    cases[f"{kernel}, d = {d}, h = {h:.3g}"] = measure.ratios(*times)
    worst = max(cases, key=lambda case: cases[case].median)
    found = number(f"rtol 0, worst of {len(cases)}: {worst}", "ratio", cases[worst], row.bound)
    return {"n": pace.size(row.n), "numbers": [{**found, "rounds": pace.repeats}]}


def memory_row(row: MemoryRow, pace: Pace) -> Result:
    """Measure the peak memory of a fit in a fresh process, without the data themselves."""
    X = row.make(pace.size(row.n))
    with saved(X) as file, our_worker(row.call) as worker:
        worker.points(file)
        bytes_per_point = worker.peak() / count(X)
    found = number(
        "peak beyond the data", "bytes per point", measure.spread([bytes_per_point]), row.bound
    )
    return {"n": count(X), "d": X.shape[-1], "numbers": [found]}


def start_row(row: StartRow, pace: Pace) -> Result:
    """Time the code of a row in fresh processes."""
    measure.seconds_in_fresh_process(row.setup, row.run)  # fills the file and bytecode caches
    times = [measure.seconds_in_fresh_process(row.setup, row.run) for _ in range(pace.repeats)]
    return {"numbers": [], "seconds": asdict(measure.spread(times))}


def choice_row(row: ChoiceRow, pace: Pace) -> Result:
    """Compare chosen methods with all others, by CPU time."""
    workloads = max(1, row.workloads // pace.fewer)
    lines = [line for seed in row.seeds for line in choices.lines_of(seed, workloads)]
    numbers = []
    for stage, found in choices.regrets(lines).items():
        percentile, worst = row.bounds.get(stage, (None, None))
        bounds = {"99th percentile": percentile, "worst": worst}
        for what, value in choices.percentiles(found).items():
            name = f"{stage}: {what} of {len(found)} workloads"
            numbers.append(number(name, "ratio", measure.spread([value]), bounds.get(what)))
    worst_workloads = [asdict(each) for each in choices.worst(lines)]
    return {"numbers": numbers, "worst": worst_workloads, "refusals": choices.refusals(lines)}


MEASURE: dict[type, Callable[[Any, Pace], Result]] = {
    TimeRow: time_row,
    GrowthRow: growth_row,
    HardRow: hard_row,
    WorstRow: worst_row,
    MethodRow: method_row,
    ThreadRow: thread_row,
    LinkRow: link_row,
    ToleranceRow: tolerance_row,
    MemoryRow: memory_row,
    StartRow: start_row,
    ChoiceRow: choice_row,
}


def measured(row: Row, section: str, pace: Pace) -> Result:
    """Measure a row; a failure of our code is recorded as a result, too."""
    try:
        result = MEASURE[type(row)](row, pace)
    except (FailedError, RuntimeError) as failed:
        result = {"numbers": [{"what": "quickshift", "skipped": str(failed)}]}
    if isinstance(row, TimeRow | ThreadRow) and row.instruction_set:
        result["instruction_set"] = row.instruction_set
    return {"name": row.name, "section": section, **result}


def measured_curve(curve: Curve, pace: Pace) -> Result:
    """Time every line of a curve at every size; lines of the same size are timed alternately."""
    lines: dict[str, Result] = {}
    with closing_all() as started:
        workers: dict[str, tuple[Worker, int]] = {}
        for name, load, environment, largest in _lines(curve):
            lines[name] = {"points": []}
            try:
                worker = Worker(load, name, environment)
            except FailedError as failed:
                lines[name]["stopped"] = str(failed)
                continue
            started.append(worker)
            workers[name] = (worker, largest)
        for n in curve.sizes if pace.fewer == 1 else curve.sizes[:1]:
            _one_size(curve, n, workers, lines, pace)
    return {"name": curve.name, "section": "curves", "title": curve.title, "lines": lines}


def _lines(curve: Curve) -> Iterator[tuple[str, Callable[[], Any], str | None, int]]:
    for name, call in curve.calls.items():
        yield name, partial(ours.loaded, call), None, curve.sizes[-1]
    for name in curve.peers:
        yield name, PEERS[name].load, PEERS[name].environment, PEERS[name].largest


def _one_size(
    curve: Curve,
    n: int,
    workers: dict[str, tuple[Worker, int]],
    lines: dict[str, Result],
    pace: Pace,
) -> None:
    """Add a point to every line that includes this size; a line that fails ends there."""
    times: dict[str, list[float]] = {}
    with saved(curve.make(n)) as file:
        for _ in range(pace.repeats):
            for name, (worker, largest) in list(workers.items()):
                if n > largest or sum(times.get(name, [])) > POINT_LIMIT:
                    continue
                try:
                    if name not in times:
                        worker.points(file)
                    times.setdefault(name, []).append(worker.seconds())
                except FailedError as failed:
                    lines[name]["stopped"] = f"{n} points: {failed}"
                    del workers[name]
    for name, mine in times.items():
        point = {"n": n, "seconds": asdict(measure.spread(mine)), "rounds": len(mine)}
        lines[name]["points"].append(point)
