"""Write docs/benchmarks.md and its plots from benchmarks/results.json; run by `make bench`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import plots
import results
from measure import Spread
from peers import PEERS
from rows import SECTIONS

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent / "docs"
PICTURES = DOCS / "_static" / "benchmarks"
ROUNDS = 5  # fewer rounds make a number unreliable

Result = dict[str, Any]

HEADINGS = {
    "fits": (
        "Fits",
        "The time of `QuickShift.fit`, labels included. cKDTree and NearestNeighbors only find the "
        "ten nearest neighbors of each point, which is the first step of other density methods. "
        "The other peers cluster, all with default settings. The parameters of our fits are listed "
        "in benchmarks/rows.py: h = 0.3 in two dimensions, 0.5 in three, 1 in five and eight, 5 in "
        "64.",
    ),
    "defaults": (
        "Without parameters",
        "The time of `QuickShift().fit`. One Gaussian has one cluster, so three numbers of "
        "neighbors are tried, which takes about three times as long as one. Memory is the peak "
        "memory of a fresh process, without the data themselves.",
    ),
    "densities": (
        "Densities",
        "Gaussian densities at the points with h = 0.3 and a relative error of 1e-4; the peers are "
        "given the same tolerance. The tolerance row divides our time with rtol 1e-9 by our time "
        "with rtol 0, for two kernels, three dimensions and bandwidths from 0.01 to the diameter "
        "of the data, and shows the worst ratio.",
    ),
    "three": (
        "Three and more dimensions",
        "Fits with Gaussian kernels. The rows with a given h are measured on ten data sets of "
        "scikit-learn's make_blobs (20 centers in a box of 40, seeds 0 to 9), and show the "
        'largest ratio. auto is `bandwidth="auto"`.',
    ),
    "kernels": (
        "Other kernels",
        'The time of a fit with `bandwidth="auto"`, divided by that of the same fit with the '
        "Gaussian kernel. The largest ratio of four data sets is shown. The growth rows give the "
        "exponent p of a running time that grows as n to the power of p.",
    ),
    "scale": (
        "Scale",
        "The growth row gives the exponent p of a running time that grows as n to the power of p; "
        "the bandwidth shrinks with n, so that a point keeps about 500 neighbors, and the time "
        "shown is that of the larger data. The thread rows time the compiled stages. Memory is the "
        "peak memory of a fresh process, without the data themselves.",
    ),
    "links": (
        "Cluster trees",
        "The time to link the cluster tree of all levels after a fit with h = 0.3, divided by the "
        "time of the fit. With tau equal to the median distance to the nearest neighbor there are "
        "hundreds of thousands of basins to link. With tau = 10 h, points are linked one after "
        "another in the order of their heights, which bounds the time on data with plateaus.",
    ),
    "images": (
        "Images",
        "Segmenting a color image (scikit-image's astronaut; the larger image repeats it and its "
        "mirror images), including the conversion to Lab. The time of scikit-image is always that "
        "of 512 x 512 pixels, in the rows of the larger image as well. `segment` is the exact "
        "algorithm, `compat` returns scikit-image's labels. In the row with float32, both get a "
        "picture of that type.",
    ),
    "AVX2": (
        "Without AVX-512",
        "Rows of other tables with our code restricted to AVX2, as on machines that have no "
        "AVX-512 (`QUICKSHIFT_INSTRUCTION_SET=v3`). A bound is 1.25 times as loose as with "
        "AVX-512.",
    ),
    "modal": (
        "Modal regression",
        "`ModalRegressor.predict` of a fitted model, which finds all modes of each query (unlike "
        "`predict_modes`, without their probabilities), with about 1000 samples in the window "
        "of a query and the bandwidth of y chosen by the rule. SciPy's query_ball_point only "
        "counts the samples in the same windows. The NumPy version of Algorithm 3 searches for "
        "modes among the responses in the window only, whereas ours searches among all responses.",
    ),
    "shapes": ("Other shapes", "Seed spreaders, a uniform square, moons and circles."),
    "adversarial": (
        "Adversarial data",
        "Each of these data sets has made some tree or some search fail or become very slow. The "
        "row with equal points has no peer, because cKDTree puts them into one leaf and compares "
        "all pairs.",
    ),
    "made up": (
        "Data made up against an algorithm",
        "Data that make a call slow, found by attacks and by the search of "
        "benchmarks/adversarial.py ([testing](testing.md)). The result is the time on these data "
        "divided by the time of the same call on a Gaussian sample of the same size. The calls are "
        "the construction of the tree for hashes and orders, the local scale or a fit for narrow "
        "groups, and a fit with an automatic bandwidth for long tails.",
    ),
    "tiny": ("Tiny data", "Fits of a few points, around the size of a leaf of the tree."),
    "choices": (
        "Choice of the method",
        "Kernel sums, parents, links, local scales and pictures can be computed by several methods "
        "that give the same values, and the core estimates which is the fastest. On random "
        "workloads (1e3 to 2e6 points, 1 to 16 features, eight shapes, all kernels, bandwidths of "
        "four orders of magnitude) all methods are timed. The result is the time of the chosen "
        "method divided by that of the fastest, in CPU time on one thread, over the workloads on "
        "which the chosen method takes more than 2 ms. There is one method for conditional modes, "
        "and thus no choice. The seeds are listed in benchmarks/rows.py; `make choices` runs "
        "others.",
    ),
    "methods": (
        "Data on which the wrong method was chosen",
        "On data like these, the method chosen for the Gaussian kernel sums was once up to 30 "
        "times slower than the best. The result is the time of the chosen method divided by that "
        "of the best other one, which is named; both use two threads. The largest ratio of a few "
        "seeds is shown.",
    ),
    "starts": (
        "Startup",
        "Measured in fresh processes: the time that an import takes in addition to importing "
        "NumPy, and the time of the first fit after the import.",
    ),
}

INTRODUCTION = """\
# Benchmarks

This page compares the speed and the memory use of quickshift with those of other packages.

A time alone says more about the machine than about the code. Therefore our code and a peer are
timed alternately, in the same run. Unless a unit says otherwise, the column *result* is our time
divided by the peer's: *below one means that we are faster*. A bound is the limit that we want the
result to keep; the table says whether it does. Times of the same call differ between tables because
of other work on the machine, so compare ratios rather than times. `make bench` writes this page.
"""

METHOD = """\
## How it is measured

- Our code and the peer run alternately, and the ratio is taken within each round. Usually there
  are five rounds, and fewer where a row would take minutes; the column *rounds* gives the number.
  Tables show the median, with the quartiles in brackets. Plots show the median and a band between
  the quartiles.
- Each function runs in a process of its own. Before the clock starts, it has been imported,
  compiled and called once on 500 points. Calls shorter than 50 ms are repeated, and their mean is
  taken.
- The data are in double precision. Unless a row says otherwise they are blobs: twenty Gaussians of
  standard deviation one with centers in [-20, 20]^d, from
  `quickshift.datasets.blobs(n, d, seed=0)`. `1e6x2` means a million points in the plane.
- A peer is measured up to the number of points that it finishes in about a minute.
- {cpus} cores, {system} on {architecture}, instruction set {instruction_sets}, Python {python};
  measured {dates}.
"""

MADE = "<!-- Written by benchmarks/page.py from benchmarks/results.json: run `make bench`. -->\n"


def main() -> None:
    """Write the plots and the page."""
    found = results.load(HERE / "results.json")
    PICTURES.mkdir(parents=True, exist_ok=True)
    curves = [row for row in found["rows"].values() if "lines" in row]
    for curve in curves:
        for theme in (plots.LIGHT, plots.DARK):
            plots.draw(curve, theme, PICTURES / picture(curve, theme))
    (DOCS / "benchmarks.md").write_text(page(found, curves))


def picture(curve: Result, theme: plots.Theme) -> str:
    """Return the name of a plot's file."""
    return f"{curve['name'].removeprefix('curve ')}-{theme.name}.svg"


def page(found: Result, curves: list[Result]) -> str:
    """Return the whole page."""
    parts = [MADE, INTRODUCTION, doubts(found), "## Time against size\n"]
    parts += [plot(curve) for curve in curves]
    for section in SECTIONS:
        rows = [row for row in found["rows"].values() if row["section"] == section]
        if rows:
            title, text = HEADINGS[section]
            parts += [f"## {title}\n\n{text}\n", table(rows)]
            parts += [worst_table(row) for row in rows if "worst" in row]
    return "\n".join([*parts, method(found), peer_table(found), left_out(found)]).rstrip() + "\n"


def doubts(found: Result) -> str:
    """Warn about unreliable rows: those with too few rounds or measured on a busy machine."""
    rows = found["rows"].values()
    few = sum(fewest_rounds(row) < ROUNDS for row in rows)
    busy = sum(row["load"] is None or row["load"] > found["cpus"] + 1 for row in rows)
    if not few and not busy:
        return ""
    return (
        f"```{{warning}}\nOf {len(rows)} rows, {few} contain a number with fewer than {ROUNDS} "
        f"rounds, and {busy} were started while the machine was, or may have been, busy with other "
        "work.\n```\n"
    )


def fewest_rounds(row: Result) -> int:
    """Return the fewest rounds of any number in a row; of a curve only the first point counts."""
    firsts = [line["points"][0] for line in row.get("lines", {}).values() if line["points"]]
    counts = [number["rounds"] for number in row.get("numbers", []) if "rounds" in number]
    return min([*counts, *(point["rounds"] for point in firsts)], default=ROUNDS)


def plot(curve: Result) -> str:
    """Return a heading and the plot in both themes."""
    pictures = [
        f"```{{image}} _static/benchmarks/{picture(curve, theme)}\n"
        f":class: only-{theme.name}\n:alt: {alternative(curve)}\n```\n"
        for theme in (plots.LIGHT, plots.DARK)
    ]
    return "\n".join([f"### {curve['title']}\n", *pictures])


def alternative(curve: Result) -> str:
    """Describe the right end of each line of the plot in words."""
    ends = [
        f"{name} {seconds(line['points'][-1]['seconds']['median'])} for {line['points'][-1]['n']}"
        for name, line in curve["lines"].items()
        if line["points"]
    ]
    return f"{curve['title']}, log-log, seconds against points: " + "; ".join(ends)


def table(rows: list[Result]) -> str:
    """Return a table with one line per number."""
    if not any(row["numbers"] for row in rows):
        lines = [[row["name"], seconds(row["seconds"]["median"])] for row in rows]
        return markdown(["row", "time"], lines)
    head = ["row", "ours", "compared with", "its time", "result", "bound, met?", "rounds"]
    return markdown(*without_empty(head, [line for row in rows for line in number_lines(row)]))


def worst_table(row: Result) -> str:
    """Return the workloads for which the worst methods were chosen."""
    head = ["result", "stage", "workload", "CPU times", "refused grid"]
    lines = [
        [f"{w['regret']:.2f}", w["stage"], w["workload"], w["times"], w["refused"]]
        for w in row["worst"]
    ]
    return (
        f"For {row['refusals']} of all workloads drawn, a grid was estimated to be faster but "
        "refused, because it needs more memory than [decision 33](decisions/33-scratch.md) admits. "
        "The largest results, of all stages:\n\n" + markdown(*without_empty(head, lines))
    )


def number_lines(row: Result) -> Iterable[list[str]]:
    """Yield the cells of each number of a row; only the first line has the name of the row."""
    if not row["numbers"]:
        yield [row["name"], seconds(row["seconds"]["median"]), "", "", "", "", ""]
    for i, number in enumerate(row["numbers"]):
        name = "" if i else row["name"]
        if "skipped" in number:
            yield [name, "", number["what"], "", f"not measured: {number['skipped']}", "", ""]
            continue
        mine = number.get("seconds", row.get("seconds"))
        theirs = number.get("peer_seconds")
        unit = "" if number["unit"] == "ratio" else f" {number['unit']}"
        yield [
            name,
            seconds(mine["median"]) if mine else "",
            number["what"],
            seconds(theirs["median"]) if theirs else "",
            f"{Spread(**number['value'])}{unit}",
            f"{number['bound']}: {'yes' if number['met'] else '**no**'}"
            if "bound" in number
            else "",
            str(number.get("rounds", 1)),
        ]


def without_empty(head: list[str], lines: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Drop the columns in which all cells below the heading are empty."""
    kept = [i for i in range(len(head)) if any(line[i] for line in lines)]
    return [head[i] for i in kept], [[line[i] for i in kept] for line in lines]


def method(found: Result) -> str:
    """Return the section on how the numbers were measured."""
    dates = sorted({row["date"] for row in found["rows"].values()})
    period = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    sets = sorted({row["instruction_set"] for row in found["rows"].values()})
    return METHOD.format(**found, dates=period, instruction_sets=" and ".join(sets))


def peer_table(found: Result) -> str:
    """Return the section that lists the peers, their versions and what is timed."""
    versions = found["versions"]
    lines = [
        [p.name, p.package, versions.get(p.package) or "not installed", p.does, f"{p.largest:.0e}"]
        for p in PEERS.values()
    ]
    ours = f"quickshift {versions['quickshift']}, NumPy {versions['numpy']}."
    head = ["peer", "package", "version", "what is timed", "up to n"]
    return f"## Peers\n\n{ours}\n\n{markdown(head, lines)}"


def left_out(found: Result) -> str:
    """List the lines of the plots that stopped early, and the reasons."""
    lines = [
        f"- {row['title']}: {name}: {line['stopped']}"
        for row in found["rows"].values()
        for name, line in row.get("lines", {}).items()
        if "stopped" in line
    ]
    return "\n".join(["Missing from the plots:\n", *lines]) if lines else ""


def markdown(head: list[str], lines: Iterable[list[str]]) -> str:
    """Return a Markdown table."""
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows) + "\n"


def seconds(value: float) -> str:
    """Format a time in seconds, milliseconds or microseconds."""
    if value >= 0.9995:
        return f"{value:.3g}\N{NO-BREAK SPACE}s"
    scale, unit = (1e3, "ms") if value >= 0.9995e-3 else (1e6, "µs")
    return f"{scale * value:.3g}\N{NO-BREAK SPACE}{unit}"


if __name__ == "__main__":
    main()
