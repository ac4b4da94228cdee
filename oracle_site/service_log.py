"""The service log's lines: whose session they concern, and nothing that is the customer's own."""

import json
import logging
import re
from datetime import UTC, datetime
from traceback import format_tb
from types import TracebackType
from typing import Any, Final

from audit.core.redaction import short_hash
from audit.log_context import log_session_hash

# What Django answers with a 400 and logs with a traceback.
REFUSALS: Final = (
    *("DisallowedHost", "DisallowedRedirect", "RequestDataTooBig", "SuspiciousFileOperation"),
    *("SuspiciousMultipartForm", "SuspiciousSession", "TooManyFieldsSent", "TooManyFilesSent"),
    *("BadRequest", "InvalidSessionKey", "SuspiciousOperation"),
)
NOBODY: Final = "-"
MAX_MESSAGE: Final = (
    20_000  # characters of a message or traceback; a stranger's header may have more
)
_UNDERSCORE: Final = r"(?:_|%(?:25)*5[Ff])"  # in a URL it may be escaped
SESSION: Final = re.compile(rf"cs{_UNDERSCORE}(?:test|live){_UNDERSCORE}[A-Za-z0-9]+")
# Its first part may be quoted or hold an apostrophe, and in a URL its @ is escaped. It has an end:
# without one, a stranger's word of a thousand letters would be looked at a thousand times over.
ADDRESS: Final = re.compile(
    r"""(?:"[^"\n]{1,70}"|[^\s@<>()"',;:=][^\s@<>()",;:=]{0,319})(?:@|%(?:25)*40)[^\s@<>()"',;:=]+"""
)
# What a job has told of its failure itself, with its session, django-q need not tell again.
TOLD: Final = "verdicts.tasks.JobFailed"

ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class Concerning(logging.Filter):
    """Gives each record its `session`: the short hash, or `-`."""

    def filter(self, record: logging.LogRecord) -> bool:
        # What Django says of an answer it says when the request's block has ended.
        asked = getattr(record, "request", None)
        record.session = getattr(asked, "subject", "") or log_session_hash() or NOBODY
        return record.name != "django-q" or TOLD not in record.getMessage()


class Careful(logging.Formatter):
    """Without session ids and addresses, wherever a line or a traceback has them."""

    def format(self, record: logging.LogRecord) -> str:
        return redacted(super().format(record))

    def formatException(self, ei: ExcInfo) -> str:  # noqa: N802 - logging's name
        return careful_traceback(ei[1])


class Lines(Careful):
    """A record begins where a line does, whatever it quotes.

    Its message is one line, its traceback is indented, and nothing in either
    steers a terminal.
    """

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        return visible(super().formatMessage(record))

    def formatException(self, ei: ExcInfo) -> str:  # noqa: N802 - likewise
        return indented(super().formatException(ei))

    def formatStack(self, stack_info: str) -> str:  # noqa: N802 - likewise
        return indented(super().formatStack(stack_info))


class JsonLines(Careful):
    """One JSON object a line, in ASCII, however many lines the message or its traceback has."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": redacted(record.getMessage()),
            "process": record.process,
        }
        session = getattr(record, "session", NOBODY)
        if session != NOBODY:
            line["session"] = session
        if record.exc_info:
            line["error"] = redacted(self.formatException(record.exc_info))
        if record.stack_info:
            line["stack"] = redacted(self.formatStack(record.stack_info))
        return json.dumps(line)


class WithoutTraceback(logging.Filter):
    """For what a stranger can cause at will: one line each, not thirty."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.exc_info = record.exc_text = None
        return True


def visible(text: str) -> str:
    """In one line, with what cannot be printed spelt out."""
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


def indented(text: str) -> str:
    return "\n".join(f"    {visible(line)}" for line in text.split("\n"))


def redacted(text: str) -> str:
    if len(text) > MAX_MESSAGE:
        # At a blank, so that no half of an address is left.
        start = text[:MAX_MESSAGE]
        text = f"{start.rpartition(' ')[0] or start} … ({len(text):,} characters)"
    return ADDRESS.sub("(address)", SESSION.sub(lambda found: short_hash(found[0]), text))


def careful_traceback(error: BaseException | None) -> str:
    """Where it came from and what it is, the first cause first."""
    told: list[str] = []
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        told.append("".join([*format_tb(error.__traceback__), _named(error)]))
        cause = None if error.__suppress_context__ else error.__context__
        error = error.__cause__ or cause
    return "\n\nand then\n\n".join(reversed(told))


def _named(error: BaseException) -> str:
    kind = f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")
    text = str(error)
    if not text:
        return kind
    return f"{kind}: {'(left out: it may quote a customer)' if _may_quote(error) else text}"


def _may_quote(error: BaseException) -> bool:
    """A database's words may be a row's, those of a wrong value or key what that is."""
    if isinstance(error, ValueError | LookupError):
        return True
    modules = {one.__module__ for one in type(error).__mro__}
    return any(
        name == "django.db.utils" or name.partition(".")[0] in ("psycopg", "sqlite3")
        for name in modules
    )


def service_log(form: str) -> dict[str, Any]:
    """Django's LOGGING: everything to the console, by one handler; `form` is line or json."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {
            "session": {"()": "oracle_site.service_log.Concerning"},
            "without traceback": {"()": "oracle_site.service_log.WithoutTraceback"},
        },
        "formatters": {
            "line": {
                "()": "oracle_site.service_log.Lines",
                "fmt": "%(asctime)s %(levelname)s %(session)s %(name)s: %(message)s",
                "defaults": {"session": NOBODY},
            },
            "json": {"()": "oracle_site.service_log.JsonLines"},
        },
        "handlers": {
            "console": {
                "class": "logging.StreamHandler",
                "formatter": form,
                "filters": ["session"],
            }
        },
        "root": {"handlers": ["console"], "level": "INFO"},
        "loggers": {
            # Its lines hold whole addresses, and a session id is the key to a verdict.
            "django.server": {"handlers": [], "level": "CRITICAL", "propagate": False},
            "django": {"handlers": [], "level": "INFO"},  # the root's handler is enough
            "django.request": {"level": "ERROR"},  # a 402 or 422 is an answer, not a fault
            **{f"django.security.{name}": {"filters": ["without traceback"]} for name in REFUSALS},
            "_granian": {"level": "WARNING"},
            # It does not pass its records on, and quotes request lines, session ids included.
            "gunicorn.error": {"handlers": ["console"], "level": "WARNING", "propagate": False},
            "httpx": {"level": "WARNING"},
            "httpx2": {"level": "WARNING"},
            "stripe": {"level": "WARNING"},
            "google_genai": {"level": "WARNING"},
            "axes": {"level": "ERROR"},  # its lines hold the names and addresses of who tried
            "django-q": {"handlers": ["console"], "level": "WARNING", "propagate": False},
        },
    }
