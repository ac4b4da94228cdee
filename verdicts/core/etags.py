"""Whether a client has an answer already, by RFC 9110's rules for If-None-Match.

Pure: no I/O, no clock, no Django.
"""

import re
from typing import Final

_TAG: Final = re.compile(r'(?:W/)?("[^"]*")')


def has_it(if_none_match: str, etag: str) -> bool:
    """`etag` with its quotes. Weak tags compare like strong ones; `*` is any answer."""
    return if_none_match.strip() == "*" or etag in _TAG.findall(if_none_match)
