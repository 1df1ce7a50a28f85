"""Write the tables of docs/large_equal.md from the reports of `make matrix` and `make faults`.

    python benchmarks/equal_page.py matrix build/matrix.xml    replaces the tables of comparisons
    python benchmarks/equal_page.py faults build/faults.xml    replaces the table of kills

The reports are those of ``pytest --junitxml`` with ``junit_family=xunit1``: every test records what
it has compared.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from large_page import table

PAGE = Path(__file__).resolve().parent.parent / "docs" / "large_equal.md"

Row = dict[str, str]

# What tests compare, by their names
CHECKS = {
    "test_the_forest_equals_that_of_a_fit_in_memory": (
        "parents, labels and merges, given the same densities"
    ),
    "test_all_kernels_with_weights_and_a_periodic_feature": (
        "the same, with weights and a periodic feature"
    ),
    "test_densities_of_boxes_are_those_of_all_points": "densities",
    "test_scales_and_trees_equal_those_of_a_fit_in_memory": (
        "bits of r and τ, labels, merges, significance"
    ),
    "test_weights_and_a_periodic_feature": "the same, with weights and a periodic feature",
    "test_fits_equal_those_in_memory": "labels, modes and merges, end to end",
}
EXECUTORS = {"": "no engine", "Processes": "processes", "DaskWorkers": "LocalCluster"}
FITS = {"local": "default", "auto": "bandwidth and τ chosen", "given": "bandwidth and τ given"}


def main() -> None:
    """Replace tables of the page."""
    what, *reports = sys.argv[1:]
    tests = [row for report in reports for row in tests_of(Path(report))]
    if what == "matrix":
        replace("comparisons", table_of_comparisons(tests))
    else:
        replace("faults", table_of_faults(tests))


def tests_of(report: Path) -> list[Row]:
    """Return what each test has recorded, with its name and outcome."""
    found = []
    for case in ElementTree.parse(report).iter("testcase"):
        recorded = {each.get("name", ""): each.get("value", "") for each in case.iter("property")}
        failed = case.find("failure") is not None or case.find("error") is not None
        name = case.get("name", "").partition("[")[0]
        if recorded and case.find("skipped") is None:
            found.append({**recorded, "name": name, "outcome": "failed" if failed else "passed"})
    return found


def table_of_comparisons(tests: Sequence[Row]) -> str:
    """Return one row per check, executor and kind of fit."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for name in CHECKS:
        for test in tests:
            if test["name"] == name:
                key = name, test.get("executor", ""), test.get("fit", "")
                groups.setdefault(key, []).append(test)
    header = [
        "compared",
        "fit",
        "run by",
        "fits",
        "data",
        "features",
        "partitions",
        "kernels",
        "equal",
        "largest error",
    ]
    rows = [
        [
            CHECKS[name],
            FITS.get(fit, ""),
            EXECUTORS[executor],
            str(len(some)),
            values(some, "shape"),
            values(some, "d"),
            values(some, "partitions"),
            str(len({test["kernel"] for test in some if test.get("kernel")}) or ""),
            outcome(some),
            errors(some),
        ]
        for (name, executor, fit), some in groups.items()
    ]
    return table(header, rows)


def table_of_faults(tests: Sequence[Row]) -> str:
    """Return one row per fit and kind of process that is killed."""
    header = ["killed", "fit", "in the passes", "the same labels"]
    rows = [
        [test["killed"], f"`{test['fit']}`", test["passes"], outcome([test])]
        for test in tests
        if "killed" in test
    ]
    return table(header, rows)


def values(tests: Sequence[Row], name: str) -> str:
    """Return the different values of something that tests have recorded."""
    found = {test[name] for test in tests if test.get(name)}
    return ", ".join(sorted(found, key=lambda each: (len(each), each)))


def outcome(tests: Sequence[Row]) -> str:
    """Return whether all tests have passed."""
    failed = sum(test["outcome"] == "failed" for test in tests)
    return "all" if not failed and len(tests) > 1 else f"{failed} not" if failed else "yes"


def errors(tests: Sequence[Row]) -> str:
    """Return the largest relative errors of densities and parameters."""
    names = {
        "error": "densities",
        "error of infinite kernels": "of infinite kernels",
        "parameter error": "bandwidth and τ",
    }
    found = []
    for name, words in names.items():
        some = [float(test[name]) for test in tests if name in test]
        if some:
            found.append(f"{words} {max(some):.0e}")
    return ", ".join(found)


def replace(name: str, text: str) -> None:
    """Replace the part of the page between two comments."""
    page = PAGE.read_text()
    start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, _, rest = page.partition(start)
    PAGE.write_text(f"{before}{start}\n{text}\n{end}{rest.partition(end)[2]}")


if __name__ == "__main__":
    main()
