"""No secret in the repository, in logs, in error pages or in the output of checks."""

import logging
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.test import Client

from drill.sites.child_env import child_env
from oracle_site.service_log import service_log

ROOT = Path(__file__).parents[1]
SECRET_PATTERN = re.compile(
    r"(sk|rk|pk)_live_\w{16}|whsec_[A-Za-z0-9+/]{24}|AIza[\w-]{35}|AKIA[A-Z0-9]{16}"
    r"|gh[pousr]_\w{36}|xox[abp]-\w{10}|-----BEGIN [A-Z ]*PRIVATE KEY|eyJhbGciOi[\w-]{20}"
)
MARK = "zyzzyva"  # part of every secret in these tests
LIVE = {
    "GEMINI_API_KEY": f"{MARK}-gemini",
    "STRIPE_SECRET_KEY": f"sk_test_{MARK}",
    "STRIPE_WEBHOOK_SECRET": f"whsec_{MARK}",
    "SECRET_KEY": f"{MARK}-signs-{'k' * 50}",
    "ORACLE_SERVICE_TOKENS": f"{MARK}-{'t' * 32}",
    "EMAIL_HOST_PASSWORD": f"{MARK}-mail",
    "GRAPH_CLIENT_SECRET": f"{MARK}-graph",
    "DATABASE_URL": f"postgres://oracle:{MARK}-database@127.0.0.1:1/oracle",
    "SITE_URL": "https://oracle.example",
    "STAFF_EMAILS": "staff@oracle.example",
    "ORACLE_MAIL": "smtp",
    "EMAIL_HOST": "mail.oracle.example",
}


def tracked_files() -> list[Path]:
    listed = subprocess.run(
        [shutil.which("git"), "ls-files", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [ROOT / name for name in listed.stdout.split("\0") if name]


def test_the_repository_contains_no_secret():
    files = tracked_files()
    assert ROOT / "manage.py" in files
    found = [path for path in files if SECRET_PATTERN.search(path.read_text(errors="replace"))]
    assert found == []


@pytest.mark.parametrize("line", ["sk_live_" + "a" * 24, "-----BEGIN RSA " + "PRIVATE KEY-----"])
def test_the_pattern_matches_secrets(line):
    assert SECRET_PATTERN.search(line)


@pytest.mark.parametrize(
    ("command", "changes"),
    [
        ("check --deploy", {}),
        ("check --database default", {}),  # the database is unreachable
        ("migrate", {}),
        ("check", {"ORACLE_SERVICE_TOKENS": MARK}),  # too short
        ("check", {"SECRET_KEY": MARK}),  # too short
        ("check", {"DATABASE_URL": f"postgres://oracle:{MARK}@127.0.0.1:x/oracle"}),
        ("check", {"DATABASE_URL": f"mysql://oracle:{MARK}@127.0.0.1/oracle"}),
        ("check", {"STRIPE_SECRET_KEY": ""}),
        ("check", {"SITE_URL": f"https://oracle:{MARK}@oracle.example"}),
        ("check", {"SANDBOX_URL": f"http://oracle:{MARK}@127.0.0.1:8010"}),
    ],
)
def test_no_check_prints_a_secret(command, changes):
    run = subprocess.run(
        [sys.executable, "manage.py", *command.split()],
        cwd=ROOT,
        env=child_env(**{**LIVE, **changes}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert MARK not in run.stdout + run.stderr


@pytest.fixture
def secrets(settings, monkeypatch) -> None:
    """Replaces all secrets of the site with recognizable ones."""
    monkeypatch.setitem(settings.DATABASES["default"], "PASSWORD", f"{MARK}-database")
    settings.GEMINI_API_KEY = f"{MARK}-gemini"
    settings.STRIPE_SECRET_KEY = f"sk_test_{MARK}"
    settings.STRIPE_WEBHOOK_SECRETS = [f"whsec_{MARK}"]
    settings.ORACLE_SERVICE_TOKENS = [f"{MARK}-{'t' * 32}"]
    settings.EMAIL_HOST_PASSWORD = f"{MARK}-mail"
    settings.GRAPH_CLIENT_SECRET = f"{MARK}-graph"


CALLS = [
    ("get", "/metrics", {"Authorization": f"Bearer {MARK}-{'t' * 32}"}),
    ("get", "/metrics", {"Authorization": f"Bearer {MARK}-nearly"}),
    ("post", "/send-verdict-email", {"Authorization": f"Basic {MARK}"}),
    ("post", "/api/webhook", {"Stripe-Signature": f"t=1,v1={MARK}"}),
    ("get", "/oracle/result?session_id=cs_test_a1B2c3D4e5", {}),
    ("post", "/api/checkout", {}),
    ("get", "/admin/", {}),
]
ORDER = b'{"tier": "quick", "query": "Should I?"}'


@pytest.mark.django_db
@pytest.mark.parametrize("debug", [True, False])
@pytest.mark.parametrize(("method", "path", "headers"), CALLS)
def test_neither_log_nor_error_page_contains_a_secret(
    secrets, settings, monkeypatch, caplog, debug, method, path, headers
):
    """Even if the site fails in code that uses the secrets, and in development mode."""
    settings.DEBUG = debug
    for place in (
        "verdicts.api.service_token.compare_digest",
        "stripe.WebhookSignature.verify_header",
        "verdicts.payments.client._client",
        "django.contrib.sessions.backends.db.SessionStore.load",
    ):
        monkeypatch.setattr(place, lambda *_: 1 / 0)
    caplog.set_level(logging.DEBUG)
    client = Client(raise_request_exception=False, DATABASE_URL=LIVE["DATABASE_URL"])
    client.cookies["sessionid"] = f"{MARK}-cookie"
    sent = {"data": ORDER, "content_type": "application/json"} if method == "post" else {}
    response = getattr(client, method)(path, headers=headers, **sent)
    assert response.status_code in (400, 500)
    assert MARK not in response.content.decode()
    assert MARK not in caplog.text


def test_client_libraries_log_warnings_only():
    loggers = service_log("line")["loggers"]
    for name in ("httpx", "httpx2", "stripe", "google_genai"):
        assert loggers[name]["level"] == "WARNING"
