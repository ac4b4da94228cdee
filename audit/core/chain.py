"""The chain of oracle_log.jsonl: every line names the hash of the line before it.

Pure: no I/O, no clock, no chance, no Django. The caller brings id, salt and the
hash before, and keeps the lines in order.

Policy
- A line is the entry's own keys, then `id`, then for an entry with a query
  preview `preview_salt` and `preview_commitment`, then `prev` and `hash`.
- `preview_commitment` is the SHA-256 of salt and preview.
- `hash` is the SHA-256 of the canonical line, newline included, without `hash`
  and with preview and salt blank: the line as it reads once erased. So an
  erasure changes no hash, and nothing else can change or move unnoticed.
- `prev` of the first line is 64 zeros.
- Preview and salt fit their commitment, or both are blank: then it was erased.
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
# What an entry must not bring itself.
RESERVED: Final = frozenset({"id", SALT, COMMITMENT, "prev", "hash"})

_ID = re.compile(r"[0-9a-f]{32}")


class Sealed(NamedTuple):
    line: str
    hash: str


def commitment(salt: str, preview: str) -> str:
    # A lone surrogate has no UTF-8 form, and a query may hold one.
    return sha256(f"{salt}{preview}".encode("utf-8", "surrogatepass")).hexdigest()


def seal(
    entry: Mapping[str, Any], *, entry_id: str, salt: str, commitment: str, prev: str
) -> Sealed:
    """The entry as a line of the chain. An erased one comes with its preview and salt blank."""
    fields = {**entry, "id": entry_id}
    if PREVIEW in entry:
        fields |= {SALT: salt, COMMITMENT: commitment}
    fields["prev"] = prev
    digest = _digest(fields)
    return Sealed(canonical_line({**fields, "hash": digest}), digest)


def verify(line: str, prev: str) -> str | None:
    """What is wrong with this line after the line whose hash is `prev`; None: nothing."""
    fields = parse(line)
    if fields is None:
        return "not a JSON object"
    claimed = fields.pop("hash", None)
    try:
        if fields.get("prev") != prev:
            return "prev is not the hash of the line before"
        if claimed != _digest(fields):
            return "hash does not fit the line"
        if canonical_line({**fields, "hash": claimed}) != line:
            return "not in canonical form"
    except ValueError:  # NaN or infinity: read by Python, no JSON
        return "not in canonical form"
    return None if _preview_fits(fields) else "preview does not fit its commitment"


def erase_preview(line: str) -> str:
    """The line with preview and salt blank. Without them it is the same line."""
    fields = parse(line)
    if fields is None:
        raise ValueError("not a line of the log")
    return canonical_line(_blank(fields))


def parse(line: str | bytes) -> dict[str, Any] | None:
    """The line's fields in their order, or None where it is no JSON object."""
    try:
        fields = loads(line if isinstance(line, str) else line.decode())
    except ValueError:
        return None
    return fields if isinstance(fields, dict) else None


def entry_id(fields: Mapping[str, Any]) -> str:
    """The line's id, or blank where it has none of ours: then it is safe to look up."""
    value = fields.get("id")
    return value if isinstance(value, str) and _ID.fullmatch(value) else ""


def _digest(fields: Mapping[str, Any]) -> str:
    return sha256(canonical_line(_blank(fields)).encode()).hexdigest()


def _blank(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: "" if key in (PREVIEW, SALT) else value for key, value in fields.items()}


def _preview_fits(fields: Mapping[str, Any]) -> bool:
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
