"""`manage.py smoke_test`: a customer's whole way through a running site, check by check."""

import getpass
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
from verdicts.smoke_test.checks import CHECKS, Result, run_checks
from verdicts.smoke_test.context import Run
from verdicts.smoke_test.deadline import Deadline
from verdicts.smoke_test.sandbox_client import Sandbox
from verdicts.smoke_test.site_client import Shop

FAILED: Final = 1
BAD_USAGE: Final = 2
INTERRUPTED: Final = 130
IN_SANDBOX: Final = 120.0
WITH_A_PERSON: Final = 900.0
MAX_TIMEOUT: Final = 24 * 3600.0
TEST_KEYS: Final = ("sk_test_", "rk_test_")
INDENT: Final = 32


class Command(BaseCommand):
    help = (
        "Buy a verdict from a running site and follow it: purchase, webhook, verdict, email, "
        "cache hit, cache-miss regeneration, comparison, divergence, notification, a crosscheck "
        "that fails. Run it where the site runs, with the site's settings. At the sandbox it pays "
        "and induces everything by itself; against a live site in Stripe's test mode it prints "
        "the address to pay at, waits, and says 'not run' of what cannot be induced there. Its "
        "orders are marked as smoke and are in no figure. Exit code: 0 well, 1 a check failed "
        "(the first failure ends it), 2 bad usage, 130 interrupted."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--site",
            metavar="URL",
            default=settings.SITE_URL,
            help="where the site is reached (default: SITE_URL, %(default)s)",
        )
        parser.add_argument(
            "--tier", choices=TIERS, default="full", help="what is bought (default: %(default)s)"
        )
        parser.add_argument(
            "--timeout",
            metavar="SECONDS",
            type=float,
            help="for all of it, somebody's paying included (default: "
            f"{IN_SANDBOX:.0f}, {WITH_A_PERSON:.0f} on a live site)",
        )
        parser.add_argument(
            "--email",
            metavar="ADDRESS",
            help="who gets the emails (default: nobody's address at the sandbox; the first of "
            "STAFF_EMAILS on a live site)",
        )
        parser.add_argument("--by", default="", help="who; without it the name of this login")

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
            shop=Shop(_address(site), deadline),
            sandbox=Sandbox(settings.SANDBOX_URL, deadline) if settings.SANDBOX else None,
            has_mailbox=settings.ORACLE_MAIL == "sandbox",
            deadline=deadline,
            tier=tier,
            email=_email(email),
            who=by.strip() or getpass.getuser(),
            say=self._say,
        )
        try:
            self._run(run)
        finally:
            if run.sandbox:
                run.sandbox.take_back()

    def _run(self, run: Run) -> None:
        begun, counted = time.monotonic(), Counter[str]()
        try:
            for result in run_checks(run):
                counted[result.state] += 1
                self._show(result)
        except KeyboardInterrupt:
            sentence = f"Stopped by you: {_sum(counted)}."
            raise CommandError(sentence, returncode=INTERRUPTED) from None
        took = f"{time.monotonic() - begun:.1f} s"
        if counted["FAIL"]:
            raise CommandError(f"Not well: {_sum(counted)}, {took}.", returncode=FAILED)
        self._say(f"\nAll is well: {_sum(counted)}, {took}.")

    def _show(self, result: Result) -> None:
        tint = {
            "ok": self.style.SUCCESS,
            "not run": self.style.WARNING,
            "FAIL": self.style.ERROR,
        }[result.state]
        state = tint(f"{result.state:<8}")
        if result.failure is None:
            took = "      –" if result.state == "not run" else f"{result.seconds:>5.1f} s"
            self._say(f"{state} {result.name:<13} {took}  {result.says}")
            return
        failure = result.failure
        self._say(f"{state} {result.name:<13} {result.seconds:>5.1f} s  seen: {failure.seen}")
        self._say(f"{'':<{INDENT}}expected: {failure.expected}")
        self._say(f"{'':<{INDENT}}do: {failure.todo}")

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()  # somebody may wait for it behind a pipe


def _refuse_real_money() -> None:
    if not settings.SANDBOX and not settings.STRIPE_SECRET_KEY.startswith(TEST_KEYS):
        raise CommandError(
            "This site takes real money: STRIPE_SECRET_KEY is no key of Stripe's test mode. "
            "Nothing was bought.",
            returncode=BAD_USAGE,
        )


def _seconds(asked: float | None) -> float:
    if asked is None:
        return IN_SANDBOX if settings.SANDBOX else WITH_A_PERSON
    if not 1 <= asked <= MAX_TIMEOUT:
        sentence = f"--timeout lies between 1 and {MAX_TIMEOUT:.0f} seconds."
        raise CommandError(sentence, returncode=BAD_USAGE)
    return asked


def _address(site: str) -> str:
    try:
        parts = urlsplit(site)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        fits = False
    if not fits:
        sentence = f"--site is an address such as https://oracle.example, not {site!r}."
        raise CommandError(sentence, returncode=BAD_USAGE)
    return site.rstrip("/")


def _email(asked: str | None) -> str:
    if asked is None:
        nobody = f"smoke-{secrets.token_hex(4)}@example.com"
        return nobody if settings.SANDBOX else str(settings.STAFF_EMAILS[0])
    try:
        validate_email(asked)
    except ValidationError:
        sentence = f"--email is an address such as ada@example.com, not {asked!r}."
        raise CommandError(sentence, returncode=BAD_USAGE) from None
    return asked


def _sum(counted: Counter[str]) -> str:
    left = len(CHECKS) - counted.total()
    told = [f"{counted['ok']} ok"]
    told += [f"{counted[state]} {word}" for state, word in _WORDS.items() if counted[state]]
    return ", ".join([*told, *([f"{left} not reached"] if left else [])])


_WORDS: Final = {"not run": "not run", "FAIL": "failed"}
