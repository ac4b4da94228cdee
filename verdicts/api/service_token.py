"""Bearer token authentication of the internal services' endpoints."""

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
        # Constant time: every token is compared in full, whichever matches.
        matches = [compare_digest(given, one.encode()) for one in settings.ORACLE_SERVICE_TOKENS]
        if scheme.lower() != "bearer" or not any(matches):
            raise AuthenticationFailed(REFUSED)
        return None, "service"

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class ServiceView(PrivateView):
    """A view for internal services: 401 without a valid service token."""

    authentication_classes = (ServiceToken,)  # raises, so no permission class is needed


class ServiceTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = ServiceToken
    name = "serviceToken"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}
