# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# The Python that makes the environment; everything else runs with the one in .venv.
PYTHON ?= python3
# The lab: its name, how many hosts, which engine is loaded into them, where its inventory goes.
NAME ?= demo
HOSTS ?= 2
ENGINE ?= vllm-cpu
INVENTORY ?= inventories/lab
# KEEP=1 leaves the lab of `make demo` up.
KEEP ?=
# BACKEND=mp or ray: `make demo` serves on both hosts together (TP=2).
BACKEND ?=
SCENARIO ?= default
# Which engine `make chaos` breaks.
CHAOS_ENGINE ?= double
# More arguments for pytest, for the checks (`make test ARGS='--only ruff'`) or for the benchmark.
ARGS ?=

export PATH := $(CURDIR)/.venv/bin:$(PATH)
export ANSIBLE_CONFIG := $(CURDIR)/ansible.cfg
export PYTHONUNBUFFERED := 1
# Bytecode is kept, beside the other things that are made once: every ansible-playbook starts half a second sooner.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX := $(or $(DGXSPARK_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/dgxspark-serving)/pycache

CHECK := python -m tools.check_all
# For programs that import the collection's own code; Ansible finds it by ansible.cfg.
WITH_COLLECTION := PYTHONPATH=.collections

.DEFAULT_GOAL := help
.PHONY: help venv demo test lint unit sanity docs-lint tarball molecule lab-test chaos lab-up lab-down lab-status bench docs clean

help: ## List the targets
	@$(PYTHON) -m tools.make_help Makefile
	@echo
	@echo "  Variables: NAME=$(NAME) HOSTS=$(HOSTS) ENGINE=$(ENGINE) SCENARIO=$(SCENARIO) BACKEND=mp|ray KEEP=1 ARGS='...' PYTHON=$(PYTHON)"

venv: ## Make the virtual environment (.venv, shared through the cache)
	@$(PYTHON) -m tools.venv

demo: venv ## Lab of two hosts, real vLLM on each behind a gateway (or BACKEND=ray: on both), an answer, the benchmark's report
	@python -m tools.demo --name $(NAME) --hosts $(HOSTS) --engine $(ENGINE) --inventory $(INVENTORY) $(if $(BACKEND),--backend $(BACKEND)) $(if $(KEEP),--keep)

test: venv ## Every check there is: lint, unit, sanity, docs, tarball, lab and Molecule
	@$(CHECK) $(ARGS)

lint: venv ## ruff, yamllint and ansible-lint
	@$(CHECK) --only ruff --only yamllint --only ansible-lint

unit: venv ## Unit tests of plugins, lab and tools
	@python -m pytest tests/unit tests/field $(ARGS)

sanity: venv ## ansible-test: sanity, and the units on the oldest Python at hand
	@$(CHECK) --only ansible-test

docs-lint: venv ## Documentation of plugins and roles, and the changelog
	@$(CHECK) --only antsibull

tarball: venv ## Build the collection's tarball, install it elsewhere, check its playbooks by full name
	@python -m tools.tarball

molecule: venv ## One Molecule scenario (SCENARIO=default)
	@molecule test -s $(SCENARIO)

lab-test: venv ## Tests of the lab itself, with real containers
	@python -m pytest tests/lab -v $(ARGS)

chaos: venv ## Break a replica of two hosts in every way we know (CHAOS_ENGINE=double|vllm-cpu), and time its recovery
	@CHAOS_RECORD=1 CHAOS_ENGINE=$(CHAOS_ENGINE) python -m pytest tests/chaos -v $(ARGS)

lab-up: venv ## Start a lab and write its inventory (NAME, HOSTS, ENGINE, INVENTORY)
	@python -m lab up --name $(NAME) --hosts $(HOSTS) --engine $(ENGINE) --inventory $(INVENTORY)

lab-down: venv ## Take a lab down (NAME)
	@python -m lab down --name $(NAME)

lab-status: venv ## Show a lab (NAME)
	@python -m lab status --name $(NAME)

bench: venv ## Measure our own cost: preflight, looking at a model, copies, an unchanged deployment, a first one beside bare `docker run`, the supervisor, the sampler; how often the verdict is right
	@$(WITH_COLLECTION) python -m benchmarks.preflight $(ARGS)
	@$(WITH_COLLECTION) python -m benchmarks.model_info
	@$(WITH_COLLECTION) python -m benchmarks.fanout
	@$(WITH_COLLECTION) python -m benchmarks.deploy_noop $(ARGS)
	@$(WITH_COLLECTION) python -m benchmarks.deploy_overhead
	@$(WITH_COLLECTION) python -m benchmarks.supervisor_cost
	@$(WITH_COLLECTION) python -m benchmarks.sampler_cost
	@$(WITH_COLLECTION) python -m benchmarks.verdict

docs: venv ## Write docs/variables.md and the tables of docs/models.md and docs/gateway.md from the code
	@$(WITH_COLLECTION) python -m tools.variables_doc
	@$(WITH_COLLECTION) python -m tools.models_doc
	@$(WITH_COLLECTION) python -m tools.gateway_doc

clean: ## Remove what the checks left in the checkout (the cache outside of it stays)
	@rm -rf results tests/output .cache .ansible .ruff_cache .pytest_cache .venv
	@find . -name __pycache__ -type d -not -path './.collections/*' -prune -exec rm -rf {} +
