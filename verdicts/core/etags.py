"""Conditional requests: whether If-None-Match matches an ETag (RFC 9110).

Pure: no I/O, no clock, no Django.
"""

import re
from typing import Final

_TAG: Final = re.compile(r'(?:W/)?("[^"]*")')


def etag_matches(if_none_match: str, etag: str) -> bool:
    """`etag` includes its quotes. Weak comparison, as RFC 9110 requires; `*` always matches."""
    return if_none_match.strip() == "*" or etag in _TAG.findall(if_none_match)
