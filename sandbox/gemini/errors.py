"""Errors in the shape of Google's APIs."""

from sandbox.http_messages import Response, as_json


def google_error(code: int, status: str, message: str, reason: str = "") -> Response:
    error: dict[str, object] = {"code": code, "message": message, "status": status}
    if reason:
        kind = "type.googleapis.com/google.rpc.ErrorInfo"
        error["details"] = [{"@type": kind, "reason": reason, "domain": "googleapis.com"}]
    return as_json({"error": error}, code)


def bad_key() -> Response:
    sentence = "API key not valid. Please pass a valid API key."
    return google_error(400, "INVALID_ARGUMENT", sentence, "API_KEY_INVALID")


def bad_request() -> Response:
    return google_error(400, "INVALID_ARGUMENT", "Request contains an invalid argument.")


def no_key() -> Response:
    return google_error(
        403,
        "PERMISSION_DENIED",
        "Method doesn't allow unregistered callers (callers without established identity). "
        "Please use API Key or other form of API consumer identity to call this API.",
    )


def not_found() -> Response:
    return google_error(
        404,
        "NOT_FOUND",
        "This model is not found for API version v1beta, or is not supported for "
        "generateContent. Call ListModels to see the list of available models.",
    )


def rate_limited() -> Response:
    return google_error(
        429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan."
    )


def failed() -> Response:
    return google_error(500, "INTERNAL", "An internal error has occurred. Please retry.")


def bad_gateway() -> Response:
    return google_error(502, "UNKNOWN", "The server encountered a temporary error.")


def unavailable() -> Response:
    return google_error(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")
