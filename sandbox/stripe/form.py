"""Decodes Stripe's form encoding: `line_items[0][price_data][currency]=cad`."""

import re
from typing import Any, Final
from urllib.parse import parse_qsl

from sandbox.stripe.errors import StripeError

_KEY: Final = re.compile(r"([^\[\]]+)((?:\[[^\[\]]*\])*)")
_PART: Final = re.compile(r"\[([^\[\]]*)\]")
_MAX_DEPTH: Final = 10


def decode(body: str) -> dict[str, Any]:
    """The nested parameters of a form body. Every leaf is a string."""
    try:
        pairs = parse_qsl(body, keep_blank_values=True, max_num_fields=2_000)
    except ValueError as error:
        raise StripeError(f"Invalid form body: {error}") from None
    tree: dict[str, Any] = {}
    for name, value in pairs:
        matched = _KEY.fullmatch(name)
        parts = [matched[1], *_PART.findall(matched[2])] if matched else []
        if not 1 <= len(parts) <= _MAX_DEPTH:
            raise StripeError(f"Invalid parameter name: {name[:80]}", param=name[:80])
        _insert(tree, parts, value, name)
    decoded = _lists(tree)
    assert isinstance(decoded, dict)  # noqa: S101 - the root has names, never indexes
    return decoded


def _insert(tree: dict[str, Any], parts: list[str], value: str, name: str) -> None:
    *parents, last = parts
    for part in parents:
        tree = tree.setdefault(part or str(len(tree)), {})
        if not isinstance(tree, dict):
            raise StripeError(f"Invalid parameter: {name[:80]}", param=name[:80])
    tree[last or str(len(tree))] = value


def _lists(value: Any, *, root: bool = True) -> Any:
    """Objects with the keys 0, 1, 2 ... become lists; metadata never does."""
    if not isinstance(value, dict):
        return value
    converted = {
        name: each if name == "metadata" else _lists(each, root=False)
        for name, each in value.items()
    }
    if not root and list(converted) == [str(position) for position in range(len(converted))]:
        return list(converted.values())
    return converted
