# Everything a newcomer needs; `make` alone lists it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SETUP := $(VENV)/.setup
TOOLS := $(VENV)/.tools
PEERS := .venv-bench
PEERS_TOOLS := $(PEERS)/.tools
PARTS ?=
PIP := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt
LEAGUE ?= league
KINDS ?=
IF_FAILED ?= false
SAMPLES := random greedy neighbour rollout

.DEFAULT_GOAL := help
.PHONY: help setup league test hostile lint check wheels dist proto docs bench screenshots clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

setup: $(SETUP) ## make .venv with the two packages
	@echo "Next: . $(BIN)/activate makes the command treelings; treelings --help lists what it does."

$(SETUP): pyproject.toml sdk/pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; set PYTHON=…")'
	@echo "Setting up $(VENV), which takes about half a minute …"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) -e sdk -e '.[fast]'
	@touch $@

$(TOOLS): $(SETUP)
	@echo "Adding the tools for tests and checks …"
	@$(PIP) -e sdk -e '.[dev,fast]'
	@touch $@

league: $(SETUP) ## play a league night among the sample bots and publish its leaderboard
	@test -e $(LEAGUE)/league.toml || $(BIN)/treelings league init $(LEAGUE) --name "sample league"
	@$(BIN)/treelings league add $(LEAGUE) $(SAMPLES)
	@$(BIN)/treelings league add $(LEAGUE) javascript || echo "The league goes on without javascript."
	@$(BIN)/treelings league run $(LEAGUE)
	@$(BIN)/treelings league reveal $(LEAGUE)
	@echo "The leaderboard: $(LEAGUE)/site/index.html"
	@echo "The command is $(BIN)/treelings; '. $(BIN)/activate' makes it treelings."

test: $(TOOLS) ## run all tests; those that need a Docker engine are skipped where none answers
	@$(BIN)/pytest -m alone || $(IF_FAILED)
	@$(BIN)/pytest -m 'not alone' -n auto --dist worksteal || $(IF_FAILED)

hostile: $(TOOLS) ## play every kind of hostile bot, or KINDS='a b', and print what came of it (minutes; needs a Docker engine)
	@$(BIN)/python -m tests.adversarial $(KINDS)

lint: $(TOOLS) ## format, lint, types, directions of imports
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

wheels: $(TOOLS) ## build both wheels, install them into a clean venv and try them
	@$(BIN)/pytest -q tests/packaging || $(IF_FAILED)

dist: $(TOOLS) ## build what is published of both packages into dist/
	@$(BIN)/python -m build --outdir dist sdk
	@$(BIN)/python -m build --outdir dist .

check: lint wheels test ## all that a change must pass

docs: $(TOOLS) ## build the documentation as a site, docs-site/, and take every warning for an error
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict  # without --quiet, which would keep the warnings from being counted
	@echo "The documentation: docs-site/index.html"

proto: $(TOOLS) ## regenerate sdk/src/treelings/v1 from proto/
	@$(BIN)/python -m grpc_tools.protoc -I proto --python_out=sdk/src --pyi_out=sdk/src proto/treelings/v1/game.proto

$(PEERS_TOOLS): pyproject.toml sdk/pyproject.toml constraints.txt bench/peers.txt
	@echo "Setting up $(PEERS) with what we compare with: some 2 GB, a few minutes …"
	@$(PYTHON) -m venv $(PEERS)
	@$(PEERS)/bin/pip install --quiet --disable-pip-version-check -c constraints.txt -r bench/peers.txt -e sdk -e '.[fast]'
	@touch $@

bench: $(PEERS_TOOLS) ## measure what matters as ratios in one run, or PARTS='core query'; writes bench/results.json and docs/performance.md
	@$(PEERS)/bin/python -m bench $(PARTS)

screenshots: $(TOOLS) ## write pictures of every page to screenshots/
	@$(BIN)/python -m tests.support.screenshots screenshots

clean: ## remove what the other targets made, but no league
	rm -rf $(VENV) $(PEERS) .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache screenshots docs-site
