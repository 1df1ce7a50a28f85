"""The application as a whole: help, completion, and what is loaded for them."""

import subprocess
import sys

import pytest

from cli_cases import run
from quickshift.cli.app import app
from quickshift.cli.options import KernelChoice
from quickshift.kernels import KERNELS
from test_import import HEAVY, modules_after

COMMANDS = [command.name for command in app.registered_commands]


def test_help_loads_nothing_heavy():
    code = "import quickshift.cli.app, quickshift.cli.outcome"
    assert not modules_after(code) & {*HEAVY, "numpy", "PIL", "rasterio", "pyogrio"}


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_each_command_has_an_example(name, monkeypatch):
    result = run(monkeypatch, name, "--help")
    assert (result.code, result.err) == (0, "")
    assert f"$ quickshift {name}" in result.out


def test_help_lists_the_commands(monkeypatch):
    out = run(monkeypatch, "--help").out
    assert all(name in out for name in COMMANDS)


def test_without_a_command_the_help_is_shown(monkeypatch):
    result = run(monkeypatch)
    assert (result.code, result.err) == (2, "")
    assert all(name in result.out for name in COMMANDS)


def test_version(monkeypatch):
    import quickshift

    assert run(monkeypatch, "--version").out == f"quickshift {quickshift.__version__}\n"


def test_kernels_are_those_of_the_library():
    assert [kernel.value for kernel in KernelChoice] == list(KERNELS)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_of_shells(shell):
    program = "import sys; sys.argv[0] = 'quickshift'; from quickshift.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"_QUICKSHIFT_COMPLETE": f"source_{shell}", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0
    assert "_QUICKSHIFT_COMPLETE" in done.stdout


def test_without_typer_the_command_says_how_to_install_it():
    code = "import sys; sys.modules['typer'] = None; from quickshift.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 1
    assert "pip install quickshift[cli]" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_missing_module_of_the_package_itself_is_an_error():
    code = (
        "import sys; sys.modules['quickshift.cli.app'] = None\n"
        "from quickshift.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 1
    assert "ModuleNotFoundError: import of quickshift.cli.app" in done.stderr
    assert "pip install" not in done.stderr


@pytest.mark.parametrize("module", ["outcome", "app"])
def test_an_interrupt_while_the_commands_are_loaded(module):
    code = (
        "import sys; from quickshift.cli import main\n"
        "class Finder:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == 'quickshift.cli.{module}':\n"
        "            sys.meta_path.remove(self)\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Finder())\n"
        "main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "Interrupted; no output was written.\n"
