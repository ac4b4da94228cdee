import re
import subprocess
import sys
from pathlib import Path

import pytest

from drill.sites.child_env import child_env

ROOT = Path(__file__).parents[2]


LIVE = {
    "GEMINI_API_KEY": "k",
    "STRIPE_SECRET_KEY": "k",
    "STRIPE_WEBHOOK_SECRET": "k",
    "SITE_URL": "https://oracle.example",
    "STAFF_EMAILS": "staff@oracle.example",
    "SECRET_KEY": "k" * 50,
    "ORACLE_MAIL": "smtp",
    "EMAIL_HOST": "mail.oracle.example",
}


def start(**environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=ROOT,
        env=child_env(**environment),
        capture_output=True,
        text=True,
        check=False,
    )


def test_only_settings_read_the_environment():
    """Passing it to a child process, `{**os.environ, ...}`, is not reading."""
    readers = [
        str(path.relative_to(ROOT))
        for folder in ("audit", "oracle_site", "verdicts")
        for path in (ROOT / folder).rglob("*.py")
        if re.search(
            r"(?<!\*\*)os\.environ\b(?!\.setdefault)|import environ|getenv", path.read_text()
        )
    ]
    # dev_setup prepares the environment of the processes of `make run`.
    assert sorted(readers) == ["oracle_site/dev/dev_setup.py", "oracle_site/settings.py"]


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"ORACLE_PRICE_QUICK": "free"}, "ORACLE_PRICE_QUICK must be a whole number from 50"),
        ({"DEBUG": "0"}, "With DEBUG off the site must be live"),
        ({"DEBUG": "0", "ORACLE_ALLOW_SANDBOX": "1"}, "SECRET_KEY must be set when DEBUG is off"),
        ({**LIVE, "SECRET_KEY": "short"}, "SECRET_KEY must be set when DEBUG is off"),
        ({"GEMINI_API_KEY": "k"}, "GEMINI_API_KEY and STRIPE_SECRET_KEY go together"),
        ({"STRIPE_SECRET_KEY": "k"}, "GEMINI_API_KEY and STRIPE_SECRET_KEY go together"),
        ({**LIVE, "SITE_URL": ""}, "SITE_URL must be set for a live site"),
        ({**LIVE, "STRIPE_WEBHOOK_SECRET": ""}, "STRIPE_WEBHOOK_SECRET must be set"),
        ({**LIVE, "STAFF_EMAILS": ""}, "STAFF_EMAILS must be set for a live site"),
        ({**LIVE, "ORACLE_MAIL": "file"}, "ORACLE_MAIL must be smtp or graph for a live site"),
        ({**LIVE, "EMAIL_HOST": ""}, "EMAIL_HOST must be set with ORACLE_MAIL=smtp"),
        ({**LIVE, "ORACLE_MAIL": ""}, "GRAPH_TENANT must be set with ORACLE_MAIL=graph"),
        ({"ORACLE_MAIL": "pigeon"}, "ORACLE_MAIL must be sandbox or file or smtp or graph"),
        ({"DATABASE_URL": "oracle"}, "DATABASE_URL must look like"),
        ({"SITE_URL": "http://[::1"}, "SITE_URL must be a URL"),
        ({"SUPPORT_EMAIL": "nobody"}, "SUPPORT_EMAIL must be an email address, not 'nobody'"),
    ],
)
def test_an_invalid_value_fails_the_start_with_one_sentence(environment, sentence):
    run = start(**environment)
    assert run.returncode == 1
    assert run.stderr.startswith(f"Oracle does not start: {sentence}")
    assert len(run.stderr.splitlines()) == 1


def test_x_forwarded_proto_is_trusted_only_behind_a_proxy():
    program = "from django.conf import settings; print(settings.SECURE_PROXY_SSL_HEADER)"
    for value, header in (("0", "None"), ("1", "('HTTP_X_FORWARDED_PROTO', 'https')")):
        run = subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env=child_env(BEHIND_PROXY=value, DJANGO_SETTINGS_MODULE="oracle_site.settings"),
            capture_output=True,
            text=True,
            check=True,
        )
        assert run.stdout.strip() == header


@pytest.mark.parametrize("environment", [{}, LIVE], ids=["sandbox", "live"])
def test_the_defaults_are_valid_and_so_is_a_full_set_of_keys(environment):
    assert start(**environment).returncode == 0


@pytest.mark.parametrize(
    ("model", "warning"),
    [
        ("gemini-3.5-flash", "(oracle.W001) ORACLE_MODEL=gemini-3.5-flash ignores temperature"),
        ("gemini-9-ultra", "(oracle.W002) ORACLE_MODEL=gemini-9-ultra is not in the table"),
    ],
)
def test_a_model_without_locked_parameters_causes_a_warning(model, warning):
    assert warning in start(ORACLE_MODEL=model).stderr
