"""What a page may load and where its forms may lead: a Content-Security-Policy on every answer.

Customers' pages get along without inline script or style, and load nothing from
elsewhere. Two places need more to work, and get no more than they need: the
admin, and the API's documentation, which writes its own styles.
"""

from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

HEADER: Final = "Content-Security-Policy"
# What no page of ours asks a browser for.
NOT_NEEDED_HEADER: Final = "Permissions-Policy"
NOT_NEEDED: Final = "camera=(), geolocation=(), microphone=(), payment=(), usb=()"
# The payment page of each payment provider.
STRIPE_CHECKOUT: Final = "https://checkout.stripe.com"

_NOBODY_FRAMES: Final = {"base-uri": "'none'", "frame-ancestors": "'none'"}
PAGES: Final = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
    "font-src": "'self'",
    "connect-src": "'self'",
    **_NOBODY_FRAMES,
}
ADMIN: Final = {
    "default-src": "'self'",
    "script-src": "'self' 'unsafe-eval'",  # unfold's Alpine evaluates its attributes
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data:",
    "form-action": "'self'",
    **_NOBODY_FRAMES,
}
DOCS: Final = {
    "default-src": "'self'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data:",
    "worker-src": "'self' blob:",
    "form-action": "'none'",
    **_NOBODY_FRAMES,
}


def policy_for(path: str) -> str:
    if path.startswith("/admin/"):
        return _spelt(ADMIN)
    if path.startswith("/api/docs/"):
        return _spelt(DOCS)
    # The order form is answered with a redirect, and browsers hold that against its page too.
    pays_at = settings.SANDBOX_URL if settings.SANDBOX else STRIPE_CHECKOUT
    return _spelt({**PAGES, "form-action": f"'self' {pays_at}"})


def state_policy(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        response.headers.setdefault(NOT_NEEDED_HEADER, NOT_NEEDED)
        if not _is_djangos_own(request, response):
            response.headers.setdefault(HEADER, policy_for(request.path))
        return response

    return middleware


def _is_djangos_own(request: HttpRequest, response: HttpResponseBase) -> bool:
    """In development Django's pages about errors bring their own scripts and styles."""
    return settings.DEBUG and (response.status_code == 500 or request.resolver_match is None)


def _spelt(policy: dict[str, str]) -> str:
    return "; ".join(f"{name} {sources}" for name, sources in policy.items())
