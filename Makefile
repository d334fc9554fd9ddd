# Everything a developer runs, from a fresh clone with nothing but python3
# (3.11 or newer, with venv and pip), git and make.
#
#     make test     unit and functional tests on SQLite, no root
#     make integration   what needs MariaDB, PostgreSQL and RabbitMQ, or a cloud
#     make cloud    a cloud of real OpenStack services on this machine
#     make simulation   seeded histories of convergence, and the mutants
#     make demo     a stack's whole life, through the real openstack client
#     make lint types docs      what the gate checks beside the tests
#     make ci       all of it and the tests that need services: .ci/run (root)

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DOCS_STAMP := $(VENV)/.installed-docs
REQUIREMENTS := constraints.txt requirements.txt test-requirements.txt \
	setup.cfg setup.py pyproject.toml
# Workers for stestr; empty lets it take one per core.
CONCURRENCY ?=
# Other tests than all: make test TESTS=heat.tests.unit.db
TESTS ?=

# Tests that need a database server or a broker have its name in theirs, or are
# the (mysql) and (postgresql) scenarios of a test; `make test` does not select
# them, `make integration` does.
SERVICE_TESTS := test_processes|MariaDB|PostgreSQL|RabbitMQ|MessagingBus|\((mysql|postgresql)

# What a test prints and logs is shown when it fails.
export OS_STDOUT_CAPTURE ?= 1
export OS_STDERR_CAPTURE ?= 1
export OS_TEST_TIMEOUT ?= 300

.PHONY: help venv test integration services cloud cloud-stop cloud-destroy \
    cloud-tests simulation demo lint format types docs ci clean

help:
	@sed -n 's/^#     //p' Makefile

venv: $(STAMP)

$(STAMP): $(REQUIREMENTS)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "Python 3.11 or newer is needed: make PYTHON=python3.12" >&2; \
	      exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet \
	    -r requirements.txt -r test-requirements.txt -e .
	@touch $@

$(DOCS_STAMP): $(STAMP) doc/requirements.txt
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet \
	    -r doc/requirements.txt
	@touch $@

test: $(STAMP)
	env -u HEAT_TEST_MYSQL_URL -u HEAT_TEST_POSTGRESQL_URL \
	    -u HEAT_TEST_RABBIT_URL -u HEAT_TEST_REQUIRE_SERVICES \
	    PYTHON=$(abspath $(BIN))/python $(BIN)/stestr run \
	    --exclude-regex '$(SERVICE_TESTS)' \
	    $(if $(CONCURRENCY),--concurrency $(CONCURRENCY)) $(TESTS)

# Need the services named by HEAT_TEST_*_URL (the loopback ones by default).
# The tests against a cloud take the one that OS_* names, or start our own,
# which stays: `make cloud-stop` ends it, `make cloud-destroy` forgets it.
INTEGRATION := integration services cloud cloud-tests cloud-stop cloud-destroy
$(INTEGRATION): export HEAT_TEST_REQUIRE_SERVICES = 1
$(INTEGRATION): export HEAT_TEST_MYSQL_URL ?= mysql+pymysql://root@127.0.0.1:3306
$(INTEGRATION): export HEAT_TEST_POSTGRESQL_URL ?= \
	postgresql+psycopg2://postgres@127.0.0.1:5432
$(INTEGRATION): export HEAT_TEST_RABBIT_URL ?= \
	rabbit://guest:guest@127.0.0.1:5672/
CLOUD := $(BIN)/python -m heat_integrationtests.openstack

integration: services cloud-tests

services: $(STAMP)
	PYTHON=$(abspath $(BIN))/python $(BIN)/stestr --test-path . run \
	    --concurrency 1 --exclude-regex test_cloud \
	    '$(or $(TESTS),heat_integrationtests|$(SERVICE_TESTS))'

cloud: $(STAMP)
	@$(CLOUD) start
	@echo 'eval "$$($(CLOUD) env)"'

cloud-stop cloud-destroy: $(STAMP)
	@$(CLOUD) $(@:cloud-%=%)

# A folder for the results of its own, so that it may run beside the others.
# Two at once: much of a story is waiting, and our cloud has room for two.
RESULTS ?= .stestr-cloud
cloud-tests: $(STAMP)
	if [ -z "$$OS_AUTH_URL" ]; then \
	    $(CLOUD) start && login=$$($(CLOUD) env) && eval "$$login"; \
	fi && mkdir -p $(RESULTS) && \
	    PYTHON=$(abspath $(BIN))/python $(BIN)/stestr \
	    --repo-url $(RESULTS) --test-path . run \
	    --concurrency $(or $(CONCURRENCY),2) '$(or $(TESTS),heat_integrationtests.test_cloud)'

# More on demand: make simulation SEEDS=100000
SEEDS ?= 5000
simulation: $(STAMP)
	$(BIN)/python -m heat.tests.convergence.simulate --seeds $(SEEDS) \
	    --processes 2
	$(BIN)/python -m heat.tests.convergence.simulate --mutants \
	    --processes 2

demo: $(STAMP)
	$(BIN)/python tools/demo.py

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/flake8

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(STAMP)
	$(BIN)/mypy

docs: $(DOCS_STAMP)
	$(BIN)/sphinx-build -W --keep-going -q -b html doc/source doc/build/html
	@echo "doc/build/html/index.html"

ci:
	.ci/run

clean:
	rm -rf $(VENV) .tox .stestr .hypothesis .mypy_cache .ruff_cache cover \
	    build dist doc/build doc/source/_generated *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
