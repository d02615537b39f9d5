# `make lab` and `make test` are all that is needed; both set up first what is missing.
MAKEFLAGS += --no-builtin-rules --no-print-directory
BIN := .venv/bin

.PHONY: lab test quick unbooted lint notebooks site wheel lite release publish bench clean setup

lab:  ## open your copies of the chapters in JupyterLab; the rest is built in the background
	@sh tools/setup.sh --lab
	$(BIN)/netlab lab

setup:  ## system packages, .venv, the pocket kernel, a self-check; does nothing if all are there
	@sh tools/setup.sh

# One worker more than CPUs, because tests of browsers and of real time wait, and no more than 8: a guest may take a
# gigabyte of memory. A file stays on one worker, because a notebook's cells need each other.
WORKERS := -n $(shell n=$$(($$(nproc) + 1)); echo $$((n < 8 ? n : 8))) --dist loadfile
# Some images forbid bytecode: each of the thousand programs and guests that tests start would compile netlab again.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/pytest
ARGS ?=

# The packages, and the folders of tests for each; PACKAGE=netlab_course narrows `make quick` to one.
PACKAGES := netlab netlab_user_code netlab_engines netlab_course netlab_classroom netlab_kernel netlab_replication
TESTS_netlab := base captures commands measure network plots runs theory traffic widgets test_plan.py
TESTS_netlab_user_code := user_code
TESTS_netlab_engines := agent engines lab netlink perf protocol sockets
TESTS_netlab_course := chapters course
TESTS_netlab_classroom := contest grading
TESTS_netlab_kernel := kernel
TESTS_netlab_replication := replication
QUICK_TESTS := $(if $(PACKAGE),$(addprefix tests/,$(TESTS_$(PACKAGE))) $(PACKAGE),tests $(PACKAGES))

test: setup  ## every test, on all CPUs; ARGS="-k udp" runs some; the last line says how many passed
	$(BIN)/python -m netlab_course.authoring --check
	NETLAB_PROGRESS=0 $(PYTEST) $(WORKERS) --nbval --nbval-current-env tests $(PACKAGES) $(wildcard solutions/*.ipynb) $(ARGS)

# The findings of lint, which takes less time than the tests, are printed after the tests, so that the reason of a failure is last.
quick: setup  ## lint, and every test that boots no kernel and starts nothing else that takes long; PACKAGE=netlab_course runs the tests of one package
	@findings=$$(mktemp); trap 'rm -f "$$findings"' EXIT; $(MAKE) lint > "$$findings" 2>&1 & lint=$$!; \
	$(MAKE) unbooted; tests=$$?; \
	if wait $$lint; then [ $$tests != 0 ] || cat "$$findings"; exit $$tests; else cat "$$findings"; exit 1; fi

unbooted:
	$(PYTEST) -q $(WORKERS) -p no:nbval --hypothesis-profile=quick -m "not pocket and not slow" $(QUICK_TESTS) $(ARGS)

lint: setup
	$(BIN)/ruff check . solutions/examiners
	$(BIN)/ruff format --check . solutions/examiners
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/wording.py

notebooks: setup  ## both notebooks of every chapter from solutions/*.py; CHAPTERS="01_udp_loss" makes those of some only
	$(BIN)/python -m netlab_course.authoring $(CHAPTERS)

site: setup  ## the book as two sites in build/site, for students and for instructors, with the page of `make lite`; CHAPTERS="01_udp_loss" makes some only
	$(BIN)/pip install -q --disable-pip-version-check -r requirements-site.lock
	@[ -n "$(CHAPTERS)" ] || $(MAKE) lite || echo "The page in a browser could not be made: the site is made without it."
	$(BIN)/python tools/site.py $(CHAPTERS)

wheel: setup  ## wheels in dist: for any system, for Linux on each processor, and for instructors
	$(BIN)/python tools/wheel.py

lite: setup  ## the course as a page in a browser, in build/lite: any web server shows it
	$(BIN)/python tools/lite.py

release:  ## a release in dist, from a clean working tree: wheels, source, page, site, the list of dependencies, sums; IMAGE=1: also a virtual machine's disk
	@sh tools/setup.sh --release $(if $(IMAGE),--image)
	$(BIN)/python tools/release.py $(if $(IMAGE),--image)

publish:  ## the release in dist on GitHub, of a commit with the version's tag
	python3 tools/publish.py

bench: setup
	$(BIN)/python benchmarks/experiments.py

clean:  ## remove what was made here; built kernels stay in ~/.cache/netlab
	rm -rf .venv .setup.log .setup-pip.log .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist netlab.egg-info
	find netlab tests tools benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
