PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
WORKERS ?= 3
SIZE ?= 500
SEED ?= 1
FUZZ := fuzz-reads fuzz-readers fuzz-words fuzz-options fuzz-plain fuzz-confined fuzz-progress

# Compiled files are kept, whatever the environment says: each program that a test starts reads them.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test lint types layers compiled unit slow docs bench fuzz $(FUZZ) mutants clean

demo: $(READY)
	@$(BIN)/python examples/repair/demo.py

test: $(READY)
	@$(MAKE) --jobs 2 --output-sync types lint layers docs compiled
	@$(MAKE) unit

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy
	$(BIN)/mypy examples/*.py examples/typed/*.py examples/test_your_agent/agent.py

layers: $(READY)
	$(BIN)/lint-imports

# Once for all workers of `unit`, which says what cannot be imported.
compiled: $(READY)
	-@$(BIN)/pytest --collect-only --quiet >/dev/null

unit: $(READY)
	$(BIN)/pytest -n $(WORKERS) --dist loadfile -m "not slow"

# The record by itself, one share to a worker at a time; the other files each by one worker.
slow: $(READY)
	$(BIN)/pytest -n $(WORKERS) -m slow tests/test_record.py
	$(BIN)/pytest -n $(WORKERS) --dist loadfile -m slow --ignore tests/test_record.py

docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: $(READY)
	$(BIN)/python -m benchmarks

fuzz: $(READY)
	@$(MAKE) --keep-going --jobs 3 $(FUZZ)

fuzz-words: $(READY)
	SHELL_ORACLE_EXAMPLES=$${FUZZ_EXAMPLES:-50000} $(BIN)/pytest tests/permission/shell/test_argv_oracle.py --timeout 86400

fuzz-reads: $(READY)
	FUZZ_JUDGED=$${FUZZ_JUDGED:-1000000} FUZZ_EXAMPLES=$${FUZZ_EXAMPLES:-50000} \
		$(BIN)/pytest -n $(WORKERS) tests/oracle/test_execution.py -k generator --timeout 86400

fuzz-readers: $(READY)
	PARSED_EXAMPLES=$${PARSED_EXAMPLES:-200000} $(BIN)/pytest tests/oracle/test_parsers.py --timeout 86400

fuzz-options: $(READY)
	FUZZ_EXAMPLES=$${FUZZ_EXAMPLES:-50000} $(BIN)/pytest tests/oracle/test_execution.py -k "corpus or option" --timeout 86400

fuzz-plain: $(READY)
	PLAIN_EXAMPLES=$${PLAIN_EXAMPLES:-600000} $(BIN)/pytest tests/permission/shell/test_plain_reads.py --timeout 86400

fuzz-confined: $(READY)
	CONFINED_EXAMPLES=$${CONFINED_EXAMPLES:-2000} $(BIN)/pytest tests/oracle/test_confinement.py --timeout 86400

fuzz-progress: $(READY)
	PROGRESS_MEGABYTES=$${PROGRESS_MEGABYTES:-100} $(BIN)/pytest tests/progress/test_exactly_once.py --timeout 3600

mutants: $(READY)
	$(BIN)/python -m benchmarks.mutation --size $(SIZE) --seed $(SEED)

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11")'
	@echo "Setting up $(VENV); this takes a minute or two, once."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev --group docs
	@$(BIN)/python -m compileall -q agentscope_like
	@touch $@

clean:
	rm -rf $(VENV) site .mypy_cache .ruff_cache .pytest_cache .hypothesis
