"""Custom fields of a Checkout Session: up to three inputs on the hosted page."""

import re
from typing import Any, Final

from sandbox.stripe.errors import StripeError
from sandbox.stripe.parameters import child, integer, text

MAX_FIELDS: Final = 3
MAX_LABEL: Final = 50
MAX_TEXT: Final = 255
_KEY: Final = re.compile(r"[A-Za-z0-9_-]{1,200}")


def read_custom_fields(wanted: Any) -> list[dict[str, Any]]:
    """The fields as the session object has them, still without values."""
    if not isinstance(wanted, list) or len(wanted) > MAX_FIELDS:
        raise StripeError(f"Up to {MAX_FIELDS} custom fields are allowed.", param="custom_fields")
    return [_read(field, f"custom_fields[{number}]") for number, field in enumerate(wanted)]


def _read(field: Any, where: str) -> dict[str, Any]:
    if not isinstance(field, dict):
        raise StripeError(f"Invalid object: {where}", param=where)
    key = text(field, "key", where, required=True) or ""
    if not _KEY.fullmatch(key):
        raise StripeError(f"Invalid key: {key[:80]}", param=f"{where}[key]")
    kind = text(field, "type", where, required=True)
    if kind not in ("text", "numeric"):
        raise StripeError(
            "The sandbox supports text and numeric fields only.", param=f"{where}[type]"
        )
    label = child(field, "label", where)
    title = text(label, "custom", f"{where}[label]", required=True) or ""
    if len(title) > MAX_LABEL:
        raise StripeError(
            f"Invalid string: must be at most {MAX_LABEL} characters",
            code="parameter_invalid_string",
            param=f"{where}[label][custom]",
        )
    limits = field.get(kind)
    limits = limits if isinstance(limits, dict) else {}
    max_length = integer(limits, "maximum_length", f"{where}[{kind}]")
    if max_length is not None and not 1 <= max_length <= MAX_TEXT:
        raise StripeError(
            f"maximum_length must be at most {MAX_TEXT}.",
            param=f"{where}[{kind}][maximum_length]",
        )
    return {
        "key": key,
        "label": {"custom": title, "type": "custom"},
        "optional": field.get("optional") == "true",
        kind: {
            "default_value": text(limits, "default_value"),
            "maximum_length": max_length,
            "minimum_length": integer(limits, "minimum_length", f"{where}[{kind}]"),
            "value": None,
        },
        "type": kind,
    }


def fill_custom_fields(fields: list[dict[str, Any]], answers: dict[str, str]) -> None:
    """Write the buyer's answers into the session's fields."""
    for field in fields:
        answer = answers.get(str(field.get("key")))
        kind = field.get("type")
        if answer and kind in ("text", "numeric") and isinstance(field.get(kind), dict):
            field[kind]["value"] = answer[: field[kind].get("maximum_length") or MAX_TEXT]
