"""`manage.py erase_customer EMAIL`: export and erase a customer's personal data (GDPR)."""

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
from verdicts.management.staff_action import add_by_argument, who
from verdicts.models import Order
from verdicts.privacy.erase import (
    ErasureBlocked,
    blocking_reason,
    erase,
    sync_blocking_reason,
)
from verdicts.privacy.export import orders_of, personal_data

NOT_ERASED: Final = 1  # exit codes
BAD_USAGE: Final = 2
KEPT: Final = (
    "Kept: the orders' ids, dates, prices and payment ids (for refunds and accounting), labels, "
    "scores and counts, and the log lines without their previews. Reasons given by staff are part "
    "of the log chain and are kept, too."
)


class Command(BaseCommand):
    help = (
        "Erase a customer: queries, verdicts, email address, cached responses, evidence, notes, "
        "stored payment events and log previews of all orders with the email address. Prices, "
        "payment ids and the log chain are kept. This cannot be undone. Exit code: 0 erased, 1 not "
        "erased, 2 bad usage."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", metavar="EMAIL", help="case-insensitive")
        parser.add_argument(
            "--export",
            type=Path,
            metavar="FILE",
            help="first export the personal data into this new file, as JSON",
        )
        parser.add_argument(
            "--reason",
            default="the customer asked",
            help="recorded in the log permanently, so it must not contain a name or an address "
            '(default: "%(default)s")',
        )
        add_by_argument(parser)
        parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")

    def handle(self, *, email: str, export: Path | None, reason: str, **options: Any) -> str:
        email, reason = email.strip(), reason.strip()
        _check(email, reason)
        orders = list(orders_of(email))
        if not orders:
            raise CommandError("There are no orders with that address.", returncode=NOT_ERASED)
        if blocked := "\n".join(_blocked(orders)):
            message = f"Nothing was erased. These orders must be finished first:\n{blocked}"
            raise CommandError(message, returncode=NOT_ERASED)
        if export:
            _write(export, orders)
            self.stdout.write(f"Exported {_orders(len(orders))} to {export}.")
        if not options["yes"] and not self._confirmed(len(orders)):
            raise CommandError("Nothing was erased.", returncode=NOT_ERASED)
        previews = _erase(orders, who=who(options["by"]), reason=reason)
        log.sweep()
        return f"Erased {_orders(len(orders))} and {previews:,} log previews.\n{KEPT}"

    def _confirmed(self, count: int) -> bool:
        self.stdout.write(f"{_orders(count)} will be erased. This cannot be undone.")
        try:
            return input('Type "erase" to continue: ').strip() == "erase"
        except EOFError:
            return False


def _blocked(orders: list[Order]) -> Iterator[str]:
    account = stripe_account()
    with ProgressBar("orders checked") as progress:
        for count, order in enumerate(orders, start=1):
            with log_session(order.session_id):
                reason = blocking_reason(order) or sync_blocking_reason(order, account=account)
            if reason:
                yield f"Order {order.pk}: {reason}."
            progress(count)


def _check(email: str, reason: str) -> None:
    if "@" not in email:
        raise CommandError("This is not an email address.", returncode=BAD_USAGE)
    if not reason:
        raise CommandError("--reason must not be blank.", returncode=BAD_USAGE)
    if "@" in reason:
        message = "--reason is kept in the log: it must not contain an email address."
        raise CommandError(message, returncode=BAD_USAGE)


def _write(target: Path, orders: list[Order]) -> None:
    try:
        fd = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "w", encoding="ascii") as file:
            json.dump({"orders": personal_data(orders)}, file, indent=2, cls=DjangoJSONEncoder)
            file.write("\n")
            file.flush()
            os.fsync(fd)
    except FileExistsError:
        message = f"Nothing was erased: {target} already exists and is not overwritten."
        raise CommandError(message, returncode=BAD_USAGE) from None
    except OSError as error:
        message = f"Nothing was erased: {target}: {error.strerror}"
        raise CommandError(message, returncode=BAD_USAGE) from None


def _erase(orders: list[Order], *, who: str, reason: str) -> int:
    previews = 0
    with ProgressBar("orders erased") as progress:
        for count, order in enumerate(orders, start=1):
            try:
                with log_session(order.session_id):
                    previews += erase(order, who=who, reason=reason)
            except ErasureBlocked as error:
                # It has changed since the check. The orders before it remain erased.
                message = (
                    f"{_orders(count - 1)} erased, then stopped. Order {order.pk}: {error}. Run "
                    "the command again when that is finished."
                )
                raise CommandError(message, returncode=NOT_ERASED) from None
            progress(count)
    return previews


def _orders(count: int) -> str:
    return f"{count:,} order" if count == 1 else f"{count:,} orders"
