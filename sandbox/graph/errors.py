"""Errors in the shapes of Microsoft Graph and of its login server."""

from datetime import UTC, datetime
from uuid import uuid4

from sandbox.http_messages import HttpError, Response, as_json

RETRY_AFTER = "2"


class GraphError(HttpError):
    """Becomes `{"error": {"code": ..., "message": ...}}`."""

    def __init__(
        self, status: int, code: str, message: str, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.headers = status, code, headers or {}

    def response(self) -> Response:
        identifier = str(uuid4())
        inner = {
            "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S"),
            "request-id": identifier,
            "client-request-id": identifier,
        }
        error = {"code": self.code, "message": str(self), "innerError": inner}
        return as_json({"error": error}, self.status, {"request-id": identifier, **self.headers})


def unauthorized() -> Response:
    return GraphError(
        401,
        "InvalidAuthenticationToken",
        "Lifetime validation failed, the token is expired.",
        {"WWW-Authenticate": 'Bearer realm="", error="invalid_token"'},
    ).response()


def rate_limited() -> Response:
    return GraphError(
        429,
        "ApplicationThrottled",
        "Application is over its MailboxConcurrency limit.",
        {"Retry-After": RETRY_AFTER},
    ).response()


def failed() -> Response:
    return GraphError(500, "InternalServerError", "An internal server error occurred.").response()


def bad_gateway() -> Response:
    return GraphError(502, "BadGateway", "Failed to reach the mailbox server.").response()


def unavailable() -> Response:
    return GraphError(
        503,
        "ServiceUnavailable",
        "The service is temporarily unavailable.",
        {"Retry-After": RETRY_AFTER},
    ).response()


def login_error(status: int, error: str, number: int, sentence: str) -> Response:
    return as_json(
        {
            "error": error,
            "error_description": f"AADSTS{number}: {sentence}",
            "error_codes": [number],
            "timestamp": datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%SZ"),
            "trace_id": str(uuid4()),
            "correlation_id": str(uuid4()),
        },
        status,
    )
