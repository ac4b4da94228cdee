"""Django's error pages in development, without our secrets in them.

Django hides settings by their names. Variables of a frame, and an environment
that a server has put among the headers (DATABASE_URL), it would print.
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
# What comes with a request and lets somebody in: a token that is nearly right is worth hiding, too.
HEADERS: Final = ("HTTP_AUTHORIZATION", "HTTP_COOKIE", "HTTP_STRIPE_SIGNATURE")
SHORTEST: Final = 6  # "" and such would hide everything


class WithoutSecrets(SafeExceptionReporterFilter):
    def get_traceback_frame_variables(  # type: ignore[override]  # Django, too, returns a list
        self, request: HttpRequest | None, tb_frame: FrameType
    ) -> list[tuple[str, Any]]:
        hidden = [*known(), *given(request)]
        found = super().get_traceback_frame_variables(request, tb_frame)
        return [(name, self._cleansed(value, hidden)) for name, value in found]

    def cleanse_setting(self, key: Any, value: Any) -> Any:
        return self._cleansed(super().cleanse_setting(key, value), known())

    def _cleansed(self, value: Any, hidden: list[str]) -> Any:
        try:
            shown = pformat(value)
        except Exception:  # noqa: BLE001 - whatever it is, it cannot be shown
            return self.cleansed_substitute
        return self.cleansed_substitute if any(one in shown for one in hidden) else value


def known() -> list[str]:
    """Every secret of this site's, by its value."""
    values = [settings.DATABASES["default"].get("PASSWORD") or ""]
    for name in SECRETS:
        value = getattr(settings, name)
        values += [value] if isinstance(value, str) else value
    return [value for value in values if len(value) >= SHORTEST]


def given(request: HttpRequest | None) -> list[str]:
    """What this request came with, in the pieces in which our code handles it."""
    if request is None:
        return []
    came = [str(request.META.get(name, "")) for name in HEADERS]
    pieces = [piece for text in came for piece in text.replace("=", " ").replace(",", " ").split()]
    return [piece for piece in pieces if len(piece) >= SHORTEST]
