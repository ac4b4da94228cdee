"""The service log: each line has its session's short hash, and personal data is redacted."""

import json
import logging
import re
from datetime import UTC, datetime
from traceback import format_tb
from types import TracebackType
from typing import Any, Final

from audit.core.redaction import short_hash
from audit.log_context import log_session_hash

# Errors that Django answers with 400 and logs with a traceback, to django.security.<name>.
BAD_REQUEST_ERRORS: Final = (
    *("DisallowedHost", "DisallowedRedirect", "RequestDataTooBig", "SuspiciousFileOperation"),
    *("SuspiciousMultipartForm", "SuspiciousSession", "TooManyFieldsSent", "TooManyFilesSent"),
    *("BadRequest", "InvalidSessionKey", "SuspiciousOperation"),
)
NO_SESSION: Final = "-"
MAX_MESSAGE: Final = 20_000  # characters of a message or traceback; a client's header may be longer
_UNDERSCORE: Final = r"(?:_|%(?:25)*5[Ff])"  # possibly percent-encoded, once or more
SESSION: Final = re.compile(rf"cs{_UNDERSCORE}(?:test|live){_UNDERSCORE}[A-Za-z0-9]+")
# An email address. The local part may be quoted or contain an apostrophe, and the @ may be
# percent-encoded. The local part's length is bounded: otherwise a long word without an @ would
# take quadratic time.
ADDRESS: Final = re.compile(
    r"""(?:"[^"\n]{1,70}"|[^\s@<>()"',;:=][^\s@<>()",;:=]{0,319})(?:@|%(?:25)*40)[^\s@<>()"',;:=]+"""
)
# A failed job has logged its error with its session; django-q2's own line about it is dropped.
ALREADY_LOGGED: Final = "verdicts.tasks.JobFailed"

ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class SessionFilter(logging.Filter):
    """Sets `session` on each record: the short hash, or `-`."""

    def filter(self, record: logging.LogRecord) -> bool:
        # Django logs error responses after the middleware's context has ended.
        request = getattr(record, "request", None)
        from_request = getattr(request, "log_session_hash", "")
        record.session = from_request or log_session_hash() or NO_SESSION
        return record.name != "django-q" or ALREADY_LOGGED not in record.getMessage()


class RedactingFormatter(logging.Formatter):
    """Redacts session ids and email addresses in messages and tracebacks."""

    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record))

    def formatException(self, ei: ExcInfo) -> str:  # noqa: N802 - logging's name
        return redacted_traceback(ei[1])


class LineFormatter(RedactingFormatter):
    """One unindented line per record, so that quoted text cannot forge a record.

    The message is one line, the traceback is indented, and control characters are escaped.
    """

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        return escape_unprintable(super().formatMessage(record))

    def formatException(self, ei: ExcInfo) -> str:  # noqa: N802 - likewise
        return indent(super().formatException(ei))

    def formatStack(self, stack_info: str) -> str:  # noqa: N802 - likewise
        return indent(super().formatStack(stack_info))


class JsonFormatter(RedactingFormatter):
    """One JSON object per line, in ASCII."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": redact(record.getMessage()),
            "process": record.process,
        }
        session = getattr(record, "session", NO_SESSION)
        if session != NO_SESSION:
            line["session"] = session
        if record.exc_info:
            line["error"] = redact(self.formatException(record.exc_info))
        if record.stack_info:
            line["stack"] = redact(self.formatStack(record.stack_info))
        return json.dumps(line)


class TracebackFilter(logging.Filter):
    """Drops tracebacks, for errors that any client can cause: one line each, not thirty."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.exc_info = record.exc_text = None
        return True


def escape_unprintable(text: str) -> str:
    """On one line: line breaks and control characters become escape sequences."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def indent(text: str) -> str:
    return "\n".join(f"    {escape_unprintable(line)}" for line in text.split("\n"))


def redact(text: str) -> str:
    if len(text) > MAX_MESSAGE:
        # Cut at a space: half of an email address would not be redacted.
        start = text[:MAX_MESSAGE]
        text = f"{start.rpartition(' ')[0] or start} … ({len(text):,} characters)"
    return ADDRESS.sub("(address)", SESSION.sub(lambda match: short_hash(match[0]), text))


def redacted_traceback(error: BaseException | None) -> str:
    """Stack, type and message of the error and its causes, the first cause first."""
    errors: list[str] = []
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        errors.append("".join([*format_tb(error.__traceback__), _described(error)]))
        cause = None if error.__suppress_context__ else error.__context__
        error = error.__cause__ or cause
    return "\n\nand then\n\n".join(reversed(errors))


def _described(error: BaseException) -> str:
    kind = f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")
    text = str(error)
    if not text:
        return kind
    return (
        f"{kind}: {'(left out: it may quote a customer)' if _may_quote_customer(error) else text}"
    )


def _may_quote_customer(error: BaseException) -> bool:
    """Database errors may quote a row, ValueError and LookupError the value itself."""
    if isinstance(error, ValueError | LookupError):
        return True
    modules = {base.__module__ for base in type(error).__mro__}
    return any(
        name == "django.db.utils" or name.partition(".")[0] in ("psycopg", "sqlite3")
        for name in modules
    )


def service_log(log_format: str) -> dict[str, Any]:
    """Django's LOGGING: one handler writes to stderr; `log_format` is line or json."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {
            "session": {"()": "oracle_site.service_log.SessionFilter"},
            "no traceback": {"()": "oracle_site.service_log.TracebackFilter"},
        },
        "formatters": {
            "line": {
                "()": "oracle_site.service_log.LineFormatter",
                "fmt": "%(asctime)s %(levelname)s %(session)s %(name)s: %(message)s",
                "defaults": {"session": NO_SESSION},
            },
            "json": {"()": "oracle_site.service_log.JsonFormatter"},
        },
        "handlers": {
            "console": {
                "class": "logging.StreamHandler",
                "formatter": log_format,
                "filters": ["session"],
            }
        },
        "root": {"handlers": ["console"], "level": "INFO"},
        "loggers": {
            # The development server's access log: its URLs contain session ids.
            "django.server": {"handlers": [], "level": "CRITICAL", "propagate": False},
            "django": {"handlers": [], "level": "INFO"},  # propagates to the root's handler
            "django.request": {"level": "ERROR"},  # a 402 or 422 is a regular response
            **{
                f"django.security.{name}": {"filters": ["no traceback"]}
                for name in BAD_REQUEST_ERRORS
            },
            "_granian": {"level": "WARNING"},
            # gunicorn turns propagation off; its lines quote request lines with session ids.
            "gunicorn.error": {"handlers": ["console"], "level": "WARNING", "propagate": False},
            "httpx": {"level": "WARNING"},
            "httpx2": {"level": "WARNING"},
            "stripe": {"level": "WARNING"},
            "google_genai": {"level": "WARNING"},
            "axes": {"level": "ERROR"},  # its warnings contain user names and IP addresses
            "django-q": {"handlers": ["console"], "level": "WARNING", "propagate": False},
        },
    }
