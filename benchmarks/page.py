"""Write docs/benchmarks.md and its plots from the file of results; `make bench` calls it."""

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
ROUNDS = 5  # that a number needs to be leaned on

Result = dict[str, Any]

HEADINGS = {
    "fits": (
        "Fits",
        "`QuickShift.fit`, labels included. The trees and NearestNeighbors only find the ten "
        "nearest neighbours of each point, which is where other density methods begin; the others "
        "cluster, all with default settings. What our fits are given stands in benchmarks/rows.py: "
        "h = 0.3 in two dimensions, 0.5 in three, 1 in five and eight, 5 in 64.",
    ),
    "densities": (
        "Densities",
        "Gaussian densities at the points, to a relative error of 1e-4 with h = 0.3, as asked of "
        "the peers. The tolerance row sums with rtol 1e-9 and with rtol 0 for two kernels, three "
        "dimensions and bandwidths from 0.01 to the diameter, and shows the worst ratio.",
    ),
    "scale": (
        "Scale",
        "Growth keeps about 500 neighbours a point and is the exponent of n; its time is that of "
        "the larger data. Threads are timed over the compiled stages. "
        "Memory is the peak of a fresh process beyond its data.",
    ),
    "links": (
        "Cluster trees",
        "The cluster tree of all levels, linked after a fit with h = 0.3, over the time of the fit "
        "itself. At the median distance to the nearest neighbour there are hundreds of thousands "
        "of basins to link.",
    ),
    "images": (
        "Pictures",
        "Segments of a color picture (scikit-image's astronaut, and mirror images of it for the "
        "larger one), the conversion to Lab included; scikit-image always has 512 x 512 pixels. "
        "`segment` is the exact algorithm, `compat` gives scikit-image's labels.",
    ),
    "modal": (
        "Modal regression",
        "`ModalRegressor.predict_modes`, fitted before, with about 1000 samples in the window of a "
        "query and the bandwidth of y that the rule gives. The tree of SciPy only counts the "
        "samples in the same windows; NumPy looks for modes among the responses in the window, "
        "where ours are among all.",
    ),
    "shapes": ("Other shapes", "Seed spreaders, a uniform square, moons and circles."),
    "adversarial": (
        "Adversarial data",
        "Each has stopped or spoiled some tree or some search. Equal points have no peer: cKDTree "
        "puts them into one leaf and compares each with each.",
    ),
    "tiny": ("Tiny data", "Fits around the size of a leaf."),
    "starts": (
        "Starting",
        "In fresh processes: imports beyond NumPy, and the first fit after the import.",
    ),
}

INTRODUCTION = """\
# Benchmarks

A time alone says more about the machine than about the code. So ours and a peer are timed in turn,
in the same run, and the tables give our time over the peer's, *below one is faster*, where the
number does not say otherwise. A bound is what we want to keep to; the table says whether we do.
Times of one row differ between tables as the machine's other work comes and goes: compare ratios.
`make bench` writes this page.
"""

METHOD = """\
## How it is measured

- Ours and the peer run in turn, and the ratio is taken within each round: five rounds, fewer where
  a row would take minutes or was only looked at (see the column). Tables show the median, and the
  quartiles in brackets; plots show the median and a band between the quartiles.
- Each runs in a process of its own that has imported, compiled and called it on 500 points before
  the clock starts. Calls shorter than 50 ms are repeated and their mean taken.
- Data are double precision. Unless a row says otherwise they are blobs: twenty Gaussians of
  deviation one with centres in [-20, 20]^d, from `quickshift.datasets.blobs(n, d, seed=0)`.
  `1e6x2` is a million points in the plane.
- A peer goes up to the number of points that it finishes in about a minute.
- {cpus} cores, {system} on {architecture}, instruction set {instruction_sets}, Python {python};
  measured {dates}.
"""

MADE = "<!-- Written by benchmarks/page.py from benchmarks/results.json: run `make bench`. -->\n"


def main() -> None:
    """Write the pictures and the page."""
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
    return "\n".join([*parts, method(found), peer_table(found), left_out(found)]).rstrip() + "\n"


def doubts(found: Result) -> str:
    """Say which rows a reader should not lean on: too few rounds, or a machine with other work."""
    rows = found["rows"].values()
    few = sum(fewest_rounds(row) < ROUNDS for row in rows)
    busy = sum(row["load"] is None or row["load"] > found["cpus"] + 1 for row in rows)
    if not few and not busy:
        return ""
    return (
        f"```{{warning}}\nOf {len(rows)} rows, {few} have fewer than {ROUNDS} rounds somewhere and "
        f"{busy} began while the machine was busy with other work, or may have been.\n```\n"
    )


def fewest_rounds(row: Result) -> int:
    """Return the rounds of the number that has the fewest; curves count where they begin."""
    firsts = [line["points"][0] for line in row.get("lines", {}).values() if line["points"]]
    counts = [number["rounds"] for number in row.get("numbers", []) if "rounds" in number]
    return min([*counts, *(point["rounds"] for point in firsts)], default=ROUNDS)


def plot(curve: Result) -> str:
    """Return a heading and the picture in both themes."""
    pictures = [
        f"```{{image}} _static/benchmarks/{picture(curve, theme)}\n"
        f":class: only-{theme.name}\n:alt: {alternative(curve)}\n```\n"
        for theme in (plots.LIGHT, plots.DARK)
    ]
    return "\n".join([f"### {curve['title']}\n", *pictures])


def alternative(curve: Result) -> str:
    """Say in words what the picture shows at its right end."""
    ends = [
        f"{name} {seconds(line['points'][-1]['seconds']['median'])} for {line['points'][-1]['n']}"
        for name, line in curve["lines"].items()
        if line["points"]
    ]
    return f"{curve['title']}, log-log, seconds against points: " + "; ".join(ends)


def table(rows: list[Result]) -> str:
    """Return one line for each number."""
    if not any(row["numbers"] for row in rows):
        lines = [[row["name"], seconds(row["seconds"]["median"])] for row in rows]
        return markdown(["row", "time"], lines)
    head = ["row", "ours", "compared with", "its time", "number", "bound, met?", "rounds"]
    return markdown(*without_empty(head, [line for row in rows for line in number_lines(row)]))


def number_lines(row: Result) -> Iterable[list[str]]:
    """Yield the cells of each number of a row; its name stands beside the first."""
    if not row["numbers"]:
        yield [row["name"], seconds(row["seconds"]["median"]), "", "", "", "", ""]
    for i, number in enumerate(row["numbers"]):
        name = "" if i else row["name"]
        if "skipped" in number:
            yield [name, "", number["what"], "", f"left out: {number['skipped']}", "", ""]
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
    """Drop the columns that have nothing but a heading."""
    kept = [i for i in range(len(head)) if any(line[i] for line in lines)]
    return [head[i] for i in kept], [[line[i] for i in kept] for line in lines]


def method(found: Result) -> str:
    """Return how it was measured."""
    dates = sorted({row["date"] for row in found["rows"].values()})
    period = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    sets = sorted({row["instruction_set"] for row in found["rows"].values()})
    return METHOD.format(**found, dates=period, instruction_sets=" and ".join(sets))


def peer_table(found: Result) -> str:
    """Return what each peer is and does."""
    versions = found["versions"]
    lines = [
        [p.name, p.package, versions.get(p.package) or "not installed", p.does, f"{p.largest:.0e}"]
        for p in PEERS.values()
    ]
    ours = f"quickshift {versions['quickshift']}, NumPy {versions['numpy']}."
    head = ["peer", "package", "version", "what is timed", "up to n"]
    return f"## Peers\n\n{ours}\n\n{markdown(head, lines)}"


def left_out(found: Result) -> str:
    """Return which lines stopped early, and why."""
    lines = [
        f"- {row['title']}: {name}: {line['stopped']}"
        for row in found["rows"].values()
        for name, line in row.get("lines", {}).items()
        if "stopped" in line
    ]
    return "\n".join(["Left out of the plots:\n", *lines]) if lines else ""


def markdown(head: list[str], lines: Iterable[list[str]]) -> str:
    """Return a table."""
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows) + "\n"


def seconds(value: float) -> str:
    """Return a time in the unit that suits it."""
    if value >= 1:
        return f"{value:.3g}\N{NO-BREAK SPACE}s"
    scale, unit = (1e3, "ms") if value >= 1e-3 else (1e6, "µs")
    return f"{scale * value:.3g}\N{NO-BREAK SPACE}{unit}"


if __name__ == "__main__":
    main()
