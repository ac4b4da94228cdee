"""Identifiers that look like Stripe's."""

import secrets
import string
from typing import Final

_ALPHABET: Final = string.ascii_letters + string.digits


def new_id(prefix: str, length: int = 24) -> str:
    return f"{prefix}_" + "".join(secrets.choice(_ALPHABET) for _ in range(length))
