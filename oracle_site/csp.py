"""Content-Security-Policy and Permissions-Policy headers on every response.

Customer pages use no inline script or style and load nothing from other origins. Two areas
need more and get only that: the admin, and the API documentation, which uses inline styles.
"""

from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

HEADER: Final = "Content-Security-Policy"
# Browser features that no page of the site uses.
PERMISSIONS_HEADER: Final = "Permissions-Policy"
PERMISSIONS_POLICY: Final = "camera=(), geolocation=(), microphone=(), payment=(), usb=()"
# The payment page of each payment provider.
STRIPE_CHECKOUT: Final = "https://checkout.stripe.com"

_NO_FRAMING: Final = {"base-uri": "'none'", "frame-ancestors": "'none'"}
PAGES: Final = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
    "font-src": "'self'",
    "connect-src": "'self'",
    **_NO_FRAMING,
}
ADMIN: Final = {
    "default-src": "'self'",
    "script-src": "'self' 'unsafe-eval'",  # unfold's Alpine evaluates its attributes
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data:",
    "form-action": "'self'",
    **_NO_FRAMING,
}
DOCS: Final = {
    "default-src": "'self'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data:",
    "worker-src": "'self' blob:",
    "form-action": "'none'",
    **_NO_FRAMING,
}


def policy_for(path: str) -> str:
    if path.startswith("/admin/"):
        return _header_value(ADMIN)
    if path.startswith("/api/docs/"):
        return _header_value(DOCS)
    # The order form redirects to the payment page, and browsers apply form-action to redirects.
    payment_origin = settings.SANDBOX_URL if settings.SANDBOX else STRIPE_CHECKOUT
    return _header_value({**PAGES, "form-action": f"'self' {payment_origin}"})


def csp_middleware(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        response.headers.setdefault(PERMISSIONS_HEADER, PERMISSIONS_POLICY)
        if not _is_debug_page(request, response):
            response.headers.setdefault(HEADER, policy_for(request.path))
        return response

    return middleware


def _is_debug_page(request: HttpRequest, response: HttpResponseBase) -> bool:
    """Django's error pages in development, which use inline scripts and styles."""
    return settings.DEBUG and (response.status_code == 500 or request.resolver_match is None)


def _header_value(policy: dict[str, str]) -> str:
    return "; ".join(f"{name} {sources}" for name, sources in policy.items())
