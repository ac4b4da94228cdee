"""The two endpoints needed to send mail: the token endpoint and sendMail."""

import binascii
from base64 import b64decode
from typing import Final
from urllib.parse import unquote, unquote_plus

from sandbox.dispatch import Api, Route
from sandbox.graph import errors
from sandbox.graph.errors import GraphError, login_error
from sandbox.graph.message import read_message
from sandbox.http_messages import Reply, Request, Response, as_json
from sandbox.state import State


def _searchable(request: Request) -> str:
    """Path and body; a MIME message decoded from base64."""
    try:
        body = b64decode(request.body, validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        body = unquote_plus(request.text)
    return f"{unquote(request.target)}\n{body}"


API: Final = Api(
    name="graph",
    searchable=_searchable,
    errors={
        "unauthorized": errors.unauthorized,
        "rate_limited": errors.rate_limited,
        "error": errors.failed,
        "bad_gateway": errors.bad_gateway,
        "unavailable": errors.unavailable,
    },
)


def issue_token(state: State, request: Request) -> Reply:
    """The client-credentials grant. Any secret is valid unless it begins with `bad`."""
    form = request.form()
    if form.get("grant_type") != "client_credentials":
        return login_error(
            400, "unsupported_grant_type", 70003, "The app requested an unsupported grant type."
        )
    if not form.get("scope", "").endswith("/.default"):
        return login_error(
            400, "invalid_scope", 70011, "The scope must be of the form resource/.default."
        )
    secret = form.get("client_secret", "")
    if not form.get("client_id") or not secret or secret.startswith("bad"):
        return login_error(401, "invalid_client", 7000215, "Invalid client secret provided.")
    seconds = state.settings.token_seconds
    return as_json(
        {
            "token_type": "Bearer",
            "expires_in": seconds,
            "ext_expires_in": seconds,
            "access_token": state.tokens.issue(seconds),
        }
    )


def send_mail(state: State, request: Request) -> Reply:
    """Accept the message: 202 and no body."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not state.tokens.is_valid(token):
        return errors.unauthorized()
    try:
        state.mailbox.accept(read_message(request, sender=request.segment(2)))
    except GraphError as error:
        return error.response()
    return Response(202)


ROUTES: Final = (
    Route("POST", "/[^/]+/oauth2/v2.0/token", issue_token, API),
    Route("POST", "/v1.0/users/[^/]+/sendMail", send_mail, API),
)
