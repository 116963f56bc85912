# Everything a newcomer needs: `make demo`, `make test`. Set-up happens on first use, into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test lint bench campaign simulate mutants torture clean

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[all,dev]'
	touch $@

demo: $(READY)
	$(BIN)/gapline demo

test: $(READY)
	tools/system-packages
	$(BIN)/python -m pytest -n 2 --dist worksteal

lint: $(READY)
	$(BIN)/ruff check src tests bench campaigns simulations torture tools
	$(BIN)/ruff format --check src tests bench campaigns simulations torture tools
	$(BIN)/mypy

bench: $(READY)
	tools/system-packages
	$(BIN)/python -m bench

campaign: $(READY)
	tools/system-packages
	$(BIN)/python -m campaigns

simulate: $(READY)
	tools/system-packages
	$(BIN)/python -m simulations

mutants: $(READY)
	$(BIN)/python tools/mutate -j 2

torture: $(READY)
	tools/system-packages
	$(BIN)/python -m torture

clean:
	rm -rf $(VENV) demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
