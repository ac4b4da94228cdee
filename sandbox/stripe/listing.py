"""Stripe's lists: newest first, in pages, filtered by time of creation."""

import operator
from collections.abc import Iterable
from typing import Any, Final

from sandbox.stripe.errors import StripeError, no_such
from sandbox.stripe.reading import integer, text

_COMPARE: Final = {
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
}


def page(
    objects: Iterable[dict[str, Any]], params: dict[str, Any], *, kind: str, url: str
) -> dict[str, Any]:
    """One page of `objects`, which come newest first."""
    limit = integer(params, "limit")
    limit = 10 if limit is None else limit
    if not 1 <= limit <= 100:
        raise StripeError("limit must be between 1 and 100.", param="limit")
    fitting = [each for each in objects if _created_fits(each["created"], params.get("created"))]
    after = text(params, "starting_after")
    before = text(params, "ending_before")
    if after:
        fitting = fitting[_position(fitting, after, kind, "starting_after") + 1 :]
    if before:
        fitting = fitting[: _position(fitting, before, kind, "ending_before")][-limit:]
    return {
        "object": "list",
        "data": fitting[:limit],
        "has_more": len(fitting) > limit,
        "url": url,
    }


def _position(objects: list[dict[str, Any]], identifier: str, kind: str, param: str) -> int:
    for position, each in enumerate(objects):
        if each["id"] == identifier:
            return position
    raise no_such(kind, identifier, param)


def _created_fits(created: int, wanted: Any) -> bool:
    if wanted is None:
        return True
    bounds = wanted if isinstance(wanted, dict) else {"gte": wanted, "lte": wanted}
    if not set(bounds) <= set(_COMPARE):
        raise StripeError("Invalid created", param="created")
    return all(_COMPARE[name](created, integer(bounds, name, "created") or 0) for name in bounds)
