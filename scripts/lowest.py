"""Print pip constraints that pin every run-time dependency to its oldest supported version."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
extras = project.get("optional-dependencies", {})
for requirement in [*project["dependencies"], *(r for extra in extras.values() for r in extra)]:
    if match := re.fullmatch(r"([\w.-]+)(?:\[.*\])?>=([\d.]+)", requirement):
        print(f"{match[1]}=={match[2]}")
