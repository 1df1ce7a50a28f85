"""Check that an sdist and the wheel built from it contain exactly the files of ``src/``.

    python scripts/check_wheel.py dist/*.tar.gz wheelhouse/*.whl

The wheel must also contain one compiled module, and the sdist the files needed to build and test.
"""

import sys
import tarfile
import zipfile
from pathlib import Path

sdist_path, wheel_path = sys.argv[1:]
tree = {
    path.relative_to("src").as_posix(): path.read_bytes()
    for path in Path("src").rglob("*")
    if path.suffix in {".py", ".pyi", ".typed", ".js", ".css"}
}
with zipfile.ZipFile(wheel_path) as wheel:
    names = [info.filename for info in wheel.infolist() if not info.is_dir()]
    names = [name for name in names if name.startswith("quickshift/")]
    compiled = [name for name in names if name.endswith(".so")]
    in_wheel = {name: wheel.read(name) for name in names if name not in compiled}
with tarfile.open(sdist_path) as sdist:
    files = {m.name.partition("/")[2]: m for m in sdist.getmembers() if m.isfile()}
    in_sdist = {
        name.removeprefix("src/"): sdist.extractfile(member).read()
        for name, member in files.items()
        if name.startswith("src/")
    }

problems = [
    f"{where}: {name} differs from the tree"
    for where, found in (("wheel", in_wheel), ("sdist", in_sdist))
    for name in sorted(tree.keys() | found.keys())
    if tree.get(name) != found.get(name)
]
if len(compiled) != 1:
    problems.append(f"wheel: expected one compiled module, found {compiled}")
for name in (
    "LICENSE",
    "README.md",
    "CMakeLists.txt",
    "cpp/python/bindings.cpp",
    "tests/test_minimal.py",
):
    if name not in files:
        problems.append(f"sdist: {name} is missing")
if problems:
    sys.exit("\n".join(problems))
print(
    f"{Path(wheel_path).name}: {len(in_wheel)} files equal to those in the tree, and {compiled[0]}"
)
