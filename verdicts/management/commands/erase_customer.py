"""`manage.py erase_customer EMAIL`: a person's data is handed out, then erased, on record."""

import getpass
import json
import os
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError
from django.core.serializers.json import DjangoJSONEncoder

from audit.log import log
from audit.log_context import log_session
from audit.management.terminal import ProgressBar
from verdicts.clients import stripe_account
from verdicts.models import Order
from verdicts.privacy.erase import Unfinished, ask_stripe, erase, why_not
from verdicts.privacy.export import orders_of, personal_data

NOT_ERASED: Final = 1
BAD_USAGE: Final = 2
STAYS: Final = (
    "What stays: the orders' ids, dates, prices and payment ids (for refunds and the accounts), "
    "labels, scores and counts, and the log's lines without their previews. Reasons that staff "
    "gave are part of the log's chain and stay too."
)


class Command(BaseCommand):
    help = (
        "Erase a customer: queries, verdicts, email address, cached answers, evidence, notes, "
        "stored payment events and the log's previews of all orders under an email address. "
        "Figures, payment ids and the log's chain stay. It cannot be undone. Exit code: 0 done, "
        "1 not erased, 2 bad usage."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", metavar="EMAIL", help="upper or lower case, as you like")
        parser.add_argument(
            "--export",
            type=Path,
            metavar="FILE",
            help="first write the person's data into this new file, as JSON",
        )
        parser.add_argument(
            "--reason",
            default="the customer asked",
            help="why; it goes into the log for ever, so no name and no address (default: "
            '"%(default)s")',
        )
        parser.add_argument("--by", default="", help="who; without it the name of this login")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def handle(self, *, email: str, export: Path | None, reason: str, **options: Any) -> str:
        email, reason = email.strip(), reason.strip()
        _check(email, reason)
        orders = list(orders_of(email))
        if not orders:
            raise CommandError("No order is under that address.", returncode=NOT_ERASED)
        if busy := "\n".join(_unfinished(orders)):
            sentence = f"Nothing was erased. These must be finished first:\n{busy}"
            raise CommandError(sentence, returncode=NOT_ERASED)
        if export:
            _write(export, orders)
            self.stdout.write(f"Exported {_orders(len(orders))} to {export}.")
        if not options["yes"] and not self._agreed(len(orders)):
            raise CommandError("Nothing was erased.", returncode=NOT_ERASED)
        previews = _erase(orders, who=options["by"].strip() or getpass.getuser(), reason=reason)
        log.sweep()
        return f"Erased {_orders(len(orders))} and {previews:,} log previews.\n{STAYS}"

    def _agreed(self, count: int) -> bool:
        self.stdout.write(f"{_orders(count)} will be erased. This cannot be undone.")
        try:
            return input('Type "erase" to go on: ').strip() == "erase"
        except EOFError:
            return False


def _unfinished(orders: list[Order]) -> Iterator[str]:
    with ProgressBar("orders looked at") as tick:
        for count, order in enumerate(orders, start=1):
            with log_session(order.session_id):
                why = why_not(order) or ask_stripe(order, account=stripe_account())
            if why:
                yield f"Order {order.pk}: {why}."
            tick(count)


def _check(email: str, reason: str) -> None:
    if "@" not in email:
        raise CommandError("That is no email address.", returncode=BAD_USAGE)
    if not reason:
        raise CommandError("Say why: --reason must not be blank.", returncode=BAD_USAGE)
    if "@" in reason:
        sentence = "The reason stays in the log: it must not hold an address."
        raise CommandError(sentence, returncode=BAD_USAGE)


def _write(target: Path, orders: list[Order]) -> None:
    try:
        fd = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "w", encoding="ascii") as file:
            found = {"orders": personal_data(orders)}
            json.dump(found, file, indent=2, cls=DjangoJSONEncoder)
            file.write("\n")
            file.flush()
            os.fsync(fd)
    except FileExistsError:
        sentence = f"Nothing was erased: {target} is there already, and is not overwritten."
        raise CommandError(sentence, returncode=BAD_USAGE) from None
    except OSError as error:
        sentence = f"Nothing was erased: {target}: {error.strerror}"
        raise CommandError(sentence, returncode=BAD_USAGE) from None


def _erase(orders: list[Order], *, who: str, reason: str) -> int:
    previews = 0
    with ProgressBar("orders erased") as tick:
        for count, order in enumerate(orders, start=1):
            try:
                with log_session(order.session_id):
                    previews += erase(order, who=who, reason=reason)
            except Unfinished as error:
                # It has changed since we looked: those before it are erased, and stay so.
                done = f"{_orders(count - 1)} erased, then stopped"
                sentence = f"{done}. Order {order.pk}: {error}. Run it again once that is finished."
                raise CommandError(sentence, returncode=NOT_ERASED) from None
            tick(count)
    return previews


def _orders(count: int) -> str:
    return f"{count:,} order" if count == 1 else f"{count:,} orders"
