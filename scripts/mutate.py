"""Change the source in small ways, and list the changes that no test notices.

    python scripts/mutate.py --seconds 1200                        all of TARGETS, in random order
    python scripts/mutate.py --only bandwidth --line 130           the changes of one line
    python scripts/mutate.py --seed 7

A change (mutant) replaces one operator, comparison or number of a module: + by -, < by <=, 2 by 3,
`and` by `or`, min by max. The tests that concern the module run in a child process that imports the
changed module; the files stay as they are. A mutant survives if all tests pass. Survivors are
killed by a new test, or explained in docs/testing.md.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import importlib.machinery
import importlib.util
import os
import random
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
# For each module, the tests that concern it.
TARGETS = {
    "quickshift.kernels": ["test_kernels.py"],
    "quickshift.bandwidth": ["test_bandwidth.py", "test_scale.py", "test_rules.py"],
    "quickshift.stages.forest": ["test_forest.py", "test_quick_shift_cuts.py"],
    "quickshift.stages.membership": ["test_predict_proba.py"],
    "quickshift.stages.parent_graph": ["test_parent_graph.py", "test_checks.py"],
    "quickshift.stages.rules": ["test_rules.py", "test_bandwidth.py"],
    "quickshift.stages.tree.significance": [
        "test_significance.py",
        "test_clusters.py",
        "test_local_tree.py",
    ],
}
PRELOADED = ("numpy", "scipy.special", "scipy.spatial", "sklearn.base", "pytest")
LIMIT = 120  # seconds of CPU time for the tests of one mutant; one that takes longer is noticed

OPERATORS: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
NAMES = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}


@dataclass(frozen=True)
class Mutant:
    """One change of a module."""

    module: str
    line: int
    before: str
    after: str
    tree: ast.Module

    def __str__(self) -> str:
        return f"{self.module}:{self.line}: {self.before}  ->  {self.after}"


def changes(node: ast.AST) -> Iterator[Callable[[Any], None]]:
    """Yield functions that change a copy of a node."""
    if isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp) and type(node.op) in OPERATORS:
        yield lambda n: setattr(n, "op", OPERATORS[type(n.op)]())
    if isinstance(node, ast.Compare):
        for i, op in enumerate(node.ops):
            if type(op) in OPERATORS:
                yield lambda n, i=i: n.ops.__setitem__(i, OPERATORS[type(n.ops[i])]())
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield lambda n: setattr(n, "op", ast.UAdd())
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield lambda n: setattr(n, "operand", ast.UnaryOp(ast.Not(), n.operand))
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield lambda n: setattr(n, "value", n.value + 1)
    if isinstance(node, ast.Name) and node.id in NAMES:
        yield lambda n: setattr(n, "id", NAMES[n.id])
    if isinstance(node, ast.Attribute) and node.attr in NAMES:
        yield lambda n: setattr(n, "attr", NAMES[n.attr])


def ignored(tree: ast.Module) -> set[int]:
    """Return the identifiers of nodes that no test can notice: annotations and error messages."""
    found: set[int] = set()
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        if isinstance(node, ast.arg | ast.AnnAssign):
            parts.append(node.annotation)
        if isinstance(node, ast.FunctionDef):
            parts.append(node.returns)
        if isinstance(node, ast.Raise | ast.JoinedStr):
            parts.append(node)
        found |= {id(part) for root in parts if root for part in ast.walk(root)}
    return found


def parsed(module: str) -> ast.Module:
    """Return the syntax tree of a module."""
    return ast.parse((ROOT / "src" / (module.replace(".", "/") + ".py")).read_text("utf-8"))


def mutants_of(module: str) -> list[Mutant]:
    """Make all mutants of a module."""
    tree = parsed(module)
    nodes, left_out, mutants = list(ast.walk(tree)), ignored(tree), []
    for place, node in enumerate(nodes):
        if id(node) in left_out:
            continue
        for change in changes(node):
            changed = copy.deepcopy(tree)
            new = list(ast.walk(changed))[place]
            change(new)
            ast.fix_missing_locations(changed)
            line = getattr(node, "lineno", 0)
            mutants.append(Mutant(module, line, ast.unparse(node), ast.unparse(new), changed))
    return mutants


class MutantFinder:
    """Finds one module as its mutant, and no other."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def find_spec(self, name: str, *_: object) -> importlib.machinery.ModuleSpec | None:
        """Return the mutant for its name."""
        if name != self.mutant.module:
            return None
        path = str(ROOT / "src" / (name.replace(".", "/") + ".py"))
        loader = MutantLoader(name, path)
        loader.mutant = self.mutant
        return importlib.util.spec_from_file_location(name, path, loader=loader)


class MutantLoader(importlib.machinery.SourceFileLoader):
    """Compiles the changed tree instead of the file."""

    mutant: Mutant

    def get_code(self, fullname: str) -> CodeType:
        """Return the code of the mutant."""
        return compile(self.mutant.tree, self.get_filename(fullname), "exec")


def survives(mutant: Mutant) -> bool:
    """Run the tests of a mutant in a child process; return whether all pass."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        return status == 0
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
    signal.alarm(20 * LIMIT)  # if they wait for something
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    sys.meta_path.insert(0, MutantFinder(mutant))
    import pytest

    tests = [str(ROOT / "tests" / name) for name in TARGETS[mutant.module]]
    code = 1
    try:
        code = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tests]))
    finally:
        os._exit(min(code, 1))


def main(arguments: Sequence[str] | None = None) -> None:
    """Try mutants in random order, and print those that survive."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=float, default=1200.0, help="when to stop")
    parser.add_argument("--seed", type=int, default=0, help="of the order of the mutants")
    parser.add_argument("--only", default="", help="a part of the name of a module")
    parser.add_argument("--line", type=int, help="only the mutants of this line")
    options = parser.parse_args(arguments)
    os.chdir(ROOT)
    for name in PRELOADED:
        importlib.import_module(name)
    mutants = [
        mutant
        for module in TARGETS
        if options.only in module
        for mutant in mutants_of(module)
        if options.line in (None, mutant.line)
    ]
    for module in sorted({mutant.module for mutant in mutants}):
        if not survives(Mutant(module, 0, "", "", parsed(module))):
            raise SystemExit(f"the tests of {module} fail without any change")
    random.Random(options.seed).shuffle(mutants)
    end, tried, survivors = time.monotonic() + options.seconds, 0, 0
    for mutant in mutants:
        if time.monotonic() > end:
            break
        tried += 1
        if survives(mutant):
            survivors += 1
            print(mutant, flush=True)
    print(f"{tried} of {len(mutants)} mutants tried, {survivors} survived")


if __name__ == "__main__":
    main()
