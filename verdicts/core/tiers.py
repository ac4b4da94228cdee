"""The three products: name, price, what each includes, and its JSON schema.

Pure: no I/O, no clock, no Django. The schema is sent to the model as its
response format; the gate then checks the answer by the same field names.

Prices are in cents of one currency. The full breakdown costs CA$5.00; the
other two prices are settings, passed to `price_list`.
"""

from dataclasses import dataclass
from typing import Any, Final

from audit.core.reading import MAX_TESTS, MIN_TESTS
from audit.core.vocabulary import DIMENSIONS, LABELS, TierName
from verdicts.core.formatting import CURRENCY, format_price

FULL_CENTS: Final = 500


@dataclass(frozen=True, slots=True)
class Tier:
    """Title and features are customer-facing text."""

    name: TierName
    title: str
    features: tuple[str, ...]  # what the customer gets, one line each
    schema: dict[str, Any]

    @property
    def fields(self) -> tuple[str, ...]:
        """The top-level fields of the answer, all required."""
        return tuple(self.schema["required"])


@dataclass(frozen=True, slots=True)
class Price:
    cents: int
    currency: str = CURRENCY

    def __str__(self) -> str:
        # An order created elsewhere may have another currency.
        return format_price(self.cents, self.currency)


def price_list(*, quick_cents: int, strategy_cents: int) -> dict[TierName, Price]:
    """The price of each tier."""
    return {
        "quick": Price(quick_cents),
        "full": Price(FULL_CENTS),
        "strategy": Price(strategy_cents),
    }


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    return _named_object(properties)


def _named_object(properties: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


_LABEL: Final = {"type": "string", "enum": list(LABELS)}
_TEXT: Final = {"type": "string"}
_DIMENSION: Final = _object(verdict=_LABEL, analysis=_TEXT)
_BREAKDOWN: Final = _named_object(dict.fromkeys(DIMENSIONS, _DIMENSION))
_TESTS: Final = {
    "type": "array",
    "items": _TEXT,
    "minItems": MIN_TESTS,
    "maxItems": MAX_TESTS,
}
_STRATEGY: Final = _object(next_step=_TEXT, alternative=_TEXT, tests=_TESTS)

# A new tier also needs a price above, and its setting in ORACLE_PRICES.
TIER: Final[dict[TierName, Tier]] = {
    "quick": Tier(
        "quick",
        "Quick Take",
        ("One verdict", "The reason in a few sentences"),
        _object(verdict=_LABEL, summary=_TEXT),
    ),
    "full": Tier(
        "full",
        "Full Breakdown",
        ("Everything in the Quick Take", "Five dimensions, each judged and explained"),
        _object(verdict=_LABEL, summary=_TEXT, breakdown=_BREAKDOWN),
    ),
    "strategy": Tier(
        "strategy",
        "Strategy Session",
        (
            "Everything in the Full Breakdown",
            "Your next step, and an alternative to it",
            "Two or three tests that would show whether it works",
        ),
        _object(verdict=_LABEL, summary=_TEXT, breakdown=_BREAKDOWN, strategy=_STRATEGY),
    ),
}
