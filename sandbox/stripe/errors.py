"""Stripe's errors, with Stripe's messages and JSON."""

from typing import Any

from sandbox.http_messages import HttpError, Response, as_json
from sandbox.stripe.ids import new_id


class StripeError(HttpError):
    """Becomes `{"error": {...}}` with its status."""

    def __init__(
        self,
        message: str,
        *,
        status: int = 400,
        kind: str = "invalid_request_error",
        code: str | None = None,
        param: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.error: dict[str, Any] = {"message": message, "type": kind}
        if code:
            self.error |= {"code": code, "doc_url": f"https://stripe.com/docs/error-codes/{code}"}
        if param:
            self.error["param"] = param

    def response(self) -> Response:
        headers = {"Request-Id": new_id("req")}
        return as_json({"error": self.error}, self.status, headers)


def missing(param: str) -> StripeError:
    return StripeError(f"Missing required param: {param}.", code="parameter_missing", param=param)


def no_such(kind: str, identifier: str, param: str = "id") -> StripeError:
    return StripeError(
        f"No such {kind}: '{identifier}'", status=404, code="resource_missing", param=param
    )


def unauthorized() -> Response:
    return StripeError("Invalid API Key provided: sk_test_****", status=401).response()


def rate_limited() -> Response:
    return StripeError(
        "Request rate limit exceeded. Learn more here https://stripe.com/docs/rate-limits",
        status=429,
        code="rate_limit",
    ).response()


def failed(status: int) -> Response:
    return StripeError(
        "Sorry! There was an error while talking to one of our backends.",
        status=status,
        kind="api_error",
    ).response()
