"""`manage.py remove_second_factor NAME --reason "..."`: for staff who lost phone and codes."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from verdicts.management import staff_action
from verdicts.staff_auth.two_factor import remove


class Command(BaseCommand):
    help = (
        "Remove the second factor of one account, on record. Its password alone is then enough "
        "to log in (and to set up a new one, with ORACLE_SECOND_FACTOR=required): make sure that "
        "the request comes from the owner."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the account's username")
        staff_action.add_arguments(parser)

    def handle(self, *, name: str, reason: str, by: str, **_: Any) -> str:
        who, reason = staff_action.who_and_why(by=by, reason=reason)
        user = User.objects.filter(username=name).first()
        if user is None:
            raise CommandError("There is no account by that name.")
        if not remove(user, who=who, reason=reason):
            raise CommandError("That account has no second factor.")
        return "Removed: the password alone is enough to log in now."
