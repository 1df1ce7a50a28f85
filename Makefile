# Needs python3 (>= 3.11, with venv), make and a C++20 compiler. Everything else is installed from
# PyPI into virtual environments next to this file. Stamp files in each environment (.base, .installed,
# .group-*) record which of its parts are up to date.

PYTHON ?= python3
# The environment with the oldest supported versions uses the oldest supported Python, if it is
# installed.
PYTHON_LOWEST ?= $(shell python3.11 -c 'print("python3.11")' 2>/dev/null || echo $(PYTHON))
PYTHON_FREE ?= python3.14t
ARGS ?=
NAME ?= index
EXAMPLES ?= 1000

VENVS := .venv .venv-bench .venv-bench-numpy1 .venv-lowest .venv-asan .venv-coverage .venv-free
BIN := .venv/bin
CPP := $(sort $(shell find cpp -name '*.hpp' -o -name '*.cpp'))
# An editable installation uses Python files in place, but has to be repeated when a file is added,
# removed or renamed (build/modules.txt).
INSTALLED_FROM := $(CPP) CMakeLists.txt pyproject.toml build/modules.txt
STUB := src/quickshift/_core.pyi
SMOKE := $(CURDIR)/.venv-smoke
REPORT := -o junit_family=xunit1 --junitxml=build
PIP_INSTALL := -m pip --disable-pip-version-check install --quiet

.PHONY: help demo test test-lowest test-free test-js test-browser audit coverage mutate scale soak explore fuzz sanitize stress check stub public-names format bench study plot-large plot-peers choices costs adversarial calibrate large large-cost large-cluster matrix faults raster interrupts docs wheel clean
.DELETE_ON_ERROR:
# Two instances of pip must not write into one environment at the same time. The compiler and pytest
# run in parallel by themselves.
.NOTPARALLEL:

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

demo: .venv/.installed .venv/.group-demo  ## cluster a small data set, print a summary, write demo.png
	$(BIN)/python examples/demo.py $(ARGS)

test: .venv/.installed .venv/.group-test  ## tests and doctests (ARGS="-k name" to choose)
	$(BIN)/python -m pytest -n 2 $(ARGS)

test-js: .venv/.installed .venv/.group-test tests/js/node_modules  ## types and unit tests of the JavaScript; needs node and npm
	$(BIN)/python tests/js/make_cases.py build/js
	cd tests/js && npm run --silent types && npm run --silent test

test-browser: .venv/.installed .venv/.group-test .venv/.group-browser tests/js/node_modules  ## explore in Chromium; needs Debian's chromium and chromium-driver, node and npm
	@which chromium chromedriver >/dev/null || { echo "install Chromium: apt-get install chromium chromium-driver"; exit 1; }
	$(BIN)/python -m pytest -m browser tests/test_explorer_browser.py tests/test_explorer_browser_widget.py $(ARGS)

tests/js/node_modules: tests/js/package-lock.json
	cd tests/js && npm ci --silent
	@touch $@

test-lowest: .venv-lowest/.installed .venv-lowest/.group-test  ## the same tests with the oldest supported versions
	.venv-lowest/bin/python -m pytest -n 2 -m 'not workers and not browser and not faults and not scale and not studies' $(ARGS)

test-free: .venv-free/.installed .venv-free/.group-test-free  ## tests with threads on free-threaded Python (PYTHON_FREE=python3.14t)
	.venv-free/bin/python -m pytest tests/test_minimal.py tests/test_threads.py tests/test_properties.py $(ARGS)

faults: .venv/.installed .venv/.group-test build/faults.so  ## let allocations and threads of the core fail; unless SHORT=1, also kill workers and drivers in the middle of runs, write docs/large_equal.md
ifndef SHORT
	$(BIN)/python -m pytest -m workers $(REPORT)/faults.xml tests/test_distributed_workers.py tests/test_large_benchmark.py $(ARGS)
	$(BIN)/python benchmarks/equal_page.py faults build/faults.xml
endif
	LD_PRELOAD=$(CURDIR)/build/faults.so $(BIN)/python -m pytest -m faults tests/test_faults.py $(ARGS)

audit: .venv/.installed .venv/.group-test .venv/.group-audit  ## look for known vulnerabilities in what is installed; needs a network
	$(BIN)/pip-audit --local --skip-editable --strict $(ARGS)

# Python and C++ in one run: the core of .venv-coverage counts how often its lines run. Left out: tests
# that limit the size of files, and so of those that are written here, or that fork.
COVERED := build/venv-coverage/_core.*.so -instr-profile=build/coverage/core.profdata -ignore-filename-regex='site-packages|include/python'
coverage: .venv-coverage/.installed .venv-coverage/.group-test .venv-coverage/.group-coverage  ## coverage of the Python (lines and branches, 97 %) and of the C++ (lines, 95 %); needs clang and llvm
	rm -rf build/coverage
	.venv-coverage/bin/python -m coverage erase
	LLVM_PROFILE_FILE=$(CURDIR)/build/coverage/%4m.profraw .venv-coverage/bin/python -m coverage run -m pytest -n 2 -m "not browser and not faults and not scale" -k "not cannot_be_completed and not processes_of_every_kind" $(ARGS)
	llvm-profdata merge -o build/coverage/core.profdata build/coverage/*.profraw
	llvm-cov report $(COVERED) | awk 'BEGIN { short = 1 } { print } $$1 == "TOTAL" { short = $$10 + 0 < 95 } END { exit short }'
	.venv-coverage/bin/python -m coverage combine --quiet
	.venv-coverage/bin/python -m coverage report

mutate: .venv/.installed .venv/.group-test  ## change kernels, bandwidths and stages in small ways, and list what no test notices (ARGS="--only kernels")
	$(BIN)/python scripts/mutate.py $(ARGS)

scale: .venv/.installed .venv/.group-test  ## sizes at which others have failed: a million duplicates, 2^31 numbers (in a fit if there are 52 GB of memory)
	QUICKSHIFT_SCALE=1 $(BIN)/python -m pytest -m scale tests/test_limits.py $(ARGS)

soak: .venv/.installed .venv/.group-test  ## ten minutes of random calls in one process (ARGS="--seconds 60"); memory stays flat
	$(BIN)/python tests/soak.py $(ARGS)

build/faults.so: tests/cpp/faults.cpp
	@mkdir -p build
	$(CXX) -std=c++20 -O2 -Wall -shared -fPIC -o $@ $<

fuzz: .venv/.installed .venv/.group-test  ## compare random input with the reference (ARGS="--seconds 600")
	$(BIN)/python -W ignore tests/fuzz.py $(ARGS)

# The tests of the core under AddressSanitizer and UndefinedBehaviorSanitizer; the first finding ends
# them. Python itself is not instrumented, so the runtime library has to be loaded first. Freed memory is
# kept for a while to detect reads of it; with the default of 256 MB, the tests of peak memory fail.
SANITIZED_SHORT := $(addprefix tests/test_,minimal.py fuzz.py worst_cases.py quick_shift_input.py near_lists.py forest.py)
SANITIZED_LONG := $(SANITIZED_SHORT) $(addprefix tests/test_,tree.py parent_graph.py density.py blocks.py local_scale.py conditional_modes.py segment.py cluster_tree.py predict_proba.py threads.py)
sanitize: stress .venv-asan/.installed .venv-asan/.group-test  ## tests of the core under ASan and UBSan (SHORT=1: a few of them), and `make stress`
	ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=16 LD_PRELOAD="$(call library,asan) $(call library,stdc++)" .venv-asan/bin/python -m pytest -p no:faulthandler $(if $(SHORT),$(SANITIZED_SHORT),$(SANITIZED_LONG)) $(ARGS)

library = $(shell $(CXX) -print-file-name=lib$(1).so)

stress: .venv/.base  ## all queries of the core, from several threads at once, under ThreadSanitizer
	$(BIN)/cmake --log-level=WARNING -S . -B build/stress -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python -DQUICKSHIFT_SANITIZE=thread
	$(BIN)/cmake --build build/stress --target stress
	build/stress/stress

explore: .venv/.installed .venv/.group-test  ## look for failures with random seeds (EXAMPLES=100000 takes longer)
	QUICKSHIFT_EXAMPLES=$(EXAMPLES) $(BIN)/python -m pytest -n 2 -m hypothesis --hypothesis-profile=explore $(ARGS)

check: .venv/.installed .venv/.group-test .venv/.group-check  ## lint, format, types, layers, stub; changes nothing
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/clang-format --dry-run -Werror $(CPP)
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(call write_stub,build/_core.pyi)
	@diff -u $(STUB) build/_core.pyi || { echo "$(STUB) is out of date: run 'make stub'"; exit 1; }

stub: .venv/.installed .venv/.group-check  ## regenerate the type stub of the compiled core
	$(call write_stub,$(STUB))

define write_stub
	$(BIN)/python -m nanobind.stubgen --quiet --module quickshift._core --output-file $(1)
	$(BIN)/ruff format --quiet $(1)
endef

public-names: .venv/.installed  ## accept changed public names and pickles: rewrite the lists in tests/
	$(BIN)/python scripts/public_names.py > tests/public_names.txt
	$(BIN)/python scripts/pickled_names.py > tests/pickled_names.txt

format: .venv/.group-check  ## rewrite Python and C++ in the project's format
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format
	$(BIN)/clang-format -i $(CPP)

# The environment with NumPy 1 is optional: without it, the peer that needs NumPy 1 is left out.
bench: .venv-bench/.installed .venv-bench/.group-bench  ## compare with peers (ARGS="--only tree"), write docs/benchmarks.md
	-$(MAKE) .venv-bench-numpy1/.group-bench-numpy1
	.venv-bench/bin/python benchmarks/run.py $(ARGS)
	.venv-bench/bin/python benchmarks/page.py

study: .venv-bench/.installed .venv-bench/.group-bench  ## measure a claim (NAME=modes ARGS=--quick; studies/README.md lists them), write its page in docs/studies
	.venv-bench/bin/python -m studies.run $(NAME) $(ARGS)

plot-large: .venv-bench/.installed .venv-bench/.group-bench  ## draw a million samples, write the table and the picture of docs/plots.md
	.venv-bench/bin/python benchmarks/large_plots.py

plot-peers: .venv-bench/.installed .venv-bench/.group-bench  ## draw the same data with peers, write docs/plots_compared.md
	.venv-bench/bin/python benchmarks/peer_plots.py

choices: .venv/.installed .venv/.group-test  ## compare chosen methods with all others on random workloads (ARGS="--seeds 1 2")
	$(BIN)/python benchmarks/choices.py $(ARGS)

costs: .venv/.installed .venv/.group-test  ## measure the constants by which methods are chosen, and print them beside those in use
	$(BIN)/python benchmarks/costs.py $(ARGS)

adversarial: .venv/.installed .venv/.group-test  ## search for data on which a call is far slower than on random data (ARGS="--seconds 60")
	$(BIN)/python benchmarks/adversarial.py $(ARGS)

calibrate: .venv-bench/.installed .venv-bench/.group-bench  ## simulate modes that are due to chance (ARGS="--mode local"), write their tables
	.venv-bench/bin/python benchmarks/calibrate.py $(ARGS)

large: .venv/.installed .venv/.group-test  ## fit 1e8 points in partitions (ARGS="--points 1e7"), print time and memory
	$(BIN)/python benchmarks/large.py $(ARGS)

large-cost: .venv/.installed .venv/.group-test  ## measure fits of 1e6, 1e7 and 1e8 points (ARGS="--points 1e8 --kind kernel neighbors"), write docs/large_cost.md
	$(BIN)/python benchmarks/large.py --write --points 1e6 1e7 1e8 $(ARGS)

large-cluster: .venv/.installed .venv/.group-test  ## fit 2e7 points on a Dask cluster of two workers of 1.5 GB, write docs/large_cost.md
	$(BIN)/python benchmarks/large.py --write --points 2e7 --workers 2 --worker-memory 1.5e9 $(ARGS)

matrix: .venv/.installed .venv/.group-test  ## compare partitions with fits in memory in every combination, write docs/large_equal.md
	QUICKSHIFT_MATRIX=1 $(BIN)/python -m pytest -n 2 -m 'workers or not workers' $(REPORT)/matrix.xml tests/test_distributed_tasks.py tests/test_distributed_scales.py tests/test_distributed_matrix.py $(ARGS)
	$(BIN)/python benchmarks/equal_page.py matrix build/matrix.xml

raster: .venv/.installed .venv/.group-test  ## segment a GeoTIFF of 4000 x 4000 pixels by windows, and compare with the whole
	QUICKSHIFT_RASTER=4000 $(BIN)/python -m pytest tests/test_cli_rasters.py $(ARGS)

interrupts: .venv/.installed .venv/.group-test  ## press Ctrl-C at random times of every long call, and at 50 of four commands; kill commands, and change their input while it is read
	$(BIN)/python -W ignore tests/interrupts.py
	QUICKSHIFT_INTERRUPTS=50 $(BIN)/python -m pytest -s tests/test_cli_interrupts.py tests/test_cli_faults.py $(ARGS)

docs: .venv/.installed .venv/.group-docs  ## HTML in docs/_build/html; warnings are errors
	rm -rf docs/api docs/gallery
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

wheel: .venv/.group-wheel  ## build sdist and wheel, repair for manylinux, test without a compiler
	rm -rf dist wheelhouse .venv-smoke
	$(BIN)/python -m build --outdir dist
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/auditwheel repair --wheel-dir wheelhouse dist/*.whl
	$(BIN)/python scripts/check_wheel.py dist/*.tar.gz wheelhouse/*.whl
	$(BIN)/python -m venv .venv-smoke
	PATH=$(SMOKE)/bin $(SMOKE)/bin/python $(PIP_INSTALL) --only-binary :all: wheelhouse/*.whl pytest
	cp tests/test_minimal.py $(SMOKE)
	cd $(SMOKE) && PATH=$(SMOKE)/bin bin/python -m pytest -c /dev/null --rootdir . -W error test_minimal.py

clean:  ## remove everything that the other targets create
	rm -rf $(VENVS) .venv-smoke build dist wheelhouse demo.png .coverage* tests/js/node_modules
	rm -rf docs/_build docs/gallery docs/api .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests benchmarks studies examples docs scripts -name __pycache__ -prune -exec rm -rf {} +

# Steps to make one environment: a recent pip (for dependency groups), the build tools, the package,
# then the dependency groups that the target needs.
.venv-lowest/%: PYTHON := $(PYTHON_LOWEST)
.venv-free/%: PYTHON := $(PYTHON_FREE)
.venv-lowest/%: CONSTRAIN := --constraint build/lowest.txt
.venv-lowest/.installed .venv-lowest/.group-test: build/lowest.txt
.venv-asan/.installed: SETTINGS := --config-settings cmake.define.QUICKSHIFT_SANITIZE=address,undefined
.venv-coverage/.installed: SETTINGS := --config-settings cmake.define.CMAKE_CXX_COMPILER=clang++ --config-settings "cmake.define.CMAKE_CXX_FLAGS=-fprofile-instr-generate -fcoverage-mapping" --config-settings cmake.define.QUICKSHIFT_OPTIMIZE=-O1

$(VENVS:%=%/.base): %/.base: pyproject.toml
	test -x $*/bin/python || $(PYTHON) -m venv $*
	$*/bin/python $(PIP_INSTALL) --upgrade pip
	$*/bin/python $(PIP_INSTALL) --group build
	@touch $@

$(VENVS:%=%/.installed): %/.installed: %/.base $(INSTALLED_FROM)
	$*/bin/python $(PIP_INSTALL) $(CONSTRAIN) $(SETTINGS) --no-build-isolation --config-settings build-dir=build/$(*:.%=%) --editable .
	@touch $@

define group_rule
$(VENVS:%=%/.group-$(1)): %/.group-$(1): %/.base
	$$*/bin/python $$(PIP_INSTALL) $$(CONSTRAIN) --group $(1)
	@touch $$@
endef
$(foreach group,test test-free browser audit coverage check demo bench bench-numpy1 docs wheel,$(eval $(call group_rule,$(group))))

build/modules.txt: FORCE
	@mkdir -p build
	@find src -name '*.py' | sort > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
FORCE:

build/lowest.txt: pyproject.toml scripts/lowest.py
	@mkdir -p build
	$(PYTHON) scripts/lowest.py > $@
