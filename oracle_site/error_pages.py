"""Removes secrets from Django's error pages in development.

Django hides settings by name only. It would print secrets in local variables of a frame, and
in environment variables that a server copies into request.META (DATABASE_URL).
"""

from pprint import pformat
from types import FrameType
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest
from django.views.debug import SafeExceptionReporterFilter

SECRETS: Final = (
    "SECRET_KEY",
    "GEMINI_API_KEY",
    "STRIPE_SECRET_KEY",
    "STRIPE_WEBHOOK_SECRETS",
    "ORACLE_SERVICE_TOKENS",
    "EMAIL_HOST_PASSWORD",
    "GRAPH_CLIENT_SECRET",
)
# Credentials in a request, valid or not: a mistyped token is close to the real one.
CREDENTIAL_HEADERS: Final = ("HTTP_AUTHORIZATION", "HTTP_COOKIE", "HTTP_STRIPE_SIGNATURE")
MIN_SECRET_LENGTH: Final = 6  # shorter values occur everywhere, and would hide everything


class SecretFilter(SafeExceptionReporterFilter):
    def get_traceback_frame_variables(  # type: ignore[override]  # Django, too, returns a list
        self, request: HttpRequest | None, tb_frame: FrameType
    ) -> list[tuple[str, Any]]:
        secrets = [*site_secrets(), *request_credentials(request)]
        variables = super().get_traceback_frame_variables(request, tb_frame)
        return [(name, self._cleansed(value, secrets)) for name, value in variables]

    def cleanse_setting(self, key: Any, value: Any) -> Any:
        return self._cleansed(super().cleanse_setting(key, value), site_secrets())

    def _cleansed(self, value: Any, secrets: list[str]) -> Any:
        try:
            shown = pformat(value)
        except Exception:  # noqa: BLE001 - a __repr__ may raise anything
            return self.cleansed_substitute
        return self.cleansed_substitute if any(secret in shown for secret in secrets) else value


def site_secrets() -> list[str]:
    """The values of all secret settings."""
    values = [settings.DATABASES["default"].get("PASSWORD") or ""]
    for name in SECRETS:
        value = getattr(settings, name)
        values += [value] if isinstance(value, str) else value
    return [value for value in values if len(value) >= MIN_SECRET_LENGTH]


def request_credentials(request: HttpRequest | None) -> list[str]:
    """The request's credentials, split into the parts that variables of our code may hold."""
    if request is None:
        return []
    headers = [str(request.META.get(name, "")) for name in CREDENTIAL_HEADERS]
    parts = [part for text in headers for part in text.replace("=", " ").replace(",", " ").split()]
    return [part for part in parts if len(part) >= MIN_SECRET_LENGTH]
