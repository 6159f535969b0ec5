# The whole interface: `make extract` and `make test` set a fresh machine up by themselves.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN := $(BIN)/vllm-errors

# the lock files say what is installed; a stamp says that it is
PRODUCT := $(VENV)/.product
DEVELOPMENT := $(VENV)/.development

.DEFAULT_GOAL := help
.PHONY: help extract diff site serve test lint types bench evaluate lock clean

help:  ## what there is to make
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(PRODUCT): requirements.lock pyproject.toml
	@echo "setting up $(VENV): what the command needs (pinned in requirements.lock)" >&2
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(DEVELOPMENT): requirements-dev.lock $(PRODUCT)
	@echo "setting up $(VENV): what the tests need (pinned in requirements-dev.lock)" >&2
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@touch $@

extract: $(PRODUCT)  ## extract COMMIT=, RELEASE= or SOURCE=; without any, the newest release
	@$(RUN) extract $(if $(COMMIT),--commit '$(COMMIT)') $(if $(RELEASE),--release '$(RELEASE)') \
	  $(if $(SOURCE),--source '$(SOURCE)') $(if $(REPO),--repo '$(REPO)') $(ARGS)

site: $(PRODUCT)  ## the documentation site in output/site; DATASETS="0.28.0 0.27.1", else the newest release
	@$(if $(DATASETS),,$(RUN) extract)
	@$(RUN) site $(DATASETS) $(ARGS)

serve: $(PRODUCT)  ## show the site in output/site on this machine, made first when it is not there
	@test -e output/site/index.html || $(MAKE) --no-print-directory site
	@$(RUN) serve $(ARGS)

diff: $(PRODUCT)  ## what changed FROM= one TO= another: releases, commits or folders; ARGS=--format=html
	@$(RUN) diff '$(FROM)' '$(TO)' $(if $(REPO),--repo '$(REPO)') $(ARGS)

lint: $(DEVELOPMENT)  ## style, types, and the direction of imports
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

test: lint  ## lint, then every test
	@echo "running the tests" >&2
	@$(BIN)/pytest -n auto --dist worksteal $(ARGS)

bench: $(DEVELOPMENT)  ## speed and memory, as ratios within one run; ARGS=--match for match
	@$(BIN)/python -m tests.bench $(ARGS)

evaluate: $(PRODUCT)  ## how often match is right: FILE=pastes.jsonl, on the datasets in output/
	@$(BIN)/python -m extractor.match.evaluate '$(FILE)' $(ARGS)

lock: $(DEVELOPMENT)  ## resolve the dependencies anew (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
	  --extra build pyproject.toml -o requirements.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
	  --extra build --extra dev pyproject.toml -o requirements-dev.lock

clean:  ## remove the environment (datasets and the cache stay)
	rm -rf $(VENV)
