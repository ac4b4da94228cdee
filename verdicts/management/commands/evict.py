"""`manage.py evict SESSION --reason "..."`: remove one cached verdict."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit.log_context import log_session
from verdicts.core.sessions import is_session_id
from verdicts.management import staff_action
from verdicts.models import Order
from verdicts.results.cache import evict


class Command(BaseCommand):
    help = (
        "Remove one session's verdict from the cache, on record. The next read is a cache miss: "
        "the verdict is regenerated, or the stored original is shown (ORACLE_CACHE_MISS)."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("session", help="the Checkout session's id, cs_...")
        staff_action.add_arguments(parser)

    def handle(self, *, session: str, reason: str, by: str, **_: Any) -> str:
        who, reason = staff_action.who_and_why(by=by, reason=reason)
        if not is_session_id(session):
            raise CommandError("That is no session id: it begins with cs_test_ or cs_live_.")
        order = Order.objects.filter(session_id=session).first()
        if order is None:
            raise CommandError("There is no order with that session id.")
        with log_session(session):
            if not evict(order, who=who, reason=reason):
                raise CommandError("Nothing is cached for that session.")
        return "Evicted: the next read is a miss."
