# Needs only Python 3.11 or newer and make: every target builds what it needs in .venv by itself.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
DATA   ?= $(FRANCHISE_DATA)

.PHONY: demo test test-subset test-nightly bench docs docs-test lint clean

$(VENV)/.made:
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "franchise needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.11")'
	@echo "Installing franchise and what it needs into $(VENV): some minutes, depending on the network."
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.demo: $(VENV)/.made pyproject.toml constraints.txt
	$(PIP) -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.made pyproject.toml studies/pyproject.toml constraints.txt
	$(PIP) -e '.[all,dev]' -e studies
	@touch $@ $(VENV)/.demo

$(VENV)/.bench: $(VENV)/.dev
	$(PIP) -e '.[all,dev,bench]'
	@touch $@

$(VENV)/.docs: $(VENV)/.made pyproject.toml studies/pyproject.toml constraints.txt
	$(PIP) -e '.[plot,text,io,docs]' -e studies
	@touch $@

demo: $(VENV)/.demo
	$(BIN)/franchise demo

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.vocabulary
	$(BIN)/python -m tests.docstrings

test: lint
	$(BIN)/python -m pytest -n 2 --dist worksteal

# Two minutes, on any system; continuous integration runs it on Linux, macOS and Windows.
test-subset: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 --dist worksteal $$(cat tests/subset.txt)

# Everything at full size, then each planted bug against the tests that catch it.
test-nightly: $(VENV)/.dev
	FRANCHISE_FULL=1 $(BIN)/python -m pytest tests studies/tests -m "slow or not slow" -n 2 --dist worksteal
	$(BIN)/python -m tests.planted_bugs --run

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/collapsed.py $(if $(DATA),--data $(DATA))

# The site, offline: docs/_build/html/index.html. Tutorials run when they have changed.
docs: $(VENV)/.docs
	rm -rf docs/api/generated
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

# Build from nothing, run every tutorial again, then check links, public names and that no page loads from outside.
docs-test: $(VENV)/.docs
	rm -rf docs/_build/html docs/api/generated
	$(BIN)/python -m sphinx -W --keep-going -E -D nb_execution_mode=force -b html docs docs/_build/html
	$(BIN)/python -m tests.site docs/_build/html

clean:
	rm -rf $(VENV) build dist docs/_build docs/api/generated *.egg-info src/*.egg-info .pytest_cache .mypy_cache .ruff_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
