"""Score clusterings on data whose clusters are known, and write the tables of docs/labelled.md.

    python benchmarks/labelled.py                      everything, and writes the page: half an hour
    python benchmarks/labelled.py --only quickshift    while a rule is developed: half a minute
    python benchmarks/labelled.py --only quickshift --seeds 10:20

There are two lists of data sets. The results on the development list (labelled_sets.py) may guide
changes of our rule. The second list (labelled_second.py) is only run after the rule is frozen, so
``--only`` leaves it out unless ``--list second`` asks for it. The clusterers are those of
labelled_methods.py.

The score is the adjusted Rand index over the points that have a true label; the points that a
method labels as noise count as one cluster of their own. A method that fails on a draw gets a dash
for that set, and the reason is printed and written below the table.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

import labelled_second
import labelled_sets
from labelled_methods import GIVEN_K, LARGEST, METHODS, OURS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "labelled.md"
LISTS = {"development": labelled_sets.SETS, "second": labelled_second.SETS}
PACKAGES = ("scikit-learn", "fast_hdbscan", "gudhi", "pydpc")
FAR = 0.1  # the page names the sets on which a peer is better than ours by more than this

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Scores:
    """The scores on one list: NaN where a method failed, with the reasons of the failures."""

    sets: list[str]
    methods: list[str]
    seeds: range
    values: Floats  # (sets, seeds, methods)
    failures: dict[tuple[str, str], list[str]]  # (method, reason) -> sets
    seconds: Floats  # (methods,), over all draws

    @property
    def by_set(self) -> Floats:
        """Mean over the seeds; shape (sets, methods). NaN if a method failed on one of them."""
        return self.values.mean(axis=1)

    def over_sets(self, reduce: Callable[[Floats], float]) -> list[float]:
        """Reduce the scores (sets, seeds) of each method, without the sets on which it failed."""
        succeeded = np.isfinite(self.by_set).T
        columns = zip(self.values.transpose(2, 0, 1), succeeded, strict=True)
        return [reduce(column[rows]) if rows.any() else np.nan for column, rows in columns]

    @property
    def mean(self) -> list[float]:
        """Mean over the sets, one per method."""
        return self.over_sets(np.mean)

    @property
    def spread(self) -> list[float]:
        """Standard deviation over the seeds of the mean over the sets, one per method."""
        if len(self.seeds) == 1:
            return [np.nan] * len(self.methods)
        return self.over_sets(lambda scores: scores.mean(axis=0).std(ddof=1))

    @property
    def worst(self) -> list[float]:
        """Score on the worst set, one per method."""
        return self.over_sets(lambda scores: scores.mean(axis=1).min())


# --- measuring -----------------------------------------------------------------------------------


def judge(methods: Sequence[str], job: tuple[str, str, int]) -> list[tuple[float, str, float]]:
    """Return score, reason of failure (or "") and seconds of each method on one draw of a set."""
    of_list, name, seed = job
    X, y = LISTS[of_list][name](seed)
    known = y >= 0
    k = len(np.unique(y[known]))
    results = []
    for method in methods:
        score, reason, start = np.nan, "", time.perf_counter()
        if len(X) > LARGEST.get(method, len(X)):
            reason = f"not run on more than {LARGEST[method]} samples, to save time and memory"
        else:
            try:
                labels = labels_by(method, X, k)
                score = float(adjusted_rand_score(y[known], labels[known]))
            except Exception as error:  # a peer may raise anything
                reason = f"{type(error).__name__}: {error}".splitlines()[0]
        results.append((score, reason, time.perf_counter() - start))
    return results


def labels_by(method: str, X: Floats, k: int) -> NDArray[np.int64]:
    """Run a method on a copy of the points, on one thread because each core has its process."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as non-convergence, which lowers the score anyway
        return np.asarray(METHODS[method](X.copy(), k))


def measure(pool: ProcessPoolExecutor, of_list: str, methods: list[str], seeds: range) -> Scores:
    """Score the methods on all draws of a list, and print the scores on each set."""
    print(f"\n{of_list} list, {described(seeds)}: {', '.join(methods)}", flush=True)
    sets = list(LISTS[of_list])
    done = pool.map(partial(judge, methods), [(of_list, s, seed) for s in sets for seed in seeds])
    values, failures, seconds = [], {}, np.zeros(len(methods))
    for name in sets:
        draws = [next(done) for _ in seeds]
        values.append([[score for score, _, _ in draw] for draw in draws])
        seconds += np.sum([[time for _, _, time in draw] for draw in draws], axis=0)
        print(f"{name:28}", *(f"{score:5.2f}" for score in np.mean(values[-1], axis=0)), flush=True)
        for method, reason in failed(methods, draws):
            print(f"    {method} failed: {reason}", flush=True)
            failures[method, reason] = [*failures.get((method, reason), []), name]
    return Scores(sets, methods, seeds, np.array(values), failures, seconds)


def failed(
    methods: list[str], draws: list[list[tuple[float, str, float]]]
) -> list[tuple[str, str]]:
    """Return the distinct pairs of method and reason among the failures on the draws of a set."""
    pairs = (
        (method, reason)
        for draw in draws
        for method, (_, reason, _) in zip(methods, draw, strict=True)
        if reason
    )
    return list(dict.fromkeys(pairs))


# --- writing -------------------------------------------------------------------------------------


def described(seeds: range) -> str:
    """Describe the seeds in words."""
    return f"seeds {seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else f"seed {seeds[0]}"


def cells(values: Sequence[float], digits: int = 2) -> list[str]:
    """Format scores; a dash stands for a missing one."""
    return [f"{value:.{digits}f}" if np.isfinite(value) else "–" for value in values]


def table(scores: Scores) -> str:
    """Return a Markdown table: one row per data set, then mean, spread and worst."""
    partial_mean = ~np.isfinite(scores.by_set).all(axis=0)
    means = [
        f"{mean} *" if not_all else mean
        for mean, not_all in zip(cells(scores.mean), partial_mean, strict=True)
    ]
    lines = [
        ["set", *scores.methods],
        ["---"] * (len(scores.methods) + 1),
        *([name, *cells(row)] for name, row in zip(scores.sets, scores.by_set, strict=True)),
        ["**mean**", *means],
        ["**spread**", *cells(scores.spread, 3)],
        ["**worst**", *cells(scores.worst)],
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def remarks(scores: Scores) -> list[str]:
    """Say what was measured, which methods failed, and how ours compares with the peers."""
    packages = ", ".join(f"{package} {version_of(package)}" for package in PACKAGES)
    failures = [
        f"\\* The mean of {method} leaves out *{'*, *'.join(sets)}*: {reason}."
        for (method, reason), sets in scores.failures.items()
    ]
    seeds = described(scores.seeds)
    return [f"Measured with {seeds}; {packages}.", *failures, lead(scores), far_better(scores)]


def without_k(scores: Scores) -> tuple[Floats, dict[str, Floats]]:
    """Return our scores (sets, seeds) and those of each peer that is not told k."""
    columns = dict(zip(scores.methods, scores.values.transpose(2, 0, 1), strict=True))
    peers = [m for m in columns if m not in GIVEN_K and not m.startswith("QuickShift")]
    return columns[OURS], {peer: columns[peer] for peer in peers}


def lead(scores: Scores) -> str:
    """Compare ours with the strongest peer by draws, on the sets on which both have a score."""
    ours, peers = without_k(scores)
    leads = {}
    for peer, theirs in peers.items():
        difference = (ours - theirs)[np.isfinite(ours - theirs).all(axis=1)]
        if len(difference):
            leads[peer] = difference.mean(axis=0)
    peer = min(leads, key=lambda name: leads[name].mean())
    low, high = leads[peer].min(), leads[peer].max()
    return (
        f"The strongest peer without k is {peer}: on the same sets, the mean of {OURS} minus its "
        f"mean is {leads[peer].mean():.3f}, and between {low:.3f} and {high:.3f} for single seeds."
    )


def far_better(scores: Scores) -> str:
    """List the sets on which the best peer is far better than ours."""
    ours, peers = without_k(scores)
    better = []
    for i, name in enumerate(scores.sets):
        means = {peer: theirs[i].mean() for peer, theirs in peers.items()}
        best = max(means, key=lambda peer: np.nan_to_num(means[peer], nan=-1.0))
        if means[best] > ours[i].mean() + FAR:
            compared = f"{means[best]:.2f} instead of {ours[i].mean():.2f}"
            better.append(f"*{name}* ({best}, {compared})")
    where = ", ".join(better) if better else "none"
    return f"Sets on which a peer without k scores more than {FAR} above {OURS}: {where}."


def version_of(package: str) -> str:
    """Return the version of a package, or say that it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "(not installed)"


def write_page(of_list: str, scores: Scores) -> None:
    """Put the table of a list and the remarks on it between the markers of that list."""
    start, end = f"<!-- {of_list} list -->", f"<!-- end of {of_list} list -->"
    before, rest = PAGE.read_text(encoding="utf-8").split(start)
    after = rest.split(end)[1]
    text = "\n\n".join([table(scores), *remarks(scores)])
    PAGE.write_text(f"{before}{start}\n{text}\n{end}{after}", encoding="utf-8")


# --- command line --------------------------------------------------------------------------------


def seeds_from(text: str) -> range:
    """Read "0:10" as the seeds 0 to 9, and "3" as the seed 3 alone."""
    first, _, end = text.partition(":")
    seeds = range(int(first), int(end) if end else int(first) + 1)
    if not seeds:
        raise argparse.ArgumentTypeError(f"{text!r} contains no seed; write first:end as in 0:10")
    return seeds


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", choices=LISTS, help="run one list; default: both")
    parser.add_argument("--seeds", type=seeds_from, default=range(10), help="default: 0:10")
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="TEXT",
        help="run the methods whose name contains one of these; prints, but does not write the "
        "page; without --list, runs only the development list",
    )
    parser.add_argument("--print", action="store_true", help="do not write the page")
    parser.add_argument("--jobs", type=int, help="number of processes; default: one per core")
    return parser.parse_args()


def main() -> None:
    """Score the chosen methods on the chosen lists, print the scores and write the page."""
    args = arguments()
    parts = [text.lower() for text in args.only or [""]]
    methods = [name for name in METHODS if any(part in name.lower() for part in parts)]
    if not methods:
        raise SystemExit(f"--only {' '.join(args.only)} matches none of: {', '.join(METHODS)}")
    lists = [args.list] if args.list else ["development"] if args.only else list(LISTS)
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")  # fast_hdbscan in one process per core
    with ProcessPoolExecutor(args.jobs) as pool:
        for of_list in lists:
            scores = measure(pool, of_list, methods, args.seeds)
            columns = cells(scores.mean, 3), cells(scores.spread, 3), scores.seconds
            for method, mean, spread, seconds in zip(methods, *columns, strict=True):
                print(f"{method:20} mean {mean}, spread {spread}, {seconds:7.1f} s")
            if not args.only and not args.print:
                write_page(of_list, scores)


if __name__ == "__main__":
    main()
