"""Stripe's list endpoints: newest first, cursor pagination, filters."""

import operator
from collections.abc import Collection, Iterable
from typing import Any, Final

from sandbox.stripe.errors import StripeError, no_such
from sandbox.stripe.parameters import integer, text

_COMPARE: Final = {
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
}


def page(
    objects: Iterable[dict[str, Any]],
    params: dict[str, Any],
    *,
    kind: str,
    url: str,
    filters: Collection[str] = (),
) -> dict[str, Any]:
    """One page of `objects` (newest first); `filters` names fields compared for equality."""
    limit = integer(params, "limit")
    limit = 10 if limit is None else limit
    if not 1 <= limit <= 100:
        raise StripeError("limit must be between 1 and 100.", param="limit")
    after, before = text(params, "starting_after"), text(params, "ending_before")
    # A cursor may be any object, also one that the filters exclude.
    selected = list(objects)
    if after:
        selected = selected[_position(selected, after, kind, "starting_after") + 1 :]
    if before:
        selected = selected[: _position(selected, before, kind, "ending_before")]
    wanted = {name: value for name in filters if (value := text(params, name))}
    matching = [
        each
        for each in selected
        if all(each[name] == value for name, value in wanted.items())
        and _created_matches(each["created"], params.get("created"))
    ]
    return {
        "object": "list",
        "data": matching[-limit:] if before else matching[:limit],
        "has_more": len(matching) > limit,
        "url": url,
    }


def _position(objects: list[dict[str, Any]], identifier: str, kind: str, param: str) -> int:
    for position, each in enumerate(objects):
        if each["id"] == identifier:
            return position
    raise no_such(kind, identifier, param)


def _created_matches(created: int, wanted: Any) -> bool:
    if wanted is None:
        return True
    bounds = wanted if isinstance(wanted, dict) else {"gte": wanted, "lte": wanted}
    if not set(bounds) <= set(_COMPARE):
        raise StripeError("Invalid created", param="created")
    return all(_COMPARE[name](created, integer(bounds, name, "created") or 0) for name in bounds)
