# Two commands: `make demo` shows a route and two searches for it, `make test` checks everything. Both set up .venv.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint types tests clean

demo: .venv/plot.stamp
	@mkdir -p out
	$(BIN)/python examples/two_searches.py out/city.png

test: lint types tests

lint: .venv/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/dev.stamp
	$(BIN)/mypy

tests: .venv/dev.stamp
	$(BIN)/pytest -n 2

# One stamp for each extra that is installed; a changed pyproject.toml installs anew. The demo imports little of what pip
# would compile for it, and Python compiles that little itself.
.venv/%.stamp: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and f"Python 3.11 or newer is needed, this is {sys.version}")'
	test -x $(BIN)/pip || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check $(if $(filter plot,$*),--no-compile) -e '.[$*]'
	@touch $@

clean:
	rm -rf .venv out build dist src/*.egg-info
