"""Validates request parameters as Stripe does, with Stripe's error messages."""

from typing import Any, Final

from sandbox.stripe.errors import StripeError, missing

MAX_METADATA: Final = 50
MAX_KEY: Final = 40
MAX_VALUE: Final = 500


def text(
    params: dict[str, Any], name: str, where: str = "", *, required: bool = False
) -> str | None:
    value = params.get(name)
    full = f"{where}[{name}]" if where else name
    if value is None or value == "":  # an empty string unsets a parameter
        if required:
            raise missing(full)
        return None
    if not isinstance(value, str):
        raise StripeError(f"Invalid string: {full}", param=full)
    return value


def integer(
    params: dict[str, Any], name: str, where: str = "", *, required: bool = False
) -> int | None:
    value = text(params, name, where, required=required)
    if value is None:
        return None
    digits = value.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 12):
        full = f"{where}[{name}]" if where else name
        raise StripeError(
            f"Invalid integer: {value[:80]}", code="parameter_invalid_integer", param=full
        )
    return int(value)


def child(params: dict[str, Any], name: str, where: str) -> dict[str, Any]:
    value = params.get(name)
    full = f"{where}[{name}]"
    if value is None:
        raise missing(full)
    if not isinstance(value, dict):
        raise StripeError(f"Invalid object: {full}", param=full)
    return value


def reject_unknown(params: dict[str, Any], known: frozenset[str]) -> None:
    for name in params:
        if name not in known:
            raise StripeError(
                f"Received unknown parameter: {name}", code="parameter_unknown", param=name
            )


def parse_metadata(params: dict[str, Any]) -> dict[str, str]:
    metadata = params.get("metadata", {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise StripeError("Invalid object", param="metadata")
    if len(metadata) > MAX_METADATA:
        raise StripeError(
            f"Metadata can have up to {MAX_METADATA} keys, but you passed in {len(metadata)}.",
            param="metadata",
        )
    for key, value in metadata.items():
        if len(key) > MAX_KEY:
            raise StripeError(
                f"Metadata keys can have up to {MAX_KEY} characters, but you passed in a key "
                f"that is {len(key)} characters. Invalid key: {key[:80]}",
                param="metadata",
            )
        if len(value) > MAX_VALUE:
            raise StripeError(
                f"Metadata values can have up to {MAX_VALUE} characters, but you passed in a "
                f"value that is {len(value)} characters. Invalid value: {value[:80]}",
                param=f"metadata[{key}]",
            )
    return {key: value for key, value in metadata.items() if value}
