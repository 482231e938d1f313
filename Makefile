# OnRecord. Needs Python >= 3.11, git and make; every target sets itself up in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
TYPED := src $(wildcard demo bench scripts)

.DEFAULT_GOAL := help
.PHONY: help setup demo test soak lint format clean

help:
	@echo "make setup   make .venv with all that the others need (each does it by itself)"
	@echo "make demo    remember, find, read, update and verify on the shipped sample"
	@echo "make test    format, lint, types, import rules and the test suite"
	@echo "make soak    the deep run: many kills, long property tests (up to 60 minutes)"
	@echo "make lint    everything of make test but the tests"
	@echo "make format  rewrite the source in the house format"
	@echo "make clean   remove .venv and what tools left behind"

setup: $(STAMP)

# uv.lock decides the versions. uv installs them; where it cannot reach a registry that pip is set up for, pip installs
# the same versions, checked against the same hashes.
$(STAMP): pyproject.toml uv.lock
	@set -e; \
	if ! $(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	  chosen=; \
	  for candidate in "$(PYTHON)" python3.11 python3.12 python3.13; do \
	    if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	      chosen="$$candidate"; break; \
	    fi; \
	  done; \
	  if [ -z "$$chosen" ]; then \
	    echo "OnRecord needs Python 3.11 or newer; none found. Name one: make PYTHON=/path/to/python3.11" >&2; \
	    exit 1; \
	  fi; \
	  rm -rf $(VENV); \
	  echo "Setting up $(VENV) with $$("$$chosen" --version)"; \
	  "$$chosen" -m venv $(VENV) || { echo "That Python has no venv module (Debian: apt install python3-venv)." >&2; exit 1; }; \
	fi; \
	$(BIN)/python -m pip install -qq --disable-pip-version-check 'uv>=0.9,<1'; \
	if ! UV_PROJECT_ENVIRONMENT=$(VENV) $(BIN)/uv sync -q --frozen --python $(BIN)/python; then \
	  echo "uv could not install; trying pip with the same lock"; \
	  $(BIN)/uv export -q --frozen --no-emit-project --python $(BIN)/python -o $(VENV)/requirements.txt; \
	  $(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r $(VENV)/requirements.txt; \
	  $(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e .; \
	fi; \
	touch $@

demo: $(STAMP)
	@$(BIN)/python demo/run.py

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(TYPED)
	$(BIN)/lint-imports

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

test: lint
	HYPOTHESIS_PROFILE=ci $(BIN)/python -m pytest -n 2

soak: $(STAMP)
	ONRECORD_SOAK=1 HYPOTHESIS_PROFILE=soak $(BIN)/python -m pytest -m soak -n 2 --dist worksteal

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
