# Two commands matter: `make run` and `make test`. Both set up what they need.
# `make drill` breaks a site of its own on purpose, `make crowd` fills one with customers at
# once: docs/DRILL.md.
PORT ?= 8000
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
PY := $(VENV)/bin/python
ARGS ?=

# A live site as far as the checks can see; nothing here is anybody's secret.
DEPLOY := SITE_URL=https://oracle.example BEHIND_PROXY=1 STAFF_EMAILS=staff@oracle.example \
	GEMINI_API_KEY=none STRIPE_SECRET_KEY=none STRIPE_WEBHOOK_SECRET=none \
	ORACLE_MAIL=smtp EMAIL_HOST=mail.oracle.example \
	SECRET_KEY=a-key-that-only-the-deployment-check-ever-sees-9f2c41d07be85a36

.PHONY: run test check audit bench drill crowd format screenshots

run: $(VENV)/.runtime
	@$(PY) -m oracle_site.dev_setup --port $(PORT) $(if $(SANDBOX_PORT),--sandbox-port $(SANDBOX_PORT)); \
		code=$$?; case $$code in 130|143) ;; *) exit $$code ;; esac  # Ctrl-C and SIGTERM are no failure

test: $(VENV)/.dev
	@$(PY) -m tests.everything $(ARGS)

check: $(VENV)/.dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy .
	$(PY) manage.py makemigrations --check --dry-run
	$(PY) manage.py check --fail-level WARNING
	$(DEPLOY) $(PY) manage.py check --deploy --fail-level WARNING

# Needs the internet, so it is no part of `make test`.
audit: $(VENV)/.dev
	@$(PY) -m tests.advisories $(ARGS)

bench: $(VENV)/.bench
	@$(PY) -m benchmarks $(ARGS)

# 1,000 orders on SQLite, then on a throwaway PostgreSQL; ARGS="--seed 7" repeats a drill.
drill: $(VENV)/.dev
	@$(PY) manage.py drill --database sqlite --orders 1000 $(ARGS)
	@$(PY) manage.py drill --database postgres --orders 1000 $(ARGS)

# 500 orders at once on a model that takes one request a second: ten minutes each.
crowd: $(VENV)/.dev
	@$(PY) manage.py drill --database sqlite --orders 500 --crowd 1 $(ARGS)
	@$(PY) manage.py drill --database postgres --orders 500 --crowd 1 $(ARGS)

screenshots: $(VENV)/.dev
	@$(PY) -m tests.screenshots

format: $(VENV)/.dev
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

$(VENV)/bin/python:
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null || { \
		echo "Oracle needs Python 3.11, and '$(PYTHON)' is not it: set PYTHON=/path/to/python3.11." >&2; exit 1; }
	@"$(PYTHON)" -m venv $(VENV) || { \
		echo "The virtual environment could not be made: Python's venv module is missing." >&2; \
		rm -rf $(VENV); exit 1; }

$(VENV)/.runtime: requirements.txt | $(VENV)/bin/python
	@echo "Installing what the site needs ..."
	@$(call install,requirements.txt)
	@touch $@

$(VENV)/.dev: requirements-dev.txt $(VENV)/.runtime
	@echo "Installing what the tests need ..."
	@$(call install,requirements-dev.txt)
	@touch $@

$(VENV)/.bench: requirements-bench.txt $(VENV)/.dev
	@echo "Installing what the benchmarks need ..."
	@$(call install,requirements-bench.txt)
	@touch $@

define install
$(PY) -m pip install --quiet --disable-pip-version-check -r $(1) || { \
	echo "Installing $(1) failed, the lines above say why: is the package index reachable?" >&2; exit 1; }
endef
