"""Importing the package is cheap: its names are loaded on first use."""

import importlib.metadata
import json
import subprocess
import sys

import pytest

import quickshift

HEAVY = (
    "sklearn",
    "scipy",
    "matplotlib",
    "pandas",
    "networkx",
    "polars",
    "pyarrow",
    "joblib",
    "dask",
)


def modules_after(code):
    """Run code in a new interpreter and return the names of the modules that it loaded."""
    code = f"import json, sys\n{code}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


def test_import_loads_nothing_heavy():
    assert not modules_after("import quickshift; dir(quickshift)") & set(HEAVY)


def test_distributed_loads_libraries_for_files_and_clusters_when_they_are_needed():
    loaded = modules_after("import quickshift.distributed")
    assert not loaded & {"dask", "distributed", "pyarrow", "pandas", "sklearn"}


def test_import_does_not_load_the_native_core():
    assert "quickshift._core" not in modules_after("import quickshift")


def test_an_interrupt_while_the_core_is_imported_waits_until_it_is_complete():
    code = (
        "import enum, signal, quickshift\n"
        "create = enum.EnumMeta.__call__\n"
        "def interrupted(*arguments, **more):\n"
        "    if 'InstructionSet' in arguments:\n"
        "        signal.raise_signal(signal.SIGINT)\n"
        "    return create(*arguments, **more)\n"
        "enum.EnumMeta.__call__ = interrupted\n"
        "try:\n"
        "    from quickshift import _core\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', signal.getsignal(signal.SIGINT) is signal.default_int_handler)\n"
        "from quickshift import _core\n"
        "print(_core.InstructionSet.generic.name)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout) == (0, "interrupted True\ngeneric\n"), done.stderr


@pytest.mark.parametrize("name", ["stages", "reference", "kernels", "bandwidth", "datasets"])
def test_layers_below_the_estimators_do_without_scikit_learn(name):
    loaded = modules_after(f"import quickshift; quickshift.{name}")
    assert f"quickshift.{name}" in loaded
    assert not loaded & {"sklearn", "matplotlib", "pandas", "networkx"}


def test_estimator_loads_scikit_learn_and_nothing_else_that_is_heavy():
    code = "quickshift.QuickShift().fit([[0.0], [1.0]]).predict([[0.5]])"
    without = modules_after("import sklearn.utils.validation")
    loaded = modules_after(f"import quickshift; {code}")
    assert {"sklearn", "quickshift._core"} <= loaded
    assert not (loaded - without) & {*HEAVY, "networkx"}


def test_from_import_and_star_import_work():
    loaded = modules_after("from quickshift import QuickShift, stages\nfrom quickshift import *")
    assert "quickshift.estimators" in loaded


def test_dir_lists_the_public_names():
    assert set(quickshift.__all__) | {"__version__"} <= set(dir(quickshift))
    assert dir(quickshift) == sorted(dir(quickshift))


@pytest.mark.parametrize("name", quickshift.__all__)
def test_public_names_are_the_same_object_every_time(name):
    assert getattr(quickshift, name) is getattr(quickshift, name)


@pytest.mark.parametrize("name", ["MeanShift", "quick_shift", "_private", "__wrapped__"])
def test_unknown_name_is_an_attribute_error(name):
    with pytest.raises(AttributeError, match=f"module 'quickshift' has no attribute '{name}'"):
        getattr(quickshift, name)
    assert not hasattr(quickshift, name)


def test_unknown_name_cannot_be_imported():
    with pytest.raises(ImportError, match="cannot import name 'MeanShift' from 'quickshift'"):
        from quickshift import MeanShift  # noqa: F401


def test_version_is_that_of_the_distribution():
    assert quickshift.__version__ == importlib.metadata.version("quickshift")


def test_a_program_that_ends_holding_a_tree_ends_in_silence():
    code = (
        "import ctypes, numpy, quickshift\n"
        "tree = quickshift.stages.prepare(numpy.eye(3)).tree\n"
        "ctypes.pythonapi.Py_IncRef(ctypes.py_object(tree))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("package", "result"),
    [
        ("pandas", "QuickShift().fit(X).tree_"),
        ("networkx", "QuickShift().fit(X).tree_"),
        ("pandas", "ModalRegressor().fit(X, [0.0, 1.0, 0.0]).predict_modes(X)"),
    ],
)
def test_exports_without_an_optional_package_say_how_to_install_it(package, result):
    code = f"""
import sys
from quickshift import *
X = [[0.0], [1.0], [2.0]]
result = {result}
sys.modules[{package!r}] = None
try:
    result.to_{package}()
except ImportError as error:
    assert "{package} cannot be imported, but to_{package}() needs it" in str(error), error
    assert "pip install quickshift[io]" in str(error), error
else:
    raise AssertionError({result!r})
"""
    modules_after(code)
