"""Rules about the code itself: public names, documentation, forbidden flags, includes."""

import ast
import importlib
import re
import runpy
import tomllib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from types import ModuleType

import pytest

import quickshift

ROOT = Path(__file__).parents[1]
SOURCES = sorted(
    path
    for folder in ("src", "cpp")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in {".py", ".hpp", ".cpp"}
)
CPP = ROOT / "cpp"
MODULES = [name for name in quickshift.__all__ if isinstance(getattr(quickshift, name), ModuleType)]
FORBIDDEN = re.compile(
    r"#\s*pragma\s+omp|\bomp\.h|-fopenmp|find_package\(OpenMP"  # hangs after fork
    r"|-march=native|-mtune=native"  # illegal instructions on another machine
    r"|-ffast-math|-Ofast|-funsafe-math|-fassociative-math"  # sums and comparisons change meaning
    r"|^\s*(import|from)\s+numba\b|[\"']numba\b",  # seconds of compilation before the first answer
    re.MULTILINE | re.IGNORECASE,
)


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def lines_of_code(path):
    """Count lines that are not blank, comment or docstring."""
    text = path.read_text(encoding="utf-8")
    numbered = enumerate((line.strip() for line in text.splitlines()), start=1)
    code = {number for number, line in numbered if line and not line.startswith(("#", "//"))}
    for node in ast.walk(ast.parse(text)) if path.suffix == ".py" else ():
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            code -= set(range(node.lineno, node.end_lineno + 1))
    return len(code)


@pytest.fixture(scope="module")
def documented():
    return set(re.findall(r"^   (quickshift\.[\w.]+)$", read("docs/api.rst"), re.MULTILINE))


@pytest.mark.parametrize("name", quickshift.__all__)
def test_public_names_can_be_used(name):
    assert getattr(quickshift, name) is not None


def test_public_names_are_documented(documented):
    for name in set(quickshift.__all__) - set(MODULES):
        assert f"quickshift.{name}" in documented


@pytest.mark.parametrize("module", MODULES)
def test_public_names_of_modules_are_documented(module, documented):
    public = set(getattr(quickshift, module).__all__) - set(quickshift.__all__)
    assert {f"quickshift.{module}.{name}" for name in public} <= documented


def test_documented_names_exist(documented):
    assert documented
    for path in documented:
        module, _, name = path.rpartition(".")
        assert hasattr(importlib.import_module(module), name), path


def test_public_names_and_signatures_change_on_purpose():
    # `make public-names` rewrites the list.
    listing = runpy.run_path(str(ROOT / "scripts/public_names.py"))["public_names"]()
    assert listing == read("tests/public_names.txt").splitlines()


def test_attributes_in_pickles_change_on_purpose():
    """Versions with the same first two numbers read each other's pickles: see the script."""
    listing = runpy.run_path(str(ROOT / "scripts/pickled_names.py"))["pickled_names"]()
    assert listing == read("tests/pickled_names.txt").splitlines()


def test_version_is_the_same_everywhere():
    version = tomllib.loads(read("pyproject.toml"))["project"]["version"]
    assert quickshift.__version__ == version
    assert f"\nversion: {version}\n" in read("CITATION.cff")


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_files_stay_short(path):
    assert lines_of_code(path) <= 400


def test_no_forbidden_flags_or_libraries():
    build_files = [ROOT / name for name in ("CMakeLists.txt", "pyproject.toml", "Makefile")]
    found = {
        path.relative_to(ROOT).as_posix(): match[0]
        for path in [*build_files, *SOURCES]
        if (match := FORBIDDEN.search(path.read_text(encoding="utf-8")))
    }
    assert found == {}


def test_only_the_bindings_know_python():
    including = {
        path.parent.name
        for path in SOURCES
        if re.search(r"#\s*include\s*[<\"](nanobind|Python)", path.read_text(encoding="utf-8"))
    }
    assert including == {"python"}


def test_reference_imports_nothing_of_ours():
    # import-linter does not see imports of the compiled core, so this test covers all imports.
    for path in sorted((ROOT / "src/quickshift/reference").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in getattr(node, "names", [])]
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0
                names = [node.module or ""]
            if isinstance(node, ast.Import | ast.ImportFrom):
                ours = [name for name in names if name.split(".")[0] == "quickshift"]
                assert all(name.startswith("quickshift.reference") for name in ours), path


def test_decisions_name_tests_that_exist():
    missing = []
    for record in sorted((ROOT / "docs/decisions").glob("[0-9]*.md")):
        named = re.findall(r"`(tests/\w+\.py)::(\w+)`", record.read_text(encoding="utf-8"))
        assert named, f"{record.name} names no test"
        for file, test in named:
            path = ROOT / file
            source = path.read_text(encoding="utf-8") if path.exists() else ""
            if f"def {test}(" not in source:
                missing.append(f"{record.name}: {file}::{test}")
    assert missing == []


# Includes of the C++ core

SUPPORT = {"support"}
VECTOR = SUPPORT | {"vector"}
TREE = VECTOR | {"tree"}
# The folders that the files of each folder may include from, besides their own.
MAY_INCLUDE = {
    "support": set(),
    "vector": SUPPORT,
    "tree": VECTOR,
    "density": TREE | {"density/grid"},
    "density/grid": TREE | {"density"},
    "parents": TREE,
    "scale": TREE,
    "forest": TREE,
    "membership": TREE | {"density"},
    "regression": TREE | {"density"},
    "image": TREE | {"parents", "forest"},
    "python": TREE
    | {"density", "density/grid", "parents", "scale", "forest", "membership"}
    | {"regression", "image"},
}


def includes(root):
    """Map each file, as a path below the root, to the project's files that it includes."""
    graph = {}
    for path in sorted(root.rglob("*.?pp")):
        text = path.read_text(encoding="utf-8")
        graph[path.relative_to(root)] = [
            Path(name) for name in re.findall(r'^#include "([^"]+)"', text, re.MULTILINE)
        ]
    return graph


def forbidden(graph):
    """List the includes that point against the order of the folders."""
    return [
        f"{file} includes {target}"
        for file, targets in graph.items()
        for target in targets
        if (folder := file.parent.as_posix()) != (other := target.parent.as_posix())
        and other not in MAY_INCLUDE[folder]
    ]


def cycle(graph):
    """Find a cycle of files, a header taken together with its source, or None."""
    units = {}
    for file, targets in graph.items():
        unit = file.with_suffix("").as_posix()
        named = {target.with_suffix("").as_posix() for target in targets} - {unit}
        units.setdefault(unit, set()).update(named)
    try:
        TopologicalSorter(units).prepare()
    except CycleError as error:
        return error.args[1]
    return None


def test_every_folder_has_a_place_in_the_order():
    assert {file.parent.as_posix() for file in includes(CPP)} == set(MAY_INCLUDE)


def test_includes_name_files_that_exist():
    missing = [
        f"{file} includes {target}"
        for file, targets in includes(CPP).items()
        for target in targets
        if not (CPP / target).is_file()
    ]
    assert missing == []


def test_folders_include_in_one_direction():
    assert forbidden(includes(CPP)) == []


def test_files_include_each_other_without_cycles():
    assert cycle(includes(CPP)) is None


@pytest.fixture
def planted(tmp_path):
    """A tree of two files that break both rules."""
    for name, target in (("tree/box", "parents/assign"), ("parents/assign", "tree/box")):
        path = tmp_path / f"{name}.hpp"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'#include "{target}.hpp"\n')
    return includes(tmp_path)


def test_an_include_against_the_order_is_found(planted):
    assert forbidden(planted) == ["tree/box.hpp includes parents/assign.hpp"]


def test_a_cycle_is_found(planted):
    assert set(cycle(planted)) == {"tree/box", "parents/assign"}
