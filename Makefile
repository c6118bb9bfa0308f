# Two commands: `make demo` and `make test`. Everything else is `context-builder --help`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# pip takes the CPU build of torch: without the extra index Linux would get 5.6 GB of CUDA. Where the index cannot be
# reached pip goes on with what it has. Nothing is compiled at once: of some 15,000 modules a run imports a few hundred.
PIP := $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --retries 0 --timeout 5 \
	--extra-index-url https://download.pytorch.org/whl/cpu --constraint constraints.txt
# One thread for each inference: more are slower, and much slower on busy cores.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
# Else each thread has a heap of its own that keeps what it freed: 180 MB a process of the tests.
export MALLOC_ARENA_MAX := 2
# Else each process of the tests compiles every module anew.
unexport PYTHONDONTWRITEBYTECODE

# What a step took, for who waits for it. Used as `$(BEGIN); step && $(call TOOK,the step)`.
BEGIN = began=$$(date +%s)
TOOK = echo "$(1) took $$(($$(date +%s) - began)) s"

.NOTPARALLEL:
.PHONY: demo test test-core up check clean

demo: $(VENV)/model
	@$(BEGIN); $(BIN)/context-builder demo && $(call TOOK,the demo)

# Everything: the tests, and the checks beside them. BUSY=2 runs it beside two busy loops, as on a machine that is not quiet.
BUSY ?= 0
test: $(VENV)/dev $(VENV)/model
	@$(BIN)/python -m tests.suite $(BUSY)

# What a change of domain, language, wire, ports, remember, recall, assemble, publish, service and worker needs, in a minute: no
# service, no broker, no PostgreSQL, no model.
CORE := domain language wire remember recall assemble publish service worker
test-core: $(VENV)/dev
	@$(BIN)/python -m pytest --processes 2 -k "not postgresql" \
		$(CORE:%=tests/unit/%) tests/extras/summaries tests/extras/explain tests/extras/chat_formats tests/golden tests/contract/test_store.py

up: $(VENV)/model
	@$(BIN)/context-builder up

check: $(VENV)/dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/context-builder schemas export --check

$(VENV)/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(v < (3, 11) and f"Python 3.11 or newer is needed, this is {v.major}.{v.minor}; run make PYTHON=python3.11")'
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/service: $(VENV)/python pyproject.toml constraints.txt
	@echo "installing the service into $(VENV) (about 1.5 GB with the CPU build of torch, once) ..."
	@$(BEGIN); $(PIP) --editable '.[service]' && $(call TOOK,pip)
	@$(BIN)/python -c 'import importlib.metadata as m; print("installed", ", ".join(f"{p} {m.version(p)}" for p in ("faststream", "onnxruntime", "torch", "sentence-transformers")))'
	@du -sh $(VENV) | cut -f1 | sed 's/^/size of $(VENV): /'
	@touch $@

# With the service in one go: pip resolves and unpacks once.
$(VENV)/dev: $(VENV)/python pyproject.toml constraints.txt
	@echo "installing the service and the tools for tests into $(VENV) (about 2.4 GB with the CPU build of torch, once) ..."
	@$(BEGIN); $(PIP) --editable '.[service,dev]' && $(call TOOK,pip)
	@touch $(VENV)/service $@

$(VENV)/model: $(VENV)/service
	@$(BEGIN); $(BIN)/context-builder models prepare && $(call TOOK,preparing the model)
	@touch $@

clean:
	rm -rf $(VENV)
