"""Cookies and headers of a public site."""

import subprocess
import sys
from pathlib import Path

import pytest

from drill.sites.child_env import child_env
from oracle_site.security import https_settings
from tests.oracle_site.test_settings import LIVE

ROOT = Path(__file__).parents[2]
PROGRAM = """
import django
from django.conf import settings
# Nobody has collected any here, and no page is looked at.
settings.STORAGES = {"staticfiles": {"BACKEND": "django.core.files.storage.InMemoryStorage"}}
django.setup()
from django.test import Client
answer = Client().get("/", secure=True, HTTP_HOST="oracle.example")
print(answer.status_code, dict(answer.items()), answer.cookies)
plain = Client().get("/", HTTP_HOST="oracle.example")
print(plain.status_code, plain["Location"])
"""


@pytest.fixture(scope="module")
def live() -> str:
    """What a live site answers to a first visit, over HTTPS and without."""
    environment = child_env(**LIVE, DJANGO_SETTINGS_MODULE="oracle_site.settings")
    command = [sys.executable, "-c", PROGRAM]
    return subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True
    ).stdout


@pytest.mark.parametrize(
    "promised",
    [
        "'Strict-Transport-Security': 'max-age=31536000; includeSubDomains; preload'",
        "'X-Content-Type-Options': 'nosniff'",
        "'X-Frame-Options': 'DENY'",
        "'Referrer-Policy': 'strict-origin'",
        "'Cross-Origin-Opener-Policy': 'same-origin'",
        "default-src 'none'; script-src 'self'",
        "frame-ancestors 'none'",
        "'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()'",
    ],
)
def test_every_answer_of_a_live_site_carries_it(live, promised):
    assert promised in live


def test_cookies_are_this_hosts_alone_and_go_over_https_only(live):
    cookie = live.partition("Set-Cookie: ")[2]
    assert cookie.startswith("__Host-csrftoken=")
    assert "Secure" in cookie
    assert "SameSite=Lax" in cookie
    assert "Path=/" in cookie
    assert "Domain" not in cookie


def test_without_https_one_is_led_there(live):
    assert live.splitlines()[-1] == "301 https://oracle.example/"


def test_in_development_there_is_no_https_to_insist_on():
    assert not any(https_settings(public=False, behind_proxy=False)[name] for name in INSISTED)
    assert all(https_settings(public=True, behind_proxy=False)[name] for name in INSISTED)


INSISTED = ("SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE", "SECURE_SSL_REDIRECT")


def test_staffs_session_cookie_is_out_of_reach_of_scripts(settings):
    assert settings.SESSION_COOKIE_HTTPONLY
    assert settings.SESSION_COOKIE_SAMESITE == "Lax"
    assert settings.SESSION_COOKIE_AGE == 12 * 3600
