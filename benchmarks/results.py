"""The file of results: its contents, updates by partial runs, and comparison of two files."""

from __future__ import annotations

import datetime
import json
import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

from peers import PEERS, Peer
from quickshift.config import get_config
from worker import interpreter

Result = dict[str, Any]

OURS = ("quickshift", "numpy")


def facts() -> Result:
    """Return the facts needed to interpret the numbers, without anything that names the machine."""
    versions = {package: _version(package) for package in OURS}
    versions |= {peer.package: _peer_version(peer) for peer in PEERS.values()}
    usable = getattr(os, "sched_getaffinity", None)
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "architecture": platform.machine(),
        "cpus": len(usable(0)) if usable else os.cpu_count(),
        "versions": versions,
    }


def circumstances() -> Result:
    """Return the facts that may differ between rows, as rows may be measured on different days.

    ``load`` is the number of processes that wanted a core in the last minute, if that is known.
    """
    try:
        load = round(os.getloadavg()[0], 1)
    except OSError:
        load = None
    return {
        "date": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}",
        "load": load,
        "instruction_set": get_config()["instruction_set"],
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _peer_version(peer: Peer) -> str | None:
    if peer.environment is None:
        return _version(peer.package)
    source = f"from importlib import metadata; print(metadata.version({peer.package!r}))"
    try:
        done = subprocess.run(
            [interpreter(peer.environment), "-c", source],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def load(file: Path) -> Result:
    """Read results; a missing file has no rows."""
    if not file.exists():
        return {"rows": {}}
    results: Result = json.loads(file.read_text())
    return results


def put(file: Path, run: Result, row: Result) -> None:
    """Add one row to the file, or replace it; the other rows stay."""
    results = load(file)
    rows = {**results["rows"], row["name"]: row}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({**run, "rows": rows}, indent=1, ensure_ascii=False) + "\n")


def keep_only(file: Path, names: list[str]) -> None:
    """Drop all rows except ``names``, and put the rows into that order."""
    results = load(file)
    rows = {name: results["rows"][name] for name in names if name in results["rows"]}
    file.write_text(json.dumps({**results, "rows": rows}, indent=1, ensure_ascii=False) + "\n")


def comparable(results: Result) -> dict[str, float]:
    """Return the numbers that can be compared between two runs, by name."""
    found = {}
    for name, row in results["rows"].items():
        for number in row.get("numbers", []):
            if "value" in number:
                what = number["what"].split(",")[0]  # without the case that happened to be worst
                found[f"{name} / {what}"] = number["value"]["median"]
        if not row.get("numbers") and "seconds" in row:
            found[f"{name} (seconds)"] = row["seconds"]["median"]
    return found


def changes(old: Result, new: Result) -> list[str]:
    """Return one line per number that both results contain."""
    before, after = comparable(old), comparable(new)
    return [
        f"{name:60} {before[name]:9.3g} → {after[name]:9.3g}   {after[name] / before[name]:.2f}x"
        for name in after
        if name in before
    ]
