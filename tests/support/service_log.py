"""The service log's lines as the processes would write them, caught in this one."""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from oracle_site.service_log import JsonFormatter, SessionFilter

LOGGERS = ("", "django-q")  # django-q's does not propagate

Line = dict[str, Any]


class _Listener(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[Line] = []
        self.setFormatter(JsonFormatter())
        self.addFilter(SessionFilter())

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(json.loads(self.format(record)))


@contextmanager
def listening() -> Iterator[list[Line]]:
    listener = _Listener()
    for name in LOGGERS:
        logging.getLogger(name).addHandler(listener)
    try:
        yield listener.lines
    finally:
        for name in LOGGERS:
            logging.getLogger(name).removeHandler(listener)
