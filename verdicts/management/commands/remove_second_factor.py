"""`manage.py remove_second_factor NAME --reason "..."`: for who has lost phone and spare codes."""

import getpass
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from verdicts.staff_auth.two_factor import remove


class Command(BaseCommand):
    help = (
        "Take the second factor off one account, on record. The password alone then lets its "
        "owner in (who must set up another where ORACLE_SECOND_FACTOR=required): make sure that "
        "it is they who ask."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the account's username")
        parser.add_argument("--reason", required=True, help="why; it goes into the log")
        parser.add_argument("--by", default="", help="who; without it the name of this login")

    def handle(self, *, name: str, reason: str, by: str, **_: Any) -> str:
        if not reason.strip():
            raise CommandError("Say why: --reason must not be blank.")
        user = User.objects.filter(username=name).first()
        if user is None:
            raise CommandError("There is no account by that name.")
        if not remove(user, who=by.strip() or getpass.getuser(), reason=reason.strip()):
            raise CommandError("That account has no second factor.")
        return "Removed: the password alone lets them in now."
