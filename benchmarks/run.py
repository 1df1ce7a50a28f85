"""Measure quickshift and its peers in one run, and print ratios with their spread.

    python benchmarks/run.py                         every row, about half an hour
    python benchmarks/run.py --quick                 small data: does everything still run?
    python benchmarks/run.py --only adversarial      rows with this word in their section or name
    python benchmarks/run.py --compare old.json      also print old → new ratios

A ratio is our time divided by the peer's, so below one is faster; quartiles are in brackets. Rows
are saved to the file of results one by one, so a partial run leaves the other rows unchanged.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import results
from measure import Spread
from rows import CURVES, SECTIONS
from timing import Pace, Result, measured, measured_curve

HERE = Path(__file__).resolve().parent
SAVED = HERE / "results.json"
QUICK = HERE / "results" / "quick.json"
FEWER = 20  # --quick divides the number of points by this


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the selected rows, print them, save them, and compare them."""
    options = parse(arguments)
    pace = Pace(options.repeats, FEWER if options.quick else 1)
    if options.quick:
        print(f"quick: {FEWER} times fewer points than the names of the rows state")
    file = options.save or (QUICK if options.quick else SAVED)
    old = results.load(options.compare) if options.compare else None
    run = results.facts()
    jobs = all_jobs(pace)
    wanted = {name: job for name, job in jobs.items() if options.only in name}
    if not wanted:
        names = "\n  ".join(jobs)
        raise SystemExit(
            f"no row has {options.only!r} in its name; choose a part of one of\n  {names}"
        )
    new: dict[str, Result] = {}
    for job in wanted.values():
        circumstances = results.circumstances()  # before the row itself adds to the load
        row = {**circumstances, **job()}
        print("\n".join(lines(row)), flush=True)
        results.put(file, run, row)
        new[row["name"]] = row
    results.keep_only(file, [name.split(": ", 1)[1] for name in jobs])
    if old:
        print(f"\nagainst {options.compare.name}")
        print("\n".join(results.changes(old, {"rows": new})))


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    summary, *rest = (__doc__ or "").split("\n", 1)
    parser = argparse.ArgumentParser(
        description=summary,
        epilog="\n".join(rest),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", default="", metavar="PATTERN", help="part of 'section: name'")
    parser.add_argument("--repeats", type=int, help="rounds per row (default 5, quick 2)")
    parser.add_argument("--quick", action="store_true", help=f"data {FEWER} times smaller")
    parser.add_argument("--save", type=Path, metavar="FILE", help=f"default {SAVED.name}")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="print old → new ratios")
    options = parser.parse_args(arguments)
    if options.repeats is None:
        options.repeats = 2 if options.quick else 5
    if options.repeats < 1:
        parser.error(f"--repeats is {options.repeats}; expected at least 1")
    return options


def all_jobs(pace: Pace) -> dict[str, Callable[[], Result]]:
    """Return everything that can be measured, by 'section: name'."""
    jobs: dict[str, Callable[[], Result]] = {}
    for section, rows in SECTIONS.items():
        for row in rows:
            jobs[f"{section}: {row.name}"] = partial(measured, row, section, pace)
    for curve in CURVES:
        jobs[f"curves: {curve.name}"] = partial(measured_curve, curve, pace)
    return jobs


def lines(row: Result) -> list[str]:
    """Format a row for the terminal."""
    if "lines" in row:
        return [
            row["name"],
            *(f"  {name:28} {_points(line)}" for name, line in row["lines"].items()),
        ]
    ours = f"{Spread(**row['seconds']).median:9.3g} s" if "seconds" in row else ""
    head = f"{row['name']:32} {ours:11}"
    texts = [_number(number) for number in row["numbers"]] or [""]
    return [f"{head if i == 0 else '':44} {text}".rstrip() for i, text in enumerate(texts)]


def _points(line: dict[str, Any]) -> str:
    texts = [f"{p['n']:.0e}: {p['seconds']['median']:.3g} s" for p in line["points"]]
    return "   ".join([*texts, line.get("stopped", "")])


def _number(number: dict[str, Any]) -> str:
    if "skipped" in number:
        return f"{number['what']} not measured: {number['skipped']}"
    text = f"{number['what']}: {Spread(**number['value'])} {number['unit']}"
    if "bound" in number:
        text += f"   bound {number['bound']}: {'met' if number['met'] else 'NOT met'}"
    return text


if __name__ == "__main__":
    main()
