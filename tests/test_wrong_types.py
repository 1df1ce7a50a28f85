"""Arguments of wrong types: every public function and method says what it expected.

An error of ours is one that the code of this package raises. Errors that come from inside NumPy or
from an attribute that is missing leave users guessing.
"""

import os
import traceback
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import quickshift
import quickshift.distributed.segmentation
from entry_points import X, calls
from quickshift.distributed.executors import Inline

ROOT = Path(__file__).parents[1]
SOURCE = Path(quickshift.__file__).parent

# Every object has a truth value, and a progress bar may be any callable.
FLAGS = {"theory", "resume", "moves", "mean", "dark", "link", "return_tree", "convert2lab"}
PASSED_ON = {
    "quickshift.call_last_step": {"X"},  # goes through the steps of the user's pipeline
    "quickshift.QuickShift.plot": {"ax"},  # as of all displays: matplotlib's business
    "quickshift.compat.skimage.quickshift": {  # as scikit-image does, which checks none of these
        *("ratio", "kernel_size", "max_dist", "sigma", "rng", "channel_axis"),
    },
}
# Formulas of NumPy without checks of arguments: a reference to read, and what the checks build on.
UNCHECKED = ("quickshift.reference.", "quickshift.bandwidth.", "quickshift.kernels.Kernel.")
# Made by stages, and immutable; methods of inner results take what stages have computed.
INNER = {
    *("Estimate.density", "Estimate.log_density", "Estimate.sums_left_out"),
    *("Joint.log_support", "Joint.scaled_queries", "LocalScale.density"),
    *("LocalScale.density_of_levels", "LocalScale.log_density", "ParentGraph.highest_first"),
    *("RegressionData.at", "StepFunction.at"),
}
# What scikit-learn's checks of estimators look for.
WORDS = (
    *("Sparse data was passed", "Complex data not supported", "Found array with 0"),
    "float() argument must be a string or a real number, not 'object'",
)


def values():
    """Return one object per kind that has been passed by mistake, or could be."""
    return {
        "an iterator": iter([[1.0, 2.0]]),
        "None": None,
        "a structured array": np.zeros(24, [("x", float), ("y", float)]),
        "bytes": b"abc",
        "a dict": {"x": [1.0]},
        "a sparse matrix": sparse.csr_matrix(np.ones((24, 2))),
        "a set": {1.0},
        "masked entries": np.ma.masked_greater(X, 1.0),
        "objects": np.array([[object()] * 2] * 24),
        "complex numbers": X + 1j,
        "dates": np.full((24, 2), np.datetime64("2020-01-01")),
        "an object": object(),
        "rows of unequal lengths": [[1.0], [1.0, 2.0]],
        "a generator": (row for row in [[1.0, 2.0]]),
        "a string": "abc",
        "a cube": np.zeros((2, 2, 2)),
        "no rows": np.empty((0, 2)),
        "a huge number": 10**400,
        "NaN": float("nan"),
        "a list of None": [None, None],
        "an empty list": [],
    }


EVERY = bool(os.environ.get("QUICKSHIFT_EXAMPLES"))  # `make explore` tries every kind everywhere
STEP = 1 if EVERY else 4


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    folder = tmp_path_factory.mktemp("entries")
    before = Path.cwd()
    os.chdir(folder)  # some paths among the values are names of files
    yield calls(folder)
    os.chdir(before)


def public_functions():
    """Return the names in tests/public_names.txt that have parameters, one name per function."""
    found = {}
    for line in (ROOT / "tests/public_names.txt").read_text().splitlines():
        name, bracket, parameters = line.partition("(")
        if not bracket or parameters in {"self)", ")"}:
            continue
        owner, function = quickshift, None
        for part in name.split(".")[1:]:
            owner, function = getattr(owner, part), getattr(owner, part)
        known = getattr(function, "__func__", function)
        found.setdefault(known, name)
    return sorted(found.values())


def is_exempt(name):
    owner = quickshift
    for part in name.split(".")[1:]:
        owner = getattr(owner, part)
    bundle = isinstance(owner, type) and not hasattr(owner, "fit")
    return (
        (bundle and not name.startswith("quickshift.datasets."))
        or name.startswith(UNCHECKED)
        or name.split(".", 2)[-1] in INNER
    )


@pytest.mark.parametrize("name", [n for n in public_functions() if not is_exempt(n)])
def test_wrong_types_are_errors_that_say_what_was_expected(name, entries, monkeypatch):
    monkeypatch.setattr(quickshift.distributed.segmentation, "local_executor", lambda *_: Inline())
    function, arguments = entries[name]
    left_out = FLAGS | PASSED_ON.get(name, {"ax"})
    for place, parameter in enumerate(arguments):
        for kind in list(values())[place % STEP :: STEP] if parameter not in left_out else ():
            error = raised(function, {**arguments, parameter: values()[kind]})
            assert error is None or is_ours(error), f"{parameter} is {kind}: {error!r}"


def raised(function, arguments):
    try:
        with np.errstate(all="ignore"):
            function(**arguments)
    except Warning:
        return None
    except Exception as error:
        return error
    return None


def is_ours(error):
    """Return whether our code raised the error, and its text says more than the type does."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    ours = SOURCE in Path(last.filename).parents and (last.line or "").startswith("raise ")
    if isinstance(error, OSError) and error.filename is not None:
        return True  # of the system, about a path that the user gave
    kind = TypeError | ValueError | IndexError | AttributeError | FileNotFoundError
    return (
        isinstance(error, kind) and len(str(error)) > 20 and (ours or str(error).startswith(WORDS))
    )


def test_every_public_function_is_tried(entries):
    assert [n for n in public_functions() if not is_exempt(n) and n not in entries] == []


def test_valid_arguments_are_accepted(entries, monkeypatch):
    monkeypatch.setattr(quickshift.distributed.segmentation, "local_executor", lambda *_: Inline())
    for name, (function, arguments) in entries.items():
        assert raised(function, arguments) is None, name
