"""`manage.py evict SESSION --reason "..."`: remove one cached verdict."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit.log_context import log_session
from verdicts.core.sessions import is_session_id
from verdicts.management.staff_action import (
    add_by_argument,
    add_reason_argument,
    clean_reason,
    staff_name,
)
from verdicts.models import Order
from verdicts.results.cache import evict


class Command(BaseCommand):
    help = (
        "Remove one session's verdict from the cache, on record. The next read is a cache miss: "
        "the verdict is regenerated, or the stored original is shown (ORACLE_CACHE_MISS)."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("session", help="the Checkout session's id, cs_...")
        add_reason_argument(parser)
        add_by_argument(parser)

    def handle(self, *, session: str, reason: str, by: str, **_: Any) -> str:
        reason = clean_reason(reason)
        if not is_session_id(session):
            raise CommandError("That is no session id: it begins with cs_test_ or cs_live_.")
        order = Order.objects.filter(session_id=session).first()
        if order is None:
            raise CommandError("There is no order with that session id.")
        with log_session(session):
            if not evict(order, who=staff_name(by), reason=reason):
                raise CommandError("Nothing is cached for that session.")
        return "Evicted: the next read is a miss."
