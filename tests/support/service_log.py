"""Captures the service log of the test's process as JSON lines."""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from oracle_site.service_log import JsonFormatter, SessionFilter

LOGGERS = ("", "django-q")  # the latter does not propagate

Line = dict[str, Any]


class _CapturingHandler(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[Line] = []
        self.setFormatter(JsonFormatter())
        self.addFilter(SessionFilter())

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(json.loads(self.format(record)))


@contextmanager
def listening() -> Iterator[list[Line]]:
    handler = _CapturingHandler()
    for name in LOGGERS:
        logging.getLogger(name).addHandler(handler)
    try:
        yield handler.lines
    finally:
        for name in LOGGERS:
            logging.getLogger(name).removeHandler(handler)
