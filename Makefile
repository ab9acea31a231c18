# Three commands, which set up .venv: `make demo` shows a route and two searches for it, `make serve` the page on a map,
# `make test` checks everything. For releases: `make version`, `make dist`, `make try`.

PYTHON ?= python3
BIN := .venv/bin

PAGE := src/orienteer/service/page/index.html
PAGE_SOURCES := $(wildcard web/index.html web/*.ts web/*.json web/src/* web/test/* examples/city.csv examples/day_in_town.csv)

.PHONY: demo serve page docs test lint types tests version dist try notebooks clean

demo: .venv/plot.stamp
	@mkdir -p out
	$(BIN)/python examples/two_searches.py out/city.png

# The extra exact is for bounds beside the plans.
serve: .venv/service,exact.stamp page
	$(BIN)/orienteer serve

page: $(PAGE)

# The site, into site/. Open site/index.html; for its search, let `python -m http.server -d site` serve the folder.
# The extra service is for the page of all requests.
docs: .venv/docs,service.stamp
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

test: lint types tests

lint: .venv/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/dev.stamp
	$(BIN)/mypy

tests: .venv/dev.stamp page
	web/npm run --silent test
	$(BIN)/pytest -n 2 --dist loadgroup

# Wheel and sdist of the last commit and the built page, dated by the commit. What is not committed is left out.
dist: .venv/dev.stamp page
	rm -rf build/commit dist && mkdir -p build/commit
	git archive HEAD | tar -x -C build/commit
	cp -r $(dir $(PAGE)) build/commit/$(dir $(PAGE))
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/python -m build --no-isolation --outdir dist build/commit
	cd dist && sha256sum *

# The number of a new version, in all places that tell it: make version VERSION=1.0.1
version:
	test -n "$(VERSION)"
	sed -i 's/^__version__ = .*/__version__ = "$(VERSION)"/' src/orienteer/version.py
	sed -i 's/^version: .*/version: $(VERSION)/' CITATION.cff
	sed -i 's/^## Unreleased$$/&\n\n## $(VERSION)/' CHANGELOG.md

# The wheel of `make dist`, installed and tried by another Python: make try PYTHON=python3.14
try:
	rm -rf build/try && $(PYTHON) -m venv build/try
	build/try/bin/pip install --quiet --disable-pip-version-check "$$(ls dist/*.whl)[service,plot,excel,exact]"
	build/try/bin/python tests/installed.py

# The outputs of the tutorials, anew. That of training takes ten minutes: make notebooks NOTEBOOKS=own_network
NOTEBOOKS ?= day_in_town own_solver routing_engine spreadsheet_to_gpx technicians
notebooks: .venv/dev.stamp
	$(BIN)/python tests/notebooks.py $(NOTEBOOKS)

# One stamp for each extra that is installed; a changed pyproject.toml installs anew. The demo imports little of what pip
# would compile for it, and Python compiles that little itself.
.venv/%.stamp: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and f"Python 3.11 or newer is needed, this is {sys.version}")'
	test -x $(BIN)/pip || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check $(if $(filter plot,$*),--no-compile) -e '.[$*]'
	@touch $@

# npm install, not npm ci, which wants native packages of every platform in the lock file. With --no-save the lock file holds
# and stays as it is.
web/node_modules/.stamp: web/package.json web/package-lock.json
	test -x $(BIN)/pip || $(PYTHON) -m venv .venv
	web/npm install --no-save --silent
	@touch $@

$(PAGE): $(PAGE_SOURCES) web/node_modules/.stamp
	web/npm run --silent build
	@touch $@

clean:
	rm -rf .venv out build dist site src/*.egg-info web/node_modules src/orienteer/service/page
