"""Rules about the code itself: what is public, what is documented, what must never creep in."""

import ast
import importlib
import re
import tomllib
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
        path.name
        for path in SOURCES
        if re.search(r"#\s*include\s*[<\"](nanobind|Python)", path.read_text(encoding="utf-8"))
    }
    assert including == {"bindings.hpp"}


def test_only_bindings_include_what_knows_python():
    including = {
        path.name
        for path in SOURCES
        if re.search(r"#\s*include\s*\"bindings.hpp\"", path.read_text(encoding="utf-8"))
    }
    assert including == {
        "bindings.cpp",
        "bindings_forest.cpp",
        "bindings_image.cpp",
        "bindings_regression.cpp",
    }


def test_reference_imports_nothing_of_ours():
    # import-linter cannot see the compiled core, so this says it for all of the package.
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
