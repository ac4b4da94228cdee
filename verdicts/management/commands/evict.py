"""`manage.py evict SESSION --reason "..."`: remove one cached answer."""

import getpass
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit.log_context import log_session
from verdicts.core.sessions import is_session_id
from verdicts.models import Order
from verdicts.results.cache import evict


class Command(BaseCommand):
    help = (
        "Remove one session's cached answer, on record. The next read is then a miss like any "
        "other: made again, or the stored original (ORACLE_CACHE_MISS)."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("session", help="the Checkout session's id, cs_...")
        parser.add_argument("--reason", required=True, help="why; it goes into the log")
        parser.add_argument("--by", default="", help="who; without it the name of this login")

    def handle(self, *, session: str, reason: str, by: str, **_: Any) -> str:
        if not reason.strip():
            raise CommandError("Say why: --reason must not be blank.")
        if not is_session_id(session):
            raise CommandError("That is no session id: it begins with cs_test_ or cs_live_.")
        order = Order.objects.filter(session_id=session).first()
        if order is None:
            raise CommandError("There is no order by that session id.")
        with log_session(session):
            if not evict(order, who=by.strip() or getpass.getuser(), reason=reason.strip()):
                raise CommandError("Nothing is cached for that session.")
        return "Evicted: the next read is a miss."
