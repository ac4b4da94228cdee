"""`manage.py smoke_test`: an end-to-end test of a running site, from purchase to notification."""

import secrets
import time
from argparse import ArgumentParser
from collections import Counter
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_email

from audit.core.vocabulary import TIERS, TierName
from verdicts.management import staff_action
from verdicts.smoke_test.checks import CHECKS, Result, State, run_checks
from verdicts.smoke_test.context import Run
from verdicts.smoke_test.deadline import Deadline
from verdicts.smoke_test.sandbox_client import SandboxClient
from verdicts.smoke_test.site_client import SiteClient

FAILED: Final = 1
BAD_USAGE: Final = 2
INTERRUPTED: Final = 130
SANDBOX_TIMEOUT: Final = 120.0  # seconds
LIVE_TIMEOUT: Final = 900.0  # a person has to pay
MAX_TIMEOUT: Final = 24 * 3600.0
TEST_KEY_PREFIXES: Final = ("sk_test_", "rk_test_")
INDENT: Final = 32


class Command(BaseCommand):
    help = (
        "Buy a verdict from a running site and follow it: purchase, webhook, verdict, email, "
        "cache hit, cache-miss regeneration, comparison, divergence, notification, and an output "
        "that the gate rejects. Run it where the site runs, with the site's settings. With the "
        "sandbox it needs no help; with a live site in Stripe's test mode it prints the URL to "
        "pay at, waits, and reports checks that are impossible there as 'not run'. Its orders "
        "are marked as smoke and excluded from statistics. Exit code: 0 passed, 1 a check failed "
        "(the first failure ends it), 2 bad usage, 130 interrupted."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--site",
            metavar="URL",
            default=settings.SITE_URL,
            help="URL of the site (default: SITE_URL, %(default)s)",
        )
        parser.add_argument(
            "--tier", choices=TIERS, default="full", help="tier to buy (default: %(default)s)"
        )
        parser.add_argument(
            "--timeout",
            metavar="SECONDS",
            type=float,
            help="deadline of the whole test, a manual payment included (default: "
            f"{SANDBOX_TIMEOUT:.0f}, {LIVE_TIMEOUT:.0f} on a live site)",
        )
        parser.add_argument(
            "--email",
            metavar="ADDRESS",
            help="recipient of the emails (default: a random address with the sandbox, the first "
            "of STAFF_EMAILS on a live site)",
        )
        staff_action.add_by_argument(parser)

    def handle(
        self,
        *,
        site: str,
        tier: TierName,
        timeout: float | None,
        email: str | None,
        by: str,
        **_: Any,
    ) -> None:
        _refuse_real_money()
        deadline = Deadline(_seconds(timeout))
        run = Run(
            client=SiteClient(_site_url(site), deadline),
            sandbox=SandboxClient(settings.SANDBOX_URL, deadline) if settings.SANDBOX else None,
            has_mailbox=settings.ORACLE_MAIL == "sandbox",
            deadline=deadline,
            tier=tier,
            email=_email(email),
            who=staff_action.who(by),
            print_line=self._print_line,
        )
        try:
            self._run(run)
        finally:
            if run.sandbox:
                run.sandbox.clear_faults()

    def _run(self, run: Run) -> None:
        started, counts = time.monotonic(), Counter[State]()
        try:
            for result in run_checks(run):
                counts[result.state] += 1
                self._show(result)
        except KeyboardInterrupt:
            sentence = f"Interrupted: {_summary(counts)}."
            raise CommandError(sentence, returncode=INTERRUPTED) from None
        duration = f"{time.monotonic() - started:.1f} s"
        if counts[State.FAILED]:
            raise CommandError(f"Failed: {_summary(counts)}, {duration}.", returncode=FAILED)
        self._print_line(f"\nPassed: {_summary(counts)}, {duration}.")

    def _show(self, result: Result) -> None:
        style = {
            State.OK: self.style.SUCCESS,
            State.NOT_RUN: self.style.WARNING,
            State.FAILED: self.style.ERROR,
        }[result.state]
        state = style(f"{result.state:<8}")
        if result.failure is None:
            took = "      –" if result.state == State.NOT_RUN else f"{result.seconds:>5.1f} s"
            self._print_line(f"{state} {result.name:<13} {took}  {result.message}")
            return
        failure = result.failure
        took = f"{result.seconds:>5.1f} s"
        self._print_line(f"{state} {result.name:<13} {took}  seen: {failure.seen}")
        self._print_line(f"{'':<{INDENT}}expected: {failure.expected}")
        self._print_line(f"{'':<{INDENT}}do: {failure.todo}")

    def _print_line(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()  # a reader of a pipe may wait for the line, to pay


def _refuse_real_money() -> None:
    if not settings.SANDBOX and not settings.STRIPE_SECRET_KEY.startswith(TEST_KEY_PREFIXES):
        raise CommandError(
            "This site takes real money: STRIPE_SECRET_KEY is not a test key of Stripe. "
            "Nothing was bought.",
            returncode=BAD_USAGE,
        )


def _seconds(timeout: float | None) -> float:
    if timeout is None:
        return SANDBOX_TIMEOUT if settings.SANDBOX else LIVE_TIMEOUT
    if not 1 <= timeout <= MAX_TIMEOUT:
        sentence = f"--timeout must be between 1 and {MAX_TIMEOUT:.0f} seconds."
        raise CommandError(sentence, returncode=BAD_USAGE)
    return timeout


def _site_url(site: str) -> str:
    try:
        parts = urlsplit(site)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        valid = False
    if not valid:
        sentence = f"--site must be a URL such as https://oracle.example, not {site!r}."
        raise CommandError(sentence, returncode=BAD_USAGE)
    return site.rstrip("/")


def _email(address: str | None) -> str:
    if address is None:
        random = f"smoke-{secrets.token_hex(4)}@example.com"
        return random if settings.SANDBOX else str(settings.STAFF_EMAILS[0])
    try:
        validate_email(address)
    except ValidationError:
        sentence = f"--email must be an email address such as ada@example.com, not {address!r}."
        raise CommandError(sentence, returncode=BAD_USAGE) from None
    return address


def _summary(counts: Counter[State]) -> str:
    not_reached = len(CHECKS) - counts.total()
    parts = [
        (counts[State.NOT_RUN], "not run"),
        (counts[State.FAILED], "failed"),
        (not_reached, "not reached"),
    ]
    return ", ".join([f"{counts[State.OK]} ok", *(f"{n} {word}" for n, word in parts if n)])
