"""gunicorn with the site's configuration: which headers reach the application."""

import json
import sys

import httpx

from drill.sites.processes import running, wait_for
from drill.sites.site import free_port, responds

SECRET = "a-key-that-no-request-may-ever-carry-5b1f0a9c77de43e2"


def environ_as_json(environ, start_response) -> list[bytes]:
    """A WSGI application that responds with its environ."""
    start_response("200 OK", [("Content-Type", "application/json")])
    return [json.dumps({key: str(value) for key, value in environ.items()}).encode()]


def test_requests_carry_no_secret_and_no_header_with_an_underscore():
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "-c", "python:oracle_site.gunicorn_conf"]
    application = f"{__name__}:environ_as_json"
    with running([*command, application], ORACLE_PORT=str(port), GEMINI_API_KEY="", NAME=SECRET):
        url = f"http://127.0.0.1:{port}/"
        wait_for(lambda: responds(url))
        headers = {
            "X-Forwarded-Proto": "https",
            "X_Forwarded_For": "203.0.113.9",
            "Script_Name": "/admin",
            "Accept": "*/*",
        }
        environ = httpx.get(url, headers=headers, trust_env=False).json()
    assert SECRET not in str(environ)
    assert environ["HTTP_ACCEPT"] == "*/*"
    assert "HTTP_X_FORWARDED_FOR" not in environ
    assert environ["SCRIPT_NAME"] == ""
    # Django decides whether to trust the proxy (BEHIND_PROXY).
    assert (environ["wsgi.url_scheme"], environ["HTTP_X_FORWARDED_PROTO"]) == ("http", "https")
