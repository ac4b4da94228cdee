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
# No static files are collected here, and the test does not need them.
settings.STORAGES = {"staticfiles": {"BACKEND": "django.core.files.storage.InMemoryStorage"}}
django.setup()
from django.test import Client
response = Client().get("/", secure=True, HTTP_HOST="oracle.example")
print(response.status_code, dict(response.items()), response.cookies)
plain = Client().get("/", HTTP_HOST="oracle.example")
print(plain.status_code, plain["Location"])
"""


@pytest.fixture(scope="module")
def live() -> str:
    """Responses of a live site to a first visit, over HTTPS and HTTP."""
    environment = child_env(**LIVE, DJANGO_SETTINGS_MODULE="oracle_site.settings")
    command = [sys.executable, "-c", PROGRAM]
    return subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True
    ).stdout


@pytest.mark.parametrize(
    "header",
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
def test_every_response_of_a_live_site_has_the_header(live, header):
    assert header in live


def test_cookies_are_host_only_and_https_only(live):
    cookie = live.partition("Set-Cookie: ")[2]
    assert cookie.startswith("__Host-csrftoken=")
    assert "Secure" in cookie
    assert "SameSite=Lax" in cookie
    assert "Path=/" in cookie
    assert "Domain" not in cookie


def test_http_redirects_to_https(live):
    assert live.splitlines()[-1] == "301 https://oracle.example/"


def test_https_is_not_required_in_development():
    assert not any(https_settings(public=False, behind_proxy=False)[name] for name in HTTPS_FLAGS)
    assert all(https_settings(public=True, behind_proxy=False)[name] for name in HTTPS_FLAGS)


HTTPS_FLAGS = ("SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE", "SECURE_SSL_REDIRECT")


def test_scripts_cannot_read_the_session_cookie(settings):
    assert settings.SESSION_COOKIE_HTTPONLY
    assert settings.SESSION_COOKIE_SAMESITE == "Lax"
    assert settings.SESSION_COOKIE_AGE == 12 * 3600
