# Start with `make run` and `make test`: both install what they need. `make drill` injects faults
# into a whole site, `make crowd` sends it many orders at once: see docs/DRILL.md.
PORT ?= 8000
# Python of the virtual environment; if empty, the newest supported one that is installed.
PYTHON ?=
VENV := .venv
PY := $(VENV)/bin/python
ARGS ?=

# Dummy settings of a live site, for the deployment checks.
DEPLOY := SITE_URL=https://oracle.example BEHIND_PROXY=1 STAFF_EMAILS=staff@oracle.example \
	GEMINI_API_KEY=none STRIPE_SECRET_KEY=none STRIPE_WEBHOOK_SECRET=none \
	ORACLE_MAIL=smtp EMAIL_HOST=mail.oracle.example \
	SECRET_KEY=a-key-that-only-the-deployment-check-ever-sees-9f2c41d07be85a36

.PHONY: run test test-fast prove check audit bench drill crowd format screenshots lock venv

run: $(VENV)/.runtime
	@$(PY) -m oracle_site.dev.dev_setup --port $(PORT) $(if $(SANDBOX_PORT),--sandbox-port $(SANDBOX_PORT)); \
		code=$$?; case $$code in 130|143) ;; *) exit $$code ;; esac  # Ctrl-C and SIGTERM are not failures

# SQLite and PostgreSQL, browser and whole sites: up to ten minutes on two cores.
test: $(VENV)/.dev
	@$(PY) -m tests.runner $(ARGS)

# SQLite, without browser, whole sites and slow tests: under a minute on two cores.
test-fast: $(VENV)/.dev
	@env -u PYTHONDONTWRITEBYTECODE $(PY) -m pytest -q -n 3 --dist loadfile --no-loadscope-reorder \
		-m "not browser and not site and not slow" --hypothesis-profile=fast -p no:schemathesis $(ARGS)

# End-to-end proofs that are too slow for `make test`; needs root and debootstrap.
prove: $(VENV)/.dev
	EVERY_RESPONSE_COUNTS=1 $(PY) -m pytest -q tests/deploy/test_floods.py
	prove/debian trixie
	prove/debian forky
	prove/image
	prove/systemd

check: $(VENV)/.dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy .
	$(VENV)/bin/vulture
	$(PY) manage.py makemigrations --check --dry-run
	$(PY) manage.py check --fail-level WARNING
	$(DEPLOY) $(PY) manage.py check --deploy --fail-level WARNING

# Known vulnerabilities. Not part of `make test`, because it needs the internet.
audit: $(VENV)/.dev
	@$(PY) -m tests.advisories $(ARGS)

bench: $(VENV)/.bench
	@$(PY) -m benchmarks $(ARGS)

# 1,000 orders on SQLite, then on a temporary PostgreSQL; ARGS="--seed 7" repeats a drill.
drill: $(VENV)/.dev
	@$(PY) manage.py drill --database sqlite --orders 1000 $(ARGS)
	@$(PY) manage.py drill --database postgres --orders 1000 $(ARGS)

# 500 orders at once on a model with a quota of one request per second: ten minutes each.
crowd: $(VENV)/.dev
	@$(PY) manage.py drill --database sqlite --orders 500 --crowd 1 $(ARGS)
	@$(PY) manage.py drill --database postgres --orders 500 --crowd 1 $(ARGS)

screenshots: $(VENV)/.dev
	@$(PY) -m tests.screenshots

format: $(VENV)/.dev
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

# After a change of a requirements*.in. Transitive dependencies stay at their versions, unless
# ARGS="--upgrade-package NAME" or ARGS=--upgrade.
lock: $(VENV)/.dev
	$(call compile,requirements)
	$(call compile,requirements-dev)
	$(call compile,requirements-bench)

define compile
$(VENV)/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" \
	$(ARGS) $(1).in -o $(1).txt
endef

# Debian packages ensurepip separately from Python; some builds lack sqlite3 or ssl.
USABLE := import ensurepip, sqlite3, ssl, sys, venv; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 15))
MINOR := import sys; print("%d.%d" % sys.version_info[:2])

venv:
	@if [ -e $(VENV) ] && ! $(PY) -c 'import pip' 2>/dev/null; then \
		echo "$(VENV) is incomplete, or its Python was replaced or removed: delete $(VENV) and try again." >&2; \
		exit 1; \
	fi
	@if [ -e $(VENV) ] && [ -n "$(PYTHON)" ] && \
		[ "$$("$(PYTHON)" -c '$(MINOR)')" != "$$($(PY) -c '$(MINOR)')" ]; then \
		echo "$(VENV) has another version of Python than PYTHON=$(PYTHON): delete $(VENV) and try again." >&2; \
		exit 1; \
	fi
	@[ ! -e $(VENV) ] || exit 0; \
	if [ -n "$(PYTHON)" ]; then set -- "$(PYTHON)"; \
	else set -- python3.14 python3.13 python3.12 python3.11 python3; fi; \
	for python; do \
		if "$$python" -c '$(USABLE)' 2>/dev/null; then exec "$$python" -m venv $(VENV); fi; \
	done; \
	echo "Oracle needs Python 3.11 to 3.14 with its venv and sqlite3 modules (tried: $$*): install it, or set PYTHON=/path/to/python3." >&2; \
	exit 1

$(VENV)/.runtime: requirements.txt | venv
	@echo "Installing the requirements of the site ..."
	@$(call install,requirements.txt)
	@touch $@

$(VENV)/.dev: requirements-dev.txt $(VENV)/.runtime
	@echo "Installing the requirements of the tests ..."
	@$(call install,requirements-dev.txt)
	@touch $@

$(VENV)/.bench: requirements-bench.txt $(VENV)/.dev
	@echo "Installing the requirements of the benchmarks ..."
	@$(call install,requirements-bench.txt)
	@touch $@

define install
$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r $(1) || { \
	echo "Installing $(1) failed, see the lines above: is the package index reachable?" >&2; exit 1; }
endef
