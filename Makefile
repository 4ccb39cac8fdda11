# Needs only Python 3.11 or newer and make. Everything is installed into .venv from requirements.lock.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.DEFAULT_GOAL := help
.PHONY: help demo test test-ray check bench bench-scale study docs lock clean

help: ## say what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1|/' | awk -F'|' '{printf "%-18s %s\n", $$1, $$2}'

$(READY): requirements.lock pyproject.toml
	@echo "setting up .venv from requirements.lock"
	@$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "evalkit needs Python 3.11 or newer"'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(READY)

demo: $(READY) ## set up, then judge the example predictions and show verdict, report and tables
	@$(BIN)/python docs/demo.py

test: $(READY) ## set up, then run the tests
	@echo "running the tests"
	@$(BIN)/python -m pytest -n auto -q

check: $(READY) ## lint, types, layers, docs up to date, tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python docs/generate.py --check
	$(BIN)/python docs/notebook.py --check
	@test -n "$(SKIP_TESTS)" || $(BIN)/python -m pytest -n auto -q

test-ray: $(READY) ## run the tests of Ray, which is installed for them and large
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check "ray>=2.60"
	EVALKIT_RAY=1 $(BIN)/python -m pytest -q -n0 tests/test_engine_ray.py

PEERS := .venv/.peers

$(PEERS): tests/benchmarks/requirements.txt $(READY)
	@echo "installing the peers of the benchmark"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r $< && touch $@ || \
	  echo "not all peers could be installed; those that are missing are left out"

bench: $(READY) $(PEERS) ## measure speed against other tools, as ratios in one run
	$(BIN)/python tests/benchmarks/run.py --memory

study: $(READY) ## simulate how often intervals hold the true value, minutes; docs show the stored result
	$(BIN)/python tests/benchmarks/coverage.py

bench-scale: $(READY) ## measure 1, 10 and 100 million records, here and on two workers
	$(BIN)/python tests/benchmarks/scale.py

docs: $(READY) ## write the generated parts of README and docs
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/notebook.py

lock: ## resolve requirements.lock anew (needs uv)
	uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --generate-hashes --no-header \
	  --no-annotate --no-emit-index-url --upgrade -o requirements.lock

clean: ## remove what the targets made
	rm -rf .venv .bench demo-results build dist .mypy_cache .ruff_cache .hypothesis
