# Everything a newcomer needs; `make` alone lists it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SETUP := $(VENV)/.setup

.DEFAULT_GOAL := help
.PHONY: help setup league test check proto bench clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(SETUP) ## make .venv with the two packages and the tools to work on them

$(SETUP): pyproject.toml sdk/pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e sdk -e '.[dev,fast]'
	@touch $@

proto: setup ## regenerate sdk/src/treelings/v1 from proto/
	$(BIN)/python -m grpc_tools.protoc -I proto --python_out=sdk/src --pyi_out=sdk/src proto/treelings/v1/*.proto
	PATH="$(BIN):$$PATH" $(BIN)/python -m grpc_tools.protoc -I proto --grpc_python_out=sdk/src \
		--mypy_grpc_out=sdk/src proto/treelings/v1/bot.proto
