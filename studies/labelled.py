"""Study "labelled": default settings of clusterers on data whose clusters are known.

There are two lists of data sets. The results on the development list (labelled_sets.py) may guide
changes of our rule. The second list (labelled_second.py) is only run after the rule is frozen, and
so only by the full form. The clusterers are those of labelled_methods.py.

The score is the adjusted Rand index over the points that have a true label; the points that a
method labels as noise count as one cluster of their own. A method that fails on a draw gets a dash
for that set, and the reason is written below the table.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from studies import labelled_second, labelled_sets
from studies.labelled_methods import GIVEN_K, LARGEST, METHODS, OURS
from studies.tables import Row, markdown, select, values

Floats = NDArray[np.float64]
Job = tuple[Any, ...]

TITLE = "Clusters without parameters"
CLAIM = "default settings find clusters that are known (not in the paper)"
CONDITION = "none; the second list was fixed before our rules were measured on it"
SIZE = (9.0, 4.0)

LISTS = {"development": labelled_sets.SETS, "second": labelled_second.SETS}
PACKAGES = ("scikit-learn", "fast_hdbscan", "gudhi", "pydpc")
# The quick form leaves these out. fast_hdbscan compiles itself when it is first used.
SLOW = ("fast_hdbscan", "MeanShift()", "OPTICS()")
FAR = 0.1  # the page names the sets on which a peer is better than ours by more than this


@dataclass(frozen=True)
class Form:
    """Lists, draws of each set, and whether slow peers run."""

    lists: tuple[str, ...]
    seeds: int
    slow: bool


FORMS = {
    "quick": Form(("development",), 2, slow=False),
    "middle": Form(("development",), 3, slow=True),
    "full": Form(("development", "second"), 10, slow=True),
}


def jobs(form: Form) -> list[Job]:
    """List one job per data set and seed, and one for the versions of the packages."""
    methods = tuple(name for name in METHODS if form.slow or name not in SLOW)
    draws = [
        ("draw", of_list, name, seed, methods)
        for of_list in form.lists
        for name in LISTS[of_list]
        for seed in range(form.seeds)
    ]
    return [("packages",), *draws]


def measure(job: Job) -> list[Row]:
    """Return the rows of one job: a score, or the reason why there is none, per method."""
    part, *rest = job
    return measure_draw(*rest) if part == "draw" else measure_packages()


def measure_packages() -> list[Row]:
    """Return the version of each package of a peer."""
    return [{"part": "package", "package": f"{name} {version_of(name)}"} for name in PACKAGES]


def version_of(package: str) -> str:
    """Return the version of a package, or say that it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "(not installed)"


def measure_draw(of_list: str, name: str, seed: int, methods: tuple[str, ...]) -> list[Row]:
    """Score every method on one draw of a set."""
    X, y = LISTS[of_list][name](seed)
    row = {"part": "score", "list": of_list, "set": name, "seed": seed}
    return [row | {"method": method} | result_of(method, X, y) for method in methods]


def result_of(method: str, X: Floats, y: NDArray[np.int64]) -> Row:
    """Return the score of a method, or the reason why it has none."""
    if len(X) > LARGEST.get(method, len(X)):
        most = f"{LARGEST[method]} samples"
        return {"reason": f"not run on more than {most}, to save time and memory"}
    known = y >= 0
    try:
        labels = labels_by(method, X, len(np.unique(y[known])))
        return {"score": float(adjusted_rand_score(y[known], labels[known]))}
    except ModuleNotFoundError:
        return {"reason": "its package is not installed"}
    except Exception as error:  # a peer may raise anything
        return {"reason": f"{type(error).__name__}: {error}".splitlines()[0]}


def labels_by(method: str, X: Floats, k: int) -> NDArray[np.int64]:
    """Run a method on a copy of the points, on one thread because each core has its process."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as non-convergence, which lowers the score anyway
        return np.asarray(METHODS[method](X.copy(), k))


@dataclass(frozen=True)
class Scores:
    """The scores on one list: NaN where a method failed."""

    sets: list[str]
    methods: list[str]
    scores: Floats  # (sets, seeds, methods)
    failures: dict[tuple[str, str], list[str]]  # (method, reason) -> sets

    @cached_property
    def by_set(self) -> Floats:
        """Mean over the seeds; shape (sets, methods). NaN if a method failed on one of them."""
        found = np.full((len(self.sets), len(self.methods)), np.nan)
        for place in np.ndindex(found.shape):
            scores = self.scores[place[0], :, place[1]]
            found[place] = mean_of(scores[np.isfinite(scores)])
        for (method, _), sets in self.failures.items():
            found[[self.sets.index(name) for name in sets], self.methods.index(method)] = np.nan
        return found

    def of_method(self, method: str) -> Floats:
        """Return the mean scores of a method, one per set on which it did not fail."""
        means: Floats = self.by_set[:, self.methods.index(method)]
        return means[np.isfinite(means)]

    def mean(self, method: str) -> float:
        """Return the mean over the sets on which the method did not fail; NaN without any."""
        return mean_of(self.of_method(method))

    def worst(self, method: str) -> float:
        """Return the score on the worst set; NaN without any."""
        some = self.of_method(method)
        return float(some.min()) if len(some) else np.nan

    def spread(self, method: str) -> float:
        """Return the standard deviation over the seeds of the mean over the sets; NaN for one."""
        place = self.methods.index(method)
        some = self.scores[np.isfinite(self.by_set[:, place]), :, place]
        means = some[:, np.isfinite(some).all(axis=0)].mean(axis=0) if len(some) else []
        return float(np.std(means, ddof=1)) if len(means) > 1 else np.nan

    def peers(self) -> list[str]:
        """List the methods of others that are not told k and have a score on some set."""
        others = [m for m in self.methods if m not in GIVEN_K and not m.startswith("QuickShift")]
        return [method for method in others if len(self.of_method(method))]


def mean_of(scores: Floats) -> float:
    """Return the mean; NaN without any scores."""
    return float(scores.mean()) if len(scores) else np.nan


def scores_of(rows: list[Row], of_list: str) -> Scores:
    """Arrange the rows of a list."""
    some = select(rows, part="score", list=of_list)
    sets, methods, seeds = (values(some, name) for name in ("set", "method", "seed"))
    found = np.full((len(sets), len(seeds), len(methods)), np.nan)
    failures: dict[tuple[str, str], list[str]] = {}
    for row in some:
        place = sets.index(row["set"]), seeds.index(row["seed"]), methods.index(row["method"])
        found[place] = row.get("score", np.nan)
        if "reason" in row:
            where = failures.setdefault((row["method"], row["reason"]), [])
            where += [row["set"]] if row["set"] not in where else []
    return Scores(sets, methods, found, failures)


def cell(score: float, digits: int = 2) -> str:
    """Format a score; a dash stands for a missing one."""
    return f"{score:z.{digits}f}" if np.isfinite(score) else "–"


def table(found: Scores) -> str:
    """Return a Markdown table: one row per data set, then mean, spread and worst."""
    incomplete = {method for method, _ in found.failures}
    means = [f"{cell(found.mean(m))}{' *' if m in incomplete else ''}" for m in found.methods]
    lines = [
        ["set", *found.methods],
        *([name, *map(cell, row)] for name, row in zip(found.sets, found.by_set, strict=True)),
        ["**mean**", *means],
        ["**spread**", *(cell(found.spread(m), 3) for m in found.methods)],
        ["**worst**", *(cell(found.worst(m)) for m in found.methods)],
    ]
    return markdown(lines)


def remarks(found: Scores) -> str:
    """Say which methods failed, and how ours compares with the peers."""
    failures = [failure(found, *pair) for pair in found.failures]
    return "\n\n".join([*failures, lead(found), far_better(found)])


def failure(found: Scores, method: str, reason: str) -> str:
    """Say on which sets a method has no score, and why."""
    sets = found.failures[method, reason]
    if len(sets) == len(found.sets):
        return f"\\* {method} has no scores: {reason}."
    return f"\\* The mean of {method} leaves out *{'*, *'.join(sets)}*: {reason}."


def lead_over(found: Scores, peer: str) -> float:
    """Return our mean minus that of a peer, on the sets on which both have one."""
    ours, theirs = (found.by_set[:, found.methods.index(method)] for method in (OURS, peer))
    return float(np.nanmean(ours - theirs))


def strongest(found: Scores) -> str:
    """Return the peer over which our lead is least."""
    return min(found.peers(), key=lambda peer: lead_over(found, peer))


def lead(found: Scores) -> str:
    """Compare ours with the strongest peer, over all draws and draw by draw."""
    peer = strongest(found)
    text = (
        f"The strongest peer without k is {peer}: on the same sets, the mean of {OURS} minus its "
        f"mean is {lead_over(found, peer):.3f}"
    )
    ours, theirs = (found.scores[:, :, found.methods.index(m)] for m in (OURS, peer))
    both = np.isfinite(found.by_set[:, found.methods.index(peer)])
    by_seed = (ours - theirs)[both].mean(axis=0)
    by_seed = by_seed[np.isfinite(by_seed)]
    if len(by_seed) > 1:
        text += f", and between {by_seed.min():.3f} and {by_seed.max():.3f} for single seeds"
    return text + "."


def far_better(found: Scores) -> str:
    """List the sets on which the best peer is far better than ours."""
    peers = found.peers()
    columns = [found.methods.index(peer) for peer in peers]
    better = []
    for name, means in zip(found.sets, found.by_set, strict=True):
        best = int(np.nanargmax(means[columns]))
        ours, theirs = means[found.methods.index(OURS)], means[columns[best]]
        if theirs > ours + FAR:
            better.append(f"*{name}* ({peers[best]}, {theirs:.2f} instead of {ours:.2f})")
    where = ", ".join(better) if better else "none"
    return f"Sets on which a peer without k scores more than {FAR} above {OURS}: {where}."


def tables(rows: list[Row]) -> dict[str, str]:
    """Return the tables and remarks of the page; a list that was not run gets a word instead."""
    scored = select(rows, part="score")
    of_one_set = select(scored, list=scored[0]["list"], set=scored[0]["set"], method=OURS)
    fields = {
        "packages": ", ".join(row["package"] for row in select(rows, part="package")),
        "draws": str(len(of_one_set)),
    }
    for of_list in LISTS:
        if select(scored, list=of_list):
            found = scores_of(rows, of_list)
            fields |= {of_list: table(found), f"{of_list}_remarks": remarks(found)}
        else:
            fields |= {of_list: "This form does not run the list.", f"{of_list}_remarks": ""}
    return fields


def summary(rows: list[Row]) -> str:
    """Return the measured figures in one sentence."""
    parts = []
    for of_list in values(select(rows, part="score"), "list"):
        found = scores_of(rows, of_list)
        means = (f"{method} {found.mean(method):.2f}" for method in (OURS, strongest(found)))
        parts.append(f"{of_list} list: {' and '.join(means)}")
    return f"mean adjusted Rand index of {OURS} and of the strongest peer: " + "; ".join(parts)


def draw(rows: list[Row], figure: Any) -> None:
    """Draw the scores of every method: a dot per set and the mean, one panel per list."""
    lists = values(select(rows, part="score"), "list")
    axes = figure.subplots(1, len(lists), squeeze=False, sharey=True)[0]
    for ax, of_list in zip(axes, lists, strict=True):
        found = scores_of(rows, of_list)
        for place, method in enumerate(found.methods):
            scores = found.of_method(method)
            color = "C0" if method.startswith("QuickShift") else "C7"
            ax.plot(scores, np.full(len(scores), place), "o", ms=3, alpha=0.35, color=color)
            ax.plot(found.mean(method), place, "|", ms=14, mew=2.5, color=color)
        ax.set(xlabel="adjusted Rand index (dots: sets, bars: means)", xlim=(-0.1, 1.03))
        ax.set_title(f"{of_list} list")
    axes[0].set_yticks(range(len(found.methods)), found.methods)
    axes[0].invert_yaxis()
