"""The hash chain of oracle_log.jsonl: every line contains the previous line's hash.

Pure: no I/O, no clock, no randomness, no Django. The caller supplies the id, the salt
and the previous hash, and keeps the lines in order.

Policy
- A line has the entry's keys, then `id`, then for an entry with a query preview
  `preview_salt` and `preview_commitment`, then `prev` and `hash`.
- `preview_commitment` is the SHA-256 of salt and preview.
- `hash` is the SHA-256 of the canonical line, newline included, without `hash`
  and with preview and salt blank, as after an erasure. So an erasure changes no
  hash, and any other change or reordering is detected.
- `prev` of the first line is 64 zeros.
- Preview and salt match their commitment, or both are blank: erased.
"""

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final, NamedTuple

from audit.core.json_depth import loads
from audit.core.record import canonical_line

GENESIS: Final = "0" * 64
PREVIEW: Final = "query_preview"
SALT: Final = "preview_salt"
COMMITMENT: Final = "preview_commitment"
# Keys that an entry must not contain.
RESERVED: Final = frozenset({"id", SALT, COMMITMENT, "prev", "hash"})

_ID = re.compile(r"[0-9a-f]{32}")


class Sealed(NamedTuple):
    line: str
    hash: str


def commitment(salt: str, preview: str) -> str:
    # A query may contain a lone surrogate, which strict UTF-8 cannot encode.
    return sha256(f"{salt}{preview}".encode("utf-8", "surrogatepass")).hexdigest()


def seal(
    entry: Mapping[str, Any], *, entry_id: str, salt: str, commitment: str, prev: str
) -> Sealed:
    """The entry as a line of the chain. For an erased entry, preview and salt are blank."""
    fields = {**entry, "id": entry_id}
    if PREVIEW in entry:
        fields |= {SALT: salt, COMMITMENT: commitment}
    fields["prev"] = prev
    digest = _digest(fields)
    return Sealed(canonical_line({**fields, "hash": digest}), digest)


def verify(line: str, prev: str) -> str | None:
    """Why this line is not valid after the line whose hash is `prev`; None if it is."""
    fields = parse(line)
    if fields is None:
        return "not a JSON object"
    claimed = fields.pop("hash", None)
    try:
        if fields.get("prev") != prev:
            return "prev is not the hash of the previous line"
        if claimed != _digest(fields):
            return "hash does not match the line"
        if canonical_line({**fields, "hash": claimed}) != line:
            return "not in canonical form"
    except ValueError:  # NaN or infinity: Python parses it, but it is not JSON
        return "not in canonical form"
    return None if _preview_matches(fields) else "preview does not match its commitment"


def erase_preview(line: str) -> str:
    """The line with preview and salt blank; unchanged if it has none."""
    fields = parse(line)
    if fields is None:
        raise ValueError("not a line of the log")
    return canonical_line(_blank(fields))


def parse(line: str | bytes) -> dict[str, Any] | None:
    """The line's fields in their order; None if it is not a JSON object."""
    try:
        fields = loads(line if isinstance(line, str) else line.decode())
    except ValueError:
        return None
    return fields if isinstance(fields, dict) else None


def entry_id(fields: Mapping[str, Any]) -> str:
    """The line's id; empty unless it has the format of our ids, so it is safe to query with."""
    value = fields.get("id")
    return value if isinstance(value, str) and _ID.fullmatch(value) else ""


def _digest(fields: Mapping[str, Any]) -> str:
    return sha256(canonical_line(_blank(fields)).encode()).hexdigest()


def _blank(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: "" if key in (PREVIEW, SALT) else value for key, value in fields.items()}


def _preview_matches(fields: Mapping[str, Any]) -> bool:
    if PREVIEW not in fields:
        return True
    preview, salt = fields[PREVIEW], fields.get(SALT)
    if preview == salt == "":
        return True
    return (
        isinstance(preview, str)
        and isinstance(salt, str)
        and fields.get(COMMITMENT) == commitment(salt, preview)
    )
