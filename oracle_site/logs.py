"""The service log's lines, without what is the key to a verdict."""

import logging
import re
from typing import Final

from audit.core.redaction import short_hash

SESSION: Final = re.compile(r"cs_(?:test|live)_[A-Za-z0-9]+")


class Redacting(logging.Formatter):
    """Session ids become their short hashes, wherever a line or a traceback has them."""

    def format(self, record: logging.LogRecord) -> str:
        return SESSION.sub(lambda found: short_hash(found[0]), super().format(record))
