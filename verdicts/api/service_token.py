"""Who may use the services' interfaces: whoever has one of the tokens."""

from hmac import compare_digest

from django.conf import settings
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from verdicts.api.private_view import PrivateView

REFUSED = "A service token is needed: Authorization: Bearer TOKEN."


class ServiceToken(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[None, str]:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        given = token.strip().encode(errors="replace")
        # In constant time, and all of them, so that time tells nothing.
        known = [compare_digest(given, one.encode()) for one in settings.ORACLE_SERVICE_TOKENS]
        if scheme.lower() != "bearer" or not any(known):
            raise AuthenticationFailed(REFUSED)
        return None, "service"

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class ServiceView(PrivateView):
    """A view for the site's own services."""

    authentication_classes = (ServiceToken,)  # raises for everybody else


class ServiceTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = ServiceToken
    name = "serviceToken"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}
