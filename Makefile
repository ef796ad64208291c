# make demo | test | fuzz | fuzz-files | lint | format | bench | bench-engine | bench-ridge | bench-svm | bench-small | bench-logistic | bench-neighbours | bench-smoothing | docs | sanitize | clean
# Every target does its own set-up: a virtual environment in .venv, the build, the extras. Needs Python >= 3.11, make, a C++ compiler.

PYTHON ?= python3
VENV   := .venv
BENCH  := .venv-bench
BIN    := $(VENV)/bin
# Only the build's own files: no target may depend on what it writes itself.
NATIVE := CMakeLists.txt pyproject.toml $(shell find cpp/include cpp/src cpp/bindings -type f 2>/dev/null)
PURE   := $(shell find src -name '*.py' -o -name py.typed)
CXX_FILES = $(shell find cpp -name '*.cpp' -o -name '*.hpp')
PIP    := -m pip --disable-pip-version-check install --quiet
BUILD_REQUIREMENTS := 'scikit-build-core>=0.10' 'nanobind>=2.4' 'cmake>=3.26' 'ninja>=1.11'

.DEFAULT_GOAL := help
.PHONY: help build demo test test-cpp test-python fuzz fuzz-files lint format bench bench-engine bench-ridge bench-svm bench-small bench-logistic bench-neighbours bench-smoothing docs sanitize clean
.DELETE_ON_ERROR:

help:
	@sed -n 1,2p Makefile

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "mercer needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version 2>&1)." \
	       "Try: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python $(PIP) --upgrade 'pip>=23.1'
	$(BIN)/python $(PIP) $(BUILD_REQUIREMENTS)
	@touch $@

# Not isolated, so that the second build compiles only what changed.
$(VENV)/.installed: $(VENV)/.made $(NATIVE) $(PURE)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python $(PIP) --no-build-isolation -C build-dir=build/python '.[test,lint,cli]'
	@$(BIN)/python -c 'import pathlib, shutil, sysconfig; \
	  shutil.copy(pathlib.Path(sysconfig.get_path("platlib")) / "mercer" / "_core.pyi", "src/mercer/_core.pyi")'
	@touch $@

build: $(VENV)/.installed

demo: build
	$(BIN)/python examples/demo.py

test: test-cpp test-python

test-cpp: $(VENV)/.made
	$(BIN)/cmake -S . -B build/tests -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -DMERCER_PYTHON=OFF -DMERCER_TESTS=ON
	$(BIN)/cmake --build build/tests
	$(BIN)/ctest --test-dir build/tests --output-on-failure

# The doctests are those of the installed package; then every other test.
test-python: build
	$(BIN)/python -m pytest --quiet --doctest-modules --pyargs mercer
	$(BIN)/python -m pytest tests

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

docs: build
	$(BIN)/python -m pytest tests/docs

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

bench-smoothing: $(BENCH)/.installed
	$(BENCH)/bin/python -m benchmarks smoothing

clean:
	rm -rf $(VENV) $(BENCH) build dist src/mercer/_core.pyi .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
