# Everything a newcomer needs: `make demo`, `make test`. Set-up happens on first use, into .venv: `make demo` installs what
# the demo needs (about 1 GB), everything else adds what the tests drive (2.7 GB in all).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := $(VENV)/.demo
READY := $(VENV)/.ready
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
LOWEST := .venv-lowest
VALIDATORS := .venv-validators
# The oldest Python that pyproject.toml allows and this machine has.
OLDEST = $(firstword $(foreach v,11 12 13 14,$(shell python3.$(v) -c 'import sys; print(sys.executable)' 2>/dev/null)))

.PHONY: demo test test-lowest lint docs docs-refresh bench bench-large compare-peers campaign paper-campaign \
	simulate mutants torture clean

$(DEMO): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade pip
	$(PIP) -e '.[demo]'
	touch $@

$(READY): $(DEMO)
	$(PIP) -e '.[all,dev]'
	touch $@

demo: $(DEMO)
	$(BIN)/gapline demo
	@echo
	@echo 'gapline is $(BIN)/gapline; for this shell: export PATH="$(CURDIR)/$(BIN):$$PATH"'

# Compiled modules are kept, also where the environment says otherwise: the tests start more than a thousand processes.
test test-lowest: export PYTHONDONTWRITEBYTECODE :=

# Three at a time on two cores: a third of what the tests take is waiting for runs, browsers and clusters.
test: $(READY) $(VALIDATORS)/.ready
	tools/system-packages
	$(BIN)/python -m pytest -n 3 --dist worksteal

# The lower bounds of pyproject.toml are true: every test, with the lowest versions that they allow.
test-lowest: $(LOWEST)/.ready $(VALIDATORS)/.ready
	tools/system-packages
	$(LOWEST)/bin/python -m pytest -n 2 --dist worksteal

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
