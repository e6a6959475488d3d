# Needs only python3, git and make: `.venv` is made and filled by the first target that wants it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help demo test check release bench pictures docs format clean

help:  ## Show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(READY): pyproject.toml
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
	@touch $(READY)

demo: $(READY)  ## Watch a session come to life
	@$(BIN)/haytham demo

test: $(READY)  ## Run every gate: lint, types, tests, coverage, the wheel
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/pytest -n auto --cov --cov-report=term
	$(BIN)/python tests/wheel_check.py

release: $(READY)  ## Run the tests with the full counts of the release gate (long)
	HAYTHAM_TRIALS=release $(BIN)/pytest -n auto -p no:randomly

bench: $(READY)  ## Measure, as ratios in one run
	@$(BIN)/python benchmarks/bench.py
	@$(BIN)/python benchmarks/journal.py

pictures: $(READY)  ## Take pictures of the commands at 80 columns, to look at
	@$(BIN)/python -m tests.pictures pictures

docs: $(READY)  ## Write the pages that are made: the command line, the documents, the tutorial's output
	@$(BIN)/python -m tests.documentation.write

format: $(READY)  ## Put the source into its form
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

clean:  ## Remove what the other targets made
	rm -rf $(VENV) dist pictures .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage*
