"""Ctrl-C at random times in every long call of the library.

Run by ``make interrupts``; ``--tries`` says how often each call is interrupted, ``--seed`` when,
and ``--only`` which call. A second process sends SIGINT to this one. Each time, the call must raise
KeyboardInterrupt within a second, leave no thread that runs on for another, and change neither its
estimator nor its arguments; at the end, it must return what it returned before.
"""

import argparse
import gc
import os
import pickle
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import Pipe, Process
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import quickshift as qs
from quickshift import distributed, plot, stages

PATIENCE = 1.0  # seconds between the signal and the exception
N = 20_000
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2)) + 6.0 * RNG.integers(0, 3, size=(N, 1))
WIDE = RNG.normal(size=(4000, 30))
Y = np.sin(X[:, 0]) + RNG.choice([-1.0, 1.0], N) + 0.1 * RNG.normal(size=N)
BOTH = np.column_stack([Y, np.cos(Y)])
GRID = np.linspace(-2, 8, 300)
PICTURE = np.cumsum(RNG.normal(size=(300, 300, 3)), axis=0) % 1.0
MIXTURE = qs.datasets.GaussianMixture([[0.0, 0.0], [6.0, 6.0]])
Call = Callable[[], object]


def calls(folder: Path) -> dict[str, tuple[Call, list[Any]]]:
    """Return each long call, and the objects that it must not change."""
    kde = qs.QuickShift(0.7, 1.5, rtol=0.0).fit(X)
    local = qs.QuickShift(n_neighbors=300).fit(X)
    modal = qs.ModalRegressor(0.5, 0.5).fit(X, Y)
    line = qs.ModalRegressor(0.3, 0.5).fit(X[:, :1], Y)
    pair = qs.ModalRegressor(0.5, 0.5).fit(X[:2000], BOTH[:2000])
    samples = stages.prepare(X)
    density = kde.density_
    graph = stages.climb(samples, density)
    cut = stages.cut(graph, 1.5)
    forest = qs.segment_forest(PICTURE, bandwidth=3.0)
    parts = distributed.QuickShift(bandwidth=0.7, tau=1.5, n_partitions=4)
    np.save(folder / "X.npy", X)
    found: dict[str, tuple[Call, list[Any]]] = {}

    def add(name: str, call: Call, *kept: Any) -> None:
        found[name] = call, [X, Y, PICTURE, *kept]

    def fit(name: str, model: Any, *data: Any, **more: Any) -> None:
        add(name, lambda: unfitted(model).fit(*data, **more).__dict__)
        add(f"{name}, again", lambda: model.fit(*data, **more).__dict__, model)

    for jobs in (1, 2):
        fit(f"fit on {jobs} threads", qs.QuickShift(0.7, 1.5, rtol=0.0, n_jobs=jobs), X)
        fit(f"local fit on {jobs} threads", qs.QuickShift(n_neighbors=300, n_jobs=jobs), X)
    fit("fit by cross-validation", qs.QuickShift("cv"), X)
    fit("fit with many features", qs.QuickShift("auto"), WIDE)
    fit("fit with a period", qs.QuickShift(0.7, period=[20.0, 20.0]), X)
    fit("modal fit", qs.ModalRegressor(), X, Y)
    add("calibrate", lambda: modal.calibrate(X[:300], Y[:300]).__dict__, modal)
    add("fit in parts", lambda: parts.fit(folder / "X.npy").n_clusters_)
    for name, model in {"": kde, " by local scale": local}.items():
        for method in ("predict", "score_samples", "score", "predict_proba", "strength"):
            add(f"{method}{name}", lambda m=model, method=method: getattr(m, method)(X), model)
        add(f"recut{name}", lambda m=model: m.recut(tau=0.8).labels_, model)
        add(f"labels_at{name}", lambda m=model: m.labels_at(0.8), model)
        add(f"labels_for{name}", lambda m=model: m.labels_for(7), model)
    for kernel in ("gaussian", "epanechnikov", "exponential", "tricube"):
        add(
            f"{kernel} sums",
            lambda kernel=kernel: stages.estimate_density(samples, 0.7, kernel=kernel, rtol=0.0),
        )
    add("local_scale", lambda: stages.local_scale(samples, 300).r)
    add("climb", lambda: stages.climb(samples, density).parent)
    add("link", lambda: stages.link(samples, density, cut, 1.5).merges)
    add("known_tree", lambda: stages.known_tree(X, MIXTURE, n_cells=200).merges)
    add("diagnose", lambda: qs.diagnose(kde, theory=True).sentences, kde)
    add("merge_distortion", lambda: qs.merge_distortion(kde.tree_, local.tree_), kde, local)
    add("predict_modes", lambda: modal.predict_modes(X[:2000]).values, modal)
    add("predict_modes of two outputs", lambda: pair.predict_modes(X[:100]).values, pair)
    add("trace_branches", lambda: len(qs.trace_branches(line, GRID)), line)
    add("segment", lambda: qs.segment(PICTURE, bandwidth=3.0, tau=5.0))
    add("segment_forest", lambda: qs.segment_forest(PICTURE, bandwidth=3.0).parent)
    add("segment_tiles", lambda: qs.segment_tiles(PICTURE, bandwidth=3.0, tau=5.0, tile=100))
    add("boundary_strength", lambda: qs.boundary_strength(forest), forest)
    add("skimage", lambda: qs.compat.skimage.quickshift(PICTURE, kernel_size=3, rng=0))
    add("explore", lambda: qs.explore(kde, folder / "page.html", X=X), kde)
    add("save and load", lambda: saved(kde.tree_, folder / "tree.npz").merges, kde)
    add("display", lambda: plot.ClusterTreeDisplay.from_estimator(kde).centers, kde)
    return found


def unfitted(model: Any) -> Any:
    """Return an estimator that has not been fitted, with the same parameters."""
    return type(model)(**model.get_params())


def saved(tree: qs.ClusterTree, path: Path) -> qs.ClusterTree:
    tree.save(path)
    return qs.ClusterTree.load(path)


# Signals

PLACE = [""]  # where the last signal was heard


def hear(number: int, frame: FrameType | None) -> None:
    PLACE[0] = "".join(traceback.format_stack(frame)[-2:])
    raise KeyboardInterrupt


def send(connection: Any, target: int) -> None:
    """Send SIGINT after each delay that is received, and answer when."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while (delay := connection.recv()) is not None:
        time.sleep(delay)
        sent = time.monotonic()
        os.kill(target, signal.SIGINT)
        connection.send(sent)


@dataclass
class Interrupted:
    """What one signal led to."""

    seconds: float  # until the exception; infinite if there was none
    heard: bool  # False if the call had ended before


def interrupted(call: Call, delay: float, sender: Any) -> Interrupted:
    """Run a call that is interrupted after a while."""
    ended, heard = False, np.inf
    try:
        sender.send(delay)
        call()
        ended = True
        sender.poll(None)  # for the time of the signal, which comes now or was lost
        time.sleep(2 * PATIENCE)
    except KeyboardInterrupt:
        heard = time.monotonic()
    return Interrupted(heard - sender.recv(), not ended)


def threads() -> int:
    return len(os.listdir("/proc/self/task"))


def threads_left(before: int) -> int:
    """Count the threads that do not end within a second.

    The kernel lists a thread for a moment after it was joined. A thread of Python that converts
    colors ends after its part of the picture if Ctrl-C comes while it is joined.
    """
    patient_until = time.monotonic() + PATIENCE
    while threads() > before and time.monotonic() < patient_until:
        time.sleep(0.01)
    return max(threads() - before, 0)


def traces(objects: list[Any]) -> list[Any]:
    """Return the bytes of objects, and which attributes they hold."""
    return [
        ({name: id(value) for name, value in getattr(o, "__dict__", {}).items()}, pickle.dumps(o))
        for o in objects
    ]


def write(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=20)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", default="", help="a part of the name of a call")
    options = parser.parse_args()
    ours, theirs = Pipe()
    process = Process(target=send, args=(theirs, os.getpid()), daemon=True)
    process.start()
    signal.signal(signal.SIGINT, hear)
    faults = tried = heard = 0
    slowest = 0.0
    write(f"seed {options.seed}")
    with tempfile.TemporaryDirectory() as name:
        for place, (title, (call, kept)) in enumerate(calls(Path(name)).items()):
            if options.only not in title:
                continue
            rng = np.random.default_rng([options.seed, place])
            found, problems = trial(call, kept, options.tries, rng, ours)
            tried += len(found)
            heard += sum(one.heard for one in found)
            longest = max(one.seconds for one in found)
            slowest = max(slowest, longest)
            faults += len(problems)
            write("\n    ".join([f"{title}: {longest:.3f} s at most", *problems]))
    ours.send(None)
    write(
        f"seed {options.seed}: {tried} signals, {heard} of them before the call had ended; "
        f"{slowest:.3f} s at most; {faults} faults"
    )
    return int(faults > 0)


def trial(
    call: Call, kept: list[Any], tries: int, rng: np.random.Generator, sender: Any
) -> tuple[list[Interrupted], list[str]]:
    """Interrupt a call at random times; return what happened, and what was wrong."""
    call()  # so that everything that is kept has been allocated
    begin = time.monotonic()
    expected = pickle.dumps(call())
    duration = time.monotonic() - begin
    found, problems = [], []
    for delay in rng.uniform(0.0, duration, tries).tolist():
        n_threads, before = threads(), traces(kept)
        found.append(interrupted(call, delay, sender))
        gc.collect()
        after = f"after {delay:.4f} of {duration:.4f} s"
        if found[-1].seconds > PATIENCE:
            problems.append(f"{found[-1].seconds:.2f} s until it stopped, {after}: {PLACE[0]}")
        if left := threads_left(n_threads):
            names = [thread.name for thread in threading.enumerate()]
            problems.append(f"{left} threads left, {after}: {names}")
        if found[-1].heard and traces(kept) != before:
            problems.append(f"an argument or its estimator was changed, {after}")
    if pickle.dumps(call()) != expected:
        problems.append("another result afterwards")
    return found, problems


if __name__ == "__main__":
    sys.exit(main())
