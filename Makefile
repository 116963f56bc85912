# Everything a newcomer needs: `make demo`, `make test`. Set-up happens on first use, into .venv: `make demo` installs what
# the demo needs, `make test` adds what the fast tests drive, and the other targets everything else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := $(VENV)/.demo
TEST := $(VENV)/.test
READY := $(VENV)/.ready
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
LOWEST := .venv-lowest
VALIDATORS := .venv-validators
# The oldest Python that pyproject.toml allows and this machine has.
OLDEST = $(firstword $(foreach v,11 12 13 14,$(shell python3.$(v) -c 'import sys; print(sys.executable)' 2>/dev/null)))

.PHONY: demo test test-all test-lowest lint docs docs-refresh bench bench-large compare-peers campaign paper-campaign \
	simulate mutants torture everything clean

$(DEMO): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade pip
	$(PIP) -e '.[demo]'
	touch $@

$(TEST): $(DEMO)
	$(PIP) -e '.[test]'
	touch $@

$(READY): $(TEST)
	$(PIP) -e '.[all,dev]'
	touch $@

demo: $(DEMO)
	$(BIN)/gapline demo
	@echo
	@echo 'gapline is $(BIN)/gapline; for this shell: export PATH="$(CURDIR)/$(BIN):$$PATH"'

# Compiled modules are kept, also where the environment says otherwise: the tests start hundreds of processes.
test test-all test-lowest: export PYTHONDONTWRITEBYTECODE :=

# Every unit and property test, and one test each with a browser, a cluster and the solvers. Of the system it needs Chromium.
test: $(TEST)
	tools/system-packages chromium
	$(BIN)/python -m pytest -n 2 --dist worksteal -m 'not slow'

# The rest: what kills, waits, browses, installs or takes long; and every property test with all its examples.
# Three at a time on two cores: a third of the time is waiting for runs, browsers and clusters.
test-all: export HYPOTHESIS_PROFILE := full
test-all: $(READY) $(VALIDATORS)/.ready
	tools/system-packages
	$(BIN)/python -m pytest -n 3 --dist worksteal -m 'slow or hypothesis'

# The lower bounds of pyproject.toml are true: every test, with the lowest versions that they allow.
test-lowest: $(LOWEST)/.ready $(VALIDATORS)/.ready
	tools/system-packages
	$(LOWEST)/bin/python -m pytest -n 2 --dist worksteal

# All of the above, mutants, torture and benchmarks, once for this commit; goes on where it was interrupted.
everything:
	tools/everything

$(LOWEST)/.ready: pyproject.toml
	$(OLDEST) -m venv --clear $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check uv
	$(LOWEST)/bin/uv pip install --quiet --python $(LOWEST)/bin/python --resolution lowest-direct -e '.[all,dev]'
	touch $@

# Programs by which others judge what a package says of itself; they want older libraries than gapline does.
$(VALIDATORS)/.ready: tools/keep-context
	$(PYTHON) -m venv --clear $(VALIDATORS)
	$(VALIDATORS)/bin/python -m pip install --quiet --disable-pip-version-check \
		roc-validator==0.13.0 cffconvert==2.0.0 rocrate==0.15.0
	$(VALIDATORS)/bin/python tools/keep-context $(VALIDATORS)/http-cache
	touch $@

lint: $(READY)
	$(BIN)/ruff check src tests bench campaigns handbook peers simulations torture tools
	$(BIN)/ruff format --check src tests bench campaigns handbook peers simulations torture tools
	$(BIN)/mypy
	$(BIN)/mypy --config-file tests/mypy.ini
	$(BIN)/python tools/lint-javascript

# The documentation as a site that needs no network, in site/.
docs: $(READY)
	$(BIN)/python -m handbook

# Every output that a page quotes, every generated table and every drawing, made anew.
docs-refresh: $(READY)
	tools/system-packages
	$(BIN)/python -m handbook refresh

bench: $(READY)
	tools/system-packages
	$(BIN)/python -m bench

# What no CI has room for: a thousand million candidates, then four, scored within two gigabytes of memory; a log of
# 20 GB and 200,000 small ones imported (in full: python -m bench.large_log --log 100GB --logs 1000000).
bench-large: $(READY)
	$(BIN)/python -m bench.large
	$(BIN)/python -m bench.large_log

# Other tools on the same traces: values, time, memory, features; writes docs/compared.md. IPET=CHECKOUT adds IPET.
compare-peers: $(READY)
	$(BIN)/python -m peers $(if $(IPET),--ipet '$(IPET)')

# Five campaigns from a question to a page of docs/gallery/: about a quarter of an hour on two quiet cores.
campaign: $(READY)
	tools/system-packages
	$(BIN)/python -m campaigns.gallery

# The contract of the paper's campaign, small: run, report and the paper's figures and tables, in paper-small/.
paper-campaign: $(READY)
	tools/system-packages
	$(BIN)/python -m campaigns.paper

simulate: $(READY)
	tools/system-packages
	$(BIN)/python -m simulations

mutants: $(READY)
	$(BIN)/python tools/mutate -j 2

torture: $(READY)
	tools/system-packages
	$(BIN)/python -m torture

clean:
	rm -rf $(VENV) $(LOWEST) $(VALIDATORS) demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
