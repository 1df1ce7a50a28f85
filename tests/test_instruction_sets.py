"""Every instruction set of this machine gives the same results, and the right one is used."""

import itertools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cases
from instruction_sets import SETS
from quickshift import _core, stages
from quickshift.kernels import get_kernel

ROOT = Path(__file__).parents[1]
VARIABLE = "QUICKSHIFT_INSTRUCTION_SET"
OTHERS = SETS[:-1]

several = pytest.mark.skipif(not OTHERS, reason="this machine has one instruction set")


def run(code, instruction_set=None):
    """Run code in a new process, with the environment variable set if a name is given."""
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    if instruction_set is not None:
        environment[VARIABLE] = instruction_set
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment,
    )


def units_apart(a, b):
    """Return the largest difference between two arrays, in units in the last place."""
    np.testing.assert_array_equal(np.isnan(a), np.isnan(b))
    a, b = a[~np.isnan(a)], b[~np.isnan(b)]
    return np.max(np.abs(a - b) / np.spacing(np.maximum(a, b)), initial=0.0)


def all_cases(kind, d):
    return itertools.chain(cases.variations(kind, d), cases.sizes_of(kind, d))


# The same results


@several
@pytest.mark.parametrize("kernel", cases.KERNELS)
@pytest.mark.parametrize("kind", cases.KINDS)
def test_densities_agree_within_four_units_in_the_last_place(use_set, kind, kernel):
    code = get_kernel(kernel).code
    for d in cases.DIMENSIONS:
        for case in all_cases(kind, d):
            tree = stages.prepare(case.X, **case.given).tree
            for method in methods_of(kernel):
                sums = []
                for each in SETS:
                    use_set(each)
                    sums.append(_core.kernel_sums(tree, code, case.bandwidth(kernel), 1e-9, method))
                for other in sums[:-1]:
                    assert units_apart(other, sums[-1]) <= 4, (case.name, method)


@several
@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
def test_sums_without_their_own_sample_agree_at_the_edge_of_a_support(use_set, kernel):
    code = get_kernel(kernel).code
    steps = np.tile([1 - 1e-7, 30.0], 50)
    tree = stages.prepare(np.column_stack([np.cumsum(steps), np.sin(np.arange(100)) * 1e-4])).tree
    sums = []
    for each in SETS:
        use_set(each)
        sums.append(_core.kernel_sums_at(tree, tree, code, 1.0, 1e-9, leave_out=True)[0])
    for other in sums[:-1]:
        assert units_apart(other, sums[-1]) <= 4


@several
@pytest.mark.parametrize("kind", cases.KINDS)
def test_sums_through_a_grid_agree_within_four_units_in_the_last_place(use_set, kind):
    code = get_kernel("gaussian").code
    for case in itertools.chain.from_iterable(all_cases(kind, d) for d in (1, 2, 3)):
        if case.period is not None:
            continue
        tree = stages.prepare(case.X, **case.given).tree
        sums = []
        for each in SETS:
            use_set(each)
            sums.append(_core.kernel_sums(tree, code, case.h, 1e-9, _core.DensityMethod.grid))
        for other in sums[:-1]:
            assert units_apart(other, sums[-1]) <= 4, case.name


@several
@pytest.mark.parametrize("d", [2, 5, 6])
def test_neighbors_at_the_edge_of_a_support_leave_epanechnikov_sums_alike(use_set, d):
    X = np.stack(np.meshgrid(*[np.arange(4.0)] * d), axis=-1).reshape(-1, d)
    code = get_kernel("epanechnikov").code
    for edge in (1.0, 1 + 1e-15, 1 + 1e-9, np.sqrt(2)):
        sums = []
        for each in SETS:
            use_set(each)
            sums.append(_core.kernel_sums(stages.prepare(X).tree, code, edge, 1e-9))
        for other in sums[:-1]:
            assert units_apart(other, sums[-1]) <= 4, edge


@several
@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
@pytest.mark.parametrize("d", [2, 3, 4, 5, 6, 8, 20])
def test_repeated_coordinates_leave_sums_alike(use_set, d, kernel):
    X = np.random.default_rng(d).integers(0, 5, (1500, d)) * 0.37
    tree = stages.prepare(X).tree
    sums = []
    for each in SETS:
        use_set(each)
        code = get_kernel(kernel).code
        sums.append(_core.kernel_sums(tree, code, 0.6 * d**0.5, 1e-9, _core.DensityMethod.direct))
    for other in sums[:-1]:
        assert units_apart(other, sums[-1]) <= 4


@several
@pytest.mark.parametrize("kernel", cases.KERNELS)
def test_sums_without_the_own_sample_agree_for_every_size_of_a_leaf(use_set, kernel):
    code = get_kernel(kernel).code
    for n in range(2, 42):
        X = np.random.default_rng(n).normal(size=(n, 2))
        tree = stages.prepare(X).tree
        sums = []
        for each in SETS:
            use_set(each)
            sums.append(_core.kernel_sums_at(tree, tree, code, 1.0, 1e-9, leave_out=True)[0])
            assert np.isfinite(sums[-1]).all()
        for other in sums[:-1]:
            assert units_apart(other, sums[-1]) <= 4, n


def methods_of(kernel):
    moments = kernel in {"uniform", "epanechnikov"}
    return [_core.DensityMethod.direct, *([_core.DensityMethod.moments] if moments else [])]


@several
@pytest.mark.parametrize("kernel", cases.KERNELS)
@pytest.mark.parametrize(("d", "h"), [(3, 1.0), (7, 1.0), (16, 2.0), (64, 4.0), (64, 20.0)])
def test_sums_block_by_block_agree_within_four_units_in_the_last_place(use_set, d, h, kernel):
    spec = get_kernel(kernel)
    rng = np.random.default_rng(d)
    X = rng.normal(size=(1500, d)) + rng.integers(0, 4, (1500, 1)) * 10
    for weights in (None, rng.uniform(0.1, 10, 1500)):
        tree = stages.prepare(X, sample_weight=weights).tree
        for rtol in (0.0, 1e-9):
            sums = []
            for each in SETS:
                use_set(each)
                width = h if kernel in cases.INFINITE else 3 * h
                sums.append(
                    _core.kernel_sums(tree, spec.code, width, rtol, _core.DensityMethod.blocks)
                )
            for other in sums[:-1]:
                assert units_apart(other, sums[-1]) <= 4, rtol


@several
@pytest.mark.parametrize("kind", cases.KINDS)
def test_distances_have_the_same_bits_and_parents_are_the_same(use_set, kind):
    for d in cases.DIMENSIONS:
        for case in all_cases(kind, d):
            height = np.random.default_rng(case.n).integers(0, 9, case.n).astype(float)
            results = []
            for each in SETS:
                use_set(each)
                samples = stages.prepare(case.X, **case.given)
                graph = stages.climb(samples, height)
                nearest = _core.nearest_distances(samples.tree)
                results.append((graph.parent, graph.distance, nearest))
            for other in results[:-1]:
                for a, b in zip(other, results[-1], strict=True):
                    np.testing.assert_array_equal(a, b, err_msg=case.name)


@several
@pytest.mark.parametrize("kernel", cases.KERNELS)
@pytest.mark.parametrize("kind", cases.KINDS)
def test_clusterings_are_the_same(use_set, kind, kernel):
    for d in cases.DIMENSIONS:
        for case in all_cases(kind, d):
            samples = stages.prepare(case.X, **case.given)
            estimate = stages.fit_estimate(samples, case.bandwidth(kernel), kernel=kernel)
            graphs = []
            for each in SETS:
                use_set(each)
                bits = estimate.significant_bits
                graphs.append(stages.climb(samples, estimate.sums(), significant_bits=bits))
            for other in graphs[:-1]:
                np.testing.assert_array_equal(other.parent, graphs[-1].parent, case.name)


@several
@pytest.mark.parametrize("kind", cases.KINDS)
def test_local_clusterings_have_the_same_bits(use_set, kind):
    # The scales themselves are compared in test_local_scale.py.
    for d in cases.DIMENSIONS:
        for case in cases.variations(kind, d):
            samples = stages.prepare(case.X, **case.given)
            if samples.total_weight < 8 < case.n or samples.total_weight > 1e6:
                continue
            found = []
            for each in SETS:
                use_set(each)
                found.append(stages.find_local_clusters(samples, min_significance=0.5))
            for other in found[:-1]:
                for a, b in (
                    (other.scale.r, found[-1].scale.r),
                    (other.graph.parent, found[-1].graph.parent),
                    (other.clusters.forest.labels, found[-1].clusters.forest.labels),
                    (other.clusters.tree.significance, found[-1].clusters.tree.significance),
                ):
                    np.testing.assert_array_equal(a, b, case.name)


@several
@pytest.mark.parametrize("instruction_set", OTHERS, ids=lambda each: each.name)
def test_correctness_tests_pass_on_every_instruction_set(instruction_set):
    files = [ROOT / "tests" / f"test_{name}.py" for name in ("minimal", "density", "parent_graph")]
    chosen = ["-k", "reference or minimal", *files]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *chosen],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        cwd=ROOT,
        env={**os.environ, VARIABLE: instruction_set.name},
    )
    assert done.returncode == 0, done.stdout[-3000:]


# Which instruction set is used


@pytest.mark.parametrize("wanted", [None, "", *(each.name for each in SETS)])
def test_environment_chooses_and_the_fastest_is_the_default(wanted):
    done = run("from quickshift import _core; print(_core.instruction_set().name)", wanted)
    assert done.stdout.strip() == (wanted or SETS[-1].name), done.stderr


@pytest.mark.parametrize("wanted", ["v9", "V3", "avx512", "generic" if OTHERS else "v3"])
def test_unknown_instruction_set_is_an_import_error_that_lists_those_there_are(wanted):
    done = run("import quickshift; quickshift.stages", wanted)
    names = ", ".join(f"'{each.name}'" for each in SETS)
    assert done.returncode == 1
    assert done.stderr.rstrip().splitlines()[-1] == (
        f"ImportError: the environment variable {VARIABLE} is '{wanted}', expected one that this "
        f"machine has: {names}. Set it to one of these, or unset it for the fastest."
    )


def test_wrong_instruction_set_does_not_hinder_the_import_of_the_package():
    assert run("import quickshift; quickshift.reference; quickshift.kernels", "v9").returncode == 0


def test_set_that_the_machine_lacks_is_refused_and_changes_nothing():
    absent = [each for each in _core.InstructionSet if each not in SETS]
    before = _core.instruction_set()
    for each in absent:
        with pytest.raises(ValueError, match=f"no instruction set '{each.name}', expected one of"):
            _core.set_instruction_set(each)
    assert _core.instruction_set() == before


# Which instructions each function contains

# Instructions of AVX and later begin with the letter v; the others listed here came with BMI, LZCNT
# and MOVBE, which are part of x86-64-v3. tzcnt is not listed: older processors execute it as bsf,
# and compilers use it only where both give the same result.
BEYOND_V2 = re.compile(
    r"v[a-z0-9]+|andn|bextr|bls(i|msk|r)|lzcnt|bzhi|mulx|pdep|pext|rorx|s[ah][lr]x|movbe"
)
BEYOND_BASELINE = re.compile(
    r"p(abs|sign)[bwd]|ph(add|sub)(d|s?w)|pmaddubsw|pmulhrsw|pshufb|palignr|l?ddqu|mov[sd]*ddup|h(add|sub)p[sd]"
    r"|addsubp[sd]|blendv?p[sd]|pblend(w|vb)|dpp[sd]|extractps|insertps|movntdqa|mpsadbw|packusdw"
    r"|pcmpeqq|pcmpgtq|pextr[bdq]|pinsr[bdq]|p(max|min)(sb|sd|ud|uw)|pmov[sz]x\w+|pmul(dq|ld)"
    r"|ptest|round[ps][sd]|pcmp[ei]str[im]|crc32[bwlq]?|popcnt[wlq]?|phminposuw"
)
NOT_VECTORS = {"verr", "verw", "vmcall"}
BEYOND_V3 = re.compile(r".*(%zmm|%k[0-7]|[xy]mm(1[6-9]|2\d|3[01])).*")


def compiled_files():
    """Return the object files of the latest build; the module itself is stripped of symbols."""
    libraries = (ROOT / "build").glob("*/libquickshift_core.a")
    library = max(libraries, key=lambda path: path.stat().st_mtime, default=None)
    if library is None:
        pytest.skip("there are no object files of a build in build/")
    return [library, *library.parent.glob("CMakeFiles/_core.dir/cpp/python/bindings*.o")]


def instructions_by_function(objdump, file):
    """Yield (function, name of an instruction, its whole text) for all instructions of a file."""
    listing = subprocess.run(
        [objdump, "--disassemble", "--demangle", "--no-show-raw-insn", file],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    ).stdout
    function = ""
    for line in listing.splitlines():
        if match := re.match(r"[0-9a-f]+ <(.*)>:$", line):
            function = match[1]
        elif match := re.match(r"\s*[0-9a-f]+:\s+(([a-z]\w*).*)", line):
            yield function, match[2], match[1]


@pytest.mark.skipif(_core.InstructionSet.v2 not in SETS, reason="no x86-64")
@pytest.mark.skipif(shutil.which("objdump") is None, reason="objdump is not installed")
def test_instructions_stay_in_the_namespace_of_their_set():
    seen = {"v2": 0, "v3": 0, "v4": 0}
    strays = set()
    listed = (instructions_by_function(shutil.which("objdump"), file) for file in compiled_files())
    for function, instruction, text in itertools.chain.from_iterable(listed):
        home = next((name for name in seen if f"quickshift::{name}::" in function), None)
        beyond_v2 = BEYOND_V2.fullmatch(instruction) and instruction not in NOT_VECTORS
        beyond_baseline = beyond_v2 or BEYOND_BASELINE.fullmatch(instruction)
        beyond_v3 = beyond_v2 and BEYOND_V3.fullmatch(text)
        allowed = {None: not beyond_baseline, "v2": not beyond_v2, "v3": not beyond_v3, "v4": True}
        if not allowed[home]:
            strays.add((function, instruction))
        elif beyond_baseline:
            seen[home] += 1
    assert strays == set()
    assert all(seen.values())
