"""The configuration that quickshift reports: instruction set, threads, versions."""

import importlib.metadata
import platform

import pytest

import quickshift
from quickshift import _core
from quickshift.config import get_config
from quickshift.threads import resolve_threads


def test_config_names_the_instruction_sets():
    config = get_config()
    available = [each.name for each in _core.InstructionSet if _core.has_instruction_set(each)]
    assert config["instruction_set"] == _core.instruction_set().name
    assert config["available_instruction_sets"] == available


def test_config_names_the_threads_of_a_call():
    assert get_config()["threads"] == resolve_threads(None)


def test_config_names_the_compiler():
    assert any(name in get_config()["compiler"] for name in ("GCC", "lang", "LLVM"))


@pytest.mark.parametrize("name", ["quickshift", "numpy", "scipy", "scikit-learn"])
def test_config_names_versions(name):
    assert get_config()[name] == importlib.metadata.version(name)


def test_config_names_python():
    assert get_config()["python"] == platform.python_version()


def test_show_config_prints_every_entry(capsys):
    assert quickshift.show_config() is None
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(": ")[0] for line in lines] == list(get_config())
