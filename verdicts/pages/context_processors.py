"""Template variables of every page."""

from django.conf import settings
from django.http import HttpRequest


def site_context(request: HttpRequest) -> dict[str, object]:  # noqa: ARG001 - Django's signature
    """The support address, and whether this is the sandbox."""
    return {"support": settings.SUPPORT_EMAIL, "sandbox": settings.SANDBOX}
