"""Amounts formatted for display."""

from typing import Final

_SIGN: Final = {"cad": "CA$", "usd": "US$", "eur": "€", "gbp": "£", "aud": "A$", "jpy": "¥"}
_WITHOUT_CENTS: Final = frozenset({"jpy", "krw", "clp", "vnd"})


def money(amount: int, currency: str) -> str:
    code = currency.lower()
    number = f"{amount:,}" if code in _WITHOUT_CENTS else f"{amount / 100:,.2f}"
    sign = _SIGN.get(code)
    return f"{sign}{number}" if sign else f"{number} {code.upper()}"
