"""What every page may say: the support address, and whether this is the sandbox."""

from django.conf import settings
from django.http import HttpRequest


def house(request: HttpRequest) -> dict[str, object]:  # noqa: ARG001 - Django's signature
    """A context processor, so that no page is ever without the support address."""
    return {"support": settings.SUPPORT_EMAIL, "sandbox": settings.SANDBOX}
