"""Run a study: measure, and write its results, its picture and its page.

python -m studies.run modes                 the full form, up to two hours on two cores
python -m studies.run modes --middle        minutes
python -m studies.run modes --quick         less than 15 seconds; writes into build/studies/
python -m studies.run modes --page          picture and page again, from the stored results
python -m studies.run index                 the page that lists all studies
"""

from __future__ import annotations

import argparse
import csv
import importlib
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from studies.tables import Row, markdown

ROOT = Path(__file__).resolve().parent.parent
NAMES = (
    *("modes", "tau", "assignment", "tree", "regression"),  # the theorems
    *("bandwidths", "coverage", "labelled", "one_cluster", "beyond"),
)

HEADER = """\
<!-- Written by studies/run.py from studies/{name}.py: run it again to change it. -->
# {title}

"""
FOOTER = """
## Run it again

`make study NAME={name}` measures all of this again with the same seeds, in up to two hours on two
cores; `ARGS=--middle` takes minutes and `ARGS=--quick` seconds. The script is `studies/{name}.py`,
and all measurements are in `studies/results/{name}.csv`. The figures on this page are those of the
{form} form{parameters}.
"""


def load(name: str) -> Any:
    """Import a study."""
    return importlib.import_module(f"studies.{name}")


def measure(name: str, form: str, processes: int = 1) -> list[Row]:
    """Run all jobs of a study, with a progress bar on standard error, and return their rows."""
    study = load(name)
    jobs = study.jobs(study.FORMS[form])
    rows: list[Row] = []
    bar = Bar(f"{name} ({form})", len(jobs))
    if processes == 1:
        for done, job in enumerate(jobs, start=1):
            rows += study.measure(job)
            bar.show(done)
    else:
        with ProcessPoolExecutor(processes) as pool:
            for done, some in enumerate(pool.map(study.measure, jobs), start=1):
                rows += some
                bar.show(done)
    bar.close()
    return rows


class Bar:
    """A progress bar on standard error; silent if that is not a terminal, except at the end."""

    def __init__(self, title: str, total: int) -> None:
        self.title, self.total = title, total
        self.began = time.monotonic()
        self.cpu_before = cpu_seconds()

    def show(self, done: int) -> None:
        """Draw the bar after a number of jobs."""
        if not sys.stderr.isatty():
            return
        filled = 30 * done // self.total
        passed = time.monotonic() - self.began
        left = passed / done * (self.total - done)
        bar = "█" * filled + "·" * (30 - filled)
        sys.stderr.write(f"\r{self.title} {bar} {done}/{self.total}, {left:.0f} s left   ")
        sys.stderr.flush()

    def close(self) -> None:
        """End the line, with the time that has passed and the CPU time that was used."""
        passed = time.monotonic() - self.began
        cpu = cpu_seconds() - self.cpu_before
        took = f"{self.total} jobs in {passed:.0f} s, {cpu:.0f} s of CPU time"
        sys.stderr.write(f"\r{self.title}: {took}{'':50}\n")


def cpu_seconds() -> float:
    """Return the CPU time of this process and of its finished children, user and system."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def write_rows(rows: Sequence[Row], path: Path) -> None:
    """Write rows as CSV; a column that a row lacks stays empty."""
    path.parent.mkdir(parents=True, exist_ok=True)
    columns = list(dict.fromkeys(key for row in rows for key in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows({k: shortest(v) for k, v in row.items()} for row in rows)


def shortest(value: Any) -> Any:
    """Format a float with six significant digits."""
    return f"{value:.6g}" if isinstance(value, float) else value


def read_rows(path: Path) -> list[Row]:
    """Read rows back: numbers as numbers, and without empty columns."""
    with path.open(newline="", encoding="utf-8") as file:
        return [{k: parsed(v) for k, v in row.items() if v != ""} for row in csv.DictReader(file)]


def parsed(text: str) -> Any:
    """Return a whole number, a float or the text itself."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def publish(name: str, form: str, rows: list[Row], out: Path) -> None:
    """Write the picture and the page of a study below a folder."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    study = load(name)
    picture = out / f"docs/_static/studies/{name}.png"
    picture.parent.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context({"font.size": 8, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=study.SIZE, dpi=130, layout="constrained")
        study.draw(rows, figure)
        figure.savefig(picture, metadata={"Software": None})
    page = out / f"docs/studies/{name}.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    text = HEADER.format(name=name, title=study.TITLE)
    template = (ROOT / f"studies/pages/{name}.md").read_text(encoding="utf-8")
    text += template.format(picture=f"../_static/studies/{name}.png", **study.tables(rows))
    parameters = study.FORMS[form]
    listed = f" (`{parameters}`)" if parameters else ""
    text += FOOTER.format(name=name, form=form, parameters=listed)
    page.write_text(text, encoding="utf-8")


def write_index(out: Path) -> None:
    """Write the page that lists all studies, from their stored results."""
    lines = [["claim", "condition", "measured", "page with the picture, script"]]
    for name in NAMES:
        study = load(name)
        found = study.summary(read_rows(ROOT / f"studies/results/{name}.csv"))
        links = f"[{name}]({name}.md), `studies/{name}.py`"
        lines.append([study.CLAIM, study.CONDITION, found, links])
    page = out / "docs/studies/index.md"
    template = (ROOT / "studies/pages/index.md").read_text(encoding="utf-8")
    text = template.format(table=markdown(lines), entries="\n".join(NAMES))
    page.write_text(text, encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=(*NAMES, "index"))
    parser.add_argument("--quick", action="store_const", const="quick", dest="form")
    parser.add_argument("--middle", action="store_const", const="middle", dest="form")
    parser.add_argument("--page", action="store_true", help="use the stored results")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.set_defaults(form="full")
    given = parser.parse_args(arguments)
    if given.name == "index":
        write_index(ROOT)
        return
    out = ROOT / "build/studies" if given.form == "quick" else ROOT
    results = out / f"studies/results/{given.name}.csv"
    if given.page:
        rows = read_rows(results)
        given.form = rows[0]["form"]
    else:
        processes = 1 if given.form == "quick" else given.processes
        rows = [{"form": given.form, **r} for r in measure(given.name, given.form, processes)]
        write_rows(rows, results)
    publish(given.name, given.form, rows, out)


if __name__ == "__main__":
    main()
