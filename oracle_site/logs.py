"""The service log's lines, without what is the key to a verdict."""

import json
import logging
import re
from datetime import UTC, datetime
from typing import Any, Final

from audit.core.redaction import short_hash

SESSION: Final = re.compile(r"cs_(?:test|live)_[A-Za-z0-9]+")


class Redacting(logging.Formatter):
    """Session ids become their short hashes, wherever a line or a traceback has them."""

    def format(self, record: logging.LogRecord) -> str:
        return redacted(super().format(record))


class JsonLines(logging.Formatter):
    """One JSON object a line, in ASCII, however many lines the message or its traceback has."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": redacted(record.getMessage()),
            "process": record.process,
        }
        if record.exc_info:
            line["error"] = redacted(self.formatException(record.exc_info))
        if record.stack_info:
            line["stack"] = redacted(self.formatStack(record.stack_info))
        return json.dumps(line)


def redacted(text: str) -> str:
    return SESSION.sub(lambda found: short_hash(found[0]), text)


def service_log(form: str) -> dict[str, Any]:
    """Django's LOGGING: everything to the console, by one handler; `form` is line or json."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {
                "()": "oracle_site.logs.Redacting",
                "format": "%(asctime)s %(levelname)s %(name)s: %(message)s",
            },
            "json": {"()": "oracle_site.logs.JsonLines"},
        },
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": form}},
        "root": {"handlers": ["console"], "level": "INFO"},
        "loggers": {
            # Its lines hold whole addresses, and a session id is the key to a verdict.
            "django.server": {"handlers": [], "level": "CRITICAL", "propagate": False},
            "django": {"handlers": [], "level": "INFO"},  # the root's handler is enough
            "django.request": {"level": "ERROR"},  # a 402 or 422 is an answer, not a fault
            "_granian": {"level": "WARNING"},
            "httpx": {"level": "WARNING"},
            "httpx2": {"level": "WARNING"},
            "stripe": {"level": "WARNING"},
            "google_genai": {"level": "WARNING"},
            "django-q": {"handlers": ["console"], "level": "WARNING", "propagate": False},
        },
    }
